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
    let now = clock.now();
    let before = |claimed| {
        let idle = if claimed { limits.claimed_idle } else { limits.player_idle };
        Timestamp(now.0.saturating_sub(i64::try_from(idle.as_micros()).unwrap_or(i64::MAX)))
    };
    for player in players.idle(before) {
        remove_idle(players, player_store, &player, before(player.is_claimed())).await;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        store::MemoryStore,
    };

    #[tokio::test]
    async fn a_claimed_name_is_kept_longer() {
        let (players, store, limits) = (Players::default(), MemoryStore::default(), Limits::default());
        let log_in = |name| players.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Human, 0).unwrap().0;
        let (ada, bea) = (log_in("Ada"), log_in("Bea"));
        players.change_account(&ada, ada.token_hash(), true);
        let after = |days: u32| Clock::starting(Clock::default().now().after(days * Duration::from_secs(86_400)));
        for (days, ada_stays, bea_stays) in [(0, true, true), (2, true, false), (89, true, false), (91, false, false)] {
            expire(&players, &store, &limits, after(days)).await;
            let stays = |player: &Arc<Player>| players.get(player.id()).is_some();
            assert_eq!((stays(&ada), stays(&bea)), (ada_stays, bea_stays), "after {days} days");
        }
        assert!(players.named(&ada.profile.name).is_none());
    }
}
