//! Stored games, series and scores. A game's position is replayed from its record, in which every ply must be legal.

use std::time::Duration;

use reversi_engine::{
    match_statistics::{Points, Score},
    rules::{Bitboard, ByColor, Color, Position, Square},
};

use super::{
    StoredError, checked,
    codec::{Numbered, narrow, number_or_zero, read_squares, squares},
    required, v1,
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

impl v1::Game {
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
            given: (game.given != game.opening).then(|| game.given.into()),
            black_left: game.clocks.black.map(Into::into),
            white_left: game.clocks.white.map(Into::into),
            turn_began: game.turn_began.0,
            strikes: game.strikes.into(),
            draw_offer: number_or_zero(game.draw_offer),
            end: game.end.map(Into::into),
            thoughts: stored_thoughts(&game.thoughts),
            black: player(Color::Black),
            black_offer_closed: game.draw_closed_at.black.map(Into::into),
            white_offer_closed: game.draw_closed_at.white.map(Into::into),
            white: player(Color::White),
            take_back_offer: number_or_zero(game.take_back_offer),
            take_back_closed: game.take_back_closed_at.map(Into::into),
        }
    }

    /// The game of a room with these seats.
    pub(super) fn read(self, seats: &ByColor<Seat>) -> Result<Game, StoredError> {
        let player = |stored: Option<v1::Occupant>, side| match stored {
            Some(stored) => stored.read(),
            None => Ok(seats[side].occupant.clone()),
        };
        let players = ByColor::new(player(self.black, Color::Black)?, player(self.white, Color::White)?);
        let (plies, position, flipped) = read_record(&self.plies, &self.spent_ms)?;
        let opening: u16 = narrow(self.opening, "opening")?;
        let given = self.given.map_or(Ok(opening), |given| narrow(given, "opening"))?;
        let strikes = narrow(self.strikes, "strikes")?;
        let thoughts = read_thoughts(self.thoughts, plies.len())?;
        let end = self.end.map(v1::GameEnd::read).transpose()?;
        // A position that is over may still lack its end: that event may follow this room.
        let ended = end.is_none_or(|end| end.reason != EndReason::Discs || position.is_over());
        Ok(Game {
            players,
            number: checked(self.number, (1..=MAX_GAMES).contains(&self.number), "number of a game")?,
            started: Timestamp(self.started),
            position,
            flipped,
            opening: checked(opening, usize::from(opening) <= plies.len(), "opening")?,
            given: checked(given, given <= opening, "opening")?,
            clocks: ByColor::new(read_clock(self.black_left, plies.len())?, read_clock(self.white_left, plies.len())?),
            plies,
            turn_began: Timestamp(self.turn_began),
            strikes: checked(strikes, strikes <= Room::STRIKES, "strikes")?,
            draw_offer: Color::read_optional(self.draw_offer)?,
            draw_closed_at: ByColor::new(read_ply(self.black_offer_closed)?, read_ply(self.white_offer_closed)?),
            take_back_offer: Color::read_optional(self.take_back_offer)?,
            take_back_closed_at: read_ply(self.take_back_closed)?,
            thoughts,
            end: checked(end, ended, "end of a game")?,
        })
    }
}

fn read_ply(stored: Option<u32>) -> Result<Option<u16>, StoredError> {
    stored.map(|ply| narrow(ply, "offer")).transpose()
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

impl From<GameEnd> for v1::GameEnd {
    fn from(end: GameEnd) -> Self {
        Self { winner: number_or_zero(end.winner), reason: end.reason.number() }
    }
}

impl v1::GameEnd {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<GameEnd, StoredError> {
        Ok(GameEnd { winner: Color::read_optional(self.winner)?, reason: EndReason::read(self.reason)? })
    }
}

impl From<&[(u16, Thought)]> for v1::Thoughts {
    fn from(thoughts: &[(u16, Thought)]) -> Self {
        Self { thoughts: stored_thoughts(thoughts) }
    }
}

impl v1::Thoughts {
    /// Of a game of `plies` plies.
    pub(super) fn read(self, plies: usize) -> Result<Vec<(u16, Thought)>, StoredError> {
        read_thoughts(self.thoughts, plies)
    }
}

fn stored_thoughts(thoughts: &[(u16, Thought)]) -> Vec<v1::ThoughtOfPly> {
    let stored =
        |(ply, thought): &(u16, Thought)| v1::ThoughtOfPly { ply: (*ply).into(), thought: Some(thought.into()) };
    thoughts.iter().map(stored).collect()
}

/// In the order of the plies, at most one for each.
fn read_thoughts(stored: Vec<v1::ThoughtOfPly>, plies: usize) -> Result<Vec<(u16, Thought)>, StoredError> {
    let mut thoughts: Vec<(u16, Thought)> = Vec::with_capacity(stored.len().min(plies));
    for v1::ThoughtOfPly { ply, thought } in stored {
        let ply: u16 = narrow(ply, "thought")?;
        let follows = usize::from(ply) < plies && thoughts.last().is_none_or(|&(last, _)| last < ply);
        thoughts.push((checked(ply, follows, "thought")?, required(thought, "thought")?.read()?));
    }
    Ok(thoughts)
}

/// A clock begins within its bounds, and each ply adds no more than the longest increment.
fn read_clock(stored: Option<v1::Duration>, plies: usize) -> Result<Option<Duration>, StoredError> {
    let left = v1::Duration::read_optional(stored)?;
    let plies = u32::try_from(plies).unwrap_or(u32::MAX);
    let max = Settings::MAX_CLOCK + Settings::MAX_INCREMENT.saturating_mul(plies);
    checked(left, left.is_none_or(|left| left <= max), "clock")
}

impl From<Series> for v1::Series {
    fn from(series: Series) -> Self {
        Self { index: series.index.into(), games: series.games.into(), next_at: series.next_at.map(|at| at.0) }
    }
}

impl v1::Series {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Series, StoredError> {
        let (index, games): (u16, u16) = (narrow(self.index, "series")?, narrow(self.games, "series")?);
        let next_at = self.next_at.map(Timestamp);
        let first_unplayed = if next_at.is_some() { u32::from(index) + 1 } else { index.into() };
        checked(Series { index, games, next_at }, first_unplayed < games.into(), "series")
    }
}

impl From<&Thought> for v1::Thought {
    fn from(thought: &Thought) -> Self {
        Self {
            evaluation: thought.evaluation.map(Into::into),
            depth: thought.depth.into(),
            nodes: thought.nodes,
            line: squares(&thought.line),
            cut_short: thought.cut_short,
        }
    }
}

impl v1::Thought {
    pub(super) fn read(self) -> Result<Thought, StoredError> {
        let short = self.line.len() <= Thought::LINE;
        let line = checked(self.line, short, "line of a thought")?;
        let evaluation = self.evaluation.map(i16::try_from).transpose();
        Ok(Thought {
            evaluation: evaluation.map_err(|_| StoredError::Malformed("evaluation"))?,
            depth: narrow(self.depth, "depth")?,
            nodes: self.nodes,
            line: read_squares(&line)?.into(),
            cut_short: self.cut_short,
        })
    }
}

impl From<SeriesScore> for v1::Score {
    fn from(SeriesScore { first, score }: SeriesScore) -> Self {
        let Score { wins, draws, losses, pairs, half } = score;
        Self { first: first.number(), wins, draws, losses, pairs: pairs.to_vec(), half: number_or_zero(half) }
    }
}

impl v1::Score {
    pub(super) fn read(self) -> Result<SeriesScore, StoredError> {
        let pairs = required(<[u32; 5]>::try_from(self.pairs).ok(), "pairs of a score")?;
        let half = Points::read_optional(self.half)?;
        let score = Score { wins: self.wins, draws: self.draws, losses: self.losses, pairs, half };
        Ok(SeriesScore { first: Color::read(self.first)?, score })
    }
}
