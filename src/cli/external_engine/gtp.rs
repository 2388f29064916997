//! The Go Text Protocol, as Othello programs speak it: a command a line, answered by `= text` or `? complaint`.

use std::mem;

use super::{
    failure::Trouble,
    process::{Process, Wait},
    time::Time,
};
use crate::rules::{Color, Square, Transcript};

/// A side and its move, or its pass.
type Ply = (Color, Option<Square>);

/// A conversation with a program.
#[derive(Debug, Default)]
pub(super) struct Gtp {
    /// What has been played on its board; empty where that is not known.
    told: Vec<Ply>,
}

impl Gtp {
    /// Whether it speaks the protocol.
    pub(super) fn greet(process: &Process, wait: Wait<'_>) -> Result<(), Trouble> {
        ask(process, "protocol_version", wait)?;
        // Only programs of several games know the first, and only such with boards of several sizes the second.
        attempt(process, "set_game Othello", wait)?;
        attempt(process, "boardsize 8", wait)?;
        ask(process, "clear_board", wait).map(drop)
    }

    /// Its move at the end of this game. Where the game goes on from the last one, only what is new is told.
    pub(super) fn choose(
        &mut self,
        process: &Process,
        game: &Transcript,
        time: Time,
        wait: Wait<'_>,
    ) -> Result<Square, Trouble> {
        let plies = plies(game);
        let seconds = time.clock().as_secs().max(1);
        // Known again when there is a move: one who resigns has been told more.
        let mut told = mem::take(&mut self.told);
        if told.is_empty() || !plies.starts_with(&told) {
            ask(process, "clear_board", wait)?;
            told.clear();
            attempt(process, &format!("time_settings {seconds} 0 0"), wait)?;
        }
        for &(side, square) in &plies[told.len()..] {
            match square {
                Some(square) => drop(ask(process, &format!("play {side} {square}"), wait)?),
                // Some programs pass by themselves, and then have nothing to pass.
                None => attempt(process, &format!("play {side} pass"), wait)?,
            }
        }
        let side = game.position().turn();
        attempt(process, &format!("time_left {side} {seconds} 0"), wait)?;
        let answer = ask(process, &format!("genmove {side}"), wait)?;
        let square = read_move(&answer)?;
        self.told = plies;
        self.told.push((side, Some(square)));
        Ok(square)
    }
}

/// Sends a command and waits for what it answers.
fn ask(process: &Process, command: &str, wait: Wait<'_>) -> Result<String, Trouble> {
    process.send(command)?;
    loop {
        // Further lines of an answer, and the empty one behind it, begin otherwise.
        match read_answer(&process.line(wait)?) {
            Some(Ok(text)) => return Ok(text.to_owned()),
            Some(Err(complaint)) => {
                return Err(Trouble::Refused { command: command.to_owned(), answer: super::quoted(complaint) });
            }
            None => {}
        }
    }
}

/// Sends a command that not every program knows.
fn attempt(process: &Process, command: &str, wait: Wait<'_>) -> Result<(), Trouble> {
    match ask(process, command, wait) {
        Ok(_) | Err(Trouble::Refused { .. }) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

/// The first line of an answer, whatever its number.
fn read_answer(line: &str) -> Option<Result<&str, &str>> {
    let numbered = line.strip_prefix(['=', '?'])?;
    let text = numbered.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim();
    Some(if line.starts_with('=') { Ok(text) } else { Err(text) })
}

fn read_move(answer: &str) -> Result<Square, Trouble> {
    let name = answer.split_whitespace().next().unwrap_or_default();
    if name.eq_ignore_ascii_case("resign") {
        return Err(Trouble::Resigned);
    }
    name.parse().map_err(|_| Trouble::Illegal(super::quoted(answer)))
}

/// The moves of a game with all its passes.
fn plies(game: &Transcript) -> Vec<Ply> {
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
        assert_eq!(read_move("Resign"), Err(Trouble::Resigned));
        for illegal in ["pass", "PASS", "", "z9"] {
            assert_eq!(read_move(illegal), Err(Trouble::Illegal(super::super::quoted(illegal))));
        }
    }

    #[test]
    fn passes_are_told() {
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
