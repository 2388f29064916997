//! A pool of engines.
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Engine, Weights};

/// The maximum of a table: enough for the millions of positions of the highest level. It is the same on every machine,
/// so that a level finds the same moves everywhere; with less, levels from 14 on play worse.
pub const TABLE_BYTES: usize = 16 << 20;

/// A bounded number of engines with bounded memory, most of which is the engines' tables.
#[derive(Debug)]
pub struct Engines {
    table_bytes: usize,
    state: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Debug)]
struct PoolState {
    idle: Vec<Engine>,
    /// The number of engines that can still be created.
    remaining: usize,
}

impl Engines {
    /// A pool for `searches` searches at a time, at least one, with tables of at most `bytes` in total and
    /// [`TABLE_BYTES`] each. Engines are created when first needed.
    #[must_use]
    pub const fn new(searches: usize, bytes: usize) -> Self {
        let searches = if searches == 0 { 1 } else { searches };
        let share = bytes / searches;
        let table_bytes = if share < TABLE_BYTES { share } else { TABLE_BYTES };
        let state = Mutex::new(PoolState { idle: Vec::new(), remaining: searches });
        Self { table_bytes, state, returned: Condvar::new() }
    }

    /// The pool of a program without a server: one engine for each of 1,024 threads.
    #[must_use]
    pub fn usual() -> &'static Self {
        const SEARCHES: usize = 1_024;
        static DEFAULT: Engines = Engines::new(SEARCHES, SEARCHES * TABLE_BYTES);
        &DEFAULT
    }

    /// Waits for a free engine with the embedded weights and runs `work` with it.
    pub fn with<R>(&self, work: impl FnOnce(&mut Engine) -> R) -> R {
        // Returns the engine to the pool if `work` panics.
        let mut engine = self.take();
        let result = catch_unwind(AssertUnwindSafe(|| work(&mut engine)));
        self.state().idle.push(engine);
        self.returned.notify_one();
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn take(&self) -> Engine {
        let state = self.state();
        let waiting = self.returned.wait_while(state, |state| state.idle.is_empty() && state.remaining == 0);
        let mut state = waiting.unwrap_or_else(PoisonError::into_inner);
        state.idle.pop().unwrap_or_else(|| {
            state.remaining -= 1;
            Engine::new(Weights::embedded(), self.table_bytes)
        })
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs `work` with one of the [usual engines](Engines::usual).
pub fn with_engine<R>(work: impl FnOnce(&mut Engine) -> R) -> R {
    Engines::usual().with(work)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn there_are_never_more_engines_than_searches() {
        let engines = Engines::new(2, 1 << 12);
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        engines.with(|_| {
                            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            thread::yield_now();
                            running.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        let state = engines.state();
        assert_eq!(state.idle.len() + state.remaining, 2);
    }

    #[test]
    fn an_engine_is_returned_after_a_panic() {
        let engines = Engines::new(1, 1 << 12);
        assert!(catch_unwind(AssertUnwindSafe(|| engines.with(|_| panic!("in a search")))).is_err());
        assert!(engines.with(|_| true));
    }

    #[test]
    fn the_memory_is_divided_equally_up_to_the_table_size() {
        assert_eq!(Engines::new(4, 1 << 20).table_bytes, 1 << 18);
        assert_eq!(Engines::new(2, 1 << 30).table_bytes, TABLE_BYTES);
        assert_eq!(Engines::new(0, 1 << 10).table_bytes, 1 << 10);
    }
}
