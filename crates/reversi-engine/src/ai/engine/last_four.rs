//! Solving the last four squares without move lists: each square is tried.
//!
//! All searches here are of the window (alpha, alpha + 1) in discs and fail soft. Quarters of the board with an odd
//! number of empty squares are tried first, so that the opponent does not get the last move there (parity; the order of
//! the last squares is that of Delorme's Edax).
use super::board::Board;
use super::cpu::Cpu;

/// The neighbours of each square; without an opposing disc among them a move flips nothing.
static BESIDE: [u64; 64] = {
    let mut beside = [0; 64];
    let mut square = 0;
    while square < 64 {
        let bit = 1_u64 << square;
        let row = bit | (bit & 0xFEFE_FEFE_FEFE_FEFE) >> 1 | (bit & 0x7F7F_7F7F_7F7F_7F7F) << 1;
        beside[square] = (row | row << 8 | row >> 8) & !bit;
        square += 1;
    }
    beside
};

const UNPLAYED: i32 = -127;

/// The quarter of the board with the square, as one bit of four.
#[inline(always)]
pub(super) fn quarter(square: u8) -> u32 {
    1 << ((square >> 2 & 1) | (square >> 4 & 2))
}

/// The score with four empty squares.
#[inline(always)]
pub(super) fn four(cpu: impl Cpu, board: Board, alpha: i32, nodes: &mut u64) -> i32 {
    *nodes += 1;
    let squares = singles_first(board.empties());
    match try_four(cpu, board, alpha, squares, nodes) {
        UNPLAYED => match try_four(cpu, board.pass(), -alpha - 1, squares, nodes) {
            UNPLAYED => board.final_score(),
            value => -value,
        },
        value => value,
    }
}

/// Sorts squares that are alone in their quarter before the two of another; else the order does not matter.
#[inline(always)]
fn singles_first(empties: u64) -> [u8; 4] {
    let mut left = empties;
    let squares = [(); 4].map(|()| {
        let square = left.trailing_zeros() as u8 & 63;
        left &= left.wrapping_sub(1);
        square
    });
    let [a, b, c, d] = squares;
    let of = squares.map(quarter);
    if of[0] == of[1] {
        [c, d, a, b]
    } else if of[0] == of[2] {
        [b, d, a, c]
    } else if of[1] == of[2] {
        [a, d, b, c]
    } else {
        squares
    }
}

/// The board after a move to `square`, if it is legal.
#[inline(always)]
fn child(cpu: impl Cpu, board: Board, square: u8) -> Option<Board> {
    if BESIDE[usize::from(square)] & board.opponent == 0 {
        return None;
    }
    let flips = board.flips(cpu, square);
    (flips != 0).then(|| board.play(square, flips))
}

#[inline(always)]
fn try_four(cpu: impl Cpu, board: Board, alpha: i32, [a, b, c, d]: [u8; 4], nodes: &mut u64) -> i32 {
    let mut best = UNPLAYED;
    for (square, rest) in [(a, [b, c, d]), (b, [a, c, d]), (c, [a, b, d]), (d, [a, b, c])] {
        if let Some(child) = child(cpu, board, square) {
            let value = -three(cpu, child, -alpha - 1, rest, nodes);
            if value > alpha {
                return value;
            }
            best = best.max(value);
        }
    }
    best
}

fn three(cpu: impl Cpu, board: Board, alpha: i32, [a, b, c]: [u8; 3], nodes: &mut u64) -> i32 {
    cpu.run(|| {
        *nodes += 1;
        let squares = if quarter(a) == quarter(b) {
            [c, a, b]
        } else if quarter(a) == quarter(c) {
            [b, a, c]
        } else {
            [a, b, c]
        };
        match try_three(cpu, board, alpha, squares, nodes) {
            UNPLAYED => match try_three(cpu, board.pass(), -alpha - 1, squares, nodes) {
                UNPLAYED => board.final_score(),
                value => -value,
            },
            value => value,
        }
    })
}

#[inline(always)]
fn try_three(cpu: impl Cpu, board: Board, alpha: i32, [a, b, c]: [u8; 3], nodes: &mut u64) -> i32 {
    let mut best = UNPLAYED;
    for (square, rest) in [(a, [b, c]), (b, [a, c]), (c, [a, b])] {
        if let Some(child) = child(cpu, board, square) {
            let value = -two(cpu, child, -alpha - 1, rest, nodes);
            if value > alpha {
                return value;
            }
            best = best.max(value);
        }
    }
    best
}

#[inline(always)]
fn two(cpu: impl Cpu, board: Board, alpha: i32, squares: [u8; 2], nodes: &mut u64) -> i32 {
    *nodes += 1;
    match try_two(cpu, board, alpha, squares, nodes) {
        UNPLAYED => match try_two(cpu, board.pass(), -alpha - 1, squares, nodes) {
            UNPLAYED => board.final_score(),
            value => -value,
        },
        value => value,
    }
}

#[inline(always)]
fn try_two(cpu: impl Cpu, board: Board, alpha: i32, [a, b]: [u8; 2], nodes: &mut u64) -> i32 {
    let mut best = UNPLAYED;
    for (square, rest) in [(a, b), (b, a)] {
        if let Some(child) = child(cpu, board, square) {
            *nodes += 1;
            let value = -one(cpu, child, -alpha - 1, rest);
            if value > alpha {
                return value;
            }
            best = best.max(value);
        }
    }
    best
}

/// The score with one empty square. Flipping `n` discs changes the difference by 2n + 1; a remaining empty square
/// counts for the winner.
#[inline(always)]
fn one(cpu: impl Cpu, board: Board, alpha: i32, square: u8) -> i32 {
    let own = 2 * board.own.count_ones().cast_signed();
    let turned = cpu.last_flips(board.own, square).cast_signed();
    if turned > 0 {
        return own - 62 + 2 * turned;
    }
    let unplayed = if own > 63 { own - 62 } else { own - 64 };
    // The opponent's move can only reduce it.
    if unplayed <= alpha {
        return unplayed;
    }
    match cpu.last_flips(board.opponent, square).cast_signed() {
        0 => unplayed,
        turned => own - 64 - 2 * turned,
    }
}
