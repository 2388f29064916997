//! Stored players and seats.

use super::{
    StoredError, checked,
    codec::{Numbered, narrow, read_player},
    required,
    v1::{self, occupant::Kind},
};
use crate::{
    seat::{AiSeat, Invitation, Occupant, PlayerKind, Profile, Seat},
    text::{DisplayName, EngineVersion},
    timestamp::Timestamp,
};

/// Longest name of an AI kind, in bytes.
const MAX_AI_KIND: usize = 64;

impl From<&Profile> for v1::Profile {
    fn from(profile: &Profile) -> Self {
        let engine_version = profile.engine_version.as_ref().map(ToString::to_string);
        Self { id: profile.id.bits(), name: profile.name.to_string(), kind: profile.kind.number(), engine_version }
    }
}

impl v1::Profile {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Profile, StoredError> {
        Ok(Profile {
            id: read_player(self.id)?,
            name: DisplayName::from_stored(&self.name).map_err(|_| StoredError::Malformed("name of a player"))?,
            kind: PlayerKind::read(self.kind)?,
            engine_version: self
                .engine_version
                .map(|version| EngineVersion::from_stored(&version))
                .transpose()
                .map_err(|_| StoredError::Malformed("version of an engine"))?,
        })
    }
}

impl From<&AiSeat> for v1::Ai {
    fn from(ai: &AiSeat) -> Self {
        Self { kind: ai.kind.to_string(), level: ai.level.into(), seed: ai.seed }
    }
}

impl v1::Ai {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<AiSeat, StoredError> {
        let kind = self.kind.as_str();
        let plain = kind.len() <= MAX_AI_KIND && kind.bytes().all(|byte| byte.is_ascii_graphic());
        Ok(AiSeat { kind: checked(kind, plain, "AI")?.into(), level: narrow(self.level, "level")?, seed: self.seed })
    }
}

impl From<&Occupant> for v1::Occupant {
    fn from(occupant: &Occupant) -> Self {
        let kind = match occupant {
            Occupant::Open => Kind::Open(()),
            Occupant::Reserved(guest) => Kind::Reserved(guest.into()),
            Occupant::Invited(invitation) => Kind::Invited(invitation.into()),
            Occupant::Player(player) => Kind::Player(player.into()),
            Occupant::Ai(ai) => Kind::Ai(ai.into()),
        };
        Self { kind: Some(kind) }
    }
}

impl v1::Occupant {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Occupant, StoredError> {
        Ok(match required(self.kind, "occupant")? {
            Kind::Open(()) => Occupant::Open,
            Kind::Reserved(guest) => Occupant::Reserved(guest.read()?),
            Kind::Invited(invitation) => Occupant::Invited(invitation.read()?),
            Kind::Player(player) => Occupant::Player(player.read()?),
            Kind::Ai(ai) => Occupant::Ai(ai.read()?),
        })
    }
}

impl From<&Invitation> for v1::Invitation {
    fn from(Invitation { guest, by, by_rating, until }: &Invitation) -> Self {
        let by_rating = by_rating.map(Into::into);
        Self { guest: Some(guest.into()), by: by.bits(), by_rating, until: until.0 }
    }
}

impl v1::Invitation {
    fn read(self) -> Result<Invitation, StoredError> {
        Ok(Invitation {
            guest: required(self.guest, "guest")?.read()?,
            by: read_player(self.by)?,
            by_rating: self.by_rating.map(|rating| narrow(rating, "rating")).transpose()?,
            until: Timestamp(self.until),
        })
    }
}

impl From<&Seat> for v1::Seat {
    fn from(seat: &Seat) -> Self {
        Self {
            occupant: Some((&seat.occupant).into()),
            marked_ready: seat.marked_ready,
            wins: seat.wins.into(),
            draws: seat.draws.into(),
        }
    }
}

impl v1::Seat {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Seat, StoredError> {
        Ok(Seat {
            occupant: required(self.occupant, "occupant")?.read()?,
            marked_ready: self.marked_ready,
            wins: narrow(self.wins, "score")?,
            draws: narrow(self.draws, "score")?,
        })
    }
}
