//! Stored players and seats.

use super::{
    StoredError, checked,
    codec::{Numbered, narrow, read_player},
    required,
};
use crate::{
    seat::{AiSeat, Occupant, PlayerKind, Profile, Seat},
    text::DisplayName,
};

/// Longest name of an AI kind, in bytes.
const MAX_AI_KIND: usize = 64;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredProfile {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(uint32, tag = "3")]
    kind: u32,
}

impl From<&Profile> for StoredProfile {
    fn from(profile: &Profile) -> Self {
        Self { id: profile.id.bits(), name: profile.name.to_string(), kind: profile.kind.number() }
    }
}

impl StoredProfile {
    pub(super) fn read(self) -> Result<Profile, StoredError> {
        Ok(Profile {
            id: read_player(self.id)?,
            name: DisplayName::from_stored(&self.name).map_err(|_| StoredError::Malformed("name of a player"))?,
            kind: PlayerKind::read(self.kind)?,
        })
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredAi {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(uint32, tag = "2")]
    level: u32,
    #[prost(fixed64, tag = "3")]
    seed: u64,
}

impl From<&AiSeat> for StoredAi {
    fn from(ai: &AiSeat) -> Self {
        Self { kind: ai.kind.to_string(), level: ai.level.into(), seed: ai.seed }
    }
}

impl StoredAi {
    pub(super) fn read(self) -> Result<AiSeat, StoredError> {
        let kind = self.kind.as_str();
        let plain = kind.len() <= MAX_AI_KIND && kind.bytes().all(|byte| byte.is_ascii_graphic());
        Ok(AiSeat { kind: checked(kind, plain, "AI")?.into(), level: narrow(self.level, "level")?, seed: self.seed })
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredOccupant {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(message, tag = "1")]
    Open(()),
    #[prost(message, tag = "2")]
    Reserved(StoredProfile),
    #[prost(message, tag = "3")]
    Player(StoredProfile),
    #[prost(message, tag = "4")]
    Ai(StoredAi),
}

impl From<&Occupant> for StoredOccupant {
    fn from(occupant: &Occupant) -> Self {
        let kind = match occupant {
            Occupant::Open => Kind::Open(()),
            Occupant::Reserved(guest) => Kind::Reserved(guest.into()),
            Occupant::Player(player) => Kind::Player(player.into()),
            Occupant::Ai(ai) => Kind::Ai(ai.into()),
        };
        Self { kind: Some(kind) }
    }
}

impl StoredOccupant {
    pub(super) fn read(self) -> Result<Occupant, StoredError> {
        Ok(match required(self.kind, "occupant")? {
            Kind::Open(()) => Occupant::Open,
            Kind::Reserved(guest) => Occupant::Reserved(guest.read()?),
            Kind::Player(player) => Occupant::Player(player.read()?),
            Kind::Ai(ai) => Occupant::Ai(ai.read()?),
        })
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredSeat {
    #[prost(message, optional, tag = "1")]
    occupant: Option<StoredOccupant>,
    #[prost(bool, tag = "2")]
    marked_ready: bool,
    #[prost(uint32, tag = "3")]
    wins: u32,
    #[prost(uint32, tag = "4")]
    draws: u32,
}

impl From<&Seat> for StoredSeat {
    fn from(seat: &Seat) -> Self {
        Self {
            occupant: Some((&seat.occupant).into()),
            marked_ready: seat.marked_ready,
            wins: seat.wins.into(),
            draws: seat.draws.into(),
        }
    }
}

impl StoredSeat {
    pub(super) fn read(self) -> Result<Seat, StoredError> {
        Ok(Seat {
            occupant: required(self.occupant, "occupant")?.read()?,
            marked_ready: self.marked_ready,
            wins: narrow(self.wins, "score")?,
            draws: narrow(self.draws, "score")?,
        })
    }
}
