//! Matches between the computer players: each opening is played with both colours, and all seeds are fixed, so that a
//! result depends only on the code.
use reversi_engine::ai::{AiKind, AiPlayer};
use reversi_engine::rules::{Color, Outcome, Square, Transcript, opening};
use reversi_engine::search::Stop;

/// Games won, drawn and lost by the first of two players.
#[derive(Debug, Default, PartialEq)]
struct Score {
    won: u32,
    drawn: u32,
    lost: u32,
}

fn by_default(kind: AiKind) -> AiPlayer {
    at_level(kind, kind.profile().default_level)
}

fn at_level(kind: AiKind, level: u8) -> AiPlayer {
    AiPlayer::new(kind, level).unwrap()
}

fn play(black: AiPlayer, white: AiPlayer, opening: Vec<Square>, seed: u64) -> Outcome {
    let mut position = Transcript::from_squares(opening).unwrap().position();
    let stop = Stop::new();
    for ply in 0.. {
        let player = match position.turn() {
            Color::Black => black,
            Color::White => white,
        };
        let Some(choice) = player.choose(position, seed * 1000 + ply, &stop) else {
            break;
        };
        position = position.play(choice.square).unwrap().after_forced_pass().0;
    }
    position.outcome().unwrap()
}

fn score(first: AiPlayer, second: AiPlayer, pairs: u64) -> Score {
    score_from(first, second, pairs, &|pair| opening::random(6, pair))
}

fn score_from(first: AiPlayer, second: AiPlayer, pairs: u64, opening: &dyn Fn(u64) -> Vec<Square>) -> Score {
    let mut score = Score::default();
    for pair in 0..pairs {
        for color in Color::ALL {
            let outcome = match color {
                Color::Black => play(first, second, opening(pair), 2 * pair),
                Color::White => play(second, first, opening(pair), 2 * pair + 1),
            };
            match outcome.winner {
                Some(winner) if winner == color => score.won += 1,
                Some(_) => score.lost += 1,
                None => score.drawn += 1,
            }
        }
    }
    score
}

/// Published for the paper's program: 87 wins in 100 games against random moves.
#[test]
fn positional_wins_87_of_100_against_random() {
    let score = score(by_default(AiKind::Positional), by_default(AiKind::Random), 50);
    assert!(score.won >= 87, "{score:?}");
}

#[test]
fn roxanne_beats_random_and_greedy() {
    for weaker in [AiKind::Random, AiKind::Greedy] {
        let score = score(by_default(AiKind::Roxanne), by_default(weaker), 100);
        assert!(score.won >= 130, "{weaker}: {score:?}");
    }
}

#[test]
fn alphabeta_beats_positional() {
    let score = score(by_default(AiKind::AlphaBeta), by_default(AiKind::Positional), 10);
    assert!(score.won >= 18, "{score:?}");
}

/// With 3,200 playouts per move, 1/32 of the default.
#[test]
fn the_tree_players_beat_roxanne() {
    for kind in [AiKind::Mcts, AiKind::MctsRoxanne] {
        let score = score(at_level(kind, 5), by_default(AiKind::Roxanne), 10);
        assert!(score.won >= 16, "{kind}: {score:?}");
    }
}

/// Players choose an opponent by level, so that a higher one must be stronger.
#[test]
fn higher_levels_of_a_searcher_beat_the_lowest() {
    for (kind, level) in [(AiKind::AlphaBeta, 4), (AiKind::Mcts, 5), (AiKind::MctsRoxanne, 5)] {
        let score = score(at_level(kind, level), at_level(kind, 1), 8);
        assert!(score.won >= 12, "{kind}: {score:?}");
    }
}

/// A difference of two levels is worth at least 80 %. Equal players would make 26 or more of 40 points in 4 of 100 such
/// matches.
#[test]
fn higher_levels_of_the_expert_beat_lower_ones() {
    for (stronger, weaker) in [(3, 1), (5, 1), (7, 5), (9, 7), (11, 9)] {
        let [first, second] = [stronger, weaker].map(|level| at_level(AiKind::Expert, level));
        let score = score_from(first, second, 20, &|pair| opening::balanced(1, pair as u32));
        assert!(2 * score.won + score.drawn >= 52, "{stronger} against {weaker}: {score:?}");
    }
}
