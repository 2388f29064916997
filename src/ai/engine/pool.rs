//! Engines that wait for their next search.
//!
//! An engine's table is most of the memory that search needs. One is made for each search that runs at the same time,
//! and as those run on a bounded number of threads, the tables of all rooms together are bounded: by the threads times
//! [`TABLE_BYTES`].
use std::sync::{Mutex, PoisonError};

use super::{Engine, Weights};

/// Enough for the few million positions of the highest level without losing what matters.
pub const TABLE_BYTES: usize = 16 << 20;

/// More than this many engines are not kept: most machines do not search on more threads.
const MOST_IDLE: usize = 16;

static IDLE: Mutex<Vec<Engine>> = Mutex::new(Vec::new());

/// Does the work with an engine of the embedded weights. What it finds does not depend on who had the engine before.
pub fn with_engine<R>(work: impl FnOnce(&mut Engine) -> R) -> R {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = idle().pop();
    let mut engine = kept.unwrap_or_else(|| Engine::new(Weights::embedded(), TABLE_BYTES));
    let result = work(&mut engine);
    let mut idle = idle();
    if idle.len() < MOST_IDLE {
        idle.push(engine);
    }
    result
}
