//! The Go Text Protocol, as Othello programs use it: one command per line, answered by `= text` or `? error`.

use std::mem;

use super::{
    error::{EngineFault, quoted},
    process::{EngineProcess, Wait},
    protocol::ProtocolClient,
    time::MoveTime,
};
use crate::rules::{Color, Square, Transcript};

/// A side and its move; `None` is a pass.
type ColoredMove = (Color, Option<Square>);

#[derive(Debug, Default)]
pub(super) struct GtpClient {
    /// The moves on the engine's board; empty if unknown.
    sent: Vec<ColoredMove>,
}

impl ProtocolClient for GtpClient {
    fn handshake(&mut self, process: &EngineProcess, wait: Wait<'_>) -> Result<(), EngineFault> {
        ask(process, "protocol_version", wait)?;
        // Programs with one game or one board size need not know these.
        attempt(process, "set_game Othello", wait)?;
        attempt(process, "boardsize 8", wait)?;
        ask(process, "clear_board", wait).map(drop)
    }

    /// If `game` continues the previous one, only the new moves are sent.
    fn choose(
        &mut self,
        process: &EngineProcess,
        game: &Transcript,
        time: MoveTime,
        wait: Wait<'_>,
    ) -> Result<Square, EngineFault> {
        let plies = plies(game);
        let seconds = time.clock().as_secs().max(1);
        // Stored again after a move only: if the engine fails or resigns, its board is unknown.
        let mut sent = mem::take(&mut self.sent);
        if sent.is_empty() || !plies.starts_with(&sent) {
            ask(process, "clear_board", wait)?;
            sent.clear();
            attempt(process, &format!("time_settings {seconds} 0 0"), wait)?;
        }
        for &(side, square) in &plies[sent.len()..] {
            match square {
                Some(square) => drop(ask(process, &format!("play {side} {square}"), wait)?),
                // Some programs pass by themselves and refuse this.
                None => attempt(process, &format!("play {side} pass"), wait)?,
            }
        }
        let side = game.position().turn();
        attempt(process, &format!("time_left {side} {seconds} 0"), wait)?;
        let answer = ask(process, &format!("genmove {side}"), wait)?;
        let square = read_move(&answer)?;
        self.sent = plies;
        self.sent.push((side, Some(square)));
        Ok(square)
    }
}

/// Sends a command and waits for its answer.
fn ask(process: &EngineProcess, command: &str, wait: Wait<'_>) -> Result<String, EngineFault> {
    process.send(command)?;
    loop {
        // Other lines of an answer do not begin with `=` or `?`.
        match read_answer(&process.line(wait)?) {
            Some(Ok(text)) => return Ok(text.to_owned()),
            Some(Err(error)) => {
                return Err(EngineFault::Refused { command: command.to_owned(), answer: quoted(error) });
            }
            None => {}
        }
    }
}

/// Sends a command that a program may refuse.
fn attempt(process: &EngineProcess, command: &str, wait: Wait<'_>) -> Result<(), EngineFault> {
    match ask(process, command, wait) {
        Ok(_) | Err(EngineFault::Refused { .. }) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// Parses the first line of an answer, with or without a number.
fn read_answer(line: &str) -> Option<Result<&str, &str>> {
    let numbered = line.strip_prefix(['=', '?'])?;
    let text = numbered.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim();
    Some(if line.starts_with('=') { Ok(text) } else { Err(text) })
}

fn read_move(answer: &str) -> Result<Square, EngineFault> {
    let name = answer.split_whitespace().next().unwrap_or_default();
    if name.eq_ignore_ascii_case("resign") {
        return Err(EngineFault::Resigned);
    }
    name.parse().map_err(|_| EngineFault::Illegal(quoted(answer)))
}

/// The moves of a game with all its passes.
fn plies(game: &Transcript) -> Vec<ColoredMove> {
    let mut plies = Vec::with_capacity(game.squares().len());
    for (position, &square) in game.positions().zip(game.squares()) {
        let side = position.turn();
        plies.push((side, Some(square)));
        if position.play_unchecked(square).must_pass() {
            plies.push((side.opposite(), None));
        }
    }
    plies
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_are_read_as_programs_write_them() {
        assert_eq!(read_answer("= d3"), Some(Ok("d3")));
        assert_eq!(read_answer("=12 D3"), Some(Ok("D3")));
        assert_eq!(read_answer("=\t"), Some(Ok("")));
        assert_eq!(read_answer("?7 unknown command"), Some(Err("unknown command")));
        assert_eq!(read_answer("loading the book"), None);
        assert_eq!(read_answer(""), None);
    }

    #[test]
    fn moves_are_read_as_programs_write_them() {
        let d3 = "d3".parse();
        assert_eq!(read_move("D3").ok(), d3.ok());
        assert_eq!(read_move("d3 (book)").ok(), d3.ok());
        assert_eq!(read_move("Resign"), Err(EngineFault::Resigned));
        for illegal in ["pass", "PASS", "", "z9"] {
            assert_eq!(read_move(illegal), Err(EngineFault::Illegal(quoted(illegal))));
        }
    }

    #[test]
    fn passes_are_sent() {
        // Black has no move after the eighth.
        let game: Transcript = "c4c3e6b4a4a5b2a3".parse().unwrap();
        assert_eq!(plies(&game)[0], (Color::Black, "c4".parse().ok()));
        assert_eq!(plies(&game)[7..], [(Color::White, "a3".parse().ok()), (Color::Black, None)]);
    }

    proptest! {
        #[test]
        fn no_line_panics(line in r"[=?]?[0-9]{0,12}[ \t]?.{0,40}") {
            if let Some(Ok(text)) = read_answer(&line) {
                let _ = read_move(text);
            }
        }
    }
}
