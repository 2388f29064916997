//! Games in the Generic Game Format (GGF) of Othello programs, one on each line:
//! `(;GM[Othello]PB[ada]...B[f5//0.42]...;)`.
//!
//! ```text
//!   GameRecord ──▶ write ──▶ line ──▶ read ──▶ GgfGame
//! ```
//!
//! A game of a tournament has the tags `EV`, the id of the tournament, and `RO`, the round.
//!
//! Input is untrusted: its length is limited, and moves are replayed by the rules.

mod date;
mod read;
mod write;

pub use date::{read_date, write_date};
pub use read::{GgfClock, GgfError, GgfGame, GgfResult, end, read};
pub use write::{write, write_running};
