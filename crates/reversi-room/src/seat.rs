//! The two seats of a room and their occupants.

use std::{sync::Arc, time::Duration};

use super::{
    ids::PlayerId,
    text::{DisplayName, EngineVersion},
    timestamp::Timestamp,
};

/// Whether a player is a person or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayerKind {
    /// A person.
    Human,
    /// A program.
    Bot,
}

/// The public data of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The player's id, which never changes.
    pub id: PlayerId,
    /// The display name, unique among current players.
    pub name: DisplayName,
    /// Person or program.
    pub kind: PlayerKind,
    /// The version of its engine, as a bot has named it.
    pub engine_version: Option<EngineVersion>,
}

/// A server-side AI of an existing kind and level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiSeat {
    /// Name of its kind, such as "roxanne".
    pub kind: Arc<str>,
    /// Level, from 1.
    pub level: u8,
    /// Seed of its random choices: the same seed plays the same game.
    pub seed: u64,
}

/// The occupant of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Anyone may take it.
    Open,
    /// Only this player may take it.
    Reserved(Profile),
    /// Only the invited player may take it, until the invitation ends.
    Invited(Invitation),
    /// A player.
    Player(Profile),
    /// An AI of the server.
    Ai(AiSeat),
}

impl Occupant {
    /// The id of the player in the seat.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player(profile) => Some(profile.id),
            Self::Open | Self::Reserved(_) | Self::Invited(_) | Self::Ai(_) => None,
        }
    }

    /// The player for whom the seat is kept.
    #[must_use]
    pub fn guest(&self) -> Option<&Profile> {
        match self {
            Self::Reserved(guest) => Some(guest),
            Self::Invited(invitation) => Some(&invitation.guest),
            Self::Open | Self::Player(_) | Self::Ai(_) => None,
        }
    }

    /// The invitation to the seat.
    #[must_use]
    pub fn invitation(&self) -> Option<&Invitation> {
        match self {
            Self::Invited(invitation) => Some(invitation),
            Self::Open | Self::Reserved(_) | Self::Player(_) | Self::Ai(_) => None,
        }
    }

    /// Whether it is a player or an AI.
    #[must_use]
    pub fn can_play(&self) -> bool {
        matches!(self, Self::Player(_) | Self::Ai(_))
    }
}

/// A seat that is kept for a player for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The invited player.
    pub guest: Profile,
    /// The player who invited.
    pub by: PlayerId,
    /// The rating of that player, rounded, if it had one.
    pub by_rating: Option<u16>,
    /// When the seat opens.
    pub until: Timestamp,
}

impl Invitation {
    /// The shortest time for an answer.
    pub const MIN: Duration = Duration::from_secs(10);
    /// The longest time for an answer.
    pub const MAX: Duration = Duration::from_secs(24 * 60 * 60);
    /// The time for an answer, unless the inviter says otherwise.
    pub const DEFAULT: Duration = Duration::from_secs(2 * 60);
}

/// How a player is named by a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerRef {
    /// By the id.
    Id(PlayerId),
    /// By the display name, in any case.
    Name(DisplayName),
}

/// A seat as requested by a client; unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatSpec {
    /// Anyone may take it.
    Open,
    /// Only this player may take it.
    Reserved(PlayerId),
    /// Only this player may take it, within this time.
    Invited(PlayerRef, Duration),
    /// The caller takes it.
    Me,
    /// An AI of the server plays.
    Ai(AiSpec),
}

/// An AI as requested by a client; an [`AiSeat`] once kind and level are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiSpec {
    /// Name of a kind.
    pub kind: String,
    /// Level from 1; `None` for the default of the kind.
    pub level: Option<u8>,
    /// `None` lets the server choose.
    pub seed: Option<u64>,
}

/// One side's seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The occupant.
    pub occupant: Occupant,
    /// Whether its player is marked as ready; unused for an AI, which is always ready.
    pub marked_ready: bool,
    /// Games won by the occupant in the current pairing.
    pub wins: u16,
    /// Games drawn in the current pairing.
    pub draws: u16,
}

impl Seat {
    pub(super) fn of(occupant: Occupant) -> Self {
        Self { occupant, marked_ready: false, wins: 0, draws: 0 }
    }

    /// Whether the occupant is ready to begin.
    #[must_use]
    pub fn ready(&self) -> bool {
        match self.occupant {
            Occupant::Ai(_) => true,
            Occupant::Player(_) => self.marked_ready,
            Occupant::Open | Occupant::Reserved(_) | Occupant::Invited(_) => false,
        }
    }
}
