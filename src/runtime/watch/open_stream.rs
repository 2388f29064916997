//! An open stream, counted for its player and address until it is dropped.

use std::sync::Arc;

use crate::runtime::{
    limit::client_address::{AddressPermit, Resource},
    outcome::{RoomError, StreamEnd},
    player::player::Player,
    room::{host::RoomHost, presence::check_presence},
    server_metrics::{self, StreamKind},
};

/// An open stream of a player, counted until it is dropped. The player's rooms are told when its first stream opens and
/// when its last one closes.
pub struct OpenStream {
    pub(crate) host: RoomHost,
    pub(crate) player: Arc<Player>,
    kind: StreamKind,
    /// The number of a stream of turns.
    turns_number: Option<i64>,
    _home: Option<AddressPermit>,
}

impl OpenStream {
    /// Fails when the player or its address has too many streams.
    pub(crate) fn new(host: &RoomHost, player: &Arc<Player>, kind: StreamKind) -> Result<Self, RoomError> {
        let home = player.quota.home();
        let home = home.map(|home| home.acquire(Resource::Streams).ok_or(RoomError::QuotaStreams)).transpose()?;
        let before = player.streams.open();
        server_metrics::streams(kind, 1.0);
        let stream = Self { host: host.clone(), player: Arc::clone(player), kind, turns_number: None, _home: home };
        if before >= host.context.limits.get().streams_per_player {
            return Err(RoomError::QuotaStreams);
        }
        if before == 0 {
            check_presence(host, player, player.rooms());
        }
        host.context.players.announce(player);
        Ok(stream)
    }

    /// Makes it the player's newest stream of turns.
    pub(super) fn begin_turns(&mut self) {
        let Self { host, player, turns_number, .. } = self;
        if player.stream_end().is_some() {
            // It ends at once, and must not end the stream that the player may have at another node.
            return;
        }
        let number = host.context.players.next_turns_number(player);
        *turns_number = Some(number);
        player.streams.begin_turns(number);
    }

    /// Waits until the server or the player ends all streams.
    pub async fn ended(&self) -> StreamEnd {
        self.player.streams_end.cancelled().await;
        self.why_ended()
    }

    /// Why all streams have ended. Call only after they have.
    pub(crate) fn why_ended(&self) -> StreamEnd {
        self.player.stream_end().unwrap_or(StreamEnd::Draining)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        server_metrics::streams(self.kind, -1.0);
        if let Some(number) = self.turns_number {
            self.player.streams.end_turns(number);
        }
        if self.player.streams.close() {
            check_presence(&self.host, &self.player, self.player.rooms());
        }
        self.host.context.players.announce(&self.player);
    }
}
