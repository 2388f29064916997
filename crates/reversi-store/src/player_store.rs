//! Storage of players.

use std::future::ready;

use reversi_room::{Availability, DisplayName, PlayerId, Profile, RoomId, Timestamp};

use super::{
    ban::Ban,
    column::{Column, ColumnType},
    journal::{StoreError, StoreFuture},
};

/// The columns that earlier versions of the table of players lack.
pub(super) const ADDED_COLUMNS: [Column; 2] = [
    // The invitations that they accept, in the stored form of room/stored; null for all.
    Column { name: "availability", type_name: <Vec<u8> as ColumnType>::NAME, since: 14 },
    // The version of a bot's engine, as the bot has named it.
    Column { name: "engine_version", type_name: <String as ColumnType>::NAME, since: 14 },
];

/// A stored player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlayer {
    /// Id, name and kind.
    pub profile: Profile,
    /// Maximum seats that the player may hold at a time.
    pub seats: u16,
    /// The SHA-256 of the token; the token itself is not stored.
    pub token: [u8; 32],
    /// When it was last in use, within an hour.
    pub seen: Timestamp,
    /// True if the player has claimed the name.
    pub claimed: bool,
    /// The invitations that the player accepts, if it has set them.
    pub availability: Option<Availability>,
    /// True if the player has finished a game that counts. Derived from the results, not stored with the player.
    pub played: bool,
}

/// How a player with a valid token is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerKey {
    /// By the id.
    Id(PlayerId),
    /// By the SHA-256 of the token.
    Token([u8; 32]),
}

/// A room of which a player is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomPlace {
    /// The room.
    pub room: RoomId,
    /// True if the player has a seat there.
    pub seated: bool,
}

/// A reserved place, which counts for a player while the request for the place is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceRequest {
    /// A random number that identifies the reservation.
    pub number: u64,
    /// The player.
    pub player: PlayerId,
    /// The room.
    pub room: RoomId,
    /// True for a seat, false for a membership.
    pub is_seat: bool,
    /// Maximum places of this kind that the player may have, with this one.
    pub limit: usize,
}

/// Stores players with valid tokens, and the names of former players who have stored games.
pub trait PlayerStore: Send + Sync + 'static {
    /// All players with a valid token.
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>>;

    /// A player with a valid token.
    fn find(&self, player: PlayerKey) -> StoreFuture<'_, Option<StoredPlayer>>;

    /// The players with these ids and valid tokens, in any order. Those whose rows are damaged are passed over.
    fn find_all(&self, players: Vec<PlayerId>) -> StoreFuture<'_, Vec<StoredPlayer>> {
        Box::pin(async move {
            let mut found = Vec::new();
            for player in players {
                match self.find(PlayerKey::Id(player)).await {
                    Ok(player) => found.extend(player),
                    Err(StoreError::Damaged(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        })
    }

    /// The player or former player with an id.
    fn profile(&self, player: PlayerId) -> StoreFuture<'_, Option<Profile>>;

    /// At most `limit` players and former players with this name in upper or lower case, the last seen first.
    fn named(&self, name: DisplayName, limit: usize) -> StoreFuture<'_, Vec<Profile>>;

    /// Inserts a player who has just logged in. Returns false, and changes nothing, if another player with a valid token
    /// has the name, in upper or lower case. A store that is not shared also replaces a player by the same id.
    fn put_player(&self, player: StoredPlayer) -> StoreFuture<'_, bool>;

    /// Replaces what has changed of a player: the token, the claim, the version of the engine, and the invitations that
    /// it accepts. Returns false, and changes nothing, if the stored token is not that of `before`. The default does not
    /// check this, as only this process writes to a store that is not shared.
    fn change_account(&self, player: StoredPlayer, _before: StoredPlayer) -> StoreFuture<'_, bool> {
        self.put_player(player)
    }

    /// Invalidates a player's token and frees the name. The games are kept.
    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()>;

    /// At most `limit` players with valid tokens who were last seen before `claimed`, if they have claimed their name,
    /// or else before `others`; with the time. The default returns none, as for a store that is not shared.
    fn idle_players(
        &self,
        _others: Timestamp,
        _claimed: Timestamp,
        _limit: usize,
    ) -> StoreFuture<'_, Vec<(PlayerId, Timestamp)>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Removes a player of [`PlayerStore::idle_players`], unless seen after `seen`. Returns true if it was removed.
    fn remove_idle(&self, _player: PlayerId, _seen: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(ready(Ok(false)))
    }

    /// The bans, in any order, including ended ones. Damaged rows are passed over.
    fn bans(&self) -> StoreFuture<'_, Vec<Ban>>;

    /// Inserts a ban, or replaces the one of the same subject, and then removes all bans that have ended. So a ban that
    /// has ended already lifts the one that it replaces.
    fn put_ban(&self, ban: Ban, now: Timestamp) -> StoreFuture<'_, ()>;

    /// Records when players were last seen. If several nodes do so, the latest time stays.
    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()>;

    /// The rooms of all nodes of which a player is a member. The default returns none: without other nodes, this
    /// process knows all rooms.
    fn room_places(&self, _player: PlayerId) -> StoreFuture<'_, Vec<RoomPlace>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Reserves a place within a player's quota, which all nodes share. Returns false at the limit, unless the room
    /// counts already. A reservation that is not released ends after two minutes.
    fn reserve_place(&self, _place: PlaceRequest) -> StoreFuture<'_, bool> {
        Box::pin(ready(Ok(true)))
    }

    /// Ends a reservation, by its number.
    fn release_place(&self, _number: u64) -> StoreFuture<'_, ()> {
        Box::pin(ready(Ok(())))
    }
}
