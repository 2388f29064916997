//! Who meets whom: pure functions of a field, a cost and a seed.
//!
//! ```text
//!   Swiss, arena, pool:  sort by score, then rating ─▶ blocks ─▶ minimum-cost matching in each ─▶ pairs, perhaps a bye
//!                                                         ▲                  │
//!                                                         └── repeats ◀──────┘  go down a block
//!   all-play-all:        the circle method, or challengers against the others
//!   play-off:            the usual bracket
//! ```

mod bracket;
mod circle;
mod matching;

pub use bracket::bracket;
pub use circle::{circle, gauntlet};
pub use matching::{Candidate, Cost, Pairs, pair};
