//! All connections that are open, of all addresses together.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::runtime::{Address, Addresses, Limits, Share, Taken};

/// How many connections there are, and may be.
pub(crate) struct Crowd {
    most: usize,
    open: AtomicUsize,
    addresses: Addresses,
}

/// One connection's place in the crowd, free again when it is dropped.
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    taken: Taken,
}

impl Crowd {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self { most: limits.connections, open: AtomicUsize::new(0), addresses: Addresses::new(limits) })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.open.load(Relaxed)
    }

    /// Counts one more, unless there are as many as may be, of all or of its address.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        // Not even an address is remembered for those who find no room.
        self.open.fetch_update(Relaxed, Relaxed, |open| (open < self.most).then_some(open + 1)).ok()?;
        let Some(taken) = self.addresses.of(address).take(Share::Connections) else {
            self.open.fetch_sub(1, Relaxed);
            return None;
        };
        Some(Place { crowd: Arc::clone(self), taken })
    }
}

impl Place {
    pub(crate) fn address(&self) -> &Arc<Address> {
        self.taken.address()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.crowd.open.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_has_room_for_so_many_and_no_more() {
        let crowd = Crowd::new(&Limits { connections: 3, connections_per_address: 2, ..Limits::default() });
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(IpAddr::from);
        let first = crowd.admit(one).unwrap();
        let _second = crowd.admit(one).unwrap();
        assert!(crowd.admit(one).is_none(), "too many of one address");
        assert_eq!(crowd.count(), 2);
        let _third = crowd.admit(other).unwrap();
        assert!(crowd.admit(other).is_none(), "too many in all");
        drop(first);
        assert_eq!(crowd.count(), 2);
        assert!(crowd.admit(other).is_some() && crowd.admit(one).is_some());
    }
}
