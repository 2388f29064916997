//! Notes in the store that the server is alive, which show how long it was down, and the detection of stalls.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use super::{
    lifecycle::ticks,
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
    let ActorContext { stalls, clock, registry, lifecycle, journal, .. } = &*host.context;
    let (mut ticks, mut known, mut rooms) = (ticks(NOTE_INTERVAL), 0, Vec::new());
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
            rooms = registry.all_live();
        }
        for room in rooms.drain(rooms.len().saturating_sub(CREDITED)..) {
            // A room with a full mailbox does this before its next command or deadline.
            let _ = room.try_send(Message::CreditStalls);
        }
    }
}

/// The last write of a server: that it was alive, and when players were last seen. False on failure.
pub(crate) async fn write_shutdown(context: &ActorContext) -> bool {
    // First, since the clocks need it, and the rest may take long.
    let alive = mark_alive(context).await;
    let seen = context.player_store.record_seen(context.players.unstored_use(Duration::ZERO)).await;
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
    if awaits_credit(context) {
        return Err(StoreError::Unavailable("clocks are not yet credited for the downtime".into()));
    }
    let write = context.stalls.begin_write();
    let written = context.journal.mark_alive(context.clock.now()).await;
    write.end(!written.as_ref().is_err_and(StoreError::is_fault));
    written
}
