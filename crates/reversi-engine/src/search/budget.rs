//! The bounds of a search, and its stop flag.
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A flag that ends searches. Clones share it, and it is never reset.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

/// The first stage: begin nothing new.
const WINDING_DOWN: u8 = 1;

/// The second stage: stop at once.
const STOPPED: u8 = 2;

impl Stop {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every search with this flag.
    pub fn stop(&self) {
        self.0.fetch_max(STOPPED, Ordering::Relaxed);
    }

    /// Whether [`Stop::stop`] was called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) == STOPPED
    }

    /// Whether `other` is the same flag.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Ends an iterative search after its current iteration. Other searches ignore it.
    pub fn wind_down(&self) {
        self.0.fetch_max(WINDING_DOWN, Ordering::Relaxed);
    }

    /// Whether [`Stop::wind_down`] or [`Stop::stop`] was called.
    #[must_use]
    pub fn is_winding_down(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= WINDING_DOWN
    }
}

/// The bounds of one search; the first one reached ends it. Without depth and nodes, only the flag or an exhausted game
/// tree does.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Maximum depth in plies; 0 counts as 1. Sampling searchers ignore it.
    pub depth: Option<u8>,
    /// Maximum number of states visited by alpha-beta, or of playouts of a sampling searcher.
    pub nodes: Option<u64>,
    /// Ends the search at once.
    pub stop: Stop,
}

impl Budget {
    /// A bound by depth only.
    #[must_use]
    pub fn of_depth(depth: u8) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }

    /// A bound by nodes or playouts only.
    #[must_use]
    pub fn of_nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// The same bounds with this flag.
    #[must_use]
    pub fn with_stop(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// The bound that ends a search after this many nodes, if any.
    pub(super) fn ended_by(&self, nodes: u64) -> Option<EndedBy> {
        if self.stop.is_stopped() {
            Some(EndedBy::Stop)
        } else if self.nodes.is_some_and(|max| nodes >= max) {
            Some(EndedBy::Nodes)
        } else {
            None
        }
    }
}

/// The bound that ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The depth of the budget, or the end of every line.
    Depth,
    /// The number of nodes or playouts.
    Nodes,
    /// The flag.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_flag_that_takes_precedence() {
        let stop = Stop::new();
        let budget = Budget::of_nodes(10).with_stop(&stop);
        assert_eq!(budget.ended_by(9), None);
        assert_eq!(budget.ended_by(10), Some(EndedBy::Nodes));
        stop.clone().stop();
        assert!(stop.is_stopped());
        assert_eq!(budget.ended_by(9), Some(EndedBy::Stop));
        assert_eq!(budget.ended_by(10), Some(EndedBy::Stop));
    }

    #[test]
    fn a_flag_is_raised_in_two_steps_and_never_lowered() {
        let stop = Stop::new();
        assert!(!stop.is_winding_down() && stop.is(&stop.clone()) && !stop.is(&Stop::new()));
        stop.wind_down();
        assert!(stop.is_winding_down() && !stop.is_stopped());
        stop.stop();
        stop.wind_down();
        assert!(stop.is_winding_down() && stop.is_stopped());
    }
}
