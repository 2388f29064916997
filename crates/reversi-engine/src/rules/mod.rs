//! Pure Reversi: what a position is, which moves it allows, how a game ends and how it is written down.
//!
//! Nothing here knows of players, clocks, rooms or search, and no third-party crate is named.
//! A turn runs like this; only `settle` ever makes a pass, and only a forced one:
//!
//! ```text
//!   Position --play(square)--> Position --settle()--> (Position, who passed) --outcome()--> Option<Outcome>
//! ```
//!
//! A move has two doors: [`Position::play`] judges it, for input from outside;
//! [`Position::play_unchecked`] trusts its caller, for search.
mod bitboard;
mod board;
mod by_color;
mod color;
pub mod lines;
pub mod opening;
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
