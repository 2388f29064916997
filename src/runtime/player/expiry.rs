//! Periodic work for players: removes idle ones, stores when they were last seen, and closes unread streams.

use std::{sync::Arc, time::Duration};

use tokio::time::{Interval, MissedTickBehavior, interval};

use super::{directory::Players, player::Player};
use crate::{
    room::Timestamp,
    runtime::{lifecycle::Lifecycle, limit::limits::Limits, outcome::StreamEnd, server_clock::Clock},
    store::PlayerStore,
};

/// Precision of the stored time at which a player was last seen. Idleness is counted in days.
const SEEN_STEP: Duration = Duration::from_secs(60 * 60);

/// Closes unread streams of turns, which cannot do so: with a full window a client never polls its stream again.
pub(crate) async fn cut_unread_streams(players: Arc<Players>, limits: Limits, lifecycle: Lifecycle) {
    let patience = limits.reader_patience;
    let mut ticks = ticks((patience / 4).max(Duration::from_millis(10)));
    loop {
        tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            tick = ticks.tick() => if let Some(before) = tick.checked_sub(patience) {
                players.all().iter().for_each(|player| player.inbox.cut_unread(before));
            }
        }
    }
}

/// Removes idle players and stores when the others were last seen, once.
pub(crate) async fn expire(players: &Players, player_store: &dyn PlayerStore, limits: &Limits, clock: Clock) {
    let idle = i64::try_from(limits.player_idle.as_micros()).unwrap_or(i64::MAX);
    let before = Timestamp(clock.now().0.saturating_sub(idle));
    for player in players.idle(before) {
        remove_idle(players, player_store, &player, before).await;
    }
    let seen = players.unstored_seen(SEEN_STEP);
    if !seen.is_empty()
        && let Err(error) = player_store.record_seen(seen).await
    {
        tracing::warn!(%error, "when players were last seen could not be stored");
    }
}

/// Removes a player from the store first, so that it does not return after a restart.
async fn remove_idle(players: &Players, player_store: &dyn PlayerStore, player: &Arc<Player>, before: Timestamp) {
    if !players.revoke_idle(player, before) {
        return;
    }
    match player_store.remove_player(player.id()).await {
        Ok(()) => {
            // A stream may be opening now.
            player.end_streams(StreamEnd::LoggedOut);
            players.remove(player);
        }
        Err(error) => {
            tracing::warn!(%error, player = %player.id(), "an idle player could not be removed");
            players.reinstate(player);
        }
    }
}

/// Ticks at least `period` apart.
pub(crate) fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
