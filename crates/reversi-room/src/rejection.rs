//! Why a room rejects a command.

use reversi_engine::rules::Bitboard;
use thiserror::Error;

use super::{settings::SettingsError, timestamp::Timestamp};

pub(super) const NO_SERIES: &str = "no series is running";
pub(super) const NO_OFFER: &str = "there is no such offer";
pub(super) const OWN_OFFER: &str = "only the other side can accept this offer";
pub(super) const NO_GAME: &str = "no game has been played in this room";
pub(super) const OWNER_STAYS: &str = "the owner cannot be removed; leave the room instead";
pub(super) const BANS_FULL: &str = "the ban list is full";
pub(super) const CO_OWNERS_FULL: &str = "the room has its maximum number of co-owners";
pub(super) const PLAYED_SINCE: &str = "another game has been played since";
pub(super) const WHICH_GAME: &str =
    "until both sides have moved, an offer needs the id of the game for which it is meant";
pub(super) const NOT_GONE: &str = "your opponent is there, or the game has too long a clock for claims";
pub(super) const ONLY_ABORT: &str = "until both sides have moved, a game can only be aborted";
pub(super) const RATED_MOVE: &str = "in a rated game no move is taken back";
pub(super) const ANSWER_FIRST: &str = "your opponent asks to take a move back; answer that first";
pub(super) const NO_MOVE: &str = "you have made no move in this game";
pub(super) const NO_INVITATION: &str = "no seat of this room is kept for you";
pub(super) const HAS_SEAT: &str = "this player has a seat here, and needs no invitation";
pub(super) const ONE_MEETING: &str = "the room is for one meeting of a tournament, which is over";
pub(super) const NO_ABORT: &str = "a game of a tournament cannot be aborted; resign it";
pub(super) const TOURNAMENT_MOVE: &str = "in a tournament no move is taken back";

const AT_RATED_GAME: &str = "a running rated game is within two plies of this opening; start after that game";

/// The reasons of a room for [`Rejection::WrongPhase`].
pub(super) const WRONG_PHASES: [&str; 20] = [
    NO_SERIES,
    NO_OFFER,
    OWN_OFFER,
    NO_GAME,
    OWNER_STAYS,
    BANS_FULL,
    AT_RATED_GAME,
    CO_OWNERS_FULL,
    PLAYED_SINCE,
    WHICH_GAME,
    NOT_GONE,
    ONLY_ABORT,
    RATED_MOVE,
    NO_MOVE,
    ANSWER_FIRST,
    NO_INVITATION,
    HAS_SEAT,
    ONE_MEETING,
    NO_ABORT,
    TOURNAMENT_MOVE,
];

/// The reason for rejecting a command, which then changes nothing.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Rejection {
    /// Only the owner may do this.
    #[error("only the room's owner may do this")]
    NotOwner,
    /// Only an administrator may do this.
    #[error("only an administrator may do this")]
    NotAdmin,
    /// Only a seated player may do this.
    #[error("you have no seat in this room")]
    NotSeated,
    /// Only a member may do this.
    #[error("you are not a member of this room; join it first")]
    NotMember,
    /// The player is banned from the room.
    #[error("you are banned from this room")]
    Banned,
    /// The password is missing or wrong.
    #[error("wrong password")]
    BadPassword,
    /// The room does not exist, or the player may not know that it does.
    #[error("no such room")]
    RoomNotFound,
    /// The room has no game with this number.
    #[error("no such game")]
    GameNotFound,
    /// The player named is not in the room.
    #[error("no such player in this room")]
    PlayerNotFound,
    /// The settings are out of bounds.
    #[error("bad settings: {0}")]
    BadSettings(SettingsError),
    /// The room has its maximum number of members.
    #[error("the room is full")]
    RoomFull,
    /// The seat is occupied, or reserved for another player.
    #[error("the seat is taken")]
    SeatTaken,
    /// The seat is open, but not for this player.
    #[error("the open seat is for other players; the room's settings.opponents say for whom")]
    NotAccepted,
    /// Not while a game or series runs.
    #[error("not while a game is played; it must end first, by its moves, a resignation or an agreed draw")]
    RoomInGame,
    /// Both seats must be filled and ready.
    #[error("both seats must be filled and ready")]
    SeatsNotReady,
    /// Not in this phase of the room or game, with the reason.
    #[error("not possible now: {0}")]
    WrongPhase(&'static str),
    /// The room is closed.
    #[error("the room is closed")]
    RoomClosed,
    /// The other side is to move.
    #[error("it is not your turn")]
    NotYourTurn,
    /// The game is over.
    #[error("the game is over")]
    GameOver,
    /// The square is not legal; holds the legal ones.
    #[error("illegal move")]
    IllegalMove(Bitboard),
    /// The next offer of this kind may come at this ply.
    #[error("such an offer was declined; the next may come at ply {0}")]
    OfferTooSoon(u16),
    /// The game may be claimed from this time on.
    #[error("your opponent may still come back; wait a little before you claim the game")]
    ClaimTooSoon(Timestamp),
    /// Another move was made at this ply.
    #[error("another move was already made at this ply")]
    StalePly,
    /// The settings are not those from which the new ones were made.
    #[error("other calls change the settings at the same time")]
    StaleSettings,
}

impl Rejection {
    /// AIs would begin where a rated game of another room is.
    pub const AT_RATED_GAME: Self = Self::WrongPhase(AT_RATED_GAME);
}
