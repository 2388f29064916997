//! Joining, leaving, settings, chat and presence.

use super::{Draft, Issuer, Phase, PlayerId, Rejection};
use crate::{
    command::Credentials,
    event::{CloseReason, Fact, LeaveReason},
    game::{EndReason, GameEnd},
    rejection,
    seat::{Occupant, Profile},
    settings::Settings,
    state::Room,
    text::ChatText,
    timestamp::Timestamp,
};

impl Draft {
    pub(super) fn join(
        &mut self,
        issuer: Issuer,
        profile: Profile,
        credentials: &Credentials,
    ) -> Result<(), Rejection> {
        if issuer != Issuer::Player(profile.id) {
            Self::require_server(issuer)?;
        }
        if self.room.member(profile.id).is_some() {
            return Ok(());
        }
        self.room.may_enter(profile.id, credentials)?;
        // The place of an owner who is away is kept.
        let is_kept = !self.room.is_owned_by(self.room.owner) && !self.room.is_absent_owner(profile.id);
        if self.room.members.len() + usize::from(is_kept) >= usize::from(self.room.policy.members) {
            return Err(Rejection::RoomFull);
        }
        self.emit(Fact::MemberJoined(profile));
        self.follow_owner();
        Ok(())
    }

    pub(super) fn leave(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        if let Ok(player) = self.member(issuer) {
            self.remove(issuer, player, LeaveReason::Left);
        }
        Ok(())
    }

    pub(super) fn vacate(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        let player = self.member(issuer)?;
        if self.room.phase == Phase::Playing {
            return Err(Rejection::RoomInGame);
        }
        self.remove(issuer, player, LeaveReason::Left);
        Ok(())
    }

    pub(super) fn kick(&mut self, issuer: Issuer, player: PlayerId, ban: bool) -> Result<(), Rejection> {
        if issuer != Issuer::Admin {
            self.require_right_to_remove(issuer, player)?;
            if ban {
                self.require_trusted(issuer)?;
            }
            if self.room.phase == Phase::Playing && self.room.seat_of(player).is_some() {
                return Err(Rejection::RoomInGame);
            }
        }
        if ban && !self.room.bans.contains(&player) && self.room.bans.len() >= Room::MAX_BANS {
            return Err(Rejection::WrongPhase(rejection::BANS_FULL));
        }
        match (self.room.member(player), ban) {
            (Some(_), true) => self.remove(issuer, player, LeaveReason::Banned),
            (Some(_), false) => self.remove(issuer, player, LeaveReason::Kicked),
            (None, true) if self.room.bans.contains(&player) => {}
            (None, true) => {
                self.drop_reservation(player);
                self.emit(Fact::MemberLeft { player, reason: LeaveReason::Banned });
            }
            (None, false) => return Err(Rejection::PlayerNotFound),
        }
        Ok(())
    }

    pub(super) fn configure(
        &mut self,
        issuer: Issuer,
        settings: Settings,
        expected: Option<&Settings>,
    ) -> Result<(), Rejection> {
        self.require_manager(issuer)?;
        settings.check_new().map_err(Rejection::BadSettings)?;
        let current = &self.room.settings;
        let enters_alike = settings.visibility == current.visibility
            && settings.watching == current.watching
            && settings.password == current.password;
        if !enters_alike {
            self.require_trusted(issuer)?;
        }
        if expected.is_some_and(|expected| expected != current) {
            return Err(Rejection::StaleSettings);
        }
        if self.room.phase == Phase::Playing {
            let same_game = Settings {
                name: settings.name.clone(),
                visibility: settings.visibility,
                watching: settings.watching,
                ..current.clone()
            };
            if settings != same_game {
                return Err(Rejection::RoomInGame);
            }
        }
        if settings != *current {
            let begin = settings.auto_start && !current.auto_start;
            if !settings.has_terms_of(current) {
                self.withdraw_invitations();
                self.withdraw_consent(issuer);
            }
            self.emit(Fact::SettingsChanged(Box::new(settings)));
            if begin {
                self.start_if_ready();
            }
        }
        Ok(())
    }

    pub(super) fn close_by(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        if issuer == Issuer::Server {
            self.close(CloseReason::Server);
            return Ok(());
        }
        if self.room.phase == Phase::Playing {
            self.require_right_to_end_game(issuer)?;
        } else if issuer != Issuer::Admin {
            self.require_trusted(issuer)?;
        }
        if self.room.running().is_some() {
            self.abort_by(issuer);
        }
        self.close(CloseReason::Closed);
        Ok(())
    }

    pub(super) fn chat(&mut self, issuer: Issuer, text: ChatText) -> Result<(), Rejection> {
        let player = self.member(issuer)?;
        let from = self.room.member(player).map(|member| member.profile.clone()).ok_or(Rejection::NotMember)?;
        self.emit(Fact::ChatPosted { from, text });
        Ok(())
    }

    pub(super) fn remove_chat(&mut self, issuer: Issuer, posted: Timestamp) -> Result<(), Rejection> {
        if issuer != Issuer::Admin {
            return Err(Rejection::NotAdmin);
        }
        if self.room.chat.iter().any(|line| line.at == posted) {
            self.emit(Fact::ChatRemoved(posted));
        }
        Ok(())
    }

    pub(super) fn set_presence(&mut self, issuer: Issuer, player: PlayerId, present: bool) -> Result<(), Rejection> {
        Self::require_server(issuer)?;
        let member = self.room.member(player).ok_or(Rejection::PlayerNotFound)?;
        if member.absent_since.is_none() != present {
            self.emit(Fact::PresenceChanged { player, present });
            self.follow_owner();
        }
        Ok(())
    }

    /// Removes a member: loses the running game, opens the seat, moves ownership; closes the room after the last one.
    pub(super) fn remove(&mut self, issuer: Issuer, player: PlayerId, reason: LeaveReason) {
        if let Some(seat) = self.room.seat_of(player) {
            if self.room.running().is_some() {
                let why = match reason {
                    LeaveReason::Left | LeaveReason::Absent => EndReason::Left,
                    LeaveReason::Kicked | LeaveReason::Banned => EndReason::Kicked,
                };
                self.end_game(GameEnd::lost_by(seat, why));
            }
            self.open_seat(issuer, seat);
        }
        if reason == LeaveReason::Banned {
            self.drop_reservation(player);
        }
        self.emit(Fact::MemberLeft { player, reason });
        if self.room.members.is_empty() {
            self.close(CloseReason::Empty);
        }
        self.follow_owner();
    }

    fn drop_reservation(&mut self, player: PlayerId) {
        for seat in [reversi_engine::rules::Color::Black, reversi_engine::rules::Color::White] {
            if self.room.seats[seat].occupant.guest().is_some_and(|guest| guest.id == player) {
                self.emit(Fact::SeatChanged { seat, occupant: Occupant::Open });
            }
        }
    }
}
