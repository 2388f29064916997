//! One measurement: a server, its load, and the time in which it counts.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use anyhow::Context as _;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Load,
    bot_pair::{Manner, Pair},
    connection::{Lines, Player},
    counters::Tally,
    fixed_game::Book,
    report::Figures,
    server_process::{Process, Target, Usage},
    violation::Fault,
    watchers::Gallery,
};
use crate::{cli::terminal::progress::Progress, proto::v1};

/// Bots that log in, or watchers that begin, at once.
const AT_ONCE: usize = 64;

/// How long the last moves may be on their way. Slower is lost.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked how far the rest has come.
const GLANCE: Duration = Duration::from_millis(20);

/// Tasks of the load. One that ends before it is stopped has failed.
type Tasks = JoinSet<anyhow::Result<()>>;

/// Starts the target, loads it, and tells what was measured. `cut` ends the measured time at once.
pub(super) async fn measure(
    load: &Load,
    target: &Target,
    progress: &Progress,
    cut: &CancellationToken,
) -> anyhow::Result<Figures> {
    progress.wait_for(format!("{target}: starting"));
    let stage = Stage::start(load, target).await?;
    tokio::select! {
        figures = stage.run(progress, cut) => figures.with_context(|| target.to_string()),
        () = never_begun(&stage, cut) => anyhow::bail!("interrupted before anything was measured"),
    }
}

/// Waits for a cut where nothing would be measured by it.
async fn never_begun(stage: &Stage<'_>, cut: &CancellationToken) {
    cut.cancelled().await;
    if stage.began.is_cancelled() {
        std::future::pending::<()>().await;
    }
}

/// A server with its load.
struct Stage<'a> {
    load: &'a Load,
    process: Process,
    lines: Arc<Lines>,
    host: Player,
    tally: Arc<Tally>,
    stop: CancellationToken,
    /// That the measured time has begun.
    began: CancellationToken,
    first_answer: Duration,
}

/// Memory of the server, as more and more is there.
#[derive(Default)]
struct Memory {
    start: Option<u64>,
    /// With all bots seated.
    seated: Option<u64>,
    /// With the rooms of AIs.
    furnished: Option<u64>,
    /// With all watchers.
    watched: Option<u64>,
    /// After the measured time.
    played: Option<u64>,
}

/// What both sides had taken at a moment.
struct Moment {
    at: Instant,
    server: Option<Usage>,
    own: Option<Usage>,
}

impl<'a> Stage<'a> {
    async fn start(load: &'a Load, target: &Target) -> anyhow::Result<Self> {
        let process = Process::start(target, load.server_cpus.as_deref()).await?;
        let lines = Lines::open(&process.url, 1).await?;
        let host = Player::log_in(lines.get(0).await?, "host 0").await?;
        let first_answer = process.began.elapsed();
        let lines = Lines::open(&process.url, if load.own_connections { 0 } else { load.connections }).await?;
        Ok(Self {
            load,
            process,
            lines: Arc::new(lines),
            host,
            tally: Arc::new(Tally::new(load.moves)),
            stop: CancellationToken::new(),
            began: CancellationToken::new(),
            first_answer,
        })
    }

    async fn run(&self, progress: &Progress, cut: &CancellationToken) -> anyhow::Result<Figures> {
        let mut memory = Memory { start: self.resident(), ..Memory::default() };
        let pairs = self.seat(progress).await?;
        memory.seated = self.resident();
        let mut tasks = Tasks::new();
        let done = CancellationToken::new();
        let ai_rooms = self.make_ai_rooms().await?;
        memory.furnished = self.resident();
        let rooms = pairs.iter().map(|pair| &pair.room).chain(&ai_rooms).take(self.load.watched).cloned();
        let mut guests: Vec<Player> = pairs.iter().flat_map(Pair::players).collect();
        let galleries = self.fill(rooms.collect(), &mut tasks, &mut guests, &done, progress).await?;
        memory.watched = self.resident();

        let mut playing = Tasks::new();
        let begun = self.begin(pairs, &galleries, &mut playing);
        for room in &ai_rooms {
            let request = v1::StartGameRequest { room_id: room.clone(), ..Default::default() };
            self.host.rooms().start_game(self.host.request(request)).await?;
        }
        progress.begin("beginning games", self.load.rooms as u64);
        tokio::select! {
            Some(ended) = playing.join_next() => early(ended)?,
            Some(ended) = tasks.join_next() => early(ended)?,
            () = begun => {}
        }
        let [first, last] = self.count(&mut playing, &mut tasks, progress, cut).await?;
        self.rest(&mut playing, &galleries).await?;
        memory.played = self.resident();
        done.cancel();
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        if self.process.runs_on() {
            for guest in guests.into_iter().chain([self.host.clone()]) {
                guest.log_out().await?;
            }
        }
        Ok(self.figures(&first, &last, &memory))
    }

    fn resident(&self) -> Option<u64> {
        self.process.usage().map(|usage| usage.resident)
    }

    /// Seats all bots.
    async fn seat(&self, progress: &Progress) -> anyhow::Result<Vec<Pair>> {
        progress.begin("seating bots", self.load.rooms as u64);
        let (mut pairs, mut seating) = (Vec::new(), JoinSet::new());
        for number in 0..self.load.rooms {
            if seating.len() == AT_ONCE {
                pairs.push(seated(&mut seating).await?);
                progress.reach(pairs.len() as u64);
            }
            seating.spawn(Pair::seat(Arc::clone(&self.lines), number, self.load.unary));
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

    /// Lets watchers in, the same number in each of these rooms.
    async fn fill(
        &self,
        rooms: Vec<String>,
        tasks: &mut Tasks,
        guests: &mut Vec<Player>,
        done: &CancellationToken,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Arc<Gallery>>> {
        let load = self.load;
        if load.watchers == 0 {
            return Ok(Vec::new());
        }
        progress.begin("letting watchers in", load.watchers as u64);
        let lines = Lines::open(&self.process.url, load.watch_connections).await?;
        let (each, more) = (load.watchers / rooms.len(), load.watchers % rooms.len());
        let mut galleries = Vec::new();
        for (number, room) in rooms.into_iter().enumerate() {
            let watchers = each + usize::from(number < more);
            let gallery = Arc::new(Gallery::new(room, watchers, load.in_step, Arc::clone(&self.tally)));
            // One player for all watchers of a room on one connection.
            let players = watchers.min(load.watch_connections);
            for of_room in 0..players {
                let channel = lines.get(number + of_room).await?;
                let player = Player::log_in(channel, &format!("watcher {number}.{of_room}")).await?;
                for _ in 0..(watchers - of_room).div_ceil(players) {
                    let (gallery, player, done) = (Arc::clone(&gallery), player.clone(), done.clone());
                    tasks.spawn(async move { gallery.watch(player, done).await });
                }
                guests.push(player);
            }
            tokio::select! {
                () = gallery.all_begun() => {}
                Some(ended) = tasks.join_next() => early(ended)?,
            }
            galleries.push(gallery);
            progress.reach((each * galleries.len()) as u64);
        }
        Ok(galleries)
    }

    /// Lets the bots play, or sit there. What it gives waits until all play.
    fn begin(
        &self,
        pairs: Vec<Pair>,
        galleries: &[Arc<Gallery>],
        playing: &mut Tasks,
    ) -> impl Future<Output = ()> + use<> {
        let manner = Arc::new(Manner {
            book: Arc::new(Book::new()),
            tally: Arc::clone(&self.tally),
            pace: Duration::from_secs_f64(self.load.pace),
            stop: self.stop.clone(),
            begun: watch::Sender::new(0),
        });
        let wanted = if self.load.idle { 0 } else { pairs.len() };
        let mut begun = manner.begun.subscribe();
        let rooms = u32::try_from(pairs.len().max(1)).unwrap_or(u32::MAX);
        for (number, pair) in (0..).zip(pairs) {
            if self.load.idle {
                playing.spawn(pair.idle(self.stop.clone()));
                continue;
            }
            // Spread over the time of a move.
            let later = manner.pace * number / rooms;
            let gallery = galleries.get(pair.number).cloned();
            playing.spawn(pair.play(Arc::clone(&manner), gallery, later));
        }
        async move {
            // Its sender lives as long as there are bots.
            let _ = begun.wait_for(|&begun| begun >= wanted).await;
        }
    }

    /// Warms up, measures, and gives the two ends of the measured time.
    async fn count(
        &self,
        playing: &mut Tasks,
        watching: &mut Tasks,
        progress: &Progress,
        cut: &CancellationToken,
    ) -> anyhow::Result<[Moment; 2]> {
        progress.wait_for("warming up".to_owned());
        let (warm_up, seconds) = (self.load.warm_up, self.load.seconds);
        self.wait(warm_up, playing, watching, progress, cut).await?;
        let first = self.moment();
        self.began.cancel();
        self.tally.measure(true);
        progress.begin("measuring", (seconds * 10.0) as u64);
        self.wait(seconds, playing, watching, progress, cut).await?;
        self.tally.measure(false);
        let last = self.moment();
        progress.wait_for("waiting for the last moves".to_owned());
        Ok([first, last])
    }

    /// Waits so long, unless it is enough before.
    async fn wait(
        &self,
        seconds: f64,
        playing: &mut Tasks,
        watching: &mut Tasks,
        progress: &Progress,
        cut: &CancellationToken,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        let end = began + Duration::from_secs_f64(seconds);
        loop {
            tokio::select! {
                biased;
                Some(ended) = playing.join_next() => early(ended)?,
                Some(ended) = watching.join_next() => early(ended)?,
                () = cut.cancelled() => return Ok(()),
                () = self.tally.enough.notified() => return Ok(()),
                () = tokio::time::sleep_until(end) => return Ok(()),
                () = sleep(GLANCE * 10) => progress.reach((began.elapsed().as_secs_f64() * 10.0) as u64),
            }
        }
    }

    /// Stops the bots, and waits until each move that was sent is acknowledged and told to all.
    async fn rest(&self, playing: &mut Tasks, galleries: &[Arc<Gallery>]) -> anyhow::Result<()> {
        self.stop.cancel();
        let rested = timeout(PATIENCE, async {
            while let Some(ended) = playing.join_next().await {
                ended??;
            }
            anyhow::Ok(())
        });
        match rested.await {
            Ok(rested) => rested?,
            Err(_) => return Err(Fault::Lost(playing.len()).into()),
        }
        if self.load.ai_rooms > 0 {
            // Nobody stops them.
            return Ok(());
        }
        let told = async {
            while !galleries.iter().all(|gallery| gallery.is_settled()) {
                sleep(GLANCE).await;
            }
        };
        let unsettled = || galleries.iter().filter(|gallery| !gallery.is_settled()).count();
        timeout(PATIENCE, told).await.map_err(|_| Fault::Lost(unsettled()).into())
    }

    fn moment(&self) -> Moment {
        Moment { at: Instant::now(), server: self.process.usage(), own: Usage::own() }
    }

    fn figures(&self, first: &Moment, last: &Moment, memory: &Memory) -> Figures {
        let (load, tally) = (self.load, &self.tally);
        let seconds = (last.at - first.at).as_secs_f64();
        let moves = tally.moves() as f64;
        let cpu = |usage: fn(&Moment) -> Option<Usage>| {
            Some(usage(last)?.cpu.saturating_sub(usage(first)?.cpu).as_secs_f64())
        };
        let (server, own) = (cpu(|moment| moment.server), cpu(|moment| moment.own));
        let mut figures = Figures::default();
        figures.add("seconds", Some(seconds));
        figures.add("first_answer_ms", millis(Some(self.first_answer)));
        figures.add("moves", Some(moves));
        figures.add("moves_per_second", Some(moves / seconds));
        figures.add("turn_p50_ms", millis(tally.turns.percentile(50)));
        figures.add("turn_p99_ms", millis(tally.turns.percentile(99)));
        figures.add("turn_max_ms", millis(tally.turns.longest()));
        figures.add("server_cores", server.map(|cpu| cpu / seconds));
        figures.add("server_cpu_s_per_1000_moves", server.map(|cpu| cpu * 1e3 / moves));
        figures.add("load_cpu_s_per_1000_moves", own.map(|cpu| cpu * 1e3 / moves));
        if load.watchers > 0 {
            let deliveries = tally.deliveries.load(Relaxed) as f64;
            figures.add("deliveries", Some(deliveries));
            figures.add("deliveries_per_second", Some(deliveries / seconds));
            figures.add("server_cpu_s_per_1000_deliveries", server.map(|cpu| cpu * 1e3 / deliveries));
            figures.add("last_watcher_p50_ms", millis(tally.last_watchers.percentile(50)));
            figures.add("last_watcher_p99_ms", millis(tally.last_watchers.percentile(99)));
            figures.add("last_watcher_max_ms", millis(tally.last_watchers.longest()));
            figures.add("snapshots_for_lag", Some(tally.snapshots.load(Relaxed) as f64));
        }
        memory.tell(load, &mut figures);
        figures
    }
}

impl Memory {
    fn tell(&self, load: &Load, figures: &mut Figures) {
        let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1_048_576.0);
        let each = |after: Option<u64>, before: Option<u64>, number: usize| {
            Some((after? as f64 - before? as f64) / 1_024.0 / number as f64)
        };
        figures.add("memory_start_mib", mib(self.start));
        figures.add("memory_kib_per_room", each(self.seated, self.start, load.rooms));
        figures.add("memory_kib_per_stream", each(self.seated, self.start, 2 * load.rooms));
        figures.add("memory_kib_per_ai_room", each(self.furnished, self.seated, load.ai_rooms));
        // Others would count as the rooms'.
        let played = self.played.filter(|_| load.watchers + load.ai_rooms == 0);
        figures.add("memory_kib_per_room_played", each(played, self.start, load.rooms));
        figures.add("memory_kib_per_watcher", each(self.watched, self.furnished, load.watchers));
        figures.add("memory_end_mib", mib(self.played));
    }
}

fn millis(time: Option<Duration>) -> Option<f64> {
    time.map(|time| time.as_secs_f64() * 1e3)
}

async fn seated(seating: &mut JoinSet<anyhow::Result<Pair>>) -> anyhow::Result<Pair> {
    seating.join_next().await.context("nobody is being seated")??
}

/// What ends before it is stopped has failed.
fn early(ended: Result<anyhow::Result<()>, tokio::task::JoinError>) -> anyhow::Result<()> {
    ended??;
    Err(Fault::Ended.into())
}
