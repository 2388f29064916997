//! One player: its token, and its account with rates, quota and open streams.

use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    confusable_names,
    open_streams::OpenStreams,
    problems::{Problem, Problems},
    quota::{Place, Quota},
    request_rates::Rates,
    token::{BearerToken, PlayToken, TokenHash},
};
use crate::{
    room::{Availability, DisplayName, EngineVersion, PlayerId, PlayerKind, Profile, RoomId, Timestamp},
    runtime::{
        cluster::peers::PlayerStreams,
        limit::{
            client_address::ClientAddress,
            concurrency_limit::ConcurrencyLimit,
            invitation_limit::{Invitation, Inviter},
            limits::Limits,
            rate_limiter::{RateLimiter, TooFast},
            request_cost::RequestCost,
            search_use::SearchUser,
        },
        outcome::StreamEnd,
        server_clock::Clock,
    },
    store::StoredPlayer,
};

/// The part of the server's analyses, and of the time of each, that visitors may use, who have no account: one in this
/// many. The rest stays for players.
pub(crate) const VISITOR_PART: u32 = 4;

/// Analyses of the visitors of one address at a time.
const VISITOR_ANALYSES: usize = 1;

/// One token of a player's account, or a visitor, who has none. A replaced token makes a second `Player` of the
/// account; only the streams of the old one end.
pub struct Player {
    account: Arc<Account>,
    token_hash: TokenHash,
    /// True if the account has another token.
    replaced: AtomicBool,
    /// Cancelled when every stream of the player ends.
    pub(crate) streams_end: CancellationToken,
    /// Set before `streams_end` is cancelled.
    stream_end: OnceLock<StreamEnd>,
}

/// The part of a player that does not depend on its token.
pub struct Account {
    /// The id, which never changes.
    pub id: PlayerId,
    /// The display name, which never changes.
    pub name: DisplayName,
    /// Person or program, which never changes.
    pub kind: PlayerKind,
    /// What the player has said of its engine and of the invitations that it accepts.
    settings: Mutex<(Option<EngineVersion>, Option<Availability>)>,
    /// Maximum number of its seats.
    pub seat_limit: u16,
    claimed: AtomicBool,
    /// True if it has finished a game.
    played: AtomicBool,
    /// Held while the stored player is changed.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pub(crate) quota: Arc<Quota>,
    pub(crate) streams: OpenStreams,
    /// The skeletons of the name, once a name is banned.
    name_skeletons: OnceLock<[String; 2]>,
    rates: Arc<Rates>,
    pub(crate) problems: Arc<Problems>,
    calls: ConcurrencyLimit,
    pub(crate) analyses: ConcurrencyLimit,
    /// Held while the player is matched with those of all nodes.
    pub(crate) matching: tokio::sync::Mutex<()>,
    /// The rating that lists show, and when it was read.
    listed_rating: Mutex<Option<(Option<u16>, Instant)>>,
    /// Held while a request with an id is done, so that a repeat at the same time waits for it.
    pub(crate) requesting: tokio::sync::Mutex<()>,
    /// Held while a place is reserved in the store, so that of the calls of a player only one tries at a time.
    pub(crate) reserving: tokio::sync::Mutex<()>,
}

/// A call in progress, counted until it is dropped.
pub struct CallPermit(Arc<Player>);

impl Drop for CallPermit {
    fn drop(&mut self) {
        self.0.calls.adjust(1, 0);
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Deref for Player {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.account
    }
}

impl Account {
    fn new(enrolled: StoredPlayer, clock: Clock, limits: &Limits) -> Self {
        let Profile { id, name, kind, engine_version } = enrolled.profile;
        Self {
            id,
            name,
            kind,
            settings: Mutex::new((engine_version, enrolled.availability)),
            seat_limit: enrolled.seats,
            claimed: AtomicBool::new(enrolled.claimed),
            played: AtomicBool::new(enrolled.played),
            changing: tokio::sync::Mutex::default(),
            quota: Arc::default(),
            streams: OpenStreams::new(enrolled.seen, clock),
            name_skeletons: OnceLock::new(),
            rates: Arc::new(Rates::new(limits)),
            problems: Arc::default(),
            calls: ConcurrencyLimit::new(limits.calls_per_player),
            analyses: ConcurrencyLimit::new(limits.analyses_per_player),
            matching: tokio::sync::Mutex::default(),
            listed_rating: Mutex::default(),
            requesting: tokio::sync::Mutex::default(),
            reserving: tokio::sync::Mutex::default(),
        }
    }
}

impl Player {
    pub(crate) fn new(enrolled: StoredPlayer, clock: Clock, limits: &Limits) -> Self {
        let token_hash = TokenHash(enrolled.token);
        Self::of(Arc::new(Account::new(enrolled, clock, limits)), token_hash)
    }

    fn of(account: Arc<Account>, token_hash: TokenHash) -> Self {
        let (replaced, streams_end, stream_end) = Default::default();
        Self { account, token_hash, replaced, streams_end, stream_end }
    }

    /// The same player with another token.
    pub(super) fn with_token(&self, token_hash: TokenHash) -> Self {
        Self::of(Arc::clone(&self.account), token_hash)
    }

    /// A caller without a token, whose requests and streams count as those of a player of its address.
    pub(crate) fn visitor(id: PlayerId, address: Option<&Arc<ClientAddress>>, clock: Clock, limits: &Limits) -> Self {
        let unnamed = StoredPlayer {
            profile: Profile { id, name: DisplayName::none(), kind: PlayerKind::Human, engine_version: None },
            seats: 0,
            token: [0; 32],
            seen: clock.now(),
            claimed: false,
            availability: None,
            played: false,
        };
        let limits = Limits { analyses_per_player: limits.analyses_per_player.min(VISITOR_ANALYSES), ..*limits };
        let token_hash = TokenHash(unnamed.token);
        let quota = Arc::new(Quota::of_visitor(address));
        Self::of(Arc::new(Account { quota, ..Account::new(unnamed, clock, &limits) }), token_hash)
    }

    /// True if it is a caller without a token.
    #[must_use]
    pub fn is_visitor(&self) -> bool {
        self.quota.is_visitor()
    }

    /// The part of `time` that an analysis of the player may take.
    #[must_use]
    pub fn analysis_time(&self, time: Duration) -> Duration {
        if self.is_visitor() { time / VISITOR_PART } else { time }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> PlayerId {
        self.id
    }

    /// The public profile, as it is now.
    #[must_use]
    pub fn profile(&self) -> Profile {
        Profile { id: self.id, name: self.name.clone(), kind: self.kind, engine_version: self.settings().0.clone() }
    }

    /// The invitations that the player accepts, if it has set them.
    #[must_use]
    pub fn availability(&self) -> Option<Availability> {
        self.settings().1
    }

    fn settings(&self) -> MutexGuard<'_, (Option<EngineVersion>, Option<Availability>)> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The play token that is made of the player's token; none if `token` is one, or has none.
    #[must_use]
    pub fn play_token_of(&self, token: &BearerToken) -> Option<PlayToken> {
        match token {
            BearerToken::Full(token) if token.hash().is(&self.token_hash) => Some(token.play_token()),
            BearerToken::Full(_) | BearerToken::Play(_) => None,
        }
    }

    /// What went wrong lately, the latest first.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.all()
    }

    pub(crate) fn token_hash(&self) -> TokenHash {
        self.token_hash
    }

    /// True if its token was replaced by another one.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        self.replaced.load(SeqCst)
    }

    /// Ends what was opened with the token.
    pub(super) fn replace(&self, end: StreamEnd) {
        self.replaced.store(true, SeqCst);
        self.end_streams(end);
    }

    /// The skeletons of the name.
    pub(super) fn name_skeletons(&self) -> &[String; 2] {
        self.name_skeletons.get_or_init(|| confusable_names::skeletons(self.name.as_str()))
    }

    /// Takes over what may change of a stored player, but the token.
    pub(super) fn set_stored(&self, stored: &StoredPlayer) {
        self.claimed.store(stored.claimed, Relaxed);
        *self.settings() = (stored.profile.engine_version.clone(), stored.availability);
    }

    /// True if the player has claimed the name.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.claimed.load(Relaxed)
    }

    /// It has finished a game, or organises or enters a tournament: it is no guest who may be forgotten soon.
    pub(crate) fn note_played(&self) {
        self.played.store(true, Relaxed);
    }

    /// True if it has finished a game, or a tournament counts on it.
    pub(crate) fn has_played(&self) -> bool {
        self.played.load(Relaxed)
    }

    /// True if it has neither claimed its name nor finished a game.
    pub(crate) fn is_guest(&self) -> bool {
        !self.is_claimed() && !self.has_played()
    }

    /// The rating that lists show, if it was read within `max_age`. The inner `None` stands for no rating.
    pub(crate) fn listed_rating(&self, max_age: Duration) -> Option<Option<u16>> {
        let (rating, read) = (*self.listed_rating.lock().unwrap_or_else(PoisonError::into_inner))?;
        (read.elapsed() < max_age).then_some(rating)
    }

    pub(crate) fn set_listed_rating(&self, rating: Option<u16>) {
        *self.listed_rating.lock().unwrap_or_else(PoisonError::into_inner) = Some((rating, Instant::now()));
    }

    /// The time without use after which it is forgotten.
    pub(crate) fn patience(&self, limits: &Limits) -> Duration {
        match (self.is_claimed(), self.is_guest()) {
            (true, _) => limits.claimed_idle,
            (_, true) => limits.guest_idle.min(limits.player_idle),
            _ => limits.player_idle,
        }
    }

    /// The player as it is stored.
    pub(crate) fn stored(&self) -> StoredPlayer {
        StoredPlayer {
            profile: self.profile(),
            seats: self.seat_limit,
            token: self.token_hash().0,
            seen: self.streams.last_seen(),
            claimed: self.is_claimed(),
            availability: self.availability(),
            played: self.has_played(),
        }
    }

    /// The player after a log-out that keeps the token: with the same rates, problems and address,
    /// and without rooms and streams.
    pub(crate) fn renewed(&self, clock: Clock, limits: &Limits) -> Self {
        let renewed = Account::new(self.stored(), clock, limits);
        renewed.streams.note_stored_seen(self.streams.stored_seen());
        if let Some(home) = self.quota.home() {
            renewed.quota.set_home(home);
        }
        let (rates, problems) = (Arc::clone(&self.rates), Arc::clone(&self.problems));
        Self::of(Arc::new(Account { rates, problems, ..renewed }), self.token_hash)
    }

    /// The rooms of which it is a member.
    #[must_use]
    pub fn rooms(&self) -> Vec<RoomId> {
        self.quota.confirmed(Place::Room)
    }

    /// The rooms in which it has a seat.
    #[must_use]
    pub fn seats(&self) -> Vec<RoomId> {
        self.quota.confirmed(Place::Seat)
    }

    /// Counts a request of the player and of its address.
    ///
    /// # Errors
    /// When a rate is exceeded.
    pub fn admit(&self) -> Result<(), TooFast> {
        self.streams.note_call();
        self.rates.requests.admit()?;
        self.quota.home().map_or(Ok(()), |home| home.admit())
    }

    /// Counts the cost of a call beyond the one request already admitted, before the work is done.
    ///
    /// # Errors
    /// When a rate is exceeded.
    pub fn charge(&self, cost: RequestCost) -> Result<(), TooFast> {
        let requests = cost.requests();
        self.rates.requests.admit_more(requests)?;
        self.quota.home().map_or(Ok(()), |home| home.admit_more(requests))
    }

    pub(crate) fn admit_chat(&self) -> Result<(), TooFast> {
        self.rates.chats.admit()?;
        self.quota.home().map_or(Ok(()), |home| home.admit_chat())
    }

    /// Counts an invitation of `guest`: for this player in any case, for the guest unless the result is dropped.
    pub(crate) fn admit_invitation_of(&self, guest: &Self) -> Result<Invitation, TooFast> {
        self.rates.invitations.admit()?;
        let home = self.quota.home().and_then(|home| home.distinct_prefix());
        guest.rates.invited.admit(home.map_or(Inviter::Player(self.id()), |home| Inviter::Network(home.network())))
    }

    /// The player and its address, which account for the searches of AI seats in its rooms.
    pub(crate) fn search_user(&self) -> SearchUser {
        let address = self.quota.home().and_then(|home| home.ai_searches()).cloned();
        SearchUser { player: Arc::clone(&self.rates.ai_searches), address }
    }

    /// Counts a game that begins in a room of the player.
    pub(crate) fn admit_game(&self) -> Result<(), TooFast> {
        self.rates.games.as_ref().map_or(Ok(()), RateLimiter::admit)?;
        self.quota.home().map_or(Ok(()), |home| home.admit_game())
    }

    /// Counts a tournament that the player creates.
    pub(crate) fn admit_tournament(&self) -> Result<(), TooFast> {
        self.rates.tournaments.as_ref().map_or(Ok(()), RateLimiter::admit)?;
        self.quota.home().map_or(Ok(()), |home| home.admit_tournament())
    }

    /// Counts a call in progress; none when the limit is reached.
    #[must_use]
    pub fn begin_call(self: Arc<Self>) -> Option<CallPermit> {
        self.calls.try_add().then(|| CallPermit(self))
    }

    /// Sets the player's address, unless one is known: rooms, seats and requests count there from now on.
    pub fn set_home(&self, address: &Arc<ClientAddress>) {
        self.quota.set_home(address);
    }

    /// What the other nodes are to know of its streams here. Those of a player who has logged out end when they are
    /// read.
    pub(super) fn streams_here(&self) -> PlayerStreams {
        if self.is_logged_out() { PlayerStreams::default() } else { self.streams.here() }
    }

    /// Ends every stream of the player; the first reason is kept.
    pub(crate) fn end_streams(&self, reason: StreamEnd) {
        let reason = *self.stream_end.get_or_init(|| reason);
        self.streams_end.cancel();
        self.streams.inbox.close(reason);
    }

    pub(crate) fn stream_end(&self) -> Option<StreamEnd> {
        self.stream_end.get().copied()
    }

    /// True if it has a stream, or has called within `grace` and ended no stream since.
    pub(crate) fn is_present(&self, grace: Duration) -> bool {
        !self.is_logged_out() && self.streams.is_present(grace)
    }

    /// Whether it has an open stream here.
    pub(crate) fn is_online(&self) -> bool {
        !self.is_logged_out() && self.streams.is_any_open()
    }

    pub(crate) fn is_logged_out(&self) -> bool {
        self.quota.is_closed()
    }

    /// True if it is in no room, has no stream, and has made no request since `before`.
    pub(crate) fn is_idle(&self, before: Timestamp) -> bool {
        self.quota.is_empty() && self.streams.is_unused(before)
    }

    /// When it was last in use: `now` while it is in a room or has a stream, otherwise the time of its last request.
    pub(crate) fn last_use(&self, now: Timestamp) -> Timestamp {
        if self.quota.is_empty() && !self.streams.is_any_open() { self.streams.last_seen() } else { now }
    }

    /// Closes the quota if the player is idle, and returns whether it was.
    pub(crate) fn close_if_idle(&self, before: Timestamp) -> bool {
        self.quota.close_if_empty(|| self.streams.is_unused(before))
    }

    /// When it was seen, if that is more than `step` after the stored time.
    pub(crate) fn unstored(&self, seen: Timestamp, step: Duration) -> Option<(PlayerId, Timestamp)> {
        let is_newer = seen.since(self.streams.stored_seen()) > step;
        is_newer.then(|| (self.id(), seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{RandomSource, Token, player::directory::Players},
    };

    #[test]
    fn a_player_who_lost_the_stream_is_absent_until_the_next_call() {
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::default().log_in(name, PlayerKind::Human, 0).unwrap();
        let grace = Duration::from_secs(60);
        assert!(ada.is_present(grace));
        ada.streams.open();
        ada.admit().unwrap();
        ada.streams.close();
        assert!(!ada.is_present(grace));
        ada.admit().unwrap();
        assert!(ada.is_present(grace));
    }

    #[test]
    fn the_first_reason_ends_all_streams() {
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::default().log_in(name, PlayerKind::Human, 0).unwrap();
        ada.end_streams(StreamEnd::LoggedOut);
        ada.end_streams(StreamEnd::Draining);
        assert_eq!(ada.stream_end(), Some(StreamEnd::LoggedOut));
        assert!(ada.streams_end.is_cancelled());
    }

    #[test]
    fn an_expensive_call_delays_the_next_request() {
        let limits = Limits { requests_per_second: 1, request_burst: 100, ..Limits::default() };
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::with_limits(limits).log_in(name, PlayerKind::Human, 0).unwrap();
        ada.admit().unwrap();
        ada.charge(RequestCost::Rooms { searched: 19_800, returned: 0 }).unwrap();
        assert!(ada.admit().is_err());
    }

    #[test]
    fn a_token_of_a_server_before_play_tokens_is_valid_and_gets_one_when_it_is_replaced() {
        let (players, token) = (Players::default(), Token::generate(&RandomSource::default()));
        let (enrolled, _) = players.reserve(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0, None).unwrap();
        players.admit(StoredPlayer { token: token.older_hash().0, ..enrolled });
        let ada = players.bearer(&token).unwrap();
        assert_eq!((ada.play_token_of(&(&token).into()), players.bearer(token.play_token()).is_some()), (None, false));
        // Also by itself.
        players.change_account(&ada, &StoredPlayer { token: token.hash().0, ..ada.stored() });
        let again = players.bearer(&token).unwrap();
        assert!(ada.is_replaced() && !again.is_replaced());
        let play_token = again.play_token_of(&(&token).into()).unwrap();
        assert_eq!(players.bearer(play_token.clone()).unwrap().id(), ada.id());
        assert_eq!(again.play_token_of(&play_token.into()), None);
    }
}
