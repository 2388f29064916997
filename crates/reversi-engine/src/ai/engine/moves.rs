//! The moves of one position, in order of promise.
use super::board::{Board, Squares};
use super::cpu::Cpu;

/// A move and its rank in the order of moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OrderedMove {
    pub(super) square: u8,
    pub(super) flips: u64,
    pub(super) score: i32,
}

/// The capacity of a list: more than the known maximum of 33 moves in games and 34 on unreachable boards.
const MAX_MOVES: usize = 36;

/// A short list on the stack.
pub(super) struct Moves {
    moves: [OrderedMove; MAX_MOVES],
    len: usize,
}

impl Moves {
    #[inline(always)]
    pub(super) fn of(cpu: impl Cpu, board: Board, legal: u64) -> Self {
        let mut list = Self { moves: [OrderedMove::default(); MAX_MOVES], len: 0 };
        for square in Squares(legal).take(MAX_MOVES) {
            list.moves[list.len] = OrderedMove { square, flips: board.flips(cpu, square), score: 0 };
            list.len += 1;
        }
        list
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> std::slice::Iter<'_, OrderedMove> {
        self.moves[..self.len].iter()
    }

    /// Whether a move flips all discs of the opponent: nothing is better.
    #[inline(always)]
    pub(super) fn wipe_out(&self, opponent: u64) -> bool {
        self.iter().any(|tried| tried.flips == opponent)
    }

    #[inline(always)]
    pub(super) fn score(&mut self, mut score: impl FnMut(&OrderedMove) -> i32) {
        for tried in &mut self.moves[..self.len] {
            tried.score = score(tried);
        }
    }

    /// Removes the move with the highest score; of equal ones that of the lowest square.
    #[inline(always)]
    pub(super) fn take_best(&mut self) -> Option<OrderedMove> {
        let left = &mut self.moves[..self.len];
        let mut best = 0;
        for index in 1..left.len() {
            if left[index].score > left[best].score {
                best = index;
            }
        }
        let taken = *left.get(best)?;
        self.len -= 1;
        // Preserves the order of the others, so that the lowest square of equal moves stays first.
        left.copy_within(best + 1.., best);
        Some(taken)
    }
}
