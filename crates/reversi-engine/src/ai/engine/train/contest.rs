//! A match between new and old weights: each opening is played twice, with colours changed.
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::super::{Engine, Limits, Weights};
use crate::rules::{Color, Outcome, Position, opening};
use crate::search::Stop;

/// The settings of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contest {
    /// Number of openings, each for two games.
    pub pairs: u32,
    /// Positions visited per move.
    pub nodes: u64,
    /// The seed of the openings.
    pub seed: u64,
}

/// The result of the new weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchScore {
    /// Numbers of pairs of games by half points: 0 for two losses, 4 for two wins.
    pub pairs: [u32; 5],
    /// The sum of the differences in discs.
    pub discs: i64,
}

/// Plies of an opening: enough that openings rarely repeat.
const OPENING: u8 = 10;

/// Table size of each engine.
const TABLE_BYTES: usize = 4 << 20;

impl Contest {
    /// Plays on `threads` threads, whose number does not change the result, and calls `on_pair` after every pair.
    #[must_use]
    pub fn play(
        self,
        new: &Arc<Weights>,
        old: &Arc<Weights>,
        threads: usize,
        on_pair: &(dyn Fn() + Sync),
    ) -> MatchScore {
        let (next, total) = (AtomicU64::new(0), Mutex::new(MatchScore::default()));
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut engines = [new, old].map(|weights| Engine::new(Arc::clone(weights), TABLE_BYTES));
                    loop {
                        let pair = next.fetch_add(1, Ordering::Relaxed);
                        if pair >= self.pairs.into() {
                            return;
                        }
                        let discs = [0, 1].map(|first| self.game(&mut engines, pair, first));
                        total.lock().unwrap_or_else(PoisonError::into_inner).add(discs);
                        on_pair();
                    }
                });
            }
        });
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The final difference in discs of engine 0, which has the new weights, in a game in which engine `first` is
    /// black.
    fn game(self, engines: &mut [Engine; 2], pair: u64, first: usize) -> i64 {
        let start = opening::random(OPENING, self.seed.wrapping_add(pair));
        let play = |position: Position, square| position.play_unchecked(square).after_forced_pass().0;
        let mut position = start.into_iter().fold(Position::START, play);
        while !position.is_over() {
            let white = usize::from(position.turn() == Color::White);
            let limits = Limits::of_nodes(self.nodes);
            let report =
                engines[white ^ first].search(position, &limits, &Stop::new(), &mut |_| ControlFlow::Continue(()));
            let Some(report) = report else { break };
            position = play(position, report.best);
        }
        let blacks = i64::from(Outcome::of(position.board()).difference());
        if first == 0 { blacks } else { -blacks }
    }
}

impl MatchScore {
    fn add(&mut self, discs: [i64; 2]) {
        let half_points = |discs: i64| (discs.signum() + 1) as usize;
        self.pairs[discs.map(half_points).iter().sum::<usize>()] += 1;
        self.discs += discs.iter().sum::<i64>();
    }

    /// The number of games played.
    #[must_use]
    pub fn games(self) -> u64 {
        2 * self.pairs.into_iter().map(u64::from).sum::<u64>()
    }

    /// The share of the points won; 0 without games.
    #[must_use]
    pub fn share(self) -> f64 {
        let halves: u64 = (0..).zip(self.pairs).map(|(halves, pairs)| halves * u64::from(pairs)).sum();
        halves as f64 / (2 * self.games()).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::seed;
    use super::*;

    #[test]
    fn equal_weights_have_equal_scores_with_any_number_of_threads() {
        let weights = Arc::new(seed());
        let contest = Contest { pairs: 3, nodes: 100, seed: 7 };
        let score = contest.play(&weights, &weights, 1, &|| {});
        assert_eq!(score, MatchScore { pairs: [0, 0, 3, 0, 0], discs: 0 });
        assert_eq!((score.games(), score.share()), (6, 0.5));
        assert_eq!(contest.play(&weights, &weights, 2, &|| {}), score);
    }

    #[test]
    fn better_weights_win() {
        let contest = Contest { pairs: 16, nodes: 300, seed: 7 };
        let score = contest.play(&Weights::embedded(), &Arc::new(seed()), 2, &|| {});
        assert!(score.share() > 0.8 && score.discs > 0, "{score:?}");
    }

    #[test]
    fn games_are_counted_in_pairs() {
        let mut score = MatchScore::default();
        score.add([10, -10]);
        score.add([3, 0]);
        assert_eq!((score.pairs, score.discs), ([0, 0, 1, 1, 0], 3));
        assert_eq!((score.games(), score.share()), (4, 0.625));
        assert_eq!((MatchScore::default().games(), MatchScore::default().share()), (0, 0.0));
    }
}
