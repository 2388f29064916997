//! The difference in strength of two players, from paired games: each opening is played twice with the colours changed.
//!
//! ```text
//!   Points of each game --> Score --> Difference   in Elo, with its 95 % interval
//!                             |
//!                             +-----> Sprt         a test that ends a series early
//! ```
//!
//! The two games of a pair are correlated, as an opening that favours black favours each player once. So pairs are
//! counted, by their five results (0, ½, 1, 1½ or 2 points); single games would overstate the evidence.

mod difference;
mod likelihood;
mod root;
mod score;
mod sprt;

pub use difference::Difference;
pub use root::increasing_root;
pub use score::{Points, Score};
pub use sprt::{BadSprt, Sprt, Verdict};
