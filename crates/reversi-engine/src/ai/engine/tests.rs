//! Positions and unpruned searches for the tests of this folder.
use std::sync::{Arc, LazyLock};

use super::board::{Board, Squares};
use super::cpu::{Cpu, Portable};
use super::pattern::PATTERNS;
use super::searcher::Searcher;
use super::transposition::TranspositionTable;
use super::weights::Weights;
use crate::rules::{Position, SplitMix64};
use crate::search::Stop;

/// Seeds of `count` cases.
pub(super) fn seeds(count: u64) -> impl Iterator<Item = u64> {
    1..=count
}

/// A position of a random game with this many empty squares and a legal move; games that end earlier are skipped.
pub(super) fn random_board(seed: u64, empties: u32) -> Board {
    let mut random = SplitMix64::new(seed);
    loop {
        let mut board = Board::from(Position::START);
        while board.empties().count_ones() > empties {
            let Some(next) = random_move(board, &mut random) else {
                break;
            };
            board = next;
        }
        if board.empties().count_ones() == empties && board.moves(Portable) != 0 {
            return board;
        }
    }
}

fn random_move(board: Board, random: &mut SplitMix64) -> Option<Board> {
    let board = if board.moves(Portable) == 0 { board.pass() } else { board };
    let moves = board.moves(Portable);
    let count = u64::from(moves.count_ones());
    let square = Squares(moves).nth((random.next() % count.max(1)) as usize)?;
    Some(board.play(square, board.flips(Portable, square)))
}

/// The score under perfect play, by minimax.
pub(super) fn minimax(board: Board) -> i32 {
    let moves = board.moves(Portable);
    if moves == 0 {
        let passed = board.pass();
        return if passed.moves(Portable) == 0 { board.final_score() } else { -minimax(passed) };
    }
    let play = |square| board.play(square, board.flips(Portable, square));
    Squares(moves).map(|square| -minimax(play(square))).max().unwrap_or_default()
}

/// A searcher with the embedded weights.
pub(super) fn searcher<'a, C: Cpu>(cpu: C, table: &'a TranspositionTable, stop: &'a Stop) -> Searcher<'a, C> {
    static WEIGHTS: LazyLock<Arc<Weights>> = LazyLock::new(Weights::embedded);
    Searcher {
        cpu,
        table,
        patterns: &PATTERNS,
        weights: &WEIGHTS,
        stop,
        nodes: 0,
        most_nodes: u64::MAX,
        stopped: false,
        cuts: 0,
        taste: 0,
    }
}
