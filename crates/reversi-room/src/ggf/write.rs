//! Writing GGF.

use std::{fmt::Write as _, time::Duration};

use reversi_engine::rules::{Color, Outcome, Position, Square, Transcript};

use super::date;
use crate::{EndReason, GameRecord, Participant};

/// A finished game as one line of GGF.
#[must_use]
pub fn write(record: &GameRecord) -> String {
    let mut line = format!(
        "(;GM[Othello]ID[{}]PC[{}]DT[{}]PB[{}]PW[{}]RE[{}]TI[{}]TY[8]BO[8 {}]",
        record.id,
        clean(record.room_name.as_str()),
        record.started.known().map(date::write_date).unwrap_or_default(),
        name(&record.players.black),
        name(&record.players.white),
        result(record),
        time(record),
        board(Position::START),
    );
    // Writing to a string cannot fail.
    for (tag, side) in [("RB", Color::Black), ("RW", Color::White)] {
        if let Some(rating) = record.ratings[side] {
            let _ = write!(line, "{tag}[{rating}]");
        }
    }
    if let Some(meeting) = record.meeting {
        let _ = write!(line, "EV[{}]RO[{}]", meeting.tournament, meeting.round);
    }
    for (index, ply) in record.plies.iter().enumerate() {
        let side = if index % 2 == 0 { 'B' } else { 'W' };
        let (square, spent) = (move_name(ply.square), f64::from(ply.spent_ms) / 1000.0);
        let _ = write!(line, "{side}[{square}/{}/{spent:.2}]", evaluation(record, index));
    }
    line.push_str(";)");
    line
}

/// A running game as one line of GGF, for a program that is to move; `clock` is its remaining time.
#[must_use]
pub fn write_running(game: &Transcript, clock: Duration) -> String {
    let mut line =
        format!("(;GM[Othello]PC[]PB[]PW[]RE[?]TI[{}]TY[8]BO[8 {}]", minutes(clock.as_secs()), board(Position::START));
    for (position, &square) in game.positions().zip(game.squares()) {
        let (side, other) = if position.turn() == Color::Black { ('B', 'W') } else { ('W', 'B') };
        let _ = write!(line, "{side}[{}]", move_name(Some(square)));
        if position.play_unchecked(square).must_pass() {
            let _ = write!(line, "{other}[{}]", move_name(None));
        }
    }
    line.push_str(";)");
    line
}

/// The AI's evaluation of its move for its own side, as other programs write it; empty without one.
fn evaluation(record: &GameRecord, index: usize) -> String {
    let hundredths = record.thought(index).and_then(|thought| thought.evaluation).map(f64::from);
    let own = hundredths.map(|value| if index.is_multiple_of(2) { value } else { -value });
    own.map_or_else(String::new, |value| format!("{:.2}", value / 100.0))
}

fn move_name(square: Option<Square>) -> String {
    square.map_or("PA".to_owned(), |square| square.to_string().to_uppercase())
}

/// The text without characters that would end its tag.
fn clean(text: &str) -> String {
    text.replace(['[', ']', ';', '(', ')', '\\'], " ")
}

fn name(participant: &Participant) -> String {
    match participant {
        Participant::Player(profile) => clean(profile.name.as_str()),
        Participant::Ai(ai) => format!("{}-{}", ai.kind, ai.level),
    }
}

/// Black's margin in discs, and a letter for the reason. A game that discs do not decide is won by all of them, if no
/// file says otherwise.
fn result(record: &GameRecord) -> String {
    let decided = record.margin.unwrap_or(match record.end.winner {
        Some(Color::Black) => 64,
        Some(Color::White) => -64,
        None => 0,
    });
    match record.end.reason {
        EndReason::Discs => format!("{:+}.000", Outcome::of(record.position.board()).difference()),
        EndReason::Resignation | EndReason::Left | EndReason::Kicked => format!("{decided:+}.000:r"),
        EndReason::Timeout => format!("{decided:+}.000:t"),
        EndReason::Agreed => format!("{decided:+}.000:s"),
        EndReason::Aborted
        | EndReason::Server
        | EndReason::AbortedByBlack
        | EndReason::AbortedByWhite
        | EndReason::AbortedByOwner
        | EndReason::AbortedByAdmin
        | EndReason::TakenBack => "?".to_owned(),
    }
}

fn time(record: &GameRecord) -> String {
    match (record.time.total, record.time.per_move) {
        (Some(total), _) => format!("{}/{}", minutes(total.as_secs()), minutes(record.time.increment.as_secs())),
        (None, Some(limit)) => format!("0:00/{}", minutes(limit.as_secs())),
        (None, None) => "0:00".to_owned(),
    }
}

fn minutes(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn board(position: Position) -> String {
    let turn = match position.turn() {
        Color::Black => '*',
        Color::White => 'O',
    };
    format!("{} {turn}", position.board().to_string().replace('X', "*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_game_round_trips() {
        let game: Transcript = "c4c3e6b4a4a5b2a3".parse().unwrap();
        let line = write_running(&game, Duration::from_secs(75));
        assert!(line.contains("TI[1:15]") && line.ends_with("B[B2]W[A3]B[PA];)"), "{line}");
        assert_eq!(super::super::read(&line).unwrap().position, game.position());
    }

    #[test]
    fn the_start_is_written_like_other_programs_do() {
        assert_eq!(board(Position::START), format!("{}O*{}*O{} *", "-".repeat(27), "-".repeat(6), "-".repeat(27)));
    }
}
