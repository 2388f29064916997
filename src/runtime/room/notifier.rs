//! Sends players the notices that follow from a room's events.

use std::sync::Arc;

use crate::{
    room::{EndReason, Event, Fact, GameEnd, GameId, LeaveReason, Occupant, PlayerId, Room, Timestamp},
    rules::{ByColor, Color},
    runtime::{
        player::{
            directory::Players,
            notice::{Notice, TurnEnd},
            player::Player,
        },
        server_clock::Clock,
        server_metrics,
    },
};

/// The state of a room and its players that every move needs, as of the last event that could change it.
pub(crate) struct TurnCache {
    /// The room's deadline.
    pub(crate) due: Option<Timestamp>,
    /// Whether a member is recorded as absent.
    pub(crate) has_absent: bool,
    /// The seated players who are logged in.
    seated: ByColor<Option<Arc<Player>>>,
}

impl TurnCache {
    pub(crate) fn of(players: &Players, room: &Room) -> Self {
        let seated = |side: Color| players.get(room.seats()[side].occupant.player()?);
        Self {
            due: room.deadline(),
            has_absent: room.members().iter().any(|member| member.absent_since.is_some()),
            seated: ByColor::from_fn(seated),
        }
    }
}

/// Sends the notices of one room.
pub(crate) struct Notifier<'a> {
    pub(crate) players: &'a Players,
    pub(crate) clock: Clock,
    pub(crate) room: &'a Room,
    pub(crate) cache: &'a TurnCache,
}

impl Notifier<'_> {
    /// Sends the notices of one event. `turn` is the side to move before it, and its ply.
    pub(crate) fn notify(&self, event: &Event, turn: Option<(Color, u16)>) {
        match &event.fact {
            Fact::GameStarted { number, .. } => self.game_started(*number),
            Fact::Played { square, spent, .. } => {
                if let Some((side, ply)) = turn {
                    server_metrics::moved(&self.room.seats()[side].occupant, *spent);
                    self.turn_closed(side, ply, TurnEnd::Played(*square));
                }
            }
            Fact::GameEnded(end) => {
                server_metrics::finished(end.reason);
                self.game_ended(*end, turn);
            }
            Fact::MemberLeft { player, reason: reason @ (LeaveReason::Kicked | LeaveReason::Banned) } => {
                let banned = *reason == LeaveReason::Banned;
                self.send(*player, Notice::Kicked { room: self.room.id(), banned });
            }
            Fact::SeatChanged { seat, occupant: Occupant::Reserved(guest) } => {
                let by = self.room.owner().cloned();
                let invited = Notice::Invited { room: self.room.id(), seat: *seat, code: self.room.code(), by };
                self.send(guest.id, invited);
            }
            Fact::Closed(_) => {
                for member in self.room.members() {
                    self.send(member.profile.id, Notice::RoomClosed(self.room.id()));
                }
            }
            _ => {}
        }
    }

    /// Requests a move from the side to move, if these events made it its turn.
    pub(crate) fn request_turn(&self, events: &[Event]) {
        let turned = events.iter().any(|event| matches!(event.fact, Fact::Played { .. } | Fact::GameStarted { .. }));
        if turned && let Some(player) = self.player_to_move() {
            self.remind(player);
        }
    }

    /// Requests a move from a player whose turn it is.
    pub(crate) fn remind(&self, player: PlayerId) {
        if self.player_to_move() == Some(player)
            && let Some(request) = self.room.turn_request(self.clock.now())
        {
            self.send(player, Notice::TurnRequested(Box::new(request)));
        }
    }

    pub(crate) fn player_to_move(&self) -> Option<PlayerId> {
        self.player(self.room.running()?.turn()?)
    }

    fn game_started(&self, number: u32) {
        for side in [Color::Black, Color::White] {
            let Some(player) = self.player(side) else { continue };
            let opponent = self.room.seats()[side.opposite()].clone();
            let present = self.room.is_present(side.opposite());
            self.send(player, Notice::GameStarted { game: self.game(number), side, opponent, present });
        }
    }

    fn game_ended(&self, end: GameEnd, turn: Option<(Color, u16)>) {
        let Some(game) = self.room.game() else { return };
        // After the last disc no turn is open.
        if let Some((side, ply)) = turn.filter(|_| end.reason != EndReason::Discs) {
            let how = if end.reason == EndReason::Timeout { TurnEnd::TimedOut } else { TurnEnd::GameEnded };
            self.turn_closed(side, ply, how);
        }
        for side in [Color::Black, Color::White] {
            let Some(player) = self.player(side) else { continue };
            let notice = Notice::GameEnded { game: self.game(game.number), side, end, position: game.position };
            self.send(player, notice);
        }
    }

    fn turn_closed(&self, side: Color, ply: u16, end: TurnEnd) {
        let (Some(player), Some(game)) = (self.player(side), self.room.game()) else { return };
        self.send(player, Notice::TurnClosed { game: self.game(game.number), ply, end });
    }

    fn game(&self, number: u32) -> GameId {
        GameId { room: self.room.id(), number }
    }

    fn player(&self, side: Color) -> Option<PlayerId> {
        self.room.seats()[side].occupant.player()
    }

    fn send(&self, player: PlayerId, notice: Notice) {
        let mut seated = self.cache.seated.iter().filter_map(|(_, seated)| seated.as_ref());
        match seated.find(|seated| seated.id() == player) {
            Some(seated) => seated.inbox.send(notice),
            None => {
                if let Some(player) = self.players.get(player) {
                    player.inbox.send(notice);
                }
            }
        }
    }
}
