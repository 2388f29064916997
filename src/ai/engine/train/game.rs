//! Games the engine plays against itself to learn from.
use rand::{Rng, RngExt};

use super::super::board::Board;
use super::super::searcher::{DISC, Value};
use super::super::{Engine, Limits};
use super::{Example, Recipe};
use crate::rules::{Bitboard, Position, Square};
use crate::search::Stop;

/// From this many empty squares on every position is labelled by solving it, and every other move is a random one: no good play need be
/// learned from any more.
const SOLVED: u8 = 12;

/// Solved positions with fewer empty squares than this teach nothing that the solver does not find at once.
const LAST: u8 = 3;

/// A game from a random opening: each position with its value. Up to [`SOLVED`] empty squares that is the result of the game when both
/// sides then play perfectly, mixed with the engine's own opinion; afterwards the perfect result from there.
pub(super) fn play(engine: &mut Engine, recipe: &Recipe, rng: &mut impl Rng) -> Vec<Example> {
    let (fewest, most) = recipe.random_plies;
    let plies = rng.random_range(fewest..=most);
    let mut position = Position::START;
    for _ in 0..plies {
        let Some(square) = any_move(position, rng) else {
            return Vec::new();
        };
        position = position.play_unchecked(square).settle().0;
    }
    let mut judged = Vec::new();
    while !position.is_over() && empties(position) > SOLVED {
        let Some((square, value)) = search(engine, position, recipe.depth) else {
            return Vec::new();
        };
        judged.push((position, value));
        position = position.play_unchecked(square).settle().0;
    }
    let Some((result, mut examples)) = play_out(engine, position, rng) else {
        return Vec::new();
    };
    for (before, opinion) in judged {
        let result = if before.turn() == position.turn() { result } else { -result };
        let value = (result * (100 - recipe.opinion) + opinion * recipe.opinion) / 100;
        examples.push(Example { board: before.into(), value });
    }
    examples
}

/// The value of the position and the examples that come after it.
fn play_out(engine: &mut Engine, mut position: Position, rng: &mut impl Rng) -> Option<(Value, Vec<Example>)> {
    let mut examples = Vec::new();
    if position.is_over() {
        return Some((Board::from(position).final_score() * DISC, examples));
    }
    let (mut best, result) = search(engine, position, SOLVED)?;
    let mut value = result;
    loop {
        examples.push(Example { board: position.into(), value });
        let square = if rng.random() { best } else { any_move(position, rng)? };
        position = position.play_unchecked(square).settle().0;
        if position.is_over() || empties(position) < LAST {
            return Some((result, examples));
        }
        (best, value) = search(engine, position, SOLVED)?;
    }
}

/// The best move to this depth, or to the end when that is as near, and its value.
fn search(engine: &mut Engine, position: Position, depth: u8) -> Option<(Square, Value)> {
    let report = engine
        .search(position, &Limits::of_depth(depth), &Stop::new(), &mut |_| std::ops::ControlFlow::Continue(()))?;
    Some((report.best, (report.discs * DISC as f32) as Value))
}

fn any_move(position: Position, rng: &mut impl Rng) -> Option<Square> {
    let moves: Bitboard = position.legal_moves();
    (!moves.is_empty()).then(|| moves.iter().nth(rng.random_range(0..usize::from(moves.count()))))?
}

fn empties(position: Position) -> u8 {
    position.board().empties().count()
}
