//! What happened in a room: facts, in order, complete.

use std::time::Duration;

use super::{
    game::GameEnd,
    ids::{JoinCode, PlayerId, RoomId, Seq},
    seat::{Occupant, Profile},
    settings::Settings,
    state::Policy,
    text::ChatText,
    thought::Thought,
    timestamp::Timestamp,
};
use crate::rules::{ByColor, Color, Square};

/// One fact with its place in the room's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Dense from 1.
    pub seq: Seq,
    /// When it happened, by the server's clock.
    pub at: Timestamp,
    /// What happened.
    pub fact: Fact,
}

/// Why a member is one no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveReason {
    /// Of their own will.
    Left,
    /// Removed.
    Kicked,
    /// Removed, and kept out.
    Banned,
    /// The connection was lost for longer than the grace.
    Absent,
}

/// Why a room is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Nobody was left in it.
    Empty,
    /// By its owner or an administrator.
    Closed,
    /// Nothing happened for too long.
    Idle,
    /// The server could not go on with it.
    Server,
}

/// What the players of a room may propose to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// To end the running game as a draw.
    Draw,
    /// To play again.
    Rematch,
}

/// How a room began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// Its name for good.
    pub id: RoomId,
    /// Lets members bring others in.
    pub code: JoinCode,
    /// Its maker, owner and first member.
    pub owner: Profile,
    /// Checked settings.
    pub settings: Settings,
    /// The server's own bounds for it.
    pub policy: Policy,
    /// Who sits where at first; a player can only be the owner.
    pub seats: ByColor<Occupant>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The room began. Always the first fact, and only then.
    Created(Box<Creation>),
    /// A new member.
    MemberJoined(Profile),
    /// A member went; or a player who was none was banned.
    MemberLeft {
        /// Who.
        player: PlayerId,
        /// Why.
        reason: LeaveReason,
    },
    /// A member's connection was lost, or is back.
    PresenceChanged {
        /// Whose.
        player: PlayerId,
        /// Whether it is back.
        present: bool,
    },
    /// Ownership moved.
    OwnerChanged(PlayerId),
    /// A seat has another occupant. Clears both scores.
    SeatChanged {
        /// Whose side.
        seat: Color,
        /// The new occupant.
        occupant: Occupant,
    },
    /// The occupants changed sides, with their scores.
    SeatsSwapped,
    /// A player marked readiness.
    ReadyChanged {
        /// Whose.
        seat: Color,
        /// The mark.
        ready: bool,
    },
    /// New settings.
    SettingsChanged(Box<Settings>),
    /// A game began with its opening made.
    GameStarted {
        /// Its number in the room.
        number: u32,
        /// Its index in its series, from 0.
        index: u16,
        /// Moves made for both sides.
        opening: Vec<Square>,
    },
    /// The side to move placed a disc.
    Played {
        /// Where.
        square: Square,
        /// What it took.
        spent: Duration,
        /// What it thought, where an AI moved.
        thought: Option<Box<Thought>>,
    },
    /// The side to move had no move.
    Passed,
    /// A bot tried an illegal move.
    Struck,
    /// A proposal stands.
    OfferMade {
        /// What.
        offer: Offer,
        /// By whom.
        by: Color,
    },
    /// The proposal was answered.
    OfferClosed {
        /// Which.
        offer: Offer,
        /// How.
        accepted: bool,
    },
    /// No further game of the series follows: one who may has ended it, or its test has.
    SeriesEnded,
    /// The game is over. Happens once a game.
    GameEnded(GameEnd),
    /// The server gives back the time it was away: the turn that runs, the absences and the wait for the next game of a
    /// series count as start_times_mut so much later; earlier where it is negative, after the system's clock was set back.
    ClockCredited {
        /// How much, in microseconds.
        micros: i64,
    },
    /// Somebody said something.
    ChatPosted {
        /// Who.
        from: Profile,
        /// What.
        text: ChatText,
    },
    /// The room is over. Always the last fact.
    Closed(CloseReason),
}
