//! The deadlines of a room.

use reversi_engine::rules::Color;

use super::{
    ids::PlayerId,
    state::{Member, Phase, Room},
    timestamp::Timestamp,
};

/// The action at a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DueAction {
    /// This side loses on time.
    Flag(Color),
    /// The next game of the series begins.
    NextGame,
    /// This member has been absent for the grace period and leaves.
    Absence(PlayerId),
    /// This member becomes the owner: the owner who has returned, or a stand-in for an owner who has left, or who has been
    /// absent for the grace period while playing. Not in a rated game, which the new owner could end.
    Ownership(PlayerId),
    /// The time for an answer to the invitation to this seat has passed.
    Invitation(Color),
    /// The room closes for lack of activity.
    Idle,
}

impl Room {
    /// When the room next needs a [`Command::Tick`](super::Command::Tick).
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.due().map(|(at, _)| at)
    }

    /// The earliest deadline and what happens then.
    pub(super) fn due(&self) -> Option<(Timestamp, DueAction)> {
        if self.phase == Phase::Closed {
            return None;
        }
        let flag = self.running().and_then(|game| Some((self.flag_falls()?, DueAction::Flag(game.turn()?))));
        let next = self.series.and_then(|series| Some((series.next_at?, DueAction::NextGame)));
        let idle =
            (self.phase == Phase::Lobby).then(|| (self.last_activity.after(self.policy.idle_close), DueAction::Idle));
        let away = self.members.iter().filter_map(|member| self.absence_due(member));
        let invitations = self.seats.iter().filter_map(|(seat, kept)| {
            kept.occupant.invitation().map(|invitation| (invitation.until, DueAction::Invitation(seat)))
        });
        let owner = self.next_owner().map(|next| (self.last_activity, DueAction::Ownership(next)));
        owner.into_iter().chain(flag).chain(next).chain(invitations).chain(idle).chain(away).min_by_key(|&(at, _)| at)
    }

    fn absence_due(&self, member: &Member) -> Option<(Timestamp, DueAction)> {
        let player = member.profile.id;
        let at = member.absent_since?.after(self.policy.grace);
        // A running game keeps its players; an absent player must not delay the next game of a series.
        if self.running().is_none() || self.seat_of(player).is_none() {
            return Some((at, DueAction::Absence(player)));
        }
        let next = (player == self.owner && !self.settings.rated).then(|| self.stand_in()).flatten()?;
        Some((at, DueAction::Ownership(next)))
    }
}
