//! One process of the cluster: a runtime, its connection to the database, and its membership.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use reversi::{
    runtime::{Clock, Parts, RandomSource, Runtime},
    store::ClusterStore,
};
use tokio::time::{Instant, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    connection::Connection,
    database::ModelDatabase,
    wire::{SimPeers, Wire},
    world::World,
};
use crate::sim::{rng::Rng, server::SimServer, simulation::encode};

/// The interval at which a node looks at the database; it renews its lease at every second one.
const BEAT: Duration = Duration::from_millis(250);

/// The largest difference between the clock of a machine and the right time, in either direction: two of them differ by
/// at most what nodes with rooms may differ from the database.
const MAX_AHEAD: Duration = Duration::from_millis(2_500);

#[derive(Clone)]
pub(super) struct Process {
    pub(super) number: usize,
    pub(super) server: Arc<SimServer>,
    pub(super) connection: Arc<Connection>,
    /// How far its clock is ahead, in microseconds.
    ahead: i64,
    is_draining: Arc<AtomicBool>,
    wire: Arc<Wire>,
    gone: CancellationToken,
}

impl Process {
    /// Starts with a clock that is ahead by these microseconds, or by some that do not matter.
    pub(super) async fn start(world: &World, number: usize, ahead: Option<i64>) -> Self {
        let World { seed, database, wire, log, .. } = world;
        let rng = |purpose| Rng::seeded(*seed, purpose + number as u64);
        let ahead = ahead.unwrap_or_else(|| rng(500).signed_micros(MAX_AHEAD));
        let id = database.join(number, ahead);
        let connection = Connection::new(Arc::clone(database), id, ahead, rng(200));
        let peers = Arc::new(SimPeers { wire: Arc::clone(wire), process: number });
        let parts = Parts {
            limits: world.limits,
            clock: Clock::starting(world.clock.now().shifted(ahead)),
            random: RandomSource::seeded(rng(300).bits()),
            ai_threads: Some(0),
            cluster: Some((id, peers)),
            ..Parts::new(connection.store(), encode)
        };
        let runtime = Runtime::start(parts).await.expect("a node that reads nothing at its start");
        let node = runtime.node();
        let server = Arc::new(SimServer {
            grpc: None,
            runtime,
            log: Arc::clone(log),
            known: Arc::clone(&world.known),
            read_only: world.read_only.clone(),
            leave: CancellationToken::new(),
            tasks: TaskTracker::new(),
            list: Default::default(),
        });
        wire.add(number, id, node.clone());
        let (is_draining, gone) = (Arc::default(), CancellationToken::new());
        let process = Self { number, server, connection, ahead, is_draining, wire: Arc::clone(wire), gone };
        let (member, gone) = (process.clone(), process.gone.clone());
        let views = node.follow_views(Arc::clone(&process.connection) as Arc<dyn ClusterStore>);
        wire.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = gone.cancelled() => {}
                () = member.be_a_member() => {}
                () = views => {}
            }
        });
        process
    }

    /// The process ends, as far as others notice. What is left of it has no effect.
    pub(super) fn kill(&self) {
        self.connection.end();
        self.wire.remove(self.number);
        self.server.leave.cancel();
        self.gone.cancel();
        let runtime = self.server.runtime.clone();
        self.wire.tasks.spawn(async move { runtime.shut_down(Duration::ZERO).await });
    }

    fn database(&self) -> &Arc<ModelDatabase> {
        &self.connection.database
    }

    /// Gives the shards to other processes, as far as there are any.
    pub(super) fn drain(&self) {
        self.is_draining.store(true, SeqCst);
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.is_draining.load(SeqCst)
    }

    /// True if its clock is so wrong that it never serves.
    pub(super) fn has_wrong_clock(&self) -> bool {
        self.ahead.unsigned_abs() > 2 * MAX_AHEAD.as_micros() as u64
    }

    /// Whether others have all shards.
    pub(super) fn is_drained(&self) -> bool {
        self.connection.views().borrow().is_drained
    }

    async fn be_a_member(&self) {
        let (mut beats, mut seen) = (0_u32, 0);
        loop {
            // Returns early when it is asked to look again.
            let _ = timeout(BEAT, self.connection.look.notified()).await;
            beats += 1;
            let sent = Instant::now();
            if !self.connection.cross().await {
                continue;
            }
            if beats.is_multiple_of(2) && !self.database().renew(self.connection.node()) {
                let id = self.database().join(self.number, self.ahead);
                // Before the runtime knows of it, as in a process that is slow.
                self.connection.rejoin_as(id);
                self.wire.rejoin_as(self.number, id);
            }
            let me = self.connection.node();
            self.database().declare_dead(me);
            let (reached, is_draining) = (self.wire.reached(self.number), self.is_draining.load(SeqCst));
            if let Some(view) = self.database().beat(me, &reached, is_draining, &mut seen) {
                self.connection.see(view);
            }
            if beats.is_multiple_of(2) && self.connection.cross().await {
                self.connection.note_renewal(sent);
            }
        }
    }
}
