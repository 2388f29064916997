//! The time that pairing, standings and an event take, then an arena of 1,000 players on a server in this process, which
//! stores everything in a file: `cargo bench --bench tournaments`. Prints the median, the 99th percentile and the maximum,
//! in milliseconds, and the memory and CPU time of a player of the arena, without its connection.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails if it cannot be set up, and prints")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reversi::{
    match_statistics::{Points, Score},
    room::{
        Command as RoomCommand, DisplayName, Issuer, Participant, PlayerId, PlayerKind, Profile, RoomName,
        Settings as RoomSettings, Timestamp, TournamentId,
    },
    runtime::{Notice, Parts, Player, Runtime, TournamentNews},
    store::{SqliteStore, Store},
    tournament::{Command, Control, Creation, Format, Outcome, Settings, Tournament, standings_with_strengths},
};

/// Rounds of a tournament in which its time is taken.
const ROUNDS: u8 = 12;
/// Rounds of one with many more, of which the last ones are timed.
const MANY_ROUNDS: u8 = Settings::MAX_ROUNDS;
/// Tournaments for each size, so that there are enough rounds for a 99th percentile.
const TOURNAMENTS: u64 = 10;

const ORGANISER: Issuer = Issuer::Player(PlayerId::from_random(1 << 40));

/// A tournament with its clock.
struct Bench {
    tournament: Tournament,
    now: Timestamp,
}

impl Bench {
    /// A Swiss tournament that has started.
    fn started(entrants: u16, rounds: u8, seed: u64) -> Self {
        let name = RoomName::parse("bench").unwrap();
        let format = Format::Swiss { rounds };
        let settings = Settings {
            max_entrants: entrants,
            max_running: Settings::MAX_ENTRANTS / 2,
            seed,
            ..Settings::new(name.clone(), format, RoomSettings::named(name))
        };
        let organiser = PlayerId::from_random(1 << 40);
        let now = Timestamp(1);
        let creation = Creation { id: TournamentId::from_random(seed), organiser, settings };
        let mut bench = Self { tournament: Tournament::new(creation, now), now };
        for number in 0..u64::from(entrants) {
            let id = PlayerId::from_random(number);
            let name = DisplayName::parse(&format!("p{number}")).unwrap();
            let who = Participant::Player(Profile { id, name, kind: PlayerKind::Bot, engine_version: None });
            let rating = 1_000 + (number * 7 % 1_000) as u16;
            bench.execute(Issuer::Player(id), Command::Join { who, rating, password: None });
        }
        bench.execute(ORGANISER, Command::Control(Control::Start));
        bench
    }

    fn execute(&mut self, issuer: Issuer, command: Command) {
        let events = self.tournament.decide(self.now, issuer, command).unwrap();
        events.iter().for_each(|event| self.tournament.apply(event));
    }

    /// Pairs a round. Returns the time of the decision.
    fn pair(&mut self) -> Duration {
        self.now = self.now.max(self.tournament.deadline().unwrap());
        let began = Instant::now();
        let events = self.tournament.decide(self.now, Issuer::Server, Command::Tick { random: 7 }).unwrap();
        let took = began.elapsed();
        events.iter().for_each(|event| self.tournament.apply(event));
        took
    }

    /// Plays all meetings of the round. Returns the times of standings and strengths after some of the results.
    fn play(&mut self, random: &mut u64) -> Vec<Duration> {
        let mut times = Vec::new();
        let running: Vec<u32> = self.tournament.running().map(|meeting| meeting.pairing.number).collect();
        for number in running {
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut score = Score::default();
            for (index, bit) in [(0, 40), (1, 41)] {
                score.count(index, if *random >> bit & 1 == 0 { Points::Win } else { Points::Loss });
            }
            let outcome = Outcome::Played { score, discs: [64, 64], faults: [None; 2] };
            self.execute(Issuer::Server, Command::Finish { number, outcome });
            if number.is_multiple_of(50) {
                let began = Instant::now();
                let rows = standings_with_strengths(&self.tournament);
                times.push(began.elapsed());
                assert_eq!(rows.len(), self.tournament.entrants().len());
            }
        }
        times
    }
}

/// The players of the arena, and how long each thinks about a move: half of them are to move at any time.
const PLAYERS: usize = 1_000;
const THINKS: Duration = Duration::from_millis(1_000);
/// For how long the arena is measured, once meetings have begun.
const MEASURED: Duration = Duration::from_secs(150);

/// The waits of a player: from the end of a meeting to the next one, and from the decision about that to its notice.
#[derive(Default)]
struct Waits {
    free: Vec<Duration>,
    notice: Vec<Duration>,
}

/// Plays until the time is over.
async fn play(runtime: Runtime, player: Arc<Player>, id: TournamentId, until: tokio::time::Instant) -> Waits {
    let (mut waits, mut free_since) = (Waits::default(), None::<Instant>);
    let mut turns = runtime.streams.turns(&player).await.unwrap();
    while let Ok(notice) = tokio::time::timeout_at(until, turns.next()).await {
        match notice.unwrap() {
            Notice::TurnRequested(turn) => {
                tokio::time::sleep(THINKS).await;
                let square = turn.position.legal_moves().first().unwrap();
                let command = RoomCommand::Play { game: turn.game.number, ply: turn.ply, square, thought: None };
                runtime.rooms.command(&player, turn.game.room, command).await.unwrap();
            }
            Notice::GameEnded { series: None, .. } => free_since = Some(Instant::now()),
            Notice::Tournament { news: TournamentNews::Paired { meeting, .. }, .. } => {
                let now = runtime.clock().now();
                let tournament = runtime.tournaments.get(id).await.unwrap();
                waits.notice.push(now.since(tournament.meeting(meeting).unwrap().opened.unwrap()));
                waits.free.extend(free_since.take().map(|since| since.elapsed()));
            }
            _ => {}
        }
    }
    waits
}

/// The CPU time and the memory of this process, in seconds and KiB.
fn used() -> (f64, f64) {
    let process = procfs::process::Process::myself().unwrap();
    let (stat, status) = (process.stat().unwrap(), process.status().unwrap());
    ((stat.utime + stat.stime) as f64 / procfs::ticks_per_second() as f64, status.vmrss.unwrap() as f64)
}

async fn arena() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::of(SqliteStore::open(folder.path()).unwrap());
    let runtime = Runtime::start(Parts::new(store, reversi::grpc::encode)).await.unwrap();
    let name = RoomName::parse("bench").unwrap();
    let settings = Settings {
        max_entrants: Settings::MAX_ENTRANTS,
        max_running: Settings::MAX_ENTRANTS / 2,
        ..Settings::new(name.clone(), Format::Arena { duration: MEASURED * 10 }, RoomSettings::named(name))
    };
    let before = used();
    let mut players = Vec::new();
    for number in 0..PLAYERS {
        let name = DisplayName::parse(&format!("p{number}")).unwrap();
        players.push(runtime.sessions.log_in(name, PlayerKind::Bot, 1, None, None).await.unwrap().0);
    }
    let id = runtime.tournaments.create(&players[0], settings).await.unwrap().id();
    let began = tokio::time::Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for player in &players {
        running.spawn(play(runtime.clone(), Arc::clone(player), id, began + MEASURED));
    }
    for player in &players {
        runtime.tournaments.join(player, id, None).await.unwrap();
    }
    let start = Command::Control(Control::Start);
    runtime.tournaments.command(id, Issuer::Player(players[0].id()), start).await.unwrap();
    tokio::time::sleep_until(began + MEASURED / 2).await;
    let half = used();
    let mut waits = Waits::default();
    while let Some(of_one) = running.join_next().await {
        let of_one = of_one.unwrap();
        waits.free.extend(of_one.free);
        waits.notice.extend(of_one.notice);
    }
    let after = used();
    report("end of a meeting to the next", waits.free);
    report("decision to its notice", waits.notice);
    let (players, seconds) = (PLAYERS as f64, (MEASURED / 2).as_secs_f64());
    println!("memory of a player: {:.1} KiB", (after.1 - before.1) / players);
    println!("CPU time of a player: {:.3} ms a second", (after.0 - half.0) * 1e3 / players / seconds);
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e3;
    println!("{what:<32} {:>9.3} {:>9.3} {:>9.3}   n = {}", at(50), at(99), at(100), times.len());
}

fn main() {
    println!("{:<32} {:>9} {:>9} {:>9}", "ms", "median", "p99", "max");
    for entrants in [100, 1_000] {
        let (mut pairing, mut standing, mut event) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..TOURNAMENTS {
            let (mut bench, mut random) = (Bench::started(entrants, ROUNDS, seed), seed);
            for _ in 0..ROUNDS {
                pairing.push(bench.pair());
                standing.extend(bench.play(&mut random));
                // The driver changes a copy, since others read the last state.
                let began = Instant::now();
                drop(std::hint::black_box(bench.tournament.clone()));
                event.push(began.elapsed());
            }
        }
        report(&format!("pairing of {entrants}"), pairing);
        report(&format!("standings of {entrants}"), standing);
        report(&format!("copy of a tournament of {entrants}"), event);
    }
    let (mut bench, mut random) = (Bench::started(1_000, MANY_ROUNDS, 0), 0);
    let mut standing = Vec::new();
    for round in 1..=MANY_ROUNDS {
        bench.pair();
        let times = bench.play(&mut random);
        if round > MANY_ROUNDS - ROUNDS {
            standing.extend(times);
        }
    }
    report(&format!("standings after {MANY_ROUNDS} rounds"), standing);
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    tokio.block_on(arena());
}
