//! The passwords of rooms: hashed slowly on purpose, off the runtime's threads, and one at a time.
//!
//! ```text
//!   call ──▶ turn of its player ──▶ turn of its address ──▶ turn of the server ──▶ Argon2id on a blocking thread
//! ```
//!
//! Addresses take turns, and so do the players of one address: one with many calls delays the others by one hash only.
//! A call that would wait for too long is refused at once. After each hash its thread sleeps three times as long as the
//! hash took, so that all hashes together use at most a quarter of a core.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use argon2::{
    Argon2,
    password_hash::{Error, PasswordHasher as _, PasswordVerifier as _},
};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{
    room::{PasswordHash, PlayerId},
    runtime::{
        lifecycle::Lifecycle,
        limit::{client_address::Prefix, rate_limiter::TooFast, request_cost::RequestCost},
        outcome::RoomError,
        player::player::Player,
        random::RandomSource,
        server_clock::instant,
    },
};

/// Maximum number of calls that wait until a password is hashed: of the server, of one address (a class that joins a
/// room), and of one player.
const WAITING: usize = 256;
const WAITING_PER_ADDRESS: usize = 64;
const WAITING_PER_PLAYER: usize = 8;

/// The longest expected wait of a call that is accepted.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The time from one hash to the next before there was one: about 20 ms, and the pause.
const USUAL_STEP: Duration = Duration::from_millis(80);

/// The pause after a hash, as a multiple of its duration.
const REST: u32 = 3;

/// Maximum pause after a hash that took long because the machine was busy.
const MAX_REST: Duration = Duration::from_millis(500);

/// Hashes and compares passwords.
pub(crate) struct Passwords {
    lifecycle: Lifecycle,
    random: RandomSource,
    /// Held while a password is hashed. One hash takes 19 MiB and about 20 ms of a core.
    turn: Arc<Semaphore>,
    waiting: Arc<Mutex<WaitingCalls>>,
}

struct WaitingCalls {
    /// The calls that wait, and the one that is served.
    calls: Vec<WaitingCall>,
    /// The time from the start of the last hash to that of the next.
    step: Duration,
}

#[derive(Clone)]
struct WaitingCall {
    address: Option<Prefix>,
    player: PlayerId,
    /// Each is held by one call at a time.
    turn_of_player: Arc<Semaphore>,
    turn_of_address: Arc<Semaphore>,
}

/// A place among the waiting calls, given back when it is dropped.
struct Place {
    waiting: Arc<Mutex<WaitingCalls>>,
    call: WaitingCall,
}

impl Drop for Place {
    fn drop(&mut self) {
        let calls = &mut lock(&self.waiting).calls;
        if let Some(at) = calls.iter().position(|call| call.is_like(&self.call)) {
            calls.swap_remove(at);
        }
    }
}

impl WaitingCall {
    /// True for calls of the same player from the same address.
    fn is_like(&self, other: &Self) -> bool {
        (self.player, self.address) == (other.player, other.address)
    }
}

impl WaitingCalls {
    /// Adds a call of a player from an address.
    ///
    /// # Errors
    /// The expected time until one more call may wait, if there are too many.
    fn add(&mut self, player: PlayerId, address: Option<Prefix>) -> Result<WaitingCall, TooFast> {
        let at_address = || self.calls.iter().filter(|call| call.address == address);
        let of_player = || at_address().filter(|call| call.player == player);
        let turn = |other: Option<&Arc<Semaphore>>| other.cloned().unwrap_or_else(|| Arc::new(Semaphore::new(1)));
        let call = WaitingCall {
            address,
            player,
            turn_of_player: turn(of_player().map(|call| &call.turn_of_player).next()),
            turn_of_address: turn(at_address().map(|call| &call.turn_of_address).next()),
        };
        // Between two calls of a player, each other player of the address is served once at most; between two of an
        // address, each other address.
        let players: HashSet<_> = at_address().map(|call| call.player).chain([player]).collect();
        let addresses: HashSet<_> = self.calls.iter().map(|call| call.address).chain([address]).collect();
        let rounds = (of_player().count() + 1) * players.len() * addresses.len() - 1;
        let ahead = u32::try_from(rounds.min(self.calls.len())).unwrap_or(u32::MAX);
        let wait = self.step.saturating_mul(ahead);
        if self.calls.len() >= WAITING
            || at_address().count() >= WAITING_PER_ADDRESS
            || of_player().count() >= WAITING_PER_PLAYER
            || wait > MAX_WAIT
        {
            return Err(TooFast { retry_after: wait.max(self.step) });
        }
        self.calls.push(call.clone());
        Ok(call)
    }
}

impl Passwords {
    pub(crate) fn new(lifecycle: Lifecycle, random: RandomSource) -> Self {
        let waiting = WaitingCalls { calls: Vec::new(), step: USUAL_STEP };
        Self { lifecycle, random, turn: Arc::new(Semaphore::new(1)), waiting: Arc::new(Mutex::new(waiting)) }
    }

    /// The hash of a new password, with a random salt.
    ///
    /// # Errors
    /// [`RoomError::TooFast`] when too many calls wait or a rate is exceeded.
    pub(crate) async fn hash(&self, player: &Player, password: &str) -> Result<PasswordHash, RoomError> {
        let (password, salt) = (password.to_owned(), self.random.secret());
        let hash = self.run(player, move || hash(&password, &salt)).await?;
        hash.map_err(|error| {
            tracing::error!(%error, "a password could not be hashed");
            RoomError::Busy
        })
    }

    /// True if the password matches the hash.
    ///
    /// # Errors
    /// [`RoomError::TooFast`] when too many calls wait or a rate is exceeded.
    pub(crate) async fn matches(
        &self,
        player: &Player,
        password: &str,
        hash: &PasswordHash,
    ) -> Result<bool, RoomError> {
        let (password, hash) = (password.to_owned(), hash.clone());
        self.run(player, move || matches(&password, &hash)).await
    }

    /// Runs slow work when it is the player's turn. It runs to its end even if the caller is cancelled.
    async fn run<T: Send + 'static>(
        &self,
        player: &Player,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RoomError> {
        let too_fast = |TooFast { retry_after }| RoomError::TooFast(retry_after);
        player.charge(RequestCost::Password).map_err(too_fast)?;
        let address = player.quota.home().map(|home| home.prefix());
        let call = lock(&self.waiting).add(player.id(), address).map_err(too_fast)?;
        let place = Place { waiting: Arc::clone(&self.waiting), call };
        let turn_of_player = take_turn(&place.call.turn_of_player).await?;
        let turn_of_address = take_turn(&place.call.turn_of_address).await?;
        let turn = take_turn(&self.turn).await?;
        let (sender, answer) = oneshot::channel();
        self.lifecycle.spawn_blocking(move || {
            let (place, _turns) = (place, (turn, turn_of_address, turn_of_player));
            let began = instant();
            let done = work();
            let took = began.elapsed();
            // The caller may have gone.
            let _ = sender.send(done);
            let rest = (took * REST).min(MAX_REST);
            lock(&place.waiting).step = took + rest;
            std::thread::sleep(rest);
        });
        answer.await.map_err(|_| RoomError::Draining)
    }
}

fn lock(waiting: &Mutex<WaitingCalls>) -> MutexGuard<'_, WaitingCalls> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn take_turn(turn: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, RoomError> {
    // It is never closed.
    Arc::clone(turn).acquire_owned().await.map_err(|_| RoomError::Draining)
}

/// With the parameters that OWASP recommends, 19 MiB and two passes, which are the defaults of the crate.
fn hash(password: &str, salt: &[u8]) -> Result<PasswordHash, Error> {
    let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), salt)?;
    Ok(PasswordHash(hash.to_string().into_bytes().into()))
}

fn matches(password: &str, PasswordHash(hash): &PasswordHash) -> bool {
    // Rooms of earlier versions have the SHA-256 of the password.
    if hash.len() == 32 {
        return Sha256::digest(password).ct_eq(hash).into();
    }
    let hash = str::from_utf8(hash).unwrap_or_default();
    Argon2::default().verify_password(password.as_bytes(), hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{ClientAddresses, Limits, player::directory::Players},
    };

    #[test]
    fn a_hash_matches_its_password_only() {
        let one = hash("sesame", &[1; 16]).unwrap();
        assert!(one.0.starts_with(b"$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(matches("sesame", &one) && !matches("Sesame", &one) && !matches("", &one));
        assert_ne!(hash("sesame", &[2; 16]).unwrap(), one, "the salt");
    }

    #[test]
    fn hashes_of_earlier_versions_match_and_malformed_ones_do_not() {
        let old = PasswordHash(Sha256::digest("sesame").as_slice().into());
        assert!(matches("sesame", &old) && !matches("Sesame", &old));
        for malformed in [&b""[..], b"$argon2id$", &[0xFF; 40]] {
            assert!(!matches("", &PasswordHash(malformed.into())));
        }
    }

    /// A player at an address.
    fn player(players: &Players, addresses: &ClientAddresses, name: &str, address: u32) -> Arc<Player> {
        let (player, _) = players.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Human, 0).unwrap();
        player.set_home(&addresses.entry(std::net::Ipv4Addr::from_bits(address).into()));
        player
    }

    /// The numbers of the calls in the order in which they are served, one for each of these players.
    async fn order_of(calls: &[&Arc<Player>]) -> Vec<usize> {
        let passwords = Arc::new(Passwords::new(Lifecycle::default(), RandomSource::default()));
        let all = Arc::clone(&passwords.turn).acquire_owned().await.unwrap();
        let served = Arc::<Mutex<Vec<usize>>>::default();
        let mut answers = tokio::task::JoinSet::new();
        for (number, player) in calls.iter().enumerate() {
            let (passwords, player, served) = (Arc::clone(&passwords), Arc::clone(player), Arc::clone(&served));
            answers.spawn(async move { passwords.run(&player, move || served.lock().unwrap().push(number)).await });
        }
        // Each waits in the order in which it was spawned.
        while lock(&passwords.waiting).calls.len() < calls.len() {
            tokio::task::yield_now().await;
        }
        drop(all);
        while let Some(answer) = answers.join_next().await {
            assert_eq!(answer.unwrap(), Ok(()));
        }
        Arc::into_inner(served).unwrap().into_inner().unwrap()
    }

    #[tokio::test]
    async fn addresses_and_their_players_take_turns() {
        let (players, addresses) = (Players::default(), ClientAddresses::new(Limits::default()));
        let player = |name, address| player(&players, &addresses, name, address);
        let (eve, bob, ada) = (player("Eve", 1), player("Bob", 1), player("Ada", 2));
        let order = order_of(&[&eve, &eve, &eve, &eve, &bob, &ada, &bob]).await;
        assert_eq!(order, [0, 5, 4, 1, 6, 2, 3], "Bob, of the same address, waits for one call of Eve each time");
    }

    #[test]
    fn the_calls_that_wait_are_bounded_and_so_is_their_wait() {
        let mut waiting = WaitingCalls { calls: Vec::new(), step: Duration::from_millis(10) };
        let address = |number: u32| Some(Prefix::from(std::net::IpAddr::from(std::net::Ipv4Addr::from_bits(number))));
        let mut add = |player: usize, from| waiting.add(PlayerId::from_random(player as u64), address(from)).map(drop);
        assert!((0..WAITING_PER_PLAYER).all(|_| add(0, 0).is_ok()));
        assert_eq!(add(0, 0), Err(TooFast { retry_after: Duration::from_millis(80) }), "one too many of a player");
        assert!((WAITING_PER_PLAYER..WAITING_PER_ADDRESS).all(|player| add(player, 0).is_ok()));
        assert!(add(1, 0).is_err(), "one too many of an address");
        assert!((WAITING_PER_ADDRESS..WAITING).all(|call| add(call, call as u32).is_ok()));
        assert!(add(1, 1).is_err(), "one too many");
        let step = Duration::from_millis(550);
        let waiting = Arc::new(Mutex::new(WaitingCalls { calls: Vec::new(), step }));
        let call = lock(&waiting).add(PlayerId::from_random(1), None).unwrap();
        drop(Place { waiting: Arc::clone(&waiting), call });
        assert!(lock(&waiting).calls.is_empty(), "the place is free again");
        let add = |player: usize| lock(&waiting).add(PlayerId::from_random(player as u64), None).map(drop);
        let accepted = (0..60).take_while(|player| add(*player).is_ok()).count();
        assert_eq!(accepted, 19, "as many as are served in ten seconds on a slow machine");
        assert_eq!(add(99), Err(TooFast { retry_after: 19 * step }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_password_counts_as_several_requests() {
        let players = Players::with_limits(Limits { request_burst: 2, ..Limits::default() });
        let passwords = Passwords::new(Lifecycle::default(), RandomSource::default());
        let (ada, _) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        for _ in 0..2 {
            assert_eq!(passwords.run(&ada, || ()).await, Ok(()));
        }
        assert!(matches!(passwords.run(&ada, || ()).await, Err(RoomError::TooFast(_))));
    }
}
