//! Random but even openings, so that matches between programs do not all begin alike.
use super::{Bitboard, Color, Position, SplitMix64, Square};

/// Longer openings are cut to this; a game can hardly be called opening after it.
pub const MAX_PLIES: u8 = 20;

/// How many random lines are tried for an even one. Most seeds need fewer than ten.
const TRIES: u32 = 1000;

/// A repeatable random opening: `plies` legal moves from the standard start (at most [`MAX_PLIES`]), passes implied, after which the game
/// goes on. The same arguments give the same moves for ever.
///
/// The opening is even by three plain measures: no corner is taken, the disc counts differ by at most 6, and the
/// counts of legal moves (each side's, were it to move) differ by at most 3. Should no tried line be even,
/// the least uneven one is given.
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

/// Uniformly random moves, and the position they lead to; `None` when they end the game.
fn random_line(plies: u8, random: &mut SplitMix64) -> Option<(Vec<Square>, Position)> {
    let mut squares = Vec::with_capacity(plies.into());
    let mut position = Position::START;
    for _ in 0..plies {
        let moves = position.legal_moves();
        let square = moves.iter().nth(random.below(moves.count()))?;
        position = position.play_unchecked(square).settle().0;
        squares.push(square);
    }
    (!position.is_over()).then_some((squares, position))
}

/// By how much the documented bounds are exceeded; 0 is even.
fn unevenness(position: Position) -> u32 {
    const MOST_DISCS: u32 = 6;
    const MOST_MOVES: u32 = 3;
    let board = position.board();
    let corners = (Bitboard::CORNERS & !board.empties()).count();
    let discs = board.count(Color::Black).abs_diff(board.count(Color::White));
    let moves = |color| board.legal_moves(color).count();
    let mobility = moves(Color::Black).abs_diff(moves(Color::White));
    u32::from(corners) * 64
        + u32::from(discs).saturating_sub(MOST_DISCS)
        + u32::from(mobility).saturating_sub(MOST_MOVES)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rules::Transcript;

    #[test]
    fn every_opening_is_legal_even_and_goes_on() {
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
    fn bounds_are_counted_beyond_the_documented_ones() {
        assert_eq!(unevenness(Position::START), 0);
        let lopsided: Position = format!("XX-{}XXXXXXO{} X", "-".repeat(24), "-".repeat(30)).parse().unwrap();
        assert_eq!(unevenness(lopsided), 64 + 1);
    }
}
