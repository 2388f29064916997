//! Who is known to the server: identities, secrets, and what each one holds.

use std::{
    collections::VecDeque,
    fmt,
    str::FromStr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{
            AtomicBool, AtomicI64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use dashmap::{DashMap, Entry};
use foldhash::fast::RandomState;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::{
    inbox::{Inbox, StreamEnd},
    quota::{Holding, Holdings},
};
use crate::{
    room::{DisplayName, PasswordHash, PlayerId, PlayerKind, Profile, RoomId, Timestamp},
    runtime::{
        clock::Clock,
        error::RoomError,
        limit::{
            client_address::Address,
            concurrency_limit::Tally,
            limits::Limits,
            password_attempts::Guesses,
            rate_limiter::{Rate, TooFast},
        },
        random::Chance,
        room::message::Accepted,
    },
    store::StoredPlayer,
};

/// A secret that makes its bearer a player. 64 hexadecimal digits; never printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

/// A text that is no token.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("malformed token")]
pub struct ParseTokenError;

/// What is kept of a token.
#[derive(Clone, Copy)]
pub(crate) struct TokenHash([u8; 32]);

impl TokenHash {
    /// Where it is looked up. What is found there is compared in constant time.
    fn key(&self) -> u64 {
        self.0.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    /// Whether it is of this token. Takes as long whatever differs.
    pub(crate) fn is_of(&self, token: &Token) -> bool {
        self.0.ct_eq(&token.hash().0).into()
    }
}

impl Token {
    /// A new one.
    #[must_use]
    pub fn drawn(chance: &Chance) -> Self {
        Self(chance.secret())
    }

    /// The token as it is sent.
    #[must_use]
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl FromStr for Token {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseTokenError);
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut token = [0; 32];
        for (byte, pair) in token.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or(ParseTokenError)?;
            *byte = high << 4 | low;
        }
        Ok(Self(token))
    }
}

/// A room's password as it is kept. It guards a game among friends for an evening, so a fast hash will do.
#[must_use]
pub fn hash_password(password: &str) -> PasswordHash {
    PasswordHash(Sha256::digest(password).into())
}

/// Why nobody was logged in.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LogInError {
    /// Another player goes by the name.
    #[error("the name is in use")]
    NameTaken,
    /// The server knows as many players as it may.
    #[error("the server is full")]
    Full,
    /// A bot wants more seats than it may.
    #[error("a bot may hold at most {0} seats")]
    TooManySeats(u16),
    /// The server takes nobody in now.
    #[error(transparent)]
    Closed(#[from] RoomError),
}

/// One player of the server. In this order, as what is looked at with every move lies side by side then.
#[repr(C)]
pub struct Player {
    profile: Profile,
    pub(crate) inbox: Mutex<Inbox>,
    clock: Clock,
    last_seen: AtomicI64,
    /// When the player last called, while that counts as being here: [`NEVER`] once a stream has ended since.
    called: AtomicI64,
    /// Where it came from when it logged in, or when it first called after a restart.
    home: OnceLock<Arc<Address>>,
    request_rate: Rate,
    chat_rate: Rate,
    seat_limit: u16,
    hash: TokenHash,
    calls: Tally,
    pub(crate) analyses: Tally,
    pub(crate) guesses: Mutex<Guesses>,
    streams: AtomicUsize,
    /// What the register has of `last_seen`.
    noted_seen: AtomicI64,
    holdings: Mutex<Holdings>,
    /// Cancelled when every stream of the player ends.
    pub(crate) streams_end: CancellationToken,
    /// Why: set before that.
    stream_end: OnceLock<StreamEnd>,
    /// The rooms that earlier requests made, so that a repeated one makes no other.
    pub(crate) requests: tokio::sync::Mutex<VecDeque<(String, RoomId)>>,
    /// The games that earlier requests started, and how they were answered.
    pub(crate) starts: tokio::sync::Mutex<VecDeque<(String, RoomId, Accepted)>>,
}

/// A call of a player, which is answered when this is dropped.
pub struct Call(Arc<Player>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.calls.shift(1, 0);
    }
}

/// Long ago.
const NEVER: i64 = 0;

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").field("profile", &self.profile).finish_non_exhaustive()
    }
}

impl Player {
    /// Ends every stream of the player, for the first of the reasons that are given.
    pub(crate) fn end_streams(&self, reason: StreamEnd) {
        let reason = *self.stream_end.get_or_init(|| reason);
        self.streams_end.cancel();
        self.close_inbox(reason);
    }

    /// Why every stream ends, when it does.
    pub(crate) fn stream_end(&self) -> Option<StreamEnd> {
        self.stream_end.get().copied()
    }

    /// Who it is.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> PlayerId {
        self.profile.id
    }

    /// What the register keeps of it.
    pub(crate) fn enrolled(&self) -> StoredPlayer {
        StoredPlayer {
            profile: self.profile.clone(),
            seats: self.seat_limit,
            token: self.hash.0,
            seen: Timestamp(self.last_seen.load(Relaxed)),
        }
    }

    /// How many seats it may hold.
    #[must_use]
    pub fn seat_limit(&self) -> u16 {
        self.seat_limit
    }

    /// Rooms of which it is a member.
    #[must_use]
    pub fn rooms(&self) -> Vec<RoomId> {
        self.holdings().confirmed(Holding::Room).iter().copied().collect()
    }

    /// Rooms in which it sits.
    #[must_use]
    pub fn seats(&self) -> Vec<RoomId> {
        self.holdings().confirmed(Holding::Seat).iter().copied().collect()
    }

    /// Counts a request, of the player and of its address.
    ///
    /// # Errors
    /// When there were too many of late.
    pub fn admit(&self) -> Result<(), TooFast> {
        let now = self.clock.now().0;
        self.last_seen.store(now, Relaxed);
        self.called.store(now, Relaxed);
        self.request_rate.take()?;
        self.home().map_or(Ok(()), |home| home.admit())
    }

    /// Counts so many requests more for one that was counted.
    pub(crate) fn admit_more(&self, requests: u32) -> Result<(), TooFast> {
        self.request_rate.take_more(requests)?;
        self.home().map_or(Ok(()), |home| home.admit_more(requests))
    }

    /// Counts a call that is not answered yet, unless there are as many as may be.
    #[must_use]
    pub fn begin_call(self: Arc<Self>) -> Option<Call> {
        self.calls.try_add().then(|| Call(self))
    }

    /// Counts a line of chat.
    pub(crate) fn admit_chat(&self) -> Result<(), TooFast> {
        self.chat_rate.take()?;
        self.home().map_or(Ok(()), |home| home.admit_chat())
    }

    /// Where it comes from, where that is known.
    pub(crate) fn home(&self) -> Option<&Arc<Address>> {
        self.home.get()
    }

    /// Notes where it comes from, once and for all; whether that is new.
    pub(crate) fn settle(&self, address: &Arc<Address>) -> bool {
        self.home.set(Arc::clone(address)).is_ok()
    }

    /// Counts a stream that opens, and answers with how many there were.
    pub(crate) fn open_stream(&self) -> usize {
        self.streams.fetch_add(1, SeqCst)
    }

    /// Counts a stream that ends; true when it was the last.
    pub(crate) fn close_stream(&self) -> bool {
        self.last_seen.store(self.clock.now().0, Relaxed);
        self.called.store(NEVER, Relaxed);
        self.streams.fetch_sub(1, SeqCst) == 1
    }

    /// Whether it has a stream, or has called within the grace and lost no stream since.
    pub(crate) fn is_here(&self, grace: Duration) -> bool {
        let connected = || self.streams.load(SeqCst) > 0;
        let called = || self.clock.now().since(Timestamp(self.called.load(Relaxed))) <= grace;
        !self.is_gone() && (connected() || called())
    }

    /// Whether it has logged out.
    pub(crate) fn is_gone(&self) -> bool {
        self.holdings().gone
    }

    pub(crate) fn holdings(&self) -> MutexGuard<'_, Holdings> {
        self.holdings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_idle(&self, holdings: &Holdings, before: Timestamp) -> bool {
        holdings.is_empty() && self.streams.load(SeqCst) == 0 && self.last_seen.load(Relaxed) < before.0
    }
}

/// All players.
#[derive(Default)]
pub(crate) struct Players {
    by_id: DashMap<PlayerId, Arc<Player>, RandomState>,
    by_token: DashMap<u64, Arc<Player>>,
    by_name: DashMap<String, PlayerId>,
    clock: Clock,
    chance: Chance,
    /// The server stops: every stream says goodbye.
    draining: AtomicBool,
}

impl Players {
    pub(crate) fn new(clock: Clock, chance: Chance) -> Self {
        Self { clock, chance, ..Self::default() }
    }

    /// Ends every stream of all players, and of those who come.
    pub(crate) fn end_streams(&self) {
        self.draining.store(true, SeqCst);
        self.filter(|_| true).iter().for_each(|player| player.end_streams(StreamEnd::Draining));
    }

    pub(crate) fn log_in(
        &self,
        name: DisplayName,
        kind: PlayerKind,
        seats: u16,
        limits: &Limits,
    ) -> Result<(Arc<Player>, Token), LogInError> {
        if self.by_id.len() >= limits.players {
            return Err(LogInError::Full);
        }
        let seat_limit = match kind {
            PlayerKind::Human => limits.seats_per_human,
            PlayerKind::Bot if seats > limits.seats_per_bot => {
                return Err(LogInError::TooManySeats(limits.seats_per_bot));
            }
            PlayerKind::Bot => seats.max(1),
        };
        let id = PlayerId::from_random(self.chance.bits());
        match self.by_name.entry(name.key()) {
            Entry::Occupied(_) => return Err(LogInError::NameTaken),
            Entry::Vacant(free) => free.insert(id),
        };
        let token = Token::drawn(&self.chance);
        let (profile, seen) = (Profile { id, name, kind }, self.clock.now());
        let player = self.admit(StoredPlayer { profile, seats: seat_limit, token: token.hash().0, seen }, limits);
        Ok((player, token))
    }

    /// Takes one back whom the register knows, as if they had just called: nobody's grace runs while the server is away.
    pub(crate) fn restore(&self, enrolled: StoredPlayer, limits: &Limits) {
        match self.by_name.entry(enrolled.profile.name.key()) {
            Entry::Occupied(_) => tracing::error!(player = %enrolled.profile.id, "a name is registered twice"),
            Entry::Vacant(free) => {
                free.insert(enrolled.profile.id);
                self.admit(enrolled, limits);
            }
        }
    }

    fn admit(&self, enrolled: StoredPlayer, limits: &Limits) -> Arc<Player> {
        let player = Arc::new(Player {
            profile: enrolled.profile,
            clock: self.clock,
            seat_limit: enrolled.seats,
            hash: TokenHash(enrolled.token),
            request_rate: Rate::new(limits.requests_per_second, limits.request_burst),
            chat_rate: Rate::new(limits.chats_per_second, limits.chat_burst),
            calls: Tally::new(limits.calls_per_player),
            analyses: Tally::new(limits.analyses_per_player),
            home: OnceLock::new(),
            guesses: Mutex::new(Guesses::new(self.clock.now())),
            streams: AtomicUsize::new(0),
            last_seen: AtomicI64::new(enrolled.seen.0),
            noted_seen: AtomicI64::new(enrolled.seen.0),
            called: AtomicI64::new(self.clock.now().0),
            holdings: Mutex::default(),
            inbox: Mutex::default(),
            streams_end: CancellationToken::new(),
            stream_end: OnceLock::new(),
            requests: tokio::sync::Mutex::default(),
            starts: tokio::sync::Mutex::default(),
        });
        self.by_id.insert(player.id(), Arc::clone(&player));
        self.by_token.insert(player.hash.key(), Arc::clone(&player));
        if self.draining.load(SeqCst) {
            player.end_streams(StreamEnd::Draining);
        }
        player
    }

    /// Who was here since that was last noted, by more than `step`; it is noted now.
    pub(crate) fn seen_lately(&self, step: Duration) -> Vec<(PlayerId, Timestamp)> {
        let lately = self.filter(|player| {
            let [seen, noted] = [&player.last_seen, &player.noted_seen].map(|time| Timestamp(time.load(Relaxed)));
            seen.since(noted) > step
        });
        let note = |player: &Arc<Player>| {
            let seen = player.last_seen.load(Relaxed);
            player.noted_seen.store(seen, Relaxed);
            (player.id(), Timestamp(seen))
        };
        lately.iter().map(note).collect()
    }

    /// The player of a token.
    pub(crate) fn bearer(&self, token: &Token) -> Option<Arc<Player>> {
        let player = self.by_token.get(&token.hash().key())?;
        player.hash.is_of(token).then(|| Arc::clone(&player))
    }

    /// The player of a name.
    pub(crate) fn named(&self, name: &DisplayName) -> Option<Arc<Player>> {
        let id = *self.by_name.get(&name.key())?;
        self.get(id)
    }

    pub(crate) fn get(&self, id: PlayerId) -> Option<Arc<Player>> {
        self.by_id.get(&id).map(|player| Arc::clone(&player))
    }

    pub(crate) fn count(&self) -> usize {
        self.by_id.len()
    }

    /// Revokes the token; the name stays taken until [`Players::forget`].
    pub(crate) fn revoke(&self, player: &Player) {
        player.holdings().gone = true;
        self.by_token.remove(&player.hash.key());
    }

    /// Frees the name.
    pub(crate) fn forget(&self, player: &Player) {
        self.revoke(player);
        self.strike_off(player);
    }

    /// Revokes the token of a player, unless the player has come to hold or ask something; whether it was done.
    pub(crate) fn retire_idle(&self, player: &Player, before: Timestamp) -> bool {
        let mut holdings = player.holdings();
        if !player.is_idle(&holdings, before) {
            return false;
        }
        holdings.gone = true;
        drop(holdings);
        self.by_token.remove(&player.hash.key());
        true
    }

    /// Takes back what [`Players::retire_idle`] did.
    pub(crate) fn reinstate(&self, player: &Arc<Player>) {
        player.holdings().gone = false;
        self.by_token.insert(player.hash.key(), Arc::clone(player));
    }

    fn strike_off(&self, player: &Player) {
        self.by_id.remove(&player.id());
        self.by_name.remove_if(&player.profile.name.key(), |_, id| *id == player.id());
    }

    /// Those who have held and asked nothing since `before`.
    pub(crate) fn idle(&self, before: Timestamp) -> Vec<Arc<Player>> {
        self.filter(|player| player.is_idle(&player.holdings(), before))
    }

    /// Those who are members of rooms and have no stream.
    pub(crate) fn without_stream(&self) -> Vec<Arc<Player>> {
        self.filter(|player| player.streams.load(SeqCst) == 0 && !player.holdings().confirmed(Holding::Room).is_empty())
    }

    /// Those in whose books a room is.
    pub(crate) fn holders(&self, room: RoomId) -> Vec<Arc<Player>> {
        self.filter(|player| {
            let holdings = player.holdings();
            [Holding::Room, Holding::Seat].into_iter().any(|what| holdings.confirmed(what).contains(&room))
        })
    }

    /// Everybody.
    pub(crate) fn all(&self) -> Vec<Arc<Player>> {
        self.filter(|_| true)
    }

    fn filter(&self, mut wanted: impl FnMut(&Player) -> bool) -> Vec<Arc<Player>> {
        let mut found: Vec<_> =
            self.by_id.iter().filter(|player| wanted(player)).map(|player| Arc::clone(&player)).collect();
        // The map has another order in every process.
        found.sort_unstable_by_key(|player| player.id());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_round_trips_and_hides() {
        let token = Token::drawn(&Chance::default());
        assert_eq!(token.reveal().parse(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert_eq!("00".parse::<Token>(), Err(ParseTokenError));
        assert_eq!("é".repeat(32).parse::<Token>(), Err(ParseTokenError));
    }

    #[test]
    fn only_the_idle_are_forgotten() {
        let players = Players::default();
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = players.log_in(name, PlayerKind::Human, 0, &Limits::default()).unwrap();
        let never = Timestamp(1);
        assert!(!players.retire_idle(&ada, never), "has just come");
        let later = Timestamp(i64::MAX);
        ada.open_stream();
        assert!(!players.retire_idle(&ada, later), "watches");
        ada.last_seen.store(0, Relaxed);
        assert!(ada.close_stream());
        assert!(!players.retire_idle(&ada, never), "has watched until now");
        ada.note(Holding::Room, RoomId::from_random(1), true);
        assert!(!players.retire_idle(&ada, later), "is a member");
        ada.note(Holding::Room, RoomId::from_random(1), false);
        assert!(players.retire_idle(&ada, later) && ada.is_gone());
        players.reinstate(&ada);
        assert!(!ada.is_gone() && players.retire_idle(&ada, later));
        players.forget(&ada);
        assert!(players.get(ada.id()).is_none());
    }

    #[test]
    fn who_lost_the_stream_is_away_until_the_next_call() {
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::default().log_in(name, PlayerKind::Human, 0, &Limits::default()).unwrap();
        let grace = Duration::from_secs(60);
        assert!(ada.is_here(grace));
        ada.open_stream();
        ada.admit().unwrap();
        ada.close_stream();
        assert!(!ada.is_here(grace));
        ada.admit().unwrap();
        assert!(ada.is_here(grace));
    }

    #[test]
    fn a_name_belongs_to_one_player_whatever_its_case() {
        let players = Players::default();
        let limits = Limits::default();
        let name = |text| DisplayName::parse(text).unwrap();
        let (ada, token) = players.log_in(name("Ada"), PlayerKind::Human, 0, &limits).unwrap();
        assert_eq!(players.log_in(name("ADA"), PlayerKind::Bot, 1, &limits).unwrap_err(), LogInError::NameTaken);
        assert!(players.bearer(&token).is_some());
        players.forget(&ada);
        assert!(players.bearer(&token).is_none());
        assert!(players.log_in(name("ada"), PlayerKind::Human, 0, &limits).is_ok());
    }
}
