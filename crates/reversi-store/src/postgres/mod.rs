//! A store in a PostgreSQL database.
//!
//! ```text
//!   actors ──append──▶ queue ──▶ writer ── one batch for all that waits ──▶ database ◀── two connections ◀── questions
//!                                          one transaction at a time ──────────▲
//!   archive: settle ended games, count openings, import, trim ──────────────────┘
//! ```
//!
//! The end of a game only inserts the game. Whatever locks rows that games share, as the results of their players, is
//! done later over a connection of its own, by one node at a time: it holds the lock of the only row of `archive`.
//!
//! The writer and the connections run on one thread of their own. One node at a time writes to a room, by the rules of
//! `cluster`. A batch of moves is one statement and one commit. When the connection is lost, the writer connects again
//! and finds out what was written, for as long as its patience lasts; callers only wait longer.

mod cluster;
mod done_requests;
mod error;
mod explorer;
mod games;
mod lasting_session;
mod members;
mod node_table;
mod page;
mod players;
mod retention;
mod rooms;
mod schema;
mod session;
mod standby;
mod tournaments;
mod transfer;
mod waiting;
mod writer;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use tokio::{
    sync::{
        Semaphore,
        mpsc::{self, error::TrySendError},
        oneshot, watch,
    },
    time::{Instant, sleep},
};

pub use cluster::{Membership, lease_holder::Sharing};
pub use error::PostgresError;
pub use node_table::{NodeRow, NodeStatus, NodeTable};
pub use standby::Standby;

use cluster::{
    access::{Access, PanicGuard},
    lease_holder::NodeState,
    shard,
};
use lasting_session::LastingSession;
use reversi_engine::rules::Position;
use reversi_room::{
    DisplayName, GameId, GameRecord, JoinCode, PlayerId, Profile, Room, RoomId, Seq, Timestamp, TournamentId,
};
use rooms::RoomWrite;
use session::Session;
use writer::{
    Done, MAX_CHANGES, QueuedWrite, Writer,
    batch::{Outcome, Write},
    change::Change,
};

use super::{
    archive::{Archive, ArchiveSize, GameFilter, GameKey, GamePage, RankingFilter, RankingKey, RankingPage, Retention},
    ban::Ban,
    cluster_store::{ClusterStore, ClusterView, Lease},
    contestant::Contestant,
    damage::{DamagedRows, ReadError},
    explorer::{Exploration, ExplorerFilter},
    journal::{Append, AppendError, AppendFuture, BoxFuture, DoneRequest, History, Journal, StoreError, StoreFuture},
    player_stats::PlayerStats,
    player_store::{PlaceRequest, PlayerKey, PlayerStore, RoomPlace, StoredPlayer},
    shard::{Assignment, NodeId, Shard},
    tournament::{StoredTournament, TournamentAppend, TournamentJournal, TournamentKey},
    transfer::{FormerPlayer, Restored, Standing, Transfer},
};

/// Capacity of the queue. Beyond it callers wait, at the speed of the database.
const QUEUE: usize = 4_096;

/// Interval of retries while another node changes a player's quota, which takes one commit.
const QUOTA_RETRY: Duration = Duration::from_millis(5);

/// Time limit for these retries: far more than other nodes take, unless one fails.
const QUOTA_PATIENCE: Duration = Duration::from_secs(10);

/// Before a game or the results of a player are read: the time limit for other changes of the archive, and the number of
/// games settled.
const READERS_TURN: Duration = Duration::from_secs(1);
const SETTLED_FOR_READER: usize = 256;

/// A store in a database. Dropping it completes all queued writes, ends its threads, and lets another node take over.
pub struct PostgresStore {
    requests: Option<mpsc::Sender<QueuedWrite>>,
    /// Bounds the changes of players in the queue, so that moves do not wait for more of them.
    changes: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
    /// Separate from the archive's, so that reading a room or a player does not wait for a long query.
    rooms: Arc<LastingSession>,
    archive: LastingSession,
    /// For what changes the archive, so that no move waits for a lock of it.
    archive_writer: LastingSession,
    /// True while the outcome of a batch is unknown, or after another node has taken over.
    in_doubt: Arc<AtomicBool>,
    access: Arc<Access>,
    damaged: Arc<DamagedRows>,
    node: i64,
    /// Dropped last.
    membership: Arc<Membership>,
}

impl Standby {
    /// Waits until this node has all rooms, or shares them with other nodes, and opens the store.
    ///
    /// # Errors
    /// When the database cannot be used then.
    pub async fn take_over(self) -> Result<PostgresStore, PostgresError> {
        let node = self.membership.wait_to_write().await?;
        PostgresStore::start(self, node).await
    }
}

impl PostgresStore {
    /// Opens the store in the database at `url` for a command, or another user that does not stand by.
    ///
    /// # Errors
    /// When the database cannot be reached or used, or another node uses it.
    pub async fn open(url: &str, patience: Duration) -> Result<Self, PostgresError> {
        let standby = Standby::join(url, Sharing { patience, ..Sharing::default() }).await?;
        let node = tokio::select! {
            biased;
            node = standby.membership.wait_to_write() => node?,
            Err(in_use) = standby.require_unused() => return Err(in_use),
        };
        Self::start(standby, node).await
    }

    async fn start(standby: Standby, node: i64) -> Result<Self, PostgresError> {
        let Standby { config, patience, membership } = standby;
        let (requests, queue) = mpsc::channel(QUEUE);
        let (in_doubt, damaged) = (Arc::<AtomicBool>::default(), Arc::<DamagedRows>::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (reply, opened) = oneshot::channel();
        let access = membership.access();
        let (doubt, reached, rows) = (Arc::clone(&in_doubt), Arc::clone(&access), Arc::clone(&damaged));
        let open = Writer::open(config.clone(), membership.state(), patience, doubt, reached, rows);
        let guard = PanicGuard(Arc::clone(&access));
        let write = async move {
            let _guard = guard;
            match open.await {
                // The caller may have stopped waiting.
                Ok(writer) => {
                    let _ = reply.send(Ok(()));
                    writer.run(queue).await;
                }
                Err(error) => drop(reply.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || runtime.block_on(write))?;
        opened.await.unwrap_or_else(|_| Err(PostgresError::Database("the writer has ended".to_owned())))?;
        Ok(Self {
            requests: Some(requests),
            changes: Arc::new(Semaphore::new(MAX_CHANGES)),
            thread: Some(thread),
            rooms: Arc::new(LastingSession::new(config.clone(), patience, handle.clone(), Arc::clone(&access))),
            // No room depends on the archive.
            archive: LastingSession::new(config.clone(), patience, handle.clone(), Arc::default()),
            archive_writer: LastingSession::new(config, patience, handle, Arc::default()),
            in_doubt,
            access,
            damaged,
            node,
            membership: Arc::new(membership),
        })
    }

    /// Records whether the database has only a part of what is copied into it. With only a part, no node uses it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn set_unfinished(&self, is_unfinished: bool) -> Result<(), StoreError> {
        self.change(Change::SetUnfinished(is_unfinished)).await.map(drop)
    }

    /// The membership of this node in the cluster of its database.
    #[must_use]
    pub fn membership(&self) -> Arc<Membership> {
        Arc::clone(&self.membership)
    }

    /// Queues an append, at once unless the queue is full.
    fn submit(&self, write: Write) -> AppendFuture<'_> {
        let gone = || AppendError::Unavailable("the writer has ended".to_owned());
        let Some(requests) = &self.requests else { return Err(gone()).into() };
        let (done, outcome) = oneshot::channel();
        let outcome = AppendFuture::Queued(outcome);
        match requests.try_send(QueuedWrite { write, done: Done::Append(done) }) {
            Ok(()) => outcome,
            Err(TrySendError::Full(request)) => AppendFuture::Slow(Box::pin(async move {
                requests.send(request).await.map_err(|_| gone())?;
                outcome.await
            })),
            Err(TrySendError::Closed(_)) => Err(gone()).into(),
        }
    }

    /// Executes a change after all writes queued before. Returns what it counts.
    async fn change(&self, change: Change) -> Result<usize, StoreError> {
        let gone = || StoreError::Unavailable("the writer has ended".to_owned());
        let (done, outcome) = oneshot::channel();
        let permit = match change.is_of_players() {
            true => Some(Arc::clone(&self.changes).acquire_owned().await.map_err(|_| gone())?),
            false => None,
        };
        let request = QueuedWrite { write: Write::Change(change), done: Done::Change { done, _permit: permit } };
        self.requests.as_ref().ok_or_else(gone)?.send(request).await.map_err(|_| gone())?;
        let outcome: Outcome = outcome.await.map_err(|_| gone())?;
        outcome.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    /// Executes a change of a player's quota when no other node changes it. Returns false if it is refused.
    async fn change_quota(&self, change: impl Fn() -> Change) -> Result<bool, StoreError> {
        let end = Instant::now() + QUOTA_PATIENCE;
        loop {
            match self.change(change()).await? {
                members::BUSY if Instant::now() < end => sleep(QUOTA_RETRY).await,
                members::BUSY => {
                    return Err(StoreError::Unavailable("other servers change the player's quota".to_owned()));
                }
                done => return Ok(done == members::DONE),
            }
        }
    }

    fn write(&self, change: Change) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.change(change).await.map(drop) })
    }

    /// Asks the archive about the game with this id, or about this contestant. A game that has just ended is settled
    /// first; if that fails, it is settled later.
    async fn ask_settled<T: Send, F>(
        &self,
        of: String,
        question: impl Fn(Arc<Session>) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, ReadError>> + Send,
    {
        let ask = |session: Arc<Session>| {
            let (of, answer) = (&of, question(Arc::clone(&session)));
            async move { Ok((games::has_unsettled(&session, Some(of)).await?, answer.await?)) }
        };
        let (is_unsettled, answer) = self.archive.ask(ask).await?;
        if !is_unsettled {
            return Ok(answer);
        }
        let _ = self.settle_within(READERS_TURN, SETTLED_FOR_READER).await;
        self.archive.ask(&question).await
    }

    /// Settles at most `limit` games, unless other changes of the archive take longer than `turn`.
    async fn settle_within(&self, turn: Duration, limit: usize) -> Result<usize, StoreError> {
        let damaged = &*self.damaged;
        let settle = move |session: Arc<Session>| async move { games::settle(&session, damaged, limit).await };
        self.archive_writer.transact(turn, settle).await
    }

    /// Waits until no write is under way whose outcome is unknown: what is read before that may still change.
    async fn await_unknown_writes(&self) -> Result<(), StoreError> {
        if self.in_doubt.load(Ordering::Acquire) { self.change(Change::Nothing).await.map(drop) } else { Ok(()) }
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has logged a panic.
            let _ = thread.join();
        }
    }
}

impl Journal for PostgresStore {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        RoomWrite::new(&append).map_or_else(|error| Err(error).into(), |write| self.submit(Write::Append(write)))
    }

    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        Box::pin(async move {
            self.await_unknown_writes().await?;
            let damaged = Arc::clone(&self.damaged);
            self.rooms.ask(move |session| async move { rooms::load(&session, &damaged, room).await }).await
        })
    }

    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
        Box::pin(async move {
            self.await_unknown_writes().await?;
            self.rooms.ask(move |session| async move { done_requests::get(&session, key, now).await }).await
        })
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |session| async move { rooms::page(&session, &damaged, after, limit).await })
    }

    fn room_of_code(&self, code: JoinCode) -> StoreFuture<'_, Option<RoomId>> {
        self.rooms.ask(move |session| async move { rooms::of_code(&session, code).await })
    }

    fn take_waiting(&self, limit: usize) -> StoreFuture<'_, Option<Vec<RoomId>>> {
        Box::pin(async move {
            if self.change(Change::TakeWaiting).await? == 0 {
                return Ok(None);
            }
            self.rooms.ask(move |session| async move { waiting::all(&session, limit).await }).await.map(Some)
        })
    }

    fn return_waiting(&self, gone: Vec<RoomId>, new: Vec<RoomId>) -> StoreFuture<'_, ()> {
        self.write(Change::ReturnWaiting { gone, new })
    }

    fn add_waiting(&self, rooms: Vec<RoomId>) -> StoreFuture<'_, ()> {
        self.write(Change::AddWaiting(rooms))
    }

    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
        // Of a node that shares the shards, shards are credited one by one.
        let is_credited = !matches!(*self.membership.state().borrow(), NodeState::Member(_));
        Box::pin(async move {
            self.change(Change::MarkAlive { now, is_credited }).await?;
            if self.access.is_reader_away() {
                // While no room is read, nothing else connects.
                LastingSession::connect_soon(&self.rooms);
            }
            Ok(())
        })
    }

    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
        let node = self.node;
        self.rooms.ask(move |session| async move { shard::last_alive(&session, node).await })
    }
}

impl ClusterStore for PostgresStore {
    fn views(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.membership.views()
    }

    fn lease(&self) -> watch::Receiver<Lease> {
        self.membership.lease()
    }

    fn note_reached(&self, nodes: BTreeSet<NodeId>) {
        self.membership.note_reached(nodes);
    }

    fn note_credited(&self, shards: Vec<Assignment>) -> StoreFuture<'_, ()> {
        self.write(Change::NoteCredited(shards))
    }

    fn hand_over(&self, shards: Vec<(Assignment, NodeId)>, since: Timestamp) -> StoreFuture<'_, ()> {
        self.write(Change::HandOver(shards, since))
    }

    fn look_again(&self) {
        self.membership.look_again();
    }
}

impl Archive for PostgresStore {
    fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, GamePage> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |session| async move { page::page(&session, &damaged, &filter, after, limit).await })
    }

    fn game(&self, id: GameId) -> StoreFuture<'_, Option<Arc<GameRecord>>> {
        let damaged = &*self.damaged;
        let get = move |session: Arc<Session>| async move { games::get(&session, damaged, id).await };
        Box::pin(self.ask_settled(id.to_string(), get))
    }

    fn player_stats(&self, who: Contestant) -> StoreFuture<'_, PlayerStats> {
        let of = who.to_string();
        let standing = move |session: Arc<Session>| {
            let who = who.clone();
            async move { games::standing(&session, &who).await }
        };
        Box::pin(self.ask_settled(of, standing))
    }

    fn size(&self) -> StoreFuture<'_, ArchiveSize> {
        self.archive.ask(|session| async move { retention::size(&session).await })
    }

    fn ranking(&self, filter: RankingFilter, after: Option<RankingKey>, limit: usize) -> StoreFuture<'_, RankingPage> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |session| async move { games::ranking(&session, &damaged, filter, after, limit).await })
    }

    fn explore(&self, position: Position, filter: ExplorerFilter) -> StoreFuture<'_, Exploration> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |session| async move { explorer::explore(&session, &damaged, position, filter).await })
    }

    fn settle(&self, limit: usize) -> StoreFuture<'_, usize> {
        let turn = self.archive_writer.patience;
        let is_any = self.archive.ask(|session| async move { games::has_unsettled(&session, None).await });
        Box::pin(async move { if is_any.await? { self.settle_within(turn, limit).await } else { Ok(0) } })
    }

    fn count_openings(&self, skip: usize, limit: usize, now: Timestamp) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            let has_uncounted =
                move |session: Arc<Session>| async move { explorer::has_uncounted(&session, skip, now).await };
            if !self.archive.ask(has_uncounted).await? {
                return Ok(0);
            }
            let damaged = &*self.damaged;
            let count = move |session: Arc<Session>| async move {
                explorer::count(&session, damaged, [skip, limit], now).await
            };
            self.archive_writer.transact(self.archive_writer.patience, count).await
        })
    }

    fn import(&self, games: Vec<GameRecord>) -> StoreFuture<'_, usize> {
        let games = Arc::new(games);
        self.archive_writer.transact(self.archive_writer.patience, move |session| {
            let games = Arc::clone(&games);
            async move { games::enter(&session, &games).await }
        })
    }

    fn make_provisional(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        let raise = move |session: Arc<Session>| async move { games::make_provisional(&session, player).await };
        self.archive_writer.transact(self.archive_writer.patience, raise)
    }

    fn trim(&self, retention: Retention, now: Timestamp, limit: usize) -> StoreFuture<'_, usize> {
        let trim = move |session: Arc<Session>| async move { retention::trim(&session, retention, now, limit).await };
        self.archive_writer.transact(self.archive_writer.patience, trim)
    }
}

impl PlayerStore for PostgresStore {
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |session| async move { players::all(&session, &damaged).await })
    }

    fn find(&self, player: PlayerKey) -> StoreFuture<'_, Option<StoredPlayer>> {
        self.rooms.ask(move |session| async move { players::find(&session, player).await })
    }

    fn find_all(&self, players: Vec<PlayerId>) -> StoreFuture<'_, Vec<StoredPlayer>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |session| async move { players::find_all(&session, &damaged, &players).await })
    }

    fn profile(&self, player: PlayerId) -> StoreFuture<'_, Option<Profile>> {
        self.archive.ask(move |session| async move { players::profile(&session, player).await })
    }

    fn named(&self, name: DisplayName, limit: usize) -> StoreFuture<'_, Vec<Profile>> {
        let damaged = Arc::clone(&self.damaged);
        self.archive.ask(move |session| async move { players::named(&session, &damaged, &name, limit).await })
    }

    fn put_player(&self, player: StoredPlayer) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(self.change(Change::PutPlayer(player)).await? > 0) })
    }

    fn change_account(&self, player: StoredPlayer, before: StoredPlayer) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(self.change(Change::Account(Box::new((player, before)))).await? > 0) })
    }

    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.write(Change::RemovePlayer(player))
    }

    fn idle_players(
        &self,
        others: Timestamp,
        claimed: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(PlayerId, Timestamp)>> {
        self.archive.ask(move |session| async move { players::idle(&session, others, claimed, limit).await })
    }

    fn remove_idle(&self, player: PlayerId, seen: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(self.change(Change::RemoveIdle(player, seen)).await? > 0) })
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.write(Change::RecordSeen(seen))
    }

    fn bans(&self) -> StoreFuture<'_, Vec<Ban>> {
        let damaged = Arc::clone(&self.damaged);
        self.rooms.ask(move |session| async move { players::bans(&session, &damaged).await })
    }

    fn put_ban(&self, ban: Ban, now: Timestamp) -> StoreFuture<'_, ()> {
        self.write(Change::PutBan(ban, now))
    }

    fn room_places(&self, player: PlayerId) -> StoreFuture<'_, Vec<RoomPlace>> {
        Box::pin(async move {
            self.await_unknown_writes().await?;
            self.rooms.ask(move |session| async move { members::room_places(&session, player).await }).await
        })
    }

    fn reserve_place(&self, place: PlaceRequest) -> StoreFuture<'_, bool> {
        Box::pin(self.change_quota(move || Change::ReservePlace(place)))
    }

    fn release_place(&self, number: u64) -> StoreFuture<'_, ()> {
        self.write(Change::ReleasePlace(number))
    }
}

impl TournamentJournal for PostgresStore {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(self.submit(Write::Tournament(append.expected, append.into())))
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        Box::pin(async move {
            self.await_unknown_writes().await?;
            let damaged = &*self.damaged;
            self.rooms.ask(move |session| async move { tournaments::load(&session, damaged, id).await }).await
        })
    }

    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>> {
        Box::pin(async move {
            self.await_unknown_writes().await?;
            self.rooms.ask(move |session| async move { tournaments::last(&session, id).await }).await
        })
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        self.rooms.ask(move |session| async move { tournaments::running(&session, &shards).await })
    }

    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>> {
        self.archive.ask(move |session| async move { tournaments::page(&session, unfinished, before, limit).await })
    }
}

impl Transfer for PostgresStore {
    fn former_players(&self, after: Option<PlayerId>, limit: usize) -> StoreFuture<'_, Vec<FormerPlayer>> {
        self.archive.ask(move |session| async move { transfer::former_players(&session, after, limit).await })
    }

    fn stored_games(&self, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, Vec<GameRecord>> {
        self.archive.ask(move |session| async move { transfer::stored_games(&session, after, limit).await })
    }

    fn standings(&self, after: Option<Contestant>, limit: usize) -> StoreFuture<'_, Vec<Standing>> {
        self.archive.ask(move |session| async move { transfer::standings(&session, after, limit).await })
    }

    fn restore(&self, restored: Restored) -> StoreFuture<'_, ()> {
        self.write(Change::Restore(restored))
    }
}
