//! Seats and readiness.

use super::{Draft, Issuer, Rejection};
use crate::{
    room::{command::SeatSetting, event::Fact, seat::Occupant},
    rules::Color,
};

impl Draft {
    pub(super) fn take_seat(&mut self, issuer: Issuer, seat: Color) -> Result<(), Rejection> {
        let player = self.member(issuer)?;
        let present = self.room.seat_of(player);
        if present == Some(seat) {
            return Ok(());
        }
        self.require_lobby()?;
        match &self.room.seats[seat].occupant {
            Occupant::Open => {}
            Occupant::Reserved(guest) if guest.id == player => {}
            Occupant::Reserved(_) | Occupant::Player(_) | Occupant::Ai(_) => return Err(Rejection::SeatTaken),
        }
        let profile = self.room.member(player).map(|member| member.profile.clone()).ok_or(Rejection::NotMember)?;
        if let Some(left) = present {
            self.emit(Fact::SeatChanged { seat: left, occupant: Occupant::Open });
        }
        self.emit(Fact::SeatChanged { seat, occupant: Occupant::Player(profile) });
        Ok(())
    }

    pub(super) fn leave_seat(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        let player = self.member(issuer)?;
        let Some(seat) = self.room.seat_of(player) else {
            return Ok(());
        };
        self.require_lobby()?;
        self.emit(Fact::SeatChanged { seat, occupant: Occupant::Open });
        Ok(())
    }

    pub(super) fn swap_seats(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        self.require_owner(issuer)?;
        self.require_lobby()?;
        self.emit(Fact::SeatsSwapped);
        Ok(())
    }

    pub(super) fn set_seat(&mut self, issuer: Issuer, seat: Color, setting: SeatSetting) -> Result<(), Rejection> {
        self.require_owner(issuer)?;
        self.require_lobby()?;
        let occupant = match setting {
            SeatSetting::Open => Occupant::Open,
            SeatSetting::Reserved(profile) if self.room.bans.contains(&profile.id) => return Err(Rejection::Banned),
            SeatSetting::Reserved(profile) => Occupant::Reserved(profile),
            SeatSetting::Ai(ai) => Occupant::Ai(ai),
        };
        let present = &self.room.seats[seat].occupant;
        if present.player().is_some_and(|player| player != self.room.owner) {
            return Err(Rejection::SeatTaken);
        }
        if *present != occupant {
            self.emit(Fact::SeatChanged { seat, occupant });
            self.start_if_ready();
        }
        Ok(())
    }

    pub(super) fn set_ready(&mut self, issuer: Issuer, ready: bool) -> Result<(), Rejection> {
        let seat = self.seated(issuer)?;
        self.require_lobby()?;
        if self.room.seats[seat].marked_ready != ready {
            self.emit(Fact::ReadyChanged { seat, ready });
        }
        self.start_if_ready();
        Ok(())
    }

    pub(super) fn start_if_ready(&mut self) {
        if self.room.settings.auto_start && self.room.seats.iter().all(|(_, seat)| seat.ready()) {
            self.start_game(0);
        }
    }
}
