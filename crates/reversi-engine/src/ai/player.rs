//! A computer player: a kind at a level.
use std::f64::consts::SQRT_2;
use std::fmt;
use std::time::Duration;

use rand::Rng;
use rand_pcg::Pcg64;

use super::{
    AiKind, DiscDifference, LastSquare, MoveOrPass, Orange, Placed, RandomGame, Reversi, ReversiByPlacement,
    RoxanneGame, alphabeta,
    engine::{Engines, Goal, Plan, Report},
    expert, greedy, roxanne, seeded_rng,
};
use crate::rules::{Bitboard, Position, Square};
use crate::search::{
    AlphaBeta, Budget, EndedBy, Found, NoCache, Playout, Reward, Sampled, Stop, Uct, WinShare, WindowCache,
};

/// A kind of computer player, at one of its levels or at none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AiPlayer {
    kind: AiKind,
    /// `None` for an unbounded search.
    level: Option<u8>,
    /// Whether its time may be too short for its level.
    hurried: bool,
}

/// A chosen move and the search that found it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// A legal move.
    pub square: Square,
    /// Its value for the side that makes it, in the [`Unit`](super::Unit) of the kind. `None` for kinds without
    /// evaluation, for the only legal move, and if stopped before any evaluation.
    pub evaluation: Option<f32>,
    /// Plies searched in full, or the depth of the tree; 0 without search.
    pub depth: u8,
    /// States visited or games played out; 0 without search.
    pub nodes: u64,
    /// The move and the expected ones after it, without passes; empty without search.
    pub line: Vec<Square>,
    /// False if the flag ended the search: the move is then the best so far.
    pub complete: bool,
}

/// Roxanne's move, in about a microsecond, if there is no time for a search.
///
/// `position` must have a legal move; without one the result is a1, and in debug builds a panic.
#[must_use]
pub fn cheap_move(position: Position, seed: u64) -> Square {
    debug_assert!(!position.legal_moves().is_empty());
    let best = roxanne::best_tier(position.legal_moves());
    roxanne::any_of(best, &mut seeded_rng(seed)).unwrap_or(Square::ALL[0])
}

impl AiPlayer {
    /// # Errors
    /// [`UnknownLevel`] if the kind has no such level.
    pub fn new(kind: AiKind, level: u8) -> Result<Self, UnknownLevel> {
        if (1..=kind.profile().levels).contains(&level) {
            Ok(Self { kind, level: Some(level), hurried: false })
        } else {
            Err(UnknownLevel { kind, level })
        }
    }

    /// A player without a level, which searches until the caller sets its flag.
    #[must_use]
    pub const fn tireless(kind: AiKind) -> Self {
        Self { kind, level: None, hurried: false }
    }

    /// The kind.
    #[must_use]
    pub const fn kind(self) -> AiKind {
        self.kind
    }

    /// The level; `None` for an unbounded search.
    #[must_use]
    pub const fn level(self) -> Option<u8> {
        self.level
    }

    /// About how many positions it looks at for a move, to tell short searches from long ones; no bound without a
    /// level.
    #[must_use]
    pub fn positions(self) -> u64 {
        let Some(level) = self.level else { return u64::MAX };
        match self.kind {
            AiKind::Random | AiKind::Greedy | AiKind::Roxanne => 1,
            AiKind::Positional => 1 << (2 * level),
            AiKind::AlphaBeta => 1 << (2 * level + 4),
            // A playout has up to 60 moves.
            AiKind::Mcts | AiKind::MctsRoxanne => 6_000 << level,
            AiKind::Expert => expert::positions(level),
        }
    }

    /// The time limits of the next move on a total clock; `None` for a kind without time management.
    #[must_use]
    pub fn plan(self, remaining: Duration, increment: Duration, position: Position) -> Option<Plan> {
        let empties = position.board().empties().count();
        (self.kind == AiKind::Expert).then(|| Plan::new(remaining, increment, empties))
    }

    /// Sets the time for a move. A player that may need longer first searches the end for the winner only.
    #[must_use]
    pub fn with_time(self, time: Duration) -> Self {
        let may_need_longer = |level| self.kind == AiKind::Expert && expert::is_short(time, level);
        Self { hurried: self.level.is_some_and(may_need_longer), ..self }
    }

    /// Chooses a legal move; `None` if there is none.
    ///
    /// The same position and seed give the same choice, unless the flag is set; then the best move so far is returned
    /// at once, a legal one even if the flag was set before.
    #[must_use]
    pub fn choose(&self, position: Position, seed: u64, stop: &Stop) -> Option<Choice> {
        self.choose_with(Engines::usual(), position, seed, stop)
    }

    /// Like [`AiPlayer::choose`], with one of `engines` for kinds that need one.
    #[must_use]
    pub fn choose_with(&self, engines: &Engines, position: Position, seed: u64, stop: &Stop) -> Option<Choice> {
        let legal = position.legal_moves();
        let mut rng = seeded_rng(seed);
        match self.kind {
            AiKind::Random => any_of(legal, &mut rng),
            AiKind::Greedy => any_of(greedy::most_flipping(position), &mut rng),
            AiKind::Roxanne => any_of(roxanne::best_tier(legal), &mut rng),
            // A single move needs no search.
            _ if legal.count() < 2 => any_of(legal, &mut rng),
            AiKind::Positional => self.positional(position, &mut rng, stop),
            AiKind::AlphaBeta => self.alpha_beta(position, &mut rng, stop),
            AiKind::Mcts => self.sample(position, EXPLORED_DISCS, RandomGame, DiscDifference, &mut rng, stop),
            AiKind::MctsRoxanne => self.sample(position, SQRT_2, RoxanneGame, WinShare, &mut rng, stop),
            AiKind::Expert => {
                let goal = if self.hurried { Goal::WinnerFirst } else { Goal::Score };
                expert::search(engines, position, (self.level, goal), &mut rng, stop)
                    .map(Choice::reported)
                    .or_else(|| any_of(legal, &mut rng))
            }
        }
    }

    fn positional(&self, position: Position, rng: &mut Pcg64, stop: &Stop) -> Option<Choice> {
        let root = Placed { position, last: None };
        let budget = Budget { depth: self.level, nodes: None, stop: stop.clone() };
        AlphaBeta::deepening(LastSquare, NoCache)
            .search::<ReversiByPlacement>(&root, &budget, rng)
            .and_then(Choice::found)
    }

    /// The default level has the original's depth; each level above or below it is one ply more or less.
    fn alpha_beta(&self, position: Position, rng: &mut Pcg64, stop: &Stop) -> Option<Choice> {
        let by_rule = alphabeta::plies(position.legal_moves().count());
        let depth = self.level.map(|level| by_rule + level - self.kind.profile().default_level);
        let budget = Budget { depth, nodes: None, stop: stop.clone() };
        AlphaBeta::deepening(Orange, WindowCache::with_bits(CACHE_BITS))
            .search::<Reversi>(&position, &budget, rng)
            .and_then(Choice::found)
    }

    fn sample(
        &self,
        position: Position,
        exploration: f64,
        playout: impl Playout<Reversi>,
        reward: impl Reward<Reversi>,
        rng: &mut Pcg64,
        stop: &Stop,
    ) -> Option<Choice> {
        let uct = Uct { exploration, playout, reward, max_states: MAX_STATES };
        let budget = Budget { depth: None, nodes: self.level.map(|level| 100 << level), stop: stop.clone() };
        uct.search::<Reversi>(&position, &budget, rng).and_then(Choice::sampled)
    }
}

/// The exploration of `mcts`, in discs, which its source does not specify. In matches of 80 games against 30, with
/// 2,000 playouts per move, 20 won 50, 10 won 47, 60 won 41, 90 won 35, and the square root of 2 won 20.
const EXPLORED_DISCS: f64 = 20.0;

/// About 1 MB. Larger caches cost more time than they save, measured at 5, 7 and 9 plies with 10 to 18 bits.
const CACHE_BITS: u8 = 14;

/// About 25 MB at most. Only the highest level fills it, in the last third of its search.
const MAX_STATES: usize = 1 << 18;

impl Choice {
    fn unsearched(square: Square) -> Self {
        Self { square, evaluation: None, depth: 0, nodes: 0, line: Vec::new(), complete: true }
    }

    fn reported(report: Report) -> Self {
        Self {
            square: report.best,
            evaluation: (report.depth > 0).then_some(report.discs),
            depth: report.depth,
            nodes: report.nodes,
            line: report.line,
            complete: report.ended_by != EndedBy::Stop,
        }
    }

    /// `None` for a pass, which is never searched.
    fn found(found: Found<MoveOrPass>) -> Option<Self> {
        let square = found.best.square()?;
        Some(Self {
            square,
            evaluation: found.value.map(|value| value as f32),
            depth: found.depth,
            nodes: found.nodes,
            line: vec![square],
            complete: found.ended_by != EndedBy::Stop,
        })
    }

    fn sampled(sampled: Sampled<MoveOrPass>) -> Option<Self> {
        Some(Self {
            square: sampled.best.square()?,
            evaluation: sampled.mean.map(|mean| mean as f32),
            depth: sampled.depth,
            nodes: sampled.playouts,
            line: sampled.line.into_iter().filter_map(MoveOrPass::square).collect(),
            complete: sampled.ended_by != EndedBy::Stop,
        })
    }
}

fn any_of(squares: Bitboard, rng: &mut impl Rng) -> Option<Choice> {
    roxanne::any_of(squares, rng).map(Choice::unsearched)
}

/// The kind has no such level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLevel {
    /// The kind.
    pub kind: AiKind,
    /// The unknown level.
    pub level: u8,
}

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = self.kind.profile().levels;
        write!(f, "{} has levels 1 to {levels}, not {}", self.kind, self.level)
    }
}

impl std::error::Error for UnknownLevel {}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(kind: AiKind, level: u8) -> AiPlayer {
        AiPlayer::new(kind, level).unwrap()
    }

    fn choose(kind: AiKind, level: u8, position: Position, seed: u64) -> Choice {
        player(kind, level).choose(position, seed, &Stop::new()).unwrap()
    }

    #[test]
    fn levels_are_those_of_the_profile() {
        for kind in AiKind::ALL {
            let levels = kind.profile().levels;
            for level in 0..=u8::MAX {
                assert_eq!(AiPlayer::new(kind, level).is_ok(), (1..=levels).contains(&level));
            }
        }
        let error = AiPlayer::new(AiKind::Greedy, 2).unwrap_err();
        assert_eq!(error.to_string(), "greedy has levels 1 to 1, not 2");
    }

    #[test]
    fn no_player_answers_without_a_legal_move() {
        let text = format!("------OX{} O", "-".repeat(56));
        for kind in AiKind::ALL {
            assert_eq!(player(kind, 1).choose(text.parse().unwrap(), 1, &Stop::new()), None);
        }
    }

    #[test]
    fn an_only_move_is_played_without_search() {
        let text = format!("-OX-----{} X", "-".repeat(56));
        for kind in AiKind::ALL {
            let choice = choose(kind, 1, text.parse().unwrap(), 1);
            assert_eq!((choice.square.to_string().as_str(), choice.nodes), ("a1", 0));
        }
    }

    #[test]
    fn depth_and_playouts_follow_the_level() {
        assert_eq!(choose(AiKind::Positional, 3, Position::START, 1).depth, 3);
        assert_eq!(choose(AiKind::AlphaBeta, 4, Position::START, 1).depth, 7);
        assert_eq!(choose(AiKind::AlphaBeta, 1, Position::START, 1).depth, 4);
        assert_eq!(choose(AiKind::Mcts, 1, Position::START, 1).nodes, 200);
        assert_eq!(choose(AiKind::MctsRoxanne, 3, Position::START, 1).nodes, 800);
    }

    #[test]
    fn players_that_search_for_a_win_take_the_corner_that_wins_at_once() {
        // a1 wipes white out; a2 and a3 leave it alive.
        let text = format!("-OX------OX-------X-----{} X", "-".repeat(40));
        let position: Position = text.parse().unwrap();
        assert_eq!(position.legal_moves().count(), 3);
        for (kind, level) in [(AiKind::AlphaBeta, 2), (AiKind::MctsRoxanne, 4), (AiKind::Roxanne, 1)] {
            assert_eq!(choose(kind, level, position, 3).square.to_string(), "a1", "{kind}");
        }
    }

    #[test]
    fn a_stopped_player_answers_and_reports_that_it_was_stopped() {
        let stop = Stop::new();
        stop.stop();
        for kind in [AiKind::Positional, AiKind::AlphaBeta, AiKind::Mcts, AiKind::MctsRoxanne] {
            let choice = player(kind, kind.profile().levels).choose(Position::START, 1, &stop).unwrap();
            assert!(Position::START.legal_moves().contains(choice.square));
            assert_eq!((choice.complete, choice.nodes, choice.evaluation), (false, 0, None));
        }
    }

    #[test]
    fn an_unlimited_player_searches_until_it_is_stopped_or_has_solved_the_game() {
        let mut position = Position::START;
        while position.board().empties().count() > 8 {
            position = position.play(cheap_move(position, 1)).unwrap();
        }
        for kind in [AiKind::Positional, AiKind::AlphaBeta, AiKind::Expert] {
            let choice = AiPlayer::tireless(kind).choose(position, 1, &Stop::new()).unwrap();
            assert!(choice.complete && choice.depth >= 8, "{kind}: {choice:?}");
        }
        let stop = Stop::new();
        stop.stop();
        for kind in AiKind::ALL {
            assert!(AiPlayer::tireless(kind).choose(position, 1, &stop).is_some(), "{kind}");
        }
    }

    #[test]
    fn the_cheap_move_is_that_of_roxanne() {
        for seed in 0..20 {
            let cheap = cheap_move(Position::START, seed);
            assert_eq!(cheap, choose(AiKind::Roxanne, 1, Position::START, seed).square);
        }
    }
}
