//! Stored scores of series.

use super::{
    StoredError,
    codec::{Numbered, number_or_zero},
    required,
};
use crate::{
    rating::{Points, Score},
    room::series_score::SeriesScore,
    rules::Color,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredScore {
    #[prost(uint32, tag = "1")]
    first: u32,
    #[prost(uint32, tag = "2")]
    wins: u32,
    #[prost(uint32, tag = "3")]
    draws: u32,
    #[prost(uint32, tag = "4")]
    losses: u32,
    #[prost(uint32, repeated, tag = "5")]
    pairs: Vec<u32>,
    #[prost(uint32, tag = "6")]
    half: u32,
}

impl From<SeriesScore> for StoredScore {
    fn from(SeriesScore { first, score }: SeriesScore) -> Self {
        let Score { wins, draws, losses, pairs, half } = score;
        Self { first: first.number(), wins, draws, losses, pairs: pairs.to_vec(), half: number_or_zero(half) }
    }
}

impl StoredScore {
    pub(super) fn read(self) -> Result<SeriesScore, StoredError> {
        let pairs = required(<[u32; 5]>::try_from(self.pairs).ok(), "pairs of a score")?;
        let half = Points::read_optional(self.half)?;
        let score = Score { wins: self.wins, draws: self.draws, losses: self.losses, pairs, half };
        Ok(SeriesScore { first: Color::read(self.first)?, score })
    }
}
