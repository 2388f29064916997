//! The two seats of a room and who may sit in them.

use std::sync::Arc;

use super::{ids::PlayerId, text::DisplayName};

/// Whether a person or a program plays under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayerKind {
    /// A person.
    Human,
    /// A program.
    Bot,
}

/// A player, as everybody may see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Who it is; the name is only what they are called.
    pub id: PlayerId,
    /// Unique among players.
    pub name: DisplayName,
    /// Person or program.
    pub kind: PlayerKind,
}

/// A server-side AI. Whoever makes one has checked that the kind exists and has the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiSeat {
    /// Such as "roxanne".
    pub kind: Arc<str>,
    /// From 1.
    pub level: u8,
    /// The same seed plays the same game.
    pub seed: u64,
}

/// Who or what may move for one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Anyone may take it.
    Open,
    /// Only this player may take it.
    Reserved(Profile),
    /// A player sits here.
    Player(Profile),
    /// The server moves.
    Ai(AiSeat),
}

impl Occupant {
    /// The player who sits here.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player(profile) => Some(profile.id),
            Self::Open | Self::Reserved(_) | Self::Ai(_) => None,
        }
    }

    /// Whether a game could be played with it.
    #[must_use]
    pub fn can_play(&self) -> bool {
        matches!(self, Self::Player(_) | Self::Ai(_))
    }
}

/// What a client wants a seat to be; not yet checked against what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatSpec {
    /// For anyone.
    Open,
    /// For one player.
    Reserved(PlayerId),
    /// For whoever asks.
    Me,
    /// For an AI.
    Ai(AiSpec),
}

/// An AI as a client asks for it; whoever knows the kinds makes an [`AiSeat`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiSpec {
    /// Perhaps the name of a kind.
    pub kind: String,
    /// From 1; none for the kind's default.
    pub level: Option<u8>,
    /// None lets the server choose.
    pub seed: Option<u64>,
}

/// One side's seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Who is in it.
    pub occupant: Occupant,
    /// Whether its player wants to begin. Meaningless for an AI, which always does.
    pub marked_ready: bool,
    /// Games the occupant won in the current pairing.
    pub wins: u16,
    /// Games the current pairing drew.
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
            Occupant::Open | Occupant::Reserved(_) => false,
        }
    }
}
