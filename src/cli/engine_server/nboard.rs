//! The NBoard protocol, version 2, from the engine's side. Most commands first abandon the running search.

use std::{ops::ControlFlow, time::Duration};

use tokio::time::Instant;

use super::{
    history::GameHistory,
    output::LineOutput,
    protocol::EngineProtocol,
    search_thread::{SearchBounds, SearchJob, SearchThread, unsearched},
};
use crate::{
    ai::engine::{Plan, Report},
    room::ggf,
    rules::{ByColor, Color, Outcome, Position, Square},
};

/// The search depth, in plies, if none is set.
const DEFAULT_DEPTH: u8 = 12;

/// Each search for hints is this many plies deeper.
const HINT_STEP: u8 = 4;

const NO_GAME: &str = "the last game or move could not be read; set the game again";

pub(super) struct NboardServer {
    search_thread: SearchThread,
    output: LineOutput,
    /// `None` after a game or a move that could not be read, until the next game: an answer for an earlier position
    /// would be taken for one in the game that the caller sees.
    history: Option<GameHistory>,
    /// The remaining times, if there are clocks.
    clocks: Option<ByColor<Duration>>,
    increment: Duration,
    depth: Option<u8>,
}

impl EngineProtocol for NboardServer {
    fn execute(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let done = match word {
            "nboard" => self.handshake(rest),
            "set" => self.set(rest),
            "move" => self.play(rest),
            "hint" => self.hint(rest),
            "go" => self.go(),
            "ping" => self.ping(rest),
            "learn" => self.learn(),
            "analyze" => self.analyze(),
            "quit" => return false,
            // The protocol requires that unknown commands are ignored.
            _ => Ok(()),
        };
        if let Err(wrong) = done {
            self.output.write(format_args!("status {wrong}"));
        }
        true
    }

    fn line_too_long(&mut self) {
        // It may have been a game.
        self.search_thread.abandon();
        self.history = None;
        self.output.write("status a line is too long");
    }

    fn search_thread(&mut self) -> &mut SearchThread {
        &mut self.search_thread
    }
}

impl NboardServer {
    pub(super) fn new(search_thread: SearchThread, output: LineOutput) -> Self {
        Self {
            search_thread,
            output,
            history: Some(GameHistory::default()),
            clocks: None,
            increment: Duration::ZERO,
            depth: None,
        }
    }

    fn handshake(&mut self, version: &str) -> Result<(), String> {
        number(version, "the version")?;
        self.output.write(concat!("set myname reversi-", env!("CARGO_PKG_VERSION")));
        Ok(())
    }

    fn set(&mut self, rest: &str) -> Result<(), String> {
        self.search_thread.abandon();
        let (what, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match what {
            "depth" => self.depth = Some(number(value, "the depth")?.clamp(1, 60) as u8),
            "game" => self.set_game(value)?,
            // The engine does not support contempt.
            "contempt" => drop(value.trim().parse::<i32>().map_err(|_| "the contempt is no number")?),
            _ => {}
        }
        Ok(())
    }

    fn set_game(&mut self, text: &str) -> Result<(), String> {
        self.history = None;
        let game = ggf::read(text).map_err(|error| error.to_string())?;
        let history = self.history.insert(GameHistory::from(&game));
        let clock = game.clock.filter(|clock| !(clock.main + clock.increment).is_zero());
        self.increment = clock.map_or(Duration::ZERO, |clock| clock.increment);
        self.clocks = clock.map(|clock| ByColor::new(clock.main, clock.main));
        let sides = history.positions().iter().map(|position| position.turn()).collect::<Vec<_>>();
        for (side, ply) in sides.into_iter().zip(&game.plies) {
            self.spend(side, Duration::from_millis(ply.spent_ms.into()));
        }
        Ok(())
    }

    fn spend(&mut self, side: Color, spent: Duration) {
        if let Some(clocks) = &mut self.clocks {
            clocks[side] = clocks[side].saturating_sub(spent) + self.increment;
        }
    }

    fn play(&mut self, text: &str) -> Result<(), String> {
        self.search_thread.abandon();
        let mut history = self.history.take().ok_or(NO_GAME)?;
        let mut parts = text.split('/').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let square = match name.parse::<Square>() {
            Ok(square) => Some(square),
            Err(_) if ["pa", "pass", "--", "@@"].iter().any(|pass| name.eq_ignore_ascii_case(pass)) => None,
            Err(error) => return Err(error.to_string()),
        };
        let position = history.position();
        // A forced pass may be sent or left out.
        let side = if square.is_some() { position.after_forced_pass().0.turn() } else { position.turn() };
        history.play(side, square)?;
        self.history = Some(history);
        let seconds = parts.nth(1).and_then(|seconds| seconds.parse().ok()).unwrap_or_default();
        self.spend(side, Duration::try_from_secs_f64(seconds).unwrap_or_default());
        Ok(())
    }

    fn go(&mut self) -> Result<(), String> {
        self.search_thread.abandon();
        let position = self.history()?.position();
        if position.legal_moves().is_empty() {
            self.output.write("=== PA");
            return Ok(());
        }
        let empties = position.board().empties().count();
        let plan = self.clocks.map(|clocks| Plan::new(clocks[position.turn()], self.increment, empties));
        let (bounds, output) = (SearchBounds { depth: self.depth, plan }, self.output.clone());
        self.begin(move |mut job| {
            let began = Instant::now();
            let found = job.choose(position, bounds, &mut |report| {
                if output.write(search_line(report)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            let Some(report) = found.filter(|_| !job.is_unwanted()) else { return };
            let seconds = began.elapsed().as_secs_f64();
            output.write(format_args!("nodestats {} {seconds:.2}", report.nodes));
            output.write(format_args!("=== {}/{:.2}/{seconds:.2}", notation(&[report.best]), report.discs));
        })
    }

    fn hint(&mut self, count: &str) -> Result<(), String> {
        self.search_thread.abandon();
        let count = number(count, "the number of hints")?.clamp(1, 64) as usize;
        let (position, output) = (self.history()?.position(), self.output.clone());
        let deepest = self.depth.unwrap_or(DEFAULT_DEPTH);
        self.begin(move |mut job| {
            let mut depth = 0;
            while depth < deepest {
                depth = (depth + HINT_STEP).min(deepest);
                let Some(mut hints) = evaluate_moves(&mut job, position, depth) else { return };
                hints.sort_by(|one, other| other.discs.total_cmp(&one.discs));
                if !hints.iter().take(count).all(|report| output.write(search_line(report))) {
                    return;
                }
            }
        })
    }

    fn analyze(&mut self) -> Result<(), String> {
        self.search_thread.abandon();
        let (positions, output) = (self.history()?.positions().to_vec(), self.output.clone());
        let depth = self.depth.unwrap_or(DEFAULT_DEPTH);
        self.begin(move |mut job| {
            for (ply, &position) in positions.iter().enumerate().rev() {
                let Some(report) = value(&mut job, position, depth) else { return };
                if !output.write(format_args!("analysis {ply} {:.2}", report.discs)) {
                    return;
                }
            }
        })
    }

    fn ping(&mut self, number: &str) -> Result<(), String> {
        self.search_thread.abandon();
        let number = number.parse::<i64>().map_err(|_| "a ping has a number")?;
        self.output.write(format_args!("pong {number}"));
        Ok(())
    }

    fn learn(&mut self) -> Result<(), String> {
        self.search_thread.abandon();
        // The engine has no opening book.
        self.output.write("learned");
        Ok(())
    }

    fn history(&self) -> Result<&GameHistory, String> {
        self.history.as_ref().ok_or_else(|| NO_GAME.to_owned())
    }

    fn begin(&mut self, job: impl FnOnce(SearchJob<'_>) + Send + 'static) -> Result<(), String> {
        if self.search_thread.begin(job) { Ok(()) } else { Err("no thread can be started".to_owned()) }
    }
}

fn number(text: &str, what: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("{what} is no number"))
}

/// A report for every move of a position, searched to `depth`; `None` if the job was abandoned.
fn evaluate_moves(job: &mut SearchJob<'_>, position: Position, depth: u8) -> Option<Vec<Report>> {
    let judged = position.legal_moves().iter().map(|square| {
        let next = position.play_unchecked(square).after_forced_pass().0;
        let rest = value(job, next, depth - 1)?;
        let discs = if next.turn() == position.turn() { rest.discs } else { -rest.discs };
        let line = [&[square], &rest.line[..]].concat();
        Some(Report { best: square, discs, depth: rest.depth + 1, line, ..rest })
    });
    judged.collect()
}

/// The value of a position for the side to move; `None` if the job was abandoned. A forced pass is played first. If the
/// game is over, the line is empty and the best move meaningless.
fn value(job: &mut SearchJob<'_>, position: Position, depth: u8) -> Option<Report> {
    let (after_pass, passed) = position.after_forced_pass();
    if after_pass.is_over() {
        let black = f32::from(Outcome::of(after_pass.board()).difference());
        let discs = if after_pass.turn() == Color::Black { black } else { -black };
        return Some(Report { discs, exact: true, ..unsearched(Square::ALL[0], Vec::new()) });
    }
    let bounds = SearchBounds { depth: Some(depth.max(1)), plan: None };
    let report = job.search(after_pass, bounds, &mut |_| ControlFlow::Continue(()))?;
    let discs = if passed.is_some() { -report.discs } else { report.discs };
    (!job.is_unwanted()).then_some(Report { discs, ..report })
}

/// A line such as `search F5D6C3 1.20 0 12`, with depth `100%` if the value is proved.
fn search_line(report: &Report) -> String {
    let depth = match report {
        Report { exact: true, .. } => "100%".to_owned(),
        Report { certainty: 100, depth, .. } => depth.to_string(),
        Report { certainty, depth, .. } => format!("{depth}@{certainty}%"),
    };
    format!("search {} {:.2} 0 {depth}", notation(&report.line), report.discs)
}

fn notation(line: &[Square]) -> String {
    line.iter().map(ToString::to_string).collect::<String>().to_uppercase()
}
