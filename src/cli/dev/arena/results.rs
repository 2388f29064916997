//! What was played, in the order in which it was to be played.

use std::collections::BTreeMap;

use super::{game::Game, player::Contestant};
use crate::{
    rating::{Score, Sprt, Verdict},
    rules::Color,
};

/// What is to be played.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The player of whom the score is told.
    pub(super) a: Contestant,
    /// Its opponent.
    pub(super) b: Contestant,
    /// How many games at most; even.
    pub(super) games: u32,
    /// Decides openings and moves.
    pub(super) seed: u64,
    /// When to end before that.
    pub(super) sprt: Option<Sprt>,
}

/// The games so far. One that ends before an earlier one waits for that one.
#[derive(Debug)]
pub(super) struct Ledger {
    /// What is to be played.
    pub(super) plan: Plan,
    /// Finished, without a gap.
    pub(super) games: Vec<Game>,
    /// Of those, as A sees it.
    pub(super) score: Score,
    /// What the test found, which ended the contest.
    pub(super) verdict: Option<Verdict>,
    waiting: BTreeMap<u32, Game>,
}

impl Ledger {
    /// An empty one.
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan, games: Vec::new(), score: Score::default(), verdict: None, waiting: BTreeMap::new() }
    }

    /// Takes in the game of that index, from 0, and counts all that wait for nothing more. After a verdict nothing
    /// counts.
    pub(super) fn enter(&mut self, index: u32, game: Game) {
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

    /// Whether nothing is left to play.
    pub(super) fn is_complete(&self) -> bool {
        self.verdict.is_some() || self.games.len() as u32 == self.plan.games
    }
}

/// A begins the first game of each pair.
pub(super) fn side_of_a(index: u32) -> Color {
    if index.is_multiple_of(2) { Color::Black } else { Color::White }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rules::Transcript;

    pub(in crate::cli::dev::arena) fn ledger(games: u32, sprt: Option<&str>) -> Ledger {
        let player = |name: &str| name.parse().unwrap();
        let sprt = sprt.map(|sprt| sprt.parse().unwrap());
        Ledger::new(Plan { a: player("expert:1"), b: player("greedy"), games, seed: 7, sprt })
    }

    pub(in crate::cli::dev::arena) fn won_by(winner: Option<Color>) -> Game {
        Game { moves: Transcript::new(), opening: 0, winner, fault: None }
    }

    #[test]
    fn games_count_in_their_order() {
        let mut ledger = ledger(4, None);
        ledger.enter(2, won_by(Some(Color::White)));
        ledger.enter(1, won_by(Some(Color::White)));
        assert_eq!((ledger.games.len(), ledger.score), (0, Score::default()));
        ledger.enter(0, won_by(Some(Color::Black)));
        assert_eq!((ledger.games.len(), ledger.score.wins, ledger.score.losses), (3, 2, 1));
        assert!(!ledger.is_complete());
        ledger.enter(3, won_by(None));
        assert!(ledger.is_complete());
        assert_eq!((ledger.score.pairs, ledger.score.draws), ([0, 1, 0, 0, 1], 1));
    }

    #[test]
    fn what_ends_after_the_verdict_does_not_count() {
        let mut ledger = ledger(100, Some("0,200"));
        for index in (1..100).chain([0]) {
            ledger.enter(index, won_by(Some(side_of_a(index))));
        }
        assert_eq!(ledger.verdict, Some(Verdict::Upper));
        assert!(ledger.is_complete() && ledger.games.len() < 30 && ledger.games.len().is_multiple_of(2));
    }
}
