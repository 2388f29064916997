//! Restores stored players at start-up, and open rooms.

use super::{
    actor::{ActorContext, Origin},
    host::RoomHost,
};
use crate::{
    room::{Occupant, Phase, Room, Seat, Timestamp, Visibility},
    rules::Color,
    store::StoreError,
};

/// Restores all players. Returns when the server was last running: the clocks of the rooms are to be credited with the
/// time since then.
///
/// The last note that the previous run was alive stays until every room is credited, so that after a failure the next
/// start credits the rest. A note in the future, because the clock was set back, is replaced at once.
pub(crate) async fn restore_players(context: &ActorContext) -> Result<Option<Timestamp>, StoreError> {
    let (journal, clock) = (&context.journal, context.clock);
    let alive = journal.last_alive().await?;
    let downtime = alive.map_or(0, |alive| clock.now().0.saturating_sub(alive.0));
    if alive.is_some() {
        let seconds = downtime / 1_000_000;
        tracing::info!(seconds, "the clocks of running games are credited with the time since the last run");
    }
    for mut enrolled in context.player_store.players().await? {
        // The downtime does not count as idle.
        enrolled.seen = enrolled.seen.shifted(downtime);
        context.players.restore(enrolled);
    }
    if alive.is_some_and(|alive| alive > clock.now()) {
        // Otherwise a start after this one would credit the same time again.
        journal.mark_alive(clock.now()).await?;
    }
    Ok(alive)
}

/// Starts the actor of a stored room, or notes the room as dormant. Clocks are credited with the time since `alive`,
/// when the server of the room was last running.
pub(crate) fn restore(host: &RoomHost, room: Room, alive: Option<Timestamp>) {
    let context = &host.context;
    let now = context.clock.now();
    let is_due = room.deadline().is_some_and(|deadline| deadline <= now);
    // The actor removes members who have logged out but could not leave.
    let all_known = room.members().iter().all(|member| context.players.get(member.profile.id).is_some());
    if room.is_idle() && all_known && !is_due {
        return host.register_dormant(&room);
    }
    // Activity after the last note means that the server was still running.
    let origin =
        alive.map_or(Origin::Start { since: now, downtime: 0 }, |alive| Origin::since(&room, alive, context.clock));
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

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, atomic::Ordering::Relaxed},
        time::Duration,
    };

    use bytes::Bytes;

    use crate::{
        room::{AiSpec, Command, DisplayName, PlayerKind, SeatSpec, Settings},
        rules::ByColor,
        runtime::{NewRoom, Parts, Runtime},
        store::{Journal as _, MemoryStore, Store},
    };

    /// By the clock of the process, which goes on between the load of a room and its credit.
    #[tokio::test]
    async fn a_credit_begins_exactly_when_the_downtime_did() {
        let store = Arc::new(MemoryStore::default());
        let start = async || Runtime::start(Parts::new(Store::shared(&store), |_, _| Bytes::new())).await.unwrap();
        let runtime = start().await;
        let ada = DisplayName::parse("Ada").unwrap();
        let (ada, _) = runtime.sessions.log_in(ada, PlayerKind::Human, 0, None, None).await.unwrap();
        let ai = SeatSpec::Ai(AiSpec { kind: "random".into(), level: None, seed: None });
        let new = NewRoom { settings: Settings::named((&ada.name).into()), seats: ByColor::new(SeatSpec::Me, ai) };
        let room = runtime.rooms.create(&ada, new, None).await.unwrap().room.id();
        runtime.rooms.command(&ada, room, Command::Start(None)).await.unwrap();
        assert!(runtime.shut_down(Duration::from_secs(60)).await);
        let alive = store.last_alive().await.unwrap().unwrap();
        let runtime = start().await;
        while runtime.context().registry.uncredited.load(Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        let credited = store.load(room).await.unwrap().unwrap().latest();
        assert_eq!(credited.credited_since(), Some(alive));
    }
}
