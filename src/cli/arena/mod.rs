//! `reversi arena`: two players against each other, many times, without a server.
//!
//! ```text
//!   contestant A, contestant B      as they are written: expert:12@100ms
//!          │ ready()
//!       Mover, Mover  ──▶  game     one game, in a thread of its own
//!                           │
//!                        contest    which game is next, and whether enough is known
//!                           │
//!                        ledger     results in the order of the games ──▶ report (JSON, transcripts), progress
//! ```
//!
//! Games come in pairs: one opening, played twice with the colours changed. Results count in the order of the games, whatever the
//! order in which they end, so that one seed gives one result on any number of threads, as long as no clock bounds the players.

mod contest;
mod contestant;
mod game;
mod ledger;
mod report;

use std::{path::PathBuf, sync::Arc, thread, time::Duration};

use anyhow::{Context as _, bail};

use self::{contest::Contest, contestant::Contestant, ledger::Plan};
use super::{entropy, interrupt::Interrupt, progress::Progress, say};
use crate::{rating::Sprt, rules::opening};

/// How long players are waited for after an interrupt: built-in ones answer at once, other programs may not.
const PARTING: Duration = Duration::from_secs(2);

/// More threads than this are a slip of the pen.
const MOST_THREADS: u16 = 1024;

/// Who plays, how often, and what is written down.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A player is an AI at its usual level, at the one after a colon, or with as long for each move as the @ says:\n  \
    mcts   expert:12   expert@100ms   expert:16@100ms (whichever ends first)\n\
    or another program's engine, which has 5s for a move where no bound is given:\n  \
    \"nboard:./edax -nboard\"   \"gtp:./zebra --gtp@2s\"\n\n\
    Between AIs without an @ one seed repeats the same games, however many run at a time.\n\n\
    Examples:\n  \
    reversi arena expert:9 alphabeta --games 200\n  \
    reversi arena mcts:6 mcts-roxanne:6 --sprt 0,50    ends as soon as it is known which difference is true\n  \
    reversi arena expert:8 expert:7 --seed 1 --json result.json --transcripts games.txt"
)]
pub(super) struct Args {
    /// The player of whom the score is told.
    #[arg(env = "REVERSI_A", value_name = "A")]
    a: Contestant,
    /// Its opponent.
    #[arg(env = "REVERSI_B", value_name = "B")]
    b: Contestant,
    /// Games to play, an even number: each opening is played twice, with the colours changed.
    #[arg(long, env = "REVERSI_GAMES", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    games: u32,
    /// Games that run at a time; as many as there are processors if left out.
    #[arg(long, env = "REVERSI_CONCURRENCY", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_THREADS)))]
    concurrency: Option<u16>,
    /// Decides the openings and the moves; random if left out.
    #[arg(long, env = "REVERSI_SEED")]
    seed: Option<u64>,
    /// End as soon as one of two differences in Elo is believed, such as 0,10; with the errors permitted: 0,10,0.05,0.05.
    #[arg(long, env = "REVERSI_SPRT", value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Write the result and every game to this file, as JSON.
    #[arg(long, env = "REVERSI_JSON", value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the moves of every game to this file, a line each.
    #[arg(long, env = "REVERSI_TRANSCRIPTS", value_name = "FILE")]
    transcripts: Option<PathBuf>,
}

/// Plays the games, tells the score and writes the files.
///
/// # Errors
/// When a player cannot play at all, when a file cannot be written, and when it was interrupted: what is known is then told before.
pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    if !args.games.is_multiple_of(2) {
        bail!("--games must be even: each opening is played twice, with the colours changed");
    }
    let mut interrupt = Interrupt::listen()?;
    // Short enough to be typed again.
    let seed = args.seed.unwrap_or_else(|| entropy::random() >> 32);
    let plan = Plan { a: args.a, b: args.b, games: args.games, seed, sprt: args.sprt };
    say(format_args!("{} against {}: {} games, seed {seed}", plan.a, plan.b, plan.games));
    let openings = opening::balanced_count();
    if plan.games as usize > 2 * openings {
        say(format_args!(
            "each of the {openings} openings comes again: players who leave nothing to chance repeat their games"
        ));
    }
    let contest = Arc::new(Contest::new(plan, Progress::of(args.games.into(), "games"))?);
    let threads = args.concurrency.map_or_else(processors, usize::from);
    let mut playing = tokio::task::spawn_blocking({
        let contest = Arc::clone(&contest);
        move || contest.play(threads)
    });
    tokio::select! {
        done = &mut playing => done.context("a game could not be played")?,
        () = interrupt.wait() => {
            contest.stop();
            // Whoever still thinks then is not waited for.
            let _ = tokio::time::timeout(PARTING, playing).await;
        }
    }
    let ledger = contest.close();
    say(report::summary(&ledger));
    if let Some(file) = &args.json {
        std::fs::write(file, report::json(&ledger)).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if let Some(file) = &args.transcripts {
        std::fs::write(file, report::transcripts(&ledger))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if !ledger.is_complete() {
        bail!("interrupted after {} of {} games", ledger.games.len(), ledger.plan.games);
    }
    Ok(())
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
