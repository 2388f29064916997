//! Delays after wrong passwords and join codes.
//!
//! | wrong guesses of | without a delay | forgotten |
//! |---|---|---|
//! | one player | `wrong_guesses_per_minute` | that many a minute |
//! | one address | `wrong_guesses_per_address` | one in ten minutes |
//! | one address, or player if addresses are not counted, at one room | 5 | one in ten minutes |
//! | all of these at one room | 30 | one in ten minutes |
//!
//! Beyond that, each wrong guess delays the next one: by 1 s at first, then by twice as long each time, up to a minute.
//! The last row does not delay an address or player without a wrong guess at the room, so that an attacker cannot lock
//! others out of it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::{client_address::Prefix, in_force::LimitsInForce};
use crate::room::{PlayerId, RoomId, Timestamp};

/// Wrong passwords of one address at one room before it waits: a person who tries the passwords that come to mind.
const FREE_GUESSES_OF_VISITOR: u32 = 5;

/// Wrong passwords of all addresses at one room before those that have guessed wrong wait for each other.
const FREE_GUESSES_AT_ROOM: u32 = 30;

/// The most counts of wrong guesses that are remembered, of under 128 bytes each. One address makes few, as it soon has
/// to wait.
const GUESSES_REMEMBERED: usize = 100_000;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(60);
/// The number of doublings after which [`FIRST_DELAY`] exceeds [`MAX_DELAY`].
const DOUBLINGS: u32 = 6;
/// The time without a wrong guess after which one is forgotten. It also limits an attacker with many addresses: in this
/// time, each address has one guess that is not delayed by those of the others.
const FORGET: Duration = Duration::from_secs(10 * 60);

/// The counts of wrong guesses.
pub(crate) struct PasswordGuesses {
    limits: LimitsInForce,
    tallies: Mutex<HashMap<Guesser, Tally>>,
}

/// A guess at the password of a room or at a join code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) player: PlayerId,
    pub(crate) address: Option<Prefix>,
    /// The room, if it is a guess at its password.
    pub(crate) room: Option<RoomId>,
}

/// Whose wrong guesses are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Guesser {
    Player(PlayerId),
    Address(Prefix),
    /// A player at a room, if addresses are not counted.
    PlayerAt(RoomId, PlayerId),
    AddressAt(RoomId, Prefix),
    AllAt(RoomId),
}

/// The allowances that depend on the limits in force.
#[derive(Clone, Copy, Debug)]
struct Allowances {
    player: Allowance,
    /// None if addresses are not counted.
    address: Option<Allowance>,
}

/// The number of wrong guesses without a delay, and the time after which one is forgotten.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    free: u32,
    forget: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Tally {
    wrong: u32,
    /// When the last wrong guess was made.
    last: Timestamp,
}

impl PasswordGuesses {
    pub(crate) fn new(limits: LimitsInForce) -> Self {
        Self { limits, tallies: Mutex::default() }
    }

    /// Fails with the time to wait if the guess may not be made now. Counts nothing.
    pub(crate) fn check(&self, guess: Guess, now: Timestamp) -> Result<(), Duration> {
        self.allowances().wait(&self.tallies(), guess, now)
    }

    /// Records whether a guess was right. Fails with the time to wait if it may not be made now. Then the answer must
    /// not reveal whether it was right.
    pub(crate) fn judge(&self, guess: Guess, right: bool, now: Timestamp) -> Result<(), Duration> {
        let (allowances, mut tallies) = (self.allowances(), self.tallies());
        allowances.wait(&tallies, guess, now)?;
        if right {
            allowances.visitor(guess).map(|visitor| tallies.remove(&visitor));
            return Ok(());
        }
        if tallies.len() >= GUESSES_REMEMBERED {
            tallies.retain(|guesser, tally| tally.wrong_at(now, allowances.of(*guesser)) > 0);
            if tallies.len() >= GUESSES_REMEMBERED / 2 {
                // Counts do not slow down an attacker with that many addresses.
                tallies.clear();
            }
        }
        for guesser in allowances.guessers(guess) {
            let allowance = allowances.of(guesser);
            let tally = tallies.entry(guesser).or_insert(Tally { wrong: 0, last: now });
            let wrong = (tally.wrong_at(now, allowance) + 1).min(allowance.free.saturating_add(DOUBLINGS + 1));
            *tally = Tally { wrong, last: now };
        }
        Ok(())
    }

    fn allowances(&self) -> Allowances {
        let limits = self.limits.get();
        let per_minute = limits.wrong_guesses_per_minute.max(1);
        let free = limits.wrong_guesses_per_address;
        Allowances {
            player: Allowance { free: per_minute, forget: Duration::from_secs(60) / per_minute },
            address: (free > 0).then_some(Allowance { free, forget: FORGET }),
        }
    }

    fn tallies(&self) -> std::sync::MutexGuard<'_, HashMap<Guesser, Tally>> {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Allowances {
    fn wait(&self, tallies: &HashMap<Guesser, Tally>, guess: Guess, now: Timestamp) -> Result<(), Duration> {
        let is_known =
            |visitor: Guesser| tallies.get(&visitor).is_some_and(|tally| tally.wrong_at(now, self.of(visitor)) > 0);
        let waits_for_all = self.visitor(guess).is_some_and(is_known);
        let waits = self
            .guessers(guess)
            .filter(|guesser| waits_for_all || !matches!(guesser, Guesser::AllAt(_)))
            .filter_map(|guesser| Some(tallies.get(&guesser)?.wait(now, self.of(guesser))));
        match waits.max() {
            Some(wait) if wait > Duration::ZERO => Err(wait),
            _ => Ok(()),
        }
    }

    fn guessers(&self, guess: Guess) -> impl Iterator<Item = Guesser> {
        let address = guess.address.filter(|_| self.address.is_some()).map(Guesser::Address);
        let all = guess.room.map(Guesser::AllAt);
        [Some(Guesser::Player(guess.player)), address, self.visitor(guess), all].into_iter().flatten()
    }

    fn visitor(&self, guess: Guess) -> Option<Guesser> {
        let room = guess.room?;
        Some(match guess.address.filter(|_| self.address.is_some()) {
            Some(address) => Guesser::AddressAt(room, address),
            None => Guesser::PlayerAt(room, guess.player),
        })
    }

    fn of(&self, guesser: Guesser) -> Allowance {
        let at_room = |free| Allowance { free, forget: FORGET };
        match guesser {
            Guesser::Player(_) => self.player,
            Guesser::Address(_) => self.address.unwrap_or(self.player),
            Guesser::PlayerAt(..) | Guesser::AddressAt(..) => at_room(FREE_GUESSES_OF_VISITOR),
            Guesser::AllAt(_) => at_room(FREE_GUESSES_AT_ROOM),
        }
    }
}

impl Tally {
    /// The wrong guesses that are not forgotten.
    fn wrong_at(&self, now: Timestamp, allowance: Allowance) -> u32 {
        let forgotten = now.since(self.last).as_micros() / allowance.forget.as_micros().max(1);
        self.wrong.saturating_sub(u32::try_from(forgotten).unwrap_or(u32::MAX))
    }

    /// The time until the next guess.
    fn wait(&self, now: Timestamp, allowance: Allowance) -> Duration {
        let Some(beyond) = self.wrong_at(now, allowance).checked_sub(allowance.free) else { return Duration::ZERO };
        let delay = (FIRST_DELAY * 2_u32.pow(beyond.min(DOUBLINGS))).min(MAX_DELAY);
        delay.saturating_sub(now.since(self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Limits;

    const ROOM: u64 = 7;

    fn at(seconds: u64) -> Timestamp {
        Timestamp(0).after(Duration::from_secs(seconds))
    }

    fn guess(address: u8, player: u64) -> Guess {
        let address = Prefix::from(std::net::IpAddr::from([192, 0, 2, address]));
        let room = Some(RoomId::from_random(ROOM));
        Guess { player: PlayerId::from_random(player), address: Some(address), room }
    }

    fn with(change: impl FnOnce(&mut Limits)) -> PasswordGuesses {
        let mut limits = Limits::default();
        change(&mut limits);
        PasswordGuesses::new(limits.into())
    }

    #[test]
    fn after_five_wrong_guesses_each_delay_is_twice_the_last() {
        let (guesses, mut now) = (with(|_| {}), at(0));
        let mut delays = Vec::new();
        for player in 0..14 {
            // A new log-in changes nothing.
            let guess = guess(1, player);
            if let Err(wait) = guesses.check(guess, now) {
                assert_eq!(guesses.judge(guess, true, now), Err(wait), "not even the right one");
                delays.push(wait.as_secs());
                now = now.after(wait);
            }
            assert_eq!(guesses.judge(guess, false, now), Ok(()));
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(guesses.check(guess(2, 20), now), Ok(()), "another address does not wait");
        let elsewhere = Guess { room: Some(RoomId::from_random(1)), ..guess(1, 21) };
        assert_eq!(guesses.check(elsewhere, now), Ok(()), "nor the same one at another room");
        assert_eq!(guesses.judge(guess(1, 21), true, now.after(MAX_DELAY)), Ok(()));
        for player in 22..27 {
            let judged = guesses.judge(guess(1, player), false, now.after(MAX_DELAY));
            assert_eq!(judged, Ok(()), "a right one resets the count");
        }
    }

    #[test]
    fn wrong_guesses_are_forgotten_soon_however_many_there_were() {
        let (guesses, mut now) = (with(|_| {}), at(0));
        for player in 0..100 {
            assert_eq!(guesses.judge(guess(1, player), false, now), Ok(()));
            now = now.after(MAX_DELAY);
        }
        now = now.after(12 * FORGET);
        for player in 100..105 {
            assert_eq!(guesses.judge(guess(1, player), false, now), Ok(()));
        }
        assert_eq!(guesses.check(guess(1, 105), now), Err(FIRST_DELAY));
    }

    #[test]
    fn wrong_guesses_are_counted_by_player_and_by_address() {
        let guesses = with(|limits| (limits.wrong_guesses_per_minute, limits.wrong_guesses_per_address) = (2, 3));
        let code = |address, player| Guess { room: None, ..guess(address, player) };
        for _ in 0..2 {
            assert_eq!(guesses.judge(code(1, 1), false, at(0)), Ok(()));
        }
        assert_eq!(guesses.check(code(2, 1), at(0)), Err(FIRST_DELAY));
        assert_eq!(guesses.judge(code(1, 2), false, at(0)), Ok(()));
        assert_eq!(guesses.check(code(1, 3), at(0)), Err(FIRST_DELAY));
        assert_eq!(guesses.check(code(2, 3), at(0)), Ok(()));
        assert_eq!(guesses.check(code(1, 3), at(1)), Ok(()));
        let uncounted = with(|limits| limits.wrong_guesses_per_address = 0);
        for player in 0..100 {
            assert_eq!(uncounted.judge(code(1, player), false, at(0)), Ok(()));
            assert_eq!(uncounted.judge(guess(1, player), false, at(0)), Ok(()), "the player is counted instead");
        }
    }

    #[test]
    fn a_reload_changes_the_limits() {
        let limits = LimitsInForce::default();
        let guesses = PasswordGuesses::new(limits.clone());
        assert_eq!(guesses.judge(guess(1, 1), false, at(0)), Ok(()));
        assert_eq!(guesses.check(guess(1, 1), at(0)), Ok(()));
        limits.replace(Limits { wrong_guesses_per_minute: 1, ..Limits::default() });
        assert_eq!(guesses.check(guess(1, 1), at(0)), Err(FIRST_DELAY));
    }

    #[test]
    fn many_addresses_guess_slowly_and_lock_no_other_out() {
        let (guesses, mut made) = (with(|_| {}), 0);
        for second in 0..3_600 {
            for address in 0..60 {
                made += u32::from(guesses.judge(guess(address, address.into()), false, at(second)).is_ok());
            }
            assert_eq!(guesses.judge(guess(99, 99), true, at(second)), Ok(()));
        }
        assert!(made < 600, "{made} guesses in an hour");
    }

    #[test]
    fn the_number_of_counts_is_bounded() {
        for is_slow in [false, true] {
            let guesses = with(|_| {});
            for player in 0..2 * GUESSES_REMEMBERED as u64 {
                let guess = Guess { room: Some(RoomId::from_random(player)), ..guess(1, player) };
                let now = at(if is_slow { player } else { 0 });
                guesses.judge(Guess { address: None, ..guess }, false, now).unwrap();
                let count = guesses.tallies().len();
                assert!(count < GUESSES_REMEMBERED + 4);
                assert!(!is_slow || player < 500 || count > 1_000, "those of the last ten minutes stay");
            }
        }
    }
}
