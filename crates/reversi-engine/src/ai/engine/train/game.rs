//! Self-play games for training.
use rand::{Rng, RngExt};

use super::super::board::Board;
use super::super::weights::{DISC, Value};
use super::super::{Engine, Limits};
use super::Example;
use crate::rules::{Bitboard, Position, Square};
use crate::search::Stop;

/// The settings of one round of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The minimum and maximum number of random plies at the start of a game.
    pub random_plies: (u8, u8),
    /// The depth of the search for each move.
    pub depth: u8,
    /// The weight of the engine's own evaluation in a label, in percent; the rest is the game's result.
    pub opinion: i32,
    /// The number of chunks of games.
    pub chunks: u64,
    /// The seed of the games.
    pub seed: u64,
}

/// With at most this many empty squares, positions are labelled by solving them, and half of the moves are random: good
/// play is no longer needed.
const SOLVED: u8 = 12;

/// Positions with fewer empty squares than this are not used: the solver finds their values at once.
const LAST: u8 = 3;

/// Plays a game from a random opening; returns its positions with their values. Above [`SOLVED`] empty squares, that is
/// the solved result of the game mixed with the engine's evaluation; else the solved value of the position.
pub(super) fn play(engine: &mut Engine, recipe: &Recipe, rng: &mut impl Rng) -> Vec<Example> {
    let (min, max) = recipe.random_plies;
    let plies = rng.random_range(min..=max);
    let mut position = Position::START;
    for _ in 0..plies {
        let Some(square) = any_move(position, rng) else {
            return Vec::new();
        };
        position = position.play_unchecked(square).after_forced_pass().0;
    }
    let mut judged = Vec::new();
    while !position.is_over() && empties(position) > SOLVED {
        let Some((square, value)) = search(engine, position, recipe.depth) else {
            return Vec::new();
        };
        judged.push((position, value));
        position = position.play_unchecked(square).after_forced_pass().0;
    }
    let Some((result, mut examples)) = play_out(engine, position, rng) else {
        return Vec::new();
    };
    for (before, opinion) in judged {
        let result = if before.turn() == position.turn() { result } else { -result };
        let value = (result * (100 - recipe.opinion) + opinion * recipe.opinion) / 100;
        examples.push(Example { board: before.into(), value });
    }
    examples
}

/// The value of the position, and the examples from it to the end.
fn play_out(engine: &mut Engine, mut position: Position, rng: &mut impl Rng) -> Option<(Value, Vec<Example>)> {
    let mut examples = Vec::new();
    if position.is_over() {
        return Some((Board::from(position).final_score() * DISC, examples));
    }
    let (mut best, result) = search(engine, position, SOLVED)?;
    let mut value = result;
    loop {
        examples.push(Example { board: position.into(), value });
        let square = if rng.random() { best } else { any_move(position, rng)? };
        position = position.play_unchecked(square).after_forced_pass().0;
        if position.is_over() || empties(position) < LAST {
            return Some((result, examples));
        }
        (best, value) = search(engine, position, SOLVED)?;
    }
}

/// The best move and its value, searched to `depth` or to the end of the game.
fn search(engine: &mut Engine, position: Position, depth: u8) -> Option<(Square, Value)> {
    let report = engine
        .search(position, &Limits::of_depth(depth), &Stop::new(), &mut |_| std::ops::ControlFlow::Continue(()))?;
    Some((report.best, (report.discs * DISC as f32) as Value))
}

fn any_move(position: Position, rng: &mut impl Rng) -> Option<Square> {
    let moves: Bitboard = position.legal_moves();
    (!moves.is_empty()).then(|| moves.iter().nth(rng.random_range(0..usize::from(moves.count()))))?
}

fn empties(position: Position) -> u8 {
    position.board().empties().count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::super::super::cpu::Portable;
    use super::super::super::tests::minimax;
    use super::super::seed;
    use super::*;
    use crate::rules::{Board as Discs, Color};

    const RECIPE: Recipe = Recipe { random_plies: (36, 40), depth: 2, opinion: 0, chunks: 1, seed: 1 };

    fn engine() -> Engine {
        Engine::new(Arc::new(seed()), 1 << 20)
    }

    /// The examples of games that did not end during their random plies.
    fn games(recipe: &Recipe, count: u64) -> Vec<Vec<Example>> {
        let mut engine = engine();
        let game = |seed| play(&mut engine, recipe, &mut Pcg64::seed_from_u64(seed));
        (1..=count).map(game).filter(|examples| !examples.is_empty()).collect()
    }

    fn empties(example: &Example) -> u32 {
        example.board.empties().count_ones()
    }

    /// The examples before the solved part, in order of the moves, and those of the solved part.
    fn parts(game: &[Example]) -> (Vec<Example>, Vec<Example>) {
        game.iter().partition(|example| empties(example) > SOLVED.into())
    }

    fn position(example: &Example) -> Position {
        let Board { own, opponent } = example.board;
        Position::new(Discs::new(Bitboard(own), Bitboard(opponent)).unwrap(), Color::Black)
    }

    #[test]
    fn a_game_starts_after_a_random_number_of_plies_within_the_bounds() {
        let first = |game: &Vec<Example>| game.iter().map(empties).max().unwrap();
        let begins: BTreeSet<_> = games(&RECIPE, 60).iter().map(first).collect();
        assert!(begins.into_iter().eq(20..=24), "60 squares minus 36 to 40");
        let fixed = Recipe { random_plies: (47, 47), ..RECIPE };
        assert!(games(&fixed, 10).iter().all(|game| first(game) == 13));
    }

    #[test]
    fn the_last_positions_are_labelled_with_their_exact_value() {
        let mut engine = engine();
        let mut fewest = u32::MAX;
        for game in games(&RECIPE, 30) {
            for example in parts(&game).1 {
                let report = engine
                    .search(position(&example), &Limits::default(), &Stop::new(), &mut |_| ControlFlow::Continue(()));
                let report = report.unwrap();
                assert!(report.exact);
                assert_eq!(example.value, report.discs as Value * DISC);
                if empties(&example) <= 7 {
                    assert_eq!(example.value, minimax(example.board) * DISC);
                }
                fewest = fewest.min(empties(&example));
            }
        }
        assert_eq!(fewest, u32::from(LAST));
    }

    /// Whether the other side is to move in the second position; false if it had to pass.
    fn changes_turn(first: &Example, second: &Example) -> bool {
        let moves = first.board.moves(Portable);
        let after = Bitboard(moves).iter().map(|square| {
            let square = square.index();
            first.board.play(square, first.board.flips(Portable, square))
        });
        let after: Vec<_> = after.collect();
        let changes = after.contains(&second.board);
        assert!(changes || after.iter().any(|board| board.pass() == second.board), "the positions are one move apart");
        changes
    }

    #[test]
    fn without_an_opinion_earlier_positions_have_the_solved_result() {
        let games = games(&RECIPE, 30);
        assert!(games.iter().any(|game| game[0].value != 0));
        for game in games {
            let (before, solved) = parts(&game);
            let mut result = solved[0];
            for example in before.iter().rev() {
                let value = if changes_turn(example, &result) { -result.value } else { result.value };
                assert_eq!(example.value, value);
                result = *example;
            }
        }
    }

    #[test]
    fn an_opinion_is_the_value_of_the_engine_weighted_by_its_percentage() {
        let of = |opinion| games(&Recipe { opinion, ..RECIPE }, 5).concat();
        let mut engine = engine();
        for ((result, opinion), half) in of(0).into_iter().zip(of(100)).zip(of(50)) {
            assert_eq!((result.board, result.board), (opinion.board, half.board));
            if empties(&result) > SOLVED.into() {
                assert_eq!(opinion.value, search(&mut engine, position(&result), RECIPE.depth).unwrap().1);
            }
            assert_eq!(half.value, (result.value * 50 + opinion.value * 50) / 100);
        }
    }
}
