//! Parses a host's commands and options. The server checks whether they are allowed.

use std::{str::FromStr, time::Duration};

use thiserror::Error;

use crate::{
    cli::random,
    client::{Ai, Opening, Settings, Visibility},
    rating::Sprt,
    rules::{Color, Square, Transcript},
};

/// Syntax and help of each command.
pub(super) const COMMANDS: [(&str, &str); 30] = [
    ("start", "begin a game or series, once both seats are filled and ready"),
    ("seat SIDE open", "open a seat; a player in it must be kicked first"),
    ("seat SIDE KIND[:LEVEL]", "give it to an AI, as `seat white mcts:3`"),
    ("seat SIDE for NAME", "keep it for a member"),
    ("seat SIDE me", "sit there yourself"),
    ("swap", "swap sides"),
    ("kick NAME", "remove a member"),
    ("ban NAME", "remove a member permanently"),
    ("transfer NAME", "make another member the owner"),
    (
        "abort",
        "end the running game without a winner: as its player until both sides have moved, of rated games three in 24 \
         hours; as the owner while no person is seated, a rated one if you do not play",
    ),
    ("end-series", "play no more games after the running one"),
    ("set games N", "play series of N games"),
    ("set pause MS", "wait after each move of an AI"),
    ("set limit SECONDS", "the most a move may take; 0 for no limit"),
    ("set total SECONDS [INCREMENT]", "a clock for all moves of a side; 0 for none"),
    ("set opening OPENING", "standard, moves as f5d6c3, random:PLIES[:SEED], or balanced[:SEED]"),
    ("set sprt ELO0,ELO1", "end a series in pairs once one difference is accepted; off for never"),
    ("set auto-start on|off", "begin as soon as both seats are ready"),
    ("set rated yes|no", "whether games count for ratings; not with moves as the opening"),
    ("set private|public", "whether the room is listed"),
    ("set name TEXT", "the name of the room"),
    ("set password [TEXT]", "password for joining; empty for none"),
    ("ready", "in a seat of your own: be ready for a game that others start"),
    ("move SQUARE", "in a seat of your own: play on this square; also the square alone, as `d3`"),
    ("resign", "in a seat of your own: give up the game"),
    ("say TEXT", "talk to the room"),
    ("who", "who sits, who is here, and the settings"),
    ("help", "this list"),
    ("close", "close the room and end"),
    ("leave", "leave the room, which another member then owns, and end"),
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum HostCommand {
    Start,
    Seat(Color, SeatChoice),
    Reserve(Color, String),
    Swap,
    Kick { name: String, ban: bool },
    Transfer(String),
    Abort,
    EndSeries,
    Set(SettingChange),
    Say(String),
    Ready,
    Move(Square),
    Resign,
    Who,
    Help,
    Close,
    Leave,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum ParseHostCommandError {
    #[error("unknown command `{0}`; `help` lists the commands")]
    Unknown(String),
    /// A known command with wrong arguments; has its syntax.
    #[error("usage: {0}")]
    Usage(String),
}

impl FromStr for HostCommand {
    type Err = ParseHostCommandError;

    fn from_str(line: &str) -> Result<Self, ParseHostCommandError> {
        let (word, rest) = split(line);
        let word = word.to_lowercase();
        parse(&word, rest).ok_or_else(|| {
            let usages = COMMANDS.iter().map(|(usage, _)| *usage).filter(|usage| split(usage).0 == word);
            match usages.collect::<Vec<_>>() {
                usages if usages.is_empty() => ParseHostCommandError::Unknown(word.clone()),
                usages => ParseHostCommandError::Usage(usages.join(", or ")),
            }
        })
    }
}

fn parse(word: &str, rest: &str) -> Option<HostCommand> {
    let name = || rest.to_owned();
    Some(match (word, rest) {
        ("start", "") => HostCommand::Start,
        ("swap", "") => HostCommand::Swap,
        ("abort", "") => HostCommand::Abort,
        ("end-series", "") => HostCommand::EndSeries,
        ("ready", "") => HostCommand::Ready,
        ("resign", "") => HostCommand::Resign,
        ("who", "") => HostCommand::Who,
        ("help" | "?", "") => HostCommand::Help,
        ("close", "") => HostCommand::Close,
        ("leave" | "quit" | "q" | "exit", "") => HostCommand::Leave,
        ("kick" | "ban" | "transfer" | "say", "") => return None,
        ("kick", _) => HostCommand::Kick { name: name(), ban: false },
        ("ban", _) => HostCommand::Kick { name: name(), ban: true },
        ("transfer", _) => HostCommand::Transfer(name()),
        ("say", _) => HostCommand::Say(name()),
        ("move", square) => HostCommand::Move(square.parse().ok()?),
        ("set", change) => HostCommand::Set(parse_change(change)?),
        ("seat", arguments) => {
            let (side, occupant) = split(arguments);
            let side = side.parse().ok()?;
            match split(occupant) {
                ("for", name) if !name.is_empty() => HostCommand::Reserve(side, name.to_owned()),
                _ => HostCommand::Seat(side, occupant.parse().ok()?),
            }
        }
        (square, "") => HostCommand::Move(square.parse().ok()?),
        _ => return None,
    })
}

/// The requested occupant of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SeatChoice {
    Open,
    Me,
    Ai(Ai),
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a seat is `open`, `me`, or a kind of AI with or without its level, as `mcts` or `mcts:3`")]
pub(super) struct ParseSeatError;

impl FromStr for SeatChoice {
    type Err = ParseSeatError;

    fn from_str(text: &str) -> Result<Self, ParseSeatError> {
        let (kind, level) = match text.split_once(':') {
            Some((kind, level)) => (kind, level.parse().ok().filter(|&level| level > 0).ok_or(ParseSeatError)?),
            None => (text, 0),
        };
        match kind.to_lowercase().as_str() {
            "open" if level == 0 => Ok(Self::Open),
            "me" if level == 0 => Ok(Self::Me),
            "open" | "me" | "for" | "" => Err(ParseSeatError),
            kind if kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => {
                Ok(Self::Ai(Ai::new(kind).level(level)))
            }
            _ => Err(ParseSeatError),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingChange {
    Games(u32),
    Pause(Duration),
    /// The time limit of a move; zero for none.
    Limit(Duration),
    /// The total clock of a side, zero for none, and its increment per move.
    Total(Duration, Duration),
    Opening(Opening),
    AutoStart(bool),
    Rated(bool),
    Sprt(Option<Sprt>),
    Visibility(Visibility),
    Name(String),
    /// Needed to join; empty for none.
    Password(String),
}

impl SettingChange {
    /// Makes the change; returns the names of the changed API fields. The password is not a field of the settings.
    pub(super) fn apply(self, settings: &mut Settings) -> &'static [&'static str] {
        match self {
            Self::Games(games) => assign(&mut settings.games, games, &["games"]),
            Self::Pause(pause) => assign(&mut settings.ai_pause, pause, &["ai_pause"]),
            Self::Limit(limit) => assign(&mut settings.move_limit, Some(limit), &["move_limit"]),
            Self::Total(total, increment) => {
                settings.increment = increment;
                assign(&mut settings.total_time, Some(total), &["total_time", "increment"])
            }
            Self::Opening(opening) => assign(&mut settings.opening, opening, &["opening"]),
            Self::AutoStart(auto_start) => assign(&mut settings.auto_start, auto_start, &["auto_start"]),
            Self::Rated(rated) => assign(&mut settings.rated, rated, &["rated"]),
            Self::Sprt(sprt) => assign(&mut settings.sprt, sprt, &["sprt"]),
            Self::Visibility(visibility) => assign(&mut settings.visibility, visibility, &["visibility"]),
            Self::Name(name) => assign(&mut settings.name, name, &["name"]),
            Self::Password(_) => &[],
        }
    }
}

fn assign<T>(setting: &mut T, value: T, fields: &'static [&'static str]) -> &'static [&'static str] {
    *setting = value;
    fields
}

fn parse_change(text: &str) -> Option<SettingChange> {
    let (what, value) = split(text);
    Some(match (what.to_lowercase().as_str(), value) {
        ("games", games) => SettingChange::Games(games.parse().ok().filter(|&games| games > 0)?),
        ("pause", pause) => SettingChange::Pause(Duration::from_millis(pause.parse().ok()?)),
        ("limit", limit) => SettingChange::Limit(seconds(limit).ok()?),
        ("total", clock) => {
            let (total, increment) = split(clock);
            let increment = if increment.is_empty() { Duration::ZERO } else { seconds(increment).ok()? };
            SettingChange::Total(seconds(total).ok()?, increment)
        }
        ("opening", text) => SettingChange::Opening(opening(text, random::random()).ok()?),
        ("auto-start", "on") => SettingChange::AutoStart(true),
        ("auto-start", "off") => SettingChange::AutoStart(false),
        ("rated", "yes") => SettingChange::Rated(true),
        ("rated", "no") => SettingChange::Rated(false),
        ("sprt", "off") => SettingChange::Sprt(None),
        ("sprt", sprt) => SettingChange::Sprt(Some(sprt.parse().ok()?)),
        ("private", "") => SettingChange::Visibility(Visibility::Private),
        ("public", "") => SettingChange::Visibility(Visibility::Public),
        ("name", name) if !name.is_empty() => SettingChange::Name(name.to_owned()),
        ("password", password) => SettingChange::Password(password.to_owned()),
        _ => return None,
    })
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "an opening is `standard`, legal moves from the start as `f5d6c3`, or `random:PLIES` or `balanced`, either with or without `:SEED`"
)]
pub(super) struct ParseOpeningError;

/// Parses an opening; `seed` is that of a random one without its own.
pub(super) fn opening(text: &str, seed: u64) -> Result<Opening, ParseOpeningError> {
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
pub(super) struct ParseSecondsError;

/// Parses a time in seconds, with or without decimals.
pub(super) fn seconds(text: &str) -> Result<Duration, ParseSecondsError> {
    let number: f64 = text.parse().map_err(|_| ParseSecondsError)?;
    Duration::try_from_secs_f64(number).map_err(|_| ParseSecondsError)
}

/// The first word, and the trimmed rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(line: &str, command: HostCommand) {
        assert_eq!(line.parse(), Ok(command), "{line}");
    }

    #[test]
    fn lines_are_parsed_as_commands() {
        expect("start", HostCommand::Start);
        expect("  START ", HostCommand::Start);
        expect("seat black open", HostCommand::Seat(Color::Black, SeatChoice::Open));
        expect("seat White mcts:3", HostCommand::Seat(Color::White, SeatChoice::Ai(Ai::new("mcts").level(3))));
        expect("seat black me", HostCommand::Seat(Color::Black, SeatChoice::Me));
        expect("seat black for Ada Lovelace", HostCommand::Reserve(Color::Black, "Ada Lovelace".into()));
        expect("kick  ada ", HostCommand::Kick { name: "ada".into(), ban: false });
        expect("ban ada", HostCommand::Kick { name: "ada".into(), ban: true });
        expect("transfer ada", HostCommand::Transfer("ada".into()));
        expect("say good  luck", HostCommand::Say("good  luck".into()));
        for line in ["move d3", "d3", "D3"] {
            expect(line, HostCommand::Move("d3".parse().unwrap()));
        }
        expect("quit", HostCommand::Leave);
        expect("close", HostCommand::Close);
    }

    #[test]
    fn settings_are_changed_one_at_a_time() {
        let change = |line: &str| match line.parse() {
            Ok(HostCommand::Set(change)) => {
                let mut settings = Settings::default();
                let fields = change.apply(&mut settings);
                (fields, settings)
            }
            other => panic!("{line}: {other:?}"),
        };
        let base = Settings::default;
        assert_eq!(change("set games 3"), (&["games"][..], Settings { games: 3, ..base() }));
        let pause = Duration::from_millis(250);
        assert_eq!(change("set pause 250"), (&["ai_pause"][..], Settings { ai_pause: pause, ..base() }));
        let limit = Some(Duration::from_millis(500));
        assert_eq!(change("set limit 0.5"), (&["move_limit"][..], Settings { move_limit: limit, ..base() }));
        assert_eq!(
            change("set total 300 2"),
            (
                &["total_time", "increment"][..],
                Settings { total_time: Some(Duration::from_secs(300)), increment: Duration::from_secs(2), ..base() }
            )
        );
        assert_eq!(change("set name Sunday Cup").1.name, "Sunday Cup");
        assert_eq!(change("set private").1.visibility, Visibility::Private);
        assert!(change("set auto-start on").1.auto_start);
        assert_eq!(change("set sprt 0,10"), (&["sprt"][..], Settings { sprt: "0,10".parse().ok(), ..base() }));
        assert_eq!(change("set rated yes"), (&["rated"][..], Settings { rated: true, ..base() }));
        assert_eq!(change("set opening f5d6").1.opening, Opening::Moves("f5d6".into()));
        assert_eq!(change("set password x"), (&[][..], base()));
    }

    #[test]
    fn invalid_lines_get_the_usage() {
        let error_of = |line: &str| line.parse::<HostCommand>().unwrap_err().to_string();
        assert_eq!(error_of("dance"), "unknown command `dance`; `help` lists the commands");
        assert_eq!(error_of("kick"), "usage: kick NAME");
        assert_eq!(error_of("move z9"), "usage: move SQUARE");
        assert_eq!(error_of("start now"), "usage: start");
        for line in ["seat", "seat green open", "seat black", "seat black for", "seat black mcts:0", "seat black a b"] {
            assert!(error_of(line).starts_with("usage: seat SIDE open, or"), "{line}");
        }
        for line in ["set", "set games", "set games 0", "set limit -1", "set limit NaN", "set name", "set colour red"] {
            assert!(error_of(line).starts_with("usage: set games N, or"), "{line}");
        }
    }

    #[test]
    fn every_command_has_its_help() {
        for line in ["start", "swap", "abort", "ready", "resign", "who", "help", "close", "leave", "move d3"] {
            let (word, _) = split(line);
            assert!(
                line.parse::<HostCommand>().is_ok() && COMMANDS.iter().any(|(usage, _)| split(usage).0 == word),
                "{line}"
            );
        }
    }

    #[test]
    fn openings_are_read() {
        assert_eq!(opening("standard", 7), Ok(Opening::Standard));
        assert_eq!(opening("F5d6C3", 7), Ok(Opening::Moves("f5d6c3".into())));
        assert_eq!(opening("balanced", 7), Ok(Opening::Balanced { seed: 7 }));
        assert_eq!(opening("balanced:11", 7), Ok(Opening::Balanced { seed: 11 }));
        assert_eq!(opening("balanced:1:2", 7), Err(ParseOpeningError));
        assert_eq!(opening("random:6", 7), Ok(Opening::Random { plies: 6, seed: 7 }));
        assert_eq!(opening("random:6:11", 7), Ok(Opening::Random { plies: 6, seed: 11 }));
        for text in ["", "a1", "f5 f5", "random", "random:x", "random:6:x", "random:6:1:1", "standard:1"] {
            assert_eq!(opening(text, 7), Err(ParseOpeningError), "{text:?}");
        }
    }
}
