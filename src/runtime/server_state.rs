//! What every part of a running server shares.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use bytes::Bytes;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    ai::{analysis_pool::Analysts, pool::Pool},
    clock::Clock,
    limit::limits::Limits,
    lobby::{listing::Lobby, matchmaker::Matchmaker},
    player::directory::{Players, TokenHash},
    random::Chance,
    room::registry::Registry,
};
use crate::{
    room::{Event, Room, RoomId},
    store::Store,
};

/// Makes an event, with the room as it is behind it, into what watchers are sent, byte for byte: for the services of `grpc`
/// a frame, as `grpc::encode` does.
pub type Encode = fn(&Event, &Room) -> Bytes;

pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    pub(crate) chance: Chance,
    pub(crate) store: Store,
    pub(crate) admin: Option<TokenHash>,
    pub(crate) players: Players,
    pub(crate) registry: Registry,
    pub(crate) lobby: Arc<Lobby>,
    pub(crate) matchmaker: Matchmaker,
    pub(crate) pool: Pool,
    pub(crate) analysts: Analysts,
    pub(crate) encode: Encode,
    pub(crate) games: AtomicUsize,
    /// Rooms to which the time that the server was away is not given back yet.
    pub(crate) uncredited: AtomicUsize,
    pub(crate) draining: AtomicBool,
    /// Cancelled when the streams were told to end: rooms finish the command in hand.
    pub(crate) rooms_end: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// An actor's place among those that live. It ends with the actor, even with one that panics.
pub(crate) struct Entry {
    pub(crate) shared: Arc<Shared>,
    pub(crate) room: RoomId,
    pub(crate) generation: u64,
    pub(crate) counted_as_game: bool,
}

impl Entry {
    pub(crate) fn count_game(&mut self, runs: bool) {
        if runs != self.counted_as_game {
            self.counted_as_game = runs;
            if runs {
                self.shared.games.fetch_add(1, Relaxed);
            } else {
                self.shared.games.fetch_sub(1, Relaxed);
            }
        }
    }

    pub(crate) fn leave(&mut self) {
        self.shared.registry.remove(self.room, self.generation);
        self.count_game(false);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.leave();
    }
}
