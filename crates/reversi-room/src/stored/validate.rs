//! Checks of stored events before they are applied.

use reversi_engine::rules::{Square, Transcript};

use super::StoredError;
use crate::{
    event::{Event, Fact, LeaveReason, Offer},
    game::EndReason,
    state::{Phase, Room},
};

impl Room {
    /// Checks a decoded event before [`Room::apply`], which trusts its argument.
    ///
    /// Every event that [`Room::decide`] returns passes, in order. An event that passes leaves a room that can be
    /// stored and decoded again; this version need not have decided the same.
    ///
    /// # Errors
    /// [`StoredError::OutOfOrder`] for an event that is out of order or would leave an invalid room.
    pub fn check_next(&self, event: &Event) -> Result<(), StoredError> {
        let fits = event.seq == self.seq.next() && self.phase != Phase::Closed && self.allows(&event.fact);
        if fits { Ok(()) } else { Err(StoredError::OutOfOrder(event.seq)) }
    }

    fn allows(&self, fact: &Fact) -> bool {
        let running = self.running();
        match fact {
            Fact::Created(_) => false,
            Fact::MemberJoined(profile) => {
                self.member(profile.id).is_none() && self.members.len() < usize::from(self.policy.members)
            }
            Fact::MemberLeft { player, reason: LeaveReason::Banned } => {
                self.bans.contains(player) || self.bans.len() < Self::MAX_BANS
            }
            Fact::MemberLeft { .. } | Fact::ReadyChanged { .. } | Fact::ChatPosted { .. } | Fact::ChatRemoved(_) => {
                true
            }
            Fact::PresenceChanged { player, .. } | Fact::OwnerChanged { owner: player, .. } => {
                self.member(*player).is_some()
            }
            Fact::CoOwnerChanged { player, .. } => {
                self.co_owners.contains(player) || self.co_owners.len() < Self::MAX_CO_OWNERS
            }
            Fact::SettingsChanged(settings) => self.phase != Phase::Playing || settings.games == self.settings.games,
            Fact::GameStarted { number, index, opening, .. } => {
                let last = self.game.as_ref().map_or(0, |game| game.number);
                running.is_none()
                    && last.checked_add(1) == Some(*number)
                    && *index < self.settings.games
                    && self.seats.iter().all(|(_, seat)| seat.occupant.can_play())
                    && begins_a_game(opening)
            }
            Fact::Played { square, .. } => running.is_some_and(|game| game.position.play(*square).is_ok()),
            Fact::Passed => running.is_some_and(|game| game.position.must_pass()),
            Fact::Struck => running.is_some_and(|game| game.strikes < Self::STRIKES),
            Fact::GameEnded(end) => {
                running.is_some_and(|game| end.reason != EndReason::Discs || game.position.is_over())
            }
            Fact::OfferMade { offer: Offer::Draw | Offer::TakeBack, .. }
            | Fact::OfferClosed { offer: Offer::Draw | Offer::TakeBack, .. } => running.is_some(),
            Fact::OfferMade { offer: Offer::Rematch, .. }
            | Fact::OfferClosed { offer: Offer::Rematch, .. }
            | Fact::SeatChanged { .. }
            | Fact::InvitationEnded { .. }
            | Fact::SeatsSwapped
            | Fact::Closed(_) => running.is_none(),
            Fact::SeriesEnded | Fact::ClockCredited { .. } => true,
        }
    }
}

fn begins_a_game(opening: &[Square]) -> bool {
    Transcript::from_squares(opening.iter().copied()).is_ok_and(|moves| !moves.position().is_over())
}
