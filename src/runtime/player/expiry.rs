//! Periodic work for players: removes idle ones, stores when they were last seen, and closes unread streams.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    directory::{LogInError, Players},
    player::Player,
    quota::Place,
};
use crate::{
    room::Timestamp,
    runtime::{
        lifecycle::{Lifecycle, ticks},
        limit::limits::Limits,
        outcome::{RoomError, StreamEnd},
        server_clock::Clock,
    },
    store::{PlayerStore, StoreError},
};

/// Guests that one log-in examines at most for an idle one, on a full server. Each is examined again only after others.
const GUESTS_EXAMINED: usize = 64;

/// Time after which a node of a cluster forgets a player who has no stream here and is in no room here. It is stored.
const COPY_IDLE: Duration = Duration::from_secs(600);

/// Time after which a visitor without calls and streams is forgotten: its rates have recovered long before.
const VISITOR_IDLE: Duration = Duration::from_secs(60);

/// Precision of the stored time at which a player was last seen. Idleness is counted in days.
const SEEN_STEP: Duration = Duration::from_secs(60 * 60);

/// Maximum number of players whose times are stored in one write, because moves wait for it.
const SEEN_STORED: usize = 500;

/// The stored time of a player in use on any node is never behind by more than this: [`SEEN_STEP`], the time between
/// two checks, and the difference between the clocks of two machines.
const USE_LAG: Duration = Duration::from_secs(2 * 60 * 60);

/// The interval of removals from the store.
const REMOVAL_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// Maximum number of idle players removed at a time.
const IDLE_REMOVED: usize = 1_000;

/// Closes unread streams of turns until the server stops. A stream cannot close itself: it is not polled while the
/// window of its client is full.
pub(crate) async fn cut_unread_streams(players: Arc<Players>, limits: Limits, lifecycle: Lifecycle) {
    let patience = limits.reader_patience;
    let mut ticks = ticks((patience / 4).max(Duration::from_millis(10)));
    loop {
        tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            tick = ticks.tick() => if let Some(before) = tick.checked_sub(patience) {
                players.all().iter().for_each(|player| player.streams.inbox.cut_unread(before));
            }
        }
    }
}

/// Stores when players were last in use, and removes those who are idle here, once.
pub(crate) async fn expire(players: &Players, player_store: &dyn PlayerStore, limits: &Limits, clock: Clock) {
    let now = clock.now();
    players.forget_unused_visitors(now.before(VISITOR_IDLE));
    if let Err(error) = store_seen(players, SEEN_STEP, player_store).await {
        tracing::warn!(%error, "when players were last seen could not be stored");
    }
    let copies = players.cluster.shares_store();
    let before = |player: &Player| now.before(if copies { COPY_IDLE } else { player.patience(limits) });
    for player in players.idle(before) {
        if let Err(error) = remove_idle(players, player_store, &player, before(&player)).await {
            tracing::warn!(%error, player = %player.id(), "an idle player could not be removed");
        }
    }
}

/// Stores when players were last in use, if that was more than `step` after the stored time.
pub(crate) async fn store_seen(
    players: &Players,
    step: Duration,
    player_store: &dyn PlayerStore,
) -> Result<(), StoreError> {
    for seen in players.unstored_use(step).chunks(SEEN_STORED) {
        player_store.record_seen(seen.to_vec()).await?;
        players.note_stored_seen(seen);
    }
    Ok(())
}

/// Removes players who are idle on all nodes, until the server stops; guests no earlier than other players. Waits for
/// [`USE_LAG`] at first, and again after the store was unavailable, because the nodes may not have stored who is in
/// use.
pub(crate) async fn remove_idle_players(players: Arc<Players>, player_store: Arc<dyn PlayerStore>, clock: Clock) {
    if !players.cluster.shares_store() {
        return;
    }
    let removals = async {
        let mut pause = USE_LAG;
        loop {
            sleep(pause).await;
            let limits = players.limits.get();
            pause = match remove_idle_everywhere(&players, &*player_store, &limits, clock).await {
                Ok(()) => REMOVAL_INTERVAL,
                Err(error) => {
                    tracing::warn!(%error, "idle players could not be removed");
                    USE_LAG
                }
            };
        }
    };
    players.lifecycle.stop.run_until_cancelled(removals).await;
}

async fn remove_idle_everywhere(
    players: &Players,
    player_store: &dyn PlayerStore,
    limits: &Limits,
    clock: Clock,
) -> Result<(), StoreError> {
    let before = |patience: Duration| clock.now().before(patience).before(USE_LAG);
    let (others, claimed) = (before(limits.player_idle), before(limits.claimed_idle));
    for (player, seen) in player_store.idle_players(others, claimed, IDLE_REMOVED).await? {
        let has_come_back = players.get(player).is_some_and(|known| known.last_use(clock.now()) > seen);
        if !has_come_back && player_store.remove_idle(player, seen).await? {
            if let Some(known) = players.get(player) {
                players.revoke(&known);
                known.end_streams(StreamEnd::LoggedOut);
                players.remove(&known);
            }
            players.tell_log_out(player);
        }
    }
    Ok(())
}

impl Players {
    /// The guest who has been idle for longest, and the time before which it was last used; none if no guest has been
    /// idle for a tenth of the time after which it is forgotten. The next call returns another guest.
    pub(crate) fn longest_idle_guest(&self) -> Option<(Arc<Player>, Timestamp)> {
        let now = self.clock.now();
        let before = now.before(self.limits.get().guest_idle / 10);
        for _ in 0..GUESTS_EXAMINED {
            let (used, id) = self.guests().first()?;
            let Some(player) = self.get(id).filter(|player| player.is_guest()) else {
                self.guests().remove(id);
                continue;
            };
            let last_use = player.last_use(now);
            if last_use > used {
                self.file_guest(&player, last_use);
            } else if used < before {
                self.file_guest(&player, now);
                return Some((player, before));
            } else {
                return None;
            }
        }
        None
    }

    /// Guests of the network with the most guests, at most [`GUESTS_EXAMINED`]; empty if it has `most` or fewer. First
    /// those who are not in use, then those without a seat.
    pub(crate) fn guests_of_largest_network(&self, most: usize) -> Vec<Arc<Player>> {
        let now = self.clock.now();
        let ids: Vec<_> = self.guests().of_largest_network(most).take(GUESTS_EXAMINED).collect();
        let mut guests = Vec::new();
        for id in ids {
            match self.get(id).filter(|player| player.is_guest()) {
                Some(guest) => {
                    // Others are examined first the next time.
                    self.file_guest(&guest, guest.last_use(now));
                    guests.push(guest);
                }
                None => self.guests().remove(id),
            }
        }
        guests.sort_by_key(|guest| (guest.last_use(now), guest.quota.has_confirmed(Place::Seat)));
        guests
    }
}

/// Removes the guest who has been idle for longest, unless it calls meanwhile.
///
/// # Errors
/// [`LogInError::Full`] when no guest is idle, [`LogInError::Closed`] when the store is unavailable.
pub(crate) async fn remove_longest_idle_guest(
    players: &Players,
    player_store: &dyn PlayerStore,
) -> Result<(), LogInError> {
    let (guest, before) = players.longest_idle_guest().ok_or(LogInError::Full)?;
    let removed = remove_idle(players, player_store, &guest, before).await;
    Ok(removed.map(drop).map_err(RoomError::from)?)
}

/// Removes a player who is idle here, from the store first, so that it does not return after a restart. A copy is
/// removed from memory only, because the player may be in use on another node. False if the player is not idle.
pub(crate) async fn remove_idle(
    players: &Players,
    player_store: &dyn PlayerStore,
    player: &Arc<Player>,
    before: Timestamp,
) -> Result<bool, StoreError> {
    if players.cluster.shares_store() {
        return Ok(players.forget_copy(player, before));
    }
    if !players.revoke_idle(player, before) {
        return Ok(false);
    }
    if let Err(unavailable) = player_store.remove_player(player.id()).await {
        players.reinstate(player);
        return Err(unavailable);
    }
    // A stream may be opening now.
    player.end_streams(StreamEnd::LoggedOut);
    players.remove(player);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind, RoomId},
        runtime::cluster::{cluster::Cluster, peers::NoPeers},
        store::StoredPlayer,
        store::{MemoryStore, NodeId, PlayerKey},
    };

    fn log_in(players: &Players, name: &str) -> Arc<Player> {
        players.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Human, 0).unwrap().0
    }

    #[tokio::test]
    async fn guests_are_forgotten_first_and_claimed_names_last() {
        let (players, store, limits) = (Players::default(), MemoryStore::default(), Limits::default());
        let [ada, bea, cy] = ["Ada", "Bea", "Cy"].map(|name| log_in(&players, name));
        players.change_account(&ada, &StoredPlayer { claimed: true, ..ada.stored() });
        bea.note_played();
        let after = |time| Clock::starting(Clock::default().now().after(time));
        let minutes = |minutes: u32| Duration::from_secs(60) * minutes;
        let hours = |hours: u32| minutes(60 * hours);
        for (time, expected) in [
            (minutes(9), [true, true, true]),
            (minutes(11), [true, true, false]),
            (hours(23), [true, true, false]),
            (hours(25), [true, false, false]),
            (hours(24 * 89), [true, false, false]),
            (hours(24 * 91), [false, false, false]),
        ] {
            expire(&players, &store, &limits, after(time)).await;
            let stay = [&ada, &bea, &cy].map(|player| players.get(player.id()).is_some());
            assert_eq!(stay, expected, "after {time:?}");
        }
        assert!(players.named(&ada.name).is_none());
        assert_eq!(ada.stream_end(), Some(StreamEnd::LoggedOut), "of a stream that was opening");
    }

    #[test]
    fn a_guest_is_forgotten_no_later_than_other_players() {
        let limits = Limits { player_idle: Duration::from_secs(5), ..Limits::default() };
        let guest = log_in(&Players::default(), "Ada");
        assert!(guest.is_guest());
        assert_eq!(guest.patience(&limits), limits.player_idle);
    }

    #[tokio::test(start_paused = true)]
    async fn when_players_were_last_seen_is_stored() {
        let (players, store, clock) = (Players::default(), MemoryStore::default(), Clock::default());
        let ada = log_in(&players, "Ada");
        store.put_player(ada.stored()).await.unwrap();
        tokio::time::advance(2 * SEEN_STEP).await;
        ada.admit().unwrap();
        expire(&players, &store, &Limits::default(), clock).await;
        assert_eq!(store.players().await.unwrap()[0].seen, ada.stored().seen);
    }

    #[tokio::test(start_paused = true)]
    async fn a_player_who_is_in_use_on_no_node_is_removed_from_the_cluster() {
        let (mut here, peer) = (Players::default(), Players::default());
        here.cluster = Arc::new(Cluster::new(NodeId(1), Arc::new(NoPeers)));
        let (store, limits, clock) = (MemoryStore::default(), Limits::default(), Clock::default());
        let [ada, bea] = ["Ada", "Bea"].map(|name| log_in(&here, name));
        let [cy, dee, eve] = ["Cy", "Dee", "Eve"].map(|name| log_in(&peer, name));
        peer.change_account(&eve, &StoredPlayer { claimed: true, ..eve.stored() });
        for player in [&ada, &bea, &cy, &dee, &eve] {
            store.put_player(player.stored()).await.unwrap();
        }
        ada.streams.open();
        tokio::time::advance(limits.player_idle + 2 * USE_LAG).await;
        expire(&here, &store, &limits, clock).await;
        // By the node that has the player.
        store.record_seen(vec![(dee.id(), clock.now())]).await.unwrap();
        remove_idle_everywhere(&here, &store, &limits, clock).await.unwrap();
        let stored = async |player: &Arc<Player>| store.find(PlayerKey::Id(player.id())).await.unwrap();
        let ada_seen = stored(&ada).await.unwrap().seen;
        assert!(clock.now().since(ada_seen) < SEEN_STEP, "while the stream is open");
        assert!(here.get(ada.id()).is_some());
        for gone in [&bea, &cy] {
            assert_eq!(stored(gone).await, None);
        }
        assert!(here.get(bea.id()).is_none());
        for stays in [&dee, &eve] {
            assert!(stored(stays).await.is_some(), "in use, or claimed");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_by_itself_removes_no_player_whom_it_could_not_read() {
        let (players, store) = (Arc::new(Players::default()), Arc::new(MemoryStore::default()));
        let damaged = log_in(&Players::default(), "Ada");
        store.put_player(damaged.stored()).await.unwrap();
        let long = Limits::default().player_idle + 3 * USE_LAG;
        let removals = remove_idle_players(players, Arc::clone(&store) as _, Clock::default());
        let _ = tokio::time::timeout(long, removals).await;
        assert!(store.find(PlayerKey::Id(damaged.id())).await.unwrap().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_guest_makes_room() {
        let (players, store) = (Players::default(), MemoryStore::default());
        let [ada, bea, cy, dee] = ["Ada", "Bea", "Cy", "Dee"].map(|name| log_in(&players, name));
        let make_room = async || remove_longest_idle_guest(&players, &store).await;
        assert_eq!(make_room().await, Err(LogInError::Full), "they have just logged in");
        tokio::time::advance(Duration::from_secs(61)).await;
        ada.admit().unwrap();
        tokio::time::advance(Duration::from_secs(61)).await;
        bea.note_played();
        cy.quota.note(Place::Room, RoomId::from_random(1), true);
        dee.streams.open();
        assert_eq!(make_room().await, Ok(()));
        let stay = [&ada, &bea, &cy, &dee].map(|player| players.get(player.id()).is_some());
        assert_eq!(stay, [false, true, true, true]);
        assert_eq!(make_room().await, Err(LogInError::Full));
        cy.quota.note(Place::Room, RoomId::from_random(1), false);
        dee.streams.close();
        tokio::time::advance(Duration::from_secs(61)).await;
        cy.admit().unwrap();
        assert_eq!((make_room().await, make_room().await), (Ok(()), Err(LogInError::Full)));
        assert!(dee.is_logged_out() && !cy.is_logged_out());
    }
}
