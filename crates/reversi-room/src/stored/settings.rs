//! Stored settings and limits.

use reversi_engine::{rating::Sprt, rules::Transcript};

use super::{
    StoredError,
    codec::{Numbered, StoredDuration, narrow, read_squares, squares},
    required,
};
use crate::{
    settings::{Opening, PasswordHash, Policy, Settings, Visibility, Watching},
    text::RoomName,
    time_control::TimeControl,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredSettings {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint32, tag = "2")]
    visibility: u32,
    #[prost(uint32, tag = "3")]
    watching: u32,
    #[prost(bytes = "vec", optional, tag = "4")]
    password: Option<Vec<u8>>,
    #[prost(message, optional, tag = "5")]
    per_move: Option<StoredDuration>,
    #[prost(message, optional, tag = "6")]
    total: Option<StoredDuration>,
    #[prost(message, optional, tag = "7")]
    increment: Option<StoredDuration>,
    #[prost(message, optional, tag = "8")]
    ai_pause: Option<StoredDuration>,
    #[prost(uint32, tag = "9")]
    games: u32,
    #[prost(bool, tag = "10")]
    swap_sides: bool,
    /// None for the standard start.
    #[prost(oneof = "StoredOpening", tags = "11, 12, 15")]
    opening: Option<StoredOpening>,
    #[prost(bool, tag = "13")]
    auto_start: bool,
    #[prost(bool, tag = "14")]
    rated: bool,
    #[prost(message, optional, tag = "16")]
    sprt: Option<StoredSprt>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum StoredOpening {
    #[prost(bytes, tag = "11")]
    Moves(Vec<u8>),
    #[prost(message, tag = "12")]
    Random(StoredRandom),
    #[prost(fixed64, tag = "15")]
    Balanced(u64),
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredRandom {
    #[prost(uint32, tag = "1")]
    plies: u32,
    #[prost(fixed64, tag = "2")]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct StoredSprt {
    #[prost(double, tag = "1")]
    elo0: f64,
    #[prost(double, tag = "2")]
    elo1: f64,
    #[prost(double, tag = "3")]
    alpha: f64,
    #[prost(double, tag = "4")]
    beta: f64,
}

impl From<Sprt> for StoredSprt {
    fn from(sprt: Sprt) -> Self {
        Self { elo0: sprt.elo0(), elo1: sprt.elo1(), alpha: sprt.alpha(), beta: sprt.beta() }
    }
}

impl StoredSprt {
    fn read(self) -> Result<Sprt, StoredError> {
        required(Sprt::new(self.elo0, self.elo1, self.alpha, self.beta).ok(), "sprt")
    }
}

impl From<&Settings> for StoredSettings {
    fn from(settings: &Settings) -> Self {
        let opening = match &settings.opening {
            Opening::Standard => None,
            Opening::Moves(moves) => Some(StoredOpening::Moves(squares(moves.squares()))),
            Opening::Random { plies, seed } => {
                Some(StoredOpening::Random(StoredRandom { plies: (*plies).into(), seed: *seed }))
            }
            Opening::Balanced { seed } => Some(StoredOpening::Balanced(*seed)),
        };
        let given = |duration: std::time::Duration| (!duration.is_zero()).then(|| duration.into());
        Self {
            name: settings.name.to_string(),
            visibility: settings.visibility.number(),
            watching: settings.watching.number(),
            password: settings.password.as_ref().map(|hash| hash.0.to_vec()),
            per_move: settings.time.per_move.map(Into::into),
            total: settings.time.total.map(Into::into),
            increment: given(settings.time.increment),
            ai_pause: given(settings.ai_pause),
            games: settings.games.into(),
            swap_sides: settings.swap_sides,
            opening,
            auto_start: settings.auto_start,
            rated: settings.rated,
            sprt: settings.sprt.map(Into::into),
        }
    }
}

impl StoredSettings {
    /// Settings were within bounds when written: a tightened bound must still accept those of existing rooms.
    pub(super) fn read(self) -> Result<Settings, StoredError> {
        let settings = Settings {
            name: RoomName::from_stored(&self.name).map_err(|_| StoredError::Malformed("name of a room"))?,
            visibility: Visibility::read(self.visibility)?,
            watching: Watching::read(self.watching)?,
            password: self.password.map(|hash| PasswordHash(hash.into())),
            time: TimeControl {
                per_move: StoredDuration::read_optional(self.per_move)?,
                total: StoredDuration::read_optional(self.total)?,
                increment: StoredDuration::read_or_zero(self.increment)?,
            },
            ai_pause: StoredDuration::read_or_zero(self.ai_pause)?,
            games: narrow(self.games, "games of a series")?,
            swap_sides: self.swap_sides,
            opening: read_opening(self.opening)?,
            auto_start: self.auto_start,
            rated: self.rated,
            sprt: self.sprt.map(StoredSprt::read).transpose()?,
        };
        settings.check().map_err(|error| StoredError::Malformed(error.field))?;
        Ok(settings)
    }
}

fn read_opening(stored: Option<StoredOpening>) -> Result<Opening, StoredError> {
    Ok(match stored {
        None => Opening::Standard,
        Some(StoredOpening::Moves(bytes)) => {
            let moves = Transcript::from_squares(read_squares(&bytes)?);
            Opening::Moves(required(moves.ok(), "opening")?)
        }
        Some(StoredOpening::Random(random)) => {
            Opening::Random { plies: narrow(random.plies, "opening")?, seed: random.seed }
        }
        Some(StoredOpening::Balanced(seed)) => Opening::Balanced { seed },
    })
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct StoredPolicy {
    #[prost(message, optional, tag = "1")]
    grace: Option<StoredDuration>,
    #[prost(message, optional, tag = "2")]
    idle_close: Option<StoredDuration>,
    #[prost(uint32, tag = "3")]
    members: u32,
}

impl From<Policy> for StoredPolicy {
    fn from(policy: Policy) -> Self {
        Self {
            grace: Some(policy.grace.into()),
            idle_close: Some(policy.idle_close.into()),
            members: policy.members.into(),
        }
    }
}

impl StoredPolicy {
    pub(super) fn read(self) -> Result<Policy, StoredError> {
        Ok(Policy {
            grace: StoredDuration::read_or_zero(self.grace)?,
            idle_close: StoredDuration::read_or_zero(self.idle_close)?,
            members: narrow(self.members, "policy")?,
        })
    }
}
