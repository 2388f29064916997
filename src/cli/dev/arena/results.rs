//! The plan and the results of a match, in the order of the games.

use std::collections::BTreeMap;

use super::{game::ArenaGame, player::ArenaPlayer};
use crate::{
    match_statistics::{Score, Sprt, Verdict},
    rules::Color,
};

#[derive(Clone, Debug)]
pub(super) struct MatchPlan {
    /// The player whose score is reported.
    pub(super) a: ArenaPlayer,
    pub(super) b: ArenaPlayer,
    /// Maximum number of games; even.
    pub(super) games: u32,
    /// Determines openings and moves.
    pub(super) seed: u64,
    /// A test that may end the match early.
    pub(super) sprt: Option<Sprt>,
}

/// The games so far. A finished game counts after all earlier ones.
#[derive(Debug)]
pub(super) struct MatchResults {
    pub(super) plan: MatchPlan,
    /// The games that count, by index.
    pub(super) games: Vec<ArenaGame>,
    /// The score of player A in `games`.
    pub(super) score: Score,
    /// The result of the SPRT, which ended the match.
    pub(super) verdict: Option<Verdict>,
    /// Finished games that wait for an earlier one, by index.
    waiting: BTreeMap<u32, ArenaGame>,
}

impl MatchResults {
    pub(super) fn new(plan: MatchPlan) -> Self {
        Self { plan, games: Vec::new(), score: Score::default(), verdict: None, waiting: BTreeMap::new() }
    }

    /// Adds the game with that index, from 0. Games after a verdict do not count.
    pub(super) fn add(&mut self, index: u32, game: ArenaGame) {
        self.waiting.insert(index, game);
        while self.verdict.is_none()
            && let Some(game) = self.waiting.remove(&(self.games.len() as u32))
        {
            let index = self.games.len() as u32;
            self.score.count(index, game.points(side_of_a(index)));
            self.games.push(game);
            self.verdict = self.plan.sprt.and_then(|sprt| sprt.verdict(&self.score));
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.verdict.is_some() || self.games.len() as u32 == self.plan.games
    }
}

/// The side of player A, who is black in the first game of each pair.
pub(super) fn side_of_a(index: u32) -> Color {
    if index.is_multiple_of(2) { Color::Black } else { Color::White }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rules::Transcript;

    pub(in crate::cli::dev::arena) fn results(games: u32, sprt: Option<&str>) -> MatchResults {
        let player = |name: &str| name.parse().unwrap();
        let sprt = sprt.map(|sprt| sprt.parse().unwrap());
        MatchResults::new(MatchPlan { a: player("expert:1"), b: player("greedy"), games, seed: 7, sprt })
    }

    pub(in crate::cli::dev::arena) fn won_by(winner: Option<Color>) -> ArenaGame {
        ArenaGame { moves: Transcript::new(), opening: 0, winner, fault: None }
    }

    #[test]
    fn games_count_in_their_order() {
        let mut results = results(4, None);
        results.add(2, won_by(Some(Color::White)));
        results.add(1, won_by(Some(Color::White)));
        assert_eq!((results.games.len(), results.score), (0, Score::default()));
        results.add(0, won_by(Some(Color::Black)));
        assert_eq!((results.games.len(), results.score.wins, results.score.losses), (3, 2, 1));
        assert!(!results.is_complete());
        results.add(3, won_by(None));
        assert!(results.is_complete());
        assert_eq!((results.score.pairs, results.score.draws), ([0, 1, 0, 0, 1], 1));
    }

    #[test]
    fn games_that_end_after_the_verdict_do_not_count() {
        let mut results = results(100, Some("0,200"));
        for index in (1..100).chain([0]) {
            results.add(index, won_by(Some(side_of_a(index))));
        }
        assert_eq!(results.verdict, Some(Verdict::Upper));
        assert!(results.is_complete() && results.games.len() < 30 && results.games.len().is_multiple_of(2));
    }
}
