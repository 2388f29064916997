//! The threads that search for the moves of AI seats.
//!
//! ```text
//!   Job ──▶ JobQueue (two FairQueues, and one of quick jobs) ──▶ Schedule (what each thread does) ──▶ MovePool
//! ```

mod fair_queue;
pub(crate) mod job;
mod job_queue;
pub(crate) mod pool;
mod schedule;
