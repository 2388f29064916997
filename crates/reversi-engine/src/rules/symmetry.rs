//! The eight symmetries of the board.
use super::{Bitboard, Board, Color, Square};

/// A rotation or reflection of the board. A position and its image have the same value and corresponding moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symmetry {
    /// Every square stays.
    Identity,
    /// A quarter turn clockwise: a1 goes to h1.
    QuarterTurn,
    /// A half turn: a1 goes to h8.
    HalfTurn,
    /// A quarter turn counter-clockwise: a1 goes to a8.
    ThreeQuarterTurn,
    /// Left and right change places: a1 goes to h1, a8 to h8.
    MirrorColumns,
    /// Top and bottom change places: a1 goes to a8, h1 to h8.
    MirrorRows,
    /// Columns and rows change places: a1 stays, h1 goes to a8.
    MainDiagonal,
    /// Mirrored in the other diagonal: h1 stays, a1 goes to h8.
    AntiDiagonal,
}

impl Symmetry {
    /// All symmetries.
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::QuarterTurn,
        Self::HalfTurn,
        Self::ThreeQuarterTurn,
        Self::MirrorColumns,
        Self::MirrorRows,
        Self::MainDiagonal,
        Self::AntiDiagonal,
    ];

    /// The symmetry that undoes this one.
    #[must_use]
    pub const fn inverse(self) -> Self {
        match self {
            Self::QuarterTurn => Self::ThreeQuarterTurn,
            Self::ThreeQuarterTurn => Self::QuarterTurn,
            own_inverse => own_inverse,
        }
    }

    /// The image of a square.
    #[must_use]
    pub const fn square(self, square: Square) -> Square {
        Square::of_lowest_bit(self.bitboard(Bitboard::of(square)).0)
    }

    /// The image of a set of squares.
    #[must_use]
    pub const fn bitboard(self, Bitboard(bits): Bitboard) -> Bitboard {
        Bitboard(match self {
            Self::Identity => bits,
            Self::QuarterTurn => mirror_columns(transpose(bits)),
            Self::HalfTurn => bits.reverse_bits(),
            Self::ThreeQuarterTurn => transpose(mirror_columns(bits)),
            Self::MirrorColumns => mirror_columns(bits),
            Self::MirrorRows => bits.swap_bytes(),
            Self::MainDiagonal => transpose(bits),
            Self::AntiDiagonal => transpose(bits.reverse_bits()),
        })
    }

    /// The image of a board.
    #[must_use]
    pub fn board(self, board: Board) -> Board {
        let image = |color| self.bitboard(board.discs(color));
        Board::of_disjoint(image(Color::Black), image(Color::White))
    }

    /// The canonical image of a board: the one with the smallest bits as numbers.
    #[must_use]
    pub fn normal(board: Board) -> Board {
        let bits = |board: &Board| (board.discs(Color::Black).0, board.discs(Color::White).0);
        let least = |least: Board, symmetry: Self| std::cmp::min_by_key(least, symmetry.board(board), bits);
        Self::ALL.into_iter().fold(board, least)
    }
}

/// Reverses each byte, which is a row.
const fn mirror_columns(bits: u64) -> u64 {
    bits.reverse_bits().swap_bytes()
}

/// Swaps the two off-diagonal quarters of the 8x8, then of each 4x4, then of each 2x2.
const fn transpose(bits: u64) -> u64 {
    let bits = swap_distant(bits, 0x0000_0000_F0F0_F0F0, 28);
    let bits = swap_distant(bits, 0x0000_CCCC_0000_CCCC, 14);
    swap_distant(bits, 0x00AA_00AA_00AA_00AA, 7)
}

/// Exchanges each bit of `mask` with the bit `distance` above it.
const fn swap_distant(bits: u64, mask: u64, distance: u32) -> u64 {
    let different = (bits ^ (bits >> distance)) & mask;
    bits ^ different ^ (different << distance)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn by_coordinates(symmetry: Symmetry, square: Square) -> Square {
        let (c, r) = (square.column(), square.row());
        let (column, row) = match symmetry {
            Symmetry::Identity => (c, r),
            Symmetry::QuarterTurn => (7 - r, c),
            Symmetry::HalfTurn => (7 - c, 7 - r),
            Symmetry::ThreeQuarterTurn => (r, 7 - c),
            Symmetry::MirrorColumns => (7 - c, r),
            Symmetry::MirrorRows => (c, 7 - r),
            Symmetry::MainDiagonal => (r, c),
            Symmetry::AntiDiagonal => (7 - r, 7 - c),
        };
        Square::at(column, row).unwrap()
    }

    #[test]
    fn each_symmetry_matches_its_coordinates() {
        for symmetry in Symmetry::ALL {
            for square in Square::ALL {
                let image = symmetry.square(square);
                assert_eq!(image, by_coordinates(symmetry, square), "{symmetry:?} {square}");
                assert_eq!(symmetry.inverse().square(image), square);
            }
        }
        let b1 = Square::new(1).unwrap();
        let images: BTreeSet<_> = Symmetry::ALL.into_iter().map(|s| s.square(b1)).collect();
        assert_eq!(images.len(), 8, "no two are the same");
    }

    proptest! {
        #[test]
        fn legal_moves_are_mapped_like_the_discs(black: u64, white: u64, which in 0..8_usize) {
            let symmetry = Symmetry::ALL[which];
            let board = Board::new(Bitboard(black & !white), Bitboard(white & !(black << 3))).unwrap();
            let image = symmetry.board(board);
            prop_assert_eq!(symmetry.inverse().board(image), board);
            prop_assert_eq!(Symmetry::normal(image), Symmetry::normal(board));
            prop_assert!(Symmetry::ALL.iter().any(|symmetry| symmetry.board(board) == Symmetry::normal(board)));
            for color in Color::ALL {
                prop_assert_eq!(image.legal_moves(color), symmetry.bitboard(board.legal_moves(color)));
            }
        }
    }
}
