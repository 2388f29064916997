//! External engines as players: programs that speak the NBoard protocol or GTP.
//!
//! ```text
//!   EngineCommand ──▶ Engine ── choose(game, time, stop) ──▶ move, or NoMove
//!                       │ nboard, gtp: the protocols                  (blocks: call it on a separate thread)
//!                       ▼
//!                    process: a child, its three streams, bounded lines
//! ```
//!
//! Faulty programs are contained: lines have a maximum length, endless output is blocked, a program that does not
//! answer in time is killed, and one that ends, is late or moves illegally is restarted a few times if its user wants
//! that.

mod error;
mod gtp;
mod nboard;
pub(super) mod player;
mod process;
mod protocol;
mod time;

use std::fmt;

use anyhow::{Context as _, anyhow};
use tokio::time::Instant;

pub(super) use error::NoMove;
pub(super) use protocol::Protocol;
pub(super) use time::MoveTime;

use crate::{
    rules::{Square, Transcript},
    search::Stop,
};
use error::EngineFault;
use gtp::GtpClient;
use nboard::NboardClient;
use process::{EngineProcess, Wait};
use protocol::ProtocolClient;
use time::START;

/// A program with its arguments, and its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EngineCommand {
    protocol: Protocol,
    words: Vec<String>,
}

impl EngineCommand {
    /// Splits a command line into words as a shell does, without variables and pipes.
    pub(super) fn new(protocol: Protocol, command: &str) -> anyhow::Result<Self> {
        let words = shlex::split(command).with_context(|| format!("in `{command}` a quotation does not end"))?;
        if words.is_empty() {
            return Err(anyhow!("the command of the engine is empty"));
        }
        Ok(Self { protocol, words })
    }

    /// The program's file name without its extension.
    pub(super) fn name(&self) -> &str {
        let program = self.words.first().map_or("", String::as_str);
        std::path::Path::new(program).file_stem().and_then(|name| name.to_str()).unwrap_or(program)
    }
}

impl fmt::Display for EngineCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// An external engine, which is restarted after failures.
#[derive(Debug)]
pub(super) struct Engine {
    command: EngineCommand,
    /// Maximum restarts in a row without a move.
    restarts: u32,
    running: Option<RunningEngine>,
    /// Failures since its last move.
    failures: u32,
}

impl Engine {
    /// Starts the engine and checks that it answers in its protocol. It is restarted `restarts` times in a row at most.
    ///
    /// # Errors
    /// [`NoMove::Broken`] with the reason.
    pub(super) fn start(command: EngineCommand, restarts: u32) -> Result<Self, NoMove> {
        let mut engine = Self { command, restarts, running: None, failures: 0 };
        let stop = Stop::new();
        match engine.run(Wait { until: Instant::now() + START, stop: &stop }) {
            Ok(_) => Ok(engine),
            Err(fault @ EngineFault::NotStarted(_)) => Err(engine.end_with(&fault)),
            Err(fault) => {
                let NoMove::Broken(why) = engine.end_with(&fault) else { return Err(NoMove::Late) };
                Err(NoMove::Broken(format!("{why}; it was expected to speak {}", engine.command.protocol)))
            }
        }
    }

    /// The engine's move in the last position of `game`, which must not be over. Blocks until there is a move, the time
    /// is over or `stop` is set.
    ///
    /// # Errors
    /// [`NoMove`], after the restarts that the time allows.
    pub(super) fn choose(&mut self, game: &Transcript, mut time: MoveTime, stop: &Stop) -> Result<Square, NoMove> {
        loop {
            let began = Instant::now();
            let fault = match self.attempt(game, time, stop) {
                Ok(square) => {
                    self.failures = 0;
                    return Ok(square);
                }
                Err(EngineFault::Resigned) => return Err(NoMove::Resigned),
                Err(fault) => fault,
            };
            if fault == EngineFault::Unwanted {
                self.running = None;
                return Err(NoMove::Unwanted);
            }
            self.failures += 1;
            let broken = self.end_with(&fault);
            if self.failures > self.restarts {
                return Err(broken);
            }
            time = time.after(began.elapsed());
            if time.is_over() {
                return Err(NoMove::Late);
            }
        }
    }

    /// Ends the program. The next `choose` starts it again.
    pub(super) fn end(&mut self) {
        self.running = None;
    }

    fn attempt(&mut self, game: &Transcript, time: MoveTime, stop: &Stop) -> Result<Square, EngineFault> {
        let (began, starts) = (Instant::now(), self.running.is_none());
        let running = self.run(Wait { until: began + time.start(), stop })?;
        let time = if starts { time.after(began.elapsed()) } else { time };
        let wait = Wait { until: Instant::now() + time.wait(), stop };
        let square = running.protocol.choose(&running.process, game, time, wait)?;
        if game.position().legal_moves().contains(square) {
            Ok(square)
        } else {
            Err(EngineFault::Illegal(square.to_string()))
        }
    }

    /// The running program, started if there is none.
    fn run(&mut self, wait: Wait<'_>) -> Result<&mut RunningEngine, EngineFault> {
        if let Some(running) = self.running.take() {
            return Ok(self.running.insert(running));
        }
        let protocol: Box<dyn ProtocolClient> = match self.command.protocol {
            Protocol::Nboard => Box::<NboardClient>::default(),
            Protocol::Gtp => Box::<GtpClient>::default(),
        };
        let process = EngineProcess::start(&self.command.words)?;
        let running = self.running.insert(RunningEngine { process, protocol });
        running.protocol.handshake(&running.process, wait)?;
        Ok(running)
    }

    /// Ends the program and describes the fault.
    fn end_with(&mut self, fault: &EngineFault) -> NoMove {
        let ended = *fault == EngineFault::Ended;
        let last_words = self.running.take().map(|running| running.process.end(ended)).unwrap_or_default();
        NoMove::Broken(format!("the engine `{}` {fault}{last_words}", self.command))
    }
}

#[derive(Debug)]
struct RunningEngine {
    process: EngineProcess,
    protocol: Box<dyn ProtocolClient>,
}

#[cfg(all(test, unix))]
mod tests;
