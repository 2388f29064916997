//! The search to a given depth: principal variation search with null windows.
//!
//! Marsland and Campbell, "Parallel Search of Strongly Ordered Game Trees" (1982), and Reinefeld, "An Improvement to
//! the Scout Tree-Search Algorithm" (1983): the first move of a principal position is searched with the whole window,
//! the others only tested for being better. If the depth reaches the end of the game, the last squares are solved
//! ([`super::endgame`]).
use super::board::{Board, Squares};
use super::cpu::Cpu;
use super::endgame::{CORNERS, PLACE_WORTH};
use super::evaluation::Node;
use super::moves::{Moves, OrderedMove};
use super::probcut;
use super::searcher::{INFINITE, SURE, Searcher};
use super::transposition::{Effort, Entry, NO_SQUARE};
use super::weights::{DISC, Value};

/// With at most this many empty squares, the exact solver does the search to the end.
const SOLVED: u32 = 14;

/// From this depth on, moves are ordered by static evaluation, and children are looked up in the table.
const VALUED: u8 = 3;

/// The principal variation; it ends where the table or the solver gave the value.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(pub(super) Vec<u8>);

impl<C: Cpu> Searcher<'_, C> {
    /// The value of a principal position in the window (alpha, beta), fail soft, and its line.
    pub(super) fn principal(
        &mut self,
        node: &Node,
        (mut alpha, beta): (Value, Value),
        effort: Effort,
        line: &mut Line,
    ) -> Value {
        self.nodes += 1;
        line.0.clear();
        let board = node.board;
        let count = board.empties().count_ones();
        if self.must_stop() {
            return alpha;
        }
        let legal = board.moves(self.cpu);
        if legal == 0 {
            if board.pass().moves(self.cpu) == 0 {
                return board.final_score() * DISC;
            }
            return -self.principal(&node.pass(), (-beta, -alpha), effort, line);
        }
        if effort.depth == 0 {
            return self.evaluate(node);
        }
        let effort = to_the_end(effort, count);
        let key = board.hash();
        let known = self.table.find(key);
        let mut moves = Moves::of(self.cpu, board, legal);
        self.order(&mut moves, node, known, effort.depth);
        let (first_alpha, mut best, mut best_square) = (alpha, -INFINITE, NO_SQUARE);
        let below = Effort { depth: effort.depth - 1, ..effort };
        let mut tail = Line::default();
        while let Some(chosen) = moves.take_best() {
            let child = self.child(node, chosen.square, chosen.flips);
            let mut value = if best_square == NO_SQUARE { INFINITE } else { -self.null(&child, -alpha - 1, below) };
            if value > alpha && (value < beta || best_square == NO_SQUARE) {
                value = -self.principal(&child, (-beta, -alpha), below, &mut tail);
            }
            if self.stopped {
                return best.max(first_alpha);
            }
            if value > best {
                (best, best_square) = (value, chosen.square);
                if value > alpha {
                    alpha = value;
                    line.0.clear();
                    line.0.push(chosen.square);
                    line.0.append(&mut tail.0);
                }
                if value >= beta {
                    break;
                }
            }
        }
        self.table.keep(key, entry(best, best_square, (first_alpha, beta), effort));
        best
    }

    /// Tests whether the value is above alpha. A returned value above alpha is a lower bound, another one an upper
    /// bound.
    pub(super) fn null(&mut self, node: &Node, alpha: Value, effort: Effort) -> Value {
        let count = node.board.empties().count_ones();
        if u32::from(effort.depth) >= count && count <= SOLVED {
            return self.solve(node.board, alpha.div_euclid(DISC)) * DISC;
        }
        match effort.depth {
            0 => {
                self.nodes += 1;
                self.evaluate(node)
            }
            1 => self.one_ply(node, alpha),
            _ => self.null_deep(node, alpha, effort, count),
        }
    }

    /// Depth 1, by the static evaluations of the children.
    fn one_ply(&mut self, node: &Node, alpha: Value) -> Value {
        let cpu = self.cpu;
        cpu.run(|| {
            self.nodes += 1;
            let board = node.board;
            let legal = board.moves(cpu);
            if legal == 0 {
                let passed = board.pass();
                return if passed.moves(cpu) == 0 {
                    board.final_score() * DISC
                } else {
                    -self.one_ply(&node.pass(), -alpha - 1)
                };
            }
            let mut best = -INFINITE;
            for square in Squares(legal) {
                let child = self.child(node, square, board.flips(cpu, square));
                self.nodes += 1;
                let value = if child.board.own == 0 { 64 * DISC } else { -self.evaluate(&child) };
                best = best.max(value);
                if best > alpha {
                    break;
                }
            }
            best
        })
    }

    fn null_deep(&mut self, node: &Node, alpha: Value, effort: Effort, count: u32) -> Value {
        let cpu = self.cpu;
        cpu.run(|| {
            self.nodes += 1;
            let board = node.board;
            if self.must_stop() {
                return alpha;
            }
            if let Some(bound) = self.stable_bound(board, alpha.div_euclid(DISC), count) {
                return bound * DISC;
            }
            let legal = board.moves(cpu);
            if legal == 0 {
                let passed = board.pass();
                return if passed.moves(cpu) == 0 {
                    board.final_score() * DISC
                } else {
                    -self.null_deep(&node.pass(), -alpha - 1, effort, count)
                };
            }
            let effort = to_the_end(effort, count);
            let key = board.hash();
            let known = self.table.find(key);
            if let Some(bound) = known.and_then(|entry| bound_of(entry, alpha, effort)) {
                return bound;
            }
            let mut moves = Moves::of(cpu, board, legal);
            if moves.wipe_out(board.opponent) {
                return 64 * DISC;
            }
            let below = Effort { depth: effort.depth - 1, ..effort };
            if effort.depth >= VALUED
                && let Some(bound) = self.children_bound(&moves, board, alpha, below)
            {
                return bound;
            }
            if let Some(bound) = self.likely_bound(node, alpha, effort, count) {
                return bound;
            }
            self.order(&mut moves, node, known, effort.depth);
            let (mut best, mut best_square) = (-INFINITE, NO_SQUARE);
            while let Some(chosen) = moves.take_best() {
                let child = self.child(node, chosen.square, chosen.flips);
                let value = -self.null(&child, -alpha - 1, below);
                if self.stopped {
                    return alpha;
                }
                if value > best {
                    (best, best_square) = (value, chosen.square);
                    if value > alpha {
                        break;
                    }
                }
            }
            self.table.keep(key, entry(best, best_square, (alpha, alpha + 1), effort));
            best
        })
    }

    /// A lower bound above alpha from a child's table entry (enhanced transposition cutoff; Plaat et al., 1996).
    #[inline(always)]
    fn children_bound(&self, moves: &Moves, board: Board, alpha: Value, below: Effort) -> Option<Value> {
        moves.iter().find_map(|tried| {
            let child = board.play(tried.square, tried.flips);
            let entry = self.table.find(child.hash())?;
            let upper = Value::from(entry.upper);
            (suffices(entry.effort, below) && -upper > alpha).then_some(-upper)
        })
    }

    /// A ProbCut cut: see [`super::probcut`].
    #[inline(always)]
    fn likely_bound(&mut self, node: &Node, alpha: Value, effort: Effort, count: u32) -> Option<Value> {
        if effort.certainty >= probcut::CERTAINTIES || effort.depth < probcut::MIN_DEPTH || self.cuts >= MAX_CUTS {
            return None;
        }
        let shallow = probcut::shallow_depth(effort.depth);
        let margin = probcut::margin(effort.certainty, count, effort.depth);
        let doubt = probcut::doubt(effort.certainty, count, effort.depth);
        let now = self.evaluate(node);
        let effort = Effort { depth: shallow, ..effort };
        let beta = alpha + 1;
        let (high, low) = (beta + margin, alpha - margin);
        if high < 64 * DISC && now >= beta - doubt {
            self.cuts += 1;
            let value = self.null(node, high - 1, effort);
            self.cuts -= 1;
            if value >= high && !self.stopped {
                return Some(beta);
            }
        }
        if low > -64 * DISC && now <= alpha + doubt {
            self.cuts += 1;
            let value = self.null(node, low, effort);
            self.cuts -= 1;
            if value <= low && !self.stopped {
                return Some(alpha);
            }
        }
        None
    }

    /// The table's moves first; the others by the opponent's mobility and, depending on the depth, the evaluation of
    /// the child or the kind of square. A search of one more ply costs more than it saves.
    #[inline(always)]
    fn order(&mut self, moves: &mut Moves, node: &Node, known: Option<Entry>, depth: u8) {
        let cpu = self.cpu;
        moves.score(|tried: &OrderedMove| {
            match known {
                Some(entry) if tried.square == entry.best => return i32::MAX,
                Some(entry) if tried.square == entry.second => return i32::MAX - 1,
                _ => {}
            }
            let board = node.board.play(tried.square, tried.flips);
            let replies = board.moves(cpu);
            let weight = (replies.count_ones() + (replies & CORNERS).count_ones()).cast_signed();
            let place = PLACE_WORTH[usize::from(tried.square)];
            if depth < VALUED {
                return place - 16 * weight + self.move_noise(tried.square, SHALLOW_MOVE_NOISE);
            }
            let child = self.child(node, tried.square, tried.flips);
            -self.evaluate(&child) - weight * REPLY_WORTH + self.move_noise(tried.square, MOVE_NOISE)
        });
    }
}

/// The cost of a reply of the opponent in move ordering, in addition to the evaluation: fewer replies make a smaller
/// tree ("fastest first"). Half of it took 5 % more positions for 13 plies; eight times as much 8 % more for `ffo-40`
/// to 49.
const REPLY_WORTH: Value = DISC;

/// The maximum of a helper's random term in [`Searcher::order`] below [`VALUED`]: the worth of one reply.
const SHALLOW_MOVE_NOISE: Value = 16;

const MOVE_NOISE: Value = 4 * DISC;

/// The maximum nesting of ProbCut searches: more adds errors and saves little.
const MAX_CUTS: u8 = 2;

/// Limits the depth to the end of the game.
#[inline(always)]
fn to_the_end(effort: Effort, count: u32) -> Effort {
    Effort { depth: effort.depth.min(count as u8), ..effort }
}

/// Whether a search of effort `done` can replace one of effort `wanted`.
#[inline(always)]
fn suffices(done: Effort, wanted: Effort) -> bool {
    done.depth >= wanted.depth && done.certainty >= wanted.certainty
}

#[inline(always)]
fn bound_of(entry: Entry, alpha: Value, wanted: Effort) -> Option<Value> {
    let (lower, upper) = (Value::from(entry.lower), Value::from(entry.upper));
    if !suffices(entry.effort, wanted) {
        None
    } else if lower > alpha {
        Some(lower)
    } else if upper <= alpha {
        Some(upper)
    } else {
        None
    }
}

#[inline(always)]
fn entry(best: Value, square: u8, (alpha, beta): (Value, Value), effort: Effort) -> Entry {
    Entry {
        lower: if best > alpha { best as i16 } else { (-64 * DISC) as i16 },
        upper: if best < beta { best as i16 } else { (64 * DISC) as i16 },
        effort,
        best: if best > alpha { square } else { NO_SQUARE },
        second: NO_SQUARE,
    }
}

const _: () = assert!(SURE > probcut::CERTAINTIES && SURE < 8);

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::cpu::Portable;
    use super::super::tests::{random_board, searcher, seeds};
    use super::super::transposition::TranspositionTable;
    use super::*;
    use crate::search::Stop;

    /// The value to a depth by plain minimax.
    fn plain(searcher: &Searcher<'_, Portable>, node: &Node, depth: u8) -> Value {
        let board = node.board;
        let moves = board.moves(Portable);
        if moves == 0 {
            let over = board.pass().moves(Portable) == 0;
            return if over { board.final_score() * DISC } else { -plain(searcher, &node.pass(), depth) };
        }
        if depth == 0 {
            return searcher.evaluate(node);
        }
        let child = |square| searcher.child(node, square, board.flips(Portable, square));
        Squares(moves).map(|square| -plain(searcher, &child(square), depth - 1)).max().unwrap_or_default()
    }

    #[test]
    fn a_full_search_has_the_value_of_exhaustive_search() {
        for seed in seeds(60) {
            let node = Node::new(random_board(seed, 16 + seed as u32 % 40));
            for depth in 1..=4 {
                let (table, stop) = (TranspositionTable::ready(1 << 16), Stop::new());
                let mut searcher = searcher(Portable, &table, &stop);
                let mut line = Line::default();
                let effort = Effort { depth, certainty: SURE };
                let value = searcher.principal(&node, (-INFINITE, INFINITE), effort, &mut line);
                assert_eq!(value, plain(&searcher, &node, depth), "{:?} {depth}", node.board);
            }
        }
    }

    #[test]
    fn of_moves_with_equally_many_replies_the_better_is_first() {
        let (table, stop) = (TranspositionTable::ready(1 << 10), Stop::new());
        let mut searcher = searcher(Portable, &table, &stop);
        for seed in seeds(60) {
            let node = Node::new(random_board(seed, 16 + seed as u32 % 40));
            for depth in [VALUED, 10] {
                let mut moves = Moves::of(Portable, node.board, node.board.moves(Portable));
                searcher.order(&mut moves, &node, None, depth);
                let mut before = HashMap::new();
                while let Some(chosen) = moves.take_best() {
                    let child = searcher.child(&node, chosen.square, chosen.flips);
                    let replies = child.board.moves(Portable);
                    let value = -searcher.evaluate(&child);
                    let better = before.insert(replies.count_ones() + (replies & CORNERS).count_ones(), value);
                    assert!(better.is_none_or(|better| better >= value), "{:?} {chosen:?}", node.board);
                }
            }
        }
    }

    #[test]
    fn a_null_window_bounds_the_value() {
        for seed in seeds(60) {
            let node = Node::new(random_board(seed, 16 + seed as u32 % 40));
            let (table, stop) = (TranspositionTable::ready(1 << 16), Stop::new());
            let mut searcher = searcher(Portable, &table, &stop);
            let expected = plain(&searcher, &node, 3);
            for alpha in [expected - 40, expected - 1, expected, expected + 40] {
                let value = searcher.null(&node, alpha, Effort { depth: 3, certainty: SURE });
                assert_eq!(value > alpha, expected > alpha);
                assert!(if value > alpha { value <= expected } else { value >= expected });
            }
        }
    }
}
