//! The settings of a tournament.

use std::time::Duration;

use reversi_engine::match_statistics::Sprt;
use reversi_room::{
    AiSeat, Opponents, Participant, PasswordHash, PlayerId, RoomName, Settings as RoomSettings, SettingsError,
    Timestamp,
};

/// How the entrants are paired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Each meets each other.
    AllPlayAll {
        /// How often; 1 to [`Settings::MAX_CYCLES`].
        cycles: u8,
        /// If there are any, each of them meets each other entrant, and nobody else meets: a gauntlet. At most
        /// [`Settings::MAX_CHALLENGERS`].
        challengers: Vec<PlayerId>,
    },
    /// In each round entrants with nearly the same points meet.
    Swiss {
        /// 1 to [`Settings::MAX_ROUNDS`]; 0 if there is only a play-off. If at [`Settings::starts_at`] there are too few
        /// entrants for so many, they are as many as there can be.
        rounds: u8,
    },
    /// Whoever is free is paired, until the end.
    Arena {
        /// Zero for a pool, which has no end.
        duration: Duration,
    },
}

/// The number of entrants in the play-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Playoff {
    /// A final.
    Two,
    /// Two rounds.
    Four,
    /// Three rounds.
    Eight,
}

impl Playoff {
    /// As a number.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The play-off with this number of entrants; none for a number other than 2, 4 and 8.
    #[must_use]
    pub const fn of_size(size: u32) -> Option<Self> {
        match size {
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }
}

/// The settings of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The tournament's name.
    pub name: RoomName,
    /// How the entrants are paired.
    pub format: Format,
    /// A knockout of the best after the format's rounds.
    pub playoff: Option<Playoff>,
    /// The settings of each room: a meeting is one series there.
    pub game: RoomSettings,
    /// The players who may join.
    pub admits: Opponents,
    /// Needed to join; `None` for no password.
    pub password: Option<PasswordHash>,
    /// The highest number of entrants at a time.
    pub max_entrants: u16,
    /// The highest number of meetings that are played at a time.
    pub max_running: u16,
    /// When it starts at the latest; `None` for when the organiser starts it.
    pub starts_at: Option<Timestamp>,
    /// After this time an entrant who has not come to its meeting forfeits it.
    pub no_show: Duration,
    /// Takes the place of the bye in a Swiss tournament.
    pub fills_bye: Option<AiSeat>,
    /// Ends the meetings of each challenger of a gauntlet once it accepts one of its two differences in strength, over the
    /// pairs of games that the challenger has played with all others.
    pub sprt: Option<Sprt>,
    /// Decides lots, and the openings.
    pub seed: u64,
}

impl Settings {
    /// Maximum number of entrants.
    pub const MAX_ENTRANTS: u16 = 1000;
    /// Maximum number of rounds of a Swiss tournament.
    pub const MAX_ROUNDS: u8 = 99;
    /// Maximum number of cycles.
    pub const MAX_CYCLES: u8 = 100;
    /// Maximum number of challengers.
    pub const MAX_CHALLENGERS: usize = 16;
    /// Maximum duration of an arena that has an end.
    pub const MAX_DURATION: Duration = Duration::from_secs(31 * 24 * 60 * 60);
    /// Default time to come to a meeting.
    pub const NO_SHOW: Duration = Duration::from_secs(60);

    /// Default settings with a name and a format, for two games a meeting with these settings.
    #[must_use]
    pub fn new(name: RoomName, format: Format, game: RoomSettings) -> Self {
        Self {
            name,
            format,
            playoff: None,
            game: RoomSettings { games: 2, ..game },
            admits: Opponents::default(),
            password: None,
            max_entrants: 128,
            max_running: 64,
            starts_at: None,
            no_show: Self::NO_SHOW,
            fills_bye: None,
            sprt: None,
            seed: 0,
        }
    }

    /// Checks every bound.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong = |field, problem| Err(SettingsError { field, problem });
        match &self.format {
            Format::AllPlayAll { cycles, challengers } => {
                if !(1..=Self::MAX_CYCLES).contains(cycles) {
                    return wrong("all_play_all.cycles", "must be 1 to 100");
                }
                if challengers.len() > Self::MAX_CHALLENGERS {
                    return wrong("all_play_all.challengers", "must be at most 16");
                }
            }
            Format::Swiss { rounds: 0 } if self.playoff.is_some() => {}
            Format::Swiss { rounds: 1..=Self::MAX_ROUNDS } => {}
            Format::Swiss { .. } => return wrong("swiss.rounds", "must be 1 to 99, or 0 with a playoff"),
            Format::Arena { duration } if *duration > Self::MAX_DURATION => {
                return wrong("arena.duration", "must be more than 0 and at most 31 days");
            }
            Format::Arena { .. } if self.playoff.is_some() => return wrong("playoff", "cannot follow an arena"),
            Format::Arena { .. } => {}
        }
        if self.fills_bye.is_some() && !matches!(self.format, Format::Swiss { .. }) {
            return wrong("fills_bye", "is for Swiss tournaments");
        }
        if self.sprt.is_some() && !(self.is_gauntlet() && self.game.is_paired()) {
            return wrong("sprt", "needs challengers, and games in pairs");
        }
        if !(2..=Self::MAX_ENTRANTS).contains(&self.max_entrants) {
            return wrong("max_entrants", "must be 2 to 1000");
        }
        if !(1..=Self::MAX_ENTRANTS / 2).contains(&self.max_running) {
            return wrong("max_running", "must be 1 to 500");
        }
        if !(Duration::from_secs(10)..=Duration::from_secs(24 * 60 * 60)).contains(&self.no_show) {
            return wrong("no_show", "must be 10 s to 1 day");
        }
        let Opponents { people, bots, min_rating, max_rating } = self.admits;
        if !people && !bots {
            return wrong("admits.kinds", "must name a kind of players");
        }
        if min_rating.zip(max_rating).is_some_and(|(min, max)| min > max) {
            return wrong("admits.max_rating", "must not be below min_rating");
        }
        self.game.check_new()
    }

    /// Whether it is an arena without an end.
    #[must_use]
    pub fn is_pool(&self) -> bool {
        self.format == Format::Arena { duration: Duration::ZERO }
    }

    /// Whether it is an all-play-all of challengers against the others.
    pub(crate) fn is_gauntlet(&self) -> bool {
        matches!(&self.format, Format::AllPlayAll { challengers, .. } if !challengers.is_empty())
    }

    /// Whether this is the AI that takes the place of the bye.
    pub(crate) fn is_filler(&self, who: &Participant) -> bool {
        self.fills_bye.as_ref().is_some_and(|ai| who.is_same(&Participant::Ai(ai.clone())))
    }

    /// Whether a player is a challenger.
    #[must_use]
    pub fn is_challenger(&self, who: &Participant) -> bool {
        match &self.format {
            Format::AllPlayAll { challengers, .. } => challengers.iter().any(|player| who.is(*player)),
            Format::Swiss { .. } | Format::Arena { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_field_out_of_bounds_is_named() {
        let name = RoomName::parse("Weekend").unwrap();
        let of = |format| Settings::new(name.clone(), format, RoomSettings::named(name.clone()));
        let swiss = || of(Format::Swiss { rounds: 5 });
        let all_play_all =
            |cycles, count| of(Format::AllPlayAll { cycles, challengers: vec![PlayerId::from_random(1); count] });
        let arena = |seconds| of(Format::Arena { duration: Duration::from_secs(seconds) });
        let admits = |min, max| Opponents { min_rating: Some(min), max_rating: Some(max), ..Opponents::default() };
        let filler = || Some(AiSeat { kind: "roxanne".into(), level: 1, seed: 7 });
        let playoff = Some(Playoff::Two);
        let game = |games| RoomSettings { games, ..RoomSettings::named(name.clone()) };
        for (settings, field) in [
            (all_play_all(0, 0), Some("all_play_all.cycles")),
            (all_play_all(101, 0), Some("all_play_all.cycles")),
            (all_play_all(100, 16), None),
            (all_play_all(1, 17), Some("all_play_all.challengers")),
            (of(Format::Swiss { rounds: 0 }), Some("swiss.rounds")),
            (Settings { playoff, ..of(Format::Swiss { rounds: 0 }) }, None),
            (of(Format::Swiss { rounds: 100 }), Some("swiss.rounds")),
            (arena(31 * 24 * 3600), None),
            (arena(31 * 24 * 3600 + 1), Some("arena.duration")),
            (Settings { playoff, ..arena(0) }, Some("playoff")),
            (Settings { fills_bye: filler(), ..arena(0) }, Some("fills_bye")),
            (Settings { fills_bye: filler(), ..swiss() }, None),
            (Settings { max_entrants: 1, ..swiss() }, Some("max_entrants")),
            (Settings { max_entrants: 1001, ..swiss() }, Some("max_entrants")),
            (Settings { max_running: 0, ..swiss() }, Some("max_running")),
            (Settings { max_running: 501, ..swiss() }, Some("max_running")),
            (Settings { no_show: Duration::from_secs(9), ..swiss() }, Some("no_show")),
            (Settings { no_show: Duration::from_secs(24 * 3600 + 1), ..swiss() }, Some("no_show")),
            (
                Settings { admits: Opponents { people: false, bots: false, ..admits(1, 2) }, ..swiss() },
                Some("admits.kinds"),
            ),
            (Settings { admits: admits(1500, 1500), ..swiss() }, None),
            (Settings { admits: admits(1501, 1500), ..swiss() }, Some("admits.max_rating")),
            (Settings { game: game(0), ..swiss() }, Some("games")),
        ] {
            assert_eq!(settings.check().err().map(|error| error.field), field, "{settings:?}");
        }
    }
}
