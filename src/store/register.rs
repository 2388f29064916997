//! The seam between players and what keeps them.

use super::journal::{Pending, Unavailable};
use crate::room::{PlayerId, Profile, Timestamp};

/// One who has logged in, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrolled {
    /// Who.
    pub profile: Profile,
    /// How many seats it may hold.
    pub seats: u16,
    /// The hash of the token; the token itself is kept nowhere.
    pub token: [u8; 32],
    /// When it was last here, within the hour.
    pub seen: Timestamp,
}

/// Keeps the players whose tokens are good.
pub trait Register: Send + Sync + 'static {
    /// Everyone.
    fn enrolled(&self) -> Pending<'_, Result<Vec<Enrolled>, Unavailable>>;

    /// Takes one in.
    fn enrol(&self, player: Enrolled) -> Pending<'_, Result<(), Unavailable>>;

    /// Makes a player's token bad and the name free. The games stay.
    fn strike_off(&self, player: PlayerId) -> Pending<'_, Result<(), Unavailable>>;

    /// Notes who was here, and when.
    fn note_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> Pending<'_, Result<(), Unavailable>>;
}
