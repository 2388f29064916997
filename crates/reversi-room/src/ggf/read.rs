//! Reading GGF: lenient about tags, strict about moves.

use std::time::Duration;

use reversi_engine::rules::{Board, ByColor, Color, IllegalMove, Position, Square};
use thiserror::Error;

use crate::{EndReason, GameId, Ply};

/// Maximum length of a text in bytes, far above that of the longest game.
const MAX_TEXT: usize = 64 * 1024;

/// Maximum clock in seconds, 1,000 hours; longer ones are cut.
const MAX_CLOCK: u64 = 3_600_000;

/// Spellings of a pass.
const PASSES: [&str; 4] = ["pa", "pass", "--", "@@"];

/// A game that was read. Its texts are unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GgfGame {
    /// Id; `None` unless this program wrote the game.
    pub id: Option<GameId>,
    /// Place; empty if absent.
    pub place: String,
    /// Date; empty if absent.
    pub date: String,
    /// Names of the players; empty if absent.
    pub players: ByColor<String>,
    /// Initial clock of each side; `None` if absent or not understood.
    pub clock: Option<GgfClock>,
    /// The first position.
    pub start: Position,
    /// Every ply from the first position, including forced passes.
    pub plies: Vec<Ply>,
    /// The last position: the side to move can move, or the game is over.
    pub position: Position,
    /// The result; `None` if absent or not understood.
    pub result: Option<GgfResult>,
}

/// The clock of each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GgfClock {
    /// For the whole game.
    pub main: Duration,
    /// Added for each move.
    pub increment: Duration,
}

/// The result as written, not checked against the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GgfResult {
    /// Black's discs minus white's.
    pub margin: i8,
    /// Discs, a resignation, a timeout or an agreement.
    pub reason: EndReason,
}

/// Why a text cannot be read as a game. Moves are numbered from 1, passes not counted.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum GgfError {
    /// The text is too long.
    #[error("a game is at most {MAX_TEXT} bytes")]
    TooLong,
    /// `(;` is missing.
    #[error("no game begins with `(;`")]
    NoGame,
    /// Neither a tag nor `;)` follows the tag with this number, from 1; 0 for the start.
    #[error("neither a tag nor `;)` follows tag {0}")]
    Tag(usize),
    /// Not Othello, or not on a board of 8x8 squares.
    #[error("not a game of Othello on 8x8 squares")]
    OtherGame,
    /// The start is not a board and a side to move.
    #[error("malformed board")]
    Board,
    /// This move is neither a square nor a pass.
    #[error("move {0} is neither a square nor a pass")]
    Text(usize),
    /// This move is illegal.
    #[error("move {number} is illegal: {error}")]
    Move {
        /// Number of the move.
        number: usize,
        /// Why it is illegal.
        error: IllegalMove,
    },
    /// This move is by the wrong side, or is a pass that is not forced.
    #[error("it is the other side's turn at move {0}")]
    Turn(usize),
}

/// Reads the first game in `text`. Text before it and unknown tags are skipped.
///
/// # Errors
/// [`GgfError`] if there is no game or it is malformed.
pub fn read(text: &str) -> Result<GgfGame, GgfError> {
    if text.len() > MAX_TEXT {
        return Err(GgfError::TooLong);
    }
    let (_, tags) = text.split_once("(;").ok_or(GgfError::NoGame)?;
    let mut game = Reading::new();
    let mut rest = tags.trim_start();
    for number in 0.. {
        if rest.starts_with(";)") {
            break;
        }
        let (name, value, after) = tag(rest).ok_or(GgfError::Tag(number))?;
        game.take(&name.to_ascii_uppercase(), value.trim_ascii())?;
        rest = after.trim_start();
    }
    game.finish()
}

/// Offset of the end of the first game: after the first `;)` outside a tag's value. `None` if there is none.
#[must_use]
pub fn end(text: &str) -> Option<usize> {
    let mut at = text.find("(;")?;
    loop {
        at += text[at..].find([';', '['])?;
        if text[at..].starts_with(";)") {
            return Some(at + 2);
        }
        at += if text[at..].starts_with('[') { text[at..].find(']')? } else { 1 };
    }
}

/// Name and value of the tag at the start of `text`, and the rest.
fn tag(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once('[')?;
    let (value, rest) = rest.split_once(']')?;
    let name = name.trim_end();
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some((name, value, rest))
}

/// The tags read so far. Moves are replayed at the end, as the board may come after them.
struct Reading<'a> {
    game: GgfGame,
    moves: Vec<(Color, &'a str)>,
}

impl<'a> Reading<'a> {
    fn new() -> Self {
        let game = GgfGame {
            id: None,
            place: String::new(),
            date: String::new(),
            players: ByColor::default(),
            clock: None,
            start: Position::START,
            plies: Vec::new(),
            position: Position::START,
            result: None,
        };
        Self { game, moves: Vec::new() }
    }

    fn take(&mut self, name: &str, value: &'a str) -> Result<(), GgfError> {
        match name {
            "GM" if !["othello", "reversi"].contains(&value.to_ascii_lowercase().as_str()) => {
                return Err(GgfError::OtherGame);
            }
            // The size may have a suffix: `8r` for random opening moves.
            "TY" if value.trim_end_matches(|letter: char| !letter.is_ascii_digit()) != "8" => {
                return Err(GgfError::OtherGame);
            }
            // No standard tag; other programs skip it.
            "ID" => self.game.id = value.parse().ok(),
            "PC" => self.game.place = value.to_owned(),
            "DT" => self.game.date = value.to_owned(),
            "PB" => self.game.players.black = value.to_owned(),
            "PW" => self.game.players.white = value.to_owned(),
            "TI" => self.game.clock = clock(value),
            "RE" => self.game.result = result(value),
            "BO" => self.game.start = board(value).ok_or(GgfError::Board)?,
            "B" => self.moves.push((Color::Black, value)),
            "W" => self.moves.push((Color::White, value)),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<GgfGame, GgfError> {
        let mut game = self.game;
        game.position = game.start;
        for (side, value) in self.moves {
            game.take(side, value)?;
        }
        game.pass_if_forced();
        Ok(game)
    }
}

impl GgfGame {
    fn take(&mut self, side: Color, value: &str) -> Result<(), GgfError> {
        let number = self.plies.iter().filter(|ply| ply.square.is_some()).count() + 1;
        let mut parts = value.split('/');
        let name = parts.next().unwrap_or_default().trim();
        // Square, then optionally evaluation and time.
        let spent_ms = parts.nth(1).map_or(0, millis);
        let square = if PASSES.iter().any(|pass| name.eq_ignore_ascii_case(pass)) {
            None
        } else {
            Some(name.parse::<Square>().map_err(|_| GgfError::Text(number))?)
        };
        if square.is_some() && side != self.position.turn() {
            self.pass_if_forced();
        }
        let next = match square {
            // Some programs write the passes that end a game.
            None if self.position.is_over() => return Ok(()),
            _ if side != self.position.turn() => return Err(GgfError::Turn(number)),
            Some(square) => self.position.play(square).map_err(|error| GgfError::Move { number, error })?,
            None => self.position.pass().ok_or(GgfError::Turn(number))?,
        };
        self.push(next, Ply { square, spent_ms });
        Ok(())
    }

    fn pass_if_forced(&mut self) {
        if let Some(next) = self.position.pass() {
            self.push(next, Ply { square: None, spent_ms: 0 });
        }
    }

    fn push(&mut self, next: Position, ply: Ply) {
        self.position = next;
        self.plies.push(ply);
    }
}

/// Seconds as milliseconds; 0 if not a number.
fn millis(seconds: &str) -> u32 {
    let seconds: f64 = seconds.trim().parse().unwrap_or_default();
    // The cast saturates, and turns NaN into 0.
    (seconds * 1000.0).round() as u32
}

/// `15:00`, `15:00/0:10`, `15//2`: the increment is between the slashes. A single number is minutes.
fn clock(value: &str) -> Option<GgfClock> {
    let seconds = |text: &str| -> Option<u64> {
        let parts: Vec<u64> = text.split(':').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
        let seconds = match parts[..] {
            [minutes] => minutes.saturating_mul(60),
            _ => parts.iter().fold(0_u64, |sum, &part| sum.saturating_mul(60).saturating_add(part)),
        };
        Some(seconds.min(MAX_CLOCK))
    };
    let mut parts = value.split('/');
    let main = Duration::from_secs(seconds(parts.next()?)?);
    Some(GgfClock { main, increment: Duration::from_secs(parts.next().and_then(seconds).unwrap_or_default()) })
}

/// `+12.000`, `-64.000:r`, `+0.000:s`; `None` for `?` and anything else.
fn result(value: &str) -> Option<GgfResult> {
    let (margin, how) = value.split_once(':').unwrap_or((value, ""));
    let margin: f32 = margin.trim().parse().ok()?;
    let reason = match how.trim() {
        "" => EndReason::Discs,
        "r" => EndReason::Resignation,
        "t" => EndReason::Timeout,
        "s" => EndReason::Agreed,
        _ => return None,
    };
    (-64.0..=64.0).contains(&margin).then_some(GgfResult { margin: margin.round() as i8, reason })
}

/// `8`, the squares from a1, and the side to move; white space is ignored.
fn board(value: &str) -> Option<Position> {
    let text: String = value.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (board, turn) = text.strip_prefix('8')?.split_at_checked(64)?;
    let turn = match turn {
        "*" | "X" | "x" => Color::Black,
        "O" | "o" => Color::White,
        _ => return None,
    };
    Some(Position::new(board.parse::<Board>().ok()?, turn))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A game with these tags and the usual others.
    fn line(tags: &str) -> String {
        format!("(;GM[Othello]PC[here]DT[2026-01-02 10:00:00 GMT]PB[x]PW[y]RE[?]TI[15:00]TY[8]{tags};)")
    }

    fn names(game: &GgfGame) -> Vec<String> {
        game.plies.iter().map(|ply| ply.square.map_or("pass".into(), |square| square.to_string())).collect()
    }

    fn squares(text: &str) -> String {
        let row = "-".repeat(8);
        format!("8 {text}{} ", row.repeat(8 - text.len() / 8))
    }

    #[test]
    fn a_game_of_another_program_is_read() {
        let start = format!("{}O*------*O{}", "-".repeat(27), "-".repeat(27));
        let game = read(&line(&format!("BO[8 {start} *]B[f5//0.42]W[d6/1.20/3]B[C3]RB[1500]"))).unwrap();
        assert_eq!((game.place.as_str(), game.date.as_str()), ("here", "2026-01-02 10:00:00 GMT"));
        assert_eq!(game.players, ByColor::new("x".to_owned(), "y".to_owned()));
        assert_eq!((game.start, game.result), (Position::START, None));
        assert_eq!(names(&game), ["f5", "d6", "c3"]);
        assert_eq!(game.plies.iter().map(|ply| ply.spent_ms).collect::<Vec<_>>(), [420, 3000, 0]);
    }

    #[test]
    fn known_results_are_read_and_others_ignored() {
        let result = |text: &str| read(&line(&format!("RE[{text}]"))).unwrap().result;
        let some = |margin, reason| Some(GgfResult { margin, reason });
        assert_eq!(result("+12.000"), some(12, EndReason::Discs));
        assert_eq!(result("-64.000:r"), some(-64, EndReason::Resignation));
        assert_eq!(result("2:t"), some(2, EndReason::Timeout));
        assert_eq!(result("+0.000:s"), some(0, EndReason::Agreed));
        for unknown in ["?", "", "65", "NaN", "+1:x"] {
            assert_eq!(result(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn known_clocks_are_read_and_others_ignored() {
        let clock = |text: &str| read(&format!("(;TI[{text}];)")).unwrap().clock;
        let some = |main, increment| {
            let seconds = Duration::from_secs;
            Some(GgfClock { main: seconds(main), increment: seconds(increment) })
        };
        assert_eq!(clock("15:00"), some(900, 0));
        assert_eq!(clock("1:00:05//2:00"), some(3605, 0));
        assert_eq!(clock("5/0:10/2"), some(300, 10));
        assert_eq!(clock("99999999999999999999:00"), None);
        assert_eq!(clock(&format!("{}:00", u64::MAX)), some(MAX_CLOCK, 0));
        assert_eq!(clock(""), None);
        assert_eq!(clock("soon"), None);
    }

    #[test]
    fn a_game_may_start_at_any_position_and_omit_passes() {
        // Black takes a1 and h1; between them, white has no move.
        let board = format!("BO[{}*]", squares("-O****O-"));
        for moves in ["B[a1]B[h1]", "B[a1]W[PA]B[h1]", "B[a1]W[--//1]B[h1]W[PA]B[PA]"] {
            let game = read(&line(&format!("{board}{moves}"))).unwrap();
            assert_eq!(names(&game), ["a1", "pass", "h1"], "{moves}");
            assert!(game.position.is_over());
        }
        assert_eq!(names(&read(&line(&format!("{board}B[a1]"))).unwrap()), ["a1", "pass"]);
    }

    #[test]
    fn an_invalid_game_is_refused_with_its_offset() {
        assert_eq!(read(""), Err(GgfError::NoGame));
        assert_eq!(read("(;GM[Othello]"), Err(GgfError::Tag(1)));
        assert_eq!(read("(;GM[Othello]é[1];)"), Err(GgfError::Tag(1)));
        assert_eq!(read("(;GM[Go];)"), Err(GgfError::OtherGame));
        assert_eq!(read("(;TY[10];)"), Err(GgfError::OtherGame));
        assert!(read("2 (;TY[8r]X[]  B [f5] ;) (;").is_ok());
        assert_eq!(read(&line("BO[8 - *]")), Err(GgfError::Board));
        assert_eq!(read(&line("B[f5]W[z9]")), Err(GgfError::Text(2)));
        assert_eq!(read(&line("B[f5]B[d6]")), Err(GgfError::Turn(2)));
        assert_eq!(read(&line("B[PA]")), Err(GgfError::Turn(1)));
        let illegal = read(&line("B[f5]W[f6]B[a1]")).unwrap_err();
        assert_eq!(illegal.to_string(), "move 3 is illegal: black may not move to a1");
        assert_eq!(read(&"x".repeat(MAX_TEXT + 1)), Err(GgfError::TooLong));
    }

    #[test]
    fn a_game_ends_after_its_tags() {
        for (text, game) in [
            ("(;PB[x];)(;PB[y];)", Some("(;PB[x];)")),
            ("2 (;PB[a ;) b] ;) c", Some("2 (;PB[a ;) b] ;)")),
            ("(;)", Some("(;)")),
            ("x;)", None),
            ("(;PB[x];", None),
            ("(;PB[a ;)", None),
        ] {
            assert_eq!(end(text).map(|end| &text[..end]), game, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r"(\(;|;\)|[BW]\[[a-h][1-8]/*[0-9.]{0,3}\]|(RE|BO|TY|GM|PB|TI)\[[-+*O0-9:/rts ]{0,70}\]|[ -~é]){0,40}") {
            if let Some(end) = end(&text) {
                prop_assert!(text[..end].ends_with(";)"));
            }
            let _ = read(&text);
            let _ = read(&line(&text));
        }
    }
}
