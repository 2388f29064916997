//! How far shallow values are from deep ones: the measurements behind [`super::super::cut`].
use std::ops::ControlFlow;

use super::super::engine::{Certainty, Engine, Limits};
use super::Example;
use crate::rules::{Bitboard, Board, Color, Position};
use crate::search::Stop;

/// The values of one position by depth, from 0 plies on, in discs.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// How many squares are empty.
    pub empties: u8,
    /// By depth; nothing was cut by probability.
    pub discs: Vec<f32>,
}

/// Searches a position to every depth up to this one. `None` when the game is over or over before that depth.
#[must_use]
pub fn values(engine: &mut Engine, example: &Example, deepest: u8) -> Option<Values> {
    let board = Board::new(Bitboard(example.board.own), Bitboard(example.board.opponent)).ok()?;
    let position = Position::new(board, Color::Black);
    let mut discs = vec![engine.evaluate(position)];
    let limits = Limits { depth: deepest, solve_from: 0, least_certainty: Certainty::SURE, ..Limits::default() };
    engine.search(position, &limits, &Stop::new(), &mut |report| {
        discs.push(report.discs);
        ControlFlow::Continue(())
    })?;
    (discs.len() == usize::from(deepest) + 1).then(|| Values { empties: board.empties().count(), discs })
}
