//! Start-up: restores the stored players and open rooms. Also the heartbeats, from which the downtime is measured.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use tokio::sync::Mutex;

use super::{
    actor::{ActorContext, Origin},
    host::RoomHost,
    message::Message,
};
use crate::{
    room::{Occupant, Phase, Room, Seat, Timestamp, Visibility},
    rules::Color,
    runtime::{
        lobby::matchmaker::WaitingRooms,
        player::expiry::ticks,
        stalls::{NOTE_INTERVAL, SHORTEST},
    },
    store::{PlayerStore, StoreError},
};

/// Rooms loaded at a time.
const STEP: usize = 500;

/// The most rooms that credit their clocks after a stall at a time, four times a second.
const CREDITED: usize = 1_000;

/// The interval of heartbeats: the most by which clocks are over-credited after a crash. Without other writes they also
/// show whether the store can be written.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Restores all players and open rooms, and credits clocks with the server's downtime.
///
/// The last heartbeat of the previous run stays until every room is credited, so that after a failure the next start
/// credits the rest. A heartbeat in the future, because the clock was set back, is replaced at once.
pub(crate) async fn recover(
    host: &RoomHost,
    player_store: &dyn PlayerStore,
    waiting: &Mutex<WaitingRooms>,
) -> Result<(), StoreError> {
    let context = &host.context;
    let (journal, clock) = (&context.journal, context.clock);
    let alive = journal.last_alive().await?;
    let away = alive.map_or(0, |alive| clock.now().0.saturating_sub(alive.0));
    for mut enrolled in player_store.players().await? {
        // The downtime does not count as idle.
        enrolled.seen = enrolled.seen.shifted(away);
        context.players.restore(enrolled);
    }
    if alive.is_some_and(|alive| alive > clock.now()) {
        // Otherwise a start after this one would credit the same time again.
        journal.mark_alive(clock.now()).await?;
    }
    let mut after = None;
    loop {
        let rooms = journal.open_rooms(after, STEP).await?;
        let Some(last) = rooms.last() else { break };
        after = Some(last.id());
        for room in rooms {
            if waits_for_opponent(&room) {
                waiting.lock().await.add(room.id());
            }
            restore(host, room, alive);
        }
    }
    Ok(())
}

pub(crate) fn restore(host: &RoomHost, room: Room, alive: Option<Timestamp>) {
    let context = &host.context;
    let now = context.clock.now();
    let is_due = room.deadline().is_some_and(|deadline| deadline <= now);
    // The actor removes members who have logged out but could not leave.
    let all_known = room.members().iter().all(|member| context.players.get(member.profile.id).is_some());
    if room.is_idle() && all_known && !is_due {
        return host.register_dormant(&room);
    }
    // Activity after the last heartbeat means that the server was still running.
    let origin = alive.map_or(Origin::Start { away: 0 }, |alive| Origin::since(&room, alive, context.clock));
    host.start(room, origin);
}

pub(crate) fn waits_for_opponent(room: &Room) -> bool {
    let seats = room.seats();
    let waits =
        |(side, seat): (Color, &Seat)| matches!(seat.occupant, Occupant::Open) && seats[side.opposite()].ready();
    room.phase() == Phase::Lobby
        && room.settings().visibility == Visibility::Public
        && room.settings().auto_start
        && seats.iter().any(waits)
}

pub(crate) async fn write_heartbeats(host: RoomHost) {
    let context = &host.context;
    let mut ticks = ticks(HEARTBEAT);
    loop {
        tokio::select! {
            biased;
            () = context.lifecycle.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = heartbeat(context).await {
            tracing::warn!(%error, "a heartbeat could not be written");
        }
    }
}

/// Notes regularly that the server runs. After a stall it makes the live rooms credit their clocks, some at each note: the writes of
/// all at once could be the next stall.
pub(crate) async fn note_stalls(host: RoomHost) {
    let ActorContext { stalls, clock, registry, lifecycle, .. } = &*host.context;
    let (mut ticks, mut known, mut rooms) = (ticks(NOTE_INTERVAL), 0, Vec::new());
    loop {
        tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let lost = stalls.note(clock.now());
        let new = Duration::from_micros((lost - known).unsigned_abs());
        if stalls.is_writing_stalled() {
            // All are asked after the stall. Until then rooms can leave memory.
            rooms.clear();
            continue;
        }
        if new >= SHORTEST && rooms.is_empty() {
            tracing::warn!(time = ?new, "no player could move for this time; the clocks are credited with it");
            known = lost;
            rooms = registry.all_live();
        }
        for room in rooms.drain(rooms.len().saturating_sub(CREDITED)..) {
            // Each room looks for stalls before its next command or deadline, also one with a full mailbox.
            let _ = room.try_send(Message::CreditStalls);
        }
    }
}

/// The last write of a server: the final heartbeat, and when players were last seen. False on failure.
pub(crate) async fn write_shutdown(context: &ActorContext, player_store: &dyn PlayerStore) -> bool {
    let seen = player_store.record_seen(context.players.unstored_seen(Duration::ZERO)).await;
    let written = seen.and(heartbeat(context).await);
    if let Err(error) = &written {
        tracing::warn!(%error, "the shutdown could not be written");
    }
    written.is_ok()
}

async fn heartbeat(context: &ActorContext) -> Result<(), StoreError> {
    // In a cluster the store notes that for each shard.
    if context.cluster.is_none() && context.registry.uncredited.load(Relaxed) > 0 {
        return Err(StoreError::Unavailable("clocks are not yet credited for the downtime".into()));
    }
    let write = context.stalls.begin_write();
    let written = context.journal.mark_alive(context.clock.now()).await;
    write.end(!written.as_ref().is_err_and(StoreError::is_fault));
    written
}
