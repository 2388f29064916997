//! Claiming a game whose opponent has gone.

use std::time::Duration;

use reversi_engine::rules::Color;

use super::{Draft, EndReason, GameEnd, Issuer, Rejection, Room, Timestamp};
use crate::{command::Claim, rejection};

impl Room {
    /// The longest time for one move of a game that can be claimed. In a game of days players come and go.
    pub const LONGEST_CLAIMED: Duration = Duration::from_secs(60 * 60);
    /// The least absence after which a game can be claimed. Clients that a restarted server has lost try again at least
    /// each 15 s.
    pub const LEAST_ABSENCE: Duration = Duration::from_secs(20);

    /// From when the opponent of this side, whose player is away, may claim the running game. `None` if the player is
    /// there, or the game cannot be claimed.
    ///
    /// It is after a quarter of the longest time for one move, at least [`Room::LEAST_ABSENCE`], and at most three
    /// quarters of the grace. A credit of the clocks moves it by the same time.
    #[must_use]
    pub fn claim_from(&self, gone: Color) -> Option<Timestamp> {
        self.running()?;
        let since = self.member(self.seats[gone].occupant.player()?)?.absent_since?;
        let longest = self.settings.time.limit(self.settings.time.total);
        let wait = (longest / 4).max(Self::LEAST_ABSENCE).min(self.policy.grace.saturating_mul(3) / 4);
        (longest <= Self::LONGEST_CLAIMED).then(|| since.after(wait))
    }
}

impl Draft {
    pub(super) fn claim(&mut self, issuer: Issuer, number: u32, claim: Claim) -> Result<(), Rejection> {
        let side = self.seated(issuer)?;
        let both_have_moved = self.running(number)?.both_have_moved();
        let from = self.room.claim_from(side.opposite()).ok_or(Rejection::WrongPhase(rejection::NOT_GONE))?;
        if !both_have_moved && self.room.meeting.is_none() {
            return Err(Rejection::WrongPhase(rejection::ONLY_ABORT));
        }
        if self.now < from {
            return Err(Rejection::ClaimTooSoon(from));
        }
        self.end_game(match claim {
            Claim::Win => GameEnd::lost_by(side.opposite(), EndReason::Left),
            Claim::Draw => GameEnd::without_winner(EndReason::Left),
        });
        Ok(())
    }
}
