//! Loads a server over the public API from another process, checks all messages, and reports figures.
//!
//! ```text
//!   bench ── server_process ──▶ the server, or baseline_server: the same messages through bare tonic
//!     │                           ▲       │
//!   measurement ── bot_pair ──────┤ turns ├─▶ player_check ─ fixed_game (the game that is played)
//!     │                           │       │
//!     ├──── watchers ◀────────────┘events └─▶ watcher_check
//!     │
//!   report ◀── counters (moves, times), CPU time and memory of the process
//! ```
//!
//! The load and the checks are the same for a server and for the baseline.

mod baseline_server;
mod bot_pair;
mod connection;
mod counters;
mod fixed_game;
mod load;
mod measurement;
mod player_check;
mod prepared_messages;
mod progress;
mod report;
mod server_process;
mod violation;
mod watcher_check;
mod watchers;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use load::Load;
use progress::Progress;
use report::{Comparison, Figures};
use server_process::Target;

/// Loads a server with bots and watchers, checks all that it sends, and measures its speed.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  \
    reversi-bench --rooms 1000                        moves a second, as many as it can\n  \
    reversi-bench --rooms 1000 --pace 1 --durable     how long a turn takes at 1,000 moves a second\n  \
    reversi-bench --rooms 1 --watchers 1000 --in-step events a second to the watchers of a room\n  \
    reversi-bench --rooms 100 --compare               the same, and what bare tonic needs for it"
)]
struct Args {
    #[command(flatten)]
    load: Load,
    /// Let the server store everything, in a new folder below DIR, which is deleted afterwards [default DIR: here].
    #[arg(long, env = "REVERSI_BENCH_DURABLE", value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    durable: Option<PathBuf>,
    /// The server of --running.
    #[arg(
        long,
        env = "REVERSI_SERVER",
        default_value = "http://127.0.0.1:50051",
        value_name = "URL_OR_HOST:PORT",
        requires = "running"
    )]
    server: String,
    /// Load the running server of --server instead of starting one. Its limits may refuse the load.
    #[arg(long, env = "REVERSI_BENCH_RUNNING", conflicts_with_all = ["durable", "compare"],
        value_parser = clap::builder::FalseyValueParser::new())]
    running: bool,
    /// The process of that server, to measure its CPU time and memory.
    #[arg(long, env = "REVERSI_BENCH_PID", value_name = "PID", requires = "running")]
    pid: Option<u32>,
    /// Measure in turn with another server, and report the ratios.
    #[arg(long, env = "REVERSI_BENCH_COMPARE", value_name = "WITH", num_args = 0..=1, default_missing_value = "limit")]
    compare: Option<CompareWith>,
    /// Rounds of a comparison.
    #[arg(long, env = "REVERSI_BENCH_ROUNDS", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=99))]
    rounds: u16,
    /// Write the figures to FILE, as JSON.
    #[arg(long, env = "REVERSI_BENCH_JSON", value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What a server is compared with.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompareWith {
    /// Bare tonic with the same messages.
    Limit,
    /// A server that keeps nothing.
    Ephemeral,
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // The processes to measure are this program.
        Some("serve") => reversi::cli::main(),
        Some("limit") => finish(baseline_server::run()),
        _ => finish(run(Args::parse())),
    }
}

fn finish(work: impl Future<Output = anyhow::Result<()>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(work)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reversi-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The URL of a server that is named by it, or by host and port.
fn url(server: &str) -> String {
    if server.contains("://") { server.to_owned() } else { format!("http://{server}") }
}

/// Measures until all rounds are done or an interrupt, and reports the figures so far.
///
/// # Errors
/// The server cannot be started or reached, or violates the protocol.
async fn run(args: Args) -> anyhow::Result<()> {
    args.load.check(matches!(args.compare, Some(CompareWith::Limit)))?;
    // With fewer files, connections fail with an error.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let target = match &args.durable {
        _ if args.running => Target::Running { url: url(&args.server), pid: args.pid },
        Some(parent) => Target::Durable(parent.clone()),
        None => Target::Ephemeral,
    };
    let cut = CancellationToken::new();
    let measured = bench(&args, target, &cut);
    tokio::pin!(measured);
    tokio::select! {
        done = &mut measured => done,
        _ = tokio::signal::ctrl_c() => {
            cut.cancel();
            measured.await
        }
    }
}

async fn bench(args: &Args, target: Target, cut: &CancellationToken) -> anyhow::Result<()> {
    let progress = Progress::new();
    let other = args.compare.map(|other| match other {
        CompareWith::Limit => Target::Limit,
        CompareWith::Ephemeral => Target::Ephemeral,
    });
    let mut report = BenchReport::new(&args.load, target, other);
    let rounds = if report.other.is_some() { args.rounds } else { 1 };
    let mut failed = Ok(());
    for round in 0..rounds {
        if cut.is_cancelled() {
            break;
        }
        failed = report.measure(&args.load, round, &progress, cut).await;
        if failed.is_err() {
            break;
        }
    }
    progress.finish_and_clear();
    report.print();
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&report.json())?;
        std::fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    failed
}

struct BenchReport {
    load: Value,
    target: Target,
    other: Option<Target>,
    measured: Vec<(Target, Figures)>,
    comparison: Comparison,
}

impl BenchReport {
    fn new(load: &Load, target: Target, other: Option<Target>) -> Self {
        Self { load: load.json(), target, other, measured: Vec::new(), comparison: Comparison::default() }
    }

    /// Measures one round: the server, or both targets in alternating order.
    async fn measure(
        &mut self,
        load: &Load,
        round: u16,
        progress: &Progress,
        cut: &CancellationToken,
    ) -> anyhow::Result<()> {
        let mut targets = vec![self.target.clone()];
        targets.extend(self.other.clone());
        if round % 2 == 1 {
            targets.reverse();
        }
        let before = self.measured.len();
        for target in targets {
            let figures = measurement::measure(load, &target, progress, cut).await?;
            self.measured.push((target, figures));
        }
        if let [(one, figures), (_, others)] = &self.measured[before..] {
            let (base, compared) = if *one == self.target { (figures, others) } else { (others, figures) };
            self.comparison.add(base.clone(), compared.clone());
        }
        Ok(())
    }

    /// Prints one round, or the comparison of all rounds.
    fn print(&self) {
        match &self.other {
            Some(other) if !self.comparison.is_empty() => {
                let (target, rounds) = (&self.target, &self.comparison);
                println!(
                    "medians of {target} and of {other}, and the median of the ratios (and their range)\n{rounds}"
                );
            }
            _ => {
                for (target, figures) in &self.measured {
                    println!("{target}\n{figures}");
                }
            }
        }
    }

    fn json(&self) -> Value {
        let measured = self
            .measured
            .iter()
            .map(|(target, figures)| json!({ "target": target.to_string(), "figures": figures.json() }));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "cores": std::thread::available_parallelism().map_or(1, usize::from),
            "load": self.load,
            "measured": measured.collect::<Vec<_>>(),
            "ratios": self.comparison.json(),
        })
    }
}
