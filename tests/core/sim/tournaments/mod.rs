//! Tournaments of AIs while the server is killed at any of their writes: no meeting is lost or played twice, and the
//! results are those without kills.

mod machine;
mod players;
mod pool;

use std::{collections::BTreeSet, time::Duration};

use reversi::{
    room::{
        AiSpec, DisplayName, Issuer, Opening, Participant, PlayerId, PlayerKind, RoomName, Settings as RoomSettings,
        TournamentId,
    },
    runtime::{RoomError, Runtime},
    tournament::{Command, Control, Format, Outcome, Phase, Playoff, Settings, Standing, Tournament, standings},
};

use self::machine::{Kill, Machine};
use super::{rng::Rng, run_seeds};

/// Default number of seeds.
const SEEDS: u64 = 30;

const ENTRANTS: [&str; 4] = ["random", "greedy", "roxanne", "positional"];

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
fn play(seed: u64, settings: &Settings, kills: &[Kill]) -> (Tournament, usize) {
    let mut machine = Machine::new(seed);
    let begun = machine.run(Kill::Never, async |runtime, _| {
        let (id, organiser) = create(runtime, settings.clone()).await;
        try_control(runtime, id, organiser, Control::Start).await.expect("starts");
        id
    });
    let id = begun.expect("not killed");
    let mut kills = kills.iter().copied();
    loop {
        let kill = kills.next().unwrap_or(Kill::Never);
        if let Some(tournament) = machine.run(kill, async |runtime, _| ended(runtime, id).await) {
            return (tournament, machine.writes);
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

/// A thousand seeds try a kill before and after each write of each format.
#[test]
fn a_tournament_ends_as_without_kills_wherever_the_server_is_killed() {
    let formats = formats();
    run_seeds(SEEDS, |seed| {
        let mut rng = Rng::seeded(seed, 900);
        let number = seed as usize;
        let (format, playoff) = formats[number % formats.len()].clone();
        // An arena pairs by who is free, and so by when the server was down.
        let is_timed = matches!(format, Format::Arena { .. });
        let settings = settings(format, playoff);
        let (undisturbed, writes) = play(seed, &settings, &[]);
        check_meetings(&undisturbed)?;
        let kill = |is_before: bool, write| if is_before { Kill::Before(write) } else { Kill::After(write) };
        let first = kill((number / formats.len()).is_multiple_of(2), 1 + number / formats.len() / 2 % writes);
        let more = (0..rng.below(3)).map(|_| kill(rng.percent(50), 1 + rng.below(writes)));
        let kills: Vec<_> = std::iter::once(first).chain(more).collect();
        let (killed, _) = play(seed, &settings, &kills);
        let case = || format!("seed {seed}, kills {kills:?}");
        check_meetings(&killed).map_err(|problem| format!("{}: {problem}", case()))?;
        if !is_timed && results(&killed) != results(&undisturbed) {
            return Err(format!("{}: other results", case()));
        }
        Ok(())
    });
}
