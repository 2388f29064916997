//! Where connections come from: how many each place may have open, and how often somebody may log in from there.
//!
//! Behind a proxy all come from one place. What a proxy says of its clients is not believed, since anybody can say it.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    state::keyed::HashMapStateStore,
};

use crate::runtime::{Limits, TooFast};

/// Whom a connection is counted against: an IPv4 address, or the /64 of an IPv6 address, since that is the least that
/// one customer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Remote(IpAddr);

impl From<IpAddr> for Remote {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(address.into()),
            IpAddr::V6(address) => Self(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()),
        }
    }
}

/// All connections that are open.
pub(super) struct Crowd {
    most: usize,
    most_per_remote: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_remote: HashMap<Remote, usize>,
}

/// One connection's place in the crowd, free again when it is dropped.
pub(super) struct Place {
    crowd: Arc<Crowd>,
    remote: Remote,
}

impl Crowd {
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        let (most, most_per_remote) = (limits.connections, limits.connections_per_address);
        Arc::new(Self { most, most_per_remote, open: Mutex::default() })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open().all
    }

    /// Counts one more, unless there are as many as may be.
    pub(super) fn admit(self: &Arc<Self>, remote: Remote) -> Option<Place> {
        let mut open = self.open();
        if open.all >= self.most || open.by_remote.get(&remote).is_some_and(|&of_it| of_it >= self.most_per_remote) {
            return None;
        }
        open.all += 1;
        *open.by_remote.entry(remote).or_default() += 1;
        Some(Place { crowd: Arc::clone(self), remote })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn remote(&self) -> Remote {
        self.remote
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.crowd.open();
        open.all -= 1;
        if let Some(of_it) = open.by_remote.get_mut(&self.remote) {
            *of_it -= 1;
            if *of_it == 0 {
                open.by_remote.remove(&self.remote);
            }
        }
    }
}

/// Places whose log-ins are remembered. One is forgotten as soon as it could log in as often as a new one, so this many
/// at once is an attack; it costs 10 MiB.
const REMOTES_REMEMBERED: usize = 100_000;

/// When one comes back who found the memory full: most are remembered for less.
const MEMORY_RETRY: Duration = Duration::from_secs(1);

/// How often a name is asked for. `LogIn` is the one call without a token, and makes a player that is kept for a day.
pub(super) struct LogIns {
    rate: RateLimiter<Remote, HashMapStateStore<Remote>, DefaultClock>,
    most: usize,
    /// The number of places at which the idle ones are forgotten next.
    sweep_at: Mutex<usize>,
}

impl LogIns {
    pub(super) fn new(limits: &Limits) -> Self {
        Self::remembering(limits, REMOTES_REMEMBERED)
    }

    fn remembering(limits: &Limits, most: usize) -> Self {
        let at_least_one = |count| std::num::NonZeroU32::new(count).unwrap_or(std::num::NonZeroU32::MIN);
        let quota =
            Quota::per_second(at_least_one(limits.log_ins_per_second)).allow_burst(at_least_one(limits.log_in_burst));
        Self { rate: RateLimiter::hashmap(quota), most, sweep_at: Mutex::new(most) }
    }

    /// Counts a log-in.
    ///
    /// # Errors
    /// When there were too many of late.
    pub(super) fn admit(&self, remote: Remote) -> Result<(), TooFast> {
        if !self.has_room() {
            return Err(TooFast { retry_after: MEMORY_RETRY });
        }
        self.rate
            .check_key(&remote)
            .map_err(|until| TooFast { retry_after: until.wait_time_from(DefaultClock::default().now()) })
    }

    /// Forgets whom it need not remember, each time their number has doubled, so that it costs each log-in next to
    /// nothing.
    fn has_room(&self) -> bool {
        let mut sweep_at = self.sweep_at.lock().unwrap_or_else(PoisonError::into_inner);
        if self.rate.len() < *sweep_at {
            return true;
        }
        self.rate.retain_recent();
        self.rate.shrink_to_fit();
        let left = self.rate.len();
        *sweep_at = (left * 2).clamp(LEAST_SWEPT.min(self.most), self.most);
        left < self.most
    }
}

/// Fewer places are not worth looking through.
const LEAST_SWEPT: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str) -> Remote {
        text.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn a_customer_is_an_address_or_a_network_of_the_new_kind() {
        assert_eq!(remote("2001:db8:1:2:aaaa::1"), remote("2001:db8:1:2::bbbb"));
        assert_ne!(remote("2001:db8:1:2::1"), remote("2001:db8:1:3::1"));
        assert_eq!(remote("::ffff:192.0.2.1"), remote("192.0.2.1"));
        assert_ne!(remote("192.0.2.1"), remote("192.0.2.2"));
    }

    #[test]
    fn a_crowd_has_room_for_so_many_and_no_more() {
        let crowd = Crowd::new(&Limits { connections: 3, connections_per_address: 2, ..Limits::default() });
        let (one, other) = (remote("192.0.2.1"), remote("192.0.2.2"));
        let first = crowd.admit(one).unwrap();
        let _second = crowd.admit(one).unwrap();
        assert!(crowd.admit(one).is_none(), "too many of one address");
        let _third = crowd.admit(other).unwrap();
        assert!(crowd.admit(other).is_none(), "too many in all");
        drop(first);
        assert_eq!(crowd.count(), 2);
        let fourth = crowd.admit(other).unwrap();
        drop((fourth, _third));
        assert!(!crowd.open().by_remote.contains_key(&other), "nothing is kept of who has left");
    }

    #[test]
    fn log_ins_are_counted_by_address() {
        let log_ins = LogIns::new(&Limits { log_in_burst: 2, log_ins_per_second: 1, ..Limits::default() });
        let (one, other) = (remote("192.0.2.1"), remote("192.0.2.2"));
        assert!(log_ins.admit(one).is_ok() && log_ins.admit(one).is_ok());
        let TooFast { retry_after } = log_ins.admit(one).unwrap_err();
        assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(1));
        assert!(log_ins.admit(other).is_ok());
    }

    #[test]
    fn a_world_of_addresses_fills_no_memory() {
        let addresses = || (0..500_u32).map(|number| Remote::from(IpAddr::from(number.to_be_bytes())));
        // As good as new after a nanosecond.
        let brief = Limits { log_in_burst: 1, log_ins_per_second: 1_000_000_000, ..Limits::default() };
        let log_ins = LogIns::remembering(&brief, 100);
        assert!(addresses().all(|remote| log_ins.admit(remote).is_ok()));
        // As good as new after ten minutes.
        let lasting = Limits { log_in_burst: 600, log_ins_per_second: 1, ..Limits::default() };
        let log_ins = LogIns::remembering(&lasting, 100);
        let often = |remote| (0..600).all(|_| log_ins.admit(remote).is_ok());
        assert_eq!(addresses().filter(|&remote| often(remote)).count(), 99, "once it is full, all have to wait");
        assert!(log_ins.rate.len() <= 100);
    }
}
