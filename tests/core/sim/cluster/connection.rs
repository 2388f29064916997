//! The connection of one process to the database: it delays, and can be cut or held.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
    time::Duration,
};

use reversi::{
    room::{DisplayName, JoinCode, PlayerId, Profile, Room, RoomId, Seq, Timestamp, TournamentId},
    runtime::{Assignment, NodeId, Shard},
    store::{
        Append, AppendError, AppendFuture, Ban, BoxFuture, ClusterStore, ClusterView, DoneRequest, History, Journal,
        Lease, Obstacle, PlaceRequest, PlayerKey, PlayerStore, RoomPlace, Store, StoreError, StoreFuture, StoredPlayer,
        StoredTournament, TournamentAppend, TournamentJournal, TournamentKey,
    },
};

use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use super::{
    database::{LEASE, ModelDatabase},
    gate::Gate,
    tables::Tables,
};
use crate::sim::rng::Rng;

/// What is wrong with a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoreFault {
    /// Calls wait, and arrive late.
    Held,
    /// Calls fail.
    Cut,
    /// Calls arrive, and the answers about accounts wait.
    AnswersHeld,
}

/// The state of a connection: the faults of each kind that have not ended, which may overlap.
#[derive(Clone, Copy, Default)]
struct ActiveFaults {
    held: usize,
    cut: usize,
    answers_held: usize,
    /// The process has ended: its calls have no effect.
    gone: bool,
}

pub(super) struct Connection {
    pub(super) database: Arc<ModelDatabase>,
    node: AtomicI64,
    faults: Gate<ActiveFaults>,
    rng: Mutex<Rng>,
    view: watch::Sender<Arc<ClusterView>>,
    lease: watch::Sender<Lease>,
    /// Notified when the node is to look at the database before its next beat.
    pub(super) look: Notify,
}

impl Connection {
    /// Of a node whose clock is `ahead` of the database's, in microseconds.
    pub(super) fn new(database: Arc<ModelDatabase>, node: NodeId, ahead: i64, rng: Rng) -> Arc<Self> {
        // It is not linked yet.
        let obstacle = Some(Obstacle::CutOff);
        let view = watch::Sender::new(Arc::new(ClusterView { me: node, obstacle, ..ClusterView::default() }));
        let lease = watch::Sender::new(Lease { end: Instant::now() + LEASE, ahead, is_replaceable: true });
        let (node, faults, rng) = (AtomicI64::new(node.0), Gate::default(), Mutex::new(rng));
        Arc::new(Self { database, node, faults, rng, view, lease, look: Notify::new() })
    }

    pub(super) fn store(self: &Arc<Self>) -> Store {
        Store {
            journal: Arc::clone(self) as Arc<dyn Journal>,
            archive: Arc::clone(&self.database.store.archive),
            players: Arc::clone(self) as Arc<dyn PlayerStore>,
            tournaments: Arc::clone(self) as Arc<dyn TournamentJournal>,
        }
    }

    pub(super) fn node(&self) -> NodeId {
        NodeId(self.node.load(SeqCst))
    }

    pub(super) fn rejoin_as(&self, node: NodeId) {
        self.node.store(node.0, SeqCst);
    }

    /// Shows the node this view of the cluster.
    pub(super) fn see(&self, view: ClusterView) {
        self.view.send_replace(Arc::new(view));
    }

    /// The lease was renewed by a statement that was sent at this time.
    pub(super) fn note_renewal(&self, sent: Instant) {
        self.lease.send_modify(|lease| lease.end = sent + LEASE);
    }

    /// Holds or cuts the connection for a time.
    pub(super) async fn fail_for(&self, fault: StoreFault, time: Duration) {
        let count = |faults: &mut ActiveFaults, change: fn(usize) -> usize| match fault {
            StoreFault::Held => faults.held = change(faults.held),
            StoreFault::Cut => faults.cut = change(faults.cut),
            StoreFault::AnswersHeld => faults.answers_held = change(faults.answers_held),
        };
        self.faults.change(|faults| count(faults, |count| count + 1));
        tokio::time::sleep(time).await;
        self.faults.change(|faults| count(faults, |count| count - 1));
    }

    pub(super) fn end(&self) {
        self.faults.change(|faults| faults.gone = true);
    }

    /// Waits for the way there or back. False if the connection is cut.
    pub(super) async fn cross(&self) -> bool {
        let delay = self.delay();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        self.faults.pass(|faults| faults.held > 0 || faults.gone).await.cut == 0
    }

    fn delay(&self) -> Duration {
        let mut rng = self.rng();
        match rng.below(100) {
            0..2 => rng.millis(20..400),
            2..20 => rng.millis(1..4),
            _ => Duration::ZERO,
        }
    }

    fn rng(&self) -> MutexGuard<'_, Rng> {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, append: Append<'_>) -> Result<(), AppendError> {
        // Of the node as which it was sent.
        let node = self.node();
        if !self.cross().await {
            return Err(AppendError::Unavailable("cut by the test".into()));
        }
        let written = self.database.append(node, append).await;
        if !self.cross().await {
            return Err(AppendError::Unknown("cut by the test".into()));
        }
        written
    }

    /// Executes a statement.
    async fn execute<T>(&self, statement: impl FnOnce(&ModelDatabase) -> T) -> Result<T, StoreError> {
        self.reach().await?;
        let answer = statement(&self.database);
        self.reach().await?;
        Ok(answer)
    }

    async fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> Result<T, StoreError> {
        self.execute(|database| database.read(read)).await
    }

    async fn change<T>(&self, change: impl FnOnce(NodeId, &mut Tables) -> T) -> Result<T, StoreError> {
        // Of the node as which it was sent.
        let node = self.node();
        self.execute(|database| database.change(node, |tables| change(node, tables))).await?
    }

    async fn take_waiting(&self, limit: usize) -> Result<Option<Vec<RoomId>>, StoreError> {
        if !self.change(|node, tables| tables.waiting.take(node)).await? {
            return Ok(None);
        }
        self.read(|tables| tables.waiting.oldest(limit)).await.map(Some)
    }

    async fn reach(&self) -> Result<(), StoreError> {
        if self.cross().await { Ok(()) } else { Err(StoreError::Unavailable("cut by the test".into())) }
    }
}

impl TournamentJournal for Connection {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(async move {
            let node = self.node();
            if !self.cross().await {
                return Err(AppendError::Unavailable("cut by the test".into()));
            }
            let written = match self.database.may_write(node, Shard::of_tournament(append.id)) {
                true => self.database.store.tournaments.append_tournament(append).await,
                false => Err(AppendError::Fenced),
            };
            if !self.cross().await {
                return Err(AppendError::Unknown("cut by the test".into()));
            }
            written
        })
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.tournaments.tournament(id).await
        })
    }

    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.tournaments.tournament_seq(id).await
        })
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.tournaments.running_tournaments(shards).await
        })
    }

    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.tournaments.tournament_page(unfinished, before, limit).await
        })
    }
}

impl ClusterStore for Connection {
    fn views(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.view.subscribe()
    }

    fn lease(&self) -> watch::Receiver<Lease> {
        self.lease.subscribe()
    }

    fn note_reached(&self, _: BTreeSet<NodeId>) {
        unreachable!("the database is told with each beat")
    }

    fn note_credited(&self, shards: Vec<Assignment>) -> StoreFuture<'_, ()> {
        Box::pin(self.execute(move |database| database.note_credited(&shards)))
    }

    fn hand_over(&self, shards: Vec<(Assignment, NodeId)>, since: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.execute(move |database| database.hand_over(&shards, since)).await? })
    }

    fn look_again(&self) {
        self.look.notify_one();
    }
}

impl Journal for Connection {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        AppendFuture::Slow(Box::pin(self.write(append)))
    }

    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.journal.load(room).await
        })
    }

    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.journal.done_request(key, now).await
        })
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.journal.open_rooms(after, limit).await
        })
    }

    fn room_of_code(&self, code: JoinCode) -> StoreFuture<'_, Option<RoomId>> {
        Box::pin(self.read(move |tables| tables.rooms.values().find(|room| room.code() == code).map(Room::id)))
    }

    fn take_waiting(&self, limit: usize) -> StoreFuture<'_, Option<Vec<RoomId>>> {
        Box::pin(self.take_waiting(limit))
    }

    fn return_waiting(&self, gone: Vec<RoomId>, new: Vec<RoomId>) -> StoreFuture<'_, ()> {
        Box::pin(self.change(move |node, tables| tables.waiting.give_back(node, &gone, &new)))
    }

    fn add_waiting(&self, rooms: Vec<RoomId>) -> StoreFuture<'_, ()> {
        Box::pin(self.change(move |_, tables| tables.waiting.add(&rooms)))
    }

    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
        let node = self.node();
        Box::pin(self.execute(move |database| database.mark_alive(node, now)))
    }

    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
        unreachable!("the membership does that")
    }
}

impl PlayerStore for Connection {
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>> {
        unreachable!("a node of a cluster looks players up")
    }

    fn find(&self, player: PlayerKey) -> StoreFuture<'_, Option<StoredPlayer>> {
        Box::pin(async move {
            self.reach().await?;
            let found = self.database.store.players.find(player).await;
            self.faults.pass(|faults| faults.answers_held > 0).await;
            found
        })
    }

    fn profile(&self, player: PlayerId) -> StoreFuture<'_, Option<Profile>> {
        self.database.store.players.profile(player)
    }

    fn named(&self, name: DisplayName, limit: usize) -> StoreFuture<'_, Vec<Profile>> {
        self.database.store.players.named(name, limit)
    }

    fn put_player(&self, player: StoredPlayer) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.players.put_player(player).await
        })
    }

    fn change_account(&self, player: StoredPlayer, before: StoredPlayer) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.players.change_account(player, before).await
        })
    }

    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.players.remove_player(player).await
        })
    }

    fn idle_players(
        &self,
        others: Timestamp,
        claimed: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(PlayerId, Timestamp)>> {
        Box::pin(async move {
            self.reach().await?;
            let mut idle = self.database.store.players.idle_players(others, claimed, usize::MAX).await?;
            // The store in memory has them in a random order.
            idle.sort_unstable();
            idle.truncate(limit);
            Ok(idle)
        })
    }

    fn remove_idle(&self, player: PlayerId, seen: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.players.remove_idle(player, seen).await
        })
    }

    fn bans(&self) -> StoreFuture<'_, Vec<Ban>> {
        self.database.store.players.bans()
    }

    fn put_ban(&self, ban: Ban, now: Timestamp) -> StoreFuture<'_, ()> {
        self.database.store.players.put_ban(ban, now)
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.reach().await?;
            self.database.store.players.record_seen(seen).await
        })
    }

    fn room_places(&self, player: PlayerId) -> StoreFuture<'_, Vec<RoomPlace>> {
        Box::pin(self.read(move |tables| tables.held(player)))
    }

    fn reserve_place(&self, place: PlaceRequest) -> StoreFuture<'_, bool> {
        Box::pin(self.change(move |_, tables| tables.reserve(place)))
    }

    fn release_place(&self, number: u64) -> StoreFuture<'_, ()> {
        Box::pin(self.change(move |_, tables| tables.places.release(number)))
    }
}
