//! A pool of engines.
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Engine, Weights};

/// The most bytes of a table: enough for the millions of positions of the highest level. It is the same on every machine, so
/// that a level finds the same moves everywhere; with less, levels from 14 on play worse.
pub const TABLE_BYTES: usize = 16 << 20;

/// A bounded number of engines, which share a bounded memory: an engine's table is most of what a search needs.
#[derive(Debug)]
pub struct Engines {
    table_bytes: usize,
    stock: Mutex<Stock>,
    returned: Condvar,
}

#[derive(Debug)]
struct Stock {
    idle: Vec<Engine>,
    /// The number of engines that may still be made.
    unmade: usize,
}

impl Engines {
    /// Engines for this many searches at a time, at least one, with tables of this many bytes together; a table has at most
    /// [`TABLE_BYTES`]. An engine is made when it is first needed.
    #[must_use]
    pub const fn new(searches: usize, bytes: usize) -> Self {
        let searches = if searches == 0 { 1 } else { searches };
        let share = bytes / searches;
        let table_bytes = if share < TABLE_BYTES { share } else { TABLE_BYTES };
        let stock = Mutex::new(Stock { idle: Vec::new(), unmade: searches });
        Self { table_bytes, stock, returned: Condvar::new() }
    }

    /// The pool of a program without a server: one engine for each thread it can have.
    #[must_use]
    pub fn usual() -> &'static Self {
        const SEARCHES: usize = 1_024;
        static USUAL: Engines = Engines::new(SEARCHES, SEARCHES * TABLE_BYTES);
        &USUAL
    }

    /// Runs `work` with an engine of the embedded weights, once one is free. Results do not depend on earlier uses of the
    /// engine.
    pub fn with<R>(&self, work: impl FnOnce(&mut Engine) -> R) -> R {
        // Returns the engine even when the work panics.
        let mut engine = self.take();
        let result = catch_unwind(AssertUnwindSafe(|| work(&mut engine)));
        self.stock().idle.push(engine);
        self.returned.notify_one();
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn take(&self) -> Engine {
        let stock = self.stock();
        let waiting = self.returned.wait_while(stock, |stock| stock.idle.is_empty() && stock.unmade == 0);
        let mut stock = waiting.unwrap_or_else(PoisonError::into_inner);
        stock.idle.pop().unwrap_or_else(|| {
            stock.unmade -= 1;
            Engine::new(Weights::embedded(), self.table_bytes)
        })
    }

    fn stock(&self) -> MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
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
        let stock = engines.stock();
        assert_eq!(stock.idle.len() + stock.unmade, 2);
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
