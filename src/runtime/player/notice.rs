//! Notices from rooms to one player: turns, games, kicks, invitations.

use crate::{
    room::{GameEnd, GameId, JoinCode, Profile, RoomId, Seat, TurnRequest},
    rules::{Color, Position, Square},
};

/// Why a turn closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The move was made.
    Played(Square),
    /// The player's time ran out.
    TimedOut,
    /// The game ended for another reason.
    GameEnded,
}

/// A message to one player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is the player's turn.
    TurnRequested(Box<TurnRequest>),
    /// A turn of the player closed.
    TurnClosed {
        /// The game.
        game: GameId,
        /// The ply, from 0.
        ply: u16,
        /// Why it closed.
        end: TurnEnd,
    },
    /// A game of the player started.
    GameStarted {
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The opponent's seat.
        opponent: Seat,
        /// Whether the opponent is connected.
        present: bool,
    },
    /// A game of the player ended.
    GameEnded {
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The result.
        end: GameEnd,
        /// The last position.
        position: Position,
    },
    /// The player was removed from a room.
    Kicked {
        /// The room.
        room: RoomId,
        /// Whether the player may not return.
        banned: bool,
    },
    /// A room of the player closed.
    RoomClosed(RoomId),
    /// A seat is reserved for the player.
    Invited {
        /// The room.
        room: RoomId,
        /// The seat.
        seat: Color,
        /// The join code of the room.
        code: JoinCode,
        /// The room's owner.
        by: Option<Profile>,
    },
}

impl Notice {
    /// Whether it is kept for a player without a stream. Rooms request open turns again themselves.
    pub(crate) fn is_kept(&self) -> bool {
        !matches!(self, Self::TurnRequested(_) | Self::TurnClosed { .. })
    }

    pub(crate) fn is_invitation(&self) -> bool {
        matches!(self, Self::Invited { .. })
    }

    pub(crate) fn invites_to(&self, to: RoomId) -> bool {
        matches!(self, Self::Invited { room, .. } if *room == to)
    }
}
