//! Chooses a bot's moves on separate threads, and stops the searches in time.

use std::{collections::HashMap, time::Duration};

use tokio::task::{JoinSet, spawn_blocking};

use crate::{
    ai::{AiPlayer, cheap_move},
    cli::external_engine::{MoveTime, NoMove, player::EnginePlayer},
    client::{Clocks, GameId, Session, Turn},
    rules::{Position, SplitMix64, Square},
    search::Stop,
};

/// The part of a turn's time that is reserved for the network: a tenth, within these bounds.
const MARGIN: std::ops::RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_secs(2);

/// The assumed increment of a total clock. A turn does not have it, and to plan without it is safe.
const NO_INCREMENT: Duration = Duration::ZERO;

/// The longest search, even without a clock.
const MAX_SEARCH: Duration = Duration::from_secs(3600);

/// The engine that chooses the moves.
#[derive(Clone)]
pub(super) enum SearchEngine {
    /// A built-in AI.
    Ai(AiPlayer),
    /// An external engine, and the session that reads the games for it.
    EnginePlayer(EnginePlayer, Box<Session>),
}

/// Searches for moves in any number of games at a time.
pub(super) struct MoveSearches {
    engine: SearchEngine,
    seed: u64,
    /// The game of the last turn.
    game: Option<GameId>,
    /// The number of games before it; each game has its own seed.
    games_before: u64,
    /// The ply and stop flag of each game's search.
    open: HashMap<GameId, (u32, Stop)>,
    jobs: JoinSet<ChosenMove>,
}

/// A move, or the reason that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChosenMove {
    pub(super) game: GameId,
    pub(super) ply: u32,
    /// An AI always has a move.
    pub(super) chosen: Result<Square, NoMove>,
}

impl MoveSearches {
    /// The same seed chooses the same moves, if no search runs out of time.
    pub(super) fn new(engine: SearchEngine, seed: u64) -> Self {
        Self { engine, seed, game: None, games_before: 0, open: HashMap::new(), jobs: JoinSet::new() }
    }

    /// Begins a search, and stops one for an earlier turn of the same game.
    pub(super) fn begin(&mut self, turn: &Turn) {
        if self.open.get(&turn.game).is_some_and(|(ply, _)| *ply == turn.ply) {
            return;
        }
        self.forget(&turn.game);
        let stop = Stop::new();
        self.open.insert(turn.game.clone(), (turn.ply, stop.clone()));
        let (game, ply) = (turn.game.clone(), turn.ply);
        match self.engine.clone() {
            SearchEngine::Ai(player) => {
                let (position, seed, times) = (turn.position, self.seed_for(turn), SearchTimes::of(player, turn));
                self.jobs.spawn(async move {
                    let square = search(player, position, seed, times, stop).await;
                    ChosenMove { game, ply, chosen: Ok(square) }
                });
            }
            SearchEngine::EnginePlayer(engine, session) => {
                let limit = turn.clocks.time_left.map(less_margin);
                let for_move = limit.unwrap_or(MAX_SEARCH);
                let time = MoveTime { for_move, limit, left: turn.clocks.total[turn.side] };
                let turn = turn.clone();
                self.jobs.spawn(async move {
                    let chosen = engine.choose(&session, &turn, time, stop).await;
                    ChosenMove { game, ply, chosen }
                });
            }
        }
    }

    /// Returns the same move again from [`Self::next`] after `wait`.
    pub(super) fn repeat(&mut self, chosen_move: ChosenMove, wait: Duration) {
        self.open.insert(chosen_move.game.clone(), (chosen_move.ply, Stop::new()));
        self.jobs.spawn(async move {
            tokio::time::sleep(wait).await;
            chosen_move
        });
    }

    fn seed_for(&mut self, turn: &Turn) -> u64 {
        if self.game.as_ref() != Some(&turn.game) {
            self.games_before += u64::from(self.game.is_some());
            self.game = Some(turn.game.clone());
        }
        // Plies are fewer than 256, so that no two turns share a number.
        mix(self.seed ^ mix(self.games_before << 8 | u64::from(turn.ply)))
    }

    /// Stops the search for a game.
    pub(super) fn forget(&mut self, game: &GameId) {
        if let Some((_, stop)) = self.open.remove(game) {
            stop.stop();
        }
    }

    /// Stops the search for a turn that is over. Another turn of the game may have begun.
    pub(super) fn close(&mut self, game: &GameId, ply: u32) {
        if self.open.get(game).is_some_and(|(open, _)| *open == ply) {
            self.forget(game);
        }
    }

    /// The next move of an open turn; pending without searches. Cancel safe.
    pub(super) async fn next(&mut self) -> ChosenMove {
        while let Some(done) = self.jobs.join_next().await {
            let Ok(chosen_move) = done else { continue };
            if self.open.get(&chosen_move.game).is_some_and(|(ply, _)| *ply == chosen_move.ply) {
                self.open.remove(&chosen_move.game);
                return chosen_move;
            }
        }
        std::future::pending().await
    }
}

/// Threads cannot be aborted, only asked to stop.
impl Drop for MoveSearches {
    fn drop(&mut self) {
        self.open.values().for_each(|(_, stop)| stop.stop());
    }
}

/// The time limits of one search; `None` without a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SearchTimes {
    /// No new iteration begins after this.
    soft: Option<Duration>,
    /// The search ends after this.
    hard: Option<Duration>,
}

impl SearchTimes {
    /// A player that plans its total clock uses its plan, others all of the remaining time.
    fn of(player: AiPlayer, turn: &Turn) -> Self {
        let Clocks { total, time_left, .. } = turn.clocks;
        let plan = total[turn.side].and_then(|left| player.plan(left, NO_INCREMENT, turn.position));
        let hard = plan.map(|plan| plan.most).into_iter().chain(time_left).min();
        Self { soft: plan.map(|plan| plan.enough), hard: hard.map(less_margin) }
    }
}

/// An AI's move, from a search that ends within `times`.
async fn search(player: AiPlayer, position: Position, seed: u64, times: SearchTimes, stop: Stop) -> Square {
    let flag = stop.clone();
    let mut search = spawn_blocking(move || player.choose(position, seed, &flag));
    let (soft, hard) = (after(times.soft), after(times.hard));
    tokio::pin!(soft, hard);
    let found = loop {
        tokio::select! {
            found = &mut search => break found,
            () = &mut hard, if !stop.is_stopped() => stop.stop(),
            () = &mut soft, if !stop.is_winding_down() => stop.wind_down(),
        }
    };
    // A panic in the search must not lose the game.
    let square = found.ok().flatten().map(|choice| choice.square);
    square.unwrap_or_else(|| cheap_move(position, seed))
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Hashes a number, so that consecutive numbers give unrelated seeds.
fn mix(number: u64) -> u64 {
    SplitMix64::new(number).next()
}

fn less_margin(left: Duration) -> Duration {
    left.saturating_sub((left / 10).clamp(*MARGIN.start(), *MARGIN.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ai::AiKind,
        rules::{ByColor, Color, Position},
    };

    fn ai(kind: AiKind, level: u8) -> SearchEngine {
        SearchEngine::Ai(AiPlayer::new(kind, level).unwrap())
    }

    fn turn(ply: u32, left: Duration) -> Turn {
        Turn {
            game: "game1".parse().unwrap(),
            room: "room1".parse().unwrap(),
            ply,
            side: Color::Black,
            position: Position::START,
            legal: Position::START.legal_moves(),
            last_move: None,
            clocks: Clocks { time_left: Some(left), ..Clocks::default() },
        }
    }

    #[tokio::test]
    async fn only_the_newest_turn_of_a_game_is_answered() {
        let mut searches = MoveSearches::new(ai(AiKind::Greedy, 1), 7);
        searches.begin(&turn(0, Duration::from_secs(60)));
        searches.begin(&turn(2, Duration::from_secs(60)));
        let chosen_move = searches.next().await;
        assert_eq!(chosen_move.ply, 2);
        assert!(Position::START.legal_moves().contains(chosen_move.chosen.unwrap()));
    }

    #[tokio::test]
    async fn a_move_is_repeated_unless_it_is_no_longer_asked_for() {
        let mut searches = MoveSearches::new(ai(AiKind::Greedy, 1), 7);
        searches.begin(&turn(0, Duration::from_secs(60)));
        let chosen_move = searches.next().await;
        searches.repeat(chosen_move.clone(), Duration::ZERO);
        assert_eq!(searches.next().await, chosen_move);
        searches.repeat(chosen_move.clone(), Duration::ZERO);
        searches.begin(&turn(2, Duration::from_secs(60)));
        searches.close(&chosen_move.game, 0);
        assert_eq!(searches.next().await.ply, 2);
    }

    #[tokio::test]
    async fn every_game_has_its_seed() {
        let mut searches = MoveSearches::new(ai(AiKind::Greedy, 1), 7);
        let first = turn(0, Duration::from_secs(60));
        let second = Turn { game: "game2".parse().unwrap(), ..first.clone() };
        let [once, again, other] = [&first, &first, &second].map(|turn| searches.seed_for(turn));
        assert_eq!(once, again);
        assert_ne!(once, other);
    }

    #[tokio::test]
    async fn a_long_search_answers_in_time() {
        let deepest = AiKind::Mcts.profile().levels;
        let mut searches = MoveSearches::new(ai(AiKind::Mcts, deepest), 7);
        searches.begin(&turn(0, Duration::from_millis(60)));
        assert!(Position::START.legal_moves().contains(searches.next().await.chosen.unwrap()));
    }

    #[test]
    fn the_expert_plans_a_total_clock_and_others_take_what_is_left() {
        let seconds = Duration::from_secs;
        let clock =
            |left| Clocks { total: ByColor::from_fn(|_| Some(seconds(240))), time_left: Some(left), deadline: None };
        let times =
            |kind, clocks| SearchTimes::of(AiPlayer::new(kind, 1).unwrap(), &Turn { clocks, ..turn(0, seconds(60)) });
        // 10 s for each of 24 moves: half of that is the soft limit, twice that less a tenth the hard one.
        let planned = SearchTimes { soft: Some(seconds(5)), hard: Some(seconds(18)) };
        assert_eq!(times(AiKind::Expert, clock(seconds(240))), planned);
        assert_eq!(times(AiKind::Expert, clock(seconds(10))), SearchTimes { hard: Some(seconds(9)), ..planned });
        let all = SearchTimes { soft: None, hard: Some(seconds(238)) };
        assert_eq!(times(AiKind::Mcts, clock(seconds(240))), all);
        assert_eq!(times(AiKind::Expert, Clocks::default()), SearchTimes { soft: None, hard: None });
    }

    #[test]
    fn some_time_is_reserved() {
        assert_eq!(less_margin(Duration::from_secs(10)), Duration::from_secs(9));
        assert_eq!(less_margin(Duration::from_secs(60)), Duration::from_secs(58));
        assert_eq!(less_margin(Duration::from_millis(40)), Duration::ZERO);
    }
}
