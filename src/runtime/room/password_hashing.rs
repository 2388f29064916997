//! The passwords of rooms: hashed slowly on purpose, off the runtime's threads, and one at a time.
//!
//! ```text
//!   call ──▶ turn of its address ──▶ turn of the server ──▶ Argon2id on a blocking thread
//! ```
//!
//! The addresses take turns, so that one with many calls delays the others by one hash only. After each hash its thread
//! sleeps three times as long as the hash took, so that all hashes together use at most a quarter of a core.

use std::{sync::Arc, time::Duration};

use argon2::{
    Argon2,
    password_hash::{Error, PasswordHasher as _, PasswordVerifier as _},
};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{
    room::PasswordHash,
    runtime::{
        lifecycle::Lifecycle,
        limit::{
            client_address::Resource, concurrency_limit::ConcurrencyLimit, rate_limiter::TooFast,
            request_cost::RequestCost,
        },
        outcome::RoomError,
        player::player::Player,
        random::RandomSource,
        server_clock::instant,
    },
};

/// Maximum number of calls that wait until a password is hashed, about 20 ms each. Further calls fail with `BUSY`.
const PASSWORDS_WAITING: usize = 256;

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
    waiting: Arc<ConcurrencyLimit>,
}

/// A place among the waiting calls, given back when it is dropped.
struct WaitingCall(Arc<ConcurrencyLimit>);

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.0.adjust(1, 0);
    }
}

impl Passwords {
    pub(crate) fn new(lifecycle: Lifecycle, random: RandomSource) -> Self {
        let waiting = Arc::new(ConcurrencyLimit::new(PASSWORDS_WAITING));
        Self { lifecycle, random, turn: Arc::new(Semaphore::new(1)), waiting }
    }

    /// The hash of a new password, with a random salt.
    ///
    /// # Errors
    /// [`RoomError::Busy`] when too many calls wait, [`RoomError::TooFast`] when a rate is exceeded.
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
    /// [`RoomError::Busy`] when too many calls wait, [`RoomError::TooFast`] when a rate is exceeded.
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
        player.charge(RequestCost::Password).map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
        let home = player.quota.home();
        let share = home.map(|home| home.acquire(Resource::Passwords).ok_or(RoomError::Busy)).transpose()?;
        let turn_of_address = match home {
            Some(home) => Some(take_turn(&home.password_turn).await?),
            None => None,
        };
        if !self.waiting.try_add() {
            return Err(RoomError::Busy);
        }
        let place = WaitingCall(Arc::clone(&self.waiting));
        let turn = take_turn(&self.turn).await?;
        let (sender, answer) = oneshot::channel();
        self.lifecycle.spawn_blocking(move || {
            let _until_done = (turn, place, turn_of_address, share);
            let began = instant();
            let done = work();
            let took = began.elapsed();
            // The caller may have gone.
            let _ = sender.send(done);
            std::thread::sleep((took * REST).min(MAX_REST));
        });
        answer.await.map_err(|_| RoomError::Draining)
    }
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
        runtime::{
            ClientAddresses, Limits, limit::client_address::PASSWORDS_WAITING_PER_ADDRESS, player::directory::Players,
        },
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

    #[tokio::test]
    async fn the_calls_that_wait_are_bounded_and_addresses_take_turns() {
        let (players, addresses) = (Players::default(), ClientAddresses::new(Limits::default()));
        let passwords = Arc::new(Passwords::new(Lifecycle::default(), RandomSource::default()));
        let player = |name: &str, address: [u8; 4]| {
            let (player, _) = players.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Human, 0).unwrap();
            player.set_home(&addresses.entry(address.into()));
            player
        };
        let (eve, ada) = (player("Eve", [192, 0, 2, 1]), player("Ada", [192, 0, 2, 2]));
        let all = Arc::clone(&passwords.turn).acquire_owned().await.unwrap();
        assert_eq!(passwords.turn.available_permits(), 0, "one at a time");
        let mut calls = tokio::task::JoinSet::new();
        let mut call = |player: &Arc<Player>| {
            let (passwords, player) = (Arc::clone(&passwords), Arc::clone(player));
            let id = player.id();
            calls.spawn(async move { passwords.run(&player, move || id).await });
        };
        (0..=PASSWORDS_WAITING_PER_ADDRESS).for_each(|_| call(&eve));
        call(&ada);
        assert_eq!(calls.join_next().await.unwrap().unwrap(), Err(RoomError::Busy), "one too many");
        drop(all);
        let mut served = Vec::new();
        while let Some(call) = calls.join_next().await {
            served.push(call.unwrap().unwrap());
        }
        assert_eq!(served.len(), PASSWORDS_WAITING_PER_ADDRESS + 1);
        assert!(served[..2].contains(&ada.id()), "she waits for one call of the other address");
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

    #[tokio::test]
    async fn the_calls_of_all_addresses_that_wait_are_bounded() {
        let (players, addresses) = (Players::default(), ClientAddresses::new(Limits::default()));
        let passwords = Arc::new(Passwords::new(Lifecycle::default(), RandomSource::default()));
        let all = Arc::clone(&passwords.turn).acquire_owned().await.unwrap();
        let player = |number: u32| {
            let name = DisplayName::parse(&format!("player {number}")).unwrap();
            let (player, _) = players.log_in(name, PlayerKind::Human, 0).unwrap();
            player.set_home(&addresses.entry(std::net::Ipv4Addr::from_bits(number).into()));
            player
        };
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..=PASSWORDS_WAITING as u32 {
            let (passwords, player) = (Arc::clone(&passwords), player(number));
            calls.spawn(async move { passwords.run(&player, || ()).await });
        }
        let refused = tokio::time::timeout(Duration::from_secs(20), calls.join_next()).await.expect("one too many");
        assert_eq!(refused.unwrap().unwrap(), Err(RoomError::Busy));
        drop(all);
        while let Some(call) = calls.join_next().await {
            assert_eq!(call.unwrap(), Ok(()));
        }
        assert_eq!(passwords.run(&player(1_000), || ()).await, Ok(()), "the places are free again");
    }
}
