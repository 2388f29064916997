//! Where players come from, and what all who come from there may take together.
//!
//! Who logs in anew has quotas anew, so what a server has only so much of is counted by address besides. A player
//! belongs to the address of the log-in, or after a restart of the first call: wherever it calls from later, what it
//! holds and asks for counts there. Behind a proxy all come from one address. What a proxy says of its clients is not
//! believed, since anybody can say it.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::time::Instant;

use super::{
    concurrency_limit::Tally,
    limits::Limits,
    pacer::Pace,
    rate_limiter::{Rate, TooFast},
};

/// An IPv4 address, or the /64 of an IPv6 address, since that is the least that one customer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Remote(IpAddr);

impl From<IpAddr> for Remote {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(address.into()),
            IpAddr::V6(address) => Self(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()),
        }
    }
}

/// What an address has a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Connections open.
    Connections,
    /// Calls that are not answered yet.
    Calls,
    /// Streams open.
    Streams,
    /// Memberships of rooms.
    Rooms,
    /// Seats held.
    Seats,
    /// Analyses under way.
    Analyses,
}

/// One address, and what is taken of its shares.
pub struct Address {
    shares: [Tally; 6],
    requests: Option<Rate>,
    chats: Option<Rate>,
    log_ins: Option<Rate>,
    http1: Option<Arc<Pace>>,
    openings: Option<Arc<Pace>>,
}

/// One of a share, given back when it is dropped.
pub struct Taken {
    address: Arc<Address>,
    share: Share,
}

impl Address {
    fn new(limits: &Limits) -> Self {
        let shares = [
            limits.connections_per_address,
            limits.calls_per_address,
            limits.streams_per_address,
            limits.rooms_per_address,
            limits.seats_per_address,
            limits.analyses_per_address,
        ];
        Self {
            shares: shares.map(Tally::unless_none),
            requests: Rate::unless_none(limits.requests_per_second_per_address, limits.request_burst_per_address),
            chats: Rate::unless_none(limits.chats_per_second_per_address, limits.chat_burst_per_address),
            log_ins: Rate::unless_none(limits.log_ins_per_second, limits.log_in_burst),
            http1: Pace::unless_none(limits.http1_requests_per_second, limits.http1_request_burst).map(Arc::new),
            openings: Pace::unless_none(limits.openings_per_second, limits.opening_burst).map(Arc::new),
        }
    }

    /// Takes one of a share, unless all are taken.
    #[must_use]
    pub fn take(self: &Arc<Self>, share: Share) -> Option<Taken> {
        self.try_add(share).then(|| Taken { address: Arc::clone(self), share })
    }

    /// Counts a request.
    ///
    /// # Errors
    /// When there were too many of late.
    pub fn admit(&self) -> Result<(), TooFast> {
        take(self.requests.as_ref())
    }

    /// Counts so many requests more for one that was counted.
    pub(crate) fn admit_more(&self, requests: u32) -> Result<(), TooFast> {
        self.requests.as_ref().map_or(Ok(()), |rate| rate.take_more(requests))
    }

    /// Counts a log-in.
    ///
    /// # Errors
    /// When there were too many of late.
    pub fn admit_log_in(&self) -> Result<(), TooFast> {
        take(self.log_ins.as_ref())
    }

    /// When a request of HTTP/1.1 that has come is to be answered: at once, or behind others.
    #[must_use]
    pub fn turn_of_http1(&self, now: Instant) -> Turn {
        Turn::of(self.http1.as_ref(), now)
    }

    /// When a connection on which something was said is to be heard: at once, or behind others.
    #[must_use]
    pub fn turn_of_opening(&self, now: Instant) -> Turn {
        Turn::of(self.openings.as_ref(), now)
    }

    /// Counts a line of chat.
    pub(crate) fn admit_chat(&self) -> Result<(), TooFast> {
        take(self.chats.as_ref())
    }

    /// Counts one more, unless there are as many as may be.
    pub(crate) fn try_add(&self, share: Share) -> bool {
        self.tally(share).try_add()
    }

    /// Counts what has come to be `after` and was `before`, even when that is more than may be.
    pub(crate) fn shift(&self, share: Share, before: usize, after: usize) {
        self.tally(share).shift(before, after);
    }

    fn tally(&self, share: Share) -> &Tally {
        &self.shares[share as usize]
    }

    fn is_as_new(&mut self) -> bool {
        [&self.http1, &self.openings].into_iter().flatten().all(|pace| pace.is_as_new(Instant::now()))
            && [&mut self.log_ins, &mut self.requests, &mut self.chats].into_iter().flatten().all(Rate::is_as_new)
    }
}

fn take(rate: Option<&Rate>) -> Result<(), TooFast> {
    rate.map_or(Ok(()), Rate::take)
}

/// The turn of one of many, given back when it is dropped unused.
pub struct Turn {
    pace: Option<Arc<Pace>>,
    at: Instant,
    used: bool,
}

impl Turn {
    fn of(pace: Option<&Arc<Pace>>, now: Instant) -> Self {
        Self { pace: pace.cloned(), at: pace.map_or(now, |pace| pace.take(now)), used: false }
    }

    /// When it is.
    #[must_use]
    pub fn at(&self) -> Instant {
        self.at
    }

    /// It has come, and is not given back any more.
    pub fn is_used(mut self) {
        self.used = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(pace) = self.pace.as_ref().filter(|_| !self.used) {
            pace.give_back();
        }
    }
}

impl Taken {
    /// Whose it is.
    #[must_use]
    pub fn address(&self) -> &Arc<Address> {
        &self.address
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.address.shift(self.share, 1, 0);
    }
}

/// All addresses from which anybody has come of late.
pub struct Addresses {
    limits: Limits,
    known: Mutex<Known>,
}

struct Known {
    by_remote: HashMap<Remote, Arc<Address>>,
    /// The number at which those are forgotten next who need not be remembered.
    sweep_at: usize,
}

/// Fewer are not worth looking through.
const LEAST_SWEPT: usize = 1_024;

impl Addresses {
    /// None yet, with these limits for each.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let known = Known { by_remote: HashMap::new(), sweep_at: LEAST_SWEPT.min(limits.addresses) };
        Self { limits: *limits, known: Mutex::new(known) }
    }

    /// Whoever comes from there.
    #[must_use]
    pub fn of(&self, address: IpAddr) -> Arc<Address> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.by_remote.len() >= known.sweep_at {
            known.sweep(self.limits.addresses);
        }
        let address = known.by_remote.entry(address.into()).or_insert_with(|| Arc::new(Address::new(&self.limits)));
        Arc::clone(address)
    }
}

impl Known {
    /// Forgets whom it need not remember, each time their number has doubled, so that it costs each that comes next to
    /// nothing. Where so many are remembered only for what they did of late, that is forgotten too: whoever has that many
    /// addresses gains little by beginning anew, and nobody else must be turned away for it.
    fn sweep(&mut self, most: usize) {
        // One that can be changed is in nobody's hands.
        self.by_remote.retain(|_, address| Arc::get_mut(address).is_none_or(|address| !address.is_as_new()));
        if self.by_remote.len() >= most {
            self.by_remote.retain(|_, address| Arc::get_mut(address).is_none());
        }
        let least = LEAST_SWEPT.min(most);
        let left = self.by_remote.len();
        self.by_remote.shrink_to(2 * left);
        self.sweep_at = (2 * left).clamp(least, most.max(left + least));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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

    /// The addresses of a world, by number.
    fn world(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn a_share_is_taken_until_it_is_given_back_and_without_a_bound_for_ever() {
        let addresses = Addresses::new(&Limits { streams_per_address: 2, seats_per_address: 0, ..Limits::default() });
        let (one, other) = (addresses.of(world(1)), addresses.of(world(2)));
        let first = one.take(Share::Streams).unwrap();
        let _second = addresses.of(world(1)).take(Share::Streams).unwrap();
        assert!(one.take(Share::Streams).is_none() && one.take(Share::Rooms).is_some());
        assert!(other.take(Share::Streams).is_some());
        drop(first);
        assert!(one.take(Share::Streams).is_some());
        one.shift(Share::Seats, 1_000, 1_001_000);
        assert!(one.take(Share::Seats).is_some());
    }

    #[test]
    fn log_ins_are_counted_by_address() {
        let addresses = Addresses::new(&Limits { log_in_burst: 2, log_ins_per_second: 1, ..Limits::default() });
        let log_in = |number| addresses.of(world(number)).admit_log_in();
        assert!(log_in(1).is_ok() && log_in(1).is_ok());
        let TooFast { retry_after } = log_in(1).unwrap_err();
        assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(1));
        assert!(log_in(2).is_ok());
        let uncounted = Addresses::new(&Limits { log_ins_per_second: 0, log_in_burst: 1, ..Limits::default() });
        assert!((0..10).all(|_| uncounted.of(world(1)).admit_log_in().is_ok()));
    }

    #[test]
    fn a_world_of_addresses_fills_no_memory_and_none_that_is_in_use_is_forgotten() {
        // As good as new after ten minutes.
        let addresses = Addresses::new(&Limits { log_in_burst: 600, addresses: 100, ..Limits::default() });
        let in_use: Vec<_> = (0..40).map(|number| addresses.of(world(number))).collect();
        for number in 0..500 {
            (0..600).for_each(|_| addresses.of(world(number)).admit_log_in().unwrap());
            assert!(addresses.known.lock().unwrap().by_remote.len() <= 100);
        }
        assert!((0..).zip(&in_use).all(|(number, address)| Arc::ptr_eq(address, &addresses.of(world(number)))));
        assert!(in_use[0].admit_log_in().is_err());
    }

    #[test]
    fn one_who_did_much_of_late_is_remembered_before_one_who_did_not() {
        let addresses = Addresses::new(&Limits { log_in_burst: 600, addresses: 100, ..Limits::default() });
        (0..600).for_each(|_| addresses.of(world(7)).admit_log_in().unwrap());
        (1_000..1_500).for_each(|number| drop(addresses.of(world(number))));
        assert!(addresses.of(world(7)).admit_log_in().is_err());
    }
}
