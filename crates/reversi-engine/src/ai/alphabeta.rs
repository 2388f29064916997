//! The alpha-beta player: corners, stable edge runs, mobility and frontier, after OrangeX5's program.
use crate::rules::{Bitboard, Color, Position};
use crate::search::{Ending, Heuristic};

use super::Reversi;

/// The search depth by the number of legal moves: the original's 6, 5 or 4, plus 1 because its depth 0 searches one
/// ply.
pub(super) fn plies(legal_moves: u8) -> u8 {
    let depth = match legal_moves {
        0..5 => 6,
        5..10 => 5,
        _ => 4,
    };
    depth + 1
}

/// 8 corner + 12 steady + 8 mobility + 4 frontier for the side to move. Each term is own minus opponent's, except
/// mobility, which is own. A finished game is worth 10,000 times the difference in discs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Orange;

impl Heuristic<Reversi> for Orange {
    fn value(&self, position: &Position) -> i32 {
        let mobility = i32::from(position.legal_moves().count());
        8 * corner(*position) + 12 * steady(*position) + 8 * mobility + 4 * frontier(*position)
    }

    fn ended(&self, position: &Position, _ending: Ending) -> i32 {
        10_000 * difference(*position, Bitboard::FULL)
    }
}

/// The number of own minus opponent's discs on these squares.
fn difference(position: Position, among: Bitboard) -> i32 {
    let count = |color: Color| i32::from((position.board().discs(color) & among).count());
    count(position.turn()) - count(position.turn().opposite())
}

/// 15 for each taken corner. Around each empty corner: -3 for its orthogonal neighbours, -6 for the diagonal one, 4 for
/// the edge squares two away, 2 for the squares a knight's move away.
fn corner(position: Position) -> i32 {
    let empty = position.board().empties();
    let mut around = Corner::NONE;
    for corner in CORNERS {
        if !(empty & corner.itself).is_empty() {
            around.c |= corner.c;
            around.x |= corner.x;
            around.two_away |= corner.two_away;
            around.knight |= corner.knight;
        }
    }
    15 * difference(position, Bitboard::CORNERS)
        - 3 * difference(position, around.c)
        - 6 * difference(position, around.x)
        + 4 * difference(position, around.two_away)
        + 2 * difference(position, around.knight)
}

/// The number of discs in unbroken runs of a corner's colour along its two edges, without the corner.
fn steady(position: Position) -> i32 {
    let own = position.board().discs(position.turn());
    let opponent = position.board().discs(position.turn().opposite());
    edge_runs(own) - edge_runs(opponent)
}

fn edge_runs(discs: Bitboard) -> i32 {
    (discs & Bitboard::CORNERS)
        .iter()
        .map(|corner| {
            let sideways = if corner.column() == 0 { 1 } else { -1 };
            let lengthways = if corner.row() == 0 { 8 } else { -8 };
            run(discs, corner.index(), sideways) + run(discs, corner.index(), lengthways)
        })
        .sum()
}

/// The length of the unbroken run of discs after `from`, 0 to 7.
fn run(discs: Bitboard, from: u8, step: i32) -> i32 {
    (1..8).take_while(|distance| discs.0 >> (i32::from(from) + step * distance) & 1 == 1).count() as i32
}

/// The number of opponent's minus own discs of the inner 6x6 that touch an empty square.
fn frontier(position: Position) -> i32 {
    const INNER: u64 = 0x007E_7E7E_7E7E_7E00;
    let empty = position.board().empties().0;
    // Bits that a shift wraps around land in column a or h, outside the 6x6.
    let beside = empty | empty << 1 | empty >> 1;
    let touching = beside | beside << 8 | beside >> 8;
    -difference(position, Bitboard(touching & INNER))
}

/// A corner and the squares around it that count while it is empty.
#[derive(Clone, Copy)]
struct Corner {
    itself: Bitboard,
    c: Bitboard,
    x: Bitboard,
    two_away: Bitboard,
    knight: Bitboard,
}

impl Corner {
    const NONE: Self = Self {
        itself: Bitboard::EMPTY,
        c: Bitboard::EMPTY,
        x: Bitboard::EMPTY,
        two_away: Bitboard::EMPTY,
        knight: Bitboard::EMPTY,
    };

    /// The corner in this column and row, each 0 or 7.
    const fn at(column: u8, row: u8) -> Self {
        const fn set(squares: [(u8, u8); 2], column: u8, row: u8) -> Bitboard {
            let mut bits = 0;
            let mut index = 0;
            while index < 2 {
                let (right, down) = squares[index];
                bits |= 1 << (row.abs_diff(down) * 8 + column.abs_diff(right));
                index += 1;
            }
            Bitboard(bits)
        }
        Self {
            itself: set([(0, 0); 2], column, row),
            c: set([(1, 0), (0, 1)], column, row),
            x: set([(1, 1); 2], column, row),
            two_away: set([(2, 0), (0, 2)], column, row),
            knight: set([(2, 1), (1, 2)], column, row),
        }
    }
}

const CORNERS: [Corner; 4] = [Corner::at(0, 0), Corner::at(7, 0), Corner::at(0, 7), Corner::at(7, 7)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Board, Square};

    fn squares(names: &str) -> Bitboard {
        names.split_whitespace().map(|name| name.parse::<Square>().unwrap()).collect()
    }

    /// Black to move.
    fn position(black: &str, white: &str) -> Position {
        Position::new(Board::new(squares(black), squares(white)).unwrap(), Color::Black)
    }

    /// Each term must be the opposite for the other side.
    fn both_sides(term: fn(Position) -> i32, position: Position) -> i32 {
        assert_eq!(term(position), -term(position.pass_unchecked()));
        term(position)
    }

    #[test]
    fn the_depth_falls_with_the_number_of_moves() {
        let rule: Vec<u8> = (1..=11).map(plies).collect();
        assert_eq!(rule, [7, 7, 7, 7, 6, 6, 6, 6, 6, 5, 5]);
    }

    #[test]
    fn the_squares_around_an_empty_corner_count_and_a_taken_corner_is_15() {
        for (black, value) in [
            ("b1", -3),
            ("a2", -3),
            ("h7", -3),
            ("g8", -3),
            ("b2", -6),
            ("g2", -6),
            ("b7", -6),
            ("g7", -6),
            ("c1", 4),
            ("a3", 4),
            ("f8", 4),
            ("h6", 4),
            ("b3", 2),
            ("c2", 2),
            ("f7", 2),
            ("g6", 2),
            ("g3", 2),
            ("b6", 2),
            ("d1", 0),
            ("c3", 0),
            ("d4", 0),
            ("a1", 15),
            ("h1", 15),
            ("a8", 15),
            ("h8", 15),
        ] {
            assert_eq!(both_sides(corner, position(black, "d5")), value, "{black}");
        }
        assert_eq!(both_sides(corner, position("b1 a2 b2 c1", "a1")), -15, "only the corner once it is taken");
        assert_eq!(both_sides(corner, position("b1 a1", "h8 b2")), 0);
    }

    #[test]
    fn runs_from_taken_corners_are_stable() {
        assert_eq!(both_sides(steady, position("b1 c1 d1", "")), 0, "no corner");
        assert_eq!(both_sides(steady, position("a1", "h8")), 0);
        assert_eq!(both_sides(steady, position("a1 b1 c1 e1 a2", "d1")), 3);
        assert_eq!(both_sides(steady, position("h8 g8 h7 h6", "a1 b1")), 3 - 1);
        let whole_edge = "a1 b1 c1 d1 e1 f1 g1 h1";
        assert_eq!(both_sides(steady, position(whole_edge, "")), 14, "seven from either corner");
    }

    #[test]
    fn inner_discs_beside_an_empty_square_are_the_frontier() {
        assert_eq!(both_sides(frontier, position("d4", "")), -1);
        assert_eq!(both_sides(frontier, position("d1 a4", "")), 0, "the edge is not counted");
        let around = "c3 d3 e3 c4 e4 c5 d5 e5";
        assert_eq!(both_sides(frontier, position("d4", around)), 8, "a surrounded disc is not counted");
        // All but a8 is filled: only b7 touches it, though the row wraps from h7 in the numbering.
        let all_but_a8 = Board::new(Bitboard(1 << 49), !Bitboard(1 << 49 | 1 << 56)).unwrap();
        assert_eq!(frontier(Position::new(all_but_a8, Color::Black)), -1);
    }

    #[test]
    fn the_terms_are_weighed_as_described() {
        let start = Position::START;
        assert_eq!(Orange.value(&start), 8 * 4);
        let after = start.play("f5".parse().unwrap()).unwrap();
        // White to move: three moves; frontier 4 black discs against 1 white.
        assert_eq!(Orange.value(&after), 8 * 3 + 4 * 3);
        let cornered = position("a1 b1", "d4 e4");
        assert_eq!(Orange.value(&cornered), 8 * 15 + 12 + 4 * 2);
    }

    #[test]
    fn a_finished_game_is_worth_its_discs() {
        let end = position("a1 b1 c1", "h8");
        assert_eq!(Orange.ended(&end, Ending::Won), 20_000);
        assert_eq!(Orange.ended(&end.pass_unchecked(), Ending::Lost), -20_000);
    }
}
