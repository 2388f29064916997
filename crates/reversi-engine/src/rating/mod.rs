//! How much stronger one player is than another, judged by paired games: one opening, played twice with the colours changed.
//!
//! ```text
//!   Points of each game --> Score --> Difference   in Elo, with the interval in which it lies at 95 %
//!                             |
//!                             +-----> Sprt         whether enough is known to stop
//! ```
//!
//! The two games of a pair are alike, for an opening that helps black helps each player once. So it is pairs that are counted, by
//! their five results (0, ½, 1, 1½ or 2 points): counted one by one, the games would look like more evidence than they are.

mod difference;
mod likelihood;
mod score;
mod sprt;

pub use difference::Difference;
pub use score::{Points, Score};
pub use sprt::{BadSprt, Sprt, Verdict};
