//! The one game that all bots of the bench play, known to the checks and to the baseline server, which has no rules.

use reversi::rules::{Bitboard, Color, Position, Square};

#[derive(Debug)]
pub(crate) struct FixedGame {
    pub(crate) turns: Vec<FixedTurn>,
    /// The final position.
    pub(crate) last: Position,
}

/// A position and the move played in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedTurn {
    /// Counts passes too.
    pub(crate) ply: u16,
    pub(crate) position: Position,
    pub(crate) square: Square,
}

impl FixedTurn {
    pub(crate) fn mover(&self) -> Color {
        self.position.turn()
    }
}

impl FixedGame {
    pub(crate) fn new() -> Self {
        let (mut turns, mut position, mut ply) = (Vec::new(), Position::START, 0);
        while let Some(square) = choice(position) {
            turns.push(FixedTurn { ply, position, square });
            let (after, passed) = position.play_unchecked(square).after_forced_pass();
            position = after;
            ply += if passed.is_some() { 2 } else { 1 };
        }
        Self { turns, last: position }
    }

    /// The number of moves of a side.
    pub(crate) fn moves_of(&self, side: Color) -> usize {
        self.turns.iter().filter(|turn| turn.mover() == side).count()
    }
}

/// A legal move that depends only on the position. Always the first one would give fewer legal moves than usual.
fn choice(position: Position) -> Option<Square> {
    let legal: Bitboard = position.legal_moves();
    let [black, white] = Color::ALL.map(|side| position.board().discs(side).0);
    let any = (black ^ white.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let any = usize::try_from(any % u64::from(legal.count().max(1))).unwrap_or_default();
    legal.iter().nth(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_game_is_complete_and_of_usual_length() {
        let fixed_game = FixedGame::new();
        assert!(fixed_game.last.is_over());
        assert!(fixed_game.turns.len() > 55, "{} moves", fixed_game.turns.len());
        assert_eq!(fixed_game.moves_of(Color::Black) + fixed_game.moves_of(Color::White), fixed_game.turns.len());
        let legal: u32 = fixed_game.turns.iter().map(|turn| u32::from(turn.position.legal_moves().count())).sum();
        let mean = f64::from(legal) / fixed_game.turns.len() as f64;
        assert!((6.0..11.0).contains(&mean), "{mean} legal moves on average");
    }
}
