//! The list of rooms, as everybody may see it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::Instant,
};

use crate::{
    room::{DisplayName, Game, Occupant, Phase, Room, RoomId, RoomName, Seat, Timestamp, Visibility, Watching},
    rules::{Board, ByColor, Color, Square},
    runtime::limit::limits::{LOBBY_BEAT, LOBBY_LAG, SNAPSHOT_ROWS},
};

/// One room of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which.
    pub id: RoomId,
    /// What it is called.
    pub name: RoomName,
    /// Whose it is.
    pub owner: Option<DisplayName>,
    /// Where it is in its life.
    pub phase: Phase,
    /// Who sits where.
    pub seats: ByColor<Seat>,
    /// Whether the seats' players are connected.
    pub present: ByColor<bool>,
    /// Whether it asks for one.
    pub has_password: bool,
    /// Who may watch.
    pub watching: Watching,
    /// Streams that watch it.
    pub watchers: u32,
    /// Plies made in the running or last game.
    pub ply: u16,
    /// The board of that game.
    pub board: Option<Board>,
    /// The last disc placed on it.
    pub last_move: Option<Square>,
    /// When it was made.
    pub created: Timestamp,
}

/// Which rooms are asked for; what is none does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// In this phase.
    pub phase: Option<Phase>,
    /// With a seat to take.
    pub open_seat: bool,
    /// With this in the name of the room or its owner, in any case.
    pub text: Option<String>,
}

/// Where a row stands: newest first.
pub type RowKey = (Reverse<Timestamp>, RoomId);

impl Row {
    fn of(room: &Room, watchers: u32) -> Self {
        let seats = room.seats();
        Self {
            id: room.id(),
            name: room.settings().name.clone(),
            owner: room.owner().map(|owner| owner.name.clone()),
            phase: room.phase(),
            seats: seats.clone(),
            present: ByColor::from_fn(|side| room.is_present(side)),
            has_password: room.settings().password.is_some(),
            watching: room.settings().watching,
            watchers,
            ply: room.game().map_or(0, Game::ply),
            board: room.game().map(|game| game.position.board()),
            last_move: room.game().and_then(Game::last_move),
            created: room.created(),
        }
    }

    /// Where it stands in the list.
    #[must_use]
    pub fn key(&self) -> RowKey {
        (Reverse(self.created), self.id)
    }
}

impl RowFilter {
    fn accepts(&self, row: &Row) -> bool {
        let open = |seat: Color| matches!(row.seats[seat].occupant, Occupant::Open);
        let contains = |text: &String| {
            let within = |name: &str| name.to_lowercase().contains(text);
            within(row.name.as_str()) || row.owner.as_ref().is_some_and(|owner| within(owner.as_str()))
        };
        self.phase.is_none_or(|phase| phase == row.phase)
            && (!self.open_seat || (row.phase == Phase::Lobby && (open(Color::Black) || open(Color::White))))
            && self.text.as_ref().is_none_or(contains)
    }
}

/// All listed rooms.
pub(crate) struct Lobby {
    rows: RwLock<BTreeMap<RowKey, Arc<Mutex<Row>>>>,
    changes: broadcast::Sender<RowKey>,
}

/// A room's own line of the list. Gone when it is dropped.
pub(crate) struct Listing {
    lobby: Arc<Lobby>,
    key: RowKey,
    row: Option<Arc<Mutex<Row>>>,
}

impl Default for Lobby {
    fn default() -> Self {
        Self { rows: RwLock::default(), changes: broadcast::Sender::new(LOBBY_LAG) }
    }
}

impl Lobby {
    /// At most `limit` rows that match, beginning behind `after`.
    pub(crate) fn page(&self, filter: &RowFilter, after: Option<RowKey>, limit: usize) -> Vec<Row> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        let rest = match after {
            Some(key) => rows.range((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded)),
            None => rows.range(..),
        };
        let accepted = rest.filter_map(|(_, row)| {
            let row = lock(row);
            filter.accepts(&row).then(|| row.clone())
        });
        accepted.take(limit).collect()
    }

    pub(crate) fn watch(self: &Arc<Self>, filter: RowFilter) -> LobbyWatch {
        LobbyWatch {
            changes: self.changes.subscribe(),
            lobby: Arc::clone(self),
            filter,
            shown: HashSet::new(),
            changed: BTreeSet::new(),
            beat: None,
            untold: Untold::All,
        }
    }

    fn row(&self, key: RowKey) -> Option<Row> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.get(&key).map(|row| lock(row).clone())
    }

    fn tell(&self, key: RowKey) {
        // Nobody may be watching.
        let _ = self.changes.send(key);
    }
}

fn lock(row: &Mutex<Row>) -> std::sync::MutexGuard<'_, Row> {
    row.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listing {
    pub(crate) fn new(lobby: &Arc<Lobby>, room: &Room) -> Self {
        let key = (Reverse(room.created()), room.id());
        let mut listing = Self { lobby: Arc::clone(lobby), key, row: None };
        listing.update(room, 0);
        listing
    }

    /// Hands the row over to another.
    pub(crate) fn take(&mut self) -> Self {
        Self { lobby: Arc::clone(&self.lobby), key: self.key, row: self.row.take() }
    }

    /// Everything anew. A room that is private is not listed.
    pub(crate) fn update(&mut self, room: &Room, watchers: u32) {
        if room.settings().visibility == Visibility::Private || room.phase() == Phase::Closed {
            self.remove();
            return;
        }
        let row = Row::of(room, watchers);
        match &self.row {
            Some(listed) => *lock(listed) = row,
            None => {
                let listed = Arc::new(Mutex::new(row));
                let mut rows = self.lobby.rows.write().unwrap_or_else(PoisonError::into_inner);
                rows.insert(self.key, Arc::clone(&listed));
                self.row = Some(listed);
            }
        }
        self.lobby.tell(self.key);
    }

    /// Only what a move changes.
    pub(crate) fn update_board(&self, room: &Room) {
        let (Some(listed), Some(game)) = (&self.row, room.game()) else { return };
        let mut row = lock(listed);
        row.ply = game.ply();
        row.board = Some(game.position.board());
        row.last_move = game.last_move();
        drop(row);
        self.lobby.tell(self.key);
    }

    /// Only the number of watchers.
    pub(crate) fn update_watchers(&self, watchers: u32) {
        let Some(listed) = &self.row else { return };
        lock(listed).watchers = watchers;
        self.lobby.tell(self.key);
    }

    fn remove(&mut self) {
        if self.row.take().is_some() {
            self.lobby.rows.write().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
            self.lobby.tell(self.key);
        }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The list as one watcher follows it.
pub struct LobbyWatch {
    lobby: Arc<Lobby>,
    changes: broadcast::Receiver<RowKey>,
    filter: RowFilter,
    shown: HashSet<RoomId>,
    changed: BTreeSet<RowKey>,
    /// When what has changed is told.
    beat: Option<Instant>,
    untold: Untold,
}

/// What of the list is still to be told as it is, before its changes are.
#[derive(Clone, Copy)]
enum Untold {
    All,
    Behind(RowKey),
    Nothing,
}

/// What a watcher of the list is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LobbyUpdate {
    /// The first rows, in place of all that were told before. Where there are more, they follow as new.
    Snapshot(Vec<Row>),
    /// Rows that are new or changed, and rooms that are gone or match no longer.
    Changed {
        /// New or changed.
        upserted: Vec<Row>,
        /// Gone.
        removed: Vec<RoomId>,
    },
}

impl LobbyWatch {
    /// The next update. The first is a snapshot, and so is the next after the watcher has lagged.
    pub async fn next(&mut self) -> LobbyUpdate {
        loop {
            if let Some(update) = self.step() {
                return update;
            }
            if let Some(update) = self.gather().await {
                return update;
            }
        }
    }

    /// The next rows that are still to be told, as they are now; none when all are told. Changes of those before wait
    /// until then, so that no more than one step is ever held.
    fn step(&mut self) -> Option<LobbyUpdate> {
        let after = match self.untold {
            Untold::All => None,
            Untold::Behind(key) => Some(key),
            Untold::Nothing => return None,
        };
        let rows = self.lobby.page(&self.filter, after, SNAPSHOT_ROWS);
        let last = rows.last().filter(|_| rows.len() == SNAPSHOT_ROWS);
        self.untold = last.map_or(Untold::Nothing, |row| Untold::Behind(row.key()));
        if after.is_none() {
            self.shown.clear();
        }
        self.shown.extend(rows.iter().map(|row| row.id));
        match after {
            None => Some(LobbyUpdate::Snapshot(rows)),
            Some(_) => (!rows.is_empty()).then_some(LobbyUpdate::Changed { upserted: rows, removed: Vec::new() }),
        }
    }

    /// Waits for a change, then for the others of the same beat; none when they come to nothing. What is gathered is
    /// kept in `self`, so that a dropped wait loses nothing.
    async fn gather(&mut self) -> Option<LobbyUpdate> {
        let beat = match self.beat {
            Some(beat) => beat,
            None => {
                let received = self.changes.recv().await;
                let key = self.change(received)?;
                self.changed.insert(key);
                *self.beat.insert(Instant::now() + LOBBY_BEAT)
            }
        };
        tokio::time::sleep_until(beat).await;
        self.beat = None;
        while !self.changes.is_empty() {
            let received = self.changes.recv().await;
            let key = self.change(received)?;
            self.changed.insert(key);
        }
        let (mut upserted, mut removed) = (Vec::new(), Vec::new());
        for key in std::mem::take(&mut self.changed) {
            match self.lobby.row(key).filter(|row| self.filter.accepts(row)) {
                Some(row) => {
                    self.shown.insert(row.id);
                    upserted.push(row);
                }
                None if self.shown.remove(&key.1) => removed.push(key.1),
                None => {}
            }
        }
        (!upserted.is_empty() || !removed.is_empty()).then_some(LobbyUpdate::Changed { upserted, removed })
    }

    fn change(&mut self, received: Result<RowKey, RecvError>) -> Option<RowKey> {
        match received {
            Ok(key) => Some(key),
            // The sender lives in the lobby that this watch holds, so it can only be lag.
            Err(RecvError::Lagged(_) | RecvError::Closed) => {
                self.changes = self.changes.resubscribe();
                self.changed.clear();
                (self.beat, self.untold) = (None, Untold::All);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Creation, JoinCode, PlayerId, PlayerKind, Policy, Profile, Settings};

    /// Two steps, and a little more.
    const ROOMS: usize = 2 * SNAPSHOT_ROWS + 3;

    fn room(number: usize) -> Room {
        let owner =
            Profile { id: PlayerId::from_random(1), name: DisplayName::parse("Ada").unwrap(), kind: PlayerKind::Human };
        let creation = Creation {
            id: RoomId::from_random(number as u64),
            code: JoinCode::from_random(1),
            owner,
            settings: Settings::named(RoomName::parse("Tea").unwrap()),
            policy: Policy { grace: LOBBY_BEAT, idle_close: LOBBY_BEAT, members: 8 },
            seats: ByColor::new(Occupant::Open, Occupant::Open),
        };
        Room::new(creation, Timestamp::default())
    }

    /// Listed in the order of their numbers.
    fn filled() -> (Arc<Lobby>, Vec<Listing>) {
        let lobby = Arc::new(Lobby::default());
        let listings = (0..ROOMS).map(|number| Listing::new(&lobby, &room(number))).collect();
        (lobby, listings)
    }

    async fn snapshot(watch: &mut LobbyWatch) -> Vec<Row> {
        let LobbyUpdate::Snapshot(rows) = watch.next().await else { panic!("a snapshot was to come") };
        rows
    }

    async fn changed(watch: &mut LobbyWatch) -> (Vec<Row>, Vec<RoomId>) {
        let LobbyUpdate::Changed { upserted, removed } = watch.next().await else { panic!("changes were to come") };
        (upserted, removed)
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_list_is_read_step_by_step_as_it_is_then() {
        let (lobby, mut listings) = filled();
        let mut watch = lobby.watch(RowFilter::default());
        assert_eq!(snapshot(&mut watch).await.len(), SNAPSHOT_ROWS);
        let (told, untold) = (0, ROOMS - 1);
        listings[told].update_watchers(7);
        listings[untold].update_watchers(9);
        listings[told + 1].remove();
        listings[untold - 1].remove();
        assert_eq!(changed(&mut watch).await.0.len(), SNAPSHOT_ROWS);
        let (rest, removed) = changed(&mut watch).await;
        assert_eq!((rest.len(), rest[1].watchers, removed.len()), (2, 9, 0), "each row is as it is when it is read");
        let (again, removed) = changed(&mut watch).await;
        assert_eq!(again.iter().map(|row| row.watchers).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(removed, [listings[told + 1].key.1], "what was never told is not told to be gone");
    }

    #[tokio::test(start_paused = true)]
    async fn who_lags_within_a_snapshot_begins_again() {
        let (lobby, mut listings) = filled();
        let mut watch = lobby.watch(RowFilter::default());
        snapshot(&mut watch).await;
        listings[0].remove();
        for _ in 0..LOBBY_LAG {
            listings[1].update_watchers(1);
        }
        assert_eq!([changed(&mut watch).await.0.len(), changed(&mut watch).await.0.len()], [SNAPSHOT_ROWS, 3]);
        let anew = snapshot(&mut watch).await;
        assert_eq!((anew.len(), anew[0].id), (SNAPSHOT_ROWS, listings[1].key.1));
        assert_eq!([changed(&mut watch).await.0.len(), changed(&mut watch).await.0.len()], [SNAPSHOT_ROWS, 2]);
    }
}
