//! The terms of a new game on the command line: its clock, whether it is rated, and who is welcome.

use std::{fmt, str::FromStr, time::Duration};

use clap::ValueEnum as _;

use crate::client::{Availability, Invited, Opponents, PlayerKind, Settings};

/// Without an option the server's defaults: a minute for each move, unrated, all opponents.
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct Terms {
    #[command(flatten)]
    game: GameTerms,
    /// The welcome opponents.
    #[arg(long, value_name = "KIND", default_value = "all", hide_default_value = true)]
    against: Kind,
    /// Welcome only opponents with a rating in this range, as 1400-1700; one of the two may be left out.
    #[arg(long, value_name = "MIN-MAX")]
    rating: Option<Range>,
}

/// The terms of a game with a known opponent.
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct GameTerms {
    /// The time of a side for all its moves, in seconds, and what each move adds, as 60+1; a minute for each move if left out.
    #[arg(long, value_name = "SECONDS+INCREMENT")]
    clock: Option<TotalTime>,
    /// Count the game for ratings.
    #[arg(long)]
    rated: bool,
}

impl GameTerms {
    /// The settings of a room with these terms.
    pub(in crate::cli) fn settings(&self) -> Settings {
        Settings {
            total_time: self.clock.map(|clock| clock.total),
            increment: self.clock.map(|clock| clock.increment).unwrap_or_default(),
            rated: self.rated,
            ..Settings::default()
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Kind {
    #[default]
    All,
    People,
    Bots,
}

impl Terms {
    /// Whether one of the options was given.
    pub(in crate::cli) fn are_given(&self) -> bool {
        self.game.clock.is_some() || self.game.rated || self.against != Kind::All || self.rating.is_some()
    }

    /// The settings of a room with these terms.
    pub(in crate::cli) fn settings(&self) -> Settings {
        Settings { opponents: opponents(self.against, self.rating.unwrap_or_default()), ..self.game.settings() }
    }

    /// The invitations that these terms allow.
    pub(in crate::cli) fn availability(&self) -> Availability {
        let (total, increment) = self.game.clock.map(|clock| (clock.total, clock.increment)).unzip();
        let Opponents { kinds, min_rating, max_rating } = opponents(self.against, self.rating.unwrap_or_default());
        Availability {
            kinds,
            rated: self.game.rated.then_some(true),
            total: (total, total),
            increment: (increment, increment),
            min_rating,
            max_rating,
            ..Availability::default()
        }
    }

    /// Why these terms do not allow an invitation, for the player who invites. A server of an earlier version does not
    /// check all of them.
    pub(in crate::cli) fn refusal(&self, invited: &Invited) -> Option<String> {
        if let Some(why) = self.refuses(&invited.settings.clone().unwrap_or_default()) {
            return Some(why);
        }
        let kind = invited.by.as_ref().map(|by| by.kind);
        match self.against {
            Kind::People if kind == Some(PlayerKind::Bot) => return Some("I play against people only".into()),
            Kind::Bots if kind == Some(PlayerKind::Human) => return Some("I play against bots only".into()),
            Kind::All | Kind::People | Kind::Bots => {}
        }
        let rating = if invited.by_rating == 0 { FIRST_RATING } else { invited.by_rating };
        let Range { min, max } = self.rating?;
        let accepted = rating >= min && (max == 0 || rating <= max);
        (!accepted).then(|| "your rating is not in my range".into())
    }

    /// Why these terms do not allow a game with the settings of a room.
    pub(in crate::cli) fn refuses(&self, settings: &Settings) -> Option<String> {
        if let Some(clock) = self.game.clock
            && (settings.total_time, settings.increment) != (Some(clock.total), clock.increment)
        {
            return Some(format!("I play with the clock {clock}"));
        }
        if self.game.rated && !settings.rated {
            return Some("I play rated games only".into());
        }
        None
    }
}

/// The interval at which a player who waits for any opponent asks again, as another player may have been away for a moment:
/// ten seconds, or the wait in seconds after which an AI of the server is welcome, if that is shorter.
pub(in crate::cli) fn seek_interval(house: Option<u16>) -> Duration {
    // Half a second more, as the server counts from the creation of the room.
    let house = house.map(|seconds| Duration::from_secs(seconds.into()) + Duration::from_millis(500));
    house.unwrap_or(SEEK_AGAIN).min(SEEK_AGAIN)
}

const SEEK_AGAIN: Duration = Duration::from_secs(10);

/// The rating that counts for a player without one, as on the server.
const FIRST_RATING: u32 = 1_500;

fn opponents(kind: Kind, Range { min, max }: Range) -> Opponents {
    let kinds = match kind {
        Kind::All => Vec::new(),
        Kind::People => vec![PlayerKind::Human],
        Kind::Bots => vec![PlayerKind::Bot],
    };
    Opponents { kinds, min_rating: min, max_rating: max }
}

/// Parses a kind, as `bots`, with or without a range of ratings after it.
pub(in crate::cli) fn parse_opponents(kind: &str, range: &str) -> Option<Opponents> {
    let range = if range.is_empty() { Range::default() } else { range.parse().ok()? };
    Some(opponents(Kind::from_str(kind, true).ok()?, range))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct TotalTime {
    pub(in crate::cli) total: Duration,
    pub(in crate::cli) increment: Duration,
}

/// As it is parsed.
impl fmt::Display for TotalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.total.as_secs_f64(), self.increment.as_secs_f64())
    }
}

impl FromStr for TotalTime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (total, increment) = text.split_once('+').unwrap_or((text, "0"));
        let read = |seconds: &str| seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let (total, increment) = read(total).filter(|total| !total.is_zero()).zip(read(increment)).ok_or(
            "a clock is a number of seconds for a side, with or without the seconds that each move adds, as 60+1 or 300",
        )?;
        Ok(Self { total, increment })
    }
}

/// 0 stands for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    min: u32,
    max: u32,
}

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |bound: &str| if bound.is_empty() { Some(0) } else { bound.parse::<u32>().ok() };
        let (min, max) = text.split_once('-').and_then(|(min, max)| read(min).zip(read(max))).unwrap_or_default();
        if (min, max) == (0, 0) || max != 0 && max < min {
            return Err("a range of ratings is two numbers, as 1400-1700, or one of them, as 1400- or -1700");
        }
        Ok(Self { min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Color;

    #[test]
    fn clocks_and_ranges_are_read_or_refused_with_an_example() {
        let clock = |total, increment| TotalTime {
            total: Duration::from_secs(total),
            increment: Duration::from_millis(increment),
        };
        for (text, expected) in [("60+1", clock(60, 1_000)), ("300", clock(300, 0)), ("5+0.5", clock(5, 500))] {
            assert_eq!((text.parse(), expected.to_string().parse()), (Ok(expected), Ok(expected)), "{text}");
        }
        for text in ["", "+1", "0+1", "60+", "60+x", "-60", "inf", "60+1+1"] {
            assert!(text.parse::<TotalTime>().unwrap_err().contains("as 60+1"), "{text}");
        }
        let ranges = [("1400-1700", (1_400, 1_700)), ("1400-", (1_400, 0)), ("-1700", (0, 1_700))];
        for (text, (min, max)) in ranges {
            assert_eq!(text.parse(), Ok(Range { min, max }), "{text}");
        }
        for text in ["", "-", "1700", "1700-1400", "a-b", "1-2-3", "0-0"] {
            assert!(text.parse::<Range>().unwrap_err().contains("as 1400-1700"), "{text}");
        }
    }

    #[test]
    fn terms_refuse_what_the_server_is_told_not_to_accept() {
        let secs = Duration::from_secs;
        let terms = Terms {
            game: GameTerms { clock: Some("60+1".parse().unwrap()), rated: true },
            against: Kind::People,
            rating: Some("1400-1700".parse().unwrap()),
        };
        let expected = Availability {
            kinds: vec![PlayerKind::Human],
            rated: Some(true),
            total: (Some(secs(60)), Some(secs(60))),
            increment: (Some(secs(1)), Some(secs(1))),
            min_rating: 1_400,
            max_rating: 1_700,
            ..Availability::default()
        };
        assert_eq!(terms.availability(), expected);
        assert_eq!(Terms::default().availability(), Availability::default());
        let invited = |by_rating, change: fn(&mut Settings)| {
            let mut settings = terms.settings();
            change(&mut settings);
            Invited {
                room: "7k2m9x4q1c0d".parse().unwrap(),
                side: Color::Black,
                join_code: String::new(),
                by: None,
                by_rating,
                expires_at: None,
                settings: Some(settings),
            }
        };
        for (invited, why) in [
            (invited(1_400, |_| ()), None),
            (invited(0, |_| ()), None),
            (invited(1_399, |_| ()), Some("your rating is not in my range")),
            (invited(1_701, |_| ()), Some("your rating is not in my range")),
            (invited(1_400, |settings| settings.rated = false), Some("I play rated games only")),
            (invited(1_400, |settings| settings.increment *= 2), Some("I play with the clock 60+1")),
        ] {
            assert_eq!(terms.refusal(&invited).as_deref(), why, "{invited:?}");
        }
    }
}
