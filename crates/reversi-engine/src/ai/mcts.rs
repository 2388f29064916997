//! Playouts for `mcts` and `mcts-roxanne`, and a reward.
use rand::Rng;

use crate::rules::{Bitboard, Color, Position};
use crate::search::{Game, Playout, Reward, Side};

use super::{Reversi, roxanne};

/// A playout of uniformly random moves: the games of [`RandomPlayout`](crate::search::RandomPlayout), without move
/// lists.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomGame;

impl Playout<Reversi> for RandomGame {
    fn play_out(&self, position: &Position, rng: &mut impl Rng) -> Position {
        play_out(*position, rng, |legal| legal)
    }
}

/// A playout in which both sides play like Roxanne.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoxanneGame;

impl Playout<Reversi> for RoxanneGame {
    fn play_out(&self, position: &Position, rng: &mut impl Rng) -> Position {
        play_out(*position, rng, roxanne::best_tier)
    }
}

/// The final difference in discs on the board.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiscDifference;

impl Reward<Reversi> for DiscDifference {
    fn reward(&self, end: &Position, side: Side) -> f64 {
        let count = |color: Color| f64::from(end.board().count(color));
        let to_move = count(end.turn()) - count(end.turn().opposite());
        if Reversi::turn(end) == side { to_move } else { -to_move }
    }
}

fn play_out(mut position: Position, rng: &mut impl Rng, candidates: impl Fn(Bitboard) -> Bitboard) -> Position {
    let mut passed = false;
    loop {
        match roxanne::any_of(candidates(position.legal_moves()), rng) {
            Some(square) => {
                position = position.play_unchecked(square);
                passed = false;
            }
            None if passed => return position,
            None => {
                position = position.pass_unchecked();
                passed = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ai::seeded_rng;

    fn mean_difference(playout: &impl Playout<Reversi>) -> f64 {
        let mut rng = seeded_rng(5);
        let sum: f64 = (0..2000)
            .map(|_| {
                let end = playout.play_out(&Position::START, &mut rng);
                assert!(end.is_over());
                DiscDifference.reward(&end, Side::First)
            })
            .sum();
        sum / 2000.0
    }

    #[test]
    fn playouts_end_and_are_about_even_from_the_start() {
        for mean in [mean_difference(&RandomGame), mean_difference(&RoxanneGame)] {
            assert!(mean.abs() < 6.0, "{mean}");
        }
    }

    #[test]
    fn a_roxanne_playout_takes_an_available_corner() {
        // Black may take a1 or nothing better; the game ends at once.
        let text = format!("-OX-----{}-------- X", "-".repeat(48));
        let position: Position = text.parse().unwrap();
        let end = RoxanneGame.play_out(&position, &mut seeded_rng(1));
        assert_eq!(end.board().count(Color::Black), 3);
        assert_eq!(DiscDifference.reward(&end, Side::First), 3.0);
        assert_eq!(DiscDifference.reward(&end, Side::Second), -3.0);
    }
}
