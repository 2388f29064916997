//! Measures the deviations between shallow and deep values, from which the constants of `engine::probcut` are fitted.
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use super::super::{Certainty, Engine, Limits, Weights, probcut};
use super::Example;
use crate::rules::{Bitboard, Board, Color, Position};
use crate::search::Stop;

/// Coefficients of the logarithm of a deviation in discs: of 1, the empty squares, the logarithm of the deep depth, and
/// that of the shallow depth plus 1.
pub type Constants = [f64; 4];

/// The constants that this program uses.
#[must_use]
pub fn built_in() -> Constants {
    probcut::FITTED.map(f64::from)
}

/// The maximum search depth: deep enough for a trend, in some milliseconds.
pub const DEEPEST: u8 = 9;

/// The measured deviations, by empty squares and pairs of depths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deviations {
    positions: usize,
    found: Vec<Deviation>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Deviation {
    /// The number of differences measured.
    count: f64,
    /// The factor of each constant.
    terms: [f64; 4],
    /// The logarithm of the deviation in discs.
    logarithm: f64,
}

/// The values of one position in discs, by depth from 0 plies on.
#[derive(Clone, Debug, PartialEq)]
struct Values {
    empties: u8,
    discs: Vec<f32>,
}

impl Deviations {
    /// Searches about `positions` of the examples, spread evenly over those far enough from the end, on `threads`
    /// threads, whose number does not change the result. Calls `on_position` after every position.
    #[must_use]
    pub fn measure(
        weights: &Arc<Weights>,
        examples: &[Example],
        positions: usize,
        threads: usize,
        on_position: &(dyn Fn() + Sync),
    ) -> Self {
        let deep = |example: &&Example| example.board.empties().count_ones() > DEEPEST.into();
        let step = (examples.iter().filter(deep).count() / positions.max(1)).max(1);
        let chosen: Vec<_> = examples.iter().filter(deep).step_by(step).take(positions).collect();
        let mut all = vec![None; chosen.len()];
        let share = chosen.len().div_ceil(threads.max(1)).max(1);
        thread::scope(|scope| {
            for (examples, all) in chosen.chunks(share).zip(all.chunks_mut(share)) {
                scope.spawn(move || {
                    let mut engine = Engine::new(Arc::clone(weights), TABLE_BYTES);
                    for (example, values) in examples.iter().zip(all) {
                        *values = self::values(&mut engine, example);
                        on_position();
                    }
                });
            }
        });
        Self::of(&all.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Compares depths of equal parity, from 3 plies on, in groups of eight numbers of empty squares.
    fn of(all: &[Values]) -> Self {
        let mut found = Vec::new();
        for group in 0..8 {
            let values: Vec<_> = all.iter().filter(|values| values.empties / 8 == group).collect();
            if values.len() < MIN_SAMPLES {
                continue;
            }
            let deepest = values.iter().map(|values| values.discs.len()).min().unwrap_or(0);
            let depths = (3..deepest).flat_map(|deep| (1..deep).map(move |shallow| (deep, shallow)));
            for (deep, shallow) in depths.filter(|(deep, shallow)| deep % 2 == shallow % 2) {
                let squares = values.iter().map(|values| f64::from(values.discs[deep] - values.discs[shallow]).powi(2));
                let count = values.len() as f64;
                let logarithm = (squares.sum::<f64>() / count).sqrt().ln();
                let terms = [1.0, f64::from(group) * 8.0 + 4.0, (deep as f64).ln(), (shallow as f64 + 1.0).ln()];
                // A deviation of 0 has no logarithm.
                found.extend(logarithm.is_finite().then_some(Deviation { count, terms, logarithm }));
            }
        }
        Self { positions: all.len(), found }
    }

    /// The number of positions searched.
    #[must_use]
    pub const fn positions(&self) -> usize {
        self.positions
    }

    /// The constants fitted to the deviations; `None` if there are too few.
    #[must_use]
    pub fn constants(&self) -> Option<Constants> {
        let mut sums = [[0.0; 5]; 4];
        for Deviation { count, terms, logarithm } in &self.found {
            for (row, term) in sums.iter_mut().zip(terms) {
                let others = terms.iter().chain([logarithm]);
                row.iter_mut().zip(others).for_each(|(sum, other)| *sum += count * term * other);
            }
        }
        solved(sums)
    }

    /// The root mean square error of the logarithms of the deviations under these constants.
    #[must_use]
    pub fn distance(&self, constants: Constants) -> f64 {
        let count: f64 = self.found.iter().map(|found| found.count).sum();
        let squares = self.found.iter().map(|Deviation { count, terms, logarithm }| {
            let predicted: f64 = terms.iter().zip(constants).map(|(term, constant)| term * constant).sum();
            count * (logarithm - predicted).powi(2)
        });
        (squares.sum::<f64>() / count.max(1.0)).sqrt()
    }
}

/// Table size of each engine.
const TABLE_BYTES: usize = 4 << 20;

/// The minimum number of differences for a deviation to be used.
const MIN_SAMPLES: usize = 20;

/// Solves four equations by Gauss-Jordan elimination; those of a regression need no pivoting.
fn solved(mut rows: [[f64; 5]; 4]) -> Option<Constants> {
    // A pivot below this part of its original value is 0 but for rounding: the term depends on earlier ones.
    const ROUNDING: f64 = 1e-9;
    let squares = [0, 1, 2, 3].map(|pivot: usize| rows[pivot][pivot]);
    for (pivot, square) in squares.into_iter().enumerate() {
        let scale = rows[pivot][pivot];
        if scale <= ROUNDING * square {
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

/// Searches a position to every depth up to [`DEEPEST`]. `None` if the game ends earlier.
fn values(engine: &mut Engine, example: &Example) -> Option<Values> {
    let board = Board::new(Bitboard(example.board.own), Bitboard(example.board.opponent)).ok()?;
    let position = Position::new(board, Color::Black);
    let mut discs = vec![engine.evaluate(position)];
    let limits = Limits { depth: DEEPEST, solve_from: 0, least_certainty: Certainty::SURE, ..Limits::default() };
    engine.search(position, &limits, &Stop::new(), &mut |report| {
        discs.push(report.discs);
        ControlFlow::Continue(())
    })?;
    (discs.len() == usize::from(DEEPEST) + 1).then(|| Values { empties: board.empties().count(), discs })
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use super::super::super::tests::{random_board, seeds};
    use super::super::seed;
    use super::*;

    const KNOWN: Constants = [1.5, -0.02, 0.5, -0.5];

    fn deviation(empties: u8, deep: f64, shallow: f64) -> f64 {
        let [constant, by_empties, by_depth, by_shallow] = KNOWN;
        (constant + by_empties * f64::from(empties) + by_depth * deep.ln() + by_shallow * (shallow + 1.0).ln()).exp()
    }

    /// Positions with these numbers of empty squares: four of each, `times` times.
    fn known(empties: &[u8], times: usize) -> Vec<Values> {
        empties.iter().flat_map(|&empties| repeat_n(four(empties), times).flatten()).collect()
    }

    /// Four positions whose differences between all comparable depths up to 5 have exactly the known deviations: the
    /// differences from 1 to 3 plies and from 3 to 5 have independent signs.
    fn four(empties: u8) -> [Values; 4] {
        let of = |deep, shallow| deviation(empties, deep, shallow);
        let third = of(3.0, 1.0);
        let along = (of(5.0, 1.0).powi(2) + third.powi(2) - of(5.0, 3.0).powi(2)) / (2.0 * third);
        let across = (of(5.0, 1.0).powi(2) - along.powi(2)).sqrt();
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(one, other)| {
            let discs = [7.0, 0.0, 0.0, one * third, one * of(4.0, 2.0), one * along + other * across];
            Values { empties, discs: discs.map(|value| value as f32).to_vec() }
        })
    }

    #[test]
    fn known_constants_are_recovered() {
        let deviations = Deviations::of(&known(&[20, 28, 36], 5));
        let found = deviations.constants().unwrap();
        for (found, known) in found.iter().zip(KNOWN) {
            assert!((found - known).abs() < 1e-5, "{found} {known}");
        }
        assert!(deviations.distance(KNOWN) < 1e-5 && deviations.positions() == 60);
        let [constant, rest @ ..] = KNOWN;
        let other = deviations.distance([constant + 0.1, rest[0], rest[1], rest[2]]);
        assert!((other - 0.1).abs() < 1e-5, "{other}");
    }

    #[test]
    fn too_few_samples_give_no_result() {
        assert_eq!(Deviations::of(&[]).constants(), None);
        assert_eq!(Deviations::of(&known(&[20], 50)).constants(), None, "one group of empty squares");
        assert_eq!(Deviations::of(&known(&[20, 28, 36], 4)).constants(), None, "16 positions of each");
    }

    #[test]
    fn threads_do_not_change_the_result_and_late_positions_are_omitted() {
        let example = |seed| Example { board: random_board(seed, 8 + seed as u32 % 12), value: 0 };
        let examples: Vec<_> = seeds(60).map(example).collect();
        let measured =
            |positions, threads| Deviations::measure(&Arc::new(seed()), &examples, positions, threads, &|| {});
        let all = measured(1_000, 1);
        // 2 of 12 numbers of empty squares are too few for all depths.
        assert_eq!(all.positions(), 50);
        assert!(!all.found.is_empty());
        assert_eq!(measured(1_000, 3), all);
        assert_eq!((measured(7, 2).positions(), measured(0, 2).positions()), (7, 0));
    }
}
