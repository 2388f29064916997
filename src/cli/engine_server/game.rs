//! The game on the table.

use crate::{
    room::ggf::GgfGame,
    rules::{Color, Position, Square},
};

/// Every position so far. It cannot grow beyond a game: each move is judged by the rules.
#[derive(Clone, Debug)]
pub(super) struct Record {
    positions: Vec<Position>,
}

impl Default for Record {
    fn default() -> Self {
        Self { positions: vec![Position::START] }
    }
}

impl From<&GgfGame> for Record {
    fn from(game: &GgfGame) -> Self {
        let mut record = Self { positions: vec![game.start] };
        for ply in &game.plies {
            // They were judged when they were read.
            let _ = record.play(record.position().turn(), ply.square);
        }
        record
    }
}

impl Record {
    /// Where it stands.
    pub(super) fn position(&self) -> Position {
        self.positions.last().copied().unwrap_or(Position::START)
    }

    /// Where it stood before each ply, and where it stands.
    pub(super) fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Makes a move of a side, or its pass. A pass that is forced before it need not be told, nor one behind the last
    /// move.
    pub(super) fn play(&mut self, side: Color, square: Option<Square>) -> Result<(), String> {
        let position = self.turned_to(side)?;
        let next = match square {
            Some(square) => position.play(square).map_err(|error| error.to_string())?,
            None if position.is_over() => return Ok(()),
            None => position.pass().ok_or_else(|| format!("{side} can move and may not pass"))?,
        };
        if position != self.position() {
            self.positions.push(position);
        }
        self.positions.push(next);
        Ok(())
    }

    /// The position with this side to move, behind a forced pass if need be.
    pub(super) fn turned_to(&self, side: Color) -> Result<Position, String> {
        let position = self.position();
        match position.pass() {
            _ if position.turn() == side => Ok(position),
            Some(passed) => Ok(passed),
            None if position.is_over() => Ok(position.pass_unchecked()),
            None => Err(format!("it is the turn of {}", position.turn())),
        }
    }

    /// Takes the last ply back; whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        let played = self.positions.len() > 1;
        self.positions.truncate(self.positions.len().saturating_sub(1).max(1));
        played
    }

    /// As it was after so many plies.
    pub(super) fn cut(&mut self, plies: usize) {
        self.positions.truncate(plies.saturating_add(1));
    }
}
