//! The room of a bot: its state, and the games that are counted there.

use std::{future::pending, pin::pin, time::Duration};

use futures_util::future::select_all;
use tokio::time::{Instant, sleep_until};

use super::room_actions::{self, RoomAction, Wish};
use crate::{
    cli::connect::{
        reconnecting_stream::{Received, ReconnectingStream},
        terms::seek_interval,
    },
    client::{ClientError, PlayerId, Room, RoomId, RoomUpdate, Session},
};

/// How long a bot waits in a room for a game before it looks for another room.
pub(super) const GAME_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a bot that changes rooms waits in one for a person who may offer a rematch.
const REMATCH_WAIT: Duration = Duration::from_secs(20);

/// The wait before a call that a busy server refused is repeated.
const BUSY_WAIT: Duration = Duration::from_millis(100);

/// The room of the bot, and its state there.
pub(super) struct CurrentRoom {
    pub(super) id: RoomId,
    pub(super) room: Option<Room>,
    pub(super) updates: ReconnectingStream<RoomUpdate>,
    /// The last action and the room's `seq` at that time, so that it is not repeated.
    taken: Option<(u64, RoomAction)>,
    /// The number of the last game in the room that was counted, or is not to be: it began without the bot or before
    /// this run. Read from the room only: the play stream may report an end late, twice or, after a crash, not at all.
    counted: u32,
    /// Whether `--room` names another room: the bot ends a game of an earlier run here.
    pub(super) is_other: bool,
    /// When to repeat an action for which the server was too busy.
    pub(super) retry: Option<Instant>,
    /// When the bot gives up waiting for a game.
    pub(super) until: Instant,
    /// The interval at which it asks again for any opponent.
    seek_again: Duration,
}

impl CurrentRoom {
    /// A room that the bot has entered in this run: a game that runs there with it is counted.
    pub(super) fn entered(session: &Session, room: &Room, is_other: bool) -> Self {
        let me = &session.player().id;
        let counted = if room.side_of(me).is_some() { ended(room) } else { begun(room) };
        Self { is_other, ..Self::new(ReconnectingStream::of_room(session, &room.id), room, counted) }
    }

    /// The room in which an earlier run had its seat: a game that runs there began before this run.
    pub(super) fn returned(session: &Session, room: &Room, is_other: bool) -> Self {
        Self { is_other, ..Self::new(ReconnectingStream::of_room(session, &room.id), room, begun(room)) }
    }

    /// `house`: the wait in seconds after which an AI of the server is welcome.
    pub(super) fn with_house(self, house: Option<u16>) -> Self {
        Self { seek_again: seek_interval(house), ..self }
    }

    fn new(updates: ReconnectingStream<RoomUpdate>, room: &Room, counted: u32) -> Self {
        let until = Instant::now() + GAME_TIMEOUT;
        let id = room.id.clone();
        Self {
            id,
            room: None,
            updates,
            taken: None,
            counted,
            is_other: false,
            retry: None,
            until,
            seek_again: seek_interval(None),
        }
    }

    /// Applies an update, and returns how many of the games to count it ended.
    pub(super) fn apply(&mut self, update: RoomUpdate, me: &PlayerId, wish: Wish) -> u32 {
        let (games_before, was_seated) = (self.games(), self.is_seated(me));
        let applied = match (update, &mut self.room) {
            (RoomUpdate::Snapshot(room), known) => {
                *known = Some(*room);
                Ok(())
            }
            (RoomUpdate::Event(event), Some(room)) => room.apply(&event),
            _ => Ok(()),
        };
        if applied.is_err() {
            self.updates.restart();
        }
        let Some((begun, ended)) = self.games() else { return 0 };
        if games_before != Some((begun, ended)) {
            self.extend_wait(wish);
        }
        let is_seated = self.is_seated(me);
        // A game that the bot lost because it was removed counts, too.
        let new = if was_seated || is_seated { ended.saturating_sub(self.counted) } else { 0 };
        self.counted = self.counted.max(if is_seated { ended } else { begun });
        new
    }

    /// The numbers of the last game that has begun and of the last one that has ended; 0 before the first.
    pub(super) fn games(&self) -> Option<(u32, u32)> {
        self.room.as_ref().map(|room| (begun(room), ended(room)))
    }

    /// A line about the bot's running or last game.
    pub(super) fn report(&self, me: &PlayerId) -> Option<String> {
        let room = self.room.as_ref()?;
        let (game, side) = (room.game.as_ref()?, room.side_of(me)?);
        Some(match &game.outcome {
            Some(outcome) => format!("game {}: {outcome} (played {side})", game.id),
            None => format!("game {}: {side} against {}", game.id, room.seats[side.opposite()].occupant),
        })
    }

    /// True if no game has begun in the room.
    pub(super) fn waits_for_first_game(&self) -> bool {
        self.games() == Some((0, 0))
    }

    fn is_seated(&self, me: &PlayerId) -> bool {
        self.room.as_ref().is_some_and(|room| room.side_of(me).is_some())
    }

    pub(super) fn extend_wait(&mut self, wish: Wish) {
        let is_over = self.games().is_some_and(|(begun, ended)| begun > 0 && begun == ended);
        let wait = match wish {
            Wish::ChangeRooms if is_over => REMATCH_WAIT,
            Wish::ChangeRooms if self.waits_for_first_game() => self.seek_again,
            _ => GAME_TIMEOUT,
        };
        self.until = Instant::now() + wait;
    }

    /// Repeats the last action later: the server was too busy.
    pub(super) fn try_again(&mut self) {
        self.taken = None;
        self.retry = Some(Instant::now() + BUSY_WAIT);
    }

    /// The next action, unless it was just taken.
    pub(super) fn next_action(&mut self, me: &PlayerId, wish: Wish) -> Option<RoomAction> {
        let room = self.room.as_ref()?;
        let action = room_actions::next_action(room, me, wish)?;
        (self.taken.replace((room.seq, action)) != Some((room.seq, action))).then_some(action)
    }
}

/// The number of the room's last game, which may be running; 0 before the first.
fn begun(room: &Room) -> u32 {
    room.game.as_ref().map_or(0, |game| game.number)
}

/// The number of the room's last game that has ended; 0 before the first.
fn ended(room: &Room) -> u32 {
    begun(room).saturating_sub(u32::from(room.running().is_some()))
}

/// News of one of the rooms.
pub(super) enum RoomNews {
    Update(Result<Received<RoomUpdate>, ClientError>),
    /// It is time to repeat an action, or to look whether a game still runs.
    Due,
}

/// The next news, with the index of its room; pending without rooms. Cancel safe.
pub(super) async fn next_of(rooms: &mut [CurrentRoom]) -> (usize, RoomNews) {
    let due = rooms.iter().map(|room| room.retry.unwrap_or(room.until)).enumerate().min_by_key(|(_, due)| *due);
    let Some((first, due)) = due else { return pending().await };
    let updates = rooms.iter_mut().map(|room| Box::pin(room.updates.next()));
    let (updates, timer) = (select_all(updates), pin!(sleep_until(due)));
    tokio::select! {
        (update, index, _) = updates => (index, RoomNews::Update(update)),
        () = timer => (first, RoomNews::Due),
    }
}

/// The next update of the room; pending without one. Cancel safe.
pub(super) async fn next_in(current: &mut Option<CurrentRoom>) -> Result<Received<RoomUpdate>, ClientError> {
    match current {
        Some(current) => current.updates.next().await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        client::{EndReason, GameResult, Occupant, Outcome, Phase, Player, PlayerKind, RoomChange, Series, fixture},
        rules::ByColor,
    };

    const OUTCOME: Outcome = Outcome {
        result: GameResult::Draw,
        reason: EndReason::Discs,
        discs: ByColor::new(32, 32),
        score: ByColor::new(32, 32),
    };

    fn me() -> PlayerId {
        "me".parse().unwrap()
    }

    /// The room with its game of this number, running or over, and the bot as white.
    fn room(number: u32, is_running: bool) -> Room {
        let mut room = fixture::room();
        let bot = |id: &str| {
            Occupant::Player(Player {
                id: id.parse().unwrap(),
                name: id.into(),
                kind: PlayerKind::Bot,
                engine_version: String::new(),
            })
        };
        (room.seats.black.occupant, room.seats.white.occupant) = (bot("other"), bot("me"));
        room.seq = u64::from(2 * number) + u64::from(!is_running);
        room.phase = if is_running { Phase::Playing } else { Phase::Lobby };
        let game = room.game.as_mut().unwrap();
        (game.number, game.outcome) = (number, (!is_running).then_some(OUTCOME));
        room
    }

    fn lobby() -> Room {
        Room { game: None, ..room(0, false) }
    }

    fn current(first: &Room, counted: u32) -> CurrentRoom {
        let never = || async { Err(ClientError::Broken("not used".into())) };
        CurrentRoom::new(ReconnectingStream::new(never), first, counted)
    }

    fn counts(current: &mut CurrentRoom, states: impl IntoIterator<Item = Room>) -> Vec<u32> {
        let snapshot = |room| RoomUpdate::Snapshot(Box::new(room));
        states.into_iter().map(|room| current.apply(snapshot(room), &me(), Wish::Stay)).collect()
    }

    #[test]
    fn games_that_began_in_this_run_count_once_also_those_between_two_connections() {
        let mut entered = current(&lobby(), 0);
        let states = [lobby(), room(1, true), room(1, false), room(1, false), room(3, true), room(4, false)];
        assert_eq!(counts(&mut entered, states), [0, 0, 1, 0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_game_is_an_event_like_others() {
        let mut entered = current(&lobby(), 0);
        counts(&mut entered, [room(1, true)]);
        let mut running = room(1, true);
        running.series = Some(Series { game: 1, games: 2, next_game_at: None });
        let ended = RoomChange::GameEnded {
            game: running.game.as_ref().unwrap().id.clone(),
            outcome: OUTCOME,
            standing: running.game.as_ref().unwrap().standing,
            score: None,
        };
        let event = RoomUpdate::Event(Box::new(fixture::next(&running, ended)));
        assert_eq!(entered.apply(event.clone(), &me(), Wish::Stay), 1);
        assert_eq!(entered.apply(event, &me(), Wish::Stay), 0, "again, after a reconnect");
    }

    #[test]
    fn games_of_earlier_runs_and_of_others_do_not_count() {
        let mut returned = current(&room(3, true), begun(&room(3, true)));
        assert_eq!(counts(&mut returned, [room(3, true), room(3, false), room(4, true), room(4, false)]), [0, 0, 0, 1]);
        let without_me = |number, is_running| {
            let mut room = room(number, is_running);
            room.seats.white.occupant = Occupant::Open;
            room
        };
        let mut waiting = current(&without_me(1, true), 1);
        let states = [without_me(1, true), without_me(2, true), without_me(2, false), room(2, false), room(3, false)];
        assert_eq!(counts(&mut waiting, states), [0, 0, 0, 0, 1]);
        let mut seated_later = current(&without_me(1, true), 1);
        assert_eq!(counts(&mut seated_later, [without_me(2, true), room(2, false), room(3, false)]), [0, 0, 1]);
        let mut removed = current(&lobby(), 0);
        assert_eq!(
            counts(&mut removed, [lobby(), room(1, true), without_me(1, false), without_me(2, false)]),
            [0, 0, 1, 0]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_game_a_bot_that_changes_rooms_waits_a_short_time() {
        for (wish, wait) in [(Wish::ChangeRooms, REMATCH_WAIT), (Wish::Stay, GAME_TIMEOUT)] {
            let mut entered = current(&lobby(), 0);
            let snapshot = |room| RoomUpdate::Snapshot(Box::new(room));
            entered.apply(snapshot(room(1, true)), &me(), wish);
            assert_eq!(entered.until - Instant::now(), GAME_TIMEOUT);
            entered.apply(snapshot(room(1, false)), &me(), wish);
            assert_eq!(entered.until - Instant::now(), wait);
        }
    }
}
