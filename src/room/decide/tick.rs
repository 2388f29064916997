//! What time alone makes happen.

use super::{Draft, EndReason, Fact, GameEnd};
use crate::room::{
    event::{CloseReason, LeaveReason},
    state::Due,
};

impl Draft {
    /// Does everything that is due. It ends: each thing done is due no more, and starts no clock that has run out.
    pub(super) fn tick(&mut self) {
        while let Some((at, due)) = self.room.due()
            && at <= self.now
        {
            match due {
                Due::Flag(side) => self.end_game(GameEnd::lost_by(side, EndReason::Timeout)),
                Due::NextGame => {
                    let index = self.room.series.map_or(0, |series| series.index + 1);
                    self.start_next(index);
                }
                Due::Absence(player) => self.remove(player, LeaveReason::Absent),
                Due::Succession(heir) => self.emit(Fact::OwnerChanged(heir)),
                Due::Idle => self.close(CloseReason::Idle),
            }
        }
    }
}
