//! Games in the Generic Game Format of Othello programs, one a line: `(;GM[Othello]PB[ada]...B[f5//0.42]...;)`.
//!
//! ```text
//!   GameRecord ──▶ write ──▶ line ──▶ read ──▶ GgfGame
//! ```
//!
//! What is read may come from anywhere: it is bounded, and its moves are replayed by the rules.

mod date;
mod read;
mod write;

pub use date::read_date;
pub use read::{GgfClock, GgfError, GgfGame, GgfResult, end, read};
pub use write::{write, write_running};
