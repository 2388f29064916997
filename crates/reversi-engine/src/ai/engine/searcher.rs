//! The state of one thread of a search.
use super::cpu::Cpu;
use super::evaluation::Node;
use super::pattern::Patterns;
use super::transposition::TranspositionTable;
use super::weights::{DISC, Value, Weights};
use crate::search::Stop;

/// Above every value.
pub(super) const INFINITE: Value = 65 * DISC;

/// The certainty of a search without ProbCut cuts.
pub(super) const SURE: u8 = 7;

/// One thread of a search.
pub(super) struct Searcher<'a, C> {
    pub(super) cpu: C,
    pub(super) table: &'a TranspositionTable,
    pub(super) patterns: &'a Patterns,
    pub(super) weights: &'a Weights,
    pub(super) stop: &'a Stop,
    /// Positions visited, including those of the last squares.
    pub(super) nodes: u64,
    pub(super) most_nodes: u64,
    /// Once set, returned values are meaningless.
    pub(super) stopped: bool,
    /// The nesting depth of ProbCut's shallow searches at the current position.
    pub(super) cuts: u8,
    /// 0 for the main thread; helpers order their moves differently by it.
    pub(super) taste: u32,
}

impl<C: Cpu> Searcher<'_, C> {
    /// Called at every position with more than a few empty squares, some microseconds apart.
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

    /// The pseudo-random term, below `most`, that a helper adds to the score of a move, so that threads search
    /// different moves; 0 for the main thread.
    #[inline(always)]
    pub(super) fn move_noise(&self, square: u8, most: Value) -> Value {
        if self.taste == 0 {
            return 0;
        }
        let mixed = (u32::from(square) + 1).wrapping_mul(self.taste).wrapping_mul(0x9E37_79B1) >> 16;
        (mixed.cast_signed() * most) >> 16
    }
}
