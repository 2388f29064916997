//! Requests to a room.

use std::time::Duration;

use reversi_engine::rules::{Color, Square};

use super::{
    event::{Offer, Request},
    ids::{JoinCode, PlayerId},
    seat::{AiSeat, Profile},
    settings::{PasswordHash, Settings},
    text::{ChatText, DeclineReason},
    thought::Thought,
    timestamp::Timestamp,
};

/// The issuer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// An authenticated player.
    Player(PlayerId),
    /// An administrator.
    Admin,
    /// The server: for clocks, AI seats and presence.
    Server,
}

/// An occupant that an owner may set for a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatSetting {
    /// Anyone may take it.
    Open,
    /// Only this player may take it.
    Reserved(Profile),
    /// As reserved, until this time has passed.
    Invited {
        /// The invited player.
        guest: Profile,
        /// The time for an answer.
        lasts: Duration,
        /// The rating of the issuer, rounded.
        by_rating: Option<u16>,
    },
    /// An AI of the server plays.
    Ai(AiSeat),
}

/// The credentials of a player who is not a member, to join or watch a room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Needed for a private room.
    pub code: Option<JoinCode>,
    /// Needed for a room with a password: its hash, for a player who has given the password.
    pub password: Option<PasswordHash>,
}

/// What a player claims whose opponent has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The win.
    Win,
    /// A draw.
    Draw,
}

/// A request to a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Become a member.
    Join(Profile, Credentials),
    /// Stop being a member.
    Leave,
    /// Take a seat, or change to the other one.
    TakeSeat(Color),
    /// Become a member, take the seat opposite a player who is ready, and start a game or series: all or nothing. A
    /// player who has a seat becomes ready.
    JoinGame(Profile, Color, Option<Request>),
    /// Leave the seat, not the room.
    LeaveSeat,
    /// Leave the room unless a game or series runs, for a seat in another room.
    Vacate,
    /// Exchange the occupants of the seats.
    SwapSeats,
    /// Open or reserve a seat, or give it to an AI.
    SetSeat(Color, SeatSetting),
    /// Open the seat that is kept for the issuer, with a reason for the inviter.
    DeclineInvitation(Option<DeclineReason>),
    /// Mark oneself as ready to play, or not.
    SetReady(bool),
    /// Remove a member.
    Kick {
        /// The member, or any player to be banned.
        player: PlayerId,
        /// Whether the player may never come back to this room.
        ban: bool,
    },
    /// Make another member the owner.
    Transfer(PlayerId),
    /// Name a member as a co-owner, or take that back.
    SetCoOwner(PlayerId, bool),
    /// Replace the settings. Rejected if they are no longer those from which the new ones were made, where these are
    /// given.
    Configure(Box<Settings>, Option<Box<Settings>>),
    /// Start a game or series, for a request that may have an id. By the server for a meeting.
    Start(Option<Request>),
    /// Make the running game the last of its series, or end the series between two games.
    EndSeries,
    /// Close the room.
    Close,
    /// Post a line of chat.
    Chat(ChatText),
    /// Remove the lines of chat that were posted at this time.
    RemoveChat(Timestamp),
    /// Make a move.
    Play {
        /// Number of the game in the room.
        game: u32,
        /// The ply.
        ply: u16,
        /// The square.
        square: Square,
        /// Search report; ignored unless the server issues the command for an AI seat.
        thought: Option<Box<Thought>>,
    },
    /// Count an illegal move against the side to move if it is a bot.
    Strike {
        /// Number of the game in the room.
        game: u32,
        /// The ply.
        ply: u16,
    },
    /// Resign a game.
    Resign {
        /// Number of the game in the room.
        game: u32,
    },
    /// End a game without a result.
    Abort {
        /// Number of the game in the room.
        game: u32,
    },
    /// End a game whose opponent has gone.
    Claim {
        /// Number of the game in the room.
        game: u32,
        /// As what it ends.
        claim: Claim,
    },
    /// Make the opponent an offer, in or after the game with this number, if it is given.
    Offer(Offer, Option<u32>),
    /// Accept or decline the opponent's offer, or withdraw one's own; in or after the game with this number, if it is
    /// given.
    Answer(Offer, Option<u32>, bool),
    /// A member's connection was lost or restored.
    SetPresence(PlayerId, bool),
    /// Compensate for time in which no player could move: the server was down or stopped, or could not write.
    Credit {
        /// Microseconds; negative after the system clock was set back.
        micros: i64,
    },
    /// Do everything whose deadline has passed.
    Tick,
}
