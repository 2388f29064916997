//! Random but even openings, for matches between programs.
use super::{Bitboard, Color, Position, SplitMix64, Square, Transcript};

/// Openings that are even by the engine's evaluation, one per line, made by `reversi openings` as its first lines
/// describe.
const BALANCED: &str = include_str!("openings.txt");

/// The length of a balanced opening in plies.
pub const BALANCED_PLIES: u8 = 8;

/// The maximum plies of a random opening.
pub const MAX_PLIES: u8 = 20;

/// The maximum random lines to try for an even one. Most seeds need fewer than ten.
const TRIES: u32 = 1000;

/// A repeatable random opening: `plies` legal moves (at most [`MAX_PLIES`]) from the standard start, passes implied,
/// after which the game is not over. The same arguments always give the same moves.
///
/// The opening is even: no corner is taken, the disc counts differ by at most 6, and the numbers of legal moves of the
/// two sides by at most 3. If no tried line is even, the least uneven one is returned.
#[must_use]
pub fn random(plies: u8, seed: u64) -> Vec<Square> {
    let plies = plies.min(MAX_PLIES);
    let mut random = SplitMix64::new(seed);
    let mut best: Option<(u32, Vec<Square>)> = None;
    for _ in 0..TRIES {
        let Some((squares, end)) = random_line(plies, &mut random) else {
            continue;
        };
        let unevenness = unevenness(end);
        if best.as_ref().is_none_or(|(least, _)| unevenness < *least) {
            best = Some((unevenness, squares));
        }
        if unevenness == 0 {
            break;
        }
    }
    best.map(|(_, squares)| squares).unwrap_or_default()
}

/// Opening `index`, from 0, of a fixed list of even openings, in an order given by the seed. None repeats before all
/// were used. The same arguments give the same moves while the list does not change.
#[must_use]
pub fn balanced(seed: u64, index: u32) -> Vec<Square> {
    let mut order: Vec<&str> = lines().collect();
    let mut random = SplitMix64::new(seed);
    // Fisher-Yates shuffle; the list is much shorter than 2^16.
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u16 + 1));
    }
    let line = order.get(index as usize % order.len().max(1)).and_then(|line| line.parse::<Transcript>().ok());
    line.map(|line| line.squares().to_vec()).unwrap_or_default()
}

/// The number of balanced openings.
#[must_use]
pub fn balanced_count() -> usize {
    lines().count()
}

fn lines() -> impl Iterator<Item = &'static str> {
    BALANCED.lines().filter(|line| !line.starts_with('#'))
}

/// Uniformly random moves and the position after them; `None` if they end the game.
#[must_use]
pub fn random_line(plies: u8, random: &mut SplitMix64) -> Option<(Vec<Square>, Position)> {
    let mut squares = Vec::with_capacity(plies.into());
    let mut position = Position::START;
    for _ in 0..plies {
        let moves = position.legal_moves();
        let square = moves.iter().nth(random.below(moves.count().into()))?;
        position = position.play_unchecked(square).after_forced_pass().0;
        squares.push(square);
    }
    (!position.is_over()).then_some((squares, position))
}

/// The excess over the bounds documented at [`random`]; 0 is even.
fn unevenness(position: Position) -> u32 {
    const MAX_DISCS: u32 = 6;
    const MAX_MOVES: u32 = 3;
    let board = position.board();
    let corners = (Bitboard::CORNERS & !board.empties()).count();
    let discs = board.count(Color::Black).abs_diff(board.count(Color::White));
    let moves = |color| board.legal_moves(color).count();
    let mobility = moves(Color::Black).abs_diff(moves(Color::White));
    u32::from(corners) * 64 + u32::from(discs).saturating_sub(MAX_DISCS) + u32::from(mobility).saturating_sub(MAX_MOVES)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;
    use crate::rules::Symmetry;

    #[test]
    fn the_listed_openings_are_legal_long_enough_and_all_different() {
        let mut boards = HashSet::new();
        for line in lines() {
            let opening: Transcript = line.parse().unwrap();
            assert_eq!(opening.squares().len(), usize::from(BALANCED_PLIES), "{line}");
            assert_eq!(opening.to_string(), line, "a line has only moves");
            assert_eq!(opening.position().turn(), Color::Black, "no side has passed: {line}");
            assert!(!opening.position().legal_moves().is_empty(), "{line}");
            assert!(
                boards.insert(Symmetry::normal(opening.position().board())),
                "{line} is there already, maybe turned"
            );
        }
        assert!((300..=usize::from(u16::MAX)).contains(&boards.len()));
    }

    #[test]
    fn a_seed_orders_the_list_and_each_opening_is_used_once() {
        let count = lines().count() as u32;
        let all: BTreeSet<_> = (0..count).map(|index| balanced(7, index)).collect();
        assert_eq!(all.len(), count as usize);
        assert_eq!(balanced(7, count + 3), balanced(7, 3));
        assert_ne!(balanced(7, 0), balanced(8, 0));
        assert_ne!(balanced(0, 0).len(), 0);
    }

    #[test]
    fn every_opening_is_legal_balanced_and_unfinished() {
        for plies in 0..=MAX_PLIES {
            for seed in 0..50 {
                let squares = random(plies, seed);
                assert_eq!(squares.len(), usize::from(plies));
                let end = Transcript::from_squares(squares).unwrap().position();
                assert!(!end.is_over());
                assert_eq!(unevenness(end), 0, "{plies} plies, seed {seed}");
            }
        }
    }

    #[test]
    fn a_seed_gives_one_opening_and_seeds_differ() {
        assert_eq!(random(10, 7), random(10, 7));
        let different: BTreeSet<_> = (0..100).map(|seed| random(8, seed)).collect();
        assert!(different.len() > 90);
        assert_eq!(random(255, 1).len(), usize::from(MAX_PLIES));
    }

    #[test]
    fn the_openings_of_a_seed_never_change() {
        let text = Transcript::from_squares(random(8, 1)).unwrap().to_string();
        assert_eq!(text, "f5f6f7c5b5g7h7b6");
    }

    #[test]
    fn unevenness_is_larger_than_any_result_for_lopsided_positions() {
        assert_eq!(unevenness(Position::START), 0);
        let lopsided: Position = format!("XX-{}XXXXXXO{} X", "-".repeat(24), "-".repeat(30)).parse().unwrap();
        assert_eq!(unevenness(lopsided), 64 + 1);
    }
}
