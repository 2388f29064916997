//! A room's AI seat at its turn: when it is asked, what it is given, and what is played when it does not answer.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    ai::{AiKind, AiPlayer, Choice, Unit, cheap_move},
    room::{AiTurn, Command, Room, Thought},
    rules::Color,
    runtime::{
        ai::{
            pool::Pondered,
            queue::{Full, Job, Ticket},
        },
        limit::limits::{AI_MARGIN, PONDERED, STORE_RETRY},
        server_state::Shared,
    },
};

/// The state of the room's AI turn; one turn at most is open. It is small where no AI plays.
#[derive(Default)]
pub(crate) struct Thinker {
    open: Option<Box<Open>>,
    ahead: Option<Box<Ahead>>,
}

/// A turn that will come if the opponent plays what is expected, and is pondered already.
struct Ahead {
    turn: AiTurn,
    player: AiPlayer,
    ticket: Ticket,
}

struct Open {
    turn: AiTurn,
    stage: Stage,
}

enum Stage {
    /// The pause before the move is not over.
    Pausing(Instant),
    /// A search runs, and is waited for until then.
    Searching(Ticket, Instant),
    /// Pondering has found it.
    Found(Choice),
    /// Nothing better is to be had.
    Resigned,
}

/// What came of a turn.
pub(crate) enum Step {
    /// The pause is over.
    Begin,
    /// The search's answer.
    Found(Choice),
    /// There is none: the queue is full, the time is used, or the AI panicked.
    Nothing,
}

impl Thinker {
    /// Follows the room: opens a turn that has begun, drops one that is over.
    pub(crate) fn prepare(&mut self, room: &Room, shared: &Shared) {
        let game = room.running().map(|game| (game.number, game.ply()));
        if self.open.as_ref().is_some_and(|open| Some((open.turn.game, open.turn.ply)) == game) {
            return;
        }
        let is_to_come =
            |ahead: &Ahead| game.is_some_and(|(game, ply)| ahead.turn.game == game && ahead.turn.ply >= ply);
        // In place: rooms without AIs pass here at every move.
        self.ahead.take_if(|ahead| !is_to_come(ahead));
        self.open = room.ai_turn().map(|turn| {
            let wait = shared.clock.until(turn.begins);
            let stage = if wait.is_zero() {
                begin(&turn, self.ahead.take(), shared)
            } else {
                Stage::Pausing(Instant::now() + wait)
            };
            Box::new(Open { turn, stage })
        });
    }

    /// Waits for what comes next; for ever when no AI is to move. May be dropped and asked again.
    pub(crate) async fn answer(&mut self) -> Step {
        let Some(open) = &mut self.open else { return std::future::pending().await };
        match &mut open.stage {
            Stage::Pausing(end) => {
                tokio::time::sleep_until(*end).await;
                Step::Begin
            }
            Stage::Searching(ticket, patience) => match tokio::time::timeout_at(*patience, &mut ticket.answer).await {
                Ok(Ok(Some(choice))) => Step::Found(choice),
                Ok(Ok(None) | Err(_)) | Err(_) => Step::Nothing,
            },
            Stage::Found(choice) => Step::Found(choice.clone()),
            Stage::Resigned => Step::Nothing,
        }
    }

    /// The move could not be made now; it is sought again after a while, while the turn lasts.
    pub(crate) fn postpone(&mut self) {
        if let Some(open) = &mut self.open {
            open.stage = Stage::Pausing(Instant::now() + STORE_RETRY);
        }
    }

    /// The move to make, when there is one now.
    pub(crate) fn take(&mut self, step: Step, room: &Room, shared: &Shared) -> Option<Command> {
        let open = self.open.as_mut()?;
        let (square, thought) = match step {
            Step::Begin => {
                open.stage = begin(&open.turn, self.ahead.take(), shared);
                return None;
            }
            Step::Found(choice) if open.turn.position.legal_moves().contains(choice.square) => {
                self.ahead = look_ahead(&open.turn, &choice, shared);
                (choice.square, thought(&choice, &open.turn))
            }
            Step::Found(_) | Step::Nothing => {
                shared.pool.count_cheaper();
                tracing::warn!(room = %room.id(), ai = %open.turn.ai.kind, "an AI's move was replaced by a cheap one");
                (cheap_move(open.turn.position, seed(&open.turn)), None)
            }
        };
        open.stage = Stage::Resigned;
        Some(Command::Play { game: open.turn.game, ply: open.turn.ply, square, thought })
    }
}

/// What watchers are told of a choice: nothing of one that was made without search.
fn thought(choice: &Choice, turn: &AiTurn) -> Option<Box<Thought>> {
    if choice.depth == 0 {
        return None;
    }
    let kind: AiKind = turn.ai.kind.parse().ok()?;
    let discs = choice.evaluation.filter(|_| kind.profile().unit == Unit::Discs);
    let blacks = |discs: f32| if turn.position.turn() == Color::Black { discs } else { -discs };
    Some(Box::new(Thought {
        // As far as it goes; no game ends by more than 64 discs.
        evaluation: discs.map(|discs| (blacks(discs) * 100.0).round() as i16),
        depth: choice.depth,
        nodes: choice.nodes,
        line: choice.line.iter().copied().take(Thought::LINE).collect(),
    }))
}

fn begin(turn: &AiTurn, ahead: Option<Box<Ahead>>, shared: &Shared) -> Stage {
    let Some(player) = player(turn).map(|player| in_time(player, turn)) else {
        return Stage::Resigned;
    };
    let allotted = Allotted::of(player, turn, shared.clock.now().since(turn.begins));
    let now = Instant::now();
    let job = Job {
        player,
        position: turn.position,
        seed: seed(turn),
        enough: allotted.enough.map(|enough| (now + enough).into_std()),
        deadline: (now + allotted.search).into_std(),
    };
    let asks = |ahead: &Ahead| ahead.turn.position == turn.position && ahead.turn.ply == turn.ply;
    let ahead = ahead.filter(|ahead| asks(ahead) && ahead.player == job.player);
    match ahead.and_then(|ahead| shared.pool.claim(ahead.ticket, job.enough, job.deadline)) {
        Some(Pondered::Found(choice)) => return Stage::Found(choice),
        Some(Pondered::Searching(ticket)) => return Stage::Searching(ticket, now + allotted.patience),
        None => {}
    }
    match shared.pool.submit(job) {
        Ok(ticket) => Stage::Searching(ticket, now + allotted.patience),
        Err(Full) => Stage::Resigned,
    }
}

fn player(turn: &AiTurn) -> Option<AiPlayer> {
    AiPlayer::new(turn.ai.kind.parse().ok()?, turn.ai.level).ok()
}

/// The player with the time of a turn of which nothing is spent, so that how busy the server is decides nothing.
fn in_time(player: AiPlayer, turn: &AiTurn) -> AiPlayer {
    player.with_time(Allotted::of(player, turn, Duration::ZERO).search)
}

/// Ponders the turn after the expected reply, of a player that expects one, as it would be searched when it comes.
fn look_ahead(turn: &AiTurn, choice: &Choice, shared: &Shared) -> Option<Box<Ahead>> {
    let player = player(turn).filter(|player| player.kind() == AiKind::Expert)?;
    let [_, reply, ..] = choice.line[..] else { return None };
    if !shared.analysts.analyses.is_none() {
        return None;
    }
    let theirs = turn.position.play(choice.square).ok()?;
    // A reply that is no move there comes after a pass.
    let position = theirs.play(reply).ok()?;
    if position.legal_moves().is_empty() {
        return None;
    }
    let turn = AiTurn { ply: turn.ply + 2, position, ..turn.clone() };
    let player = in_time(player, &turn);
    let deadline = (Instant::now() + PONDERED).into_std();
    let job = Job { player, position, seed: seed(&turn), enough: None, deadline };
    let ticket = shared.pool.ponder(job)?;
    Some(Box::new(Ahead { turn, player, ticket }))
}

/// The times of one search, from its beginning.
#[derive(Debug, PartialEq, Eq)]
struct Allotted {
    /// From then on it begins no new step.
    enough: Option<Duration>,
    /// It is to end then: well before patience does, which is there for one that does not listen.
    search: Duration,
    patience: Duration,
}

impl Allotted {
    /// A player that plans its clock has its own share of it, others the room's.
    fn of(player: AiPlayer, turn: &AiTurn, spent: Duration) -> Self {
        let plan = turn.left.and_then(|left| player.plan(left, turn.increment, turn.position));
        let most = plan.map_or(turn.budget, |plan| plan.most.min(turn.limit));
        let patience = less_margin(most).saturating_sub(spent);
        let enough = plan.map(|plan| plan.enough.saturating_sub(spent));
        Self { enough, search: less_margin(patience), patience }
    }
}

/// One seat's seed makes another number for every ply of every game: FNV-1a over the three.
fn seed(turn: &AiTurn) -> u64 {
    [turn.ai.seed, u64::from(turn.game), u64::from(turn.ply)]
        .iter()
        .flat_map(|part| part.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Keeps what is left of a limit for the way of a move to the clock.
fn less_margin(budget: Duration) -> Duration {
    budget.saturating_sub((budget / 10).max(AI_MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{AiSeat, Timestamp},
        rules::Position,
    };

    const SECOND: Duration = Duration::from_secs(1);

    fn turn(limit: Duration, left: Option<Duration>) -> AiTurn {
        AiTurn {
            game: 1,
            ply: 0,
            position: Position::START,
            ai: AiSeat { kind: "expert".into(), level: 16, seed: 1 },
            begins: Timestamp(0),
            budget: left.map_or(limit, |left| left / 31).min(limit),
            limit,
            left,
            increment: Duration::ZERO,
        }
    }

    fn allotted(kind: AiKind, turn: &AiTurn, spent: Duration) -> Allotted {
        Allotted::of(AiPlayer::new(kind, 1).unwrap(), turn, spent)
    }

    #[test]
    fn the_expert_plans_its_clock_and_others_take_the_rooms_share() {
        let total = turn(60 * SECOND, Some(240 * SECOND));
        let of_expert = allotted(AiKind::Expert, &total, Duration::ZERO);
        // 10 s for each of 24 moves: half of it is enough, twice as much the most, less a tenth for the way.
        assert_eq!(of_expert.enough, Some(5 * SECOND));
        assert_eq!(of_expert.patience, 18 * SECOND);
        let of_others = allotted(AiKind::AlphaBeta, &total, Duration::ZERO);
        assert_eq!((of_others.enough, of_others.patience), (None, less_margin(total.budget)));
        let by_move = turn(10 * SECOND, None);
        assert_eq!(allotted(AiKind::Expert, &by_move, SECOND), allotted(AiKind::AlphaBeta, &by_move, SECOND));
    }

    #[test]
    fn nobody_thinks_beyond_a_limit() {
        for spent in [0, 1, 3, 100].map(Duration::from_secs) {
            for left in [0, 1, 20, 3_600].map(Duration::from_secs) {
                let limit = left.min(4 * SECOND);
                let allotted = allotted(AiKind::Expert, &turn(limit, Some(left)), spent);
                assert!(allotted.search <= allotted.patience && allotted.patience + spent.min(limit) <= limit);
            }
        }
    }
}
