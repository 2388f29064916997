//! Searches in this process: on how many threads, and for how long.

use std::{
    sync::mpsc::{RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use crate::search::Stop;

/// The number of processors; 1 if unknown.
pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work`, and sets `stop` if that takes longer than `time`.
pub(super) fn stop_after<R>(time: Duration, stop: &Stop, work: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        let (done, working) = sync_channel::<()>(0);
        scope.spawn(move || {
            if working.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                stop.stop();
            }
        });
        let result = work();
        drop(done);
        result
    })
}
