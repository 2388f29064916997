//! The rules of Reversi: positions, legal moves, the end of a game, and its notation.
//!
//! Nothing here depends on players, clocks, rooms, search or another crate. Only `after_forced_pass` makes a pass, if
//! it is forced:
//!
//! ```text
//!   Position --play(square)--> Position --after_forced_pass()--> (Position, side that passed)
//!                                                                    |
//!                                                                    '--outcome()--> Option<Outcome>
//! ```
//!
//! [`Position::play`] checks a move, for external input; [`Position::play_unchecked`] does not, for search.
mod bitboard;
mod board;
mod by_color;
mod color;
pub mod moves_and_flips;
pub mod opening;
pub mod opening_names;
mod outcome;
mod perft;
mod position;
mod split_mix;
mod square;
pub mod symmetry;
pub mod transcript;

pub use bitboard::{Bitboard, Squares};
pub use board::{Board, Overlap, ParseBoardError};
pub use by_color::ByColor;
pub use color::{Color, ParseColorError};
pub use outcome::Outcome;
pub use perft::{perft, perft_counting};
pub use position::{IllegalMove, ParsePositionError, Position};
pub use split_mix::SplitMix64;
pub use square::{ParseSquareError, Square};
pub use symmetry::Symmetry;
pub use transcript::{ReadTranscriptError, Transcript};
