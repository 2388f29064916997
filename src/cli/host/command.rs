//! What a host asks for, parsed from the lines and options that say it. Whether it is allowed is for the server to judge.

use std::{str::FromStr, time::Duration};

use thiserror::Error;

use crate::{
    cli::random,
    client::{Ai, Opening, Settings, Visibility},
    rating::Sprt,
    rules::{Color, Square, Transcript},
};

/// The commands: how each goes, and what it does.
pub(super) const COMMANDS: [(&str, &str); 29] = [
    ("start", "begin a game or series, once both seats are filled and ready"),
    ("seat SIDE open", "open a seat; whoever sits there must be kicked first"),
    ("seat SIDE KIND[:LEVEL]", "give it to an AI, as `seat white mcts:3`"),
    ("seat SIDE for NAME", "keep it for a member"),
    ("seat SIDE me", "sit there yourself"),
    ("swap", "let the two sides change places"),
    ("kick NAME", "remove a member"),
    ("ban NAME", "remove a member for the room's life"),
    ("transfer NAME", "make another member the owner"),
    ("abort", "end the running game without a winner"),
    ("set games N", "play series of so many games"),
    ("set pause MS", "wait after each move of an AI"),
    ("set limit SECONDS", "the most a move may take; 0 for no limit"),
    ("set total SECONDS [INCREMENT]", "a clock for all moves of a side; 0 for none"),
    ("set opening OPENING", "standard, moves as f5d6c3, random:PLIES[:SEED], or balanced[:SEED]"),
    ("set sprt ELO0,ELO1", "end a series in pairs once one difference is believed; off for never"),
    ("set auto-start on|off", "begin as soon as both seats are ready"),
    ("set rated yes|no", "whether games count for ratings"),
    ("set private|public", "whether the room is listed"),
    ("set name TEXT", "what the room is called"),
    ("set password [TEXT]", "asked of those who join; without a text, nothing is"),
    ("ready", "from a seat of your own: for a game that others start"),
    ("move SQUARE", "from a seat of your own: play there"),
    ("resign", "from a seat of your own: give up the game"),
    ("say TEXT", "talk to the room"),
    ("who", "who sits, who is here, and the settings"),
    ("help", "this list"),
    ("close", "close the room and end"),
    ("leave", "leave the room, which another member then owns, and end"),
];

/// One line of a host.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Order {
    /// Begin a game.
    Start,
    /// Give a seat to somebody or something.
    Seat(Color, SeatWish),
    /// Keep a seat for the member with this name.
    Reserve(Color, String),
    /// Change sides.
    Swap,
    /// Remove a member, for good if `ban`.
    Kick {
        /// Whom.
        name: String,
        /// Whether they may come back.
        ban: bool,
    },
    /// Make a member the owner.
    Transfer(String),
    /// End the game.
    Abort,
    /// Change the settings.
    Set(Change),
    /// Talk.
    Say(String),
    /// Be ready in the own seat.
    Ready,
    /// A move from it.
    Move(Square),
    /// Give up the game.
    Resign,
    /// Describe the room.
    Who,
    /// List the commands.
    Help,
    /// Close the room.
    Close,
    /// Leave it.
    Leave,
}

/// Why a line is no order.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum OrderError {
    /// No command begins so.
    #[error("`{0}` is no command; `help` lists them")]
    Unknown(String),
    /// The command is written in other ways.
    #[error("that command goes: {0}")]
    Usage(String),
}

impl FromStr for Order {
    type Err = OrderError;

    fn from_str(line: &str) -> Result<Self, OrderError> {
        let (word, rest) = split(line);
        let word = word.to_lowercase();
        parse(&word, rest).ok_or_else(|| {
            let ways = COMMANDS.iter().map(|(way, _)| *way).filter(|way| split(way).0 == word);
            match ways.collect::<Vec<_>>() {
                ways if ways.is_empty() => OrderError::Unknown(word.clone()),
                ways => OrderError::Usage(ways.join(", or ")),
            }
        })
    }
}

fn parse(word: &str, rest: &str) -> Option<Order> {
    let name = || rest.to_owned();
    Some(match (word, rest) {
        ("start", "") => Order::Start,
        ("swap", "") => Order::Swap,
        ("abort", "") => Order::Abort,
        ("ready", "") => Order::Ready,
        ("resign", "") => Order::Resign,
        ("who", "") => Order::Who,
        ("help" | "?", "") => Order::Help,
        ("close", "") => Order::Close,
        ("leave" | "quit" | "q" | "exit", "") => Order::Leave,
        ("kick" | "ban" | "transfer" | "say", "") => return None,
        ("kick", _) => Order::Kick { name: name(), ban: false },
        ("ban", _) => Order::Kick { name: name(), ban: true },
        ("transfer", _) => Order::Transfer(name()),
        ("say", _) => Order::Say(name()),
        ("move", square) => Order::Move(square.parse().ok()?),
        ("set", change) => Order::Set(change.parse().ok()?),
        ("seat", place) => {
            let (side, wish) = split(place);
            let side = side.parse().ok()?;
            match split(wish) {
                ("for", name) if !name.is_empty() => Order::Reserve(side, name.to_owned()),
                _ => Order::Seat(side, wish.parse().ok()?),
            }
        }
        _ => return None,
    })
}

/// What a seat is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SeatWish {
    /// Anyone may take it.
    Open,
    /// The host sits there.
    Me,
    /// An AI.
    Ai(Ai),
}

/// The text says nothing that a seat could be.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a seat is `open`, `me`, or a kind of AI with or without its level, as `mcts` or `mcts:3`")]
pub(super) struct ParseSeatError;

impl FromStr for SeatWish {
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

/// A change of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Games in a series.
    Games(u32),
    /// After each move of an AI.
    Pause(Duration),
    /// The most a move may take; zero for no limit.
    Limit(Duration),
    /// The clock of a side, zero for none, and what each move adds to it.
    Total(Duration, Duration),
    /// How games begin.
    Opening(Opening),
    /// Whether they begin by themselves.
    AutoStart(bool),
    /// Whether games count for ratings.
    Rated(bool),
    /// When a series in pairs ends early.
    Sprt(Option<Sprt>),
    /// Who finds the room.
    Visibility(Visibility),
    /// What it is called.
    Name(String),
    /// Asked of those who join, if not empty.
    Password(String),
}

impl Change {
    /// Makes the change, and says which fields of the public API it is about: none for the password, which is not
    /// among the settings that are shown.
    pub(super) fn apply(self, settings: &mut Settings) -> &'static [&'static str] {
        match self {
            Self::Games(games) => {
                settings.games = games;
                &["games"]
            }
            Self::Pause(pause) => {
                settings.ai_pause = pause;
                &["ai_pause"]
            }
            Self::Limit(limit) => {
                settings.move_limit = Some(limit);
                &["move_limit"]
            }
            Self::Total(total, increment) => {
                (settings.total_time, settings.increment) = (Some(total), increment);
                &["total_time", "increment"]
            }
            Self::Opening(opening) => {
                settings.opening = opening;
                &["opening"]
            }
            Self::AutoStart(auto_start) => {
                settings.auto_start = auto_start;
                &["auto_start"]
            }
            Self::Rated(rated) => {
                settings.rated = rated;
                &["rated"]
            }
            Self::Sprt(sprt) => {
                settings.sprt = sprt;
                &["sprt"]
            }
            Self::Visibility(visibility) => {
                settings.visibility = visibility;
                &["visibility"]
            }
            Self::Name(name) => {
                settings.name = name;
                &["name"]
            }
            Self::Password(_) => &[],
        }
    }
}

/// The text says nothing that can be set.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no such setting")]
pub(super) struct ParseChangeError;

impl FromStr for Change {
    type Err = ParseChangeError;

    fn from_str(text: &str) -> Result<Self, ParseChangeError> {
        parse_change(text).ok_or(ParseChangeError)
    }
}

fn parse_change(text: &str) -> Option<Change> {
    let (what, value) = split(text);
    Some(match (what.to_lowercase().as_str(), value) {
        ("games", games) => Change::Games(games.parse().ok().filter(|&games| games > 0)?),
        ("pause", pause) => Change::Pause(Duration::from_millis(pause.parse().ok()?)),
        ("limit", limit) => Change::Limit(seconds(limit).ok()?),
        ("total", clock) => {
            let (total, increment) = split(clock);
            let increment = if increment.is_empty() { Duration::ZERO } else { seconds(increment).ok()? };
            Change::Total(seconds(total).ok()?, increment)
        }
        ("opening", text) => Change::Opening(opening(text, random::random()).ok()?),
        ("auto-start", "on") => Change::AutoStart(true),
        ("auto-start", "off") => Change::AutoStart(false),
        ("rated", "yes") => Change::Rated(true),
        ("rated", "no") => Change::Rated(false),
        ("sprt", "off") => Change::Sprt(None),
        ("sprt", sprt) => Change::Sprt(Some(sprt.parse().ok()?)),
        ("private", "") => Change::Visibility(Visibility::Private),
        ("public", "") => Change::Visibility(Visibility::Public),
        ("name", name) if !name.is_empty() => Change::Name(name.to_owned()),
        ("password", password) => Change::Password(password.to_owned()),
        _ => return None,
    })
}

/// The text is no opening.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "an opening is `standard`, legal moves from the start as `f5d6c3`, or `random:PLIES` or `balanced`, either with or without `:SEED`"
)]
pub(super) struct ParseOpeningError;

/// How games begin; openings that are drawn and name no seed get this one.
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

/// The text is no number of seconds.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a time is in seconds, as `30` or `0.5`")]
pub(super) struct ParseSecondsError;

/// A time in seconds, with or without decimals.
pub(super) fn seconds(text: &str) -> Result<Duration, ParseSecondsError> {
    let number: f64 = text.parse().map_err(|_| ParseSecondsError)?;
    Duration::try_from_secs_f64(number).map_err(|_| ParseSecondsError)
}

/// The first word, and the rest without the space around it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(line: &str, order: Order) {
        assert_eq!(line.parse(), Ok(order), "{line}");
    }

    #[test]
    fn lines_are_orders() {
        expect("start", Order::Start);
        expect("  START ", Order::Start);
        expect("seat black open", Order::Seat(Color::Black, SeatWish::Open));
        expect("seat White mcts:3", Order::Seat(Color::White, SeatWish::Ai(Ai::new("mcts").level(3))));
        expect("seat black me", Order::Seat(Color::Black, SeatWish::Me));
        expect("seat black for Ada Lovelace", Order::Reserve(Color::Black, "Ada Lovelace".into()));
        expect("kick  ada ", Order::Kick { name: "ada".into(), ban: false });
        expect("ban ada", Order::Kick { name: "ada".into(), ban: true });
        expect("transfer ada", Order::Transfer("ada".into()));
        expect("say good  luck", Order::Say("good  luck".into()));
        expect("move d3", Order::Move("d3".parse().unwrap()));
        expect("quit", Order::Leave);
        expect("close", Order::Close);
    }

    #[test]
    fn settings_are_changed_one_at_a_time() {
        let change = |line: &str| match line.parse() {
            Ok(Order::Set(change)) => {
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
    fn other_lines_are_told_how_they_go() {
        let told = |line: &str| line.parse::<Order>().unwrap_err().to_string();
        assert_eq!(told("dance"), "`dance` is no command; `help` lists them");
        assert_eq!(told("kick"), "that command goes: kick NAME");
        assert_eq!(told("move z9"), "that command goes: move SQUARE");
        assert_eq!(told("start now"), "that command goes: start");
        for line in ["seat", "seat green open", "seat black", "seat black for", "seat black mcts:0", "seat black a b"] {
            assert!(told(line).starts_with("that command goes: seat SIDE open, or"), "{line}");
        }
        for line in ["set", "set games", "set games 0", "set limit -1", "set limit NaN", "set name", "set colour red"] {
            assert!(told(line).starts_with("that command goes: set games N, or"), "{line}");
        }
    }

    #[test]
    fn every_command_has_its_help() {
        for line in ["start", "swap", "abort", "ready", "resign", "who", "help", "close", "leave", "move d3"] {
            let (word, _) = split(line);
            assert!(line.parse::<Order>().is_ok() && COMMANDS.iter().any(|(way, _)| split(way).0 == word), "{line}");
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
