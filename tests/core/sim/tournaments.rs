//! Tournaments of AIs while the server is killed at any of their writes: no meeting is lost or played twice, and the
//! results are those without kills.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use reversi::{
    room::{
        AiSpec, DisplayName, Issuer, Opening, Participant, PlayerId, PlayerKind, RoomName, Settings as RoomSettings,
        Timestamp, TournamentId,
    },
    runtime::{Clock, Parts, RandomSource, RoomError, Runtime},
    store::{
        AppendError, BoxFuture, MemoryStore, Shard, Store, StoreFuture, StoredTournament, TournamentAppend,
        TournamentJournal, TournamentKey,
    },
    tournament::{Command, Control, Format, Outcome, Phase, Playoff, Settings, Standing, Tournament, standings},
};
use tokio_util::sync::CancellationToken;

use super::{rng::Rng, run_seeds, simulation::encode};

/// Default number of seeds.
const SEEDS: u64 = 30;

/// The time between two starts of the server.
const DOWN: Duration = Duration::from_secs(30);

const ENTRANTS: [&str; 4] = ["random", "greedy", "roxanne", "positional"];

/// A journal of tournaments whose process is killed at a write.
struct KillingJournal {
    store: Arc<MemoryStore>,
    /// The number of writes until the kill.
    left: AtomicUsize,
    /// Whether the last write is still made.
    is_written: bool,
    killed: CancellationToken,
    writes: Arc<AtomicUsize>,
}

impl TournamentJournal for KillingJournal {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(async move {
            let is_last = self.left.fetch_sub(1, SeqCst) == 1;
            if !is_last || self.is_written {
                self.writes.fetch_add(1, SeqCst);
                self.store.append_tournament(append).await?;
            }
            if is_last {
                self.killed.cancel();
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        self.store.tournament(id)
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        self.store.running_tournaments(shards)
    }

    fn tournament_page(&self, before: Option<TournamentKey>, limit: usize) -> StoreFuture<'_, Vec<TournamentKey>> {
        self.store.tournament_page(before, limit)
    }
}

/// A server that is started again whenever it is killed, on one store.
struct Machine {
    store: Arc<MemoryStore>,
    seed: u64,
    now: Timestamp,
    writes: Arc<AtomicUsize>,
    starts: u64,
}

impl Machine {
    fn new(seed: u64) -> Self {
        let (store, writes) = Default::default();
        Self { store, seed, now: Timestamp(1_700_000_000_000_000), writes, starts: 0 }
    }

    /// Runs a process until it is killed at its write `kill`, counted from 1, or does what it is to do.
    fn run<T>(&mut self, kill: usize, is_written: bool, life: impl AsyncFnOnce(&Runtime) -> T) -> Option<T> {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let tokio = tokio.expect("a tokio runtime");
        let killed = CancellationToken::new();
        let journal = KillingJournal {
            store: Arc::clone(&self.store),
            left: AtomicUsize::new(kill),
            is_written,
            killed: killed.clone(),
            writes: Arc::clone(&self.writes),
        };
        self.starts += 1;
        let (done, now) = tokio.block_on(async {
            let clock = Clock::starting(self.now);
            let store = Store { tournaments: Arc::new(journal), ..Store::shared(&self.store) };
            let parts = Parts {
                clock,
                random: RandomSource::seeded(self.seed.wrapping_mul(1_000).wrapping_add(self.starts)),
                ai_threads: Some(0),
                ..Parts::new(store, encode)
            };
            let runtime = Runtime::start(parts).await.expect("a runtime");
            let done = tokio::select! {
                biased;
                () = killed.cancelled() => None,
                done = life(&runtime) => Some(done),
            };
            (done, clock.now())
        });
        // All its tasks end at once.
        drop(tokio);
        self.now = now.after(DOWN);
        done
    }
}

pub(super) fn settings(format: Format, playoff: Option<Playoff>) -> Settings {
    let name = RoomName::parse("Weekend").expect("a name");
    let mut game = RoomSettings::named(name.clone());
    game.opening = Opening::Balanced { seed: 0 };
    // Otherwise an arena would pair without end at one moment.
    game.ai_pause = Duration::from_secs(1);
    Settings { playoff, max_running: 2, ..Settings::new(name, format, game) }
}

/// Creates a tournament of AIs. Its seed is that of the runtime. Also returns the organiser.
pub(super) async fn create(runtime: &Runtime, settings: Settings) -> (TournamentId, PlayerId) {
    let name = DisplayName::parse("Organiser").expect("a name");
    let logged_in = runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await;
    let (organiser, _) = logged_in.expect("a player");
    let id = runtime.tournaments.create(&organiser, settings).await.expect("a tournament").id();
    for kind in ENTRANTS {
        let seat = runtime.rooms.ai_seat(&AiSpec { kind: kind.into(), level: Some(1), seed: Some(7) }).expect("an AI");
        let join = Command::Join { who: Participant::Ai(seat), rating: 1500, password: None };
        runtime.tournaments.command(id, Issuer::Player(organiser.id()), join).await.expect("joins");
    }
    (id, organiser.id())
}

pub(super) async fn try_control(
    runtime: &Runtime,
    id: TournamentId,
    organiser: PlayerId,
    control: Control,
) -> Result<(), RoomError> {
    runtime.tournaments.command(id, Issuer::Player(organiser), Command::Control(control)).await.map(drop)
}

/// The state of a tournament once it has ended.
async fn ended(runtime: &Runtime, id: TournamentId) -> Tournament {
    loop {
        let tournament = runtime.tournaments.get(id).await.expect("a tournament");
        if matches!(tournament.phase(), Phase::Ended(_)) {
            return (*tournament).clone();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The tournament at its end, of a server that is killed at these writes, each counted from the last start.
fn play(seed: u64, settings: &Settings, kills: &[(usize, bool)]) -> (Tournament, usize) {
    let mut machine = Machine::new(seed);
    let begun = machine.run(usize::MAX, true, async |runtime| {
        let (id, organiser) = create(runtime, settings.clone()).await;
        try_control(runtime, id, organiser, Control::Start).await.expect("starts");
        id
    });
    let id = begun.expect("not killed");
    let mut kills = kills.iter();
    loop {
        let (kill, is_written) = kills.next().copied().unwrap_or((usize::MAX, true));
        if let Some(tournament) = machine.run(kill, is_written, async |runtime| ended(runtime, id).await) {
            return (tournament, machine.writes.load(SeqCst));
        }
    }
}

/// Each meeting was played once, to its end.
pub(super) fn check_meetings(tournament: &Tournament) -> Result<(), String> {
    let mut rooms = BTreeSet::new();
    for meeting in tournament.meetings() {
        let number = meeting.pairing.number;
        if !rooms.insert(meeting.pairing.room) {
            return Err(format!("meeting {number} has the room of another"));
        }
        let games = tournament.settings().game.games;
        match meeting.outcome {
            _ if meeting.pairing.second.is_none() => {}
            Some(Outcome::Played { score, .. }) if score.games() == u32::from(games) => {}
            other => return Err(format!("meeting {number} has the outcome {other:?}")),
        }
    }
    Ok(())
}

type Results = (Vec<Standing>, Vec<Option<Outcome>>);

fn results(tournament: &Tournament) -> Results {
    (standings(tournament), tournament.meetings().map(|meeting| meeting.outcome).collect())
}

fn formats() -> [(Format, Option<Playoff>); 4] {
    [
        (Format::AllPlayAll { cycles: 2, challengers: Vec::new() }, None),
        (Format::Swiss { rounds: 3 }, Some(Playoff::Two)),
        (Format::Swiss { rounds: 0 }, Some(Playoff::Four)),
        (Format::Arena { duration: Duration::from_secs(600) }, None),
    ]
}

#[test]
fn a_tournament_ends_as_without_kills_wherever_the_server_is_killed() {
    run_seeds(SEEDS, |seed| {
        let mut rng = Rng::seeded(seed, 900);
        let (format, playoff) = formats()[rng.below(formats().len())].clone();
        // An arena pairs by who is free, and so by when the server was down.
        let is_timed = matches!(format, Format::Arena { .. });
        let settings = settings(format, playoff);
        let (undisturbed, writes) = play(seed, &settings, &[]);
        check_meetings(&undisturbed)?;
        let kills: Vec<_> = (0..1 + seed % 3).map(|_| (1 + rng.below(writes), rng.percent(50))).collect();
        let (killed, _) = play(seed, &settings, &kills);
        let case = || format!("seed {seed}, kills {kills:?}");
        check_meetings(&killed).map_err(|problem| format!("{}: {problem}", case()))?;
        if !is_timed && results(&killed) != results(&undisturbed) {
            return Err(format!("{}: other results", case()));
        }
        Ok(())
    });
}
