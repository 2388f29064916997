//! `reversi arena`: matches of many games between two players, without a server.
//!
//! ```text
//!   ArenaPlayer A, B        parsed, such as expert:12@100ms
//!          │ ready()
//!   PlayingEngine A, B ──▶ game     one game on one thread
//!                           │
//!                         runner    deals out the games, ends at an SPRT verdict
//!                           │
//!                         results   in the order of the games ──▶ report (JSON, transcripts), progress
//! ```
//!
//! Games come in pairs: one opening, played twice with the colours changed. Results count in the order of the games,
//! not of their ends, so that one seed gives one result on any number of threads, unless a clock bounds the players. No
//! opening is repeated: deterministic players would repeat their games, which would count as new ones.

mod game;
mod player;
mod report;
mod results;
mod runner;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, bail};

use self::{player::ArenaPlayer, report::OutputFile, results::MatchPlan, runner::MatchRunner};
use crate::{
    cli::{
        local_search::processors,
        random, say,
        terminal::{interrupt::Interrupt, progress::Progress},
    },
    match_statistics::Sprt,
    rules::opening,
};

/// The wait for players after an interrupt; external ones may not end at once.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Rejects a mistyped number of threads.
const MAX_THREADS: u16 = 1024;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A player is an AI: at its default level, at the level after a colon, or with the time for each move after an @. \
    With both, the limit that is reached first ends the search:\n  \
    mcts   expert:12   expert@100ms   expert:16@100ms\n\
    A player can also be the engine of another program; without an @ it has 5 seconds for each move:\n  \
    \"nboard:./edax -nboard\"   \"gtp:./zebra --gtp@2s\"\n\n\
    Between AIs without an @, the same seed gives the same games, with any number of parallel games. A new seed only \
    reorders the same 500 openings. Between players without randomness such runs are not independent: do not add their \
    results, but use more openings (--games, up to 1000).\n\n\
    Examples:\n  \
    reversi arena expert:9 alphabeta --games 200\n  \
    reversi arena mcts:6 mcts-roxanne:6 --sprt 0,50  until 0 or 50 Elo is accepted\n  \
    reversi arena expert:8 expert:7 --seed 1 --json result.json"
)]
pub(in crate::cli) struct Args {
    /// The player whose score is reported.
    #[arg(value_name = "A")]
    a: ArenaPlayer,
    /// Its opponent.
    #[arg(value_name = "B")]
    b: ArenaPlayer,
    /// Games to play, an even number: each opening is played twice, with the colours changed, and never again.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = games)]
    games: u32,
    /// Games that run in parallel; one for each processor if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    concurrency: Option<u16>,
    /// The same seed plays the same games; random if left out.
    #[arg(long)]
    seed: Option<u64>,
    /// End as soon as a test (SPRT) accepts one of two differences in Elo, such as 0,10; with its error rates:
    /// 0,10,0.05,0.05.
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Write the result and every game to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the moves of every game to this file, a line each.
    #[arg(long, value_name = "FILE")]
    transcripts: Option<PathBuf>,
}

/// Plays the games, prints the score and writes the files.
///
/// # Errors
/// A player cannot be started, a file cannot be written, or an interrupt, after which the results so far are printed.
pub(in crate::cli) async fn run(args: Args) -> anyhow::Result<()> {
    let mut interrupt = Interrupt::listen()?;
    // Short enough to type.
    let seed = args.seed.unwrap_or_else(|| random::random() >> 32);
    let plan = MatchPlan { a: args.a, b: args.b, games: args.games, seed, sprt: args.sprt };
    say(format_args!("{} against {}: {} games, seed {seed}", plan.a, plan.b, plan.games));
    let runner = Arc::new(MatchRunner::new(plan, Progress::of(args.games.into(), "games"))?);
    let (json, transcripts) = (OutputFile::open(args.json)?, OutputFile::open(args.transcripts)?);
    let threads = args.concurrency.map_or_else(processors, usize::from);
    let mut playing = tokio::task::spawn_blocking({
        let runner = Arc::clone(&runner);
        move || runner.play(threads)
    });
    tokio::select! {
        done = &mut playing => done.context("a game could not be played")?,
        () = interrupt.end() => {
            runner.stop();
            // Searches that take longer are abandoned.
            let _ = tokio::time::timeout(STOP_TIMEOUT, playing).await;
        }
    }
    let results = runner.close();
    report::summary(&results).lines().for_each(say);
    // Both are tried before an error is returned.
    let written = [json.write(&report::json(&results)), transcripts.write(&report::transcripts(&results))];
    written.into_iter().collect::<anyhow::Result<()>>()?;
    if !results.is_complete() {
        bail!("interrupted after {} of {} games", results.games.len(), results.plan.games);
    }
    Ok(())
}

fn games(text: &str) -> Result<u32, String> {
    let openings = opening::balanced_count();
    let max = 2 * openings;
    match text.parse::<u32>() {
        Ok(games) if games as usize > max => Err(format!(
            "there are {openings} openings, each for two games: more than {max} would be the same games again, which \
             prove nothing"
        )),
        Ok(games @ 2..) if games.is_multiple_of(2) => Ok(games),
        _ => Err("must be an even number: each opening is played twice, with the colours changed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_opening_is_repeated() {
        let most = 2 * opening::balanced_count() as u32;
        assert_eq!((games("2"), games(&most.to_string())), (Ok(2), Ok(most)));
        assert!(games(&(most + 2).to_string()).unwrap_err().contains("the same games again"));
        for odd in ["", "x", "-2", "0", "1", "3"] {
            assert!(games(odd).unwrap_err().contains("even number"), "{odd}");
        }
    }
}
