//! The limits in force, which can be replaced while the server runs.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::limits::{Limit, Limits};

/// The names of limits that are fixed at the start, because connections, searches or memory are set up with them.
const FIXED: [&str; 20] = [
    "opening",
    "streams_per_connection",
    "header_bytes",
    "message_bytes",
    "frame_bytes",
    "stream_window",
    "connection_window",
    "resets_unseen",
    "resets_for_faults",
    "control_frames_per_second",
    "control_frame_burst",
    "call_time",
    "keepalive",
    "keepalive_answer",
    "reader_patience",
    "ai_queue",
    "ai_memory_mib",
    "analyses",
    "analysis_threads",
    "drain",
];

impl Limit {
    /// Whether it keeps the value of the start, whatever a reload says.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        FIXED.contains(&self.name)
    }
}

/// The limits in force. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct LimitsInForce(Arc<ArcSwap<Limits>>);

impl LimitsInForce {
    /// The limits at this moment.
    #[must_use]
    pub fn get(&self) -> Arc<Limits> {
        self.0.load_full()
    }

    /// Replaces all limits except those that are fixed at the start. Returns the options of fixed limits that differ.
    pub(crate) fn replace(&self, mut limits: Limits) -> Vec<&'static str> {
        let current = self.get();
        let mut fixed = Vec::new();
        for limit in Limits::TABLE.iter().filter(|limit| limit.is_fixed()) {
            let value = (limit.get)(&current);
            if (limit.get)(&limits) != value {
                fixed.push(limit.flag);
                (limit.set)(&mut limits, value);
            }
        }
        self.0.store(Arc::new(limits));
        fixed
    }
}

impl From<Limits> for LimitsInForce {
    fn from(limits: Limits) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(limits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_replaced_except_fixed_ones() {
        let in_force = LimitsInForce::from(Limits { rooms: 1, frame_bytes: 16_384, ..Limits::default() });
        let shared = in_force.clone();
        assert_eq!(
            in_force.replace(Limits { rooms: 2, frame_bytes: 20_000, ..Limits::default() }),
            ["max-frame-bytes"]
        );
        assert_eq!((shared.get().rooms, shared.get().frame_bytes), (2, 16_384));
    }

    #[test]
    fn fixed_limits_are_rows_of_the_table() {
        assert!(FIXED.iter().all(|name| Limits::TABLE.iter().any(|limit| limit.name == *name)));
    }
}
