//! `reversi engine`: the engine for other programs, over the NBoard protocol or GTP on standard input and output.
//!
//! ```text
//!   standard input ── lines ──▶ NboardServer or GtpServer ── searches ──▶ SearchThread
//!                                    └──────── LineOutput ◀───────────────────┘   standard output
//! ```
//!
//! Lines are read during a search too, so that it can be interrupted. An invalid line is answered by an error.

mod gtp;
mod history;
mod nboard;
mod output;
mod protocol;
mod search_thread;
#[cfg(test)]
mod tests;

use std::{io, time::Duration};

use anyhow::Context as _;

use super::{
    random,
    terminal::{
        line::{self, BoundedLine},
        output::{StandardOutput, stdout_has_failed},
    },
};
use crate::ai::{
    AiKind, Level,
    engine::{Engine, TABLE_BYTES, Weights},
};
use gtp::GtpServer;
use nboard::NboardServer;
use output::LineOutput;
use protocol::{EngineProtocol, MAX_LINE};
use search_thread::SearchThread;

/// How long a search may continue after the end of the input: enough for a script's last command, but bounded, so that
/// the engine does not outlive its caller.
const END_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("language").required(true).args(["nboard", "gtp"]),
    after_help = "Examples:\n  \
    reversi engine --nboard              for NBoard and programs like it\n  \
    reversi engine --gtp --level 8\n  \
    reversi bot --gtp 'reversi engine --gtp' --quick"
)]
pub(super) struct Args {
    /// Speak the NBoard protocol, version 2.
    #[arg(long)]
    nboard: bool,
    /// Speak the Go Text Protocol, version 2.
    #[arg(long)]
    gtp: bool,
    /// Play as `expert` does at this level, with its memory and one thread. If left out, only the depth or the clock
    /// that the program sets is a limit; without these, `expert` plays at its default level.
    #[arg(long, value_name = "N", value_parser = level)]
    level: Option<Level>,
    /// Memory of the transposition table.
    #[arg(long, value_name = "MIB", default_value_t = 64, conflicts_with = "level",
        value_parser = clap::value_parser!(u16).range(1..=4096))]
    memory: u16,
    /// Threads that search together, at most 64. With more than one, the answer to the same position can
    /// vary.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "level",
        value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,
}

/// Answers commands until the end of the input.
pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    tokio::task::spawn_blocking(move || serve(&args)).await.context("the engine failed")?
}

fn serve(args: &Args) -> anyhow::Result<()> {
    let search_thread = SearchThread::new(args.level, args.engine(), random::random());
    let output = LineOutput::new(StandardOutput);
    let input = io::stdin().lock();
    if args.gtp {
        serve_lines(GtpServer::new(search_thread, output), input)
    } else {
        serve_lines(NboardServer::new(search_thread, output), input)
    }
}

impl Args {
    /// An engine with the options' memory, or that of an `expert` seat if a level is given.
    fn engine(&self) -> Engine {
        let memory = if self.level.is_some() { TABLE_BYTES } else { usize::from(self.memory) << 20 };
        Engine::new(Weights::embedded(), memory).with_threads(self.threads.into())
    }
}

fn serve_lines(mut protocol: impl EngineProtocol, mut input: impl io::BufRead) -> anyhow::Result<()> {
    // Nobody reads the answers of an engine without its output.
    while !stdout_has_failed() {
        match line::next(&mut input, MAX_LINE).context("cannot read standard input")? {
            Some(BoundedLine::Text(line)) if protocol.execute(&line) => {}
            Some(BoundedLine::TooLong) => protocol.line_too_long(),
            Some(BoundedLine::Text(_)) => return Ok(()),
            None => {
                protocol.search_thread().finish_within(END_TIMEOUT);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Answers lines over GTP with the weakest engine; for `fuzz/`.
#[cfg(fuzzing)]
pub fn answer_gtp(lines: &[u8]) {
    let _ = serve_lines(GtpServer::new(weakest(), LineOutput::new(io::sink())), lines);
}

/// Answers lines over the NBoard protocol with the weakest engine; for `fuzz/`.
#[cfg(fuzzing)]
pub fn answer_nboard(lines: &[u8]) {
    let _ = serve_lines(NboardServer::new(weakest(), LineOutput::new(io::sink())), lines);
}

#[cfg(fuzzing)]
fn weakest() -> SearchThread {
    SearchThread::new(Level::new(1), Engine::new(Weights::embedded(), 1 << 16), 0)
}

fn level(text: &str) -> Result<Level, String> {
    let level = text.parse().ok().and_then(Level::new);
    level.ok_or_else(|| format!("there are levels 1 to {}", AiKind::Expert.profile().levels))
}
