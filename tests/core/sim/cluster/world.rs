//! Three processes that share a database, clients that move between them, and what happens to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex as StdMutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::future::join_all;
use reversi::{
    room::{DisplayName, PlayerId, PlayerKind},
    runtime::{Clock, Limits, Player, RowFilter, Token},
    store::Store,
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{connection::StoreFault, database::ModelDatabase, incident::Incident, process::Process, wire::Wire};
use crate::sim::{
    client::Client,
    event_log::{Audit, Log, SimEvent},
    plan::Plan,
    recorded_history::RecordedHistory,
    rng::Rng,
    server::{KnownIds, SimServer},
    simulation::{GAMES_END, ROOMS_CLOSE, START_TIME},
};

/// The number of processes at the start.
const PROCESSES: usize = 3;

/// Time after the end of an incident in which the cluster recovers: a lease, and what moved rooms need.
const RECOVERY: Duration = Duration::from_secs(8);

/// Within this time the first owners have their shards.
pub(super) const SETTLED: Duration = Duration::from_secs(5);

pub(super) struct World {
    pub(super) seed: u64,
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) database: Arc<ModelDatabase>,
    pub(super) wire: Arc<Wire>,
    pub(super) log: Arc<Log>,
    pub(super) known: Arc<KnownIds>,
    pub(super) read_only: CancellationToken,
    leave: CancellationToken,
    /// The number of processes that were ever started.
    started: AtomicUsize,
    /// The living ones, by their numbers.
    processes: StdMutex<BTreeMap<usize, Process>>,
}

impl World {
    /// A world in which clients play until all leave.
    pub(super) fn run(plan: &Plan) -> RecordedHistory {
        let log = Arc::new(Log::new());
        let store = Self::simulate(plan, &log, async |world| world.live(plan).await);
        RecordedHistory::new(plan, log.take(), store)
    }

    /// A world without processes and clients yet, until `life` ends. Returns what is stored then.
    pub(super) fn simulate(plan: &Plan, log: &Arc<Log>, life: impl AsyncFnOnce(Arc<Self>)) -> Store {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let tokio = tokio.expect("a tokio runtime");
        let store = tokio.block_on(async {
            log.begin();
            log.note(SimEvent::ServerBegan { wall: START_TIME });
            let clock = Clock::starting(START_TIME);
            let database = ModelDatabase::new(Arc::clone(log), clock);
            let world = Arc::new(Self {
                seed: plan.seed,
                limits: plan.limits,
                clock,
                wire: Wire::new(Rng::seeded(plan.seed, 4)),
                database: Arc::clone(&database),
                log: Arc::clone(log),
                known: Arc::default(),
                read_only: CancellationToken::new(),
                leave: CancellationToken::new(),
                started: AtomicUsize::new(0),
                processes: StdMutex::default(),
            });
            life(world).await;
            log.end();
            database.store.clone()
        });
        drop(tokio);
        log.sort_drops();
        store
    }

    async fn live(self: &Arc<Self>, plan: &Plan) {
        let mut rng = Rng::seeded(self.seed, 5);
        for _ in 0..PROCESSES {
            self.start().await;
        }
        tokio::time::sleep(SETTLED).await;
        let clients: Vec<_> = plan.clients.iter().enumerate().collect();
        let clients: Vec<_> = clients
            .into_iter()
            .map(|(index, client)| Arc::new(Mutex::new(Client::new(self.seed, index, *client))))
            .collect();
        for (index, client) in clients.iter().enumerate() {
            self.wire
                .tasks
                .spawn(Arc::clone(self).roam(Arc::clone(client), Rng::seeded(self.seed, 400 + index as u64)));
        }
        let end = Instant::now() + rng.millis(20_000..60_000);
        tokio::time::sleep(rng.millis(0..15_000)).await;
        while Instant::now() < end {
            self.cause_incidents(&mut rng).await;
            tokio::time::sleep(rng.millis(0..10_000)).await;
        }
        self.read_only.cancel();
        tokio::time::sleep(GAMES_END).await;
        self.audit(false).await;
        self.leave.cancel();
        for process in self.living() {
            process.server.leave.cancel();
            process.server.tasks.close();
            process.server.tasks.wait().await;
        }
        tokio::time::sleep(ROOMS_CLOSE).await;
        self.audit(true).await;
    }

    /// Starts another process.
    pub(super) async fn start(&self) {
        self.start_with(None).await;
    }

    /// Starts another process whose clock is ahead by these microseconds. Returns its number.
    pub(super) async fn start_with(&self, ahead: Option<i64>) -> usize {
        let number = self.started.fetch_add(1, Relaxed);
        let process = Process::start(self, number, ahead).await;
        self.processes().insert(number, process);
        number
    }

    fn processes(&self) -> MutexGuard<'_, BTreeMap<usize, Process>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn living(&self) -> Vec<Process> {
        self.processes().values().cloned().collect()
    }

    /// Some things happen, one after another or at the same time, and end.
    pub(super) async fn cause_incidents(&self, rng: &mut Rng) {
        if self.living().len() < PROCESSES && rng.percent(60) {
            self.start().await;
        }
        // From now on turns may be late.
        self.log.note(SimEvent::DiskFaulty(true));
        let incidents = (0..rng.pick(&[1, 1, 2, 2, 3])).map(|number| {
            let (wait, mut rng) = (rng.millis(0..8_000) * number.min(1), Rng::seeded(rng.bits(), 0));
            async move {
                tokio::time::sleep(wait).await;
                let staying =
                    self.living().into_iter().filter(|process| !process.is_leaving() && !process.has_wrong_clock());
                let staying: Vec<_> = staying.map(|process| process.number).collect();
                let incident = Incident::random(&mut rng, &staying);
                self.log.note(SimEvent::Incident(format!("{incident:?}")));
                self.cause(incident).await;
                self.log.note(SimEvent::Incident(format!("{incident:?} is over")));
            }
        });
        join_all(incidents).await;
        tokio::time::sleep(RECOVERY).await;
        self.log.note(SimEvent::DiskFaulty(false));
    }

    async fn cause(&self, incident: Incident) {
        match incident {
            Incident::Ends { process, then } => {
                self.end(process);
                self.start_after(then).await;
            }
            Incident::Leaves { process, then } => {
                let leaving = self.processes().get(&process).cloned();
                if let Some(leaving) = leaving {
                    leaving.drain();
                    while !leaving.is_drained() {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    self.end(process);
                }
                self.start_after(then).await;
            }
            Incident::HasWrongClock { ahead, time } => {
                let process = self.start_with(Some(ahead)).await;
                sleep(time).await;
                let started = self.processes().get(&process).cloned();
                if let Some(started) = started {
                    assert!(!*started.server.runtime.in_service().borrow());
                    assert_eq!(self.database.shards_of(started.connection.node()), 0);
                }
                self.end(process);
            }
            Incident::IsPaused { process, time } => {
                self.wire.hold(process, self.lose_store(process, StoreFault::Held, time)).await;
            }
            Incident::LosesStore { process, fault, time } => self.lose_store(process, fault, time).await,
            Incident::LosesPeer { process, peer, is_one_way, time } => {
                let ways = [(process, peer), (peer, process)][..if is_one_way { 1 } else { 2 }].to_vec();
                let note = |is_over| self.log.note(SimEvent::Apart { ways: ways.clone(), is_over });
                note(false);
                self.wire.cut_for(&ways, time).await;
                note(true);
            }
        }
    }

    fn end(&self, process: usize) {
        let ended = self.processes().remove(&process);
        ended.iter().for_each(Process::kill);
    }

    /// Starts another process after this time, if any.
    async fn start_after(&self, time: Option<Duration>) {
        if let Some(time) = time {
            tokio::time::sleep(time).await;
            self.start().await;
        }
    }

    async fn lose_store(&self, process: usize, fault: StoreFault, time: Duration) {
        let losing = self.processes().get(&process).cloned();
        if let Some(losing) = losing {
            losing.connection.fail_for(fault, time).await;
        }
    }

    /// Lets a client act at one process after another.
    async fn roam(self: Arc<Self>, client: Arc<Mutex<Client>>, mut rng: Rng) {
        let mut client = client.lock().await;
        while !self.leave.is_cancelled() {
            let living = self.living();
            let [process, elsewhere] = [(); 2].map(|()| &living[rng.below(living.len())]);
            client.elsewhere = Some(Arc::clone(&elsewhere.server));
            let server = &process.server;
            self.log.note(SimEvent::ClientAt { client: client.index, process: process.number });
            let stay = rng.millis(2_000..25_000);
            tokio::select! {
                biased;
                () = self.leave.cancelled() => {}
                () = server.leave.cancelled() => {}
                () = tokio::time::sleep(stay) => {}
                () = out_of_service(server) => {}
                () = client.run(server) => {}
            }
            client.disconnect();
            tokio::time::sleep(rng.millis(5..400)).await;
        }
    }

    /// The state of all processes together.
    async fn audit(&self, players_gone: bool) {
        let living = self.living();
        let mut audit = Audit {
            players_gone,
            wall: self.clock.now(),
            rooms: 0,
            games: 0,
            lists: Vec::new(),
            updated_list: None,
            holdings: Vec::new(),
        };
        for process in &living {
            let runtime = &process.server.runtime;
            let census = runtime.census();
            audit.rooms += census.rooms;
            audit.games += census.games;
            audit.lists.push(runtime.lobby.page(&RowFilter::default(), None, usize::MAX).await);
        }
        let players: BTreeSet<PlayerId> = self.known.players().into_iter().collect();
        for id in players {
            let known = living.iter().filter_map(|process| process.server.runtime.players().get(id));
            let (mut rooms, mut seats, mut is_known) = (BTreeSet::new(), BTreeSet::new(), false);
            for player in known {
                is_known = true;
                rooms.extend(player.rooms());
                seats.extend(player.seats());
            }
            if is_known {
                audit.holdings.push((id, rooms.into_iter().collect(), seats.into_iter().collect()));
            }
        }
        self.log.note(SimEvent::Audited(Box::new(audit)));
    }
}

/// Waits until a node serves no clients. It looks at times, since a `watch` channel would wake clients in a random order.
pub(super) async fn out_of_service(node: &SimServer) {
    while *node.runtime.in_service().borrow() {
        sleep(Duration::from_millis(100)).await;
    }
}

/// Starts two nodes.
pub(super) async fn two_nodes(world: &World) -> [Arc<SimServer>; 2] {
    world.start().await;
    world.start().await;
    sleep(SETTLED).await;
    let mut nodes = world.living().into_iter().map(|process| process.server);
    [(); 2].map(|()| nodes.next().expect("a node"))
}

pub(super) async fn log_in(node: &SimServer, name: &str) -> (Arc<Player>, Token) {
    let name = DisplayName::parse(name).expect("a name");
    node.runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a player")
}
