//! Coming back: players and open rooms as the store has them.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::time::{MissedTickBehavior, interval};

use super::registry::Origin;
use crate::{
    room::{Occupant, Phase, PlayerId, Room, Timestamp, Visibility},
    runtime::{limit::limits::STORE_RETRY, server_state::Shared},
    store::Unavailable,
};

/// Rooms that are in memory twice while they come back.
const STEP: usize = 500;

/// How often a server with a running game notes that it lives. After a crash, clocks get at most this much too much.
const ALIVE: Duration = Duration::from_secs(5);

/// Brings everybody and everything back as it was, with the time that the server was away given back.
///
/// Until that is written for every room, the last note of an earlier server stands: should this one die before, the next
/// gives back the rest. A clock that was set back is noted at once, for a time that lies ahead says nothing any more.
pub(crate) async fn revive(shared: &Arc<Shared>) -> Result<(), Unavailable> {
    let store = &shared.store;
    let alive = store.journal.last_alive().await?;
    let away = alive.map_or(0, |alive| shared.clock.now().0.saturating_sub(alive.0));
    for mut player in store.players.players().await? {
        // Nobody was idle while there was no server to ask.
        player.seen = player.seen.shifted(away);
        shared.players.restore(player, &shared.limits);
    }
    if alive.is_some_and(|alive| alive > shared.clock.now()) {
        store.journal.mark_alive(shared.clock.now()).await?;
    }
    let mut after = None;
    loop {
        let rooms = store.journal.open_rooms(after, STEP).await?;
        let Some(last) = rooms.last() else { break };
        after = Some(last.id());
        for room in rooms {
            bring_back(shared, room, alive).await;
        }
    }
    Ok(())
}

async fn bring_back(shared: &Arc<Shared>, room: Room, alive: Option<Timestamp>) {
    if waits_for_anyone(&room) {
        shared.matchmaker.waiting.lock().await.add(room.id());
    }
    let due = room.deadline().is_some_and(|deadline| deadline <= shared.clock.now());
    // One who has logged out and could not leave is nobody's concern but the room's.
    let known = room.members().iter().all(|member| shared.players.get(member.profile.id).is_some());
    if room.is_idle() && known && !due {
        shared.lay_down(&room);
        return;
    }
    // What happened behind the last note happened while the server lived.
    let lived = alive.map(|alive| alive.max(room.last_activity()));
    let away = lived.map_or(0, |lived| shared.clock.now().0 - lived.0);
    shared.uncredited.fetch_add(1, Relaxed);
    shared.host(room, Origin::Start { away });
}

/// Whether somebody sits there who has asked for any opponent.
fn waits_for_anyone(room: &Room) -> bool {
    let seats = room.seats();
    let waits = |(side, seat): (_, &crate::room::Seat)| {
        matches!(seat.occupant, Occupant::Open) && seats[crate::rules::Color::opposite(side)].ready()
    };
    room.phase() == Phase::Lobby
        && room.settings().visibility == Visibility::Public
        && room.settings().auto_start
        && seats.iter().any(waits)
}

/// Notes now and then that the server lives, while that matters to a clock.
pub(crate) async fn stay_alive(shared: Arc<Shared>) {
    let mut beat = interval(ALIVE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut started = false;
    loop {
        tokio::select! {
            biased;
            () = shared.rooms_end.cancelled() => return,
            _ = beat.tick() => {}
        }
        if started && shared.games.load(Relaxed) == 0 {
            continue;
        }
        match mark_alive(&shared).await {
            Ok(()) => started = true,
            Err(error) => tracing::warn!(%error, "that the server lives could not be noted"),
        }
    }
}

/// The last thing that a server writes: until when it lived, and who was there. Whether that was written.
pub(crate) async fn note_the_end(shared: &Shared) -> bool {
    let store = &shared.store;
    let seen = store.players.record_seen(shared.players.seen_lately(Duration::ZERO)).await;
    let alive = mark_alive(shared).await;
    let noted = seen.and(alive);
    if let Err(error) = &noted {
        tracing::warn!(%error, "the end could not be noted");
    }
    noted.is_ok()
}

async fn mark_alive(shared: &Shared) -> Result<(), Unavailable> {
    if shared.uncredited.load(Relaxed) > 0 {
        return Err(Unavailable("the time before the start is not given back yet".into()));
    }
    shared.store.journal.mark_alive(shared.clock.now()).await
}

/// Strikes one off whose log-in failed, however long that takes: the name is free, and must not come back.
pub(crate) async fn undo_enrolment(shared: Arc<Shared>, player: PlayerId) {
    while shared.store.players.remove_player(player).await.is_err() {
        tokio::select! {
            biased;
            () = shared.rooms_end.cancelled() => return,
            () = tokio::time::sleep(STORE_RETRY) => {}
        }
    }
}
