//! Stored settings and limits.

use reversi_engine::{match_statistics::Sprt, rules::Transcript};

use super::{
    StoredError,
    codec::{Numbered, narrow, read_squares, squares},
    required,
    v1::{self, settings::Opening as StoredOpening},
};
use crate::{
    settings::{Availability, Opening, Opponents, PasswordHash, Policy, Settings, TimeRange, Visibility, Watching},
    text::RoomName,
    time_control::TimeControl,
};

impl From<Sprt> for v1::Sprt {
    fn from(sprt: Sprt) -> Self {
        Self { elo0: sprt.elo0(), elo1: sprt.elo1(), alpha: sprt.alpha(), beta: sprt.beta() }
    }
}

impl v1::Sprt {
    /// Reads a stored value.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for numbers out of their bounds.
    pub fn read(self) -> Result<Sprt, StoredError> {
        required(Sprt::new(self.elo0, self.elo1, self.alpha, self.beta).ok(), "sprt")
    }
}

impl From<Opponents> for v1::Opponents {
    fn from(opponents: Opponents) -> Self {
        Self {
            people: opponents.people,
            bots: opponents.bots,
            min_rating: opponents.min_rating.map(Into::into),
            max_rating: opponents.max_rating.map(Into::into),
        }
    }
}

impl v1::Opponents {
    /// Reads a stored value.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a rating that is too high.
    pub fn read(self) -> Result<Opponents, StoredError> {
        let read = |rating: Option<u32>| rating.map(|rating| narrow(rating, "rating")).transpose();
        let (min_rating, max_rating) = (read(self.min_rating)?, read(self.max_rating)?);
        Ok(Opponents { people: self.people, bots: self.bots, min_rating, max_rating })
    }
}

impl From<&Availability> for v1::Availability {
    fn from(accepted: &Availability) -> Self {
        let Availability { available, people, bots, rated, per_move, total, increment, .. } = *accepted;
        let Availability { min_rating, max_rating, games_at_once, opponents_a_day, .. } = *accepted;
        Self {
            available,
            people,
            bots,
            rated,
            shortest_move: per_move.shortest.map(Into::into),
            longest_move: per_move.longest.map(Into::into),
            shortest_total: total.shortest.map(Into::into),
            longest_total: total.longest.map(Into::into),
            games_at_once: games_at_once.map(Into::into),
            opponents_a_day: opponents_a_day.map(Into::into),
            shortest_increment: increment.shortest.map(Into::into),
            longest_increment: increment.longest.map(Into::into),
            min_rating: min_rating.map(Into::into),
            max_rating: max_rating.map(Into::into),
        }
    }
}

impl v1::Availability {
    /// Reads what was stored, or what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Availability, StoredError> {
        let range = |shortest, longest| {
            let read = v1::Duration::read_optional;
            Ok::<_, StoredError>(TimeRange { shortest: read(shortest)?, longest: read(longest)? })
        };
        let number = |number: Option<u32>| number.map(|number| narrow(number, "availability")).transpose();
        Ok(Availability {
            available: self.available,
            people: self.people,
            bots: self.bots,
            rated: self.rated,
            per_move: range(self.shortest_move, self.longest_move)?,
            total: range(self.shortest_total, self.longest_total)?,
            increment: range(self.shortest_increment, self.longest_increment)?,
            min_rating: number(self.min_rating)?,
            max_rating: number(self.max_rating)?,
            games_at_once: number(self.games_at_once)?,
            opponents_a_day: number(self.opponents_a_day)?,
        })
    }
}

impl From<&Settings> for v1::Settings {
    fn from(settings: &Settings) -> Self {
        let opening = match &settings.opening {
            Opening::Standard => None,
            Opening::Moves(moves) => Some(StoredOpening::Moves(squares(moves.squares()))),
            Opening::Random { plies, seed } => {
                Some(StoredOpening::Random(v1::RandomOpening { plies: (*plies).into(), seed: *seed }))
            }
            Opening::Balanced { seed } => Some(StoredOpening::Balanced(*seed)),
        };
        let given = |duration: std::time::Duration| (!duration.is_zero()).then(|| duration.into());
        Self {
            name: settings.name.to_string(),
            visibility: settings.visibility.number(),
            watching: settings.watching.number(),
            password: settings.password.as_ref().map(|hash| hash.0.to_vec()),
            per_move: settings.time.per_move.map(Into::into),
            total: settings.time.total.map(Into::into),
            increment: given(settings.time.increment),
            ai_pause: given(settings.ai_pause),
            games: settings.games.into(),
            swap_sides: settings.swap_sides,
            opening,
            auto_start: settings.auto_start,
            rated: settings.rated,
            sprt: settings.sprt.map(Into::into),
            opponents: (settings.opponents != Opponents::default()).then(|| settings.opponents.into()),
            spectator_delay: given(settings.spectator_delay),
        }
    }
}

impl v1::Settings {
    /// Settings were within bounds when written: a tightened bound must still accept those of existing rooms.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Settings, StoredError> {
        let settings = Settings {
            name: RoomName::from_stored(&self.name).map_err(|_| StoredError::Malformed("name of a room"))?,
            visibility: Visibility::read(self.visibility)?,
            watching: Watching::read(self.watching)?,
            password: self.password.map(|hash| PasswordHash(hash.into())),
            time: TimeControl {
                per_move: v1::Duration::read_optional(self.per_move)?,
                total: v1::Duration::read_optional(self.total)?,
                increment: v1::Duration::read_or_zero(self.increment)?,
            },
            ai_pause: v1::Duration::read_or_zero(self.ai_pause)?,
            games: narrow(self.games, "games of a series")?,
            swap_sides: self.swap_sides,
            opening: read_opening(self.opening)?,
            auto_start: self.auto_start,
            rated: self.rated,
            sprt: self.sprt.map(v1::Sprt::read).transpose()?,
            opponents: self.opponents.map(v1::Opponents::read).transpose()?.unwrap_or_default(),
            spectator_delay: v1::Duration::read_or_zero(self.spectator_delay)?,
        };
        settings.check().map_err(|error| StoredError::Malformed(error.field))?;
        Ok(settings)
    }
}

fn read_opening(stored: Option<StoredOpening>) -> Result<Opening, StoredError> {
    Ok(match stored {
        None => Opening::Standard,
        Some(StoredOpening::Moves(bytes)) => {
            let moves = Transcript::from_squares(read_squares(&bytes)?);
            Opening::Moves(required(moves.ok(), "opening")?)
        }
        Some(StoredOpening::Random(random)) => {
            Opening::Random { plies: narrow(random.plies, "opening")?, seed: random.seed }
        }
        Some(StoredOpening::Balanced(seed)) => Opening::Balanced { seed },
    })
}

impl From<Policy> for v1::Policy {
    fn from(policy: Policy) -> Self {
        Self {
            grace: Some(policy.grace.into()),
            idle_close: Some(policy.idle_close.into()),
            members: policy.members.into(),
        }
    }
}

impl v1::Policy {
    pub(super) fn read(self) -> Result<Policy, StoredError> {
        Ok(Policy {
            grace: v1::Duration::read_or_zero(self.grace)?,
            idle_close: v1::Duration::read_or_zero(self.idle_close)?,
            members: narrow(self.members, "policy")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;

    fn range() -> impl Strategy<Value = TimeRange> {
        let time = || proptest::option::of(any::<u64>().prop_map(std::time::Duration::from_micros));
        (time(), time()).prop_map(|(shortest, longest)| TimeRange { shortest, longest })
    }

    fn availability() -> impl Strategy<Value = Availability> {
        let times = (range(), range(), range());
        let numbers = any::<[Option<u16>; 4]>();
        (any::<[bool; 3]>(), any::<Option<bool>>(), times, numbers).prop_map(
            |([available, people, bots], rated, (per_move, total, increment), numbers)| {
                let [min_rating, max_rating, games_at_once, opponents_a_day] = numbers;
                Availability {
                    available,
                    people,
                    bots,
                    rated,
                    per_move,
                    total,
                    increment,
                    min_rating,
                    max_rating,
                    games_at_once,
                    opponents_a_day,
                }
            },
        )
    }

    #[test]
    fn an_availability_of_an_earlier_version_bounds_no_increment_and_no_rating() {
        // available, people, rated, games_at_once
        let stored = [8, 1, 16, 1, 32, 1, 72, 2];
        let expected =
            Availability { bots: false, rated: Some(true), games_at_once: Some(2), ..Availability::default() };
        assert_eq!(v1::Availability::decode(&stored[..]).unwrap().read(), Ok(expected));
    }

    proptest! {
        #[test]
        fn an_availability_round_trips(availability in availability()) {
            let stored = v1::Availability::from(&availability).encode_to_vec();
            prop_assert_eq!(v1::Availability::decode(&*stored).unwrap().read(), Ok(availability));
        }

        #[test]
        fn settings_round_trip(settings in Settings::any()) {
            let stored = v1::Settings::from(&settings).encode_to_vec();
            prop_assert_eq!(v1::Settings::decode(&*stored).unwrap().read(), Ok(settings));
        }
    }
}
