//! What somebody wants of a room.

use super::{
    event::Offer,
    ids::{JoinCode, PlayerId},
    seat::{AiSeat, Profile},
    settings::{PasswordHash, Settings},
    text::ChatText,
    thought::Thought,
};
use crate::rules::{Color, Square};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// A player, identified by a token.
    Player(PlayerId),
    /// An administrator.
    Admin,
    /// The server itself: clocks, AI seats, connections.
    Server,
}

/// What an owner may make of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatSetting {
    /// For anyone.
    Open,
    /// For one player.
    Reserved(Profile),
    /// For an AI.
    Ai(AiSeat),
}

/// What opens a room to one who is no member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Needed where the room is private.
    pub code: Option<JoinCode>,
    /// Needed where the room has a password.
    pub password: Option<PasswordHash>,
}

/// A request to a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Become a member.
    Join(Profile, Credentials),
    /// Stop being one.
    Leave,
    /// Sit down, or change over.
    TakeSeat(Color),
    /// Stand up.
    LeaveSeat,
    /// Exchange the occupants.
    SwapSeats,
    /// Decide who may have a seat.
    SetSeat(Color, SeatSetting),
    /// Mark readiness.
    SetReady(bool),
    /// Remove a member; keep them out if `ban`.
    Kick {
        /// Whom.
        player: PlayerId,
        /// For the room's life.
        ban: bool,
    },
    /// Make another member the owner.
    Transfer(PlayerId),
    /// Replace the settings.
    Configure(Box<Settings>),
    /// Begin a game or series.
    Start,
    /// End the room.
    Close,
    /// Say something.
    Chat(ChatText),
    /// Move.
    Play {
        /// In which game of the room.
        game: u32,
        /// For which ply.
        ply: u16,
        /// Where.
        square: Square,
        /// What it thought. Told of the server's AI seats only.
        thought: Option<Box<Thought>>,
    },
    /// Count an illegal move against the side to move, if it is a bot.
    Strike {
        /// In which game.
        game: u32,
        /// At which ply.
        ply: u16,
    },
    /// Give up.
    Resign {
        /// Which game.
        game: u32,
    },
    /// End a game without a winner.
    Abort {
        /// Which game.
        game: u32,
    },
    /// Propose something to the opponent.
    Offer(Offer),
    /// Answer the opponent's proposal.
    Answer(Offer, bool),
    /// A member's connection was lost or is back.
    SetPresence(PlayerId, bool),
    /// Give back the time that the server was away.
    Credit {
        /// In microseconds; negative after the system's clock was set back.
        micros: i64,
    },
    /// Do what is due.
    Tick,
}
