//! Violations of the protocol by a server.

use reversi::{
    proto::v1,
    rules::{Bitboard, Board, Color},
};
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Violation {
    #[error("{game} shows a wrong board at ply {ply}")]
    Board { game: String, ply: i32 },
    #[error("{game} is at ply {came} where ply {expected} was to come")]
    Ply { game: String, expected: i32, came: i32 },
    #[error("event {came} came where {expected} was to come")]
    Gap { expected: u64, came: u64 },
    #[error("{game}: {what}")]
    Order { game: String, what: &'static str },
    #[error("a move in {game} was refused: {reason}")]
    Refused { game: String, reason: String },
    #[error("the server ended a stream: {0}")]
    Closed(String),
    #[error("a stream ended without a status")]
    Ended,
    #[error("a message cannot be decoded: {0}")]
    Unreadable(&'static str),
    #[error("two watchers got different bytes of event {0}")]
    Differs(u64),
    #[error("a watcher got another snapshot, although the room waits for all watchers")]
    Overtaken,
    #[error("{0} rooms wait for ever: a move was lost, or not sent to all")]
    Lost(usize),
}

/// Whether `wire` has this board, both as bits and as text.
pub(crate) fn shows(wire: Option<&v1::Position>, board: Board) -> bool {
    let Some(wire) = wire else { return false };
    let [black, white] = Color::ALL.map(|side| board.discs(side));
    let discs = [wire.black, wire.white].map(Bitboard);
    // To parse the text is cheaper than to format the board.
    discs == [black, white] && wire.board.parse() == Ok(board)
}
