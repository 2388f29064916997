//! Discs that no sequence of moves can flip, which bound the score.
//!
//! A disc is stable if each of the four lines through it is full or has a stable neighbour of the same side (the edge
//! of the board counts as one). Edges are looked up in a table. The cut is described by Andersson (Zebra's notes) and
//! used in Delorme's Edax.
use std::sync::LazyLock;

use super::cpu::Cpu;

/// A lower bound of the number of stable discs of `own`.
#[inline(always)]
pub(super) fn count(cpu: impl Cpu, own: u64, opponent: u64) -> u32 {
    cpu.run(|| stable(own, opponent).count_ones())
}

fn stable(own: u64, opponent: u64) -> u64 {
    const INNER: u64 = 0x007E_7E7E_7E7E_7E00;
    let taken = own | opponent;
    let (rows, columns, rising, falling) = full_lines(taken);
    let mut stable = edges(own, opponent) | (own & INNER & rows & columns & rising & falling);
    loop {
        let spread = ((stable << 1) | (stable >> 1) | rows)
            & ((stable << 8) | (stable >> 8) | columns)
            & ((stable << 7) | (stable >> 7) | rising)
            & ((stable << 9) | (stable >> 9) | falling)
            & own
            & INNER
            | stable;
        if spread == stable {
            return stable;
        }
        stable = spread;
    }
}

/// The squares whose row, column, rising and falling diagonal are full.
#[inline(always)]
fn full_lines(taken: u64) -> (u64, u64, u64, u64) {
    let mut rows = taken & (taken >> 4) & 0x0F0F_0F0F_0F0F_0F0F;
    rows &= (rows >> 2) & 0x0303_0303_0303_0303;
    rows = (rows & (rows >> 1) & 0x0101_0101_0101_0101) * 0xFF;
    let mut columns = taken & taken.rotate_right(8);
    columns &= columns.rotate_right(16);
    columns &= columns.rotate_right(32);
    (rows, columns, full_diagonals::<7>(taken), full_diagonals::<9>(taken))
}

/// Spreads empty squares along their diagonals, without wrapping around the edge; unreached diagonals are full.
#[inline(always)]
fn full_diagonals<const STEP: u32>(taken: u64) -> u64 {
    let (up_mask, down_mask) = if STEP == 9 {
        (0xFEFE_FEFE_FEFE_FE00, 0x007F_7F7F_7F7F_7F7F)
    } else {
        (0x7F7F_7F7F_7F7F_7F00, 0x00FE_FEFE_FEFE_FEFE)
    };
    let mut up = !taken;
    let mut down = up;
    let (mut up_open, mut down_open): (u64, u64) = (up_mask, down_mask);
    let mut step = STEP;
    while step <= 4 * STEP {
        up |= (up << step) & up_open;
        down |= (down >> step) & down_open;
        up_open &= up_open << step;
        down_open &= down_open >> step;
        step *= 2;
    }
    !(up | down)
}

/// The stable discs of `own` on the four edges.
#[inline(always)]
fn edges(own: u64, opponent: u64) -> u64 {
    let table = &*EDGES;
    let look = |own: u8, opponent: u8| u64::from(table[usize::from(own) << 8 | usize::from(opponent)]);
    let (top, bottom) = (look(own as u8, opponent as u8), look((own >> 56) as u8, (opponent >> 56) as u8));
    let left = look(column_a(own), column_a(opponent));
    let right = look(column_a(own >> 7), column_a(opponent >> 7));
    top | bottom << 56 | to_column_a(left) | to_column_a(right) << 7
}

/// The squares of column a as a byte, a1 lowest.
#[inline(always)]
fn column_a(bits: u64) -> u8 {
    ((bits & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The inverse of [`column_a`].
#[inline(always)]
fn to_column_a(byte: u64) -> u64 {
    ((byte & 0x7F).wrapping_mul(0x0002_0408_1020_4081) & 0x0001_0101_0101_0101) | (byte >> 7 << 56)
}

/// For each edge (own byte, opponent byte) the own discs that no sequence of moves on the edge flips.
static EDGES: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let mut table = vec![0; 1 << 16].into_boxed_slice();
    // Fuller edges first, as each needs those with one more disc.
    for discs in (0..=8).rev() {
        for own in 0..=255_u8 {
            for opponent in (0..=255_u8).filter(|o| o & own == 0 && (o | own).count_ones() == discs) {
                table[usize::from(own) << 8 | usize::from(opponent)] = stable_of_edge(&table, own, opponent);
            }
        }
    }
    table
});

fn stable_of_edge(table: &[u8], own: u8, opponent: u8) -> u8 {
    let mut stable = own;
    for place in (0..8).filter(|place| (own | opponent) >> place & 1 == 0) {
        let bit = 1 << place;
        let turned = flips_of_edge(own, opponent, place);
        stable &= table[usize::from(own | turned | bit) << 8 | usize::from(opponent & !turned)];
        let turned = flips_of_edge(opponent, own, place);
        stable &= table[usize::from(own & !turned) << 8 | usize::from(opponent | turned | bit)];
    }
    stable
}

/// The flips on an edge, computed as the lowest row of a board.
fn flips_of_edge(own: u8, opponent: u8, place: u8) -> u8 {
    crate::rules::moves_and_flips::flips(own.into(), opponent.into(), place) as u8
}

#[cfg(test)]
mod tests {
    use super::super::board::{Board, Squares};
    use super::super::cpu::Portable;
    use super::super::tests::{random_board, seeds};
    use super::*;

    /// Every disc of either side that some line of play flips.
    fn turned_by_any_play(board: Board, turned: &mut u64, plies: u32) {
        let moves = board.moves(Portable);
        if plies == 0 || moves == 0 && board.pass().moves(Portable) == 0 {
            return;
        }
        if moves == 0 {
            turned_by_any_play(board.pass(), turned, plies);
        }
        for square in Squares(moves) {
            let flips = board.flips(Portable, square);
            *turned |= flips;
            turned_by_any_play(board.play(square, flips), turned, plies - 1);
        }
    }

    #[test]
    fn no_moves_flip_a_stable_disc() {
        let mut found = 0;
        for seed in seeds(40) {
            let board = random_board(seed, 8);
            let stable = stable(board.own, board.opponent) | stable(board.opponent, board.own);
            let mut turned = 0;
            turned_by_any_play(board, &mut turned, 8);
            assert_eq!(stable & turned, 0, "{board:?}");
            found += stable.count_ones();
        }
        assert!(found > 40 * 8, "only {found} stable discs were found");
    }

    #[test]
    fn a_full_board_and_a_corner_are_stable() {
        assert_eq!(stable(u64::MAX, 0), u64::MAX);
        assert_eq!(stable(0x0F0F_0F0F_0F0F_0F0F, !0x0F0F_0F0F_0F0F_0F0F), 0x0F0F_0F0F_0F0F_0F0F);
        assert_eq!(stable(0b111, 0), 0b111);
        assert_eq!(stable(0b110, 0), 0);
    }
}
