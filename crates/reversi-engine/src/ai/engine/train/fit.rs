//! The regression: fits weights to the values by least squares.
//!
//! The normal equations of one stage, with a ridge towards the weights of the stage after it, are solved by conjugate
//! gradients (Hestenes and Stiefel, 1952) preconditioned by their diagonal. A weight with few examples thus stays near
//! that of the later stage, in which the same pattern is more frequent.
use super::super::board::Board;
use super::super::cpu::Portable;
use super::super::evaluation::{Node, mobility};
use super::super::pattern::{IMAGES, PATTERNS};
use super::super::weights::{DISC, MAX_MOBILITY, stage_len};
use super::Example;

/// The number of weights that add up to a position's value.
const TERMS: usize = IMAGES + 3;

/// The examples of one stage, each as the indices of its weights.
pub(super) struct Equations {
    rows: Vec<[u32; TERMS]>,
    values: Vec<f32>,
}

impl Equations {
    pub(super) fn new<'a>(examples: impl Iterator<Item = &'a Example>) -> Self {
        let (rows, values) = examples.map(|example| (terms(example.board), example.value as f32 / DISC as f32)).unzip();
        Self { rows, values }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The weights, in discs, fitted to the examples and to `prior` in `steps` steps.
    pub(super) fn solve(&self, prior: &[f32], ridge: f32, steps: usize) -> Vec<f32> {
        let mut weights = prior.to_vec();
        let mut residual = self.transposed(&self.errors(prior));
        let inverse = self.diagonal(ridge);
        let mut direction = product(&residual, &inverse);
        let mut norm = dot(&residual, &direction);
        for _ in 0..steps {
            if norm <= 1e-6 {
                break;
            }
            let mut image = self.transposed(&self.applied(&direction));
            add(&mut image, ridge, &direction);
            let step = norm / dot(&direction, &image);
            add(&mut weights, step as f32, &direction);
            add(&mut residual, -step as f32, &image);
            let scaled = product(&residual, &inverse);
            let next = dot(&residual, &scaled);
            let ratio = (next / norm) as f32;
            direction.iter_mut().zip(&scaled).for_each(|(old, new)| *old = new + ratio * *old);
            norm = next;
        }
        weights
    }

    /// The root mean square error in discs.
    pub(super) fn loss(&self, weights: &[f32]) -> f32 {
        let errors = self.errors(weights);
        (dot(&errors, &errors) / errors.len().max(1) as f64).sqrt() as f32
    }

    fn errors(&self, weights: &[f32]) -> Vec<f32> {
        self.applied(weights).iter().zip(&self.values).map(|(sum, value)| value - sum).collect()
    }

    fn applied(&self, weights: &[f32]) -> Vec<f32> {
        self.rows.iter().map(|row| row.iter().map(|&term| weights[term as usize]).sum()).collect()
    }

    fn transposed(&self, values: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; stage_len()];
        for (row, value) in self.rows.iter().zip(values) {
            row.iter().for_each(|&term| sums[term as usize] += value);
        }
        sums
    }

    fn diagonal(&self, ridge: f32) -> Vec<f32> {
        let counts = self.transposed(&vec![1.0; self.rows.len()]);
        counts.iter().map(|count| 1.0 / (count + ridge)).collect()
    }
}

/// The indices of the weights whose sum is the position's value.
fn terms(board: Board) -> [u32; TERMS] {
    let node = Node::new(board);
    let numbers = node.numbers();
    let mut terms = [0; TERMS];
    for (image, term) in terms[..IMAGES].iter_mut().enumerate() {
        *term = PATTERNS.shared[PATTERNS.offsets[image] as usize + usize::from(numbers[image])];
    }
    let after = PATTERNS.weights;
    let opponent = MAX_MOBILITY + 1 + mobility(board.pass().moves(Portable));
    let odd = board.empties().count_ones() as usize & 1;
    terms[IMAGES] = (after + mobility(board.moves(Portable))) as u32;
    terms[IMAGES + 1] = (after + opponent) as u32;
    terms[IMAGES + 2] = (after + 2 * (MAX_MOBILITY + 1) + odd) as u32;
    terms
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn product(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(a, b)| a * b).collect()
}

fn add(to: &mut [f32], factor: f32, what: &[f32]) {
    to.iter_mut().zip(what).for_each(|(sum, value)| *sum += factor * value);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{random_board, seeds};
    use super::*;
    use crate::rules::SplitMix64;

    /// Weights from -2 to 2 discs, with distinct sums.
    fn known() -> Vec<f32> {
        let mut random = SplitMix64::new(3);
        (0..stage_len()).map(|_| random.next() as f32 / u64::MAX as f32 * 4.0 - 2.0).collect()
    }

    /// Positions with the sums of these weights.
    fn equations(weights: &[f32]) -> Equations {
        let boards: Vec<_> = seeds(300).map(|seed| random_board(seed, 20 + seed as u32 % 4)).collect();
        let examples: Vec<_> = boards
            .iter()
            .map(|&board| {
                let discs: f32 = terms(board).iter().map(|&term| weights[term as usize]).sum();
                Example { board, value: (discs * DISC as f32).round() as i32 }
            })
            .collect();
        Equations::new(examples.iter())
    }

    #[test]
    fn the_sums_of_known_weights_are_recovered() {
        let equations = equations(&known());
        let nothing = vec![0.0; stage_len()];
        let found = equations.solve(&nothing, 0.01, 200);
        let rounding = 0.5 / DISC as f32;
        assert!(equations.loss(&nothing) > 1.0 && equations.loss(&found) < 2.0 * rounding);
        assert_eq!(equations.solve(&nothing, 0.01, 200), found, "the same result in a second run");
        // A prior that agrees with the examples does not change.
        let same = equations.solve(&known(), 10.0, 200);
        assert!(same.iter().zip(known()).all(|(found, known)| (found - known).abs() < rounding));
    }

    /// At the minimum the gradient is 0: the parts of the errors and of the ridge cancel.
    #[test]
    fn the_ridge_and_the_errors_balance_at_every_weight() {
        let equations = equations(&known());
        let prior: Vec<_> = known().iter().rev().map(|weight| weight / 4.0).collect();
        for ridge in [1.0, 50.0] {
            let found = equations.solve(&prior, ridge, 300);
            let wanted = equations.transposed(&equations.errors(&found));
            for ((found, prior), wanted) in found.iter().zip(&prior).zip(wanted) {
                assert!((ridge * (found - prior) - wanted).abs() < 0.02, "{ridge} {found} {prior} {wanted}");
            }
        }
    }

    #[test]
    fn without_examples_the_weights_do_not_change() {
        let nothing = Equations::new([].iter());
        assert_eq!(nothing.solve(&known(), 200.0, 20), known());
        assert_eq!((nothing.len(), nothing.loss(&known())), (0, 0.0));
    }
}
