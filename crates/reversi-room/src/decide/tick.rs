//! Deadlines, and compensation for time in which no player could move.

use super::{Draft, EndReason, Fact, GameEnd, Issuer, Rejection};
use crate::{
    deadline::DueAction,
    event::{CloseReason, InvitationEnd, LeaveReason},
};

impl Draft {
    /// Compensates for lost time, if anything with a deadline was running.
    pub(super) fn credit(&mut self, issuer: Issuer, micros: i64) -> Result<(), Rejection> {
        Self::require_server(issuer)?;
        let idle = self.room.due().is_some_and(|(at, due)| due == DueAction::Idle && at <= self.now);
        if micros != 0 && (idle || self.room.start_times_mut().next().is_some()) {
            self.emit(Fact::ClockCredited { micros });
        }
        Ok(())
    }

    /// Handles all passed deadlines. Terminates, because each step removes its deadline and adds none in the past but that of
    /// a new owner, of which there is one at a time.
    pub(super) fn tick(&mut self) {
        while let Some((at, due)) = self.room.due()
            && at <= self.now
        {
            match due {
                DueAction::Flag(side) => self.end_game(GameEnd::lost_by(side, EndReason::Timeout)),
                DueAction::NextGame if self.room.verdict().is_some() => self.emit(Fact::SeriesEnded),
                DueAction::NextGame => {
                    let index = self.room.series.map_or(0, |series| series.index + 1);
                    self.start_next(index);
                }
                DueAction::Absence(player) => self.remove(Issuer::Server, player, LeaveReason::Absent),
                DueAction::Ownership(owner) => self.change_owner(owner),
                DueAction::Invitation(seat) => self.end_invitation(seat, InvitationEnd::Expired),
                DueAction::Idle => self.close(CloseReason::Idle),
            }
        }
    }
}
