//! A tournament as a value.

mod entrant;
mod lot;
pub mod pairing;
mod points;

pub use entrant::EntrantId;
pub use points::HalfPoints;
