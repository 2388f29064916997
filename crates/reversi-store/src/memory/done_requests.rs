//! What requests with ids did within [`REQUEST_LIFETIME`](crate::journal::REQUEST_LIFETIME).

use std::collections::{HashMap, VecDeque};

use reversi_room::Timestamp;

use crate::journal::DoneRequest;

#[derive(Default)]
pub(super) struct MemoryRequests {
    done: HashMap<u64, DoneRequest>,
    /// The keys, the oldest first.
    keys: VecDeque<u64>,
}

impl MemoryRequests {
    pub(super) fn get(&self, key: u64, now: Timestamp) -> Option<DoneRequest> {
        self.done.get(&key).copied().filter(|done| !done.is_over(now))
    }

    /// Adds a request that is not known, and removes those that are over.
    pub(super) fn add(&mut self, key: u64, done: DoneRequest) {
        while let Some(oldest) = self.keys.front()
            && self.done.get(oldest).is_none_or(|oldest| oldest.is_over(done.at))
        {
            self.keys.pop_front().and_then(|oldest| self.done.remove(&oldest));
        }
        self.done.insert(key, done);
        self.keys.push_back(key);
    }
}
