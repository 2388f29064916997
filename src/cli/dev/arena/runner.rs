//! Plays the games of a match in parallel.

use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use anyhow::Context as _;

use super::{
    game::{ArenaGame, ArenaSeat},
    results::{MatchPlan, MatchResults, side_of_a},
};
use crate::{
    cli::{terminal::progress::Progress, warn},
    match_statistics::Difference,
    rules::{ByColor, Color, SplitMix64, Transcript, opening},
    search::Stop,
};

/// The games of a match, shared by the threads that play them.
pub(super) struct MatchRunner {
    plan: MatchPlan,
    next: AtomicU32,
    ended: Stop,
    results: Mutex<MatchResults>,
    progress: Progress,
}

impl MatchRunner {
    /// # Errors
    /// A player cannot be started: it would lose every game.
    pub(super) fn new(plan: MatchPlan, progress: Progress) -> anyhow::Result<Self> {
        let ended = Stop::new();
        for player in [&plan.a, &plan.b] {
            drop(player.ready(&ended).with_context(|| format!("{player} cannot play"))?);
        }
        let results = Mutex::new(MatchResults::new(plan.clone()));
        Ok(Self { plan, next: AtomicU32::new(0), ended, results, progress })
    }

    /// Plays on `threads` threads until all games are played or the match is stopped.
    pub(super) fn play(&self, threads: usize) {
        let threads = threads.min(self.plan.games as usize);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| self.work());
            }
        });
    }

    /// Ends all games.
    pub(super) fn stop(&self) {
        self.ended.stop();
    }

    /// Ends the match and returns its results.
    pub(super) fn close(&self) -> MatchResults {
        self.stop();
        self.progress.finish_and_clear();
        mem::replace(&mut self.results(), MatchResults::new(self.plan.clone()))
    }

    fn work(&self) {
        let mut a = ArenaSeat::new(&self.plan.a, &self.ended);
        let mut b = ArenaSeat::new(&self.plan.b, &self.ended);
        while !self.ended.is_stopped() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.plan.games {
                return;
            }
            let mut seats = match side_of_a(index) {
                Color::Black => ByColor::new(&mut a, &mut b),
                Color::White => ByColor::new(&mut b, &mut a),
            };
            let (opening, seed) = self.beginning(index);
            if let Some(game) = ArenaGame::play(&mut seats, opening, seed, &self.ended) {
                self.add(index, game);
            }
        }
    }

    /// The opening, which both games of a pair share, and the seed of a game.
    fn beginning(&self, index: u32) -> (Transcript, u64) {
        let opening = opening::balanced(self.plan.seed, index / 2);
        let seed = SplitMix64::new(self.plan.seed).next() ^ u64::from(index);
        (Transcript::from_squares(opening).unwrap_or_default(), SplitMix64::new(seed).next())
    }

    fn add(&self, index: u32, game: ArenaGame) {
        let mut results = self.results();
        if self.ended.is_stopped() {
            return;
        }
        if let (Some(fault), Some(winner)) = (&game.fault, game.winner) {
            let loser = if winner == side_of_a(index) { &self.plan.b } else { &self.plan.a };
            self.progress.suspend(|| warn(format_args!("game {}: {loser} loses: {fault}", index + 1)));
        }
        results.add(index, game);
        let score = &results.score;
        let difference = Difference::of(score).map_or(String::new(), |difference| format!("  {difference}"));
        self.progress.set_position(score.games().into());
        self.progress.set_message(format!("games  {score}{difference}"));
        if results.is_complete() {
            self.stop();
        }
    }

    fn results(&self) -> MutexGuard<'_, MatchResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(threads: usize, sprt: Option<&str>) -> MatchResults {
        let plan = MatchPlan {
            a: "greedy".parse().unwrap(),
            b: "random".parse().unwrap(),
            games: 40,
            seed: 3,
            sprt: sprt.map(|sprt| sprt.parse().unwrap()),
        };
        let runner = MatchRunner::new(plan, Progress::hidden()).unwrap();
        runner.play(threads);
        runner.close()
    }

    #[test]
    fn a_seed_gives_one_result_on_any_number_of_threads() {
        for sprt in [None, Some("-800,-400")] {
            let [alone, together] = [1, 3].map(|threads| played(threads, sprt));
            assert!(alone.is_complete());
            assert_eq!(alone.games, together.games);
            assert_eq!(alone.verdict, together.verdict);
            assert_eq!((alone.games.len() < 40, alone.verdict.is_some()), (sprt.is_some(), sprt.is_some()));
        }
    }

    #[test]
    fn a_pair_shares_its_opening() {
        let results = played(1, None);
        let openings: Vec<_> = results.games.iter().map(|game| &game.moves.squares()[..game.opening]).collect();
        assert!(
            openings.chunks(2).all(|pair| pair[0] == pair[1] && pair[0].len() == usize::from(opening::BALANCED_PLIES))
        );
        assert!(openings[0] != openings[2]);
        assert!(results.games[0].moves != results.games[1].moves, "the games of a pair have different seeds");
    }
}
