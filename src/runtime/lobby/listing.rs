//! The list of public rooms.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use tokio::{
    sync::broadcast::{self, error::RecvError},
    task::yield_now,
    time::Instant,
};

use super::{
    peer_rows::PeerRows,
    rated_positions::{RatedPositions, SearchedPositions},
    row::{LOBBY_LAG, LobbyUpdate, Row, RowFilter, RowKey, clocks},
};
use crate::{
    room::{Event, Fact, Occupant, Phase, Rejection, Room, Visibility},
    rules::Transcript,
    runtime::cluster::cluster::Cluster,
};

/// Maximum number of rows of the room list that are read for one watcher at a time and sent in one message: far below
/// the 4 MiB that clients accept by default, even with long names. Limits the memory for a client that does not read.
pub(super) const SNAPSHOT_ROWS: usize = 500;

/// Number of free rows below [`Cluster::most_watched_rows`] at which more rows are searched, because a search may pass
/// over all rows.
pub(super) const MIN_FREE_ROWS: usize = 100;

/// Number of rows of the room list that are searched at a time. Meanwhile, rooms that come or go wait about 0.2 ms.
pub(super) const SEARCH_STEP: usize = 1_000;

/// The interval of updates to a watcher of the list. Several changes of a room within it are sent as one.
pub(super) const LOBBY_INTERVAL: Duration = Duration::from_millis(250);

/// The list of public rooms, of this node and of all others.
///
/// Locks are taken in the order `rows`, `peers`, one row. While a row is locked, no other lock is taken and nothing is
/// awaited.
pub struct Lobby {
    /// The rooms of this node.
    rows: RwLock<BTreeMap<RowKey, Arc<Mutex<Row>>>>,
    /// The rooms of other nodes.
    pub(crate) peers: Arc<PeerRows>,
    cluster: Arc<Cluster>,
    rated: RatedPositions,
    /// Changes of `rows`.
    changes: broadcast::Sender<RowKey>,
}

/// A room's entry in the list, removed when it is dropped.
pub(crate) struct Listing {
    lobby: Arc<Lobby>,
    key: RowKey,
    row: Option<Arc<Mutex<Row>>>,
    /// True if the lobby has the positions of the room's running rated game.
    rated: bool,
}

impl Lobby {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Self {
        Self {
            rows: RwLock::default(),
            peers: Arc::new(PeerRows::new(Arc::clone(&cluster))),
            cluster,
            rated: RatedPositions::default(),
            changes: broadcast::Sender::new(LOBBY_LAG),
        }
    }

    /// At most `limit` rows after `after` that match, the newest room first.
    pub async fn page(&self, filter: &RowFilter, after: Option<RowKey>, limit: usize) -> Vec<Row> {
        self.page_with(Some(&self.peers), filter, after, limit).await
    }

    async fn page_with(
        &self,
        peers: Option<&PeerRows>,
        filter: &RowFilter,
        mut after: Option<RowKey>,
        limit: usize,
    ) -> Vec<Row> {
        let mut page = Vec::new();
        while let Some(searched) = self.search(peers, filter, after, limit, &mut page) {
            after = Some(searched);
            yield_now().await;
        }
        page
    }

    /// Searches [`SEARCH_STEP`] rows after `after`. Returns the last key, or `None` if the page is full or the list has
    /// ended.
    fn search(
        &self,
        peers: Option<&PeerRows>,
        filter: &RowFilter,
        after: Option<RowKey>,
        limit: usize,
        page: &mut Vec<Row>,
    ) -> Option<RowKey> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        let peers = peers.map(PeerRows::read);
        let mut own = rows.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)).peekable();
        let mut others = peers.iter().flat_map(|peers| peers.after(after)).peekable();
        let mut searched = None;
        for _ in 0..SEARCH_STEP {
            if page.len() == limit {
                return None;
            }
            let is_own = match (own.peek(), others.peek()) {
                (Some((key, _)), Some((other, _))) => *key <= other,
                (own, _) => own.is_some(),
            };
            let (key, accepted) = if is_own {
                let (key, row) = own.next()?;
                others.next_if(|(other, _)| other == key);
                let row = lock(row);
                (*key, filter.accepts(&row).then(|| row.clone()))
            } else {
                let (key, row) = others.next()?;
                (key, filter.accepts(row).then(|| row.clone()))
            };
            page.extend(accepted);
            searched = Some(key);
        }
        searched
    }

    /// The number of rows of other nodes.
    #[must_use]
    pub fn peer_rows(&self) -> usize {
        self.peers.read().len()
    }

    /// True if a running rated game is at or near one of these positions.
    pub(crate) fn has_rated_game_at(&self, searched: &SearchedPositions) -> bool {
        self.rated.contains_any(searched)
    }

    /// Fails if an AI of the room would start at the position of a rated game in another room. It would wait, and its
    /// players could not know why.
    pub(crate) fn require_no_rated_game_at_start(&self, room: &Room, events: &[Event]) -> Result<(), Rejection> {
        let started = events.iter().find_map(|event| match &event.fact {
            Fact::GameStarted { opening, .. } if !opening.is_empty() => Some(opening),
            _ => None,
        });
        let is_seated = |event: &Event| matches!(&event.fact, Fact::SeatChanged { occupant: Occupant::Ai(_), .. });
        let has_ai = room.seats().iter().any(|(_, seat)| matches!(seat.occupant, Occupant::Ai(_)))
            || events.iter().any(is_seated);
        let Some(opening) = started.filter(|_| has_ai && !room.settings().rated) else { return Ok(()) };
        let position = Transcript::from_squares(opening.iter().copied()).map(|moves| moves.position());
        match self.has_rated_game_at(&position.into_iter().collect()) {
            true => Err(Rejection::AT_RATED_GAME),
            false => Ok(()),
        }
    }

    /// Maximum number of rows that a watcher is shown: the newest that match.
    #[must_use]
    pub fn most_watched(&self) -> usize {
        self.cluster.most_watched_rows()
    }

    pub(crate) fn watch(self: &Arc<Self>, filter: RowFilter) -> LobbyWatch {
        LobbyWatch { peer_changes: Some(self.peers.changes()), most: self.most_watched(), ..self.watch_own(filter) }
    }

    /// Watches the rooms of this node only.
    pub(crate) fn watch_own(self: &Arc<Self>, filter: RowFilter) -> LobbyWatch {
        LobbyWatch {
            changes: self.changes.subscribe(),
            peer_changes: None,
            lobby: Arc::clone(self),
            filter,
            shown: BTreeSet::new(),
            most: usize::MAX,
            changed: BTreeSet::new(),
            due: None,
            pending: PendingRows::All,
        }
    }

    fn row_with(&self, peers: Option<&PeerRows>, key: RowKey) -> Option<Row> {
        let own = self.rows.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(|row| lock(row).clone());
        own.or_else(|| peers?.read().get(key).cloned())
    }

    fn notify(&self, key: RowKey) {
        // There may be no watchers.
        let _ = self.changes.send(key);
    }
}

fn lock(row: &Mutex<Row>) -> std::sync::MutexGuard<'_, Row> {
    row.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listing {
    pub(crate) fn new(lobby: &Arc<Lobby>, room: &Room) -> Self {
        let key = (Reverse(room.created()), room.id());
        let mut listing = Self { lobby: Arc::clone(lobby), key, row: None, rated: false };
        listing.update(room, room, 0);
        listing
    }

    /// Of a room whose actor has yet to find out what spectators see, without its games if these are delayed.
    pub(crate) fn of_new_actor(lobby: &Arc<Lobby>, room: &Room) -> Self {
        match room.settings().spectator_delay {
            Duration::ZERO => Self::new(lobby, room),
            _ => Self::new(lobby, &room.clone().without_games()),
        }
    }

    pub(crate) fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// Moves the entry to a new `Listing`, so that dropping this one removes nothing.
    pub(crate) fn hand_over(&mut self) -> Self {
        let rated = std::mem::take(&mut self.rated);
        Self { lobby: Arc::clone(&self.lobby), key: self.key, row: self.row.take(), rated }
    }

    /// Updates the whole row, which shows the room as spectators see it. Removes it if the room is private or closed.
    /// Watchers get nothing if it is the same: with a delay it would tell when something hidden happens.
    pub(crate) fn update(&mut self, room: &Room, shown: &Room, watchers: u32) {
        self.lobby.rated.update(room, &mut self.rated);
        if room.settings().visibility == Visibility::Private || shown.phase() == Phase::Closed {
            self.remove();
            return;
        }
        let row = Row::of(shown, watchers);
        match &self.row {
            Some(listed) => {
                let mut listed = lock(listed);
                if *listed == row {
                    return;
                }
                *listed = row;
            }
            None => {
                let listed = Arc::new(Mutex::new(row));
                let mut rows = self.lobby.rows.write().unwrap_or_else(PoisonError::into_inner);
                rows.insert(self.key, Arc::clone(&listed));
                self.row = Some(listed);
            }
        }
        self.lobby.notify(self.key);
    }

    /// Updates the fields that a move changes.
    pub(crate) fn update_board(&mut self, room: &Room) {
        self.lobby.rated.update(room, &mut self.rated);
        let (Some(listed), Some(game)) = (&self.row, room.game()) else { return };
        let mut row = lock(listed);
        row.ply = game.ply();
        row.board = Some(game.position.board());
        row.last_move = game.last_move();
        row.clocks = clocks(room);
        drop(row);
        self.lobby.notify(self.key);
    }

    pub(crate) fn update_watchers(&self, watchers: u32) {
        let Some(listed) = &self.row else { return };
        lock(listed).watchers = watchers;
        self.lobby.notify(self.key);
    }

    /// Removes the row of a room that is private or closed.
    pub(crate) fn remove(&mut self) {
        if self.row.take().is_some() {
            self.lobby.peers.forget(self.key);
            self.remove_own();
        }
    }

    /// Removes the row of a room that moves to another node. It is kept among the rows of other nodes until one of them
    /// lists the room, but not for ever.
    pub(crate) fn release(&mut self) {
        if let Some(row) = self.row.take() {
            let row = lock(&row).clone();
            self.lobby.peers.keep(row);
            self.remove_own();
        }
    }

    fn remove_own(&self) {
        self.lobby.rows.write().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        self.lobby.notify(self.key);
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.lobby.rated.remove(self.key.1, &mut self.rated);
        self.release();
    }
}

/// One watcher of the list.
pub struct LobbyWatch {
    lobby: Arc<Lobby>,
    changes: broadcast::Receiver<RowKey>,
    /// None if the rows of other nodes are not watched.
    peer_changes: Option<broadcast::Receiver<RowKey>>,
    filter: RowFilter,
    shown: BTreeSet<RowKey>,
    /// Maximum number of rows shown.
    most: usize,
    /// The keys of changed rows, collected until `due`.
    changed: BTreeSet<RowKey>,
    /// When to send the collected changes.
    due: Option<Instant>,
    pending: PendingRows,
}

/// Which rows are still to be sent. The rows after a key wait until at least [`MIN_FREE_ROWS`] more may be shown.
#[derive(Clone, Copy)]
enum PendingRows {
    All,
    After(RowKey),
    None,
}

impl LobbyWatch {
    /// The next update. The list starts with a first page, and starts again with one after each lag. Cancel safe.
    pub async fn next(&mut self) -> LobbyUpdate {
        loop {
            if let Some(update) = self.next_pending().await {
                return update;
            }
            if let Some(update) = self.next_changes().await {
                return update;
            }
            // Many changes may cancel out.
            yield_now().await;
        }
    }

    /// The next page of the list, if one is still to be sent. Changes wait until then, so that only one page is in
    /// memory.
    async fn next_pending(&mut self) -> Option<LobbyUpdate> {
        let after = match self.pending {
            PendingRows::All => None,
            PendingRows::After(key) if self.free_rows() >= MIN_FREE_ROWS => Some(key),
            PendingRows::After(_) | PendingRows::None => return None,
        };
        if after.is_none() {
            self.shown.clear();
        }
        let limit = SNAPSHOT_ROWS.min(self.free_rows());
        let rows = self.lobby.page_with(self.peers(), &self.filter, after, limit).await;
        let end = rows.last().filter(|_| rows.len() == limit).map(Row::key);
        self.pending = end.map_or(PendingRows::None, PendingRows::After);
        self.shown.extend(rows.iter().map(Row::key));
        Some(LobbyUpdate::Page { after, rows, end })
    }

    /// How many more rows may be shown.
    fn free_rows(&self) -> usize {
        self.most - self.shown.len()
    }

    /// The rows of other nodes, if they are watched.
    fn peers(&self) -> Option<&PeerRows> {
        self.peer_changes.is_some().then_some(&*self.lobby.peers)
    }

    /// Collects changes for [`LOBBY_INTERVAL`] after the first, and returns them in parts of at most [`SNAPSHOT_ROWS`].
    /// `None` if the changes of a part cancel out, or after a lag.
    async fn next_changes(&mut self) -> Option<LobbyUpdate> {
        if self.changed.is_empty() {
            self.collect_next().await?;
            self.due = Some(Instant::now() + LOBBY_INTERVAL);
        }
        if let Some(due) = self.due {
            tokio::time::sleep_until(due).await;
            // Only those that wait now, because later ones may arrive without end.
            let waiting = self.changes.len() + self.peer_changes.as_ref().map_or(0, broadcast::Receiver::len);
            for _ in 0..waiting {
                self.collect_next().await?;
            }
            self.due = None;
        }
        self.take_changes()
    }

    fn take_changes(&mut self) -> Option<LobbyUpdate> {
        let (mut upserted, mut removed, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..SNAPSHOT_ROWS {
            let Some(key) = self.changed.pop_first() else { break };
            if matches!(self.pending, PendingRows::After(last) if key > last) {
                // The row is sent with its page.
                continue;
            }
            match self.lobby.row_with(self.peers(), key).filter(|row| self.filter.accepts(row)) {
                Some(row) => {
                    self.shown.insert(key);
                    upserted.push(row);
                }
                None if self.shown.remove(&key) => {
                    if self.has_moved(key) {
                        moved.push(key);
                    } else {
                        removed.push(key);
                    }
                }
                None => {}
            }
        }
        while self.shown.len() > self.most {
            // Removes the oldest row. It is sent again with a page when fewer rows are shown.
            removed.extend(self.shown.pop_last());
            self.pending = self.shown.last().map_or(PendingRows::All, |last| PendingRows::After(*last));
        }
        let is_empty = upserted.is_empty() && removed.is_empty() && moved.is_empty();
        (!is_empty).then_some(LobbyUpdate::Changed { upserted, removed, moved })
    }

    /// True if only this node's rooms are watched, and the room has left this node but is still in the list.
    fn has_moved(&self, key: RowKey) -> bool {
        self.peer_changes.is_none() && self.lobby.peers.read().get(key).is_some()
    }

    /// Waits for a change. `None` after a lag: the list is then sent again from its start.
    async fn collect_next(&mut self) -> Option<()> {
        match self.receive().await {
            Ok(key) => {
                self.changed.insert(key);
                Some(())
            }
            // Always a lag, because this watcher holds the sender.
            Err(RecvError::Lagged(_) | RecvError::Closed) => {
                self.changes = self.changes.resubscribe();
                self.peer_changes = self.peer_changes.as_ref().map(broadcast::Receiver::resubscribe);
                self.changed.clear();
                (self.due, self.pending) = (None, PendingRows::All);
                None
            }
        }
    }

    async fn receive(&mut self) -> Result<RowKey, RecvError> {
        let Some(peer_changes) = &mut self.peer_changes else { return self.changes.recv().await };
        // Biased, so that simulations are deterministic.
        tokio::select! {
            biased;
            received = self.changes.recv() => received,
            received = peer_changes.recv() => received,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        room::{
            Creation, DisplayName, JoinCode, Occupant, PlayerId, PlayerKind, Policy, Profile, RoomId, RoomName,
            Settings, Timestamp,
        },
        rules::ByColor,
    };

    /// Two full pages and a partial one.
    const ROOMS: usize = 2 * SNAPSHOT_ROWS + 3;

    pub(in crate::runtime::lobby) fn room(number: usize) -> Room {
        let owner = Profile {
            id: PlayerId::from_random(1),
            name: DisplayName::parse("Ada").unwrap(),
            kind: PlayerKind::Human,
            engine_version: None,
        };
        let creation = Creation {
            id: RoomId::from_random(number as u64),
            code: JoinCode::from_random(1),
            owner,
            settings: Settings::named(RoomName::parse("Tea").unwrap()),
            policy: Policy { grace: LOBBY_INTERVAL, idle_close: LOBBY_INTERVAL, members: 8 },
            seats: ByColor::new(Occupant::Open, Occupant::Open),
            request: None,
            meeting: None,
        };
        Room::new(creation, Timestamp::default())
    }

    /// Listed in the order of their numbers.
    fn filled() -> (Arc<Lobby>, Vec<Listing>) {
        let lobby = Arc::new(Lobby::new(Arc::default()));
        let listings = (0..ROOMS).map(|number| Listing::new(&lobby, &room(number))).collect();
        (lobby, listings)
    }

    async fn first_page(watch: &mut LobbyWatch) -> Vec<Row> {
        match watch.next().await {
            LobbyUpdate::Page { after: None, rows, .. } => rows,
            other => panic!("expected a first page: {other:?}"),
        }
    }

    async fn next_page(watch: &mut LobbyWatch) -> Vec<Row> {
        match watch.next().await {
            LobbyUpdate::Page { after: Some(_), rows, .. } => rows,
            other => panic!("expected a further page: {other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_list_is_sent_in_pages_of_current_rows() {
        let (lobby, mut listings) = filled();
        let mut watch = lobby.watch(RowFilter::default());
        assert_eq!(first_page(&mut watch).await.len(), SNAPSHOT_ROWS);
        let (sent, unsent) = (0, ROOMS - 1);
        listings[sent].update_watchers(7);
        listings[unsent].update_watchers(9);
        listings[sent + 1].remove();
        listings[unsent - 1].remove();
        assert_eq!(next_page(&mut watch).await.len(), SNAPSHOT_ROWS);
        let rest = next_page(&mut watch).await;
        assert_eq!((rest.len(), rest[1].watchers), (2, 9), "a row has the values at the time it is read");
        let LobbyUpdate::Changed { upserted, removed, .. } = watch.next().await else { panic!("expected changes") };
        assert_eq!(upserted.iter().map(|row| row.watchers).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(removed, [listings[sent + 1].key], "rows that were never sent are not sent as removed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_that_lags_within_a_snapshot_starts_again() {
        let (lobby, mut listings) = filled();
        let mut watch = lobby.watch(RowFilter::default());
        first_page(&mut watch).await;
        listings[0].remove();
        for _ in 0..LOBBY_LAG {
            listings[1].update_watchers(1);
        }
        assert_eq!([next_page(&mut watch).await.len(), next_page(&mut watch).await.len()], [SNAPSHOT_ROWS, 3]);
        let anew = first_page(&mut watch).await;
        assert_eq!((anew.len(), anew[0].id), (SNAPSHOT_ROWS, listings[1].key.1));
        assert_eq!([next_page(&mut watch).await.len(), next_page(&mut watch).await.len()], [SNAPSHOT_ROWS, 2]);
    }
}
