//! Stored games, series and scores. A game's position is replayed from its record, in which every ply must be legal.

use std::time::Duration;

use reversi_engine::{
    rating::{Points, Score},
    rules::{Bitboard, ByColor, Color, Position, Square},
};

use super::{
    StoredError, checked,
    codec::{Numbered, StoredDuration, StoredPair, narrow, number_or_zero, read_squares, squares},
    required,
    seat::StoredOccupant,
};
use crate::{
    game::{EndReason, Game, GameEnd, Ply, flipped},
    seat::Seat,
    series_score::SeriesScore,
    settings::Settings,
    state::{Room, Series},
    thought::Thought,
    timestamp::Timestamp,
};

/// A pass among the squares of a record.
const PASS: u8 = 64;

/// The highest game number accepted: far beyond what a room can reach, and far below overflow.
const MAX_GAMES: u32 = 1 << 31;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredGame {
    #[prost(uint32, tag = "1")]
    number: u32,
    #[prost(int64, tag = "2")]
    started: i64,
    /// One byte for each ply: the square, or [`PASS`].
    #[prost(bytes = "vec", tag = "3")]
    plies: Vec<u8>,
    /// One for each ply.
    #[prost(uint32, repeated, tag = "4")]
    spent_ms: Vec<u32>,
    #[prost(uint32, tag = "5")]
    opening: u32,
    #[prost(message, optional, tag = "6")]
    black_left: Option<StoredDuration>,
    #[prost(message, optional, tag = "7")]
    white_left: Option<StoredDuration>,
    #[prost(int64, tag = "8")]
    turn_began: i64,
    #[prost(uint32, tag = "9")]
    strikes: u32,
    #[prost(uint32, tag = "10")]
    draw_offer: u32,
    #[prost(message, optional, tag = "11")]
    end: Option<StoredPair>,
    #[prost(message, repeated, tag = "12")]
    thoughts: Vec<ThoughtOfPly>,
    /// Who plays black, if that is not the occupant of the seat; so for white.
    #[prost(message, optional, tag = "13")]
    black: Option<StoredOccupant>,
    #[prost(message, optional, tag = "14")]
    white: Option<StoredOccupant>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ThoughtOfPly {
    #[prost(uint32, tag = "1")]
    ply: u32,
    #[prost(message, optional, tag = "2")]
    thought: Option<StoredThought>,
}

impl StoredGame {
    /// The game of a room with these seats.
    pub(super) fn of(game: &Game, seats: &ByColor<Seat>) -> Self {
        let player = |side: Color| {
            let player = &game.players[side];
            (*player != seats[side].occupant).then(|| player.into())
        };
        Self {
            number: game.number,
            started: game.started.0,
            plies: game.plies.iter().map(|ply| ply.square.map_or(PASS, Square::index)).collect(),
            spent_ms: game.plies.iter().map(|ply| ply.spent_ms).collect(),
            opening: game.opening.into(),
            black_left: game.clocks.black.map(Into::into),
            white_left: game.clocks.white.map(Into::into),
            turn_began: game.turn_began.0,
            strikes: game.strikes.into(),
            draw_offer: number_or_zero(game.draw_offer),
            end: game.end.map(stored_end),
            thoughts: stored_thoughts(&game.thoughts),
            black: player(Color::Black),
            white: player(Color::White),
        }
    }

    /// The game of a room with these seats.
    pub(super) fn read(self, seats: &ByColor<Seat>) -> Result<Game, StoredError> {
        let player = |stored: Option<StoredOccupant>, side| match stored {
            Some(stored) => stored.read(),
            None => Ok(seats[side].occupant.clone()),
        };
        let players = ByColor::new(player(self.black, Color::Black)?, player(self.white, Color::White)?);
        let (plies, position, flipped) = read_record(&self.plies, &self.spent_ms)?;
        let opening: u16 = narrow(self.opening, "opening")?;
        let strikes = narrow(self.strikes, "strikes")?;
        let thoughts = read_thoughts(self.thoughts, plies.len())?;
        let end = self.end.map(read_end).transpose()?;
        // A position that is over may still lack its end: that event may follow this room.
        let ended = end.is_none_or(|end| end.reason != EndReason::Discs || position.is_over());
        Ok(Game {
            players,
            number: checked(self.number, (1..=MAX_GAMES).contains(&self.number), "number of a game")?,
            started: Timestamp(self.started),
            position,
            flipped,
            opening: checked(opening, usize::from(opening) <= plies.len(), "opening")?,
            clocks: ByColor::new(read_clock(self.black_left, plies.len())?, read_clock(self.white_left, plies.len())?),
            plies,
            turn_began: Timestamp(self.turn_began),
            strikes: checked(strikes, strikes <= Room::STRIKES, "strikes")?,
            draw_offer: Color::read_optional(self.draw_offer)?,
            thoughts,
            end: checked(end, ended, "end of a game")?,
        })
    }
}

fn read_record(plies: &[u8], spent_ms: &[u32]) -> Result<(Vec<Ply>, Position, Bitboard), StoredError> {
    checked((), plies.len() == spent_ms.len(), "times of a game")?;
    let (mut position, mut last_flipped) = (Position::START, Bitboard::EMPTY);
    let mut record = Vec::with_capacity(plies.len().max(Game::CAPACITY));
    for (&ply, &spent_ms) in plies.iter().zip(spent_ms) {
        let square = Square::new(ply);
        let next = match square {
            Some(square) => position.play(square).ok(),
            None if ply == PASS => position.pass(),
            None => None,
        };
        let next = required(next, "record of a game")?;
        last_flipped = flipped(position, next);
        position = next;
        record.push(Ply { square, spent_ms });
    }
    Ok((record, position, last_flipped))
}

pub(super) fn stored_end(end: GameEnd) -> StoredPair {
    StoredPair::new(number_or_zero(end.winner), end.reason.number())
}

pub(super) fn read_end(stored: StoredPair) -> Result<GameEnd, StoredError> {
    Ok(GameEnd { winner: Color::read_optional(stored.first)?, reason: EndReason::read(stored.second)? })
}

/// The search reports of a finished game.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredThoughts {
    #[prost(message, repeated, tag = "1")]
    thoughts: Vec<ThoughtOfPly>,
}

impl From<&[(u16, Thought)]> for StoredThoughts {
    fn from(thoughts: &[(u16, Thought)]) -> Self {
        Self { thoughts: stored_thoughts(thoughts) }
    }
}

impl StoredThoughts {
    /// Of a game of `plies` plies.
    pub(super) fn read(self, plies: usize) -> Result<Vec<(u16, Thought)>, StoredError> {
        read_thoughts(self.thoughts, plies)
    }
}

fn stored_thoughts(thoughts: &[(u16, Thought)]) -> Vec<ThoughtOfPly> {
    let stored = |(ply, thought): &(u16, Thought)| ThoughtOfPly { ply: (*ply).into(), thought: Some(thought.into()) };
    thoughts.iter().map(stored).collect()
}

/// In the order of the plies, at most one for each.
fn read_thoughts(stored: Vec<ThoughtOfPly>, plies: usize) -> Result<Vec<(u16, Thought)>, StoredError> {
    let mut thoughts: Vec<(u16, Thought)> = Vec::with_capacity(stored.len().min(plies));
    for ThoughtOfPly { ply, thought } in stored {
        let ply: u16 = narrow(ply, "thought")?;
        let follows = usize::from(ply) < plies && thoughts.last().is_none_or(|&(last, _)| last < ply);
        thoughts.push((checked(ply, follows, "thought")?, required(thought, "thought")?.read()?));
    }
    Ok(thoughts)
}

/// A clock begins within its bounds, and each ply adds no more than the longest increment.
fn read_clock(stored: Option<StoredDuration>, plies: usize) -> Result<Option<Duration>, StoredError> {
    let left = StoredDuration::read_optional(stored)?;
    let plies = u32::try_from(plies).unwrap_or(u32::MAX);
    let max = Settings::MAX_CLOCK + Settings::MAX_INCREMENT.saturating_mul(plies);
    checked(left, left.is_none_or(|left| left <= max), "clock")
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct StoredSeries {
    #[prost(uint32, tag = "1")]
    index: u32,
    #[prost(uint32, tag = "2")]
    games: u32,
    #[prost(int64, optional, tag = "3")]
    next_at: Option<i64>,
}

impl From<Series> for StoredSeries {
    fn from(series: Series) -> Self {
        Self { index: series.index.into(), games: series.games.into(), next_at: series.next_at.map(|at| at.0) }
    }
}

impl StoredSeries {
    pub(super) fn read(self) -> Result<Series, StoredError> {
        let (index, games): (u16, u16) = (narrow(self.index, "series")?, narrow(self.games, "series")?);
        let next_at = self.next_at.map(Timestamp);
        let first_unplayed = if next_at.is_some() { u32::from(index) + 1 } else { index.into() };
        checked(Series { index, games, next_at }, first_unplayed < games.into(), "series")
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredThought {
    #[prost(sint32, optional, tag = "1")]
    evaluation: Option<i32>,
    #[prost(uint32, tag = "2")]
    depth: u32,
    #[prost(uint64, tag = "3")]
    nodes: u64,
    /// One byte for each square.
    #[prost(bytes = "vec", tag = "4")]
    line: Vec<u8>,
}

impl From<&Thought> for StoredThought {
    fn from(thought: &Thought) -> Self {
        Self {
            evaluation: thought.evaluation.map(Into::into),
            depth: thought.depth.into(),
            nodes: thought.nodes,
            line: squares(&thought.line),
        }
    }
}

impl StoredThought {
    pub(super) fn read(self) -> Result<Thought, StoredError> {
        let short = self.line.len() <= Thought::LINE;
        let line = checked(self.line, short, "line of a thought")?;
        let evaluation = self.evaluation.map(i16::try_from).transpose();
        Ok(Thought {
            evaluation: evaluation.map_err(|_| StoredError::Malformed("evaluation"))?,
            depth: narrow(self.depth, "depth")?,
            nodes: self.nodes,
            line: read_squares(&line)?.into(),
        })
    }
}

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
