//! What one viewer may see of a room.

use super::{
    ids::{JoinCode, PlayerId},
    state::Room,
};

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player, member or not.
    Player(PlayerId),
    /// One message for many: what everybody may see.
    Public,
}

/// A room as its viewer may see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// All of it but the join code and the hashes is public to whoever may watch.
    pub room: &'a Room,
    viewer: Viewer,
}

impl Room {
    /// The room for one viewer.
    #[must_use]
    pub fn view(&self, viewer: Viewer) -> View<'_> {
        View { room: self, viewer }
    }
}

impl View<'_> {
    /// The join code, for members.
    #[must_use]
    pub fn code(&self) -> Option<JoinCode> {
        match self.viewer {
            Viewer::Player(player) => self.room.member(player).map(|_| self.room.code()),
            Viewer::Public => None,
        }
    }

    /// Whether what AIs thought may be seen: not by those who play against them.
    #[must_use]
    pub fn shows_thoughts(&self) -> bool {
        match self.viewer {
            Viewer::Player(player) => self.room.running().is_none() || self.room.seat_of(player).is_none(),
            Viewer::Public => true,
        }
    }
}
