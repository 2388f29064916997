//! The seam between players and what keeps them.

use super::journal::{BoxFuture, Unavailable};
use crate::room::{PlayerId, Profile, Timestamp};

/// One who has logged in, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlayer {
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
pub trait PlayerStore: Send + Sync + 'static {
    /// Everyone.
    fn players(&self) -> BoxFuture<'_, Result<Vec<StoredPlayer>, Unavailable>>;

    /// Takes one in.
    fn insert_player(&self, player: StoredPlayer) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// Makes a player's token bad and the name free. The games stay.
    fn remove_player(&self, player: PlayerId) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// Notes who was here, and when.
    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> BoxFuture<'_, Result<(), Unavailable>>;
}
