//! Who is here. A player is, while a stream is open, and without one for the grace after each call.
//!
//! The loss of the last stream counts at once: only a call after it is a return. Rooms learn of streams when they open
//! and end, and of one who calls, or does not call any more, by the beat of [`look_after_players`].

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc::error::TrySendError,
    time::{MissedTickBehavior, interval},
};

use super::{directory::Player, inbox::StreamEnd};
use crate::{
    room::{RoomId, Timestamp},
    runtime::{room::message::Message, server_state::Shared},
};

impl Shared {
    /// Lets rooms look whether the player is here. A room that is too busy is waited for.
    pub(crate) fn check_presence(self: &Arc<Self>, player: &Arc<Player>, rooms: Vec<RoomId>) {
        if self.rooms_end.is_cancelled() {
            return;
        }
        for room in rooms {
            let Some(handle) = self.registry.live(room) else {
                // A sleeping room has nobody absent; it looks by itself when it wakes.
                if !player.is_here(self.limits.presence_grace) {
                    self.wake(room);
                }
                continue;
            };
            let message = match handle.try_tell(Message::CheckPresence(player.id())) {
                Ok(()) | Err(TrySendError::Closed(_)) => continue,
                Err(TrySendError::Full(message)) => message,
            };
            // The room looks when it takes the message, so one that waits will do.
            if !player.holdings().untold.insert(room) {
                continue;
            }
            let (shared, player) = (Arc::clone(self), Arc::clone(player));
            self.tasks.spawn(async move {
                let place = tokio::select! {
                    biased;
                    place = handle.place() => place,
                    () = shared.rooms_end.cancelled() => None,
                };
                player.holdings().untold.remove(&room);
                if let Some(place) = place {
                    place.send(message);
                }
            });
        }
    }

    /// Forgets a player for good: first where it lasts, so that nobody comes back from the dead.
    async fn forget_idle(&self, player: &Arc<Player>, before: Timestamp) {
        if !self.players.retire_idle(player, before) {
            return;
        }
        match self.store.players.remove_player(player.id()).await {
            Ok(()) => {
                // A stream that is being opened at this moment ends.
                player.end_streams(StreamEnd::LoggedOut);
                self.players.forget(player);
            }
            Err(error) => {
                tracing::warn!(%error, player = %player.id(), "an idle player could not be struck off");
                self.players.reinstate(player);
            }
        }
    }

    /// Lets a room that sleeps do what it finds due.
    fn wake(self: &Arc<Self>, room: RoomId) {
        let shared = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = shared.room(room).await {
                tracing::warn!(%room, %error, "a room could not be woken");
            }
        });
    }
}

/// Cuts off streams of turns that nobody reads. A client whose window is full lets its stream never be polled again, so
/// this is done from outside.
pub(crate) async fn look_after_readers(shared: Arc<Shared>) {
    let patience = shared.limits.reader_patience;
    let mut beat = interval((patience / 4).max(Duration::from_millis(10)));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shared.rooms_end.cancelled() => return,
            beat = beat.tick() => if let Some(before) = beat.checked_sub(patience) {
                shared.players.all().iter().for_each(|player| player.cut_unread(before));
            }
        }
    }
}

/// How exactly it is kept when a player was last here: as good as needed, where idleness is counted in days.
const SEEN_STEP: Duration = Duration::from_secs(60 * 60);

/// Lets rooms look after members without a stream, wakes those that are due, and forgets players who hold nothing and have asked nothing for long.
pub(crate) async fn look_after_players(shared: Arc<Shared>) {
    let beat = (shared.limits.presence_grace / 4).clamp(Duration::from_secs(1), Duration::from_secs(60));
    let mut beat = interval(beat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shared.rooms_end.cancelled() => return,
            _ = beat.tick() => {}
        }
        for player in shared.players.without_stream() {
            shared.check_presence(&player, player.rooms());
        }
        let idle = i64::try_from(shared.limits.player_idle.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp(shared.clock.now().0.saturating_sub(idle));
        for player in shared.players.idle(before) {
            shared.forget_idle(&player, before).await;
        }
        let seen = shared.players.seen_lately(SEEN_STEP);
        if !seen.is_empty()
            && let Err(error) = shared.store.players.record_seen(seen).await
        {
            tracing::warn!(%error, "who was here could not be noted");
        }
        for room in shared.registry.due(shared.clock.now()) {
            shared.wake(room);
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

    /// Ada plays black against an AI, and has not read yet that it is her turn.
    async fn asked() -> (Runtime, Arc<Player>, Turns, RoomId) {
        let store = Store::of(MemoryStore::default());
        let parts = Parts { ai_threads: Some(0), ..Parts::new(store, |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let (ada, _) = runtime.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).await.unwrap();
        let turns = runtime.turns(&ada).await.unwrap();
        let ai = Opponent::Ai(AiSpec { kind: "random".into(), level: Some(1), seed: Some(7) });
        let room = runtime.quick_start(&ada, ai, Some(Color::Black), None).await.unwrap().room.id();
        (runtime, ada, turns, room)
    }

    async fn is_present(runtime: &Runtime, player: &Player, room: RoomId) -> bool {
        let snapshot = runtime.shared.room(room).await.unwrap().snapshot().await.unwrap();
        snapshot.room.member(player.id()).unwrap().absent_since.is_none()
    }

    #[tokio::test(start_paused = true)]
    async fn one_who_does_not_read_is_cut_off_without_being_polled_and_is_away() {
        let (runtime, ada, mut unread, room) = asked().await;
        let patience = runtime.limits().reader_patience;
        sleep(patience - Duration::from_secs(1)).await;
        assert!(is_present(&runtime, &ada, room).await);
        sleep(patience / 2).await;
        assert!(!is_present(&runtime, &ada, room).await);
        assert_eq!(unread.next().await, Err(StreamEnd::SlowConsumer));

        // What was not read comes again, and the end of the old stream is no loss of the new one.
        let mut turns = runtime.turns(&ada).await.unwrap();
        drop(unread);
        assert!(is_present(&runtime, &ada, room).await);
        assert!(matches!(turns.next().await, Ok(Notice::TurnRequested(_))));
        let game = GameId { room, number: 1 };
        assert!(matches!(turns.next().await, Ok(Notice::GameStarted { game: told, .. }) if told == game));
    }

    #[tokio::test(start_paused = true)]
    async fn one_who_has_read_all_may_be_silent_for_longer() {
        let (runtime, ada, mut turns, room) = asked().await;
        assert!(matches!(turns.next().await, Ok(Notice::GameStarted { .. })));
        assert!(matches!(turns.next().await, Ok(Notice::TurnRequested(_))));
        // Before the flag falls, of which there would be something to read.
        sleep(runtime.limits().reader_patience * 3 / 2).await;
        assert!(is_present(&runtime, &ada, room).await);
    }
}
