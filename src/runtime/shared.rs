//! What every part of a running server shares.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use bytes::Bytes;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    analyst::Analysts,
    entropy::{Chance, Clock},
    limits::Limits,
    lobby::Lobby,
    matchmaker::Matchmaker,
    players::{Players, TokenHash},
    pool::Pool,
    registry::Registry,
};
use crate::{
    room::{Event, Room, RoomId},
    store::Store,
};

/// Makes an event, with the room as it is behind it, into what watchers are sent, byte for byte: for the services of `grpc`
/// a frame, as `grpc::encode` does.
pub type Encode = fn(&Event, &Room) -> Bytes;

pub(super) struct Shared {
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) chance: Chance,
    pub(super) store: Store,
    pub(super) admin: Option<TokenHash>,
    pub(super) players: Players,
    pub(super) registry: Registry,
    pub(super) lobby: Arc<Lobby>,
    pub(super) matchmaker: Matchmaker,
    pub(super) pool: Pool,
    pub(super) analysts: Analysts,
    pub(super) encode: Encode,
    pub(super) games: AtomicUsize,
    /// Rooms to which the time that the server was away is not given back yet.
    pub(super) uncredited: AtomicUsize,
    pub(super) draining: AtomicBool,
    /// Cancelled when the streams were told to end: rooms finish the command in hand.
    pub(super) rooms_end: CancellationToken,
    pub(super) tasks: TaskTracker,
}

/// An actor's place among those that live. It ends with the actor, even with one that panics.
pub(super) struct Entry {
    pub(super) shared: Arc<Shared>,
    pub(super) room: RoomId,
    pub(super) generation: u64,
    pub(super) counted_as_game: bool,
}

impl Entry {
    pub(super) fn count_game(&mut self, runs: bool) {
        if runs != self.counted_as_game {
            self.counted_as_game = runs;
            if runs {
                self.shared.games.fetch_add(1, Relaxed);
            } else {
                self.shared.games.fetch_sub(1, Relaxed);
            }
        }
    }

    pub(super) fn leave(&mut self) {
        self.shared.registry.remove(self.room, self.generation);
        self.count_game(false);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.leave();
    }
}
