//! Reports to rooms whether their members are connected.
//!
//! A player is present while a stream is open, and for the grace after a call without one; absent at once when the last
//! stream ends. Rooms learn of streams when they open and end, and of calls by the ticks of [`check_regularly`].

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc::error::TrySendError;

use super::{host::RoomHost, message::Message};
use crate::{
    room::RoomId,
    runtime::{
        lifecycle::ticks,
        player::{expiry::expire, player::Player},
    },
};

/// Tells rooms to check whether a player is present. Waits in the background for rooms whose mailbox is full.
pub(crate) fn check_presence(host: &RoomHost, player: &Arc<Player>, rooms: Vec<RoomId>) {
    let context = &host.context;
    if context.lifecycle.stop.is_cancelled() {
        return;
    }
    for room in rooms {
        let Some(handle) = context.registry.live(room) else {
            // A dormant room has no absent members, and checks on its own when loaded.
            if player.is_logged_out() {
                // It is not checked again.
                host.wake_surely(room);
            } else if !context.players.is_present(player.id(), context.limits.get().presence_grace) {
                host.wake(room);
            }
            continue;
        };
        let message = match handle.try_send(Message::CheckPresence(player.id())) {
            Ok(()) | Err(TrySendError::Closed(_)) => continue,
            Err(TrySendError::Full(message)) => message,
        };
        // The room checks when it handles the message, so one waiting message suffices.
        if !player.streams.begin_check(room) {
            continue;
        }
        let (stop, player) = (context.lifecycle.stop.clone(), Arc::clone(player));
        context.lifecycle.spawn(async move {
            let permit = tokio::select! {
                biased;
                permit = handle.reserve() => permit,
                () = stop.cancelled() => None,
            };
            player.streams.end_check(room);
            if let Some(permit) = permit {
                permit.send(message);
            }
        });
    }
}

/// Regularly follows the system's clock, checks members without a stream, expires players, and wakes dormant rooms
/// whose deadline has passed. The interval is a quarter of the grace, between 1 and 60 seconds.
pub(crate) async fn check_regularly(host: RoomHost) {
    let context = &host.context;
    let mut ticks =
        ticks((context.limits.get().presence_grace / 4).clamp(Duration::from_secs(1), Duration::from_secs(60)));
    while context.lifecycle.next_tick(&mut ticks).await {
        context.clock.follow_system();
        for player in context.players.without_stream() {
            check_presence(&host, &player, player.rooms());
        }
        expire(&context.players, &*context.player_store, &context.limits.get(), context.clock).await;
        for room in context.registry.due(context.clock.now()) {
            host.wake(room);
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::time::sleep;

    use super::*;
    use crate::{
        room::{AiSpec, DisplayName, GameId, PlayerKind},
        rules::Color,
        runtime::{Notice, Opponent, Parts, Runtime, StreamEnd, Turns},
        store::{MemoryStore, Store},
    };

    /// Ada plays black against an AI, and has not yet read that it is her turn.
    async fn with_open_turn() -> (Runtime, Arc<Player>, Turns, RoomId) {
        let store = Store::of(MemoryStore::default());
        let parts = Parts { ai_threads: Some(0), ..Parts::new(store, |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let (ada, _) = runtime
            .sessions
            .log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0, None, None)
            .await
            .unwrap();
        let turns = runtime.streams.turns(&ada).await.unwrap();
        let ai = Opponent::Ai(AiSpec { kind: "random".into(), level: Some(1), seed: Some(7) });
        let room = runtime.rooms.quick_start(&ada, ai, Some(Color::Black), None, None).await.unwrap().room.id();
        (runtime, ada, turns, room)
    }

    async fn is_present(runtime: &Runtime, player: &Player, room: RoomId) -> bool {
        let snapshot = runtime.rooms.snapshot_as_admin(room).await.unwrap();
        snapshot.room.member(player.id()).unwrap().absent_since.is_none()
    }

    #[tokio::test(start_paused = true)]
    async fn an_unread_stream_is_cut_off_without_being_polled_and_its_player_is_absent() {
        let (runtime, ada, mut unread, room) = with_open_turn().await;
        let patience = runtime.limits().reader_patience;
        sleep(patience - Duration::from_secs(1)).await;
        assert!(is_present(&runtime, &ada, room).await);
        sleep(patience / 2).await;
        assert!(!is_present(&runtime, &ada, room).await);
        assert_eq!(unread.next().await, Err(StreamEnd::SlowConsumer));

        // Unread notices are sent again, and the drop of the old stream has no effect.
        let mut turns = runtime.streams.turns(&ada).await.unwrap();
        drop(unread);
        assert!(is_present(&runtime, &ada, room).await);
        assert!(matches!(turns.next().await, Ok(Notice::TurnRequested(_))));
        let game = GameId { room, number: 1 };
        assert!(matches!(turns.next().await, Ok(Notice::GameStarted { game: started, .. }) if started == game));
    }

    #[tokio::test(start_paused = true)]
    async fn a_player_who_has_read_everything_stays_present() {
        let (runtime, ada, mut turns, room) = with_open_turn().await;
        assert!(matches!(turns.next().await, Ok(Notice::GameStarted { .. })));
        assert!(matches!(turns.next().await, Ok(Notice::TurnRequested(_))));
        // Before the flag falls, which would send a notice.
        sleep(runtime.limits().reader_patience * 3 / 2).await;
        assert!(is_present(&runtime, &ada, room).await);
    }
}
