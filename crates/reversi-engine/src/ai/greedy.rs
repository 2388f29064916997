//! The player that flips the most discs.
use crate::rules::{Bitboard, Position};

/// The legal moves that flip the most discs.
pub(super) fn most_flipping(position: Position) -> Bitboard {
    let flipped = |square| position.board().flips(position.turn(), square).count();
    let max = position.legal_moves().iter().map(flipped).max();
    position.legal_moves().iter().filter(|&square| Some(flipped(square)) == max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_capture_is_chosen_and_equal_ones_are_all_kept() {
        assert_eq!(most_flipping(Position::START), Position::START.legal_moves());
        let text = format!("XOO-----XO------XOO-----{} X", "-".repeat(40));
        let position: Position = text.parse().unwrap();
        assert_eq!(format!("{:?}", position.legal_moves()), "{d1, c2, d3, c4, d4}");
        assert_eq!(format!("{:?}", most_flipping(position)), "{d1, d3, d4}");
    }
}
