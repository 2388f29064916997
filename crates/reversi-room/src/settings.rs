//! The settings of a room, and the server's limits for it.

use std::{fmt, sync::Arc, time::Duration};

use reversi_engine::{
    match_statistics::Sprt,
    rules::{Square, Transcript, opening},
};
use thiserror::Error;

use super::{seat::PlayerKind, text::RoomName, time_control::TimeControl};

/// The players who can find and join a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Listed, and open to all.
    #[default]
    Public,
    /// Not listed, and joined by its join code only.
    Private,
}

/// The players who may watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watching {
    /// Anyone who finds the room.
    #[default]
    Everyone,
    /// Members only.
    Members,
}

/// The players who may take an open seat: those of some kinds, within a range of ratings. The owner always may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opponents {
    /// Whether people may.
    pub people: bool,
    /// Whether bots may.
    pub bots: bool,
    /// The lowest rating; `None` for no bound.
    pub min_rating: Option<u16>,
    /// The highest rating; `None` for no bound.
    pub max_rating: Option<u16>,
}

impl Default for Opponents {
    fn default() -> Self {
        Self { people: true, bots: true, min_rating: None, max_rating: None }
    }
}

impl Opponents {
    /// Whether players of a kind may take an open seat.
    #[must_use]
    pub fn accept_kind(&self, kind: PlayerKind) -> bool {
        match kind {
            PlayerKind::Human => self.people,
            PlayerKind::Bot => self.bots,
        }
    }

    /// Whether players with a rating may take an open seat. A room knows no ratings: its server asks this first.
    #[must_use]
    pub fn accept_rating(&self, rating: u16) -> bool {
        self.min_rating.is_none_or(|min| min <= rating) && self.max_rating.is_none_or(|max| rating <= max)
    }

    /// Whether there is a range of ratings.
    #[must_use]
    pub fn have_range(&self) -> bool {
        self.min_rating.is_some() || self.max_rating.is_some()
    }
}

/// The invitations that a player accepts. A player who has set none accepts all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Availability {
    /// False: none at all.
    pub available: bool,
    /// Whether people may invite.
    pub people: bool,
    /// Whether bots may invite.
    pub bots: bool,
    /// Only rated games, or only unrated ones; `None` for both.
    pub rated: Option<bool>,
    /// Bounds of the time for a move.
    pub per_move: TimeRange,
    /// Bounds of a side's time for all moves, without increments.
    pub total: TimeRange,
    /// Bounds of the increment, which is zero in a game without a time for all moves.
    pub increment: TimeRange,
    /// The lowest rating of a player who invites; `None` for no bound.
    pub min_rating: Option<u16>,
    /// The highest rating of a player who invites; `None` for no bound.
    pub max_rating: Option<u16>,
    /// Maximum number of seats that it holds with the new one; `None` for its own limit.
    pub games_at_once: Option<u16>,
    /// Maximum number of opponents within 24 hours, with the new one; `None` for no bound.
    pub opponents_a_day: Option<u16>,
}

/// Bounds of a time. A game without a limit has an endless one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The shortest one.
    pub shortest: Option<Duration>,
    /// The longest one.
    pub longest: Option<Duration>,
}

impl Default for Availability {
    fn default() -> Self {
        let all = TimeRange::default();
        Self {
            available: true,
            people: true,
            bots: true,
            rated: None,
            per_move: all,
            total: all,
            increment: all,
            min_rating: None,
            max_rating: None,
            games_at_once: None,
            opponents_a_day: None,
        }
    }
}

impl Availability {
    /// The field of the API that does not allow an invitation of a player of this kind to a room. The ratings and the
    /// numbers of games and opponents are left out: the server knows these.
    #[must_use]
    pub fn refused_by(&self, inviter: PlayerKind, settings: &Settings) -> Option<&'static str> {
        let is_welcome = match inviter {
            PlayerKind::Human => self.people,
            PlayerKind::Bot => self.bots,
        };
        let TimeControl { per_move, total, increment } = settings.time;
        [
            ("unavailable", self.available),
            ("kinds", is_welcome),
            ("rated", self.rated.is_none_or(|rated| rated == settings.rated)),
            ("shortest_move", self.per_move.allows_short(per_move)),
            ("longest_move", self.per_move.allows_long(per_move)),
            ("shortest_total", self.total.allows_short(total)),
            ("longest_total", self.total.allows_long(total)),
            ("shortest_increment", self.increment.allows_short(Some(increment))),
            ("longest_increment", self.increment.allows_long(Some(increment))),
        ]
        .into_iter()
        .find_map(|(field, allowed)| (!allowed).then_some(field))
    }

    /// Whether there is a bound of the rating of a player who invites.
    #[must_use]
    pub fn bounds_rating(&self) -> bool {
        self.min_rating.is_some() || self.max_rating.is_some()
    }

    /// The field of the API that does not allow an invitation of a player with this rating.
    #[must_use]
    pub fn rating_refused_by(&self, rating: u16) -> Option<&'static str> {
        let is_low = self.min_rating.is_some_and(|min| rating < min);
        let is_high = self.max_rating.is_some_and(|max| rating > max);
        is_low.then_some("min_rating").or(is_high.then_some("max_rating"))
    }
}

impl TimeRange {
    fn allows_short(self, time: Option<Duration>) -> bool {
        time.is_none_or(|time| self.shortest.is_none_or(|shortest| time >= shortest))
    }

    fn allows_long(self, time: Option<Duration>) -> bool {
        self.longest.is_none_or(|longest| time.is_some_and(|time| time <= longest))
    }
}

/// The opening of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// The standard start.
    #[default]
    Standard,
    /// Given moves, made for both sides.
    Moves(Transcript),
    /// Random balanced plies; the same in both games of a pair.
    Random {
        /// Number of plies.
        plies: u8,
        /// Seed of the choice.
        seed: u64,
    },
    /// From a fixed list of openings that the engine evaluates as even; the same in both games of a pair.
    Balanced {
        /// Seed of their order.
        seed: u64,
    },
}

/// The server's limits for a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Time for which a member without a connection stays a member.
    pub grace: Duration,
    /// A room without a running game closes after this time without activity.
    pub idle_close: Duration,
    /// Maximum number of members.
    pub members: u16,
}

/// The settings of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The players who can find and join it.
    pub visibility: Visibility,
    /// The players who may watch.
    pub watching: Watching,
    /// The clocks.
    pub time: TimeControl,
    /// The room's name.
    pub name: RoomName,
    /// Needed to join; `None` for no password.
    pub password: Option<PasswordHash>,
    /// Minimum time between a ply and the AI's answer, so that people can follow.
    pub ai_pause: Duration,
    /// Number of games in a series.
    pub games: u16,
    /// Whether the players swap sides after each game.
    pub swap_sides: bool,
    /// The opening of each game.
    pub opening: Opening,
    /// Whether a game starts without the owner as soon as both seats are ready.
    pub auto_start: bool,
    /// Whether games count for the players' ratings.
    pub rated: bool,
    /// A test that ends a series of paired games early.
    pub sprt: Option<Sprt>,
    /// The players who may take an open seat.
    pub opponents: Opponents,
    /// Delay after which spectators see the games; 0 to 15 min.
    pub spectator_delay: Duration,
}

/// The hash of a room's password, as stored: Argon2id in the PHC string format, or, if set by an earlier version, the
/// 32 bytes of the SHA-256. Rooms only compare it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub Arc<[u8]>);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// An invalid field of the settings.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{field} {problem}")]
pub struct SettingsError {
    /// The field's name in the public API.
    pub field: &'static str,
    /// The requirement, as text after the field's name.
    pub problem: &'static str,
}

impl Settings {
    /// Minimum time per move: below it, network latency decides games.
    pub const MIN_MOVE_TIME: Duration = Duration::from_millis(100);
    /// Maximum of the time per move and of the total time.
    pub const MAX_CLOCK: Duration = Duration::from_secs(24 * 60 * 60);
    /// Maximum pause before a move of an AI.
    pub const MAX_PAUSE: Duration = Duration::from_secs(10);
    /// Maximum increment.
    pub const MAX_INCREMENT: Duration = Duration::from_secs(60 * 60);
    /// Maximum number of games of a series.
    pub const MAX_GAMES: u16 = 1000;
    /// Maximum delay for spectators.
    pub const MAX_DELAY: Duration = Duration::from_secs(15 * 60);
    /// Maximum number of random plies: longer random openings are seldom balanced.
    pub const MAX_RANDOM_PLIES: u8 = 20;

    /// Default settings with a name.
    #[must_use]
    pub fn named(name: RoomName) -> Self {
        Self {
            name,
            visibility: Visibility::default(),
            watching: Watching::default(),
            password: None,
            time: TimeControl::default(),
            ai_pause: Duration::ZERO,
            games: 1,
            swap_sides: true,
            opening: Opening::default(),
            auto_start: false,
            rated: false,
            sprt: None,
            opponents: Opponents::default(),
            spectator_delay: Duration::ZERO,
        }
    }

    /// Checks every bound.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong = |field, problem| Err(SettingsError { field, problem });
        let TimeControl { per_move, total, increment } = self.time;
        if per_move.is_none() && total.is_none() {
            return wrong("move_limit", "is needed where there is no total_time");
        }
        if per_move.is_some_and(|limit| !(Self::MIN_MOVE_TIME..=Self::MAX_CLOCK).contains(&limit)) {
            return wrong("move_limit", "must be 100 ms to 1 day");
        }
        if total.is_some_and(|total| !(Duration::from_secs(1)..=Self::MAX_CLOCK).contains(&total)) {
            return wrong("total_time", "must be 1 s to 1 day");
        }
        if increment > Self::MAX_INCREMENT || (total.is_none() && increment > Duration::ZERO) {
            return wrong("increment", "must be at most 1 hour, and needs total_time");
        }
        if self.ai_pause > Self::MAX_PAUSE {
            return wrong("ai_pause", "must be at most 10 s");
        }
        if !(1..=Self::MAX_GAMES).contains(&self.games) {
            return wrong("games", "must be 1 to 1000");
        }
        if self.sprt.is_some() && !self.is_paired() {
            return wrong("sprt", "needs more games than one, swap_sides, and an opening that is balanced or random");
        }
        let Opponents { people, bots, min_rating, max_rating } = self.opponents;
        if !people && !bots {
            return wrong("opponents.kinds", "must name a kind of players");
        }
        if min_rating.zip(max_rating).is_some_and(|(min, max)| min > max) {
            return wrong("opponents.max_rating", "must not be below min_rating");
        }
        if self.spectator_delay > Self::MAX_DELAY {
            return wrong("spectator_delay", "must be at most 15 min");
        }
        match &self.opening {
            Opening::Standard | Opening::Balanced { .. } => Ok(()),
            Opening::Random { plies: 1..=Self::MAX_RANDOM_PLIES, .. } => Ok(()),
            Opening::Random { .. } => wrong("opening.random.plies", "must be 1 to 20"),
            Opening::Moves(moves) if moves.position().is_over() => wrong("opening.moves", "must not end the game"),
            Opening::Moves(_) => Ok(()),
        }
    }

    /// As [`Settings::check`], and that rated games begin where no player has the advantage. Rooms of earlier versions
    /// may be rated with an opening of their owners' choice: their games count as unrated.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn check_new(&self) -> Result<(), SettingsError> {
        self.check()?;
        if self.rated && !self.begins_fairly() {
            let problem = "must not be given in a rated room, whose games begin at the standard start, or at a balanced \
                or random opening";
            return Err(SettingsError { field: "opening.moves", problem });
        }
        Ok(())
    }

    /// Whether no player has chosen the position in which games begin.
    pub(super) fn begins_fairly(&self) -> bool {
        !matches!(self.opening, Opening::Moves(_))
    }

    /// Whether games are played on the same terms: the settings differ at most in who finds, enters and watches the
    /// room, and in who starts a game.
    #[must_use]
    pub fn has_terms_of(&self, other: &Self) -> bool {
        let same = Self {
            name: self.name.clone(),
            visibility: self.visibility,
            watching: self.watching,
            password: self.password.clone(),
            auto_start: self.auto_start,
            opponents: self.opponents,
            time: other.time,
            ai_pause: other.ai_pause,
            games: other.games,
            swap_sides: other.swap_sides,
            opening: other.opening.clone(),
            rated: other.rated,
            sprt: other.sprt,
            spectator_delay: other.spectator_delay,
        };
        *self == same
    }

    /// Whether the games of a series come in pairs: the same drawn opening twice, with sides swapped. Only such series
    /// have a [`SeriesScore`](super::SeriesScore).
    #[must_use]
    pub fn is_paired(&self) -> bool {
        let drawn = matches!(self.opening, Opening::Random { .. } | Opening::Balanced { .. });
        self.games > 1 && self.swap_sides && drawn
    }

    /// The opening of the game with that index in a series, from 0; the same in both games of a pair. Random plies of
    /// rated games are drawn by the server: `drawn` is their seed.
    #[must_use]
    pub(super) fn opening_moves(&self, index: u16, drawn: u64) -> Vec<Square> {
        let pair = if self.swap_sides { index / 2 } else { index };
        match &self.opening {
            Opening::Random { plies, .. } if self.rated => opening::random(*plies, drawn),
            Opening::Standard => Vec::new(),
            Opening::Moves(moves) => moves.squares().to_vec(),
            Opening::Random { plies, seed } => opening::random(*plies, seed.wrapping_add(u64::from(pair))),
            Opening::Balanced { seed } => opening::balanced(*seed, pair.into()),
        }
    }
}

#[cfg(any(test, feature = "fixtures"))]
mod fixture {
    use proptest::{option, prelude::*};

    use super::*;

    impl Settings {
        /// All valid settings, with every field at any of its values, for tests.
        pub fn any() -> impl Strategy<Value = Self> {
            let names = "[a-zé]{1,40}".prop_map(|name| RoomName::parse(&name).expect("a name"));
            let flags = any::<[bool; 6]>();
            let numbers = (0..=10_000_u64, 1..=Self::MAX_GAMES);
            (names, flags, any_time(), numbers, any_opening()).prop_map(
                |(name, flags, time, (pause, games), opening)| {
                    let [private, members, swap_sides, auto_start, rated, tested] = flags;
                    let settings = Self {
                        name,
                        visibility: if private { Visibility::Private } else { Visibility::Public },
                        watching: if members { Watching::Members } else { Watching::Everyone },
                        password: private.then(|| PasswordHash([7; 32].into())),
                        time,
                        ai_pause: Duration::from_millis(pause),
                        games,
                        swap_sides,
                        rated: rated && !matches!(opening, Opening::Moves(_)),
                        opening,
                        auto_start,
                        sprt: None,
                        opponents: Opponents {
                            people: private || members,
                            bots: !private,
                            min_rating: swap_sides.then_some(games),
                            max_rating: auto_start.then_some(games + 200),
                        },
                        spectator_delay: Duration::from_millis(pause * 90),
                    };
                    let sprt = Sprt::new(-(pause as f64) / 100.0 - 1.0, 12.5, 0.05, 0.1).ok();
                    if tested && settings.is_paired() { Self { sprt, ..settings } } else { settings }
                },
            )
        }
    }

    fn any_time() -> impl Strategy<Value = TimeControl> {
        let length = || (1_000..86_400_000_u64).prop_map(Duration::from_millis);
        (option::of(length()), option::of((length(), 0..3_600_u64))).prop_map(|(per_move, total)| TimeControl {
            per_move: per_move.or(total.is_none().then_some(TimeControl::DEFAULT_MOVE)),
            total: total.map(|(total, _)| total),
            increment: Duration::from_secs(total.map_or(0, |(_, increment)| increment)),
        })
    }

    fn any_opening() -> impl Strategy<Value = Opening> {
        prop_oneof![
            Just(Opening::Standard),
            Just(Opening::Moves("f5d6c3".parse().expect("moves"))),
            (1..=20_u8, any::<u64>()).prop_map(|(plies, seed)| Opening::Random { plies, seed }),
            any::<u64>().prop_map(|seed| Opening::Balanced { seed }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_field_that_does_not_allow_a_game_is_named() {
        let secs = |seconds| Some(Duration::from_secs(seconds));
        let settings = |per_move, total, rated| Settings {
            time: TimeControl { per_move, total, increment: Duration::ZERO },
            rated,
            ..Settings::named(RoomName::parse("room").unwrap())
        };
        let usual = settings(secs(60), None, false);
        let all = Availability::default();
        let range = |shortest, longest| TimeRange { shortest, longest };
        let blitz = Availability { total: range(secs(60), secs(300)), ..all };
        for (accepted, game, refused_by) in [
            (all, usual.clone(), None),
            (Availability { available: false, people: false, ..all }, usual.clone(), Some("unavailable")),
            (Availability { people: false, ..all }, usual.clone(), Some("kinds")),
            (Availability { bots: false, rated: Some(false), ..all }, usual.clone(), None),
            (Availability { rated: Some(true), ..all }, usual.clone(), Some("rated")),
            (Availability { per_move: range(secs(61), None), ..all }, usual.clone(), Some("shortest_move")),
            (Availability { per_move: range(None, secs(59)), ..all }, usual.clone(), Some("longest_move")),
            (blitz, usual, Some("longest_total")),
            (blitz, settings(None, secs(59), false), Some("shortest_total")),
            (blitz, settings(None, secs(300), true), None),
            (blitz, settings(None, secs(301), true), Some("longest_total")),
        ] {
            assert_eq!(accepted.refused_by(PlayerKind::Human, &game), refused_by, "{accepted:?} {game:?}");
        }
    }

    #[test]
    fn an_increment_is_within_its_bounds_and_zero_without_a_total_time() {
        let secs = Duration::from_secs;
        let game = |total, increment| Settings {
            time: TimeControl { per_move: Some(secs(60)), total, increment },
            ..Settings::named(RoomName::parse("room").unwrap())
        };
        let accepting = |shortest: Option<u64>, longest: Option<u64>| Availability {
            increment: TimeRange { shortest: shortest.map(secs), longest: longest.map(secs) },
            ..Availability::default()
        };
        let (none, two) = (game(None, Duration::ZERO), game(Some(secs(60)), secs(2)));
        for (accepted, game, refused_by) in [
            (accepting(None, None), &two, None),
            (accepting(Some(2), Some(2)), &two, None),
            (accepting(Some(3), None), &two, Some("shortest_increment")),
            (accepting(None, Some(1)), &two, Some("longest_increment")),
            (accepting(None, Some(0)), &two, Some("longest_increment")),
            (accepting(Some(0), Some(0)), &none, None),
            (accepting(Some(1), None), &none, Some("shortest_increment")),
        ] {
            assert_eq!(accepted.refused_by(PlayerKind::Bot, game), refused_by, "{accepted:?} {game:?}");
        }
    }

    #[test]
    fn a_rating_is_within_its_bounds() {
        let accepting = |min_rating, max_rating| Availability { min_rating, max_rating, ..Availability::default() };
        for (accepted, rating, refused_by) in [
            (accepting(None, None), 1_500, None),
            (accepting(Some(1_500), Some(1_500)), 1_500, None),
            (accepting(Some(1_501), None), 1_500, Some("min_rating")),
            (accepting(None, Some(1_499)), 1_500, Some("max_rating")),
            (accepting(None, Some(1_700)), 0, None),
        ] {
            assert_eq!(accepted.rating_refused_by(rating), refused_by, "{accepted:?} {rating}");
            assert_eq!(accepted.bounds_rating(), accepted != Availability::default());
        }
    }
}
