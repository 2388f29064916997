//! One measurement: a server, its load, and the measured time.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use anyhow::Context as _;
use reversi::proto::v1;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    bot_pair::{BotPair, PairOptions},
    connection::{BenchPlayer, Connections},
    counters::Counters,
    fixed_game::FixedGame,
    load::Load,
    progress::Progress,
    report::Figures,
    server_process::{Target, TargetProcess, Usage},
    violation::Violation,
    watchers::WatchedRoom,
};

/// Bots that log in concurrently.
const CONCURRENT_LOG_INS: usize = 64;

/// The wait for the last moves, after which they count as lost.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval at which completion is polled.
const POLL: Duration = Duration::from_millis(20);

/// Tasks of the load. One that ends before the stop has failed.
type Tasks = JoinSet<anyhow::Result<()>>;

/// Starts the target, loads it, and returns the figures. `cut` ends the measured time at once.
pub(crate) async fn measure(
    load: &Load,
    target: &Target,
    progress: &Progress,
    cut: &CancellationToken,
) -> anyhow::Result<Figures> {
    progress.wait_for(format!("{target}: starting"));
    let mut measurement = Measurement::start(load, target, progress, cut).await?;
    let began = measurement.began.clone();
    tokio::select! {
        figures = measurement.run() => figures.with_context(|| target.to_string()),
        () = cut_before_measurement(&began, cut) => anyhow::bail!("interrupted before anything was measured"),
    }
}

/// Completes on a cut before the measured time.
async fn cut_before_measurement(began: &CancellationToken, cut: &CancellationToken) {
    cut.cancelled().await;
    if began.is_cancelled() {
        std::future::pending::<()>().await;
    }
}

struct Measurement<'a> {
    load: &'a Load,
    progress: &'a Progress,
    cut: &'a CancellationToken,
    playing: Tasks,
    watching: Tasks,
    /// All players except the host.
    guests: Vec<BenchPlayer>,
    watched_rooms: Vec<Arc<WatchedRoom>>,
    process: TargetProcess,
    connections: Arc<Connections>,
    host: BenchPlayer,
    counters: Arc<Counters>,
    stop: CancellationToken,
    /// Cancelled when the measured time begins.
    began: CancellationToken,
    first_answer: Duration,
}

/// Memory of the server at each phase, in bytes.
#[derive(Default)]
struct MemorySamples {
    start: Option<u64>,
    /// After all bots are seated.
    seated: Option<u64>,
    /// After the rooms of AIs are made.
    furnished: Option<u64>,
    /// After all watchers have joined.
    watched: Option<u64>,
    /// After the measured time.
    played: Option<u64>,
}

/// CPU time and memory of server and bench at one moment.
struct UsageSample {
    at: Instant,
    server: Option<Usage>,
    own: Option<Usage>,
}

impl<'a> Measurement<'a> {
    async fn start(
        load: &'a Load,
        target: &Target,
        progress: &'a Progress,
        cut: &'a CancellationToken,
    ) -> anyhow::Result<Self> {
        let process = TargetProcess::start(target, load.server_cpus.as_deref()).await?;
        let connections = Connections::open(&process.url, 1).await?;
        let host = BenchPlayer::log_in(connections.get(0).await?, "host 0").await?;
        let first_answer = process.began.elapsed();
        let connections =
            Connections::open(&process.url, if load.own_connections { 0 } else { load.connections }).await?;
        Ok(Self {
            load,
            progress,
            cut,
            playing: Tasks::new(),
            watching: Tasks::new(),
            guests: Vec::new(),
            watched_rooms: Vec::new(),
            process,
            connections: Arc::new(connections),
            host,
            counters: Arc::new(Counters::new(load.moves)),
            stop: CancellationToken::new(),
            began: CancellationToken::new(),
            first_answer,
        })
    }

    async fn run(&mut self) -> anyhow::Result<Figures> {
        let mut memory = MemorySamples { start: self.resident(), ..MemorySamples::default() };
        let pairs = self.seat().await?;
        memory.seated = self.resident();
        let ai_rooms = self.make_ai_rooms().await?;
        memory.furnished = self.resident();
        let rooms = pairs.iter().map(|pair| &pair.room).chain(&ai_rooms).take(self.load.watched).cloned();
        self.guests = pairs.iter().flat_map(BotPair::players).collect();
        let done = CancellationToken::new();
        self.start_watchers(rooms.collect(), &done).await?;
        memory.watched = self.resident();

        let started = self.begin(pairs);
        for room in &ai_rooms {
            let request = v1::StartGameRequest { room_id: room.clone(), ..Default::default() };
            self.host.rooms().start_game(self.host.request(request)).await?;
        }
        self.progress.begin_phase("beginning games", self.load.rooms as u64);
        tokio::select! {
            Some(ended) = self.playing.join_next() => ended_early(ended)?,
            Some(ended) = self.watching.join_next() => ended_early(ended)?,
            () = started => {}
        }
        let [first, last] = self.count().await?;
        self.stop_and_drain().await?;
        memory.played = self.resident();
        done.cancel();
        while let Some(ended) = self.watching.join_next().await {
            ended??;
        }
        if self.process.runs_on() {
            for guest in self.guests.drain(..).chain([self.host.clone()]) {
                guest.log_out().await?;
            }
        }
        Ok(self.figures(&first, &last, &memory))
    }

    fn resident(&self) -> Option<u64> {
        self.process.usage().map(|usage| usage.resident)
    }

    async fn seat(&self) -> anyhow::Result<Vec<BotPair>> {
        self.progress.begin_phase("seating bots", self.load.rooms as u64);
        let (mut pairs, mut seating) = (Vec::new(), JoinSet::new());
        for number in 0..self.load.rooms {
            if seating.len() == CONCURRENT_LOG_INS {
                pairs.push(seated(&mut seating).await?);
                self.progress.set_position(pairs.len() as u64);
            }
            seating.spawn(BotPair::seat(Arc::clone(&self.connections), number, self.load.unary));
        }
        while !seating.is_empty() {
            pairs.push(seated(&mut seating).await?);
        }
        pairs.sort_unstable_by_key(|pair| pair.number);
        Ok(pairs)
    }

    /// Makes rooms in which AIs play each other.
    async fn make_ai_rooms(&self) -> anyhow::Result<Vec<String>> {
        let mut rooms = Vec::new();
        for _ in 0..self.load.ai_rooms {
            let pause = prost_types::Duration { seconds: 0, nanos: i32::from(self.load.ai_pause) * 1_000_000 };
            let settings = v1::RoomSettings { games: 1_000, ai_pause: Some(pause), ..Default::default() };
            let seat = || {
                let ai = v1::AiSeat { kind: self.load.ai.clone(), level: 0, seed: 0 };
                v1::Seat { occupant: Some(v1::seat::Occupant::Ai(ai)), ..Default::default() }
            };
            rooms.push(self.host.create(settings, [seat(), seat()]).await?);
        }
        Ok(rooms)
    }

    /// Starts the watchers, spread evenly over `rooms`.
    async fn start_watchers(&mut self, rooms: Vec<String>, done: &CancellationToken) -> anyhow::Result<()> {
        let load = self.load;
        if load.watchers == 0 {
            return Ok(());
        }
        self.progress.begin_phase("letting watchers in", load.watchers as u64);
        let connections = Connections::open(&self.process.url, load.watch_connections).await?;
        let (each, more) = (load.watchers / rooms.len(), load.watchers % rooms.len());
        for (number, room) in rooms.into_iter().enumerate() {
            let watchers = each + usize::from(number < more);
            let watched_room = Arc::new(WatchedRoom::new(room, watchers, load.in_step, Arc::clone(&self.counters)));
            // One player for all watchers of a room on one connection.
            let players = watchers.min(load.watch_connections);
            for of_room in 0..players {
                let channel = connections.get(number + of_room).await?;
                let player = BenchPlayer::log_in(channel, &format!("watcher {number}.{of_room}")).await?;
                for _ in 0..(watchers - of_room).div_ceil(players) {
                    let (watched_room, player, done) = (Arc::clone(&watched_room), player.clone(), done.clone());
                    self.watching.spawn(async move { watched_room.watch(player, done).await });
                }
                self.guests.push(player);
            }
            tokio::select! {
                () = watched_room.all_started() => {}
                Some(ended) = self.watching.join_next() => ended_early(ended)?,
            }
            self.watched_rooms.push(watched_room);
            self.progress.set_position((each * self.watched_rooms.len()) as u64);
        }
        Ok(())
    }

    /// Lets the bots play, or sit idle. The returned future waits until all play.
    fn begin(&mut self, pairs: Vec<BotPair>) -> impl Future<Output = ()> + use<> {
        let options = Arc::new(PairOptions {
            fixed_game: Arc::new(FixedGame::new()),
            counters: Arc::clone(&self.counters),
            pace: Duration::from_secs_f64(self.load.pace),
            stop: self.stop.clone(),
            started: watch::Sender::new(0),
        });
        let wanted = if self.load.idle { 0 } else { pairs.len() };
        let mut started = options.started.subscribe();
        let rooms = u32::try_from(pairs.len().max(1)).unwrap_or(u32::MAX);
        for (number, pair) in (0..).zip(pairs) {
            if self.load.idle {
                self.playing.spawn(pair.idle(self.stop.clone()));
                continue;
            }
            // Spreads the rooms' moves evenly in time.
            let delay = options.pace * number / rooms;
            let watched_room = self.watched_rooms.get(pair.number).cloned();
            self.playing.spawn(pair.play(Arc::clone(&options), watched_room, delay));
        }
        async move {
            // Fails only when all bots have ended.
            let _ = started.wait_for(|&started| started >= wanted).await;
        }
    }

    /// Warms up, measures, and returns the usage at both ends of the measured time.
    async fn count(&mut self) -> anyhow::Result<[UsageSample; 2]> {
        self.progress.wait_for("warming up".to_owned());
        self.wait(self.load.warm_up).await?;
        let first = self.sample();
        self.began.cancel();
        self.counters.measure(true);
        self.progress.begin_phase("measuring", (self.load.seconds * 10.0) as u64);
        self.wait(self.load.seconds).await?;
        self.counters.measure(false);
        let last = self.sample();
        self.progress.wait_for("waiting for the last moves".to_owned());
        Ok([first, last])
    }

    /// Waits `seconds`, or until enough moves are counted.
    async fn wait(&mut self, seconds: f64) -> anyhow::Result<()> {
        let began = Instant::now();
        let end = began + Duration::from_secs_f64(seconds);
        loop {
            tokio::select! {
                biased;
                Some(ended) = self.playing.join_next() => ended_early(ended)?,
                Some(ended) = self.watching.join_next() => ended_early(ended)?,
                () = self.cut.cancelled() => return Ok(()),
                () = self.counters.enough.notified() => return Ok(()),
                () = tokio::time::sleep_until(end) => return Ok(()),
                () = sleep(POLL * 10) => self.progress.set_position((began.elapsed().as_secs_f64() * 10.0) as u64),
            }
        }
    }

    /// Stops the bots, and waits until every move is acknowledged and received by all watchers.
    async fn stop_and_drain(&mut self) -> anyhow::Result<()> {
        self.stop.cancel();
        let rested = timeout(DRAIN_TIMEOUT, async {
            while let Some(ended) = self.playing.join_next().await {
                ended??;
            }
            anyhow::Ok(())
        });
        match rested.await {
            Ok(rested) => rested?,
            Err(_) => return Err(Violation::Lost(self.playing.len()).into()),
        }
        if self.load.ai_rooms > 0 {
            // AIs do not stop.
            return Ok(());
        }
        let incomplete = || self.watched_rooms.iter().filter(|watched_room| !watched_room.is_complete()).count();
        let all_received = async {
            while incomplete() > 0 {
                sleep(POLL).await;
            }
        };
        timeout(DRAIN_TIMEOUT, all_received).await.map_err(|_| Violation::Lost(incomplete()).into())
    }

    fn sample(&self) -> UsageSample {
        UsageSample { at: Instant::now(), server: self.process.usage(), own: Usage::own() }
    }

    fn figures(&self, first: &UsageSample, last: &UsageSample, memory: &MemorySamples) -> Figures {
        let (load, counters) = (self.load, &self.counters);
        let seconds = (last.at - first.at).as_secs_f64();
        let moves = counters.moves() as f64;
        let cpu = |usage: fn(&UsageSample) -> Option<Usage>| {
            Some(usage(last)?.cpu.saturating_sub(usage(first)?.cpu).as_secs_f64())
        };
        let (server, own) = (cpu(|sample| sample.server), cpu(|sample| sample.own));
        let mut figures = Figures::default();
        figures.add("seconds", Some(seconds));
        figures.add("first_answer_ms", millis(Some(self.first_answer)));
        figures.add("moves", Some(moves));
        figures.add("moves_per_second", Some(moves / seconds));
        figures.add("turn_p50_ms", millis(counters.turns.percentile(50)));
        figures.add("turn_p99_ms", millis(counters.turns.percentile(99)));
        figures.add("turn_max_ms", millis(counters.turns.longest()));
        figures.add("server_cores", server.map(|cpu| cpu / seconds));
        figures.add("server_cpu_s_per_1000_moves", server.map(|cpu| cpu * 1e3 / moves));
        figures.add("load_cpu_s_per_1000_moves", own.map(|cpu| cpu * 1e3 / moves));
        if load.watchers > 0 {
            let deliveries = counters.deliveries.load(Relaxed) as f64;
            figures.add("deliveries", Some(deliveries));
            figures.add("deliveries_per_second", Some(deliveries / seconds));
            figures.add("server_cpu_s_per_1000_deliveries", server.map(|cpu| cpu * 1e3 / deliveries));
            figures.add("last_watcher_p50_ms", millis(counters.last_watchers.percentile(50)));
            figures.add("last_watcher_p99_ms", millis(counters.last_watchers.percentile(99)));
            figures.add("last_watcher_max_ms", millis(counters.last_watchers.longest()));
            figures.add("snapshots_for_lag", Some(counters.snapshots.load(Relaxed) as f64));
        }
        memory.add_to(load, &mut figures);
        figures
    }
}

impl MemorySamples {
    fn add_to(&self, load: &Load, figures: &mut Figures) {
        let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1_048_576.0);
        let each = |after: Option<u64>, before: Option<u64>, number: usize| {
            Some((after? as f64 - before? as f64) / 1_024.0 / number as f64)
        };
        figures.add("memory_start_mib", mib(self.start));
        figures.add("memory_kib_per_room", each(self.seated, self.start, load.rooms));
        figures.add("memory_kib_per_stream", each(self.seated, self.start, 2 * load.rooms));
        figures.add("memory_kib_per_ai_room", each(self.furnished, self.seated, load.ai_rooms));
        // Watchers and AI rooms would count as the rooms' memory.
        let played = self.played.filter(|_| load.watchers + load.ai_rooms == 0);
        figures.add("memory_kib_per_room_played", each(played, self.start, load.rooms));
        figures.add("memory_kib_per_watcher", each(self.watched, self.furnished, load.watchers));
        figures.add("memory_end_mib", mib(self.played));
    }
}

fn millis(time: Option<Duration>) -> Option<f64> {
    time.map(|time| time.as_secs_f64() * 1e3)
}

async fn seated(seating: &mut JoinSet<anyhow::Result<BotPair>>) -> anyhow::Result<BotPair> {
    seating.join_next().await.context("no bot is being seated")??
}

/// A task that ends before the stop has failed.
fn ended_early(ended: Result<anyhow::Result<()>, tokio::task::JoinError>) -> anyhow::Result<()> {
    ended??;
    Err(Violation::Ended.into())
}
