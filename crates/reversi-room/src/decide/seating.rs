//! Seats and readiness.

use reversi_engine::rules::Color;

use super::{Draft, Issuer, Rejection};
use crate::{
    command::{Credentials, SeatSetting},
    event::{Fact, InvitationEnd, Offer, Request},
    rejection,
    seat::{Invitation, Occupant, Profile, Seat},
    text::DeclineReason,
};

impl Draft {
    pub(super) fn take_seat(&mut self, issuer: Issuer, seat: Color) -> Result<(), Rejection> {
        let player = self.member(issuer)?;
        let present = self.room.seat_of(player);
        if present == Some(seat) {
            return Ok(());
        }
        self.require_lobby()?;
        let profile = self.room.member(player).map(|member| member.profile.clone()).ok_or(Rejection::NotMember)?;
        match &self.room.seats[seat].occupant {
            Occupant::Open => {
                let is_accepted = self.room.settings.opponents.accept_kind(profile.kind);
                if !is_accepted && present.is_none() && !self.room.is_owned_by(player) {
                    return Err(Rejection::NotAccepted);
                }
            }
            kept if kept.guest().is_some_and(|guest| guest.id == player) => {}
            Occupant::Reserved(_) | Occupant::Invited(_) | Occupant::Player(_) | Occupant::Ai(_) => {
                return Err(Rejection::SeatTaken);
            }
        }
        if let Some(left) = present {
            self.emit(Fact::SeatChanged { seat: left, occupant: Occupant::Open });
        }
        self.emit(Fact::SeatChanged { seat, occupant: Occupant::Player(profile) });
        Ok(())
    }

    pub(super) fn join_game(
        &mut self,
        issuer: Issuer,
        profile: Profile,
        seat: Color,
        request: Option<Request>,
    ) -> Result<(), Rejection> {
        if issuer == Issuer::Player(profile.id)
            && let Some(seat) = self.room.seat_of(profile.id)
        {
            // The event carries the request, also if somebody has taken the other seat and begun a game meanwhile.
            let is_lobby = self.require_lobby().is_ok();
            let ready = is_lobby || self.room.seats[seat].marked_ready;
            self.emit(Fact::ReadyChanged { seat, ready, request });
            if is_lobby {
                self.start_if_ready();
            }
            return Ok(());
        }
        self.require_lobby()?;
        self.join(issuer, profile, &Credentials::default())?;
        self.take_seat(issuer, seat)?;
        if !self.room.settings.auto_start || !self.room.seats[seat.opposite()].ready() {
            return Err(Rejection::SeatsNotReady);
        }
        self.emit(Fact::ReadyChanged { seat, ready: true, request: None });
        self.start_game(0, request);
        Ok(())
    }

    pub(super) fn leave_seat(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        let player = self.member(issuer)?;
        let Some(seat) = self.room.seat_of(player) else {
            return Ok(());
        };
        self.require_lobby()?;
        self.open_seat(issuer, seat);
        Ok(())
    }

    pub(super) fn swap_seats(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        self.require_manager(issuer)?;
        self.require_lobby()?;
        self.withdraw_consent(issuer);
        self.emit(Fact::SeatsSwapped);
        Ok(())
    }

    pub(super) fn set_seat(&mut self, issuer: Issuer, seat: Color, setting: SeatSetting) -> Result<(), Rejection> {
        self.require_manager(issuer)?;
        self.require_lobby()?;
        let occupant = match setting {
            SeatSetting::Open => Occupant::Open,
            SeatSetting::Reserved(guest) | SeatSetting::Invited { guest, .. } if self.room.bans.contains(&guest.id) => {
                return Err(Rejection::Banned);
            }
            SeatSetting::Reserved(profile) => Occupant::Reserved(profile),
            SeatSetting::Invited { guest, lasts, by_rating } => {
                let Issuer::Player(by) = issuer else { return Err(Rejection::NotOwner) };
                if self.room.seat_of(guest.id).is_some() {
                    return Err(Rejection::WrongPhase(rejection::HAS_SEAT));
                }
                let until = self.now.after(lasts.clamp(Invitation::MIN, Invitation::MAX));
                Occupant::Invited(Invitation { guest, by, by_rating, until })
            }
            SeatSetting::Ai(ai) => Occupant::Ai(ai),
        };
        let present = &self.room.seats[seat].occupant;
        if present.player().is_some_and(|player| Issuer::Player(player) != issuer) {
            return Err(Rejection::SeatTaken);
        }
        if *present != occupant {
            self.withdraw_consent(issuer);
            self.emit(Fact::SeatChanged { seat, occupant });
            self.start_if_ready();
        }
        Ok(())
    }

    pub(super) fn decline_invitation(
        &mut self,
        issuer: Issuer,
        reason: Option<DeclineReason>,
    ) -> Result<(), Rejection> {
        let kept = |seat: &Color| {
            let guest = self.room.seats[*seat].occupant.guest();
            guest.is_some_and(|guest| Issuer::Player(guest.id) == issuer)
        };
        let seats: Vec<_> = Color::ALL.into_iter().filter(kept).collect();
        if seats.is_empty() {
            return Err(Rejection::WrongPhase(rejection::NO_INVITATION));
        }
        for seat in seats {
            self.end_invitation(seat, InvitationEnd::Declined(reason.clone()));
        }
        Ok(())
    }

    /// Opens a seat that is kept for a player.
    pub(super) fn end_invitation(&mut self, seat: Color, end: InvitationEnd) {
        if let Some(guest) = self.room.seats[seat].occupant.guest().cloned() {
            let issuer = Issuer::Player(guest.id);
            self.emit(Fact::InvitationEnded { seat, guest, end });
            if !self.room.settings.auto_start {
                self.withdraw_consent(issuer);
            }
        }
    }

    /// Opens seats that are kept for invited players: they were asked for a game on other terms.
    pub(super) fn withdraw_invitations(&mut self) {
        for seat in Color::ALL {
            if matches!(self.room.seats[seat].occupant, Occupant::Invited(_)) {
                self.emit(Fact::SeatChanged { seat, occupant: Occupant::Open });
            }
        }
    }

    pub(super) fn set_ready(&mut self, issuer: Issuer, ready: bool) -> Result<(), Rejection> {
        let seat = self.seated(issuer)?;
        self.require_lobby()?;
        if self.room.seats[seat].marked_ready != ready {
            self.emit(Fact::ReadyChanged { seat, ready, request: None });
        }
        self.start_if_ready();
        Ok(())
    }

    /// Opens the seat of a player who leaves it. In a room that starts by itself the other player waits for anyone, and
    /// stays ready.
    pub(super) fn open_seat(&mut self, issuer: Issuer, seat: Color) {
        self.emit(Fact::SeatChanged { seat, occupant: Occupant::Open });
        if !self.room.settings.auto_start {
            self.withdraw_consent(issuer);
        }
    }

    /// Call when the next game will have other players or settings: takes back the readiness of all but the issuer of
    /// the change, and offers of a rematch.
    pub(super) fn withdraw_consent(&mut self, issuer: Issuer) {
        for seat in Color::ALL {
            let Seat { occupant, marked_ready, .. } = &self.room.seats[seat];
            if *marked_ready && occupant.player().map(Issuer::Player) != Some(issuer) {
                self.emit(Fact::ReadyChanged { seat, ready: false, request: None });
            }
        }
        if self.room.rematch_offer.is_some() {
            self.emit(Fact::OfferClosed { offer: Offer::Rematch, accepted: false });
        }
    }

    pub(super) fn start_if_ready(&mut self) {
        if self.room.settings.auto_start && self.room.seats.iter().all(|(_, seat)| seat.ready()) {
            self.start_game(0, None);
        }
    }
}
