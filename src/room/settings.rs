//! What an owner may set.

use std::{fmt, time::Duration};

use thiserror::Error;

use super::text::RoomName;
use crate::{
    rating::Sprt,
    rules::{Square, Transcript, opening},
};

/// Who finds a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Listed, and open to all.
    #[default]
    Public,
    /// Entered by its join code only.
    Private,
}

/// Who may watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watching {
    /// Whoever finds the room.
    #[default]
    Everyone,
    /// Members only.
    Members,
}

/// How long a side may think. Whichever clock falls first loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// The most one move may take.
    pub per_move: Option<Duration>,
    /// The most all moves of a side may take.
    pub total: Option<Duration>,
    /// Added to the total after each move.
    pub increment: Duration,
}

/// How games begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// The standard start.
    #[default]
    Standard,
    /// These moves.
    Moves(Transcript),
    /// Random balanced plies; both games of a pair get the same.
    Random {
        /// How many.
        plies: u8,
        /// Decides which.
        seed: u64,
    },
    /// From the fixed list of openings that the engine has judged to be even; both games of a pair get the same.
    Balanced {
        /// Decides their order.
        seed: u64,
    },
}

/// A room's settings. In this order, as its first fields are looked at with every move.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Settings {
    /// Who finds it.
    pub visibility: Visibility,
    /// Who may watch.
    pub watching: Watching,
    /// The clocks.
    pub time: TimeControl,
    /// What it is called.
    pub name: RoomName,
    /// Asked of those who join.
    pub password: Option<PasswordHash>,
    /// An AI moves no sooner than this after the ply before, so that people can follow.
    pub ai_pause: Duration,
    /// Games in a series.
    pub games: u16,
    /// Whether colours change after each game.
    pub swap_sides: bool,
    /// How games begin.
    pub opening: Opening,
    /// Starts as soon as both seats are ready, without the owner.
    pub auto_start: bool,
    /// Whether games count for the players' ratings.
    pub rated: bool,
    /// Ends a series in pairs as soon as one of two differences in strength is believed.
    pub sprt: Option<Sprt>,
}

/// A room's password, hashed by whoever took it in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PasswordHash(pub [u8; 32]);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// What is wrong with settings: the field, and what it must be.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{field} {problem}")]
pub struct SettingsError {
    /// The field's name in the public API.
    pub field: &'static str,
    /// What is asked of it.
    pub problem: &'static str,
}

impl Settings {
    /// Shortest per-move limit: below it a network's own delay decides games.
    pub const SHORTEST_MOVE: Duration = Duration::from_millis(100);
    /// Longest clock of any kind.
    pub const LONGEST_CLOCK: Duration = Duration::from_secs(24 * 60 * 60);
    /// Longest pause: more is no help to an onlooker.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(10);
    /// Longest increment.
    pub const LONGEST_INCREMENT: Duration = Duration::from_secs(60 * 60);
    /// The most games of a series.
    pub const MOST_GAMES: u16 = 1000;
    /// The most random plies: later ones are seldom balanced.
    pub const MOST_RANDOM_PLIES: u8 = 20;
    /// The per-move limit where nothing is asked for.
    pub const DEFAULT_MOVE: Duration = Duration::from_secs(60);

    /// Usual settings under a name.
    #[must_use]
    pub fn named(name: RoomName) -> Self {
        Self {
            name,
            visibility: Visibility::default(),
            watching: Watching::default(),
            password: None,
            time: TimeControl { per_move: Some(Self::DEFAULT_MOVE), total: None, increment: Duration::ZERO },
            ai_pause: Duration::ZERO,
            games: 1,
            swap_sides: true,
            opening: Opening::default(),
            auto_start: false,
            rated: false,
            sprt: None,
        }
    }

    /// Checks every bound.
    ///
    /// # Errors
    /// Names the first field that is out of its bounds.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong = |field, problem| Err(SettingsError { field, problem });
        let TimeControl { per_move, total, increment } = self.time;
        if per_move.is_none() && total.is_none() {
            return wrong("move_limit", "is needed where there is no total_time");
        }
        if per_move.is_some_and(|limit| !(Self::SHORTEST_MOVE..=Self::LONGEST_CLOCK).contains(&limit)) {
            return wrong("move_limit", "must be 100 ms to 1 day");
        }
        if total.is_some_and(|total| !(Duration::from_secs(1)..=Self::LONGEST_CLOCK).contains(&total)) {
            return wrong("total_time", "must be 1 s to 1 day");
        }
        if increment > Self::LONGEST_INCREMENT || (total.is_none() && increment > Duration::ZERO) {
            return wrong("increment", "must be at most 1 hour, and needs total_time");
        }
        if self.ai_pause > Self::LONGEST_PAUSE {
            return wrong("ai_pause", "must be at most 10 s");
        }
        if !(1..=Self::MOST_GAMES).contains(&self.games) {
            return wrong("games", "must be 1 to 1000");
        }
        if self.sprt.is_some() && !self.is_paired() {
            return wrong("sprt", "needs more games than one, swap_sides, and an opening that is balanced or random");
        }
        match &self.opening {
            Opening::Standard | Opening::Balanced { .. } => Ok(()),
            Opening::Random { plies: 1..=Self::MOST_RANDOM_PLIES, .. } => Ok(()),
            Opening::Random { .. } => wrong("opening.random.plies", "must be 1 to 20"),
            Opening::Moves(moves) if moves.position().is_over() => wrong("opening.moves", "must not end the game"),
            Opening::Moves(_) => Ok(()),
        }
    }

    /// Whether the games of a series come in pairs: one opening drawn for both, played with the sides changed. Of such series a score is
    /// kept, for only they tell strength from luck.
    #[must_use]
    pub fn is_paired(&self) -> bool {
        let drawn = matches!(self.opening, Opening::Random { .. } | Opening::Balanced { .. });
        self.games > 1 && self.swap_sides && drawn
    }

    /// The opening of the `index`th game (from 0) of a series: a pair of games with swapped sides shares one.
    #[must_use]
    pub(super) fn opening_moves(&self, index: u16) -> Vec<Square> {
        let pair = if self.swap_sides { index / 2 } else { index };
        match &self.opening {
            Opening::Standard => Vec::new(),
            Opening::Moves(moves) => moves.squares().to_vec(),
            Opening::Random { plies, seed } => opening::random(*plies, seed.wrapping_add(u64::from(pair))),
            Opening::Balanced { seed } => opening::balanced(*seed, pair.into()),
        }
    }
}

impl TimeControl {
    /// What a side has left of its total after a move that took `spent`.
    #[must_use]
    pub(super) fn after_move(&self, left: Option<Duration>, spent: Duration) -> Option<Duration> {
        left.map(|left| left.saturating_sub(spent).saturating_add(self.increment))
    }

    /// How long the side to move may take for this move.
    #[must_use]
    pub(super) fn limit(&self, left: Option<Duration>) -> Duration {
        match (self.per_move, left) {
            (Some(limit), Some(left)) => limit.min(left),
            (Some(limit), None) => limit,
            (None, Some(left)) => left,
            // `Settings::check` refuses this; the default keeps a clock on it all the same.
            (None, None) => Settings::DEFAULT_MOVE,
        }
    }
}
