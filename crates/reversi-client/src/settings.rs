//! The settings of a room.

use std::time::Duration;

use super::{Malformed, PlayerKind, Visibility, Watching, parse};
use crate::{match_statistics::Sprt, v1};

/// The opening of a room's games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// The standard start.
    #[default]
    Standard,
    /// These moves, as `f5d6c3`.
    Moves(String),
    /// Random but balanced plies from a seed.
    Random {
        /// The number of plies, 1 to 20.
        plies: u32,
        /// The seed of the moves.
        seed: u64,
    },
    /// Openings of the server's list of even ones.
    Balanced {
        /// The seed of the order.
        seed: u64,
    },
}

/// The players who may take an open seat. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opponents {
    /// Of these kinds; of all if empty.
    pub kinds: Vec<PlayerKind>,
    /// The lowest rating; 0 for no bound.
    pub min_rating: u32,
    /// The highest rating; 0 for no bound.
    pub max_rating: u32,
}

/// A room's settings. The default is the server's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The room's name; empty for the owner's.
    pub name: String,
    /// Whether the room is listed; `Unspecified` for public.
    pub visibility: Visibility,
    /// The players allowed to watch; `Unspecified` for everyone.
    pub watching: Watching,
    /// The time limit of a move; `None` for the server's default, zero for no limit.
    pub move_limit: Option<Duration>,
    /// The time limit of all moves of a side; `None` or zero for no limit.
    pub total_time: Option<Duration>,
    /// The time added to the total clock after each move.
    pub increment: Duration,
    /// The pause after an AI's move.
    pub ai_pause: Duration,
    /// Number of games in a series; 0 for the server's default.
    pub games: u32,
    /// Whether the colours are swapped after each game; `None` for the server's default.
    pub swap_sides: Option<bool>,
    /// The opening.
    pub opening: Opening,
    /// Whether a game starts as soon as both seats are ready.
    pub auto_start: bool,
    /// Whether games count for ratings.
    pub rated: bool,
    /// A test that may end a series in pairs early.
    pub sprt: Option<Sprt>,
    /// The players who may take an open seat.
    pub opponents: Opponents,
    /// Delay after which spectators see the games; 0 to 15 min.
    pub spectator_delay: Duration,
}

impl From<Settings> for v1::RoomSettings {
    fn from(settings: Settings) -> Self {
        use v1::opening::Opening as Wire;
        let opening = match settings.opening {
            Opening::Standard => Wire::Standard(v1::StandardOpening {}),
            Opening::Moves(moves) => Wire::Moves(moves),
            Opening::Random { plies, seed } => Wire::Random(v1::RandomOpening { plies: wire_count(plies), seed }),
            Opening::Balanced { seed } => Wire::Balanced(v1::BalancedOpening { seed }),
        };
        let given = |duration: Duration| (!duration.is_zero()).then(|| parse::to_wire(duration));
        Self {
            name: settings.name,
            visibility: settings.visibility.into(),
            watching: settings.watching.into(),
            move_limit: settings.move_limit.map(parse::to_wire),
            total_time: settings.total_time.map(parse::to_wire),
            increment: given(settings.increment),
            ai_pause: given(settings.ai_pause),
            games: wire_count(settings.games),
            swap_sides: settings.swap_sides,
            opening: Some(v1::Opening { opening: Some(opening) }),
            auto_start: settings.auto_start,
            rated: settings.rated,
            sprt: settings.sprt.map(|sprt| v1::Sprt {
                elo0: sprt.elo0(),
                elo1: sprt.elo1(),
                alpha: sprt.alpha(),
                beta: sprt.beta(),
            }),
            opponents: (settings.opponents != Opponents::default()).then(|| settings.opponents.into()),
            spectator_delay: given(settings.spectator_delay),
        }
    }
}

impl From<Opponents> for v1::Opponents {
    fn from(opponents: Opponents) -> Self {
        Self {
            kinds: opponents.kinds.into_iter().map(Into::into).collect(),
            min_rating: wire_count(opponents.min_rating),
            max_rating: wire_count(opponents.max_rating),
        }
    }
}

impl TryFrom<v1::Opponents> for Opponents {
    type Error = Malformed;

    fn try_from(opponents: v1::Opponents) -> Result<Self, Malformed> {
        Ok(Self {
            kinds: opponents.kinds().collect(),
            min_rating: parse::count(opponents.min_rating, "lowest rating")?,
            max_rating: parse::count(opponents.max_rating, "highest rating")?,
        })
    }
}

impl TryFrom<v1::RoomSettings> for Settings {
    type Error = Malformed;

    fn try_from(settings: v1::RoomSettings) -> Result<Self, Malformed> {
        use v1::opening::Opening as Wire;
        let (visibility, watching) = (settings.visibility(), settings.watching());
        let opening = match settings.opening.and_then(|opening| opening.opening) {
            None | Some(Wire::Standard(_)) => Opening::Standard,
            Some(Wire::Moves(moves)) => Opening::Moves(moves),
            Some(Wire::Random(random)) => {
                Opening::Random { plies: parse::count(random.plies, "plies of the opening")?, seed: random.seed }
            }
            Some(Wire::Balanced(balanced)) => Opening::Balanced { seed: balanced.seed },
        };
        let sprt = settings.sprt.map(|sprt| Sprt::new(sprt.elo0, sprt.elo1, sprt.alpha, sprt.beta));
        Ok(Self {
            name: parse::plain(settings.name, "room name")?,
            visibility,
            watching,
            move_limit: parse::maybe_duration(settings.move_limit, "move limit")?,
            total_time: parse::maybe_duration(settings.total_time, "total time")?,
            increment: parse::maybe_duration(settings.increment, "increment")?.unwrap_or_default(),
            ai_pause: parse::maybe_duration(settings.ai_pause, "AI pause")?.unwrap_or_default(),
            games: parse::count(settings.games, "games of a series")?,
            swap_sides: settings.swap_sides,
            opening,
            auto_start: settings.auto_start,
            rated: settings.rated,
            sprt: sprt.transpose().map_err(|error| Malformed::new("sprt", error))?,
            opponents: settings.opponents.map(Opponents::try_from).transpose()?.unwrap_or_default(),
            spectator_delay: parse::maybe_duration(settings.spectator_delay, "spectator delay")?.unwrap_or_default(),
        })
    }
}

/// Saturates; the server refuses a number that is too large.
pub(super) fn wire_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_round_trip() {
        let settings = Settings {
            name: "Study".into(),
            visibility: Visibility::Private,
            watching: Watching::Members,
            move_limit: Some(Duration::ZERO),
            total_time: Some(Duration::from_secs(300)),
            increment: Duration::from_millis(2500),
            ai_pause: Duration::from_secs(1),
            games: 7,
            swap_sides: Some(false),
            opening: Opening::Random { plies: 6, seed: 11 },
            auto_start: true,
            rated: true,
            sprt: "-5,5".parse().ok(),
            opponents: Opponents { kinds: vec![PlayerKind::Bot], min_rating: 1_400, max_rating: 0 },
            spectator_delay: Duration::from_secs(30),
        };
        assert_eq!(Settings::try_from(v1::RoomSettings::from(settings.clone())), Ok(settings));
    }
}
