//! What a room does by itself, and when.

use super::{
    ids::PlayerId,
    state::{Member, Phase, Room},
    timestamp::Timestamp,
};
use crate::rules::Color;

/// What a deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DueAction {
    /// The side to move has run out of time.
    Flag(Color),
    /// The next game of the series begins.
    NextGame,
    /// A member has been away for too long.
    Absence(PlayerId),
    /// The owner has, but still plays; another can take over.
    Succession(PlayerId),
    /// Nothing has happened for too long.
    Idle,
}

impl Room {
    /// When it next wants a tick.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.due().map(|(at, _)| at)
    }

    /// The earliest thing that time will make happen.
    pub(super) fn due(&self) -> Option<(Timestamp, DueAction)> {
        if self.phase == Phase::Closed {
            return None;
        }
        let flag = self.running().and_then(|game| Some((self.flag_falls()?, DueAction::Flag(game.turn()?))));
        let next = self.series.and_then(|series| Some((series.next_at?, DueAction::NextGame)));
        let idle =
            (self.phase == Phase::Lobby).then(|| (self.last_activity.after(self.policy.idle_close), DueAction::Idle));
        let away = self.members.iter().filter_map(|member| self.absence_due(member));
        flag.into_iter().chain(next).chain(idle).chain(away).min_by_key(|&(at, _)| at)
    }

    fn absence_due(&self, member: &Member) -> Option<(Timestamp, DueAction)> {
        let player = member.profile.id;
        let at = member.absent_since?.after(self.policy.grace);
        // Only a running game keeps its players; one who is away for long must not hold up a series of games.
        if self.running().is_none() || self.seat_of(player).is_none() {
            return Some((at, DueAction::Absence(player)));
        }
        let successor = (player == self.owner).then(|| self.successor(player)).flatten()?;
        Some((at, DueAction::Succession(successor)))
    }
}
