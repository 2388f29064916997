//! A room as seen by a player or watcher: the state of `play`, `watch` and `host`.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{board::BoardView, clock::Clock};
use crate::{
    cli::text::room_event,
    client::{
        ChatLine, Clocks, CloseReason, Game, HEARTBEATS_MISSED, PROMPT_HEARTBEAT, Phase, PlayerId, Room, RoomChange,
        RoomEvent, RoomId, RoomUpdate,
    },
    rules::{Bitboard, Board, Color, Square},
};

/// The silence of the server after which it is shown.
const SILENCE: Duration = PROMPT_HEARTBEAT.saturating_mul(HEARTBEATS_MISSED);

/// Maximum lines of news; older ones are dropped.
const MAX_NEWS: usize = 100;

/// A room, updated by its stream, with the viewer's clock and news.
#[derive(Debug)]
pub(in crate::cli) struct RoomView {
    room: Room,
    viewer: Option<PlayerId>,
    /// The room to which the viewer is invited.
    invited_to: Option<RoomId>,
    clock: Clock,
    news: VecDeque<String>,
    connection_error: Option<String>,
    /// When the server was last heard.
    heard: Instant,
}

/// The effect of an update on the view.
#[derive(Debug, PartialEq)]
pub(in crate::cli) enum Effect {
    /// No visible change.
    Nothing,
    /// Everything may have changed.
    Snapshot,
    /// An event: its text, and whether the board changed.
    Event { line: Option<String>, board: bool },
    /// Events are missing: the stream must be reopened.
    Missed,
    /// The stream has ended and must not be reopened.
    Closed(CloseReason),
}

impl RoomView {
    /// The view of the member `viewer`, or of a watcher if `None`.
    pub(in crate::cli) fn new(room: Room, viewer: Option<PlayerId>, now: Instant) -> Self {
        let clock = clock_of(&room, now);
        let chat = |line: &ChatLine| format!("<{}> {}", line.player.name, line.text);
        let chat: Vec<String> = room.chat.iter().map(chat).collect();
        let news = VecDeque::new();
        let mut view = Self { room, viewer, invited_to: None, clock, news, connection_error: None, heard: now };
        view.note(chat);
        view
    }

    /// The room whose invitation the viewer can accept; none during a game.
    pub(in crate::cli) fn invited_to(&self) -> Option<&RoomId> {
        self.invited_to.as_ref().filter(|_| !self.is_playing())
    }

    /// Notes an invitation to a room.
    pub(in crate::cli) fn invited(&mut self, room: RoomId) {
        self.invited_to = Some(room);
    }

    /// Forgets an invitation to a room; returns whether it was there.
    pub(in crate::cli) fn uninvited(&mut self, room: &RoomId) -> bool {
        self.invited_to.take_if(|invited| invited == room).is_some()
    }

    pub(in crate::cli) fn update(&mut self, update: RoomUpdate, now: Instant) -> Effect {
        (self.connection_error, self.heard) = (None, now);
        match update {
            RoomUpdate::Snapshot(room) => {
                self.room = *room;
                self.clock = clock_of(&self.room, now);
                Effect::Snapshot
            }
            RoomUpdate::Event(event) => {
                let line = room_event::describe(&self.room, &event.change);
                let known = event.seq <= self.room.seq;
                if self.room.apply(&event).is_err() {
                    return Effect::Missed;
                }
                if known {
                    return Effect::Nothing;
                }
                let board = changes_board(&event.change);
                if board || changes_clock(&event.change) {
                    self.clock = clock_of(&self.room, now);
                }
                let line = line.map(|line| self.with_claim(line, &event));
                self.note(line.clone());
                Effect::Event { line, board }
            }
            RoomUpdate::Closing(closing) if !closing.reason.is_passing() => Effect::Closed(closing.reason),
            RoomUpdate::Heartbeat | RoomUpdate::Closing(_) => Effect::Nothing,
        }
    }

    /// Adds lines to the news.
    pub(in crate::cli) fn note(&mut self, lines: impl IntoIterator<Item = String>) {
        self.news.extend(lines);
        self.news.drain(..self.news.len().saturating_sub(MAX_NEWS));
    }

    /// Shows that the connection is lost, until the next update.
    pub(in crate::cli) fn lost(&mut self, connection_error: String) {
        self.connection_error = Some(connection_error);
    }

    /// What is wrong with the connection, also before it is known to be lost.
    pub(in crate::cli) fn connection_error(&self, now: Instant) -> Option<String> {
        let silence = now.duration_since(self.heard);
        if silence < SILENCE {
            return self.connection_error.clone();
        }
        let cause = self.connection_error.iter().map(|error| format!(": {error}")).collect::<String>();
        Some(format!("no answer from the server for {} s{cause}", silence.as_secs()))
    }

    pub(in crate::cli) fn room(&self) -> &Room {
        &self.room
    }

    /// The news, oldest first.
    pub(in crate::cli) fn news(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.news.iter().map(String::as_str)
    }

    pub(in crate::cli) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The running game, or the last one.
    pub(in crate::cli) fn game(&self) -> Option<&Game> {
        self.room.game.as_ref()
    }

    /// The viewer's side.
    pub(in crate::cli) fn side(&self) -> Option<Color> {
        self.room.side_of(self.viewer.as_ref()?)
    }

    /// Whether the viewer plays in the running game.
    pub(in crate::cli) fn is_playing(&self) -> bool {
        self.side().is_some() && self.room.running().is_some()
    }

    /// Whether the viewer may start a game.
    pub(in crate::cli) fn may_start(&self) -> bool {
        self.viewer.as_ref().is_some_and(|viewer| self.room.is_managed_by(viewer))
    }

    /// The running game, if the viewer may claim it now or soon, since the opponent is away.
    pub(in crate::cli) fn claimable(&self) -> Option<&Game> {
        self.room.seats[self.side()?.opposite()].claim_from?;
        self.room.running()
    }

    /// The line of an event that was applied, with what it permits the viewer.
    fn with_claim(&self, line: String, event: &RoomEvent) -> String {
        let opponent = self.side().map(|side| &self.room.seats[side.opposite()]);
        let wait = opponent.and_then(|seat| seat.claim_from?.duration_since(event.at?).ok());
        match (wait, &event.change) {
            (Some(wait), RoomChange::PresenceChanged(_, false)) => {
                format!("{line}; if that lasts {} s, you may claim the game", wait.as_secs_f32().ceil())
            }
            _ => line,
        }
    }

    /// Whether the next game waits for the viewer to be ready: once its terms have changed, a seated player is not.
    pub(in crate::cli) fn is_awaited(&self) -> bool {
        self.room.phase == Phase::Lobby && self.side().is_some_and(|side| !self.room.seats[side].ready)
    }

    /// The running game, if it is the viewer's turn.
    pub(in crate::cli) fn my_turn(&self) -> Option<&Game> {
        let side = self.side()?;
        self.room.running().filter(|game| game.standing.turn == Some(side) && !game.standing.legal.is_empty())
    }

    /// The board, with the legal moves on the viewer's turn or for watchers.
    pub(in crate::cli) fn board_view(&self, cursor: Option<Square>) -> BoardView {
        let game = self.game();
        let shown = self.viewer.is_none() || self.my_turn().is_some();
        BoardView {
            board: game.map_or(Board::START, |game| game.standing.board),
            legal: game.filter(|_| shown).map_or(Bitboard::EMPTY, |game| game.standing.legal),
            last: game.and_then(Game::last_move),
            cursor,
        }
    }
}

fn changes_board(change: &RoomChange) -> bool {
    matches!(change, RoomChange::GameStarted(..) | RoomChange::MovePlayed { .. } | RoomChange::TurnPassed { .. })
}

fn changes_clock(change: &RoomChange) -> bool {
    matches!(change, RoomChange::GameEnded { .. } | RoomChange::ClockCredited { .. })
}

fn clock_of(room: &Room, now: Instant) -> Clock {
    let running = room.running();
    let clocks = room.game.as_ref().map_or_else(Clocks::default, |game| game.clocks);
    Clock::new(clocks, running.and_then(|game| game.standing.turn), now)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::client::{Closing, Occupant, Player, PlayerKind, fixture};

    #[test]
    fn moves_are_announced_and_shown() {
        let now = Instant::now();
        let mut view = RoomView::new(fixture::room(), None, now);
        let event = fixture::move_event(view.room(), "d3");
        let effect = view.update(RoomUpdate::Event(Box::new(event.clone())), now);
        assert_eq!(effect, Effect::Event { line: Some("black (open) plays d3".into()), board: true });
        assert_eq!(view.board_view(None).last, "d3".parse().ok());
        assert_eq!(view.update(RoomUpdate::Event(Box::new(event)), now), Effect::Nothing);
        assert_eq!(view.news().collect::<Vec<_>>(), ["black (open) plays d3"]);
    }

    #[test]
    fn a_gap_requests_the_room_again() {
        let now = Instant::now();
        let mut view = RoomView::new(fixture::room(), None, now);
        let mut event = fixture::move_event(view.room(), "d3");
        event.seq += 1;
        assert_eq!(view.update(RoomUpdate::Event(Box::new(event)), now), Effect::Missed);
        assert_eq!(view.update(RoomUpdate::Snapshot(Box::new(fixture::room())), now), Effect::Snapshot);
    }

    #[test]
    fn a_silent_server_is_shown_within_two_heartbeats() {
        let start = Instant::now();
        let mut view = RoomView::new(fixture::room(), None, start);
        let at = |beats: f32| start + PROMPT_HEARTBEAT.mul_f32(beats);
        assert_eq!(view.connection_error(at(1.9)), None);
        assert_eq!(view.connection_error(at(2.0)).unwrap(), "no answer from the server for 6 s");
        view.lost("it broke".into());
        assert_eq!(view.connection_error(at(1.0)).unwrap(), "it broke");
        assert_eq!(view.connection_error(at(3.0)).unwrap(), "no answer from the server for 9 s: it broke");
        view.update(RoomUpdate::Heartbeat, at(3.0));
        assert_eq!(view.connection_error(at(4.9)), None);
    }

    #[test]
    fn the_game_of_an_opponent_who_goes_can_soon_be_claimed() {
        let (now, at) = (Instant::now(), SystemTime::UNIX_EPOCH);
        let me: PlayerId = "me".parse().unwrap();
        let mut room = fixture::room();
        room.seats.black.occupant = Occupant::Player(Player {
            id: me.clone(),
            name: "me".into(),
            kind: PlayerKind::Human,
            engine_version: String::new(),
        });
        let mut view = RoomView::new(room, Some(me), now);
        assert_eq!(view.claimable(), None);
        let mut state = fixture::state(view.room());
        state.seats.white.claim_from = Some(at + Duration::from_secs(15));
        let change = RoomChange::PresenceChanged("bob".parse().unwrap(), false);
        let event = RoomEvent { at: Some(at), state: Some(Box::new(state)), ..fixture::next(view.room(), change) };
        view.update(RoomUpdate::Event(Box::new(event)), now);
        let line = "somebody lost the connection; if that lasts 15 s, you may claim the game";
        assert_eq!(view.news().next_back(), Some(line));
        assert_eq!(view.claimable(), view.game());
    }

    #[test]
    fn only_a_final_closing_ends_it() {
        let now = Instant::now();
        let mut view = RoomView::new(fixture::room(), None, now);
        let closing = |reason| RoomUpdate::Closing(Closing { reason, retry_after: None });
        assert_eq!(view.update(closing(CloseReason::Draining), now), Effect::Nothing);
        assert_eq!(view.update(closing(CloseReason::RoomClosed), now), Effect::Closed(CloseReason::RoomClosed));
    }
}
