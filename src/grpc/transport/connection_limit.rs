//! The limit on open connections, of each address and in total.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::runtime::{AddressPermit, ClientAddress, ClientAddresses, LimitsInForce, Resource, server_metrics};

pub(crate) struct ConnectionLimit {
    limits: LimitsInForce,
    open: AtomicUsize,
    addresses: ClientAddresses,
}

/// Counts an open connection in the total until it is dropped.
pub(crate) struct ConnectionSlot(Arc<ConnectionLimit>);

/// Counts an open connection until it is dropped.
pub(crate) struct ConnectionPermit {
    pub(crate) address: Arc<ClientAddress>,
    /// None for a trusted proxy, whose connections carry the requests of many clients.
    taken: Option<AddressPermit>,
    _slot: ConnectionSlot,
}

impl ConnectionLimit {
    pub(crate) fn new(limits: impl Into<LimitsInForce>) -> Arc<Self> {
        let limits = limits.into();
        Arc::new(Self { addresses: ClientAddresses::new(limits.clone()), limits, open: AtomicUsize::new(0) })
    }

    pub(crate) fn count(&self) -> usize {
        self.open.load(Relaxed)
    }

    /// Counts one more connection. None if the total is at the limit. Its address is counted afterwards, so that a
    /// refused connection does not create an entry for it.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let max = self.limits.get().connections;
        self.open.fetch_update(Relaxed, Relaxed, |open| (open < max).then_some(open + 1)).ok()?;
        server_metrics::connections(1.0);
        Some(ConnectionSlot(Arc::clone(self)))
    }

    /// The counts of an address.
    pub(crate) fn address(&self, address: IpAddr) -> Arc<ClientAddress> {
        self.addresses.entry(address)
    }
}

impl ConnectionSlot {
    /// Counts the connection at the address of its client. None if the address is at the limit.
    pub(crate) fn of_client(self, address: IpAddr) -> Option<ConnectionPermit> {
        let address = self.0.address(address);
        let taken = address.acquire(Resource::Connections)?;
        Some(ConnectionPermit { address, taken: Some(taken), _slot: self })
    }

    /// The connection of a trusted proxy, counted in the total only.
    pub(crate) fn of_proxy(self, address: IpAddr) -> ConnectionPermit {
        ConnectionPermit { address: self.0.address(address), taken: None, _slot: self }
    }
}

impl ConnectionPermit {
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.taken.is_none()
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
        server_metrics::connections(-1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Limits;

    #[test]
    fn connections_are_limited_in_all_and_for_each_address() {
        let limit = ConnectionLimit::new(Limits { connections: 3, connections_per_address: 2, ..Limits::default() });
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(IpAddr::from);
        let admit = |address| limit.admit().and_then(|slot| slot.of_client(address));
        let first = admit(one).unwrap();
        let _second = admit(one).unwrap();
        assert!(admit(one).is_none(), "too many of one address");
        assert_eq!(limit.count(), 2);
        let _third = admit(other).unwrap();
        assert!(admit(other).is_none(), "too many in all");
        drop(first);
        assert_eq!(limit.count(), 2);
        assert!(admit(other).is_some() && admit(one).is_some());
        let proxy = limit.admit().unwrap().of_proxy(other);
        assert!(proxy.is_of_proxy() && limit.count() == 3, "at the limit of its address, but not of all");
    }
}
