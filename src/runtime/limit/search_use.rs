//! The AI searches of one player or address, which get an equal share of the AI threads.
//!
//! The time of each search is measured, not estimated by kind and level, because the same level takes longer in some
//! positions and on some machines.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::runtime::server_clock::instant;

/// The searches for rooms of one player, or of all players of one address.
pub(crate) struct SearchUse {
    /// Maximum search time per minute. Beyond it, further searches yield to all others.
    limit: Duration,
    used: Mutex<UsedTime>,
    /// Searches that wait or run.
    under_way: AtomicUsize,
    running: AtomicUsize,
}

/// Search time in seconds, which decays exponentially with the time constant [`MINUTE`]. Constant use of one thread
/// adds up to a minute.
#[derive(Default)]
struct UsedTime {
    seconds: f64,
    /// When `seconds` was calculated.
    at: Option<Instant>,
}

/// The time constant of the decay.
const MINUTE: Duration = Duration::from_secs(60);

/// Less search time than this counts as none.
const NEGLIGIBLE: Duration = Duration::from_millis(10);

impl UsedTime {
    fn at(&self, now: Instant) -> f64 {
        let since = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        self.seconds * (-since.div_duration_f64(MINUTE)).exp()
    }
}

impl SearchUse {
    /// `seconds` is the maximum search time per minute.
    pub(crate) fn new(seconds: u32) -> Self {
        Self {
            limit: Duration::from_secs(seconds.into()),
            used: Mutex::default(),
            under_way: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
        }
    }

    /// `None` when `seconds` is 0, which means no limit.
    pub(crate) fn unless_zero(seconds: u32) -> Option<Self> {
        (seconds > 0).then(|| Self::new(seconds))
    }

    /// Counts a search that ended at `now`.
    pub(crate) fn add(&self, took: Duration, now: Instant) {
        let mut used = self.used();
        *used = UsedTime { seconds: used.at(now) + took.as_secs_f64(), at: Some(now) };
    }

    /// The number of running searches, and the time used by ended ones. The user with the lowest load is served next.
    pub(crate) fn load(&self, now: Instant) -> (usize, Duration) {
        (self.running(), self.used_at(now))
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Relaxed)
    }

    pub(crate) fn under_way(&self) -> usize {
        self.under_way.load(Relaxed)
    }

    /// True if nothing would be lost by forgetting it: it has no searches and hardly any used time.
    pub(crate) fn is_unused(&self, now: Instant) -> bool {
        self.under_way() == 0 && self.used_at(now) < NEGLIGIBLE
    }

    fn is_beyond_limit(&self, now: Instant) -> bool {
        self.used_at(now) > self.limit
    }

    /// The time used by ended searches.
    pub(crate) fn used_at(&self, now: Instant) -> Duration {
        Duration::from_secs_f64(self.used().at(now))
    }

    fn used(&self) -> MutexGuard<'_, UsedTime> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The player, with its address, whose search time the AI seats of its rooms use.
#[derive(Clone)]
pub(crate) struct SearchUser {
    pub(crate) player: Arc<SearchUse>,
    /// `None` if the address is unknown, or searches are not limited by address.
    pub(crate) address: Option<Arc<SearchUse>>,
}

impl SearchUser {
    /// A player who is unknown, and so has no limit.
    pub(crate) fn unknown() -> Self {
        Self { player: Arc::new(SearchUse::new(u32::MAX)), address: None }
    }

    /// The use that counts for the equal shares: that of the address, or of the player if there is none.
    pub(crate) fn shared(&self) -> &Arc<SearchUse> {
        self.address.as_ref().unwrap_or(&self.player)
    }

    /// True if the player or the address has used more search time than its limit.
    pub(crate) fn is_beyond_limit(&self, now: Instant) -> bool {
        self.each().any(|used| used.is_beyond_limit(now))
    }

    /// Counts a search as waiting.
    pub(crate) fn request(&self) -> SearchRequest {
        for used in self.each() {
            used.under_way.fetch_add(1, Relaxed);
        }
        SearchRequest { user: self.clone() }
    }

    fn each(&self) -> impl Iterator<Item = &SearchUse> {
        std::iter::once(&*self.player).chain(self.address.as_deref())
    }
}

/// A search that waits or runs, counted until it is dropped.
pub(crate) struct SearchRequest {
    pub(crate) user: SearchUser,
}

impl SearchRequest {
    /// Counts the search as running from `now`.
    pub(crate) fn start(self, now: Instant) -> SearchTimer {
        for used in self.user.each() {
            used.running.fetch_add(1, Relaxed);
        }
        SearchTimer { request: self, started: now }
    }
}

impl Drop for SearchRequest {
    fn drop(&mut self) {
        for used in self.user.each() {
            used.under_way.fetch_sub(1, Relaxed);
        }
    }
}

/// A running search, whose time is counted when it is dropped.
pub(crate) struct SearchTimer {
    request: SearchRequest,
    pub(crate) started: Instant,
}

impl SearchTimer {
    pub(crate) fn user(&self) -> &SearchUser {
        &self.request.user
    }
}

impl Drop for SearchTimer {
    fn drop(&mut self) {
        let now = instant();
        for used in self.user().each() {
            used.running.fetch_sub(1, Relaxed);
            used.add(now.saturating_duration_since(self.started), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn used_time_decays_and_constant_use_of_a_thread_amounts_to_a_minute() {
        let (used, start) = (SearchUse::new(30), instant());
        assert!(used.is_unused(start));
        for second in 1..=600 {
            used.add(SECOND, start + second * SECOND);
        }
        let (_, minute) = used.load(start + 600 * SECOND);
        assert!(minute > 60 * SECOND && minute < 61 * SECOND, "{minute:?}");
        assert!(used.is_beyond_limit(start + 600 * SECOND) && !used.is_beyond_limit(start + 660 * SECOND));
        assert!(!used.is_unused(start + 660 * SECOND) && used.is_unused(start + 1_800 * SECOND));
    }

    #[test]
    fn a_search_counts_for_the_player_and_the_address_until_it_ends() {
        let address = Arc::new(SearchUse::new(5));
        let user = || SearchUser { player: Arc::new(SearchUse::new(10)), address: Some(Arc::clone(&address)) };
        let (ada, bea) = (user(), user());
        let (first, second) = (ada.request(), bea.request());
        let running = first.start(instant() - 7 * SECOND);
        let counts = |used: &SearchUse| (used.under_way(), used.running());
        assert_eq!([&ada.player, &bea.player, &address].map(|used| counts(used)), [(1, 1), (1, 0), (2, 1)]);
        drop((running, second));
        assert_eq!([&ada.player, &bea.player, &address].map(|used| counts(used)), [(0, 0); 3]);
        let now = instant();
        assert!(ada.player.load(now).1 > 6 * SECOND && bea.player.load(now).1.is_zero());
        assert!(ada.is_beyond_limit(now) && bea.is_beyond_limit(now) && !ada.player.is_beyond_limit(now));
        assert!(SearchUser::unknown().address.is_none());
    }
}
