//! Parses a host's commands and options. The server checks whether they are allowed.

use std::str::FromStr;

use thiserror::Error;

use super::settings::{self, SetCommand, split};
use crate::{
    client::{Ai, Settings},
    rules::{Color, Square},
};

/// Syntax and help of each command.
pub(super) fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    let changes = settings::COMMANDS.iter().map(|&SetCommand { usage, help, .. }| (usage, help));
    OF_OWNER.into_iter().chain(changes).chain(OF_MEMBER)
}

/// Before those that change settings.
const OF_OWNER: [(&str, &str); 14] = [
    ("start", "begin a game or series, once both seats are filled and ready"),
    ("seat SIDE open", "open a seat; a player in it must be kicked first"),
    ("seat SIDE KIND[:LEVEL]", "give it to an AI, as `seat white mcts:3`"),
    ("seat SIDE for NAME", "keep it for a player, who is told of it"),
    ("invite NAME", "keep an open seat for a player, who has two minutes to accept or decline"),
    ("seat SIDE me", "sit there yourself"),
    ("swap", "swap sides"),
    ("kick NAME", "remove a member"),
    ("ban NAME", "remove a member permanently"),
    ("transfer NAME", "make another member the owner"),
    ("co-owner NAME", "let a member manage the room as you do, but not give it away or name others"),
    ("no-co-owner NAME", "take that back"),
    (
        "abort",
        "end the running game without a winner: as its player until both sides have moved, of rated games three in 24 \
         hours; as the owner while no person is seated, a rated one if you do not play",
    ),
    ("end-series", "play no more games after the running one"),
];

/// After those that change settings.
const OF_MEMBER: [(&str, &str); 9] = [
    ("set password [TEXT]", "password for joining; empty for none"),
    ("ready", "in a seat of your own: be ready for a game that others start"),
    ("move SQUARE", "in a seat of your own: play on this square; also the square alone, as `d3`"),
    ("resign", "in a seat of your own: give up the game"),
    ("say TEXT", "talk to the room"),
    ("who", "who sits, who is here, and the settings"),
    ("help", "this list"),
    ("close", "close the room and end"),
    ("leave", "leave the room, which another member manages until you are back, and end"),
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum HostCommand {
    Start,
    Seat(Color, SeatChoice),
    Reserve(Color, String),
    Invite(String),
    Swap,
    CoOwner {
        name: String,
        named: bool,
    },
    Kick {
        name: String,
        ban: bool,
    },
    Transfer(String),
    Abort,
    EndSeries,
    /// Settings with new values in these fields of the API.
    Set(Box<Settings>, &'static [&'static str]),
    /// Needed to join; empty for none. Not a field of the settings.
    SetPassword(String),
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
            let usages: Vec<_> = commands().map(|(usage, _)| usage).filter(|usage| split(usage).0 == word).collect();
            let setting = split(rest).0.to_lowercase();
            let is_of_setting = |usage: &&&str| split(split(usage).1).0.split('|').any(|name| name == setting);
            let of_setting: Vec<_> = usages.iter().filter(is_of_setting).copied().collect();
            match if of_setting.is_empty() { usages } else { of_setting } {
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
        ("invite" | "kick" | "ban" | "transfer" | "co-owner" | "no-co-owner" | "say", "") => return None,
        ("invite", _) => HostCommand::Invite(name()),
        ("kick", _) => HostCommand::Kick { name: name(), ban: false },
        ("ban", _) => HostCommand::Kick { name: name(), ban: true },
        ("transfer", _) => HostCommand::Transfer(name()),
        ("co-owner", _) => HostCommand::CoOwner { name: name(), named: true },
        ("no-co-owner", _) => HostCommand::CoOwner { name: name(), named: false },
        ("say", _) => HostCommand::Say(name()),
        ("move", square) => HostCommand::Move(square.parse().ok()?),
        ("set", change) => match split(change) {
            (word, password) if word.eq_ignore_ascii_case("password") => HostCommand::SetPassword(password.to_owned()),
            _ => {
                let (settings, fields) = settings::parse(change)?;
                HostCommand::Set(Box::new(settings), fields)
            }
        },
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
        expect("invite Ada Lovelace", HostCommand::Invite("Ada Lovelace".into()));
        expect("kick  ada ", HostCommand::Kick { name: "ada".into(), ban: false });
        expect("ban ada", HostCommand::Kick { name: "ada".into(), ban: true });
        expect("transfer ada", HostCommand::Transfer("ada".into()));
        expect("co-owner ada", HostCommand::CoOwner { name: "ada".into(), named: true });
        expect("no-co-owner ada", HostCommand::CoOwner { name: "ada".into(), named: false });
        let settings = Box::new(Settings { games: 3, ..Settings::default() });
        expect("Set games 3", HostCommand::Set(settings, &["games"]));
        expect("set password x", HostCommand::SetPassword("x".into()));
        expect("set password", HostCommand::SetPassword(String::new()));
        expect("say good  luck", HostCommand::Say("good  luck".into()));
        for line in ["move d3", "d3", "D3"] {
            expect(line, HostCommand::Move("d3".parse().unwrap()));
        }
        expect("quit", HostCommand::Leave);
        expect("close", HostCommand::Close);
    }

    #[test]
    fn invalid_lines_get_the_usage() {
        let error_of = |line: &str| line.parse::<HostCommand>().unwrap_err().to_string();
        assert_eq!(error_of("dance"), "unknown command `dance`; `help` lists the commands");
        assert_eq!(error_of("kick"), "usage: kick NAME");
        assert_eq!(error_of("invite"), "usage: invite NAME");
        assert_eq!(error_of("move z9"), "usage: move SQUARE");
        assert_eq!(error_of("start now"), "usage: start");
        for line in ["seat", "seat green open", "seat black", "seat black for", "seat black mcts:0", "seat black a b"] {
            assert!(error_of(line).starts_with("usage: seat SIDE open, or"), "{line}");
        }
        for line in ["set", "set colour red"] {
            assert!(error_of(line).starts_with("usage: set games N, or"), "{line}");
        }
        for line in ["set games", "set games 0"] {
            assert_eq!(error_of(line), "usage: set games N");
        }
        assert_eq!(error_of("set opening dance"), "usage: set opening OPENING");
        assert_eq!(error_of("set public yes"), "usage: set private|public");
    }

    #[test]
    fn every_command_has_its_help() {
        for line in ["start", "swap", "abort", "ready", "resign", "who", "help", "close", "leave", "move d3"] {
            let (word, _) = split(line);
            assert!(
                line.parse::<HostCommand>().is_ok() && commands().any(|(usage, _)| split(usage).0 == word),
                "{line}"
            );
        }
    }
}
