//! The turn of a room's AI seat: when the search starts, its time, and the move if it finds none.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    ai::{AiKind, AiPlayer, Choice, Unit, cheap_move},
    room::{AiTurn, Command, Occupant, PlayerKind, Room, Thought},
    rules::{Color, Position},
    runtime::{
        ai::{
            job::{Job, JobResult, Ticket},
            pool::{MovePool, Pondered},
        },
        limit::search_use::SearchUser,
        lobby::{listing::Lobby, rated_positions::SearchedPositions},
        player::directory::Players,
        server_clock::{Clock, instant},
    },
};

/// The part of an AI's time that is reserved for the delivery of its move: the greater of this and a tenth.
const AI_MARGIN: Duration = Duration::from_millis(20);

/// Time for which an AI ponders one position: longer than the highest level takes on a slow core.
const PONDER_TIME: Duration = Duration::from_secs(60);

/// The interval at which an AI checks whether a rated game in another room has left its position.
const RATED_WAIT: Duration = Duration::from_secs(1);

/// The room of a turn, and the parts of the server that it uses.
#[derive(Clone, Copy)]
pub(crate) struct TurnContext<'a> {
    pub(crate) room: &'a Room,
    pub(crate) has_watchers: bool,
    pub(crate) players: &'a Players,
    pub(crate) clock: Clock,
    pub(crate) pool: &'a MovePool,
    pub(crate) lobby: &'a Lobby,
}

impl TurnContext<'_> {
    /// True if the AI's move could help a player of a rated game in another room.
    fn answers_for_rated_game(&self, position: Position) -> bool {
        !self.room.settings().rated && self.lobby.has_rated_game_at(&SearchedPositions::from_iter([position]))
    }

    fn search_user(&self) -> SearchUser {
        let payer = self.room.payer().and_then(|payer| self.players.get(payer));
        payer.map_or_else(SearchUser::unknown, |payer| payer.search_user())
    }

    /// True if somebody may be waiting for the moves: a person who is connected, or any opponent or watcher.
    fn is_awaited(&self) -> bool {
        let has_player = self.room.seats().iter().any(|(_, seat)| !matches!(seat.occupant, Occupant::Ai(_)));
        let mut present = self.room.members().iter().filter(|member| member.absent_since.is_none());
        has_player || self.has_watchers || present.any(|member| member.profile.kind == PlayerKind::Human)
    }
}

/// The state of the AI turn, of which at most one is open. Boxed, so that rooms without AIs stay small.
#[derive(Default)]
pub(crate) struct AiTurnState {
    open: Option<Box<OpenTurn>>,
    pondered: Option<Box<PonderedTurn>>,
}

/// The turn after the expected reply, whose search has already started.
struct PonderedTurn {
    turn: AiTurn,
    player: AiPlayer,
    ticket: Ticket,
}

struct OpenTurn {
    turn: AiTurn,
    stage: TurnStage,
    /// Total time of its interrupted searches.
    lost: Duration,
}

enum TurnStage {
    /// A pause before the search or before another attempt, until this time.
    Pausing(Instant),
    /// A search, and the time until which to wait for it.
    Searching(Ticket, Instant),
    /// Pondering has found a move.
    Found(Choice),
    /// A cheap move is played without a search.
    Cheap,
}

/// The next event of an open turn.
pub(crate) enum TurnEvent {
    /// The pause is over.
    Start,
    /// The search was interrupted after this time.
    Interrupted(Duration),
    /// The search has found a move.
    Found(Choice),
    /// No move: the queue was full, the time is used up, or the AI panicked.
    NotFound,
}

impl AiTurnState {
    /// Follows the room: opens a turn that has started, drops one that is over.
    pub(crate) fn follow(&mut self, context: TurnContext<'_>) {
        let game = context.room.running().map(|game| (game.number, game.ply()));
        if self.open.as_ref().is_some_and(|open| Some((open.turn.game, open.turn.ply)) == game) {
            return;
        }
        let is_to_come =
            |ahead: &PonderedTurn| game.is_some_and(|(game, ply)| ahead.turn.game == game && ahead.turn.ply >= ply);
        // In place, because this runs at every move, also in rooms without AIs.
        self.pondered.take_if(|ahead| !is_to_come(ahead));
        self.open = context.room.ai_turn().map(|turn| {
            let wait = context.clock.until(turn.begins);
            let stage = if wait.is_zero() {
                start(&turn, self.pondered.take(), Duration::ZERO, context)
            } else {
                TurnStage::Pausing(Instant::now() + wait)
            };
            Box::new(OpenTurn { turn, stage, lost: Duration::ZERO })
        });
    }

    /// Waits for the next event, for ever when no AI is to move. Cancel safe.
    pub(crate) async fn next(&mut self) -> TurnEvent {
        let Some(open) = &mut self.open else { return std::future::pending().await };
        match &mut open.stage {
            TurnStage::Pausing(end) => {
                tokio::time::sleep_until(*end).await;
                TurnEvent::Start
            }
            TurnStage::Searching(ticket, patience) => {
                match tokio::time::timeout_at(*patience, &mut ticket.answer).await {
                    Ok(Ok(JobResult::Found(choice))) => TurnEvent::Found(choice),
                    Ok(Ok(JobResult::Interrupted(after))) => TurnEvent::Interrupted(after),
                    Ok(Ok(JobResult::NotFound) | Err(_)) | Err(_) => TurnEvent::NotFound,
                }
            }
            TurnStage::Found(choice) => TurnEvent::Found(choice.clone()),
            TurnStage::Cheap => TurnEvent::NotFound,
        }
    }

    /// Restarts the turn at a later time, because the move could not be made.
    pub(crate) fn retry_at(&mut self, at: Instant) {
        if let Some(open) = &mut self.open {
            open.stage = TurnStage::Pausing(at);
        }
    }

    /// The move to make after an event, if any.
    pub(crate) fn handle(&mut self, event: TurnEvent, context: TurnContext<'_>) -> Option<Command> {
        let open = self.open.as_mut()?;
        let (square, thought) = match event {
            TurnEvent::Start => {
                open.stage = start(&open.turn, self.pondered.take(), open.lost, context);
                return None;
            }
            TurnEvent::Interrupted(after) => {
                open.lost += after;
                open.stage = start(&open.turn, None, open.lost, context);
                return None;
            }
            TurnEvent::Found(choice) if open.turn.position.legal_moves().contains(choice.square) => {
                self.pondered = ponder(&open.turn, &choice, context);
                (choice.square, thought(&choice, &open.turn))
            }
            TurnEvent::Found(_) | TurnEvent::NotFound => {
                context.pool.count_cheaper();
                tracing::warn!(
                    room = %context.room.id(),
                    ai = %open.turn.ai.kind,
                    "an AI found no move in time; a move without a search is played"
                );
                let square = cheap_move(open.turn.position, seed(&open.turn));
                let line = [square].into();
                let thought = Thought { evaluation: None, depth: 0, nodes: 0, line, cut_short: true };
                (square, Some(Box::new(thought)))
            }
        };
        open.stage = TurnStage::Cheap;
        Some(Command::Play { game: open.turn.game, ply: open.turn.ply, square, thought })
    }
}

/// The part of a choice that watchers see; none if made without a search.
fn thought(choice: &Choice, turn: &AiTurn) -> Option<Box<Thought>> {
    if choice.depth == 0 && choice.complete {
        return None;
    }
    let kind: AiKind = turn.ai.kind.parse().ok()?;
    let discs = choice.evaluation.filter(|_| kind.profile().unit == Unit::Discs);
    let blacks = |discs: f32| if turn.position.turn() == Color::Black { discs } else { -discs };
    Some(Box::new(Thought {
        // Hundredths of a disc; no game ends by more than 64.
        evaluation: discs.map(|discs| (blacks(discs) * 100.0).round() as i16),
        depth: choice.depth,
        nodes: choice.nodes,
        line: choice.line.iter().copied().take(Thought::LINE).collect(),
        cut_short: !choice.complete,
    }))
}

fn start(turn: &AiTurn, ahead: Option<Box<PonderedTurn>>, lost: Duration, context: TurnContext<'_>) -> TurnStage {
    let TurnContext { clock, pool, .. } = context;
    let Some(player) = player(turn).map(|player| in_time(player, turn)) else {
        return TurnStage::Cheap;
    };
    let allotted = Allotted::of(player, turn, clock.now().since(turn.begins));
    let (now, user) = (Instant::now(), context.search_user());
    if context.answers_for_rated_game(turn.position) {
        // After its time it plays without a search.
        let wait = RATED_WAIT.min(allotted.patience);
        return if wait.is_zero() { TurnStage::Cheap } else { TurnStage::Pausing(now + wait) };
    }
    let job = Job {
        player,
        position: turn.position,
        seed: seed(turn),
        enough: allotted.enough.map(|enough| (now + enough).into_std()),
        deadline: (now + allotted.search).into_std(),
        yields: !context.is_awaited() || user.is_beyond_limit(instant()),
        user,
        lost,
    };
    let asks = |ahead: &PonderedTurn| ahead.turn.position == turn.position && ahead.turn.ply == turn.ply;
    let ahead = ahead.filter(|ahead| asks(ahead) && ahead.player == job.player);
    match ahead.and_then(|ahead| pool.claim(ahead.ticket, &job)) {
        Some(Pondered::Found(choice)) => TurnStage::Found(choice),
        Some(Pondered::Searching(ticket)) => TurnStage::Searching(ticket, now + allotted.patience),
        None => TurnStage::Searching(pool.submit(job), now + allotted.patience),
    }
}

fn player(turn: &AiTurn) -> Option<AiPlayer> {
    AiPlayer::new(turn.ai.kind.parse().ok()?, turn.ai.level).ok()
}

/// The player with the full time of the turn, so that its choice does not depend on the server's load.
fn in_time(player: AiPlayer, turn: &AiTurn) -> AiPlayer {
    player.with_time(Allotted::of(player, turn, Duration::ZERO).search)
}

/// Ponders the turn after the expected reply, with the settings that its search will have.
fn ponder(turn: &AiTurn, choice: &Choice, context: TurnContext<'_>) -> Option<Box<PonderedTurn>> {
    let player = player(turn).filter(|player| player.kind() == AiKind::Expert)?;
    let [_, reply, ..] = choice.line[..] else { return None };
    let theirs = turn.position.play(choice.square).ok()?;
    // An illegal reply means that the opponent must pass first.
    let position = theirs.play(reply).ok()?;
    if position.legal_moves().is_empty() {
        return None;
    }
    let turn = AiTurn { ply: turn.ply + 2, position, ..turn.clone() };
    let player = in_time(player, &turn);
    let deadline = (Instant::now() + PONDER_TIME).into_std();
    let job = Job {
        player,
        position,
        seed: seed(&turn),
        enough: None,
        deadline,
        user: context.search_user(),
        yields: true,
        lost: Duration::ZERO,
    };
    let ticket = context.pool.ponder(job)?;
    Some(Box::new(PonderedTurn { turn, player, ticket }))
}

/// The times of one search, from its start.
#[derive(Debug, PartialEq, Eq)]
struct Allotted {
    /// No new iteration starts after this time.
    enough: Option<Duration>,
    /// The search is stopped after this time.
    search: Duration,
    /// The wait for the search ends after this time, in case the search does not stop.
    patience: Duration,
}

impl Allotted {
    /// By the plan of a player that plans its clock; for others by the room's budget.
    fn of(player: AiPlayer, turn: &AiTurn, spent: Duration) -> Self {
        let plan = turn.left.and_then(|left| player.plan(left, turn.increment, turn.position));
        let max = plan.map_or(turn.budget, |plan| plan.most.min(turn.limit));
        let patience = less_margin(max).saturating_sub(spent);
        let enough = plan.map(|plan| plan.enough.saturating_sub(spent));
        Self { enough, search: less_margin(patience), patience }
    }
}

/// A seed for each ply of each game: FNV-1a over the seat's seed, the game and the ply.
fn seed(turn: &AiTurn) -> u64 {
    [turn.ai.seed, u64::from(turn.game), u64::from(turn.ply)]
        .iter()
        .flat_map(|part| part.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A limit minus the margin for the delivery of the move.
fn less_margin(budget: Duration) -> Duration {
    budget.saturating_sub((budget / 10).max(AI_MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{AiSeat, Timestamp};

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
        // 10 s for each of 24 moves: half of it is `enough`, twice as much the maximum, minus the margin of a tenth.
        assert_eq!(of_expert.enough, Some(5 * SECOND));
        assert_eq!(of_expert.patience, 18 * SECOND);
        let of_others = allotted(AiKind::AlphaBeta, &total, Duration::ZERO);
        assert_eq!((of_others.enough, of_others.patience), (None, less_margin(total.budget)));
        let by_move = turn(10 * SECOND, None);
        assert_eq!(allotted(AiKind::Expert, &by_move, SECOND), allotted(AiKind::AlphaBeta, &by_move, SECOND));
    }

    #[test]
    fn no_search_exceeds_its_limit() {
        for spent in [0, 1, 3, 100].map(Duration::from_secs) {
            for left in [0, 1, 20, 3_600].map(Duration::from_secs) {
                let limit = left.min(4 * SECOND);
                let allotted = allotted(AiKind::Expert, &turn(limit, Some(left)), spent);
                assert!(allotted.search <= allotted.patience && allotted.patience + spent.min(limit) <= limit);
            }
        }
    }
}
