//! A simulation: one disk, the servers that run on it one after another, and their clients.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reversi::{
    room::{Event, Room, Timestamp, stored},
    runtime::{Clock, Parts, RandomSource, RowFilter, Runtime},
};
use tokio::sync::Mutex;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::sim::{
    client::Client,
    event_log::{Audit, Log, SimEvent},
    faulty_disk::FaultyDisk,
    grpc::GrpcServer,
    plan::{Plan, ServerPlan, Storage, Transport},
    recorded_history::RecordedHistory,
    rng::Rng,
    server::{KnownIds, SimServer},
    sqlite_disk::SqliteDisk,
};

/// Wall time at the start of a simulation.
pub(crate) const START_TIME: Timestamp = Timestamp(1_800_000_000_000_000);

/// Within this time every game without moves by players is over: three games lost on time, with the AI moves between.
pub(crate) const GAMES_END: Duration = Duration::from_secs(600);

/// Within this time a room without members is closed, even if the clock was set back.
pub(crate) const ROOMS_CLOSE: Duration = Duration::from_secs(600);

pub(crate) struct Simulation {
    plan: Plan,
    log: Arc<Log>,
    disk: Arc<FaultyDisk>,
    sqlite: Option<Arc<SqliteDisk>>,
    known: Arc<KnownIds>,
    clients: Vec<Arc<Mutex<Client>>>,
    wall: Timestamp,
}

impl Simulation {
    /// Runs a whole simulation.
    pub(crate) fn run(plan: Plan) -> RecordedHistory {
        let log = Arc::new(Log::new());
        let clients = plan.clients.iter().enumerate();
        let faults = Rng::seeded(plan.seed, 2);
        let sqlite = match plan.storage {
            Storage::Memory => None,
            Storage::Sqlite { ignores_syncs } => {
                Some(SqliteDisk::new(Rng::seeded(plan.seed, 3), Arc::clone(&log), ignores_syncs))
            }
        };
        let mut simulation = Self {
            disk: match &sqlite {
                Some(sqlite) => FaultyDisk::over_sqlite(Arc::clone(sqlite), faults, Arc::clone(&log)),
                None => FaultyDisk::new(faults, Arc::clone(&log)),
            },
            sqlite,
            clients: clients
                .map(|(client, client_plan)| Arc::new(Mutex::new(Client::new(plan.seed, client, *client_plan))))
                .collect(),
            known: Arc::default(),
            wall: START_TIME,
            log,
            plan,
        };
        if simulation.restore_power() {
            for number in 0..simulation.plan.servers.len() {
                simulation.run_server(number);
                if !simulation.restore_power() {
                    break;
                }
            }
        }
        RecordedHistory::new(&simulation.plan, simulation.log.take(), simulation.disk.store())
    }

    /// Cuts the power and switches it on again. Returns false if the file was lost.
    fn restore_power(&self) -> bool {
        self.sqlite.as_ref().is_none_or(|sqlite| {
            sqlite.cut_power();
            sqlite.switch_on()
        })
    }

    /// Runs one server on its own tokio runtime, which is dropped with all its tasks at the end.
    fn run_server(&mut self, number: usize) {
        let server_plan = self.plan.servers[number];
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let tokio = tokio.expect("a tokio runtime");
        let now = tokio.block_on(async {
            self.log.begin();
            self.log.note(SimEvent::ServerBegan { wall: self.wall });
            let clock = Clock::starting(self.wall);
            let crash = self.disk.next_server(server_plan.crashes_per_thousand);
            if let Some(sqlite) = &self.sqlite {
                sqlite.next_server(crash.clone(), server_plan.power_fails);
            }
            let last = number + 1 == self.plan.servers.len();
            tokio::select! {
                biased;
                () = crash.cancelled() => self.log.note(SimEvent::ServerEnded { clean: false }),
                () = self.serve(number, server_plan, clock, last) => {}
            }
            self.log.end();
            clock.now()
        });
        drop(tokio);
        self.log.sort_drops();
        self.wall = now.shifted(server_plan.away);
    }

    async fn serve(&self, number: usize, server_plan: ServerPlan, clock: Clock, last: bool) {
        let started = tokio::time::Instant::now();
        let disk_faults = async {
            if self.disk.is_faulty() {
                tokio::time::sleep(server_plan.remaining_faults).await;
                self.disk.set_faulty(false);
            }
            if let Some((from, length)) = server_plan.fault_period {
                tokio::time::sleep(from).await;
                self.disk.set_faulty(true);
                tokio::time::sleep(length).await;
                self.disk.set_faulty(false);
            }
            std::future::pending().await
        };
        let servers_and_clients = async {
            let server = loop {
                if let Some(server) = self.open(number, clock).await {
                    break server;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            };
            for client in &self.clients {
                let (client, shared) = (Arc::clone(client), Arc::clone(&server));
                server.spawn(async move { client.lock().await.run(&shared).await });
            }
            let lister = Arc::clone(&server);
            server.spawn(async move { lister.follow_list(&format!("list{number}")).await });
            tokio::time::sleep_until(started + server_plan.length).await;
            if last {
                self.end_all_games_and_rooms(&server).await;
            }
            let clean = server_plan.clean && server.stop().await;
            self.log.note(SimEvent::ServerEnded { clean });
        };
        tokio::select! {
            biased;
            () = disk_faults => {}
            () = servers_and_clients => {}
        }
    }

    async fn open(&self, number: usize, clock: Clock) -> Option<Arc<SimServer>> {
        let over_grpc = self.plan.transport == Transport::Grpc;
        let parts = Parts {
            limits: self.plan.limits,
            clock,
            random: RandomSource::seeded(Rng::seeded(self.plan.seed, 10 + number as u64).bits()),
            ai_threads: Some(0),
            ..Parts::new(self.disk.store(), if over_grpc { reversi::grpc::encode } else { encode })
        };
        let runtime = Runtime::start(parts).await;
        self.log.note(SimEvent::ServerStarted(runtime.is_ok()));
        let runtime = runtime.ok()?;
        let server = SimServer {
            grpc: over_grpc.then(|| GrpcServer::start(runtime.clone())),
            runtime,
            log: Arc::clone(&self.log),
            known: Arc::clone(&self.known),
            read_only: CancellationToken::new(),
            leave: CancellationToken::new(),
            tasks: TaskTracker::new(),
            list: Default::default(),
        };
        Some(Arc::new(server))
    }

    /// Waits until all games have ended, then until all rooms are closed.
    async fn end_all_games_and_rooms(&self, server: &Arc<SimServer>) {
        server.read_only.cancel();
        tokio::time::sleep(GAMES_END).await;
        self.audit(server, false).await;
        server.leave.cancel();
        server.tasks.close();
        server.tasks.wait().await;
        for client in &self.clients {
            client.lock().await.disconnect();
        }
        tokio::time::sleep(ROOMS_CLOSE).await;
        self.audit(server, true).await;
    }

    async fn audit(&self, server: &SimServer, players_gone: bool) {
        let census = server.runtime.census();
        let known = self.known.players();
        let holdings = known.iter().filter_map(|&id| {
            let player = server.runtime.players().get(id)?;
            Some((id, player.rooms(), player.seats()))
        });
        self.log.note(SimEvent::Audited(Box::new(Audit {
            players_gone,
            wall: server.runtime.clock().now(),
            rooms: census.rooms,
            games: census.games,
            lists: vec![server.runtime.lobby.page(&RowFilter::default(), None, usize::MAX).await],
            updated_list: server.updated_list().filter(|_| !players_gone),
            holdings: holdings.collect(),
        })));
    }
}

/// Watchers get the stored form.
pub(crate) fn encode(event: &Event, _: &Room) -> Bytes {
    stored::encode_event(event).into()
}
