//! The limit on open connections, of each address and in total.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::runtime::{ClientAddresses, Limits, Share, SharePermit};

pub(crate) struct ConnectionLimit {
    max: usize,
    open: AtomicUsize,
    addresses: ClientAddresses,
}

/// Counts an open connection until it is dropped.
pub(crate) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    pub(crate) taken: SharePermit,
}

impl ConnectionLimit {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self { max: limits.connections, open: AtomicUsize::new(0), addresses: ClientAddresses::new(limits) })
    }

    pub(crate) fn count(&self) -> usize {
        self.open.load(Relaxed)
    }

    /// Counts one more connection; none if the total or its address is at the limit.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        // The total first, so that a refused connection does not create an entry for its address.
        self.open.fetch_update(Relaxed, Relaxed, |open| (open < self.max).then_some(open + 1)).ok()?;
        let Some(taken) = self.addresses.entry(address).acquire(Share::Connections) else {
            self.open.fetch_sub(1, Relaxed);
            return None;
        };
        Some(ConnectionPermit { limit: Arc::clone(self), taken })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limit.open.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_limited_in_all_and_for_each_address() {
        let limit = ConnectionLimit::new(&Limits { connections: 3, connections_per_address: 2, ..Limits::default() });
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(IpAddr::from);
        let first = limit.admit(one).unwrap();
        let _second = limit.admit(one).unwrap();
        assert!(limit.admit(one).is_none(), "too many of one address");
        assert_eq!(limit.count(), 2);
        let _third = limit.admit(other).unwrap();
        assert!(limit.admit(other).is_none(), "too many in all");
        drop(first);
        assert_eq!(limit.count(), 2);
        assert!(limit.admit(other).is_some() && limit.admit(one).is_some());
    }
}
