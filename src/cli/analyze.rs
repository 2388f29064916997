//! `reversi analyze`: the discs that each move of a game lost, by the local engine or a server's.

use std::{io::Read as _, num::NonZeroUsize, path::Path, time::Duration};

use anyhow::{Context as _, bail};
use futures_util::{StreamExt as _, stream};
use tokio::{task::spawn_blocking, time::sleep};

use super::{
    connect::{
        login::{self, LoginOptions},
        running_game::refuse_running,
        server_address::Address,
    },
    local_search::processors,
    terminal::{interrupt::until_output_fails, line, progress::Progress},
    text::analysis::AnalysisPrinter,
};
use crate::{
    ai::{
        AiKind, Level,
        analysis::{self, Effort, GameMoves, JudgedMove, Line, MAX_DEPTH, PlayedMove, Study},
        engine::Engines,
    },
    client::{
        AnalysisBudget, AnalysisLine, AnalysisSubject, ClientError, GameAnalysis, GameId, MoveAnalysis, PlayerKind,
        Session,
    },
    room::ggf,
    rules::{Bitboard, ByColor, Position, Transcript},
    search::Stop,
};

/// The largest file, in bytes: it is read whole, and holds many thousands of games.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "An evaluation is the number of discs by which black leads at the end of the game; a * marks an exact one. \
        A move's loss is how much more the best move is worth.\n\nExamples:\n  \
        reversi analyze f5d6c3d3c4f4e3f3e6     these moves from the standard start\n  \
        reversi analyze games.ggf --number 3   the third game of a file\n  \
        reversi analyze game.txt --level 16    as deep as the strongest AI searches\n  \
        reversi analyze game.txt --time 60     in a minute\n  \
        reversi analyze --game 8tsbk7xedm71-1  a finished game, by the server"
)]
pub(super) struct Args {
    /// A file with games, or the moves of one.
    #[arg(value_name = "FILE|MOVES", required_unless_present = "game", conflicts_with = "game")]
    source: Option<String>,
    /// A finished game of the server, which also analyses it.
    #[arg(long, value_name = "ID")]
    game: Option<GameId>,
    /// Which game of the file, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// Search as deep as the AI `expert` of this level [default: 14, unless --depth or --time is given].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=i64::from(AiKind::Expert.profile().levels)))]
    level: Option<u8>,
    /// Search this many plies deep, and to the end of the game if it is that near.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_DEPTH)))]
    depth: Option<u8>,
    /// Approximate time for all positions together.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    time: Option<u32>,
    /// Positions that are searched in parallel [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON, an object a line: the moves, then the sums.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

/// The default level: a fraction of a second for each position.
const DEFAULT_LEVEL: u8 = 14;

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let Some(game) = &args.game else { return until_output_fails(analyze_here(&args)).await };
    // As a player, who has more time for an analysis than a visitor.
    let client = login::connect(&args.server).await?;
    let session = login::resume_any_or_log_in(&client, &args.login, "reader", PlayerKind::Human).await?;
    let done = until_output_fails(analyze_there(&session, game, &args)).await;
    login::log_out_unless_kept(session, args.login.keep.as_deref()).await;
    done
}

async fn analyze_here(args: &Args) -> anyhow::Result<()> {
    let game = read(args.source.as_deref().unwrap_or_default(), args.number)?;
    let positions: Vec<Position> = game.game_moves.positions().collect();
    let threads = args.threads.map_or_else(processors, NonZeroUsize::get);
    let time_per_position = args.time_per_position(threads, positions.len());
    let effort = args.effort();
    let progress = Progress::of(positions.len() as u64, "positions");
    let mut printer = AnalysisPrinter::new(args.json, game.names);
    // `threads` searches at a time, printed in the order of the game.
    let mut studies =
        stream::iter(positions).map(|position| study(position, effort, time_per_position)).buffered(threads);
    let mut before: Option<Study> = None;
    let mut made = game.game_moves.moves.iter();
    while let Some(after) = studies.next().await {
        let after = after?;
        if let Some(before) = &before
            && let Some(made) = made.next()
        {
            let judged = analysis_of(*made, analysis::judge(before, made.square, &after));
            progress.suspend(|| printer.print_move(judged));
        }
        progress.inc(1);
        before = Some(after);
    }
    progress.finish_and_clear();
    printer.print_summary();
    Ok(())
}

/// Searches one position on its own thread, for at most `time_per_position`.
async fn study(position: Position, effort: Effort, time_per_position: Option<Duration>) -> anyhow::Result<Study> {
    let stop = Stop::new();
    let flag = stop.clone();
    let mut search = spawn_blocking(move || analysis::study(Engines::usual(), position, effort, &flag));
    if let Some(time_per_position) = time_per_position {
        tokio::select! {
            study = &mut search => return study.context("the engine failed"),
            () = sleep(time_per_position) => stop.stop(),
        }
    }
    search.await.context("the engine failed")
}

fn analysis_of(made: PlayedMove, judged: JudgedMove) -> MoveAnalysis {
    let Line { evaluation, depth, exact, certainty, moves } = judged.best;
    MoveAnalysis {
        ply: made.ply.into(),
        side: made.position.turn(),
        square: made.square,
        best: AnalysisLine { evaluation: evaluation.into(), depth, exact, certainty, moves },
        evaluation: judged.evaluation.into(),
        loss: judged.loss.into(),
        exact: judged.exact,
        nodes: judged.nodes,
    }
}

async fn analyze_there(session: &Session, game: &GameId, args: &Args) -> anyhow::Result<()> {
    let refused = |error: ClientError| anyhow::Error::from(error).context(format!("cannot analyse {game}"));
    let record = match session.record(game).await {
        Ok(record) => record,
        Err(error) => {
            refuse_running(session, game).await?;
            return Err(refused(error));
        }
    };
    let names = Some(ByColor::new(record.players.black.to_string(), record.players.white.to_string()));
    let mut printer = AnalysisPrinter::new(args.json, names);
    let mut results =
        session.analyze_game(AnalysisSubject::Game(game.clone()), args.budget()).await.map_err(refused)?;
    let progress = Progress::of(record.transcript.squares().len() as u64, "moves");
    while let Some(result) = results.next().await {
        match result.context("the analysis was cut short")? {
            GameAnalysis::Move { judged, done, moves } => {
                progress.suspend(|| printer.print_move(*judged));
                progress.set(done.into(), moves.into());
            }
            GameAnalysis::Summary(_) => {
                progress.finish_and_clear();
                printer.print_summary();
                return Ok(());
            }
        }
    }
    bail!("the server ended the analysis early; try again")
}

impl Args {
    fn effort(&self) -> Effort {
        let bounded = self.depth.is_some() || self.time.is_some();
        let level = self.level.or((!bounded).then_some(DEFAULT_LEVEL));
        Effort {
            depth: self.depth.unwrap_or(MAX_DEPTH),
            nodes: level.and_then(Level::new).map_or(u64::MAX, Level::nodes),
        }
    }

    fn budget(&self) -> AnalysisBudget {
        AnalysisBudget {
            depth: self.depth,
            time: self.time.map(|seconds| Duration::from_secs(seconds.into())),
            nodes: self.level.and_then(Level::new).map(Level::nodes),
        }
    }

    /// The time for each position, with `threads` of them searched in parallel.
    fn time_per_position(&self, threads: usize, positions: usize) -> Option<Duration> {
        let rounds = u32::try_from(positions.div_ceil(threads)).unwrap_or(u32::MAX).max(1);
        Some(Duration::from_secs(self.time?.into()) / rounds)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct GameToAnalyze {
    game_moves: GameMoves,
    names: Option<ByColor<String>>,
}

/// Game `number` (from 1) of the file `source`, or the moves that `source` itself is.
fn read(source: &str, number: u32) -> anyhow::Result<GameToAnalyze> {
    let file = Path::new(source);
    let is_file = source == "-" || file.metadata().is_ok_and(|metadata| !metadata.is_dir());
    if !is_file {
        let is_id = source.contains('-') && source.parse::<GameId>().is_ok();
        let hint = if is_id { format!("; for a finished game of the server: --game {source}") } else { String::new() };
        return transcript(source)
            .with_context(|| format!("`{source}` is neither a file nor moves such as f5d6c3{hint}"));
    }
    let mut bytes = Vec::new();
    let read = line::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if read.with_context(|| format!("cannot read {source}"))? as u64 > MAX_BYTES {
        bail!("{source} is longer than {} MiB", MAX_BYTES >> 20);
    }
    let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
    parse(&line::decode(bytes), index).with_context(|| format!("game {number} of {source}"))
}

/// Game `index` (from 0) of a text in GGF, or of transcripts, one a line.
fn parse(text: &str, index: usize) -> anyhow::Result<GameToAnalyze> {
    const OPENING: &str = "(;";
    if text.contains(OPENING) {
        let game = text.split(OPENING).skip(1).nth(index).context("there are fewer games")?;
        return from_ggf(&format!("{OPENING}{game}"));
    }
    if index == 0
        && let Ok(game) = transcript(text)
    {
        return Ok(game);
    }
    let line = text.lines().filter(|line| !line.trim().is_empty()).nth(index).context("there are fewer games")?;
    transcript(line)
}

fn transcript(text: &str) -> anyhow::Result<GameToAnalyze> {
    let moves: Transcript = text.parse()?;
    if moves.squares().is_empty() {
        bail!("there are no moves");
    }
    Ok(GameToAnalyze { game_moves: GameMoves::of(Position::START, moves.squares().iter().copied(), 0), names: None })
}

fn from_ggf(text: &str) -> anyhow::Result<GameToAnalyze> {
    let game = ggf::read(text)?;
    // The engine requires discs on the four centre squares.
    if !(game.start.board().empties() & Bitboard::CENTRE).is_empty() {
        bail!("the board has no discs in its middle");
    }
    let game_moves = GameMoves::of(game.start, game.plies.iter().filter_map(|ply| ply.square), 0);
    if game_moves.moves.is_empty() {
        bail!("there are no moves");
    }
    Ok(GameToAnalyze { game_moves, names: Some(game.players) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVES: &str = "f5d6c3d3c4";

    #[test]
    fn games_are_read_from_transcripts_and_ggf() {
        let alone = parse(MOVES, 0).unwrap();
        assert_eq!(alone.game_moves.moves.len(), 5);
        assert_eq!(parse("F5 d6\nc3 d3 c4\n", 0).unwrap(), alone);
        let listed = format!("f5f6\n\n{MOVES}\n");
        assert_eq!(parse(&listed, 1).unwrap(), alone);
        let ggf =
            "(;GM[Othello]PB[ann]PW[bob]TY[8]B[f5]W[d6];)\n1 (;GM[Othello]PB[cay]TY[8]B[f5]W[d6]B[c3]W[d3]B[c4];)";
        let second = parse(ggf, 1).unwrap();
        assert_eq!((second.game_moves, second.names.unwrap().black.as_str()), (alone.game_moves, "cay"));
    }

    #[test]
    fn text_without_a_game_is_refused() {
        for (text, place) in [("", 0), ("f5f5", 0), (MOVES, 1), ("(;B[a1];)", 0), ("(;PB[x];)", 0)] {
            assert!(parse(text, place).is_err(), "{text:?}");
        }
        let empty = format!("(;GM[Othello]BO[8 *O{} *]B[c1];)", "-".repeat(62));
        assert!(parse(&empty, 0).unwrap_err().to_string().contains("middle"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("old.ggf");
        std::fs::write(&file, b"(;GM[Othello]PB[Jos\xe9]B[f5];)").unwrap();
        assert!(read(file.to_str().unwrap(), 1).is_ok(), "names may be in Latin-1");
        assert!(read("no such file", 1).unwrap_err().to_string().contains("neither a file"));
    }
}
