//! The players of a match.

use std::{fmt, str::FromStr, time::Duration};

use anyhow::{Context as _, anyhow, bail};

use crate::{
    ai::AiPlayer,
    cli::{
        connect::check_ai,
        external_engine::{Engine, EngineCommand, MoveTime, Protocol},
        local_search::stop_after,
    },
    rules::{Square, Transcript},
    search::Stop,
};

/// The longest time that a move can be given.
const MAX_MOVE_TIME: Duration = Duration::from_secs(60 * 60);

/// The time for a move of an external engine without `@TIME`.
const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(5);

/// Chooses a legal move from the moves so far and a seed, the only source of randomness. Blocks during a search. A
/// player whose call fails loses the game.
pub(super) type PlayingEngine = dyn FnMut(&Transcript, u64) -> anyhow::Result<Square> + Send;

/// A player: `KIND`, `KIND:LEVEL`, `nboard:COMMAND` or `gtp:COMMAND`, each optionally with `@TIME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArenaPlayer {
    /// As given on the command line.
    text: String,
    spec: EngineSpec,
    /// The maximum for one move.
    time: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EngineSpec {
    /// A built-in AI.
    Ai(AiPlayer),
    /// An external engine, started once per thread.
    Engine(EngineCommand),
}

impl ArenaPlayer {
    /// Starts the player. Setting `ended` ends its searches.
    pub(super) fn ready(&self, ended: &Stop) -> anyhow::Result<Box<PlayingEngine>> {
        let (time, ended) = (self.time, ended.clone());
        match self.spec.clone() {
            EngineSpec::Ai(player) => Ok(Box::new(move |game: &Transcript, seed| {
                let choice = match time {
                    Some(time) => {
                        let stop = Stop::new();
                        stop_after(time, &stop, || player.choose(game.position(), seed, &stop))
                    }
                    None => player.choose(game.position(), seed, &ended),
                };
                Ok(choice.context("there is no move")?.square)
            })),
            EngineSpec::Engine(launch) => {
                // An engine that fails loses the game.
                let mut engine = Engine::start(launch, 0)?;
                let for_move = time.unwrap_or(DEFAULT_MOVE_TIME);
                let time = MoveTime { for_move, limit: Some(for_move), left: None };
                // The protocols have no seed.
                Ok(Box::new(move |game: &Transcript, _| Ok(engine.choose(game, time, &ended)?)))
            }
        }
    }
}

impl FromStr for ArenaPlayer {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if let Some((protocol, command)) = engine(text) {
            // The command itself may contain an @.
            let timed = command.rsplit_once('@').and_then(|(command, time)| Some((command, duration(time).ok()?)));
            let (command, time) = timed.map_or((command, None), |(command, time)| (command, Some(time)));
            return Ok(Self {
                text: text.to_owned(),
                spec: EngineSpec::Engine(EngineCommand::new(protocol, command)?),
                time,
            });
        }
        let (name, time) = match text.rsplit_once('@') {
            Some((name, time)) => (name, Some(duration(time)?)),
            None => (text, None),
        };
        Ok(Self { text: text.to_owned(), spec: EngineSpec::Ai(ai(name, time.is_some())?), time })
    }
}

impl fmt::Display for ArenaPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The protocol and the command line of an external engine.
fn engine(text: &str) -> Option<(Protocol, &str)> {
    let (protocol, command) = text.split_once(':')?;
    match protocol {
        "nboard" => Some((Protocol::Nboard, command)),
        "gtp" => Some((Protocol::Gtp, command)),
        _ => None,
    }
}

/// `KIND:LEVEL` or `KIND`. The level defaults to the kind's, or to none if the search is timed.
fn ai(text: &str, timed: bool) -> anyhow::Result<AiPlayer> {
    let ai = check_ai::check(text, None)?;
    if ai.level == 0 && timed {
        return Ok(AiPlayer::tireless(ai.kind.parse().map_err(|error| anyhow!("{error}"))?));
    }
    check_ai::player(&ai)
}

/// Parses milliseconds or seconds: `100ms`, `2s`, `0.5s`.
fn duration(text: &str) -> anyhow::Result<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s').unwrap_or_default(), 1.0),
    };
    let seconds = number.parse::<f64>().map(|number| number * unit).ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match duration {
        Some(duration) if !duration.is_zero() && duration <= MAX_MOVE_TIME => Ok(duration),
        _ => bail!("`{text}` is no time for a move: one is 100ms or 2s, at most an hour"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ai::AiKind;

    fn read(text: &str) -> anyhow::Result<ArenaPlayer> {
        text.parse()
    }

    #[test]
    fn a_player_is_a_kind_a_level_and_a_time() {
        let expert = |level| EngineSpec::Ai(AiPlayer::new(AiKind::Expert, level).unwrap());
        let read = |text| read(text).unwrap();
        assert_eq!((read("expert").spec, read("expert").time), (expert(13), None));
        assert_eq!((read("Expert:3").spec, read("Expert:3").to_string()), (expert(3), "Expert:3".to_owned()));
        assert_eq!(read("expert:16@100ms").time, Some(Duration::from_millis(100)));
        let timed = read("expert@0.5s");
        assert_eq!(
            (timed.spec, timed.time),
            (EngineSpec::Ai(AiPlayer::tireless(AiKind::Expert)), Some(Duration::from_millis(500)))
        );
    }

    #[test]
    fn an_engine_is_a_protocol_a_command_and_a_time() {
        let launch = |command| EngineSpec::Engine(EngineCommand::new(Protocol::Gtp, command).unwrap());
        let read = |text| read(text).unwrap();
        assert_eq!((read("gtp:edax -l 5").spec, read("gtp:edax -l 5").time), (launch("edax -l 5"), None));
        let timed = read("gtp:edax -gtp@2s");
        assert_eq!((timed.spec, timed.time), (launch("edax -gtp"), Some(Duration::from_secs(2))));
        assert_eq!(read("gtp:./a@b").spec, launch("./a@b"));
        let nboard = EngineSpec::Engine(EngineCommand::new(Protocol::Nboard, "ntest x").unwrap());
        assert_eq!(read("nboard:ntest x").spec, nboard);
    }

    #[test]
    fn unknown_players_are_refused() {
        for text in [
            "",
            "nobody",
            "expert:77",
            "expert:x",
            "expert:",
            "greedy@",
            "greedy@5",
            "greedy@0s",
            "greedy@-1s",
            "greedy@9999s",
            "gtp:",
            "nboard:'",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_endless_search_ends_with_its_time() {
        let stop = Stop::new();
        stop_after(Duration::from_millis(1), &stop, || {
            while !stop.is_stopped() {
                std::thread::yield_now();
            }
        });
        let stop = Stop::new();
        assert!(!stop_after(MAX_MOVE_TIME, &stop, || stop.is_stopped()));
    }

    #[test]
    fn the_end_of_the_contest_ends_a_search() {
        let ended = Stop::new();
        ended.stop();
        let square = read("expert:16").unwrap().ready(&ended).unwrap()(&Transcript::new(), 1).unwrap();
        assert!(Transcript::new().position().legal_moves().contains(square));
    }
}
