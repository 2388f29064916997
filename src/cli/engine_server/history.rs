//! The current game.

use crate::{
    room::ggf::GgfGame,
    rules::{Color, Position, Square},
};

/// Every position so far. Its length is bounded, because moves must be legal.
#[derive(Clone, Debug)]
pub(super) struct GameHistory {
    positions: Vec<Position>,
}

impl Default for GameHistory {
    fn default() -> Self {
        Self { positions: vec![Position::START] }
    }
}

impl From<&GgfGame> for GameHistory {
    fn from(game: &GgfGame) -> Self {
        let mut history = Self { positions: vec![game.start] };
        for ply in &game.plies {
            // Checked when the game was read.
            let _ = history.play(history.position().turn(), ply.square);
        }
        history
    }
}

impl GameHistory {
    pub(super) fn position(&self) -> Position {
        self.positions.last().copied().unwrap_or(Position::START)
    }

    /// The positions before each ply, and the current one.
    pub(super) fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Plays a move of a side, or its pass if `None`. A forced pass before it may be omitted, as may one at the end.
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

    /// The position with `side` to move, after a forced pass if necessary.
    pub(super) fn turned_to(&self, side: Color) -> Result<Position, String> {
        let position = self.position();
        match position.pass() {
            _ if position.turn() == side => Ok(position),
            Some(passed) => Ok(passed),
            None if position.is_over() => Ok(position.pass_unchecked()),
            None => Err(format!("it is the turn of {}", position.turn())),
        }
    }

    /// Takes back the last ply; false if there is none.
    pub(super) fn undo(&mut self) -> bool {
        let played = self.positions.len() > 1;
        self.positions.truncate(self.positions.len().saturating_sub(1).max(1));
        played
    }

    /// Keeps the first `plies` plies.
    pub(super) fn truncate(&mut self, plies: usize) {
        self.positions.truncate(plies.saturating_add(1));
    }
}
