//! The lines through each square, as tables of [`super::cpu`].
use crate::rules::lines::rays;

/// The rays of each square towards higher bits: right, down, down-left, down-right.
pub(super) static UPWARD: [[u64; 4]; 64] = rays([(1, 0), (0, 1), (-1, 1), (1, 1)]);

/// The rays towards lower bits: left, up, up-right, up-left.
pub(super) static DOWNWARD: [[u64; 4]; 64] = rays([(-1, 0), (0, -1), (1, -1), (-1, -1)]);

/// The four whole lines through each square, and which square of the line it is, counted from its lowest bit.
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

/// How many discs turn on a line that is full but for one place, by that place and the own discs, bit for bit. Places
/// beyond a line of less than eight squares hold no own disc and so bracket nothing.
pub(super) static LAST_FLIPS: [[u8; 256]; 8] = {
    let mut counts = [[0; 256]; 8];
    let mut place = 0;
    while place < 8 {
        let mut own = 0;
        while own < 256 {
            counts[place][own] = run_below(own, place) + run_above(own, place);
            own += 1;
        }
        place += 1;
    }
    counts
};

const fn run_below(own: usize, place: usize) -> u8 {
    let below = own & ((1 << place) - 1);
    if below == 0 { 0 } else { (place - 1) as u8 - below.ilog2() as u8 }
}

const fn run_above(own: usize, place: usize) -> u8 {
    let above = own >> (place + 1);
    if above == 0 { 0 } else { above.trailing_zeros() as u8 }
}
