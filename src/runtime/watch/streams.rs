//! Opens the streams of players.

use std::sync::Arc;

use super::{
    open_stream::OpenStream,
    room_watch::{Watch, WatchAccess},
    turns::Turns,
};
use crate::{
    room::{Credentials, RoomId, Seq},
    runtime::{
        lobby::listing::{Lobby, LobbyUpdate, LobbyWatch, RowFilter},
        outcome::{RoomError, StreamEnd},
        player::player::Player,
        room::host::RoomHost,
        server_metrics::StreamKind,
    },
};

/// Opens the streams of players. Each fails when the player or its address has too many.
#[derive(Clone)]
pub struct Streams {
    host: RoomHost,
    lobby: Arc<Lobby>,
}

impl Streams {
    pub(crate) fn new(host: RoomHost, lobby: Arc<Lobby>) -> Self {
        Self { host, lobby }
    }

    /// Opens a player's stream of turns, and ends an older one.
    ///
    /// # Errors
    /// When the player has too many streams.
    pub async fn turns(&self, player: &Arc<Player>) -> Result<Turns, RoomError> {
        Turns::open(&self.host, player).await
    }

    /// Watches a room, from the start or after an event.
    ///
    /// # Errors
    /// When the room does not exist, or the player may not watch it or has too many streams.
    pub async fn room(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        credentials: Credentials,
        after: Option<Seq>,
    ) -> Result<Watch, RoomError> {
        Watch::open(&self.host, player, room, WatchAccess::Credentials(credentials), after).await
    }

    /// Watches a room as an administrator.
    ///
    /// # Errors
    /// When the room does not exist, or the player has too many streams.
    pub async fn room_as_admin(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        after: Option<Seq>,
    ) -> Result<Watch, RoomError> {
        Watch::open(&self.host, player, room, WatchAccess::Admin, after).await
    }

    /// Watches the room list.
    ///
    /// # Errors
    /// When the player has too many streams.
    pub fn lobby(&self, player: &Arc<Player>, filter: RowFilter) -> Result<WatchedLobby, RoomError> {
        Ok(WatchedLobby { open: self.open(player, StreamKind::List)?, watch: self.lobby.watch(filter) })
    }

    /// Counts an export while it runs.
    ///
    /// # Errors
    /// When the player has too many streams.
    pub fn export(&self, player: &Arc<Player>) -> Result<CountedStream, RoomError> {
        Ok(CountedStream { open: self.open(player, StreamKind::Export)? })
    }

    pub(crate) fn open(&self, player: &Arc<Player>, kind: StreamKind) -> Result<OpenStream, RoomError> {
        OpenStream::new(&self.host, player, kind)
    }
}

/// A stream whose items come from elsewhere, counted until this is dropped.
pub struct CountedStream {
    open: OpenStream,
}

impl CountedStream {
    /// Waits until the server or the player ends every stream.
    pub async fn ended(&self) -> StreamEnd {
        self.open.ended().await
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
    /// The end of the stream.
    pub async fn next(&mut self) -> Result<LobbyUpdate, StreamEnd> {
        tokio::select! {
            biased;
            end = self.open.ended() => Err(end),
            update = self.watch.next() => Ok(update),
        }
    }
}
