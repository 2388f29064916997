//! Limits by client address.
//!
//! Each log-in gets new quotas, so scarce resources are also limited by address. A player counts for the address of its
//! log-in, or after a restart of its first call, even if it calls from another one later. All clients behind a proxy
//! that is not trusted share one address.

use std::{
    collections::HashMap,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::time::Instant;

use super::{
    concurrency_limit::ConcurrencyLimit,
    in_force::LimitsInForce,
    limits::Limits,
    pacer::Pacer,
    rate_limiter::{RateLimiter, TooFast},
    search_use::SearchUse,
};
use crate::runtime::server_clock::instant;

/// An IPv4 address, or the /56 of an IPv6 address, which is what many providers assign to a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Prefix(IpAddr);

impl Prefix {
    /// The IPv4 address, or the first of the /56.
    pub(crate) fn address(self) -> IpAddr {
        self.0
    }

    /// The /24 of an IPv4 address, or the /48 of an IPv6 address. One customer may easily have all of it.
    pub(crate) fn network(self) -> Self {
        Self(match self.0 {
            IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() >> 8 << 8).into(),
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 80 << 80).into(),
        })
    }
}

impl From<IpAddr> for Prefix {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(address.into()),
            IpAddr::V6(address) => Self(Ipv6Addr::from_bits(address.to_bits() >> 72 << 72).into()),
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, if self.0.is_ipv6() { "/56" } else { "" })
    }
}

/// A resource that is limited by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Connections open.
    Connections,
    /// Calls in progress.
    Calls,
    /// Streams open.
    Streams,
    /// Memberships of rooms.
    Rooms,
    /// Seats held.
    Seats,
    /// Analyses in progress.
    Analyses,
    /// Players that are logged in.
    Players,
    /// Tournaments created and not over.
    Tournaments,
}

/// The counts and rates of one address.
pub struct ClientAddress {
    prefix: Prefix,
    /// True if the address tells its clients from others. False for loopback, and for all addresses if log-ins are not
    /// limited by address, as behind a proxy.
    tells_clients_apart: bool,
    counts: [ConcurrencyLimit; 8],
    /// The number of players at all addresses of its network.
    network_players: Arc<ConcurrencyLimit>,
    requests: Option<RateLimiter>,
    chats: Option<RateLimiter>,
    log_ins: Option<RateLimiter>,
    games: Option<RateLimiter>,
    tournaments: Option<RateLimiter>,
    http1: Option<Arc<Pacer>>,
    openings: Option<Arc<Pacer>>,
    ai_searches: Option<Arc<SearchUse>>,
}

/// One unit of a resource, given back when this is dropped.
pub struct AddressPermit {
    /// The address that counts it.
    pub address: Arc<ClientAddress>,
    resource: Resource,
}

impl ClientAddress {
    fn new(prefix: Prefix, network_players: Arc<ConcurrencyLimit>, limits: &Limits) -> Self {
        let counts = [
            limits.connections_per_address,
            limits.calls_per_address,
            limits.streams_per_address,
            limits.rooms_per_address,
            limits.seats_per_address,
            limits.analyses_per_address,
            limits.players_per_address,
            limits.tournaments_per_address,
        ];
        Self {
            prefix,
            tells_clients_apart: limits.log_ins_per_minute != 0 && !prefix.0.is_loopback(),
            counts: counts.map(ConcurrencyLimit::zero_is_unlimited),
            network_players,
            requests: RateLimiter::unless_zero(
                limits.requests_per_second_per_address,
                limits.request_burst_per_address,
            ),
            chats: RateLimiter::unless_zero(limits.chats_per_second_per_address, limits.chat_burst_per_address),
            log_ins: RateLimiter::per_minute_unless_zero(limits.log_ins_per_minute, limits.log_in_burst),
            games: RateLimiter::per_minute_unless_zero(
                limits.games_per_minute_per_address,
                limits.game_burst_per_address,
            ),
            tournaments: RateLimiter::per_hour_unless_zero(limits.tournaments_per_hour_per_address),
            http1: Pacer::unless_zero(limits.http1_requests_per_second, limits.http1_request_burst).map(Arc::new),
            openings: Pacer::unless_zero(limits.openings_per_second, limits.opening_burst).map(Arc::new),
            ai_searches: SearchUse::unless_zero(limits.ai_seconds_per_minute_per_address).map(Arc::new),
        }
    }

    pub(crate) fn prefix(&self) -> Prefix {
        self.prefix
    }

    /// The prefix, if it tells the clients of this address from others.
    pub(crate) fn distinct_prefix(&self) -> Option<Prefix> {
        self.tells_clients_apart.then_some(self.prefix)
    }

    /// Acquires one unit of a resource. `None` when the limit is reached.
    #[must_use]
    pub fn acquire(self: &Arc<Self>, resource: Resource) -> Option<AddressPermit> {
        self.try_add(resource).then(|| AddressPermit { address: Arc::clone(self), resource })
    }

    /// Counts a request.
    ///
    /// # Errors
    /// When the rate is exceeded. The request is then not counted.
    pub fn admit(&self) -> Result<(), TooFast> {
        admit(self.requests.as_ref())
    }

    /// Counts `requests` more for a request that is already counted. Fails, counting none, when the rate is exceeded.
    pub(crate) fn admit_more(&self, requests: u32) -> Result<(), TooFast> {
        self.requests.as_ref().map_or(Ok(()), |rate| rate.admit_more(requests))
    }

    /// Counts a log-in.
    ///
    /// # Errors
    /// When the rate is exceeded. The log-in is then not counted.
    pub fn admit_log_in(&self) -> Result<(), TooFast> {
        admit(self.log_ins.as_ref())
    }

    /// Reserves the time slot at which a request of HTTP/1.1 may start.
    #[must_use]
    pub fn http1_slot(&self, now: Instant) -> PacerSlot {
        PacerSlot::new(self.http1.as_ref(), now)
    }

    /// Reserves the time slot at which to serve a connection that has sent its first bytes.
    #[must_use]
    pub fn opening_slot(&self, now: Instant) -> PacerSlot {
        PacerSlot::new(self.openings.as_ref(), now)
    }

    /// Counts a line of chat.
    pub(crate) fn admit_chat(&self) -> Result<(), TooFast> {
        admit(self.chats.as_ref())
    }

    /// The searches of AI seats in rooms of its players. `None` if searches are not limited by address.
    pub(crate) fn ai_searches(&self) -> Option<&Arc<SearchUse>> {
        self.ai_searches.as_ref()
    }

    /// Counts a game that begins.
    pub(crate) fn admit_game(&self) -> Result<(), TooFast> {
        admit(self.games.as_ref())
    }

    /// Counts a tournament that is created.
    pub(crate) fn admit_tournament(&self) -> Result<(), TooFast> {
        admit(self.tournaments.as_ref())
    }

    /// Counts one more; false when the limit is reached.
    pub(crate) fn try_add(&self, resource: Resource) -> bool {
        if resource != Resource::Players {
            return self.count(resource).try_add();
        }
        if !self.network_players.try_add() {
            return false;
        }
        let added = self.count(resource).try_add();
        if !added {
            self.network_players.adjust(1, 0);
        }
        added
    }

    /// Replaces a count of `before` by one of `after`, even beyond the limit.
    pub(crate) fn adjust(&self, resource: Resource, before: usize, after: usize) {
        if resource == Resource::Players {
            self.network_players.adjust(before, after);
        }
        self.count(resource).adjust(before, after);
    }

    fn count(&self, resource: Resource) -> &ConcurrencyLimit {
        &self.counts[resource as usize]
    }

    fn is_unused(&mut self) -> bool {
        self.ai_searches.as_ref().is_none_or(|searches| searches.is_unused(instant()))
            && [&self.http1, &self.openings].into_iter().flatten().all(|pacer| pacer.is_unused(Instant::now()))
            && [&mut self.log_ins, &mut self.requests, &mut self.chats, &mut self.games, &mut self.tournaments]
                .into_iter()
                .flatten()
                .all(RateLimiter::is_unused)
    }
}

fn admit(rate: Option<&RateLimiter>) -> Result<(), TooFast> {
    rate.map_or(Ok(()), RateLimiter::admit)
}

/// A slot of a `Pacer`, released when it is dropped unused.
pub struct PacerSlot {
    pacer: Option<Arc<Pacer>>,
    /// The earliest time at which the request or connection may start.
    pub start: Instant,
    used: bool,
}

impl PacerSlot {
    fn new(pacer: Option<&Arc<Pacer>>, now: Instant) -> Self {
        Self { pacer: pacer.cloned(), start: pacer.map_or(now, |pacer| pacer.reserve(now)), used: false }
    }

    /// Marks the slot as used, so that it is not released.
    pub fn mark_used(mut self) {
        self.used = true;
    }
}

impl Drop for PacerSlot {
    fn drop(&mut self) {
        if let Some(pacer) = self.pacer.as_ref().filter(|_| !self.used) {
            pacer.release();
        }
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        self.address.adjust(self.resource, 1, 0);
    }
}

/// The addresses in use, and those whose rates have not recovered yet.
pub struct ClientAddresses {
    limits: LimitsInForce,
    known: Mutex<Known>,
}

struct Known {
    by_prefix: HashMap<Prefix, Arc<ClientAddress>>,
    /// The players of each network with a known address.
    network_players: HashMap<Prefix, Arc<ConcurrencyLimit>>,
    /// The number of addresses at which unused ones are next removed.
    sweep_at: usize,
}

/// Maximum number of players of a network with its 256 addresses, as a multiple of the maximum of one address.
const ADDRESSES_PER_NETWORK: usize = 8;

/// Minimum number of addresses before unused ones are removed.
const MIN_SWEPT: usize = 1_024;

impl ClientAddresses {
    /// No addresses yet; `limits` apply to each.
    #[must_use]
    pub fn new(limits: impl Into<LimitsInForce>) -> Self {
        let limits = limits.into();
        let (by_prefix, network_players) = Default::default();
        let known = Known { by_prefix, network_players, sweep_at: MIN_SWEPT.min(limits.get().addresses) };
        Self { limits, known: Mutex::new(known) }
    }

    /// The entry of an address, created when it is new.
    #[must_use]
    pub fn entry(&self, address: IpAddr) -> Arc<ClientAddress> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.by_prefix.len() >= known.sweep_at {
            known.sweep(self.limits.get().addresses);
        }
        let prefix = Prefix::from(address);
        if let Some(address) = known.by_prefix.get(&prefix) {
            return Arc::clone(address);
        }
        let limits = self.limits.get();
        let most = limits.players_per_address.saturating_mul(ADDRESSES_PER_NETWORK);
        let of_network = || Arc::new(ConcurrencyLimit::zero_is_unlimited(most));
        let network_players = Arc::clone(known.network_players.entry(prefix.network()).or_insert_with(of_network));
        let address = Arc::new(ClientAddress::new(prefix, network_players, &limits));
        known.by_prefix.insert(prefix, Arc::clone(&address));
        address
    }
}

impl Known {
    /// Removes unused addresses. Runs each time their number has doubled, so the amortised cost is constant. At
    /// `capacity`, all addresses that are not in use are removed, even if their rates have not recovered: an attacker
    /// with that many addresses gains little, and no other client is rejected because of it.
    fn sweep(&mut self, capacity: usize) {
        // `get_mut` fails for an address that is in use.
        self.by_prefix.retain(|_, address| Arc::get_mut(address).is_none_or(|address| !address.is_unused()));
        if self.by_prefix.len() >= capacity {
            self.by_prefix.retain(|_, address| Arc::get_mut(address).is_none());
        }
        self.network_players.retain(|_, players| Arc::strong_count(players) > 1);
        let least = MIN_SWEPT.min(capacity);
        let left = self.by_prefix.len();
        self.by_prefix.shrink_to(2 * left);
        self.sweep_at = (2 * left).clamp(least, capacity.max(left + least));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn prefix(text: &str) -> Prefix {
        text.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn ipv6_clients_are_counted_by_their_64_bit_prefix() {
        assert_eq!(prefix("2001:db8:1:200:aaaa::1"), prefix("2001:db8:1:2ff::bbbb"));
        assert_ne!(prefix("2001:db8:1:200::1"), prefix("2001:db8:1:300::1"));
        assert_eq!(prefix("::ffff:192.0.2.1"), prefix("192.0.2.1"));
        assert_ne!(prefix("192.0.2.1"), prefix("192.0.2.2"));
    }

    /// An address by number.
    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn a_share_is_limited_until_a_permit_is_dropped_and_0_is_no_limit() {
        let addresses =
            ClientAddresses::new(Limits { streams_per_address: 2, seats_per_address: 0, ..Limits::default() });
        let (one, other) = (addresses.entry(address(1)), addresses.entry(address(2)));
        let first = one.acquire(Resource::Streams).unwrap();
        let _second = addresses.entry(address(1)).acquire(Resource::Streams).unwrap();
        assert!(one.acquire(Resource::Streams).is_none() && one.acquire(Resource::Rooms).is_some());
        assert!(other.acquire(Resource::Streams).is_some());
        drop(first);
        assert!(one.acquire(Resource::Streams).is_some());
        one.adjust(Resource::Seats, 1_000, 1_001_000);
        assert!(one.acquire(Resource::Seats).is_some());
    }

    #[test]
    fn players_are_counted_by_network_too() {
        let addresses = ClientAddresses::new(Limits { players_per_address: 2, ..Limits::default() });
        for network in ["192.0.2.", "2001:db8:1:"] {
            let entry = |number: u32| {
                let host = if network.contains(':') { format!("{:x}::1", 256 * number) } else { number.to_string() };
                addresses.entry(format!("{network}{host}").parse().unwrap())
            };
            let entries: Vec<_> = (1..=9).map(entry).collect();
            let full = || {
                entries.iter().flat_map(|entry| [entry.acquire(Resource::Players), entry.acquire(Resource::Players)])
            };
            let players: Vec<_> = full().flatten().collect();
            assert_eq!(players.len(), 16, "{network}");
            assert!(entries[8].acquire(Resource::Streams).is_some());
            drop(players);
            assert_eq!(full().flatten().collect::<Vec<_>>().len(), 16, "refused ones do not count");
        }
        assert!(addresses.entry(address(7)).acquire(Resource::Players).is_some());
    }

    #[test]
    fn log_ins_are_counted_by_address() {
        let addresses = ClientAddresses::new(Limits { log_in_burst: 2, log_ins_per_minute: 12, ..Limits::default() });
        let log_in = |number| addresses.entry(address(number)).admit_log_in();
        assert!(log_in(1).is_ok() && log_in(1).is_ok());
        let TooFast { retry_after } = log_in(1).unwrap_err();
        assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(5));
        assert!(log_in(2).is_ok());
        let uncounted = ClientAddresses::new(Limits { log_ins_per_minute: 0, log_in_burst: 1, ..Limits::default() });
        assert!((0..10).all(|_| uncounted.entry(address(1)).admit_log_in().is_ok()));
    }

    #[test]
    fn the_number_of_addresses_is_bounded_and_one_in_use_is_kept() {
        // The burst refills in fifty minutes.
        let addresses = ClientAddresses::new(Limits { log_in_burst: 600, addresses: 100, ..Limits::default() });
        let in_use: Vec<_> = (0..40).map(|number| addresses.entry(address(number))).collect();
        for number in 0..500 {
            (0..600).for_each(|_| addresses.entry(address(number)).admit_log_in().unwrap());
            assert!(addresses.known.lock().unwrap().by_prefix.len() <= 100);
        }
        assert!((0..).zip(&in_use).all(|(number, held)| Arc::ptr_eq(held, &addresses.entry(address(number)))));
        assert!(in_use[0].admit_log_in().is_err());
    }

    #[test]
    fn unused_addresses_are_removed_before_used_ones() {
        let addresses = ClientAddresses::new(Limits { log_in_burst: 600, addresses: 100, ..Limits::default() });
        (0..600).for_each(|_| addresses.entry(address(7)).admit_log_in().unwrap());
        (1_000..1_500).for_each(|number| drop(addresses.entry(address(number))));
        assert!(addresses.entry(address(7)).admit_log_in().is_err());
    }
}
