//! Requests for analyses.

use std::time::Duration;

use super::{Malformed, WireEnum as _, read_duration};
use crate::{
    proto::v1,
    rules::{Bitboard, Board, Color, Position, Transcript},
};

/// Maximum number of moves of a game.
const MAX_DEPTH: u8 = 60;

/// The limits of an analysis, each `None` unless requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Search depth in plies, from 1.
    pub depth: Option<u8>,
    /// Total time.
    pub time: Option<Duration>,
    /// Number of positions visited.
    pub nodes: Option<u64>,
}

/// A position, by its board and side to move.
///
/// # Errors
/// `BAD_ARGUMENT` for the field that is wrong.
pub fn read_board(wire: &v1::Position) -> Result<Position, Malformed> {
    let bad = |field, problem| Malformed::argument(field, problem);
    let board: Board = wire
        .board
        .parse()
        .map_err(|_| bad("position.board", "must be 64 characters `X`, `O` or `-`, from a1, b1 to h8"))?;
    if !(board.empties() & Bitboard::CENTRE).is_empty() {
        return Err(bad("position.board", "must have discs on d4, e4, d5 and e5, as every game"));
    }
    let turn = Color::read("position.side_to_move", wire.side_to_move).ok().flatten();
    Ok(Position::new(board, turn.ok_or_else(|| bad("position.side_to_move", "must be black or white"))?))
}

/// A game from the standard start.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `transcript`.
pub fn read_transcript(text: &str) -> Result<Transcript, Malformed> {
    text.parse().map_err(|error| Malformed::argument("transcript", format!("must be legal moves: {error}")))
}

/// The requested limits of an analysis.
///
/// # Errors
/// `BAD_ARGUMENT` for the field that is wrong.
pub fn read_budget(wire: Option<v1::AnalysisBudget>) -> Result<Budget, Malformed> {
    let wire = wire.unwrap_or_default();
    let depth = match u8::try_from(wire.depth) {
        Ok(depth @ 0..=MAX_DEPTH) => (depth > 0).then_some(depth),
        _ => return Err(Malformed::argument("budget.depth", format!("must be 1 to {MAX_DEPTH}, or left out"))),
    };
    let time = wire.time.map(|time| read_duration("budget.time", time)).transpose()?;
    Ok(Budget { depth, time, nodes: (wire.nodes > 0).then_some(wire.nodes) })
}

/// The requested number of lines: 1 by default, at most `max`.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `lines` when it is negative.
pub fn read_lines(wire: i32, max: usize) -> Result<usize, Malformed> {
    let lines = usize::try_from(wire).map_err(|_| Malformed::argument("lines", "must not be negative"))?;
    Ok(lines.clamp(1, max.max(1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proto::convert::position;

    fn board(text: &str, side: v1::Side) -> v1::Position {
        v1::Position { board: text.into(), side_to_move: side.into(), ..Default::default() }
    }

    #[test]
    fn a_position_round_trips() {
        assert_eq!(read_board(&position(Position::START)), Ok(Position::START));
        let start = position(Position::START).board;
        let emptied = start.replacen('X', "-", 1);
        for (text, side, field) in [
            ("", v1::Side::Black, "position.board"),
            (&start[1..], v1::Side::Black, "position.board"),
            (&*emptied, v1::Side::Black, "position.board"),
            (&*start, v1::Side::Unspecified, "position.side_to_move"),
        ] {
            let error = read_board(&board(text, side)).unwrap_err();
            assert_eq!((error.reason, error.field.as_str()), (Malformed::BAD_ARGUMENT, field));
        }
    }

    #[test]
    fn an_unset_field_is_no_limit() {
        assert_eq!(read_budget(None), Ok(Budget::default()));
        let wire = v1::AnalysisBudget { depth: 9, time: Some(Default::default()), nodes: 5 };
        let budget = Budget { depth: Some(9), time: Some(Duration::ZERO), nodes: Some(5) };
        assert_eq!(read_budget(Some(wire)), Ok(budget));
        let negative = prost_types::Duration { seconds: -1, nanos: 0 };
        let error = read_budget(Some(v1::AnalysisBudget { time: Some(negative), ..wire })).unwrap_err();
        assert_eq!(error.field, "budget.time");
    }

    proptest! {
        #[test]
        fn anything_is_read_without_panic(text in "[XO-]{60,66}|.{0,80}", number: i32, moves in ".{0,2000}") {
            let _ = read_board(&v1::Position { side_to_move: number, ..board(&text, v1::Side::Black) });
            let depth = v1::AnalysisBudget { depth: number, ..Default::default() };
            prop_assert_eq!(read_budget(Some(depth)).is_ok(), (0..=60).contains(&number));
            prop_assert_eq!(read_lines(number, 10).ok(), (number >= 0).then(|| number.clamp(1, 10) as usize));
            if let Err(error) = read_transcript(&moves) {
                prop_assert_eq!(error.field, "transcript");
            }
        }
    }
}
