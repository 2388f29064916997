//! Engines of other programs as players: anything that speaks the NBoard protocol or GTP.
//!
//! ```text
//!   Launch ──▶ Engine ── choose(game, time, stop) ──▶ move, or Failure
//!                │ nboard, gtp: what is said                    (blocks: call it on a thread of its own)
//!                ▼
//!             process: a child, its three streams, lines with a bound
//! ```
//!
//! Nothing that such a program does harms the caller: lines have a longest length, a program that talks without end has
//! to wait, one that does not answer in time is killed, and one that ends or moves illegally is started again, a few
//! times.

mod failure;
mod gtp;
mod nboard;
pub(super) mod player;
mod process;
mod time;

use std::fmt;

use anyhow::{Context as _, anyhow};
use tokio::time::Instant;

pub(super) use failure::Failure;
pub(super) use time::Time;

use crate::{
    rules::{Square, Transcript},
    search::Stop,
};
use failure::Trouble;
use gtp::Gtp;
use nboard::Nboard;
use process::{Process, Wait};
use time::START;

/// How often in a row an engine is started again without having moved.
const RESTARTS: u32 = 3;

/// The language of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Version 2 of NBoard's.
    Nboard,
    /// The Go Text Protocol.
    Gtp,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nboard => "the NBoard protocol",
            Self::Gtp => "GTP",
        })
    }
}

/// Which program, and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    protocol: Protocol,
    words: Vec<String>,
}

impl Launch {
    /// Splits a command line as a shell does, of which nothing else is done: no variables, no pipes.
    ///
    /// # Errors
    /// When a quotation does not end, or there is nothing in it.
    pub(super) fn new(protocol: Protocol, command: &str) -> anyhow::Result<Self> {
        let words = shlex::split(command).with_context(|| format!("in `{command}` a quotation does not end"))?;
        if words.is_empty() {
            return Err(anyhow!("the command of the engine is empty"));
        }
        Ok(Self { protocol, words })
    }

    /// The program's name, without its folder.
    pub(super) fn name(&self) -> &str {
        let program = self.words.first().map_or("", String::as_str);
        std::path::Path::new(program).file_stem().and_then(|name| name.to_str()).unwrap_or(program)
    }
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// An engine, started again when it has to be.
#[derive(Debug)]
pub(super) struct Engine {
    launch: Launch,
    running: Option<Running>,
    /// Since its last move.
    failures: u32,
}

impl Engine {
    /// Starts it, and hears whether it speaks its protocol.
    ///
    /// # Errors
    /// [`Failure::Broken`] says what is wrong.
    pub(super) fn start(launch: Launch) -> Result<Self, Failure> {
        let mut engine = Self { launch, running: None, failures: 0 };
        let stop = Stop::new();
        match engine.run(Wait { until: Instant::now() + START, stop: &stop }) {
            Ok(_) => Ok(engine),
            Err(trouble @ Trouble::NotStarted(_)) => Err(engine.broken(&trouble)),
            Err(trouble) => {
                let Failure::Broken(why) = engine.broken(&trouble) else { return Err(Failure::Late) };
                Err(Failure::Broken(format!("{why}; it was expected to speak {}", engine.launch.protocol)))
            }
        }
    }

    /// Its move at the end of `game`, in which somebody can move. Blocks until there is a move, the time is over or the
    /// flag is raised.
    ///
    /// # Errors
    /// [`Failure`]; what can be mended by starting the engine again has been tried.
    pub(super) fn choose(&mut self, game: &Transcript, mut time: Time, stop: &Stop) -> Result<Square, Failure> {
        loop {
            let began = Instant::now();
            let trouble = match self.attempt(game, time, stop) {
                Ok(square) => {
                    self.failures = 0;
                    return Ok(square);
                }
                Err(Trouble::Resigned) => return Err(Failure::Resigned),
                Err(trouble) => trouble,
            };
            if trouble == Trouble::Unwanted {
                self.running = None;
                return Err(Failure::Unwanted);
            }
            self.failures += 1;
            let broken = self.broken(&trouble);
            if self.failures > RESTARTS {
                return Err(broken);
            }
            if trouble == Trouble::Late {
                return Err(Failure::Late);
            }
            time = time.after(began.elapsed());
        }
    }

    /// Ends it. It is started again when it is asked something.
    pub(super) fn end(&mut self) {
        self.running = None;
    }

    fn attempt(&mut self, game: &Transcript, time: Time, stop: &Stop) -> Result<Square, Trouble> {
        let (began, starts) = (Instant::now(), self.running.is_none());
        let running = self.run(Wait { until: began + time.start(), stop })?;
        let time = if starts { time.after(began.elapsed()) } else { time };
        let wait = Wait { until: Instant::now() + time.for_move, stop };
        let square = running.dialogue.choose(&running.process, game, time, wait)?;
        if game.position().legal_moves().contains(square) {
            Ok(square)
        } else {
            Err(Trouble::Illegal(square.to_string()))
        }
    }

    /// The running program; a new one if there is none.
    fn run(&mut self, wait: Wait<'_>) -> Result<&mut Running, Trouble> {
        let running = match self.running.take() {
            Some(running) => self.running.insert(running),
            None => {
                let (process, dialogue) = (Process::start(&self.launch.words)?, Dialogue::new(self.launch.protocol));
                let running = self.running.insert(Running { process, dialogue });
                running.dialogue.greet(&running.process, wait)?;
                running
            }
        };
        Ok(running)
    }

    /// Ends what runs, and tells what is wrong with it.
    fn broken(&mut self, trouble: &Trouble) -> Failure {
        let ended = *trouble == Trouble::Ended;
        let last_words = self.running.take().map(|running| running.process.end(ended)).unwrap_or_default();
        Failure::Broken(format!("the engine `{}` {trouble}{last_words}", self.launch))
    }
}

#[derive(Debug)]
struct Running {
    process: Process,
    dialogue: Dialogue,
}

/// A conversation in one of the languages.
#[derive(Debug)]
enum Dialogue {
    Nboard(Nboard),
    Gtp(Gtp),
}

impl Dialogue {
    fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Nboard => Self::Nboard(Nboard::default()),
            Protocol::Gtp => Self::Gtp(Gtp::default()),
        }
    }

    fn greet(&mut self, process: &Process, wait: Wait<'_>) -> Result<(), Trouble> {
        match self {
            Self::Nboard(nboard) => nboard.greet(process, wait),
            Self::Gtp(_) => Gtp::greet(process, wait),
        }
    }

    fn choose(&mut self, process: &Process, game: &Transcript, time: Time, wait: Wait<'_>) -> Result<Square, Trouble> {
        match self {
            Self::Nboard(nboard) => nboard.choose(process, game, time, wait),
            Self::Gtp(gtp) => gtp.choose(process, game, time, wait),
        }
    }
}

/// The beginning of what a program said, without what steers a terminal.
fn quoted(said: &str) -> String {
    const MOST: usize = 60;
    format!("`{}`", said.chars().filter(|letter| !letter.is_control()).take(MOST).collect::<String>())
}

#[cfg(all(test, unix))]
mod tests;
