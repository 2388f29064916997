//! Storage of players.

use super::journal::{BoxFuture, Unavailable};
use crate::room::{PlayerId, Profile, Timestamp};

/// A player that has logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlayer {
    /// Id, name and kind.
    pub profile: Profile,
    /// Seats that it may hold.
    pub seats: u16,
    /// The SHA-256 of the token, which itself is not kept.
    pub token: [u8; 32],
    /// When it was last seen, to the hour.
    pub seen: Timestamp,
}

/// Keeps players with valid tokens.
pub trait PlayerStore: Send + Sync + 'static {
    /// All players with a valid token.
    fn players(&self) -> BoxFuture<'_, Result<Vec<StoredPlayer>, Unavailable>>;

    /// Inserts a player.
    fn insert_player(&self, player: StoredPlayer) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// Invalidates a player's token and frees the name. The games stay.
    fn remove_player(&self, player: PlayerId) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// Records when players were last seen.
    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> BoxFuture<'_, Result<(), Unavailable>>;
}
