//! Many games at a time.

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
    game::{Game, Seat},
    results::{Ledger, Plan, side_of_a},
};
use crate::{
    cli::terminal::progress::Progress,
    rating::Difference,
    rules::{ByColor, Color, SplitMix64, Transcript, opening},
    search::Stop,
};

/// The games of a plan, shared by the threads that play them.
pub(super) struct Contest {
    plan: Plan,
    next: AtomicU32,
    ended: Stop,
    ledger: Mutex<Ledger>,
    progress: Progress,
}

impl Contest {
    /// Of players that can be made ready.
    ///
    /// # Errors
    /// When one cannot: better said now than by a lost game after the other.
    pub(super) fn new(plan: Plan, progress: Progress) -> anyhow::Result<Self> {
        let ended = Stop::new();
        for player in [&plan.a, &plan.b] {
            player.ready(&ended).with_context(|| format!("{player} cannot play"))?;
        }
        let ledger = Mutex::new(Ledger::new(plan.clone()));
        Ok(Self { plan, next: AtomicU32::new(0), ended, ledger, progress })
    }

    /// Plays on so many threads until nothing is left to play, or it was stopped.
    pub(super) fn play(&self, threads: usize) {
        let threads = threads.min(self.plan.games as usize);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| self.work());
            }
        });
    }

    /// No game begins or goes on after this.
    pub(super) fn stop(&self) {
        self.ended.stop();
    }

    /// What was played; what is still to come is not.
    pub(super) fn close(&self) -> Ledger {
        self.stop();
        self.progress.finish();
        mem::replace(&mut self.ledger(), Ledger::new(self.plan.clone()))
    }

    /// Plays one game after the other.
    fn work(&self) {
        let mut a = Seat::new(&self.plan.a, &self.ended);
        let mut b = Seat::new(&self.plan.b, &self.ended);
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
            if let Some(game) = Game::play(&mut seats, opening, seed, &self.ended) {
                self.enter(index, game);
            }
        }
    }

    /// The opening of a game, which it shares with the other one of its pair, and its own chance.
    fn beginning(&self, index: u32) -> (Transcript, u64) {
        let opening = opening::balanced(self.plan.seed, index / 2);
        let seed = SplitMix64::new(self.plan.seed).next() ^ u64::from(index);
        (Transcript::from_squares(opening).unwrap_or_default(), SplitMix64::new(seed).next())
    }

    fn enter(&self, index: u32, game: Game) {
        let mut ledger = self.ledger();
        if self.ended.is_stopped() {
            return;
        }
        if let (Some(fault), Some(winner)) = (&game.fault, game.winner) {
            let loser = if winner == side_of_a(index) { &self.plan.b } else { &self.plan.a };
            self.progress.above(|| eprintln!("game {}: {loser} loses: {fault}", index + 1));
        }
        ledger.enter(index, game);
        let score = &ledger.score;
        let difference = Difference::of(score).map_or(String::new(), |difference| format!("  {difference}"));
        self.progress.reach(score.games().into());
        self.progress.say(format!("games  {score}{difference}"));
        if ledger.is_complete() {
            self.stop();
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(threads: usize, sprt: Option<&str>) -> Ledger {
        let plan = Plan {
            a: "greedy".parse().unwrap(),
            b: "random".parse().unwrap(),
            games: 40,
            seed: 3,
            sprt: sprt.map(|sprt| sprt.parse().unwrap()),
        };
        let contest = Contest::new(plan, Progress::hidden()).unwrap();
        contest.play(threads);
        contest.close()
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
        let ledger = played(1, None);
        let openings: Vec<_> = ledger.games.iter().map(|game| &game.moves.squares()[..game.opening]).collect();
        assert!(
            openings.chunks(2).all(|pair| pair[0] == pair[1] && pair[0].len() == usize::from(opening::BALANCED_PLIES))
        );
        assert!(openings[0] != openings[2]);
        assert!(ledger.games[0].moves != ledger.games[1].moves, "the games of a pair have chance of their own");
    }
}
