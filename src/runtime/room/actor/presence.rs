//! Which members of a room are connected.

use tokio::time::Instant;

use super::RoomActor;
use crate::{
    room::{Command, Issuer, PlayerId},
    runtime::{limit::limits::STORE_RETRY, outcome::RoomError},
};

impl RoomActor {
    pub(super) async fn check_presence(&mut self, player: PlayerId) {
        if self.in_doubt.is_some() {
            // All members are checked once the journal can be read again.
            return;
        }
        let present = self.is_present(player);
        let noted = self.execute(Issuer::Server, Command::SetPresence(player, present)).await;
        if let Err(RoomError::StoreUnavailable) = noted {
            self.recheck = Some(Instant::now() + STORE_RETRY);
        }
    }

    fn is_present(&self, player: PlayerId) -> bool {
        self.context.players.is_present(player, self.context.limits.get().presence_grace)
    }

    fn is_absent(&self, player: PlayerId) -> bool {
        self.room.member(player).is_some_and(|member| member.absent_since.is_some())
    }

    /// Checks all members, because a loaded room may have missed changes.
    pub(super) async fn check_members(&mut self) {
        self.recheck = None;
        let members: Vec<_> = self.room.members().iter().map(|member| member.profile.id).collect();
        for member in members {
            self.check_presence(member).await;
        }
    }

    /// The issuer of a command, if recorded as absent and present again.
    pub(super) fn returned(&self, issuer: Issuer) -> Option<PlayerId> {
        let Issuer::Player(player) = issuer else { return None };
        (self.cache.has_absent && self.is_absent(player) && self.is_present(player)).then_some(player)
    }

    /// Records absent members who have called outside this room meanwhile as present, before they are removed.
    pub(super) async fn note_returned(&mut self) {
        let members: Vec<_> = self.room.members().iter().map(|member| member.profile.id).collect();
        for member in members {
            if let Some(player) = self.returned(Issuer::Player(member)) {
                self.check_presence(player).await;
            }
        }
    }
}
