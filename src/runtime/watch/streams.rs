//! Opens the streams of players.

use std::sync::Arc;

use super::{
    open_stream::OpenStream,
    room_watch::{Watch, WatchStart},
    turns::Turns,
};
use crate::{
    room::{Credentials, RoomId},
    runtime::{
        lobby::{
            listing::LobbyWatch,
            row::{LobbyUpdate, RowFilter},
        },
        outcome::{RoomError, StreamEnd},
        player::player::Player,
        room::{host::RoomHost, message::WatchAccess},
        server_metrics::StreamKind,
    },
};

/// Opens the streams of players.
#[derive(Clone)]
pub struct Streams {
    pub(crate) host: RoomHost,
}

impl Streams {
    /// Opens a player's stream of turns, and ends an older one.
    ///
    /// # Errors
    /// When the player or its address has too many streams, or the player's token was replaced.
    pub async fn turns(&self, player: &Arc<Player>) -> Result<Turns, RoomError> {
        Turns::open(&self.host, player).await
    }

    /// Watches a room.
    ///
    /// # Errors
    /// When the room does not exist or cannot be reached, the player may not watch it, or the player or its address has
    /// too many streams.
    pub async fn room(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        credentials: Credentials,
        start: WatchStart,
    ) -> Result<Watch, RoomError> {
        Watch::open(&self.host, player, room, WatchAccess::Player(player.id(), credentials), start).await
    }

    /// Watches a room as an administrator.
    ///
    /// # Errors
    /// When the room does not exist or cannot be reached, or the player or its address has too many streams.
    pub async fn room_as_admin(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        start: WatchStart,
    ) -> Result<Watch, RoomError> {
        Watch::open(&self.host, player, room, WatchAccess::Admin, start).await
    }

    /// Watches the room list.
    ///
    /// # Errors
    /// When the player or its address has too many streams.
    pub fn lobby(&self, player: &Arc<Player>, filter: RowFilter) -> Result<WatchedLobby, RoomError> {
        let open = OpenStream::new(&self.host, player, StreamKind::List)?;
        Ok(WatchedLobby { open, watch: self.host.lobby.watch(filter) })
    }

    /// Counts an export until the result is dropped.
    ///
    /// # Errors
    /// When the player or its address has too many streams.
    pub fn export(&self, player: &Arc<Player>) -> Result<OpenStream, RoomError> {
        OpenStream::new(&self.host, player, StreamKind::Export)
    }
}

/// The room list as watched by one player.
pub struct WatchedLobby {
    open: OpenStream,
    watch: LobbyWatch,
}

impl WatchedLobby {
    /// The next update. Cancel safe.
    ///
    /// # Errors
    /// Why the stream has ended.
    pub async fn next(&mut self) -> Result<LobbyUpdate, StreamEnd> {
        tokio::select! {
            biased;
            end = self.open.ended() => Err(end),
            update = self.watch.next() => Ok(update),
        }
    }
}
