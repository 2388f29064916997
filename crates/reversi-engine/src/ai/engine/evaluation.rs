//! The static evaluation: a sum of weights of patterns, mobility and parity.
use super::board::{Board, Squares};
use super::cpu::Cpu;
use super::pattern::{EXPANDED, IMAGES, LANES, PATTERNS, Patterns};
use super::weights::{DISC, MAX_MOBILITY, Value, Weights};

/// A position with the indices of its patterns, updated incrementally by each move.
///
/// Own and the opponent's discs have separate sums, so that a change of sides is a swap and one table of weights serves
/// both colours.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) board: Board,
    own: Sums,
    opponent: Sums,
}

#[derive(Clone, Copy)]
#[repr(align(32))]
struct Sums([u16; LANES]);

impl Node {
    pub(super) fn new(board: Board) -> Self {
        let sum = |discs| {
            let mut sums = Sums([0; LANES]);
            Squares(discs).for_each(|square| sums.add(&PATTERNS.digits[usize::from(square)]));
            sums
        };
        Self { board, own: sum(board.own), opponent: sum(board.opponent) }
    }

    #[inline(always)]
    pub(super) fn play(&self, patterns: &Patterns, square: u8, flips: u64) -> Self {
        let mut turned = Sums([0; LANES]);
        for flipped in Squares(flips) {
            turned.add(&patterns.digits[usize::from(flipped & 63)]);
        }
        let (mut own, mut opponent) = (self.opponent, self.own);
        own.subtract(&turned.0);
        opponent.add(&turned.0);
        opponent.add(&patterns.digits[usize::from(square & 63)]);
        Self { board: self.board.play(square, flips), own, opponent }
    }

    #[inline(always)]
    pub(super) fn pass(&self) -> Self {
        Self { board: self.board.pass(), own: self.opponent, opponent: self.own }
    }

    /// The indices of the patterns, in the order of the images.
    #[inline(always)]
    pub(super) fn numbers(&self) -> [u16; LANES] {
        let mut numbers = self.own.0;
        for (number, opponent) in numbers.iter_mut().zip(&self.opponent.0) {
            *number = number.wrapping_add(opponent.wrapping_mul(2));
        }
        numbers
    }

    /// The value for the side to move, always less than a win by 64 discs.
    #[inline(always)]
    pub(super) fn evaluate(&self, cpu: impl Cpu, patterns: &Patterns, weights: &Weights) -> Value {
        const MAX: Value = 64 * DISC - 1;
        let empties = self.board.empties().count_ones();
        let stage = weights.stage(empties);
        let numbers = self.numbers();
        let mut sum = 0;
        for (number, offset) in numbers[..IMAGES].iter().zip(&patterns.offsets) {
            let place = *offset as usize + usize::from(*number);
            sum += Value::from(stage.patterns[place & (EXPANDED - 1)]);
        }
        let own = mobility(self.board.moves(cpu));
        let opponent = mobility(self.board.pass().moves(cpu));
        sum += Value::from(stage.mobility[0][own]) + Value::from(stage.mobility[1][opponent]);
        sum += Value::from(stage.parity[empties as usize & 1]);
        sum.clamp(-MAX, MAX)
    }
}

/// The number of moves, as an index of the weights.
#[inline(always)]
pub(super) fn mobility(moves: u64) -> usize {
    (moves.count_ones() as usize).min(MAX_MOBILITY)
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, digits: &[u16; LANES]) {
        for (sum, digit) in self.0.iter_mut().zip(digits) {
            *sum = sum.wrapping_add(*digit);
        }
    }

    #[inline(always)]
    fn subtract(&mut self, digits: &[u16; LANES]) {
        for (sum, digit) in self.0.iter_mut().zip(digits) {
            *sum = sum.wrapping_sub(*digit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpu::Portable;
    use super::super::pattern::PATTERNS;
    use super::super::tests::{random_board, seeds};
    use super::*;
    use crate::rules::{Bitboard, Symmetry};

    #[test]
    fn the_eight_symmetric_positions_have_the_same_value() {
        let weights = Weights::embedded();
        for seed in seeds(100) {
            let board = random_board(seed, 4 + seed as u32 % 50);
            let value = Node::new(board).evaluate(Portable, &PATTERNS, &weights);
            for symmetry in Symmetry::ALL {
                let image = |bits| symmetry.bitboard(Bitboard(bits)).0;
                let board = Board { own: image(board.own), opponent: image(board.opponent) };
                assert_eq!(Node::new(board).evaluate(Portable, &PATTERNS, &weights), value);
            }
        }
    }

    #[test]
    fn a_move_updates_the_indices_to_those_of_the_new_position() {
        for seed in seeds(100) {
            let board = random_board(seed, 4 + seed as u32 % 50);
            let node = Node::new(board);
            assert_eq!(node.pass().numbers(), Node::new(board.pass()).numbers());
            for square in Squares(board.moves(Portable)) {
                let flips = board.flips(Portable, square);
                let child = node.play(&PATTERNS, square, flips);
                assert_eq!(child.numbers(), Node::new(board.play(square, flips)).numbers());
            }
        }
    }
}
