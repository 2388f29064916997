//! The standings of a tournament, computed from its meetings and never stored.
//!
//! ```text
//!   meetings ──▶ standings    points, Brightwell quotient, discs, lot
//!       └──────▶ crosstable ──▶ Strengths    Elo with its interval, and the likelihood of superiority
//! ```

mod crosstable;
mod strength;
mod table;

pub use crosstable::{Cell, Crosstable, crosstable};
pub use strength::{Strength, Strengths, standings_with_strengths};
pub use table::{Standing, standings};
pub(crate) use table::{main_standings, winner};
