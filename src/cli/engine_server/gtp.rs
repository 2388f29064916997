//! The Go Text Protocol, version 2, as Othello programs use it. Each command is answered before the next is executed.

use std::{
    io::Read as _,
    ops::ControlFlow,
    path::Path,
    sync::mpsc::{Receiver, sync_channel},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    history::GameHistory,
    output::LineOutput,
    protocol::{EngineProtocol, MAX_LINE},
    search_thread::{SearchBounds, SearchThread},
};
use crate::{
    ai::engine::Plan,
    cli::terminal::line::decode,
    room::ggf,
    rules::{ByColor, Color, Position, Square},
};

const COMMANDS: [&str; 19] = [
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "clear_board",
    "komi",
    "play",
    "genmove",
    "reg_genmove",
    "undo",
    "time_settings",
    "time_left",
    "set_game",
    "list_games",
    "loadsgf",
    "showboard",
];

/// How long `quit` waits for a running search before it stops it with the best move so far.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum of any time, in seconds: longer ones are clamped, so that nothing overflows.
const MAX_SECONDS: u64 = 3_600_000;

pub(super) struct GtpServer {
    search_thread: SearchThread,
    output: LineOutput,
    history: GameHistory,
    settings: Option<TimeSettings>,
    left: ByColor<Option<TimePeriod>>,
    /// The result of the running search.
    pending: Option<Receiver<GeneratedMove>>,
}

/// The time of a game: first `main`, then `overtime` for every `stones` moves.
#[derive(Clone, Copy, Debug)]
struct TimeSettings {
    main: Duration,
    overtime: Duration,
    stones: u32,
}

/// The time left for the next `moves` moves, or for all if `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimePeriod {
    time: Duration,
    moves: Option<u32>,
}

struct GeneratedMove {
    side: Color,
    square: Square,
    spent: Duration,
}

/// The text of an answer; `None` if it comes later.
type Answer = Result<Option<String>, String>;

impl EngineProtocol for GtpServer {
    fn execute(&mut self, line: &str) -> bool {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace().peekable();
        let id = words.next_if(|word| word.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or_default().to_owned();
        let Some(command) = words.next() else { return true };
        if command == "quit" {
            self.search_thread.hurry_after(QUIT_TIMEOUT);
        }
        self.finish_genmove();
        let arguments: Vec<&str> = words.collect();
        match self.answer(&id, command, &arguments) {
            Ok(Some(text)) => drop(self.output.write(format_args!("={id} {text}\n"))),
            Ok(None) => {}
            Err(wrong) => drop(self.output.write(format_args!("?{id} {wrong}\n"))),
        }
        command != "quit"
    }

    fn line_too_long(&mut self) {
        self.finish_genmove();
        self.output.write("? the line is too long\n");
    }

    fn search_thread(&mut self) -> &mut SearchThread {
        &mut self.search_thread
    }
}

impl GtpServer {
    pub(super) fn new(search_thread: SearchThread, output: LineOutput) -> Self {
        Self {
            search_thread,
            output,
            history: GameHistory::default(),
            settings: None,
            left: ByColor::default(),
            pending: None,
        }
    }

    /// Waits for the move of the last `genmove`, and makes it.
    fn finish_genmove(&mut self) {
        self.search_thread.finish();
        let found = self.pending.take().and_then(|pending| pending.try_recv().ok());
        let Some(GeneratedMove { side, square, spent }) = found else { return };
        // Cannot fail: the move is legal.
        let _ = self.history.play(side, Some(square));
        if let Some(period) = &mut self.left[side] {
            period.time = period.time.saturating_sub(spent);
            period.moves = period.moves.map(|moves| moves.saturating_sub(1));
        }
    }

    fn answer(&mut self, id: &str, command: &str, arguments: &[&str]) -> Answer {
        let argument = |index: usize| arguments.get(index).copied().ok_or_else(|| "an argument is missing".to_owned());
        let text = |text: &str| Ok(Some(text.to_owned()));
        let nothing = Ok(Some(String::new()));
        match command {
            "protocol_version" => text("2"),
            "name" => text("reversi"),
            "version" => text(env!("CARGO_PKG_VERSION")),
            "known_command" => Ok(Some(COMMANDS.contains(&argument(0)?).to_string())),
            "list_commands" => Ok(Some(COMMANDS.join("\n"))),
            "list_games" => text("Othello"),
            "quit" => nothing,
            "boardsize" if argument(0)? != "8" => Err("unacceptable size".to_owned()),
            "set_game" if !["othello", "reversi"].contains(&arguments.join(" ").to_lowercase().as_str()) => {
                Err("unsupported game".to_owned())
            }
            "boardsize" | "set_game" | "clear_board" => {
                self.new_game();
                nothing
            }
            "komi" => argument(0)?.parse::<f32>().map_err(|_| "komi not a float".to_owned()).and(nothing),
            "play" => {
                self.history.play(side(argument(0)?)?, square(argument(1)?)?)?;
                nothing
            }
            "genmove" => self.generate(id, side(argument(0)?)?, true),
            "reg_genmove" => self.generate(id, side(argument(0)?)?, false),
            "undo" if self.history.undo() => nothing,
            "undo" => Err("cannot undo".to_owned()),
            "time_settings" => self.set_time(argument(0)?, argument(1)?, argument(2)?).and(nothing),
            "time_left" => self.set_left(side(argument(0)?)?, argument(1)?, argument(2)?).and(nothing),
            "loadsgf" => self.load(Path::new(argument(0)?), arguments.get(1).copied()).and(nothing),
            "showboard" => Ok(Some(picture(self.history.position()))),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn new_game(&mut self) {
        self.history = GameHistory::default();
        self.left = ByColor::from_fn(|_| self.settings.map(TimeSettings::first));
    }

    fn generate(&mut self, id: &str, side: Color, plays: bool) -> Answer {
        let position = self.history.turned_to(side)?;
        if position.legal_moves().is_empty() {
            if plays {
                self.history.play(side, None)?;
            }
            return Ok(Some("pass".to_owned()));
        }
        let plan = self.period(side).map(|period| period.plan(position));
        let (output, id) = (self.output.clone(), id.to_owned());
        let (found, pending) = sync_channel(1);
        let started = self.search_thread.begin(move |mut job| {
            let began = Instant::now();
            let bounds = SearchBounds { depth: None, plan };
            let chosen = job.choose(position, bounds, &mut |_| ControlFlow::Continue(()));
            let Some(report) = chosen.filter(|_| !job.is_unwanted()) else { return };
            if plays {
                let _ = found.send(GeneratedMove { side, square: report.best, spent: began.elapsed() });
            }
            output.write(format_args!("={id} {}\n", report.best));
        });
        self.pending = Some(pending);
        if started { Ok(None) } else { Err("no thread can be started".to_owned()) }
    }

    /// The time of a side; a new overtime period if it is used up.
    fn period(&self, side: Color) -> Option<TimePeriod> {
        let period = self.left[side]?;
        let used_up = period.time.is_zero() || period.moves == Some(0);
        Some(if used_up { self.settings.map_or(period, |settings| settings.overtime_period(period)) } else { period })
    }

    fn set_time(&mut self, main: &str, overtime: &str, stones: &str) -> Result<(), String> {
        let stones = stones.parse().map_err(|_| "stones not an integer".to_owned())?;
        let settings = TimeSettings { main: seconds(main)?, overtime: seconds(overtime)?, stones };
        // By the protocol, overtime without stones means no limit.
        let limited = settings.stones > 0 || settings.overtime.is_zero();
        self.settings = Some(settings).filter(|_| limited);
        self.left = ByColor::from_fn(|_| self.settings.map(TimeSettings::first));
        Ok(())
    }

    fn set_left(&mut self, side: Color, time: &str, stones: &str) -> Result<(), String> {
        let moves = stones.parse().map_err(|_| "stones not an integer".to_owned())?;
        self.left[side] = Some(TimePeriod { time: seconds(time)?, moves: Some(moves).filter(|&moves| moves > 0) });
        Ok(())
    }

    /// Loads a game in GGF, without the move number `stop_before` and later ones.
    fn load(&mut self, file: &Path, stop_before: Option<&str>) -> Result<(), String> {
        let failed = |why: &dyn std::fmt::Display| format!("cannot load file: {why}");
        let mut bytes = Vec::new();
        let file = std::fs::File::open(file).map_err(|error| failed(&error))?;
        file.take(MAX_LINE as u64).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        let game = ggf::read(&decode(bytes)).map_err(|error| failed(&error))?;
        let mut history = GameHistory::from(&game);
        if let Some(stop_before) = stop_before {
            let number: usize = stop_before.parse().map_err(|_| "the move number is no integer".to_owned())?;
            history.truncate(number.saturating_sub(1));
        }
        self.new_game();
        self.history = history;
        Ok(())
    }
}

impl TimeSettings {
    fn first(self) -> TimePeriod {
        let period = TimePeriod { time: self.main, moves: None };
        if self.main.is_zero() { self.overtime_period(period) } else { period }
    }

    /// The next overtime period, if there is one.
    fn overtime_period(self, period: TimePeriod) -> TimePeriod {
        if self.stones > 0 { TimePeriod { time: self.overtime, moves: Some(self.stones) } } else { period }
    }
}

impl TimePeriod {
    fn plan(self, position: Position) -> Plan {
        let empties = position.board().empties().count();
        match self.moves {
            None => Plan::new(self.time, Duration::ZERO, empties),
            // Keeps a reserve even for the last move of a period.
            Some(moves) => {
                let most = self.time / moves.max(1) * 4 / 5;
                Plan { enough: most / 2, most }
            }
        }
    }
}

fn side(text: &str) -> Result<Color, String> {
    match text.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Color::Black),
        "w" | "white" => Ok(Color::White),
        _ => Err("invalid color".to_owned()),
    }
}

fn square(text: &str) -> Result<Option<Square>, String> {
    if text.eq_ignore_ascii_case("pass") {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| "invalid coordinate".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "time not an integer".to_owned())?;
    Ok(Duration::from_secs(seconds.min(MAX_SECONDS)))
}

/// The board with coordinates, and the side to move.
fn picture(position: Position) -> String {
    let board = position.board();
    let mut lines = vec!["\n  A B C D E F G H".to_owned()];
    for row in 0..8 {
        let cells = (0..8).filter_map(|column| Square::at(column, row)).map(|square| match board.color_at(square) {
            Some(Color::Black) => " *",
            Some(Color::White) => " O",
            None => " -",
        });
        lines.push(format!("{}{}", row + 1, cells.collect::<String>()));
    }
    lines.push(format!("{} to move", position.turn()));
    lines.join("\n")
}
