//! Tournaments of players who come, go, are late, leave, make no move or never come, on a server that is killed, stopped
//! or cannot write: none who was there forfeits, and none forfeits in time in which nobody could come.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use reversi::{
    room::{Command as RoomCommand, DisplayName, GameId, Issuer, PlayerId, PlayerKind, Timestamp, TournamentId},
    runtime::{Notice, Player, RoomError, Runtime, Token, Turns},
    store::Archive as _,
    tournament::{
        Command, Control, Entrant, EntrantId, Event, Fact, Forfeiter, Format, Outcome, Phase, Settings, Tournament,
    },
};
use tokio::time::{Instant, advance, sleep, sleep_until, timeout};

use super::{
    super::{client::OpenTurn, rng::Rng, run_seeds},
    ended, formats,
    machine::{Disk, Kill, Machine},
    results, settings, try_control,
};

/// Default number of seeds.
const SEEDS: u64 = 20;

/// The number of players.
const PLAYERS: usize = 6;

/// The time for a move.
const MOVE_TIME: Duration = Duration::from_secs(10);

/// The longest time of a process.
const LIFE: u64 = 300_000;

/// The first lives, after that in which players join, have faults. The last one has none, so that it comes to an end.
const FAULTY_LIVES: usize = 4;

/// Much longer than all meetings take.
const LONG: Duration = Duration::from_secs(4 * 60 * 60);

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// Is always there while the server is, and answers.
    Steady,
    /// Comes and goes.
    Restless,
    /// Joins after the start, where that is possible.
    Late,
    /// Leaves the tournament in the middle.
    Leaving,
    /// Is always there and makes no move.
    Idle,
    /// Has joined and never comes.
    Gone,
}

pub(super) struct Attendant {
    pub(super) id: PlayerId,
    token: Token,
    habit: Habit,
    /// Decides its moves, so that not all games are the same.
    taste: usize,
    /// The longest time for a move, in milliseconds.
    pub(super) thinks: u64,
    rng: Rng,
}

/// Logs players in, who join a new tournament unless they are late.
async fn enter(runtime: &Runtime, seed: u64, habits: &[Habit], settings: Settings) -> (TournamentId, Vec<Attendant>) {
    let (organiser, _) = log_in(runtime, "Organiser").await;
    let id = runtime.tournaments.create(&organiser, settings).await.expect("a tournament").id();
    let mut attendants = Vec::new();
    for (taste, habit) in habits.iter().enumerate() {
        attendants.push(Attendant::enter(runtime, seed, taste, *habit, id).await);
    }
    try_control(runtime, id, organiser.id(), Control::Start).await.expect("starts");
    (id, attendants)
}

async fn log_in(runtime: &Runtime, name: &str) -> (Arc<Player>, Token) {
    let name = DisplayName::parse(name).expect("a name");
    runtime.sessions.log_in(name, PlayerKind::Bot, 1, None, None).await.expect("a player")
}

impl Attendant {
    /// Logs in a player, who joins unless it is late.
    pub(super) async fn enter(runtime: &Runtime, seed: u64, taste: usize, habit: Habit, id: TournamentId) -> Self {
        let (player, token) = log_in(runtime, &format!("{habit:?}{taste}")).await;
        if habit != Habit::Late {
            runtime.tournaments.join(&player, id, None).await.expect("joins");
        }
        Self { id: player.id(), token, habit, taste, thinks: 400, rng: Rng::seeded(seed, 910 + taste as u64) }
    }

    /// Takes part until the process ends.
    pub(super) async fn attend(&mut self, runtime: &Runtime, id: TournamentId) {
        let player = runtime.sessions.bearer(&self.token).await.expect("the players").expect("a player");
        match self.habit {
            Habit::Gone => return,
            Habit::Late => {
                sleep(self.rng.millis(1_000..60_000)).await;
                // It may have joined in an earlier life, or be too late.
                let _ = runtime.tournaments.join(&player, id, None).await;
            }
            Habit::Steady | Habit::Restless | Habit::Leaving | Habit::Idle => {}
        }
        loop {
            // Less than the time after which it counts as absent.
            sleep(self.rng.millis(0..5_000)).await;
            let Ok(mut turns) = runtime.streams.turns(&player).await else { continue };
            let stay = match self.habit {
                Habit::Restless | Habit::Leaving => self.rng.millis(1_000..120_000),
                Habit::Steady | Habit::Late | Habit::Idle | Habit::Gone => LONG,
            };
            self.stay(runtime, &player, &mut turns, Instant::now() + stay).await;
            drop(turns);
            if self.habit == Habit::Leaving && self.rng.percent(30) {
                let _ = runtime.tournaments.command(id, Issuer::Player(player.id()), Command::Leave).await;
            }
            sleep(self.rng.millis(1_000..100_000)).await;
        }
    }

    /// Answers turns until then.
    async fn stay(&mut self, runtime: &Runtime, player: &Arc<Player>, turns: &mut Turns, until: Instant) {
        loop {
            let notice = tokio::select! {
                biased;
                notice = turns.next() => notice,
                () = sleep_until(until) => return,
            };
            match notice {
                Ok(Notice::TurnRequested(turn)) if self.habit != Habit::Idle => {
                    let turn = OpenTurn { game: turn.game, ply: turn.ply, position: turn.position };
                    self.play(runtime, player, turn).await;
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    async fn play(&mut self, runtime: &Runtime, player: &Arc<Player>, turn: OpenTurn) {
        sleep(self.rng.millis(0..self.thinks)).await;
        let moves = turn.position.legal_moves();
        let square = moves.into_iter().nth(self.taste % moves.into_iter().count()).expect("a legal move");
        let command = RoomCommand::Play { game: turn.game.number, ply: turn.ply, square, thought: None };
        while let Err(RoomError::StoreUnavailable) =
            runtime.rooms.command(player, turn.game.room, command.clone()).await
        {
            sleep(Duration::from_millis(500)).await;
        }
    }
}

/// What happens to a process while it lives. Returns the times in which nobody could come.
async fn disturb(runtime: &Runtime, disk: &Disk, rng: &mut Rng, stalls: &mut Vec<[Timestamp; 2]>) {
    if rng.percent(30) {
        // The credit for the time before it cannot be written for some time.
        disk.refuse(true, false);
        sleep(rng.millis(1_000..20_000)).await;
        disk.refuse(false, false);
    }
    loop {
        sleep(rng.millis(1_000..60_000)).await;
        let lasts = rng.millis(2_000..90_000);
        let mut from = runtime.clock().now();
        match rng.below(3) {
            // The process is stopped.
            0 => advance(lasts).await,
            1 => {
                disk.refuse(true, true);
                sleep(lasts).await;
                // Until its first write the server cannot know of it.
                from = runtime.clock().now().before(disk.refused_for());
                disk.refuse(false, false);
            }
            // Entrants could come, but may not have heard of their meeting.
            _ => {
                disk.slow_down(lasts);
                continue;
            }
        }
        stalls.push([from, runtime.clock().now()]);
    }
}

/// A tournament at its end, and what happened.
struct Played {
    tournament: Tournament,
    machine: Machine,
    stalls: Vec<[Timestamp; 2]>,
    habits: BTreeMap<EntrantId, Habit>,
}

/// Plays a tournament on a server that is killed at these times. With `faults` it is disturbed in other ways too.
fn play(seed: u64, settings: Settings, habits: &[Habit], kills: &[Kill], faults: bool) -> Result<Played, String> {
    let mut machine = Machine::new(seed);
    let begun = machine.run(Kill::Never, async |runtime, _| enter(runtime, seed, habits, settings).await);
    let (id, mut attendants) = begun.expect("not killed");
    let (mut kills, mut rng, mut stalls) = (kills.iter().copied(), Rng::seeded(seed, 909), Vec::new());
    let tournament = loop {
        let kill = kills.next().unwrap_or(Kill::Never);
        let is_faulty = faults && machine.lives.len() <= FAULTY_LIVES;
        let life = machine.run(kill, async |runtime, disk| {
            let all = futures_util::future::join_all(attendants.iter_mut().map(|one| one.attend(runtime, id)));
            let disturbed = async {
                if is_faulty {
                    disturb(runtime, disk, &mut rng, &mut stalls).await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                _ = async { tokio::join!(all, disturbed) } => unreachable!("it is disturbed for ever"),
                ended = timeout(LONG, ended(runtime, id)) => ended,
            }
        });
        if let Some(ended) = life {
            break ended.map_err(|_| "it has not ended".to_owned())?;
        }
    };
    let habit = |entrant: &Entrant| attendants.iter().find(|one| entrant.who.is(one.id)).expect("a player").habit;
    let habits = tournament.entrants().iter().map(|(id, entrant)| (*id, habit(entrant))).collect();
    Ok(Played { habits, tournament, machine, stalls })
}

impl Played {
    fn check(&self) -> Result<(), String> {
        self.check_history()?;
        for meeting in self.tournament.meetings() {
            let number = meeting.pairing.number;
            let games = self.stored_games(number);
            let wrong = |what: &str| Err(format!("{what}: meeting {number}, {games} stored games: {meeting:?}"));
            match meeting.outcome {
                None if meeting.pairing.second.is_none() => {}
                Some(Outcome::Played { score, .. }) if score.games() == games => {}
                Some(Outcome::Forfeit { .. } | Outcome::Void) if games == 0 || self.has_left(number) => {}
                _ => return wrong("its outcome is not that of its games"),
            }
            let conduct = meeting.outcome.map_or([None; 2], |outcome| match outcome {
                Outcome::Played { faults, .. } => faults.map(|fault| fault.map(|_| ())),
                Outcome::Forfeit { by, .. } => match by {
                    Forfeiter::First => [Some(()), None],
                    Forfeiter::Second => [None, Some(())],
                    Forfeiter::Both => [Some(()); 2],
                },
                Outcome::Void => [None; 2],
            });
            for (side, fault) in meeting.sides().zip(conduct) {
                if fault.is_some() && self.habits[&side] == Habit::Steady {
                    return wrong("who was there has a fault");
                }
            }
            if meeting.outcome == Some(Outcome::Void) {
                return wrong("it counts for nobody");
            }
        }
        Ok(())
    }

    /// The games of a meeting that count, in the archive.
    fn stored_games(&self, number: u32) -> u32 {
        let room = self.tournament.meeting(number).expect("a meeting").pairing.room;
        let game = |number| {
            let stored = self.machine.store.game(GameId { room, number });
            futures_util::FutureExt::now_or_never(stored).expect("in memory").expect("readable")
        };
        let games = (1..).map_while(game).filter(|game| game.end.counts()).count();
        u32::try_from(games).expect("few")
    }

    /// Whether a side has left the tournament: its meeting was decided by that.
    fn has_left(&self, number: u32) -> bool {
        let sides = self.tournament.meeting(number).expect("a meeting").sides();
        sides.into_iter().any(|side| self.tournament.entrants()[&side].left.is_some())
    }

    /// Each meeting is paired once and ends once, and none is forfeited by a side that had no time to come.
    fn check_history(&self) -> Result<(), String> {
        let history = self.machine.history();
        let (mut paired, mut rooms) = (BTreeMap::new(), BTreeSet::new());
        let mut finished = BTreeSet::new();
        for Event { at, fact, .. } in &history {
            match fact {
                Fact::Paired { meetings, .. } => {
                    for meeting in meetings {
                        let is_new = paired.insert(meeting.number, *at).is_none() && rooms.insert(meeting.room);
                        if !is_new || meeting.number as usize != paired.len() {
                            return Err(format!("paired twice: {meeting:?}"));
                        }
                    }
                }
                Fact::Finished { number, outcome } => {
                    if !finished.insert(*number) {
                        return Err(format!("meeting {number} ended twice"));
                    }
                    let meeting = self.tournament.meeting(*number).expect("a meeting");
                    let is_absence = matches!(outcome, Outcome::Forfeit { fault: true, .. });
                    let served = self.served(paired[number], *at);
                    if is_absence && meeting.appeared != [true; 2] && served < self.tournament.settings().no_show {
                        return Err(format!("meeting {number} is forfeited after {served:?}: {meeting:?}"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The part of a time in which entrants could come.
    fn served(&self, from: Timestamp, to: Timestamp) -> Duration {
        let within = |[begin, end]: [Timestamp; 2]| end.min(to).since(begin.max(from));
        let ran: Duration = self.machine.lives.iter().copied().map(within).sum();
        ran.saturating_sub(self.stalls.iter().copied().map(within).sum())
    }
}

fn of_players(mut settings: Settings) -> Settings {
    settings.game.time.per_move = Some(MOVE_TIME);
    Settings { max_running: 100, ..settings }
}

fn any_kill(rng: &mut Rng) -> Kill {
    match rng.below(3) {
        0 => Kill::Before(1 + rng.below(20)),
        1 => Kill::After(1 + rng.below(20)),
        _ => Kill::At(rng.millis(1_000..LIFE)),
    }
}

#[test]
fn who_was_there_forfeits_nothing_whatever_happens_to_the_server() {
    run_seeds(SEEDS, |seed| {
        let mut rng = Rng::seeded(seed, 902);
        let (format, playoff) = formats()[seed as usize % formats().len()].clone();
        let is_arena = matches!(format, Format::Arena { .. });
        // In a play-off or an all-play-all none is late.
        let all = [Habit::Steady, Habit::Restless, Habit::Leaving, Habit::Idle, Habit::Gone, Habit::Late];
        let others = PLAYERS - 2;
        let mut habits = vec![Habit::Steady; 2];
        habits.extend((0..others).map(|_| all[rng.below(all.len() - usize::from(!is_arena))]));
        let kills: Vec<_> = (0..rng.below(5)).map(|_| any_kill(&mut rng)).collect();
        let case = |problem| format!("seed {seed}, {format:?}, {habits:?}, kills {kills:?}: {problem}");
        let played = play(seed, of_players(settings(format.clone(), playoff)), &habits, &kills, true).map_err(case)?;
        played.check().map_err(case)?;
        let last = played.tournament.meetings().len();
        if is_arena && last < 4 { Err(case(format!("only {last} meetings"))) } else { Ok(()) }
    });
}

#[test]
fn players_who_are_there_have_the_results_of_a_server_without_faults() {
    run_seeds(SEEDS, |seed| {
        let mut rng = Rng::seeded(seed, 903);
        // The last one is an arena, which pairs by who is free, and so by when the server was down.
        let (format, playoff) = formats()[seed as usize % (formats().len() - 1)].clone();
        let (settings, habits) = (of_players(settings(format, playoff)), [Habit::Steady; PLAYERS]);
        let kills: Vec<_> = (0..1 + rng.below(4)).map(|_| any_kill(&mut rng)).collect();
        let case = |problem| format!("seed {seed}, kills {kills:?}: {problem}");
        let [undisturbed, disturbed] = [(&[][..], false), (&kills[..], true)].map(|(kills, faults)| {
            let played = play(seed, settings.clone(), &habits, kills, faults)?;
            played.check().map(|()| played)
        });
        let (undisturbed, disturbed) = (undisturbed.map_err(case)?, disturbed.map_err(case)?);
        let is_over = matches!(disturbed.tournament.phase(), Phase::Ended(_));
        if !is_over || results(&disturbed.tournament) != results(&undisturbed.tournament) {
            return Err(case("other results".to_owned()));
        }
        Ok(())
    });
}

/// Its next start does, though the server was alive in between.
#[test]
fn a_downtime_whose_credit_was_not_written_is_not_lost() {
    let habits = [Habit::Steady, Habit::Gone];
    let settings = of_players(settings(Format::Swiss { rounds: 1 }, None));
    let mut machine = Machine::new(1);
    let begun = machine.run(Kill::Never, async |runtime, _| enter(runtime, 1, &habits, settings).await);
    let (id, mut attendants) = begun.expect("not killed");
    // More than the interval of the notes that the server is alive.
    for (life, refuses) in [(20, false), (10, true)] {
        machine.run(Kill::At(Duration::from_secs(life)), async |runtime, disk| {
            disk.refuse(refuses, false);
            attendants[0].attend(runtime, id).await;
        });
    }
    let last = machine.run(Kill::Never, async |runtime, _| {
        tokio::select! {
            ended = ended(runtime, id) => ended,
            () = attendants[0].attend(runtime, id) => unreachable!("it attends for ever"),
        }
    });
    let (tournament, habits) = (last.expect("not killed"), BTreeMap::new());
    assert_eq!(tournament.meetings().len(), 1);
    Played { tournament, machine, stalls: Vec::new(), habits }.check_history().expect("nobody had no time to come");
}

/// Its room could not be created before, or was just being created.
#[test]
fn who_has_left_plays_no_rated_game_of_a_meeting() {
    let mut settings = of_players(settings(Format::Swiss { rounds: 1 }, None));
    settings.game.rated = true;
    for is_slow in [false, true] {
        let mut machine = Machine::new(1);
        let room = machine.run(Kill::Never, async |runtime, disk| {
            let (id, mut attendants) = enter(runtime, 1, &[Habit::Steady; 2], settings.clone()).await;
            if is_slow {
                disk.slow_down_room(Duration::from_secs(5));
            } else {
                disk.refuse(false, true);
            }
            let leaver = attendants[0].id;
            let leaves = async {
                let meeting = loop {
                    let tournament = runtime.tournaments.get(id).await.expect("the tournament");
                    if let Some(meeting) = tournament.meetings().find(|meeting| meeting.appeared == [true; 2]) {
                        break meeting.clone();
                    }
                    sleep(Duration::from_millis(100)).await;
                };
                sleep(Duration::from_secs(2)).await;
                let leave = runtime.tournaments.command(id, Issuer::Player(leaver), Command::Leave);
                leave.await.expect("leaves");
                disk.refuse(false, false);
                sleep(4 * MOVE_TIME).await;
                meeting.pairing.room
            };
            let all = futures_util::future::join_all(attendants.iter_mut().map(|one| one.attend(runtime, id)));
            tokio::select! {
                room = leaves => room,
                _ = all => unreachable!("they attend for ever"),
            }
        });
        let stored = machine.store.game(GameId { room: room.expect("not killed"), number: 1 });
        let game = futures_util::FutureExt::now_or_never(stored).expect("in memory").expect("readable");
        assert!(game.is_none_or(|game| !game.end.counts()), "is_slow: {is_slow}");
    }
}
