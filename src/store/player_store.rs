//! Storage of players.

use super::journal::StoreFuture;
use crate::room::{PlayerId, Profile, Timestamp};

/// A stored player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlayer {
    /// Id, name and kind.
    pub profile: Profile,
    /// The seats that it may hold.
    pub seats: u16,
    /// The SHA-256 of the token; the token itself is not stored.
    pub token: [u8; 32],
    /// When it was last seen, within an hour.
    pub seen: Timestamp,
}

/// Stores players with valid tokens.
pub trait PlayerStore: Send + Sync + 'static {
    /// All players with a valid token.
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>>;

    /// Inserts a player.
    fn insert_player(&self, player: StoredPlayer) -> StoreFuture<'_, ()>;

    /// Invalidates a player's token and frees the name. The games are kept.
    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()>;

    /// Records when players were last seen.
    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()>;
}
