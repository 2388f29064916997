//! How far shallow values are from deep ones: the measurements behind `engine::cut`.
use std::ops::ControlFlow;

use super::super::{Certainty, Engine, Limits};
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

/// The constants of `engine::cut` nearest to the deviations found: of 1, the empty squares, the logarithm of the deep depth and
/// that of the shallow one plus 1. `None` when there are too few values.
///
/// Depths of one parity are compared, from 3 plies on, in groups of eight empty squares.
#[must_use]
pub fn fit(all: &[Values]) -> Option<[f64; 4]> {
    let mut sums = [[0.0; 5]; 4];
    for group in 0..8 {
        let values: Vec<_> = all.iter().filter(|values| values.empties / 8 == group).collect();
        let deepest = values.iter().map(|values| values.discs.len()).min().unwrap_or(0);
        for (deep, shallow) in (3..deepest).flat_map(|deep| (1..deep).map(move |shallow| (deep, shallow))) {
            if values.len() < FEWEST || deep % 2 != shallow % 2 {
                continue;
            }
            let squares = values.iter().map(|values| f64::from(values.discs[deep] - values.discs[shallow]).powi(2));
            let deviation = (squares.sum::<f64>() / values.len() as f64).sqrt();
            let terms =
                [1.0, f64::from(group) * 8.0 + 4.0, (deep as f64).ln(), (shallow as f64 + 1.0).ln(), deviation.ln()];
            for (row, term) in sums.iter_mut().zip(terms) {
                row.iter_mut().zip(terms).for_each(|(sum, other)| *sum += values.len() as f64 * term * other);
            }
        }
    }
    solved(sums)
}

/// Fewer differences than this say too little of their deviation.
const FEWEST: usize = 20;

/// Gauss and Jordan's elimination of four equations; those of a regression need no change of rows.
fn solved(mut rows: [[f64; 5]; 4]) -> Option<[f64; 4]> {
    for pivot in 0..4 {
        let scale = rows[pivot][pivot];
        if scale.abs() < 1e-9 {
            return None;
        }
        rows[pivot] = rows[pivot].map(|value| value / scale);
        let eliminated = rows[pivot];
        for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(eliminated).for_each(|(value, other)| *value -= factor * other);
        }
    }
    Some(rows.map(|row| row[4]))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Values whose differences alternate in sign and have just the deviation of known constants.
    #[test]
    fn known_constants_are_found_again() {
        let constants = [1.5_f64, -0.02, 0.5, -0.5];
        let deviation = |empties: f64, deep: f64, shallow: f64| {
            (constants[0] + constants[1] * empties + constants[2] * deep.ln() + constants[3] * (shallow + 1.0).ln())
                .exp()
        };
        let all: Vec<_> = [20.0, 28.0, 36.0]
            .into_iter()
            .flat_map(|empties: f64| {
                [1.0, -1.0].repeat(20).into_iter().map(move |sign| {
                    let one = sign * deviation(empties, 3.0, 1.0);
                    let two = sign * deviation(empties, 4.0, 2.0);
                    let discs = [0.0, 0.0, 0.0, one, two].map(|value| value as f32).to_vec();
                    Values { empties: empties as u8, discs }
                })
            })
            .collect();
        // Two pairs of depths leave one constant open; a third fixes it.
        assert_eq!(fit(&[]), None);
        let more = all.iter().map(|values| {
            let fifth = values.discs[3] + values.discs[3].signum() * deviation(values.empties.into(), 5.0, 3.0) as f32;
            Values { empties: values.empties, discs: [values.discs.clone(), vec![fifth]].concat() }
        });
        let found = fit(&more.collect::<Vec<_>>()).unwrap();
        assert!((found[1] - constants[1]).abs() < 0.001, "{found:?}");
    }
}
