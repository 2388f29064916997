//! Tables of the lines through each square, for [`super::cpu`].
use crate::rules::moves_and_flips::rays;

/// The rays of each square towards higher bits: right, down, down-left, down-right.
pub(super) static UPWARD: [[u64; 4]; 64] = rays([(1, 0), (0, 1), (-1, 1), (1, 1)]);

/// The rays towards lower bits: left, up, up-right, up-left.
pub(super) static DOWNWARD: [[u64; 4]; 64] = rays([(-1, 0), (0, -1), (1, -1), (-1, -1)]);

/// The four lines through each square, and the square's index on the line from its lowest bit.
pub(super) static LINES: [[(u64, u8); 4]; 64] = {
    let mut lines = [[(0, 0); 4]; 64];
    let mut square = 0;
    while square < 64 {
        let mut axis = 0;
        while axis < 4 {
            let below = DOWNWARD[square][axis];
            lines[square][axis] = (below | UPWARD[square][axis] | 1 << square, below.count_ones() as u8);
            axis += 1;
        }
        square += 1;
    }
    lines
};

/// The number of discs flipped on a line with one empty square, by its index and the bits of own discs. Bits beyond a
/// line of fewer than eight squares are 0 and so bracket nothing.
pub(super) static LAST_FLIPS: [[u8; 256]; 8] = {
    let mut counts = [[0; 256]; 8];
    let mut index = 0;
    while index < 8 {
        let mut own = 0;
        while own < 256 {
            counts[index][own] = run_below(own, index) + run_above(own, index);
            own += 1;
        }
        index += 1;
    }
    counts
};

const fn run_below(own: usize, index: usize) -> u8 {
    let below = own & ((1 << index) - 1);
    if below == 0 { 0 } else { (index - 1) as u8 - below.ilog2() as u8 }
}

const fn run_above(own: usize, index: usize) -> u8 {
    let above = own >> (index + 1);
    if above == 0 { 0 } else { above.trailing_zeros() as u8 }
}
