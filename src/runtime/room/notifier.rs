//! Sends players the notices that follow from a room's events.

use std::sync::Arc;

use crate::{
    room::{
        EndReason, Event, Fact, GameEnd, GameId, InvitationEnd, LeaveReason, Offer, Phase, PlayerId, Profile, Room,
        Timestamp,
    },
    rules::{ByColor, Color},
    runtime::{
        player::{
            directory::Players,
            notice::{InvitationOutcome, Notice, OfferStatus, TurnEnd},
            player::Player,
        },
        server_clock::Clock,
        server_metrics,
        stalls::Stalls,
    },
};

/// The state of a room and its players that every move needs, as of the last event that could change it.
pub(crate) struct TurnCache {
    /// The room's deadline.
    pub(crate) due: Option<Timestamp>,
    /// True if a member is recorded as absent.
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

/// The state of a room before an event, as far as notices need it.
pub(crate) struct Before {
    /// The side to move, and its ply.
    turn: Option<(Color, u16)>,
    draw_offer: Option<Color>,
    take_back_offer: Option<Color>,
    rematch_offer: Option<Color>,
    in_series: bool,
    members: usize,
    /// The guests of both seats, and who invited each.
    guests: Option<Box<ByColor<Option<Guest>>>>,
}

/// A player for whom a seat is kept.
struct Guest {
    profile: Profile,
    /// The player who invited, or the owner for a seat that is kept without an end.
    by: Option<PlayerId>,
}

impl Before {
    pub(crate) fn of(room: &Room) -> Self {
        let running = room.running();
        Self {
            turn: running.and_then(|game| Some((game.turn()?, game.ply()))),
            draw_offer: running.and_then(|game| game.draw_offer),
            take_back_offer: running.and_then(|game| game.take_back_offer),
            rematch_offer: room.rematch_offer(),
            in_series: room.series().is_some(),
            members: room.members().len(),
            guests: guests(room),
        }
    }

    fn guest(&self, seat: Color) -> Option<&Guest> {
        self.guests.as_deref()?[seat].as_ref()
    }

    /// The side whose offer was open.
    fn offer(&self, offer: Offer) -> Option<Color> {
        match offer {
            Offer::Draw => self.draw_offer,
            Offer::Rematch => self.rematch_offer,
            Offer::TakeBack => self.take_back_offer,
        }
    }
}

/// `None` without guests, as in every game.
fn guests(room: &Room) -> Option<Box<ByColor<Option<Guest>>>> {
    let has_guest = |side: Color| room.seats()[side].occupant.guest().is_some();
    if room.phase() != Phase::Lobby || !Color::ALL.into_iter().any(has_guest) {
        return None;
    }
    let guest = |side: Color| {
        let occupant = &room.seats()[side].occupant;
        let owner = room.owner().map(|owner| owner.id);
        let by = occupant.invitation().map_or(owner, |invitation| Some(invitation.by));
        Some(Guest { profile: occupant.guest()?.clone(), by })
    };
    Some(Box::new(ByColor::from_fn(guest)))
}

/// Sends the notices of one room.
pub(crate) struct Notifier<'a> {
    pub(crate) players: &'a Players,
    pub(crate) clock: Clock,
    pub(crate) room: &'a Room,
    pub(crate) cache: &'a TurnCache,
    pub(crate) stalls: &'a Stalls,
    /// The part of the time lost by stalls that the room's clocks are credited with, in microseconds.
    pub(crate) credited: i64,
}

impl Notifier<'_> {
    /// Sends the notices of one event, which has been applied.
    pub(crate) fn notify(&self, event: &Event, before: &Before) {
        match &event.fact {
            Fact::GameStarted { number, .. } => self.game_started(*number),
            Fact::Played { square, spent, .. } => {
                if let Some((side, ply)) = before.turn {
                    server_metrics::moved(&self.room.seats()[side].occupant, *spent);
                    self.turn_closed(side, ply, TurnEnd::Played(*square));
                }
            }
            Fact::GameEnded(end) => {
                server_metrics::finished(end.reason);
                self.game_ended(*end, before.turn);
            }
            // Not to a player who is banned without being a member: the room may be unknown to it.
            Fact::MemberLeft { player, reason: reason @ (LeaveReason::Kicked | LeaveReason::Banned) }
                if self.room.members().len() < before.members =>
            {
                let banned = *reason == LeaveReason::Banned;
                self.send(*player, Notice::Kicked { room: self.room.id(), banned });
            }
            Fact::Created(_) => Color::ALL.into_iter().for_each(|seat| self.invite(seat)),
            Fact::InvitationEnded { seat, end, .. } => {
                let outcome = match end {
                    InvitationEnd::Declined(reason) => InvitationOutcome::Declined(reason.clone()),
                    InvitationEnd::Expired => InvitationOutcome::Expired,
                };
                self.invitation_ended(*seat, before, outcome);
            }
            Fact::SeatChanged { seat, .. } => {
                self.seat_is_kept_no_more(*seat, before);
                self.invite(*seat);
                // To the player who stays.
                if let Some(by) = before.rematch_offer {
                    self.send_offer(seat.opposite(), Offer::Rematch, by, OfferStatus::Closed);
                }
                if before.in_series && self.room.series().is_none() {
                    self.series_ended();
                }
            }
            Fact::OfferMade { offer, by } => self.offer_changed(*offer, *by, OfferStatus::Open),
            Fact::OfferClosed { offer, accepted } => {
                let status = if *accepted { OfferStatus::Accepted } else { OfferStatus::Closed };
                if let Some(by) = before.offer(*offer) {
                    self.offer_changed(*offer, by, status);
                }
            }
            Fact::SeriesEnded => self.series_ended(),
            Fact::Closed(_) => {
                for member in self.room.members() {
                    self.send(member.profile.id, Notice::RoomClosed(self.room.id()));
                }
                Color::ALL
                    .into_iter()
                    .for_each(|seat| self.invitation_ended(seat, before, InvitationOutcome::Withdrawn));
            }
            Fact::MemberJoined(_)
            | Fact::MemberLeft { .. }
            | Fact::PresenceChanged { .. }
            | Fact::OwnerChanged { .. }
            | Fact::CoOwnerChanged { .. }
            | Fact::SeatsSwapped
            | Fact::ReadyChanged { .. }
            | Fact::SettingsChanged(_)
            | Fact::Passed
            | Fact::Struck
            | Fact::ClockCredited { .. }
            | Fact::ChatPosted { .. }
            | Fact::ChatRemoved(_) => {}
        }
    }

    /// Requests a move from the side to move, if these events made it its turn.
    pub(crate) fn request_turn(&self, events: &[Event]) {
        let turned = events.iter().any(|event| matches!(event.fact, Fact::Played { .. } | Fact::GameStarted { .. }));
        if turned && let Some(player) = self.player_to_move() {
            self.request_move(player, false);
        }
    }

    /// Requests a move from a player whose turn it is, and who may have been asked before.
    pub(crate) fn remind(&self, player: PlayerId) {
        self.request_move(player, true);
    }

    fn request_move(&self, player: PlayerId, is_repeat: bool) {
        let now = self.clock.now();
        // Includes the time that will be credited.
        let credit = self.stalls.lost(now).saturating_sub(self.credited);
        if self.player_to_move() == Some(player)
            && let Some(mut request) = self.room.turn_request(now.shifted(credit.saturating_neg()))
        {
            request.clocks.deadline = request.clocks.deadline.shifted(credit);
            request.is_repeat = is_repeat;
            self.send(player, Notice::TurnRequested(Box::new(request)));
        }
    }

    /// Sends the open offers of the room to a seated player.
    pub(crate) fn remind_of_offers(&self, player: PlayerId) {
        let Some(side) = self.room.seat_of(player) else { return };
        let open = Before::of(self.room);
        for offer in [Offer::Draw, Offer::Rematch, Offer::TakeBack] {
            if let Some(by) = open.offer(offer) {
                self.send_offer(side, offer, by, OfferStatus::Open);
            }
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
            let (series, meeting) = (self.room.series(), self.room.meeting());
            self.send(
                player,
                Notice::GameStarted { game: self.game(number), side, opponent, present, series, meeting },
            );
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
            let (game, position, series) = (self.game(game.number), game.position, self.room.series());
            self.send(player, Notice::GameEnded { game, side, end, position, series });
        }
    }

    /// Invites the guest for whom a seat is reserved.
    fn invite(&self, seat: Color) {
        let occupant = &self.room.seats()[seat].occupant;
        if let Some(guest) = occupant.guest() {
            let invitation = occupant.invitation();
            let inviter = invitation.and_then(|invitation| self.room.member(invitation.by));
            let notice = Notice::Invited {
                room: self.room.id(),
                seat,
                code: self.room.code(),
                by: inviter.map(|member| &member.profile).or(self.room.owner()).cloned(),
                by_rating: invitation.and_then(|invitation| invitation.by_rating),
                until: invitation.map(|invitation| invitation.until),
                settings: Box::new(self.room.settings().clone()),
            };
            self.send(guest.id, notice);
        }
    }

    /// After a change of a seat that may have been kept for a player.
    fn seat_is_kept_no_more(&self, seat: Color, before: &Before) {
        let Some(guest) = before.guest(seat) else { return };
        let now = &self.room.seats()[seat].occupant;
        if now.player() == Some(guest.profile.id) {
            self.invitation_ended(seat, before, InvitationOutcome::Accepted);
        } else if now.guest().is_none_or(|other| other.id != guest.profile.id) {
            self.invitation_ended(seat, before, InvitationOutcome::Withdrawn);
        }
    }

    /// Tells the guest and the inviter.
    fn invitation_ended(&self, seat: Color, before: &Before, outcome: InvitationOutcome) {
        let Some(Guest { profile, by }) = before.guest(seat) else { return };
        let other = by.filter(|by| *by != profile.id);
        for player in [Some(profile.id), other].into_iter().flatten() {
            let (room, guest, outcome) = (self.room.id(), profile.clone(), outcome.clone());
            self.send(player, Notice::InvitationEnded { room, seat, guest, outcome });
        }
    }

    fn series_ended(&self) {
        for player in Color::ALL.into_iter().filter_map(|side| self.player(side)) {
            self.send(player, Notice::SeriesEnded(self.room.id()));
        }
    }

    fn offer_changed(&self, offer: Offer, by: Color, status: OfferStatus) {
        Color::ALL.into_iter().for_each(|side| self.send_offer(side, offer, by, status));
    }

    fn send_offer(&self, to: Color, offer: Offer, by: Color, status: OfferStatus) {
        let (Some(player), Some(game)) = (self.player(to), self.room.game()) else { return };
        self.send(player, Notice::Offer { game: self.game(game.number), offer, status, own: by == to });
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
            Some(seated) => self.players.send_to(seated, notice),
            None => self.players.send(player, notice),
        }
    }
}
