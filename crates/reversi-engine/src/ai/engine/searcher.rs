//! What one thread of a search carries with it.
use super::cpu::Cpu;
use super::evaluation::Node;
use super::pattern::Patterns;
use super::transposition::TranspositionTable;
use super::weights::Weights;
use crate::search::Stop;

/// A value for the side to move, in parts of a disc.
pub(super) type Value = i32;

/// One disc as a [`Value`].
pub(super) const DISC: Value = 64;

/// Above every value.
pub(super) const INFINITE: Value = 65 * DISC;

/// The certainty of a search that cut nothing by probability.
pub(super) const SURE: u8 = 7;

/// One thread of a search.
pub(super) struct Searcher<'a, C> {
    pub(super) cpu: C,
    pub(super) table: &'a TranspositionTable,
    pub(super) patterns: &'a Patterns,
    pub(super) weights: &'a Weights,
    pub(super) stop: &'a Stop,
    /// Positions visited, those of the last squares included.
    pub(super) nodes: u64,
    pub(super) most_nodes: u64,
    /// Once set, values that are returned mean nothing.
    pub(super) stopped: bool,
    /// How many shallow searches of probability cuts are around the current position.
    pub(super) cuts: u8,
    /// 0 of the thread whose search is the answer; others differ by it in the order of their moves.
    pub(super) taste: u32,
}

impl<C: Cpu> Searcher<'_, C> {
    /// Asked at every position with more than a few empty squares: some microseconds apart.
    #[inline(always)]
    pub(super) fn must_stop(&mut self) -> bool {
        self.stopped = self.stopped || self.nodes >= self.most_nodes || self.stop.is_stopped();
        self.stopped
    }

    #[inline(always)]
    pub(super) fn evaluate(&self, node: &Node) -> Value {
        node.evaluate(self.cpu, self.patterns, self.weights)
    }

    #[inline(always)]
    pub(super) fn child(&self, node: &Node, square: u8, flips: u64) -> Node {
        node.play(self.patterns, square, flips)
    }

    /// What a helper adds to the promise of a move, so that the threads of a search are not all at the same moves: up
    /// to `most`, of its own for every square.
    #[inline(always)]
    pub(super) fn whim(&self, square: u8, most: Value) -> Value {
        if self.taste == 0 {
            return 0;
        }
        let mixed = (u32::from(square) + 1).wrapping_mul(self.taste).wrapping_mul(0x9E37_79B1) >> 16;
        (mixed.cast_signed() * most) >> 16
    }
}
