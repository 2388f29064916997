//! The settings of a room on the command line: options of `reversi host`, its commands, and their text.

use std::time::Duration;

use thiserror::Error;

use crate::{
    cli::{connect::terms::parse_opponents, random},
    client::{Opening, Opponents, PlayerKind, Settings, Visibility, Watching},
    match_statistics::Sprt,
    rules::Transcript,
};

/// The settings of a new room.
#[derive(Debug, clap::Args)]
pub(super) struct SettingsOptions {
    /// The room's name; yours if left out.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    room_name: String,
    /// Games in a series.
    #[arg(long, value_name = "N", default_value_t = 1)]
    games: u32,
    /// Limit for a move, 0 for none, which needs a total clock; a minute if left out and there is no total clock.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    move_limit: Option<Duration>,
    /// Clock for all moves of a side together.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    total: Option<Duration>,
    /// Added to that clock after each move.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "total")]
    increment: Option<Duration>,
    /// Pause after each move of an AI, in milliseconds, so that people can follow.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pause: u64,
    /// How games begin: standard, moves as f5d6c3, random:PLIES or balanced, either with or without :SEED.
    #[arg(long, default_value = "standard", value_parser = opening)]
    opening: Opening,
    /// End a series in pairs as soon as a test (SPRT) accepts one of two differences in Elo, such as 0,10.
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Show games to all but their players with this delay in seconds, at most 900.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0")]
    spectator_delay: Duration,
    /// A room that is not listed, and entered by its join code only.
    #[arg(long)]
    private: bool,
    /// Begin a game as soon as both seats are ready.
    #[arg(long)]
    auto_start: bool,
}

impl SettingsOptions {
    pub(super) fn settings(&self) -> Settings {
        Settings {
            name: self.room_name.clone(),
            visibility: if self.private { Visibility::Private } else { Visibility::Public },
            watching: Watching::Unspecified,
            move_limit: self.move_limit,
            total_time: self.total,
            increment: self.increment.unwrap_or_default(),
            ai_pause: Duration::from_millis(self.pause),
            games: self.games,
            swap_sides: None,
            opening: self.opening.clone(),
            auto_start: self.auto_start,
            rated: false,
            sprt: self.sprt,
            opponents: Opponents::default(),
            spectator_delay: self.spectator_delay,
        }
    }
}

/// A command that changes settings.
pub(super) struct SetCommand {
    /// `set`, what it sets, and the syntax of the value.
    pub(super) usage: &'static str,
    pub(super) help: &'static str,
    /// The changed fields of the API.
    fields: &'static [&'static str],
    /// Sets from the word after `set` and the value; `None` if they are wrong.
    read: fn(&mut Settings, &str, &str) -> Option<()>,
}

/// In the order of `help`.
pub(super) const COMMANDS: &[SetCommand] = &[
    SetCommand {
        usage: "set games N",
        help: "play series of N games",
        fields: &["games"],
        read: |settings, _, games| assign(&mut settings.games, games.parse().ok().filter(|&games| games > 0)),
    },
    SetCommand {
        usage: "set pause MS",
        help: "wait after each move of an AI",
        fields: &["ai_pause"],
        read: |settings, _, pause| assign(&mut settings.ai_pause, pause.parse().ok().map(Duration::from_millis)),
    },
    SetCommand {
        usage: "set limit SECONDS",
        help: "the most a move may take; 0 for no limit, where there is a total clock",
        fields: &["move_limit"],
        read: |settings, _, limit| assign(&mut settings.move_limit, seconds(limit).ok().map(Some)),
    },
    SetCommand {
        usage: "set total SECONDS [INCREMENT]",
        help: "a clock for all moves of a side; 0 for none",
        fields: &["total_time", "increment"],
        read: |settings, _, clock| {
            let (total, increment) = split(clock);
            let increment = if increment.is_empty() { Some(Duration::ZERO) } else { seconds(increment).ok() };
            assign(&mut settings.total_time, seconds(total).ok().map(Some))?;
            assign(&mut settings.increment, increment)
        },
    },
    SetCommand {
        usage: "set opening OPENING",
        help: "standard, moves as f5d6c3, random:PLIES[:SEED], or balanced[:SEED]",
        fields: &["opening"],
        read: |settings, _, text| assign(&mut settings.opening, opening(text).ok()),
    },
    SetCommand {
        usage: "set sprt ELO0,ELO1",
        help: "end a series in pairs once one difference is accepted; off for never",
        fields: &["sprt"],
        read: |settings, _, sprt| {
            assign(&mut settings.sprt, if sprt == "off" { Some(None) } else { sprt.parse().ok().map(Some) })
        },
    },
    SetCommand {
        usage: "set auto-start on|off",
        help: "begin as soon as both seats are ready",
        fields: &["auto_start"],
        read: |settings, _, value| assign(&mut settings.auto_start, one_of(value, "on", "off")),
    },
    SetCommand {
        usage: "set rated yes|no",
        help: "whether games count for ratings; not with moves as the opening",
        fields: &["rated"],
        read: |settings, _, value| assign(&mut settings.rated, one_of(value, "yes", "no")),
    },
    SetCommand {
        usage: "set opponents KIND [MIN-MAX]",
        help: "the players who may take an open seat: people, bots or all",
        fields: &["opponents"],
        read: |settings, _, value| {
            let (kind, range) = split(value);
            assign(&mut settings.opponents, parse_opponents(kind, range))
        },
    },
    SetCommand {
        usage: "set delay SECONDS",
        help: "show games to all but their players with this delay, at most 900; 0 for none",
        fields: &["spectator_delay"],
        read: |settings, _, delay| assign(&mut settings.spectator_delay, seconds(delay).ok()),
    },
    SetCommand {
        usage: "set private|public",
        help: "whether the room is listed",
        fields: &["visibility"],
        read: |settings, word, value| {
            let private = one_of(word, "private", "public").filter(|_| value.is_empty());
            let visibility = |private| if private { Visibility::Private } else { Visibility::Public };
            assign(&mut settings.visibility, private.map(visibility))
        },
    },
    SetCommand {
        usage: "set name TEXT",
        help: "the name of the room",
        fields: &["name"],
        read: |settings, _, name| assign(&mut settings.name, (!name.is_empty()).then(|| name.to_owned())),
    },
];

/// Parses what follows `set`; returns settings with the new values, and the names of their fields in the API.
pub(super) fn parse(text: &str) -> Option<(Settings, &'static [&'static str])> {
    let (word, value) = split(text);
    let word = word.to_lowercase();
    let words = |command: &SetCommand| command.usage.split(' ').nth(1).unwrap_or_default().split('|');
    let command = COMMANDS.iter().find(|command| words(command).any(|it| it == word))?;
    let mut settings = Settings::default();
    (command.read)(&mut settings, &word, value)?;
    Some((settings, command.fields))
}

fn assign<T>(setting: &mut T, value: Option<T>) -> Option<()> {
    *setting = value?;
    Some(())
}

fn one_of(text: &str, yes: &str, no: &str) -> Option<bool> {
    (text == yes || text == no).then_some(text == yes)
}

/// Settings as text for the room's host.
pub(in crate::cli) fn describe(settings: &Settings, has_password: bool) -> String {
    let Settings {
        name,
        visibility,
        watching: _,
        move_limit,
        total_time,
        increment,
        ai_pause,
        games,
        swap_sides: _,
        opening,
        auto_start,
        rated,
        sprt,
        opponents,
        spectator_delay,
    } = settings;
    let mut parts = vec![format!("\"{name}\"")];
    parts.push(if *visibility == Visibility::Private { "private".into() } else { "public".into() });
    if has_password {
        parts.push("with a password".into());
    }
    parts.push(match games {
        0 | 1 => "one game at a time".into(),
        games => format!("series of {games} games"),
    });
    let given = |time: &Option<Duration>| time.filter(|time| !time.is_zero());
    match (given(move_limit), given(total_time)) {
        (None, None) => parts.push("no clock".into()),
        (limit, total) => {
            parts.extend(limit.map(|limit| format!("{} s for a move", limit.as_secs_f64())));
            let increment = increment.as_secs_f64();
            parts.extend(total.map(|total| format!("{} s + {increment} s a move for a side", total.as_secs_f64())));
        }
    }
    if !ai_pause.is_zero() {
        parts.push(format!("{} ms after an AI's move", ai_pause.as_millis()));
    }
    match opening {
        Opening::Standard => {}
        Opening::Moves(moves) => parts.push(format!("from {moves}")),
        Opening::Random { plies, .. } => parts.push(format!("from {plies} random plies")),
        Opening::Balanced { .. } => parts.push("from even openings".into()),
    }
    if let Some(sprt) = sprt {
        parts.push(format!("until {:+} or {:+} Elo is accepted", sprt.elo0(), sprt.elo1()));
    }
    if *auto_start {
        parts.push("begins by itself".into());
    }
    if *rated {
        parts.push("rated".into());
    }
    if !spectator_delay.is_zero() {
        parts.push(format!("shown to spectators {} s later", spectator_delay.as_secs_f64()));
    }
    match opponents.kinds.as_slice() {
        [PlayerKind::Human] => parts.push("for people".into()),
        [PlayerKind::Bot] => parts.push("for bots".into()),
        _ => {}
    }
    match (opponents.min_rating, opponents.max_rating) {
        (0, 0) => {}
        (0, max) => parts.push(format!("for ratings up to {max}")),
        (min, 0) => parts.push(format!("for ratings from {min}")),
        (min, max) => parts.push(format!("for ratings from {min} to {max}")),
    }
    parts.join(", ")
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "an opening is `standard`, legal moves from the start as `f5d6c3`, or `random:PLIES` or `balanced`, either with or without `:SEED`"
)]
struct ParseOpeningError;

/// Parses an opening; one without its seed gets a random one.
fn opening(text: &str) -> Result<Opening, ParseOpeningError> {
    seeded_opening(text, random::random())
}

fn seeded_opening(text: &str, seed: u64) -> Result<Opening, ParseOpeningError> {
    let mut parts = text.split(':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("standard"), None, ..) => Ok(Opening::Standard),
        (Some("balanced"), given, None, None) => {
            let seed = given.map_or(Ok(seed), str::parse).map_err(|_| ParseOpeningError)?;
            Ok(Opening::Balanced { seed })
        }
        (Some("random"), Some(plies), given, None) => {
            let seed = given.map_or(Ok(seed), str::parse).map_err(|_| ParseOpeningError)?;
            Ok(Opening::Random { plies: plies.parse().map_err(|_| ParseOpeningError)?, seed })
        }
        (Some(moves), None, ..) => {
            let moves: Transcript = moves.parse().map_err(|_| ParseOpeningError)?;
            if moves.squares().is_empty() { Err(ParseOpeningError) } else { Ok(Opening::Moves(moves.to_string())) }
        }
        _ => Err(ParseOpeningError),
    }
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a time is in seconds, as `30` or `0.5`")]
struct ParseSecondsError;

/// Parses a time in seconds, with or without decimals.
fn seconds(text: &str) -> Result<Duration, ParseSecondsError> {
    let number: f64 = text.parse().map_err(|_| ParseSecondsError)?;
    Duration::try_from_secs_f64(number).map_err(|_| ParseSecondsError)
}

/// The first word, and the trimmed rest.
pub(super) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost_reflect::{DescriptorPool, FieldDescriptor};

    use super::*;
    use crate::proto::DESCRIPTORS;

    #[test]
    fn settings_are_changed_one_at_a_time() {
        let change = |text: &str| parse(text).unwrap_or_else(|| panic!("{text}"));
        let base = Settings::default;
        assert_eq!(change("games 3"), (Settings { games: 3, ..base() }, &["games"][..]));
        let pause = Duration::from_millis(250);
        assert_eq!(change("pause 250"), (Settings { ai_pause: pause, ..base() }, &["ai_pause"][..]));
        let limit = Some(Duration::from_millis(500));
        assert_eq!(change("limit 0.5"), (Settings { move_limit: limit, ..base() }, &["move_limit"][..]));
        let total_time = Some(Duration::from_secs(300));
        assert_eq!(
            change("total 300 2"),
            (Settings { total_time, increment: Duration::from_secs(2), ..base() }, &["total_time", "increment"][..])
        );
        assert_eq!(change("name Sunday Cup").0.name, "Sunday Cup");
        assert_eq!(change("private"), (Settings { visibility: Visibility::Private, ..base() }, &["visibility"][..]));
        assert_eq!(change("PUBLIC").0.visibility, Visibility::Public);
        assert_eq!(change("auto-start on"), (Settings { auto_start: true, ..base() }, &["auto_start"][..]));
        assert_eq!(change("auto-start off"), (base(), &["auto_start"][..]));
        assert_eq!(change("sprt 0,10"), (Settings { sprt: "0,10".parse().ok(), ..base() }, &["sprt"][..]));
        assert_eq!(change("sprt off"), (base(), &["sprt"][..]));
        let spectator_delay = Duration::from_secs(90);
        assert_eq!(change("delay 90"), (Settings { spectator_delay, ..base() }, &["spectator_delay"][..]));
        assert_eq!(change("rated yes"), (Settings { rated: true, ..base() }, &["rated"][..]));
        let strong_bots = Opponents { kinds: vec![PlayerKind::Bot], min_rating: 1_500, max_rating: 0 };
        assert_eq!(change("opponents bots 1500-").0.opponents, strong_bots);
        assert_eq!(change("opponents all"), (base(), &["opponents"][..]));
        assert_eq!(change("opening f5d6").0.opening, Opening::Moves("f5d6".into()));
        for text in ["", "games 0", "limit -1", "limit NaN", "name", "colour red", "auto-start yes", "private room"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_setting_has_a_command() {
        let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
        let message = pool.get_message_by_name("reversi.v1.RoomSettings").unwrap();
        // Two have none.
        let set = COMMANDS.iter().flat_map(|command| command.fields).copied().chain(["watching", "swap_sides"]);
        let fields: Vec<_> = message.fields().collect();
        assert_eq!(BTreeSet::from_iter(set), fields.iter().map(FieldDescriptor::name).collect());
    }

    #[test]
    fn openings_are_read() {
        let opening = |text| seeded_opening(text, 7);
        assert_eq!(opening("standard"), Ok(Opening::Standard));
        assert_eq!(opening("F5d6C3"), Ok(Opening::Moves("f5d6c3".into())));
        assert_eq!(opening("balanced"), Ok(Opening::Balanced { seed: 7 }));
        assert_eq!(opening("balanced:11"), Ok(Opening::Balanced { seed: 11 }));
        assert_eq!(opening("balanced:1:2"), Err(ParseOpeningError));
        assert_eq!(opening("random:6"), Ok(Opening::Random { plies: 6, seed: 7 }));
        assert_eq!(opening("random:6:11"), Ok(Opening::Random { plies: 6, seed: 11 }));
        for text in ["", "a1", "f5 f5", "random", "random:x", "random:6:x", "random:6:1:1", "standard:1"] {
            assert_eq!(opening(text), Err(ParseOpeningError), "{text:?}");
        }
    }
}
