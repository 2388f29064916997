//! Notes in the store that the server is alive, which show how long it was down, and the detection of stalls.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::sync::mpsc::error::TrySendError;

use super::{
    lifecycle::ticks,
    player::expiry::store_seen,
    room::{actor::ActorContext, host::RoomHost, message::Message},
    stalls::{NOTE_INTERVAL, SHORTEST},
};
use crate::store::StoreError;

/// Maximum number of rooms that are told at a time to credit their clocks after a stall, four times a second.
const CREDITED: usize = 1_000;

/// The interval of these notes. After a crash, clocks may be credited with up to this much too much. If there are no
/// other writes, the notes show whether the store can be written.
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// Notes in the store that the server is alive, regularly until it stops.
pub(crate) async fn mark_alive_regularly(host: RoomHost) {
    let context = &host.context;
    let (mut ticks, mut last) = (ticks(ALIVE_INTERVAL), Ok(()));
    while context.lifecycle.next_tick(&mut ticks).await {
        if awaits_credit(context) {
            continue;
        }
        let written = mark_alive(context).await;
        if let Err(error) = &written
            && written != last
        {
            tracing::warn!(%error, "the store could not note that the server is alive");
        }
        last = written;
    }
}

/// Detects stalls regularly until the server stops. After a stall it tells the rooms in memory to credit their clocks,
/// at most [`CREDITED`] at a time: the writes of all rooms at once could cause the next stall.
pub(crate) async fn note_stalls(host: RoomHost) {
    let ActorContext { stalls, clock, registry, lifecycle, journal, tournaments, .. } = &*host.context;
    let (mut ticks, mut known, mut rooms) = (ticks(NOTE_INTERVAL), 0, Vec::new());
    // Each room that is told holds it until it has credited its clocks.
    let told = Arc::new(());
    while lifecycle.next_tick(&mut ticks).await {
        let lost = stalls.note(clock.now(), journal.is_malformed());
        let new = Duration::from_micros((lost - known).unsigned_abs());
        if stalls.is_writing_stalled() {
            // All rooms are told after the stall. Until then this holds none of them, so that they can leave memory.
            rooms.clear();
            continue;
        }
        if new >= SHORTEST && rooms.is_empty() {
            tracing::warn!(time = ?new, "no player could move for this time; the clocks are credited with it");
            known = lost;
            rooms = registry.all_live(|_| true);
        }
        let mut asked = rooms.split_off(rooms.len().saturating_sub(CREDITED));
        // Those with a full mailbox are told later: if the server ended before, the credit would be lost.
        let message = || Message::CreditStalls(Arc::clone(&told));
        asked.retain(|room| matches!(room.try_send(message()), Err(TrySendError::Full(_))));
        rooms.append(&mut asked);
        if rooms.is_empty() && Arc::strong_count(&told) == 1 {
            stalls.note_credited(known.min(tournaments.credited()));
        }
    }
}

/// The last write of a server: that it was alive, and when players were last seen. False on failure.
pub(crate) async fn write_shutdown(context: &ActorContext) -> bool {
    // First, since the clocks need it, and the rest may take long.
    let alive = match awaits_credit(context) {
        true => Err(StoreError::Unavailable("clocks are not yet credited for the downtime".into())),
        false => mark_alive(context).await,
    };
    let seen = store_seen(&context.players, Duration::ZERO, &*context.player_store).await;
    let written = alive.and(seen);
    if let Err(error) = &written {
        tracing::warn!(%error, "the shutdown could not be recorded in the store");
    }
    written.is_ok()
}

/// True while clocks are not yet credited for the time before this start, which a new note would hide. Nodes that share
/// a store have that time in the store for each shard.
fn awaits_credit(context: &ActorContext) -> bool {
    !context.cluster.shares_store() && context.registry.uncredited.load(Relaxed) > 0
}

async fn mark_alive(context: &ActorContext) -> Result<(), StoreError> {
    let write = context.stalls.begin_write();
    let served = context.stalls.served_until(context.clock.now());
    let written = context.journal.mark_alive(served).await;
    write.end(!written.as_ref().is_err_and(StoreError::is_fault));
    written
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind, Room, RoomId, Timestamp},
        runtime::{Parts, Peers, Runtime, cluster::peers::NoPeers},
        store::{
            Append, AppendFuture, DoneRequest, History, Journal, MemoryStore, NodeId, PlayerStore, Store, StoreFuture,
        },
    };

    /// A journal that notes, with each mark that the server is alive, when the only player was last seen as stored.
    struct NotingJournal {
        store: Arc<MemoryStore>,
        seen: Mutex<Option<Timestamp>>,
    }

    impl Journal for NotingJournal {
        fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
            self.store.append(append)
        }

        fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
            self.store.load(room)
        }

        fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
            self.store.open_rooms(after, limit)
        }

        fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
            Box::pin(async move {
                let seen = last_seen(&self.store).await;
                *self.seen.lock().unwrap() = seen;
                self.store.mark_alive(now).await
            })
        }

        fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
            self.store.done_request(key, now)
        }

        fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
            self.store.last_alive()
        }
    }

    async fn last_seen(store: &MemoryStore) -> Option<Timestamp> {
        store.players().await.unwrap().first().map(|player| player.seen)
    }

    #[tokio::test(start_paused = true)]
    async fn that_the_server_was_alive_is_stored_before_when_players_were_last_seen() {
        let store = Arc::new(MemoryStore::default());
        let journal = Arc::new(NotingJournal { store: Arc::clone(&store), seen: Mutex::default() });
        let parts = Store { journal: Arc::clone(&journal) as _, ..Store::shared(&store) };
        let runtime = Runtime::start(Parts::new(parts, |_, _| Bytes::new())).await.unwrap();
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.unwrap();
        let at_log_in = last_seen(&store).await.unwrap();
        tokio::time::advance(Duration::from_secs(60)).await;
        ada.admit().unwrap();
        assert!(write_shutdown(runtime.context()).await);
        assert_eq!(*journal.seen.lock().unwrap(), Some(at_log_in));
        assert!(last_seen(&store).await.unwrap() > at_log_in);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_by_itself_is_not_marked_alive_before_clocks_are_credited() {
        let node: (_, Arc<dyn Peers>) = (NodeId(1), Arc::new(NoPeers));
        for (cluster, expected) in [(None, false), (Some(node), true)] {
            let parts = Parts::new(Store::of(MemoryStore::default()), |_, _| Bytes::new());
            let runtime = Runtime::start(Parts { cluster, ..parts }).await.unwrap();
            runtime.context().registry.uncredited.fetch_add(1, Relaxed);
            assert_eq!(write_shutdown(runtime.context()).await, expected);
        }
    }
}
