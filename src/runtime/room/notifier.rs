//! Telling players what a room's events mean for them.

use std::{collections::BTreeSet, sync::Arc};

use super::registry::Origin;
use crate::{
    room::{EndReason, Event, Fact, GameId, LeaveReason, Occupant, Phase, PlayerId, Room, Timestamp},
    rules::{ByColor, Color},
    runtime::{
        metrics,
        player::{
            directory::Player,
            inbox::{Notice, TurnEnd},
            quota::Holding,
        },
        server_state::Shared,
    },
};

/// Speaks for one room.
pub(crate) struct Teller<'a> {
    shared: &'a Arc<Shared>,
    room: &'a Room,
    /// Those who need not be looked up.
    seated: &'a Seated,
}

/// The players in the seats, as far as the server knows them.
pub(crate) type Seated = ByColor<Option<(PlayerId, Arc<Player>)>>;

/// What need not be looked for in a room at every move, as it was behind the last event that could have changed it.
pub(crate) struct AtHand {
    /// When the room wants to be asked next.
    pub(crate) due: Option<Timestamp>,
    /// Whether somebody is noted as absent.
    pub(crate) lacks_members: bool,
    pub(crate) seated: Seated,
}

static NOBODY: Seated = ByColor::new(None, None);

/// Who holds what in a room.
#[derive(Default)]
pub(crate) struct Holders {
    members: BTreeSet<PlayerId>,
    seated: BTreeSet<PlayerId>,
}

impl Holders {
    fn of(room: &Room) -> Self {
        if room.phase() == Phase::Closed {
            return Self::default();
        }
        Self {
            members: room.members().iter().map(|member| member.profile.id).collect(),
            seated: room.seats().iter().filter_map(|(_, seat)| seat.occupant.player()).collect(),
        }
    }
}

impl<'a> Teller<'a> {
    pub(crate) fn new(shared: &'a Arc<Shared>, room: &'a Room) -> Self {
        Self { shared, room, seated: &NOBODY }
    }

    /// The same, by whom those in the seats are known already.
    pub(crate) fn knowing(self, seated: &'a Seated) -> Self {
        Self { seated, ..self }
    }

    /// What is asked of the room for every move.
    pub(crate) fn at_hand(&self) -> AtHand {
        let known = |side| self.player(side).and_then(|player| Some((player, self.shared.players.get(player)?)));
        AtHand {
            due: self.room.deadline(),
            lacks_members: self.room.members().iter().any(|member| member.absent_since.is_some()),
            seated: ByColor::new(known(Color::Black), known(Color::White)),
        }
    }

    /// Writes into the players' own books who holds what. What an earlier actor of the room wrote last may be wrong.
    pub(crate) fn begin_books(&self, origin: Origin) -> Holders {
        let (id, holders) = (self.room.id(), Holders::of(self.room));
        let mut concerned: BTreeSet<_> = holders.members.union(&holders.seated).copied().collect();
        if origin == Origin::Journal {
            concerned.extend(self.shared.players.holders(id).iter().map(|player| player.id()));
        }
        for player in concerned {
            let Some(known) = self.shared.players.get(player) else { continue };
            known.note(Holding::Seat, id, holders.seated.contains(&player));
            known.note(Holding::Room, id, holders.members.contains(&player));
        }
        holders
    }

    /// Writes what has changed hands since `settled` into the players' own books.
    pub(crate) fn settle(&self, settled: &mut Holders) {
        self.write_books(settled, Holders::of(self.room));
    }

    /// Writes what events would give that perhaps are in the journal, so that nobody gains too much elsewhere meanwhile.
    pub(crate) fn expect(&self, settled: &mut Holders, unsure: &[Event]) {
        let mut room = self.room.clone();
        unsure.iter().for_each(|event| room.apply(event));
        let mut perhaps = Holders::of(&room);
        perhaps.members.extend(&settled.members);
        perhaps.seated.extend(&settled.seated);
        self.write_books(settled, perhaps);
    }

    fn write_books(&self, settled: &mut Holders, after: Holders) {
        let before = std::mem::replace(settled, after);
        let after = &*settled;
        let id = self.room.id();
        for player in before.seated.symmetric_difference(&after.seated) {
            let Some(known) = self.shared.players.get(*player) else { continue };
            known.note(Holding::Seat, id, after.seated.contains(player));
        }
        for player in before.members.symmetric_difference(&after.members) {
            let Some(known) = self.shared.players.get(*player) else { continue };
            known.note(Holding::Room, id, after.members.contains(player));
        }
    }

    /// Tells what one event means. `asked` is whose turn it was before it, and at which ply.
    pub(crate) fn tell(&self, event: &Event, asked: Option<(Color, u16)>) {
        match &event.fact {
            Fact::GameStarted { number, .. } => self.game_started(*number),
            Fact::Played { square, spent, .. } => {
                if let Some((side, ply)) = asked {
                    metrics::moved(&self.room.seats()[side].occupant, *spent);
                    self.turn_closed(side, ply, TurnEnd::Played(*square));
                }
            }
            Fact::GameEnded(end) => {
                metrics::finished(end.reason);
                self.game_ended(*end, asked);
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

    /// Asks the side to move, when these events made it its turn.
    pub(crate) fn ask_next(&self, events: &[Event]) {
        let turned = events.iter().any(|event| matches!(event.fact, Fact::Played { .. } | Fact::GameStarted { .. }));
        if turned && let Some(player) = self.asked() {
            self.remind(player);
        }
    }

    /// Asks a player whose turn it is once more.
    pub(crate) fn remind(&self, player: PlayerId) {
        if self.asked() == Some(player)
            && let Some(request) = self.room.turn_request(self.shared.clock.now())
        {
            self.send(player, Notice::TurnRequested(Box::new(request)));
        }
    }

    /// The player whose turn it is.
    pub(crate) fn asked(&self) -> Option<PlayerId> {
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

    fn game_ended(&self, end: crate::room::GameEnd, asked: Option<(Color, u16)>) {
        let Some(game) = self.room.game() else { return };
        // After the last disc nobody was asked any more.
        if let Some((side, ply)) = asked.filter(|_| end.reason != EndReason::Discs) {
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
        let mut seated = self.seated.iter().filter_map(|(_, known)| known.as_ref());
        match seated.find(|(known, _)| *known == player) {
            Some((_, known)) => known.tell(notice),
            None => {
                if let Some(known) = self.shared.players.get(player) {
                    known.tell(notice);
                }
            }
        }
    }
}
