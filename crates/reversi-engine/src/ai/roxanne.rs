//! Canosa's player Roxanne: a fixed order of squares, fast enough for playouts.
use rand::Rng;

use crate::rules::{Bitboard, Square};
use crate::search::below;

/// The legal moves of the best tier that has any; empty without a legal move.
pub(super) fn best_tier(legal: Bitboard) -> Bitboard {
    TIERS.into_iter().map(|tier| tier & legal).find(|moves| !moves.is_empty()).unwrap_or_default()
}

/// A uniformly random square of the set.
pub(super) fn any_of(squares: Bitboard, rng: &mut impl Rng) -> Option<Square> {
    let skipped = below(rng, squares.count().into());
    squares.iter().nth(skipped as usize)
}

/// From the best to the worst. The tiers are disjoint and have every square except the four in the centre, which are
/// never empty.
const TIERS: [Bitboard; 9] = [
    Bitboard::CORNERS,
    tier([2, 5], [2, 5]),
    tier([3, 4], [2, 5]),
    tier([2, 5], [0, 7]),
    tier([3, 4], [0, 7]),
    tier([2, 5], [1, 6]),
    tier([3, 4], [1, 6]),
    tier([1, 6], [1, 6]),
    tier([1, 6], [0, 7]),
];

/// The squares with a row of `a` and a column of `b`, or a row of `b` and a column of `a`.
const fn tier(a: [u8; 2], b: [u8; 2]) -> Bitboard {
    let mut bits = 0;
    let mut index = 0;
    while index < 4 {
        let (a, b) = (a[index / 2], b[index % 2]);
        bits |= 1 << (8 * a + b) | 1 << (8 * b + a);
        index += 1;
    }
    Bitboard(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of the source, (row, column).
    const DESCRIBED: [&[(u8, u8)]; 9] = [
        &[(0, 0), (0, 7), (7, 0), (7, 7)],
        &[(2, 2), (2, 5), (5, 2), (5, 5)],
        &[(3, 2), (3, 5), (4, 2), (4, 5), (2, 3), (2, 4), (5, 3), (5, 4)],
        &[(2, 0), (2, 7), (5, 0), (5, 7), (0, 2), (0, 5), (7, 2), (7, 5)],
        &[(3, 0), (3, 7), (4, 0), (4, 7), (0, 3), (0, 4), (7, 3), (7, 4)],
        &[(2, 1), (2, 6), (5, 1), (5, 6), (1, 2), (1, 5), (6, 2), (6, 5)],
        &[(3, 1), (3, 6), (4, 1), (4, 6), (1, 3), (1, 4), (6, 3), (6, 4)],
        &[(1, 1), (1, 6), (6, 1), (6, 6)],
        &[(1, 0), (1, 7), (6, 0), (6, 7), (0, 1), (0, 6), (7, 1), (7, 6)],
    ];

    #[test]
    fn the_tiers_are_as_documented() {
        for (tier, described) in TIERS.into_iter().zip(DESCRIBED) {
            let described = described.iter().map(|&(row, column)| Square::at(column, row).unwrap());
            assert_eq!(tier, described.collect());
        }
        let all = TIERS.into_iter().fold(Bitboard::EMPTY, |all, tier| {
            assert!((all & tier).is_empty(), "disjoint");
            all | tier
        });
        assert_eq!(format!("{:?}", !all), "{d4, e4, d5, e5}");
    }

    #[test]
    fn all_legal_moves_of_the_first_tier_are_candidates() {
        let legal = Bitboard(0x0000_0000_0000_FF81);
        assert_eq!(best_tier(legal), Bitboard(0x81), "corners before all of row 2");
        let legal = Bitboard(0b0111_1111 << 8);
        assert_eq!(format!("{:?}", best_tier(legal)), "{c2, f2}");
        let x_or_c = Bitboard(1 << 9 | 1 << 8);
        assert_eq!(format!("{:?}", best_tier(x_or_c)), "{b2}", "X before C");
        assert_eq!(best_tier(Bitboard::EMPTY), Bitboard::EMPTY);
    }

    #[test]
    fn every_square_of_a_tier_is_chosen_sometimes() {
        let mut rng = crate::ai::seeded_rng(1);
        let drawn: Bitboard = (0..100).filter_map(|_| any_of(Bitboard(0x8001_0110), &mut rng)).collect();
        assert_eq!(drawn, Bitboard(0x8001_0110));
        assert_eq!(any_of(Bitboard::EMPTY, &mut rng), None);
    }
}
