//! A world: one disk, the servers that run on it one after another, and their users.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reversi::{
    room::{Event, Room, Timestamp, stored},
    runtime::{Clock, Parts, RandomSource, RowFilter, Runtime},
};
use tokio::sync::Mutex;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::sim::{
    dice::Dice,
    disk::Disk,
    evidence::Evidence,
    moment::{Audit, Log, What},
    person::Person,
    plan::{Life, Plan},
    stage::{Board, SimServer},
};

/// Wall time at the start of a world.
pub(crate) const DAWN: Timestamp = Timestamp(1_800_000_000_000_000);

/// Within this time every game without moves by players is over: three games lost on time, with the AI moves between.
const CALM: Duration = Duration::from_secs(600);

/// Within this time a room without members is closed, even if the clock was set back.
const DESERTION: Duration = Duration::from_secs(600);

/// Maximum time for a server to stop.
const DRAIN: Duration = Duration::from_secs(30);

pub(crate) struct World {
    plan: Plan,
    log: Arc<Log>,
    disk: Arc<Disk>,
    board: Arc<Board>,
    people: Vec<Arc<Mutex<Person>>>,
    wall: Timestamp,
}

impl World {
    /// Simulates a whole world.
    pub(crate) fn play(plan: Plan) -> Evidence {
        let log = Arc::new(Log::new());
        let people = plan.cast.iter().enumerate();
        let mut world = Self {
            disk: Disk::new(Dice::of(plan.seed, 2), Arc::clone(&log)),
            people: people.map(|(who, part)| Arc::new(Mutex::new(Person::new(plan.seed, who, *part)))).collect(),
            board: Arc::default(),
            wall: DAWN,
            log,
            plan,
        };
        for number in 0..world.plan.lives.len() {
            world.live(number);
        }
        Evidence::new(&world.plan, world.log.take(), world.disk.store())
    }

    /// Runs one server on its own tokio runtime, which is dropped with all its tasks at the end.
    fn live(&mut self, number: usize) {
        let life = self.plan.lives[number];
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let tokio = tokio.expect("a tokio runtime");
        let now = tokio.block_on(async {
            self.log.begin();
            self.log.note(What::Began { wall: self.wall });
            let clock = Clock::starting(self.wall);
            let crash = self.disk.next_life(life.deadly);
            let last = number + 1 == self.plan.lives.len();
            tokio::select! {
                biased;
                () = crash.cancelled() => self.log.note(What::Ended { clean: false }),
                () = self.serve(number, life, clock, last) => {}
            }
            self.log.end();
            clock.now()
        });
        drop(tokio);
        self.log.bury();
        self.wall = now.shifted(life.away);
    }

    async fn serve(&self, number: usize, life: Life, clock: Clock, last: bool) {
        let begun = tokio::time::Instant::now();
        let weather = async {
            if self.disk.storms() {
                tokio::time::sleep(life.clearing).await;
                self.disk.set_storm(false);
            }
            if let Some((from, length)) = life.storm {
                tokio::time::sleep(from).await;
                self.disk.set_storm(true);
                tokio::time::sleep(length).await;
                self.disk.set_storm(false);
            }
            std::future::pending().await
        };
        let all = async {
            let stage = loop {
                if let Some(stage) = self.open(number, clock).await {
                    break stage;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            };
            for person in &self.people {
                let (person, on) = (Arc::clone(person), Arc::clone(&stage));
                stage.spawn(async move { person.lock().await.live(&on).await });
            }
            let lister = Arc::clone(&stage);
            stage.spawn(async move { lister.follow_list(&format!("list{number}")).await });
            tokio::time::sleep_until(begun + life.length).await;
            if last {
                self.settle(&stage).await;
            }
            let clean = life.clean && stage.runtime.shut_down(DRAIN).await;
            self.log.note(What::Ended { clean });
        };
        tokio::select! {
            biased;
            () = weather => {}
            () = all => {}
        }
    }

    async fn open(&self, number: usize, clock: Clock) -> Option<Arc<SimServer>> {
        let parts = Parts {
            limits: self.plan.limits,
            clock,
            random: RandomSource::seeded(Dice::of(self.plan.seed, 10 + number as u64).bits()),
            ai_threads: Some(0),
            ..Parts::new(self.disk.store(), encode)
        };
        let runtime = Runtime::start(parts).await;
        self.log.note(What::Started(runtime.is_ok()));
        let stage = SimServer {
            runtime: runtime.ok()?,
            log: Arc::clone(&self.log),
            board: Arc::clone(&self.board),
            calm: CancellationToken::new(),
            gone: CancellationToken::new(),
            crowd: TaskTracker::new(),
            list: Default::default(),
        };
        Some(Arc::new(stage))
    }

    /// Waits until all games have ended, then until all rooms are closed.
    async fn settle(&self, stage: &Arc<SimServer>) {
        stage.calm.cancel();
        tokio::time::sleep(CALM).await;
        self.audit(stage, false);
        stage.gone.cancel();
        stage.crowd.close();
        stage.crowd.wait().await;
        tokio::time::sleep(DESERTION).await;
        self.audit(stage, true);
    }

    fn audit(&self, stage: &SimServer, deserted: bool) {
        let census = stage.runtime.census();
        let known = self.board.players();
        let books = known.iter().filter_map(|&id| {
            let player = stage.runtime.players().get(id)?;
            Some((id, player.rooms(), player.seats()))
        });
        self.log.note(What::Audited(Box::new(Audit {
            deserted,
            wall: stage.runtime.clock().now(),
            rooms: census.rooms,
            games: census.games,
            list: stage.runtime.lobby.page(&RowFilter::default(), None, usize::MAX),
            followed: stage.followed().filter(|_| !deserted),
            books: books.collect(),
        })));
    }
}

/// Watchers get the stored form.
pub(crate) fn encode(event: &Event, _: &Room) -> Bytes {
    stored::encode_event(event).into()
}
