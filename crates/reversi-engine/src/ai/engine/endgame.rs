//! Exact solving of the last squares.
//!
//! All searches here are of the window (alpha, alpha + 1) in discs and fail soft. The last four squares are tried one
//! by one ([`super::last_four`]); up to [`PLAIN`] squares moves are ordered by parity only; above, the move that leaves
//! the opponent the fewest moves is first ("fastest first"), positions are stored in the table, and the stable discs
//! bound the value. The scheme is that of Andersson's Zebra and Delorme's Edax.
use super::board::{Board, Squares};
use super::cpu::Cpu;
use super::last_four::{self, quarter};
use super::moves::{Moves, OrderedMove};
use super::searcher::{SURE, Searcher};
use super::stability;
use super::transposition::{Effort, Entry, NO_SQUARE};
use super::weights::{DISC, Value};

/// Up to this many empty squares only parity orders the moves: a better order costs more than it saves.
const PLAIN: u32 = 6;

/// From this many empty squares on, the table is used: below, memory access is slower than the search.
const REMEMBERED: u32 = 9;

/// From this many empty squares on, the children are looked up first (enhanced transposition cutoff; Plaat et al.,
/// "Exploiting Graph Properties of Game Trees", 1996).
const CHILDREN_LOOKED_UP: u32 = 12;

/// The minimum alpha, by empty squares, to try the bound by the opponent's stable discs: lower windows are rarely cut.
/// The shape of the table is Edax's.
static STABLE_FROM: [i32; 64] = {
    let mut from = [99; 64];
    let low = [99, 99, 99, 99, 8, 10, 12, 14, 16, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48];
    let mut empties = 0;
    while empties < low.len() {
        from[empties] = low[empties];
        empties += 1;
    }
    from
};

/// The squares of the quarters in each set of [`quarter`] bits.
static QUARTERS: [u64; 16] = {
    let corner: [u64; 4] = [0x0000_0000_0F0F_0F0F, 0x0000_0000_F0F0_F0F0, 0x0F0F_0F0F_0000_0000, 0xF0F0_F0F0_0000_0000];
    let mut squares = [0; 16];
    let mut set = 0;
    while set < 16 {
        let mut bit = 0;
        while bit < 4 {
            if set >> bit & 1 == 1 {
                squares[set] |= corner[bit];
            }
            bit += 1;
        }
        set += 1;
    }
    squares
};

/// The quarters with an odd number of empty squares.
#[inline(always)]
pub(super) fn odd_quarters(empties: u64) -> u32 {
    (0..4).fold(0, |odd, bit| odd | ((empties & QUARTERS[1 << bit]).count_ones() & 1) << bit)
}

/// The squares of these quarters.
#[inline(always)]
pub(super) fn squares_of(quarters: u32) -> u64 {
    QUARTERS[quarters as usize & 15]
}

impl<C: Cpu> Searcher<'_, C> {
    /// Tests whether the score is above alpha. A returned value above alpha is a lower bound, another one an upper
    /// bound.
    pub(super) fn solve(&mut self, board: Board, alpha: i32) -> i32 {
        let empties = board.empties();
        match empties.count_ones() {
            0 => board.final_score(),
            1..=3 => self.solve_few(board, alpha),
            4 => {
                let cpu = self.cpu;
                let nodes = &mut self.nodes;
                cpu.run(|| last_four::four(cpu, board, alpha, nodes))
            }
            count @ 5..=PLAIN => self.solve_plain(board, alpha, count, odd_quarters(empties)),
            count => self.solve_ordered(board, alpha, count),
        }
    }

    /// Only used if the root has as few empty squares.
    fn solve_few(&mut self, board: Board, alpha: i32) -> i32 {
        self.nodes += 1;
        let moves = board.moves(self.cpu);
        if moves == 0 {
            let passed = board.pass();
            return if passed.moves(self.cpu) == 0 { board.final_score() } else { -self.solve_few(passed, -alpha - 1) };
        }
        let mut best = i32::MIN;
        for square in Squares(moves) {
            let child = board.play(square, board.flips(self.cpu, square));
            best = best.max(-self.solve(child, -alpha - 1));
            if best > alpha {
                break;
            }
        }
        best
    }

    fn solve_plain(&mut self, board: Board, alpha: i32, count: u32, odd: u32) -> i32 {
        let cpu = self.cpu;
        cpu.run(|| {
            self.nodes += 1;
            if let Some(bound) = self.stable_bound(board, alpha, count) {
                return bound;
            }
            let moves = board.moves(cpu);
            if moves == 0 {
                let passed = board.pass();
                return if passed.moves(cpu) == 0 {
                    board.final_score()
                } else {
                    -self.solve_plain(passed, -alpha - 1, count, odd)
                };
            }
            let mut best = i32::MIN;
            let first = moves & squares_of(odd);
            for set in [first, moves & !first] {
                for square in Squares(set) {
                    let child = board.play(square, board.flips(cpu, square));
                    let value = -if count == 5 {
                        last_four::four(cpu, child, -alpha - 1, &mut self.nodes)
                    } else {
                        self.solve_plain(child, -alpha - 1, count - 1, odd ^ quarter(square))
                    };
                    if value > alpha {
                        return value;
                    }
                    best = best.max(value);
                }
            }
            best
        })
    }

    fn solve_ordered(&mut self, board: Board, alpha: i32, count: u32) -> i32 {
        let cpu = self.cpu;
        cpu.run(|| {
            self.nodes += 1;
            if self.must_stop() {
                return alpha;
            }
            if let Some(bound) = self.stable_bound(board, alpha, count) {
                return bound;
            }
            let legal = board.moves(cpu);
            if legal == 0 {
                let passed = board.pass();
                return if passed.moves(cpu) == 0 {
                    board.final_score()
                } else {
                    -self.solve_ordered(passed, -alpha - 1, count)
                };
            }
            let remembered = count >= REMEMBERED;
            let key = if remembered { board.hash() } else { 0 };
            let known = if remembered { self.table.find(key) } else { None };
            if let Some(bound) = known.and_then(|entry| exact_bound(entry, alpha, count)) {
                return bound;
            }
            let mut moves = Moves::of(cpu, board, legal);
            if moves.wipe_out(board.opponent) {
                return 64;
            }
            if count >= CHILDREN_LOOKED_UP
                && let Some(bound) = self.bound_of_children(&moves, board, alpha, count)
            {
                return bound;
            }
            self.order_for_the_end(&mut moves, board, known);
            let (mut best, mut best_square) = (i32::MIN, NO_SQUARE);
            while let Some(chosen) = moves.take_best() {
                let child = board.play(chosen.square, chosen.flips);
                let value = -if count - 1 <= PLAIN {
                    self.solve_plain(child, -alpha - 1, count - 1, odd_quarters(child.empties()))
                } else {
                    self.solve_ordered(child, -alpha - 1, count - 1)
                };
                if value > best {
                    (best, best_square) = (value, chosen.square);
                    if value > alpha {
                        break;
                    }
                }
            }
            if remembered && !self.stopped {
                self.table.keep(key, exact_entry(best, best_square, alpha, count));
            }
            best
        })
    }

    /// An upper bound of the score by the opponent's stable discs, unless it is above alpha.
    #[inline(always)]
    pub(super) fn stable_bound(&self, board: Board, alpha: i32, count: u32) -> Option<i32> {
        if alpha < STABLE_FROM[count as usize & 63] {
            return None;
        }
        let bound = 64 - 2 * stability::count(self.cpu, board.opponent, board.own).cast_signed();
        (bound <= alpha).then_some(bound)
    }

    /// A lower bound above alpha from a child's table entry.
    #[inline(always)]
    fn bound_of_children(&self, moves: &Moves, board: Board, alpha: i32, count: u32) -> Option<i32> {
        moves.iter().find_map(|tried| {
            let child = board.play(tried.square, tried.flips);
            let entry = self.table.find(child.hash())?;
            let upper = in_discs_up(entry.upper.into());
            (is_exact(entry, count - 1) && -upper > alpha).then_some(-upper)
        })
    }

    /// Fewest replies first, with corners counted twice; then parity and the kind of square.
    #[inline(always)]
    fn order_for_the_end(&self, moves: &mut Moves, board: Board, known: Option<Entry>) {
        let odd = squares_of(odd_quarters(board.empties()));
        let cpu = self.cpu;
        moves.score(|tried: &OrderedMove| {
            if let Some(entry) = known {
                if tried.square == entry.best {
                    return 1 << 20;
                }
                if tried.square == entry.second {
                    return 1 << 19;
                }
            }
            let child = board.play(tried.square, tried.flips);
            let replies = child.moves(cpu);
            let weight = replies.count_ones() + (replies & CORNERS).count_ones();
            let parity = i32::from(odd >> tried.square & 1 == 1);
            let noise = self.move_noise(tried.square, END_MOVE_NOISE);
            PLACE_WORTH[usize::from(tried.square)] + 4 * parity - 16 * weight.cast_signed() + noise
        });
    }
}

/// The maximum of a helper's random term: the worth of two replies.
const END_MOVE_NOISE: i32 = 32;

pub(super) const CORNERS: u64 = 0x8100_0000_0000_0081;

/// The static worth of each square for move ordering, after the weights in Edax: corners are best, diagonal neighbours
/// worst.
pub(super) static PLACE_WORTH: [i32; 64] = {
    let quarter = [[18, 4, 16, 12], [4, 2, 6, 8], [16, 6, 14, 10], [12, 8, 10, 0]];
    let mut worth = [0; 64];
    let mut square = 0;
    while square < 64 {
        let (column, row) = (square % 8, square / 8);
        let c = if column < 4 { column } else { 7 - column };
        let r = if row < 4 { row } else { 7 - row };
        worth[square] = quarter[r][c];
        square += 1;
    }
    worth
};

fn is_exact(entry: Entry, count: u32) -> bool {
    u32::from(entry.effort.depth) >= count && entry.effort.certainty == SURE
}

/// A bound of an exact entry that decides the window, in discs.
#[inline(always)]
fn exact_bound(entry: Entry, alpha: i32, count: u32) -> Option<i32> {
    if !is_exact(entry, count) {
        return None;
    }
    let (lower, upper) = (in_discs_down(entry.lower.into()), in_discs_up(entry.upper.into()));
    if lower > alpha {
        Some(lower)
    } else if upper <= alpha {
        Some(upper)
    } else {
        None
    }
}

fn exact_entry(best: i32, square: u8, alpha: i32, count: u32) -> Entry {
    let value = (best * DISC) as i16;
    let (lower, upper) = if best > alpha { (value, (64 * DISC) as i16) } else { ((-64 * DISC) as i16, value) };
    Entry {
        lower,
        upper,
        effort: Effort { depth: count as u8, certainty: SURE },
        best: if best > alpha { square } else { NO_SQUARE },
        second: NO_SQUARE,
    }
}

/// A lower bound of an even number of discs.
fn in_discs_down(value: Value) -> i32 {
    -(-value).div_euclid(DISC)
}

fn in_discs_up(value: Value) -> i32 {
    value.div_euclid(DISC)
}

#[cfg(test)]
mod tests {
    use super::super::cpu::Portable;
    use super::super::tests::{minimax, random_board, searcher, seeds};
    use super::super::transposition::TranspositionTable;
    use super::*;
    use crate::search::Stop;

    fn solves_as_minimax(cpu: impl Cpu, empties: u32, seed: u64) {
        let (table, stop) = (TranspositionTable::ready(1 << 16), Stop::new());
        let board = random_board(seed, empties);
        let score = minimax(board);
        for alpha in [-65, score - 2, score - 1, score, score + 1, 64] {
            let value = searcher(cpu, &table, &stop).solve(board, alpha);
            let bounds_it = if value > alpha { value <= score } else { value >= score };
            assert!(bounds_it && (value > alpha) == (score > alpha), "{board:?} {alpha} {value} {score}");
        }
    }

    #[test]
    fn the_solver_agrees_with_exhaustive_search() {
        for seed in seeds(60) {
            for empties in 1..=9 {
                solves_as_minimax(Portable, empties, seed);
            }
        }
        for seed in seeds(5) {
            solves_as_minimax(Portable, 10, seed);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_solver_is_the_same_with_wide_instructions() {
        let Some(modern) = super::super::cpu::Modern::detect() else {
            return;
        };
        for seed in seeds(60) {
            for empties in 1..=9 {
                solves_as_minimax(modern, empties, seed);
            }
        }
    }
}
