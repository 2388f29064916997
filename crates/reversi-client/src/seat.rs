//! Seats and their occupants.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use super::{Malformed, Player, PlayerId, parse};
use crate::{rules::ByColor, v1};

/// A server-side AI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ai {
    /// The kind, such as `roxanne`.
    pub kind: String,
    /// From 1; 0 for the kind's default.
    pub level: u32,
    /// The seed of random choices; 0 for a random one.
    pub seed: u64,
}

impl Ai {
    /// An AI at its kind's default level.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), level: 0, seed: 0 }
    }

    /// Sets the level.
    #[must_use]
    pub fn level(self, level: u32) -> Self {
        Self { level, ..self }
    }
}

impl fmt::Display for Ai {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            0 => f.pad(&self.kind),
            level => f.pad(&format!("{}:{level}", self.kind)),
        }
    }
}

impl From<Ai> for v1::AiSeat {
    fn from(ai: Ai) -> Self {
        Self { kind: ai.kind, level: i32::try_from(ai.level).unwrap_or(i32::MAX), seed: ai.seed }
    }
}

impl TryFrom<v1::AiSeat> for Ai {
    type Error = Malformed;

    fn try_from(ai: v1::AiSeat) -> Result<Self, Malformed> {
        Ok(Self { kind: parse::plain(ai.kind, "AI kind")?, level: parse::count(ai.level, "AI level")?, seed: ai.seed })
    }
}

/// The occupant of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Any member may take the seat.
    Open,
    /// Only this player may take the seat.
    Reserved(Player),
    /// A player.
    Player(Player),
    /// A server-side AI.
    Ai(Ai),
}

impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.pad("open"),
            Self::Reserved(player) => f.pad(&format!("kept for {}", player.name)),
            Self::Player(player) => f.pad(&player.name),
            Self::Ai(ai) => f.pad(&format!("AI {ai}")),
        }
    }
}

impl From<Occupant> for v1::Seat {
    fn from(occupant: Occupant) -> Self {
        use v1::seat::Occupant as Wire;
        let player = |player: Player| v1::Player { player_id: player.id.to_string(), ..Default::default() };
        let wire = match occupant {
            Occupant::Open => Wire::Open(v1::OpenSeat {}),
            Occupant::Reserved(reserved) => Wire::Reserved(player(reserved)),
            Occupant::Player(seated) => Wire::Player(player(seated)),
            Occupant::Ai(ai) => Wire::Ai(ai.into()),
        };
        Self { occupant: Some(wire), ..Default::default() }
    }
}

/// A player to be invited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guest {
    /// By the id.
    Id(PlayerId),
    /// By the name that the player has now.
    Name(String),
}

impl Guest {
    /// An invitation; without `lasts`, for the server's default time.
    pub(super) fn invite(&self, lasts: Option<Duration>) -> v1::SeatInvitation {
        use v1::seat_invitation::Player as Wire;
        let player = match self {
            Self::Id(id) => Wire::PlayerId(id.to_string()),
            Self::Name(name) => Wire::DisplayName(name.clone()),
        };
        v1::SeatInvitation { player: Some(player), lasts: lasts.map(parse::to_wire) }
    }
}

/// A seat of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The occupant.
    pub occupant: Occupant,
    /// Whether the occupant is ready to start; an AI always is.
    pub ready: bool,
    /// Whether the occupant is connected; an AI always is.
    pub present: bool,
    /// Games won in the current pairing.
    pub wins: u32,
    /// Games drawn in the current pairing.
    pub draws: u32,
    /// From when the opponent may claim the running game, while the player is away.
    pub claim_from: Option<SystemTime>,
    /// When the invitation to a reserved seat ends; `None` for a seat that stays reserved.
    pub reserved_until: Option<SystemTime>,
}

impl Seat {
    /// Whether this player has the seat.
    #[must_use]
    pub fn is_of(&self, player: &PlayerId) -> bool {
        matches!(&self.occupant, Occupant::Player(seated) if seated.id == *player)
    }

    /// Whether this player may take the seat.
    #[must_use]
    pub fn is_free_for(&self, player: &PlayerId) -> bool {
        match &self.occupant {
            Occupant::Open => true,
            Occupant::Reserved(reserved) => reserved.id == *player,
            Occupant::Player(_) | Occupant::Ai(_) => false,
        }
    }
}

impl TryFrom<v1::Seat> for Seat {
    type Error = Malformed;

    fn try_from(seat: v1::Seat) -> Result<Self, Malformed> {
        use v1::seat::Occupant as Wire;
        let occupant = match parse::required(seat.occupant, "seat's occupant")? {
            Wire::Open(_) => Occupant::Open,
            Wire::Reserved(player) => Occupant::Reserved(player.try_into()?),
            Wire::Player(player) => Occupant::Player(player.try_into()?),
            Wire::Ai(ai) => Occupant::Ai(ai.try_into()?),
            Wire::Invite(_) => return Err(Malformed::new("seat's occupant", "only sent by clients")),
        };
        Ok(Self {
            occupant,
            ready: seat.ready,
            present: seat.present,
            wins: parse::count(seat.wins, "wins")?,
            draws: parse::count(seat.draws, "draws")?,
            claim_from: parse::maybe_time(seat.claim_from, "time of a claim")?,
            reserved_until: parse::maybe_time(seat.reserved_until, "end of an invitation")?,
        })
    }
}

/// Parses the two seats of a room; black's is the first.
pub(super) fn parse_seats(seats: Vec<v1::Seat>) -> Result<ByColor<Seat>, Malformed> {
    let [black, white] =
        <[v1::Seat; 2]>::try_from(seats).map_err(|seats| Malformed::new("number of seats", seats.len()))?;
    Ok(ByColor::new(black.try_into()?, white.try_into()?))
}
