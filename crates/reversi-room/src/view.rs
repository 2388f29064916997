//! Redaction of a room for one viewer.

use super::{
    ids::{JoinCode, PlayerId},
    state::Room,
};

/// The viewer of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player, member or not.
    Player(PlayerId),
    /// The holder of a join code who may not watch yet: without the password, or only as a member.
    Invited,
    /// Anyone: for a message that is shared by several viewers.
    Public,
}

/// A room as its viewer may see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The room. Its join code and password hash must not be sent; all else is public to anyone who may watch.
    pub room: &'a Room,
    viewer: Viewer,
}

impl Room {
    /// The room as seen by a viewer.
    #[must_use]
    pub fn view(&self, viewer: Viewer) -> View<'_> {
        View { room: self, viewer }
    }
}

impl View<'_> {
    /// The join code, if the viewer is a member.
    #[must_use]
    pub fn code(&self) -> Option<JoinCode> {
        match self.viewer {
            Viewer::Player(player) => self.room.member(player).map(|_| self.room.code()),
            Viewer::Invited | Viewer::Public => None,
        }
    }

    /// Whether game, chat and members may be shown, beyond owner, seats and settings.
    #[must_use]
    pub fn shows_play(&self) -> bool {
        self.viewer != Viewer::Invited
    }

    /// Whether search reports of AI seats may be shown. Those of a running game are hidden from its players, and from
    /// all viewers if it is rated.
    #[must_use]
    pub fn shows_thoughts(&self) -> bool {
        if self.room.running().is_none() {
            return true;
        }
        match self.viewer {
            Viewer::Player(player) => !self.room.settings().rated && self.room.seat_of(player).is_none(),
            Viewer::Invited => false,
            Viewer::Public => !self.room.settings().rated,
        }
    }
}
