//! Why a room refuses a command.

use thiserror::Error;

use super::settings::SettingsError;
use crate::rules::Bitboard;

/// A refusal. It is an answer, not a fault: nothing has changed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Rejection {
    /// Only the owner may do this.
    #[error("only the room's owner may do this")]
    NotOwner,
    /// Only an administrator may do this.
    #[error("only an administrator may do this")]
    NotAdmin,
    /// Only a player in a seat may do this.
    #[error("you have no seat in this room")]
    NotSeated,
    /// Only a member may do this.
    #[error("you are not a member of this room; join it first")]
    NotMember,
    /// The player is banned from the room.
    #[error("you are banned from this room")]
    Banned,
    /// The room asks for another password.
    #[error("wrong password")]
    BadPassword,
    /// There is no such room for this player.
    #[error("no such room")]
    RoomNotFound,
    /// The room has had no such game.
    #[error("no such game")]
    GameNotFound,
    /// The player named is not in the room.
    #[error("no such player in this room")]
    PlayerNotFound,
    /// Unusable settings.
    #[error("bad settings: {0}")]
    BadSettings(SettingsError),
    /// The room has as many members as it may.
    #[error("the room is full")]
    RoomFull,
    /// Somebody else has the seat, or it is kept for them.
    #[error("the seat is taken")]
    SeatTaken,
    /// Not while a game or series runs.
    #[error("not while a game is played")]
    RoomInGame,
    /// Both seats must be filled and ready.
    #[error("both seats must be filled and ready")]
    SeatsNotReady,
    /// Not at this time.
    #[error("not possible now: {0}")]
    WrongPhase(&'static str),
    /// The room is closed for good.
    #[error("the room is closed")]
    RoomClosed,
    /// The other side is to move.
    #[error("it is not your turn")]
    NotYourTurn,
    /// The game is over.
    #[error("the game is over")]
    GameOver,
    /// The square is not among the legal ones, which are given.
    #[error("illegal move")]
    IllegalMove(Bitboard),
    /// The ply was decided otherwise.
    #[error("this ply is already decided")]
    StalePly,
}
