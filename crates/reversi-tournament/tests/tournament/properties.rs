//! Properties of tournaments, checked on random histories of every format.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    time::Duration,
};

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use reversi_engine::match_statistics::Points;
use reversi_room::{ChatText, Issuer, LeaveReason, Opening, Participant, Seq, Timestamp};
use reversi_tournament::{
    Command, Control, Entrant, EntrantId, Event, Fact, Fault, Forfeiter, Format, Meeting, Outcome, Phase, Playoff,
    Rejection, Settings, Tournament, crosstable, standings, trf,
};

use crate::trial::{ORGANISER, Trial, WON, ai, arena, played, player, settings};

fn any_settings() -> impl Strategy<Value = Settings> {
    let challengers = prop::collection::vec((1..4_u32).prop_map(player), 0..3);
    let format = prop_oneof![
        (1..3_u8, challengers).prop_map(|(cycles, challengers)| Format::AllPlayAll { cycles, challengers }),
        (1..6_u8).prop_map(|rounds| Format::Swiss { rounds }),
        prop_oneof![Just(0), Just(120), Just(900)].prop_map(arena),
    ];
    let playoff = prop_oneof![Just(None), Just(Some(Playoff::Two)), Just(Some(Playoff::Four))];
    (format, playoff, any::<bool>(), 1..4_u16, any::<u64>()).prop_map(|(format, playoff, filled, games, seed)| {
        let mut settings = Settings { max_running: 1 + games, seed, ..settings(format) };
        settings.game.games = games;
        let is_swiss = matches!(settings.format, Format::Swiss { .. });
        if matches!(&settings.format, Format::AllPlayAll { challengers, .. } if filled && games > 1 && !challengers.is_empty()) {
            settings.game.opening = Opening::Balanced { seed: 0 };
            settings.sprt = "0,400".parse().ok();
        }
        settings.fills_bye = (filled && is_swiss).then(ai);
        settings.playoff = playoff.filter(|_| !matches!(settings.format, Format::Arena { .. }));
        settings
    })
}

/// A step of a history: what, with whom, and how.
pub(crate) type Step = (u8, u32, u8);

pub(crate) fn any_history() -> impl Strategy<Value = (Settings, u32, Vec<Step>)> {
    (any_settings(), 0..9_u32, prop::collection::vec((0..24_u8, 0..12_u32, any::<u8>()), 0..120))
}

fn any_outcome(choice: u8, games: u16) -> Outcome {
    let game = |points: u8| match points % 3 {
        0 => Points::Loss,
        1 => Points::Draw,
        _ => Points::Win,
    };
    match choice % 8 {
        0 => Outcome::Void,
        1 => Outcome::Forfeit { by: Forfeiter::Both, fault: true },
        2 => Outcome::Forfeit { by: Forfeiter::First, fault: choice > 99 },
        3 => match played(&WON[..usize::from(games.min(2))]) {
            Outcome::Played { score, discs, .. } => {
                Outcome::Played { score, discs, faults: [None, Some(Fault::Timeout)] }
            }
            other => other,
        },
        _ => played(&[game(choice), game(choice / 3)][..usize::from(games.min(2))]),
    }
}

/// Does a step, whether it is possible or not.
fn perform(trial: &mut Trial, (what, who, how): Step) {
    let issuer = Issuer::Player(player(who));
    let last = trial.tournament.meetings().next_back().map_or(0, |meeting| meeting.pairing.number);
    let games = trial.tournament.settings().game.games;
    let number = (last + 2).saturating_sub(who);
    let why = ChatText::parse("It had to be.").expect("a text");
    let control = [Control::Start, Control::Pause, Control::Resume, Control::End, Control::Cancel];
    let command = match what {
        0..=1 => return drop(trial.join(who)),
        2 => return drop(trial.issue(issuer, Command::Leave)),
        3 if how < 40 => return drop(trial.issue(ORGANISER, Command::Exclude(EntrantId(who)))),
        3 if how < 60 => return drop(trial.issue(ORGANISER, Command::Admit(EntrantId(who)))),
        3 | 4 => return drop(trial.issue(Issuer::Server, Command::SetPresence(player(who), how % 2 == 0))),
        5 => {
            let who = Participant::Ai(ai());
            return drop(trial.issue(ORGANISER, Command::Join { who, rating: 1500, password: None }));
        }
        // The last two controls are rare.
        6 => Command::Control(control[usize::from(if how < 8 { how % 5 } else { how % 3 })]),
        7 if how < 60 => Command::Adjudicate { number, outcome: any_outcome(how, games), why },
        8 => return drop(trial.issue(Issuer::Server, Command::Credit { micros: i64::from(how) * 1000 })),
        9 => return trial.wait(u64::from(how)),
        10 => return trial.wait(7),
        // Rooms tell their ends in any order, and more than once.
        _ => {
            let running = trial.running();
            let told = running.get(who as usize % running.len().max(1)).map_or(number, |one| one.pairing.number);
            let number = if how % 4 == 0 { number } else { told };
            return drop(trial.issue(Issuer::Server, Command::Finish { number, outcome: any_outcome(how, games) }));
        }
    };
    drop(trial.issue(ORGANISER, command));
}

pub(crate) fn perform_all((settings, players, steps): (Settings, u32, Vec<Step>)) -> Trial {
    let mut trial = Trial::new(settings, players);
    drop(trial.control(Control::Start));
    trial.tick();
    for step in steps {
        perform(&mut trial, step);
        trial.tick();
        check_state(&trial.tournament);
    }
    trial
}

/// Every meeting is there once, and nobody plays two at a time.
fn check_state(tournament: &Tournament) {
    let numbers: Vec<u32> = tournament.meetings().map(|meeting| meeting.pairing.number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
    let unfinished: Vec<_> = tournament.meetings().filter(|meeting| !meeting.is_finished()).collect();
    let busy: Vec<EntrantId> = unfinished.iter().flat_map(|meeting| meeting.sides()).collect();
    assert_eq!(busy.iter().collect::<BTreeSet<_>>().len(), busy.len(), "an entrant plays two meetings");
    for (id, entrant) in tournament.entrants() {
        let meeting = unfinished.iter().find(|meeting| meeting.side_of(*id).is_some());
        assert_eq!(entrant.meeting, meeting.map(|meeting| meeting.pairing.number));
        assert!(entrant.left.is_none() || entrant.meeting.is_none(), "who has left plays");
    }
    let running = tournament.running().count();
    let most = unfinished.len().min(tournament.settings().max_running.into());
    assert!(running == most || running < most && tournament.phase() == Phase::Paused);
    assert!(unfinished.is_empty() || !matches!(tournament.phase(), Phase::Ended(_)));
}

/// Each meeting is paired once, in its own room, and ends once or is decided by the organiser.
fn check_history(history: &[Event]) -> Result<(), TestCaseError> {
    let (mut paired, mut rooms, mut ended) = (0, BTreeSet::new(), BTreeMap::new());
    for (number, event) in (1..).zip(history) {
        prop_assert_eq!(event.seq.0, number);
        match &event.fact {
            Fact::Paired { meetings, .. } => {
                for meeting in meetings {
                    paired += 1;
                    prop_assert_eq!(meeting.number, paired);
                    prop_assert!(rooms.insert(meeting.room), "a room twice");
                    prop_assert!(meeting.second != Some(meeting.first));
                }
            }
            Fact::Finished { number, .. } => {
                prop_assert!(*number <= paired);
                prop_assert_eq!(ended.insert(*number, ()), None, "ended twice");
            }
            Fact::Adjudicated { number, .. } => drop(ended.insert(*number, ())),
            Fact::Ended(_) => prop_assert_eq!(number, history.len() as u64, "an event after the end"),
            _ => {}
        }
    }
    Ok(())
}

/// Entrants come and go, and the organiser decides and controls, in the open; but no end is shown before the meetings.
fn is_shown_at_once(event: &Event, tournament: &Tournament, until: Timestamp) -> bool {
    match &event.fact {
        Fact::Paired { .. } | Fact::Finished { .. } | Fact::PutAside { .. } | Fact::ClockCredited { .. } => false,
        Fact::Adjudicated { number, .. } => {
            let decided = tournament.meeting(*number);
            decided.and_then(|meeting| meeting.finished).is_some_and(|finished| finished <= until)
        }
        Fact::Ended(_) => tournament.started().is_none(),
        // Without a meeting an entrant who leaves is forgotten, and cannot be excluded after that.
        Fact::Left { entrant, reason: LeaveReason::Left } => {
            tournament.entrants().get(entrant).is_none_or(|left| left.left != Some(LeaveReason::Banned))
        }
        Fact::Created(_)
        | Fact::Configured(_)
        | Fact::Joined { .. }
        | Fact::Left { .. }
        | Fact::PresenceChanged { .. }
        | Fact::Started
        | Fact::Paused
        | Fact::Resumed => true,
    }
}

/// All that the public is told of a tournament, but for its phase.
fn public(tournament: &Tournament, now: Timestamp) -> impl PartialEq + Debug {
    let meeting = |meeting: &Meeting| Meeting { appeared: [false; 2], ..meeting.clone() };
    let has_playoff = tournament.settings().playoff.is_some();
    let entrant = |(id, entrant): (&EntrantId, &Entrant)| {
        // A play-off also pairs entrants who are put aside, and their state is then hidden.
        let state = if has_playoff { entrant.state(Timestamp(i64::MAX)) } else { entrant.state(now) };
        (*id, entrant.who.clone(), entrant.rating, state)
    };
    (
        (tournament.settings().clone(), tournament.started(), tournament.rounds(), tournament.contenders().count()),
        tournament.meetings().map(meeting).collect::<Vec<_>>(),
        tournament.entrants().iter().map(entrant).collect::<Vec<_>>(),
        (standings(tournament), crosstable(tournament), trf(tournament)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn replaying_the_events_gives_the_live_tournament(history in any_history()) {
        let trial = perform_all(history);
        check_history(&trial.history)?;
        let replayed = Tournament::replay(&trial.history).expect("a history");
        prop_assert_eq!(&replayed, &trial.tournament);
        prop_assert_eq!(standings(&replayed), standings(&trial.tournament));
        prop_assert_eq!(crosstable(&replayed), crosstable(&trial.tournament));
    }

    /// Whatever came before, it can be played to its end, unless it is a pool.
    #[test]
    fn every_tournament_comes_to_its_end(history in any_history()) {
        let mut trial = perform_all(history);
        drop(trial.control(Control::Start));
        drop(trial.control(Control::Resume));
        trial.tick();
        for _ in 0..400 {
            if trial.tournament.settings().is_pool() || matches!(trial.tournament.phase(), Phase::Ended(_)) {
                break;
            }
            trial.play_round();
            trial.wait(5);
            trial.now = trial.now.max(trial.tournament.deadline().unwrap_or(trial.now));
            trial.tick();
        }
        let has_end = trial.tournament.started().is_some() && !trial.tournament.settings().is_pool();
        prop_assert!(!has_end || matches!(trial.tournament.phase(), Phase::Ended(_)));
        let replayed = Tournament::replay(&trial.history).expect("a history");
        prop_assert_eq!(standings(&replayed), standings(&trial.tournament));
    }

    /// The results of a round may come in any order, and again: the tournament is the same.
    #[test]
    fn the_order_of_results_does_not_matter(
        settings in any_settings(), players in 2..9_u32, random: u64,
        order in prop::collection::vec(any::<usize>(), 64),
    ) {
        prop_assume!(!matches!(settings.format, Format::Arena { .. }));
        let play = |order: &[usize]| {
            let mut trial = Trial::new(settings.clone(), players);
            if trial.control(Control::Start).is_err() {
                return None;
            }
            let mut order = order.iter().cycle();
            trial.server(Command::Tick { random });
            let mut steps = 0..1000;
            while !matches!(trial.tournament.phase(), Phase::Ended(_)) {
                steps.next().expect("an end");
                let running = trial.running();
                let picked = order.next().expect("a cycle");
                let Some(meeting) = running.get(picked % running.len().max(1)) else {
                    trial.now = trial.now.max(trial.tournament.deadline().expect("a next round"));
                    trial.server(Command::Tick { random });
                    continue;
                };
                let number = meeting.pairing.number;
                let choice = u8::try_from((u64::from(number) * 7 + random) % 250).expect("small");
                let outcome = any_outcome(choice | 4, settings.game.games);
                for _ in 0..=picked % 3 {
                    drop(trial.issue(Issuer::Server, Command::Finish { number, outcome }));
                }
            }
            Some((standings(&trial.tournament), crosstable(&trial.tournament)))
        };
        prop_assert_eq!(play(&order), play(&[0]));
    }

    #[test]
    fn a_refusal_and_a_repeat_change_nothing(history in any_history(), step in (0..24_u8, 0..12_u32, any::<u8>())) {
        let mut trial = perform_all(history);
        let before = trial.tournament.clone();
        let count = trial.history.len();
        perform(&mut trial, step);
        if trial.history.len() == count {
            prop_assert_eq!(&before, &trial.tournament);
        }
        for meeting in before.meetings().filter(|meeting| meeting.is_finished()) {
            let finish = Command::Finish { number: meeting.pairing.number, outcome: played(&WON) };
            prop_assert_eq!(trial.tournament.decide(trial.now, Issuer::Server, finish), Ok(Vec::new()));
        }
        let unknown = Command::Finish { number: u32::MAX, outcome: Outcome::Void };
        let answer = before.decide(trial.now, Issuer::Server, unknown);
        let ended = matches!(before.phase(), Phase::Ended(_));
        prop_assert_eq!(answer, if ended { Ok(Vec::new()) } else { Err(Rejection::MeetingNotFound) });
    }

    /// The next deadline is never one that a tick could not remove.
    #[test]
    fn after_ticking_the_deadline_lies_ahead(history in any_history(), seconds in 0..4000_u64) {
        let mut trial = perform_all(history);
        trial.now = trial.now.after(Duration::from_secs(seconds));
        trial.tick();
        prop_assert!(trial.tournament.deadline().is_none_or(|at| at > trial.now));
    }

    /// Nothing is waited for longer than before.
    #[test]
    fn a_clock_that_is_set_back_sets_the_deadline_back(history in any_history(), seconds in 1..100_000_i64) {
        let mut trial = perform_all(history);
        trial.tick();
        prop_assume!(trial.tournament.started().is_some());
        let micros = -seconds * 1_000_000;
        let expected = trial.tournament.deadline().map(|deadline| deadline.shifted(micros));
        trial.now = trial.now.shifted(micros);
        trial.server(Command::Credit { micros });
        prop_assert_eq!(trial.tournament.deadline(), expected);
    }
}

proptest! {
    // Some of its cases are rare, and each is cheap.
    #![proptest_config(ProptestConfig {
        cases: 4_000, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// All that is older is shown, and nothing that is younger changes anything.
    #[test]
    fn what_is_shown_later_is_what_was_then(
        (settings, players, steps) in any_history(), event in any::<prop::sample::Index>()
    ) {
        // A credit moves the times at which meetings were opened.
        let steps = steps.into_iter().filter(|(what, ..)| *what != 8).collect();
        let trial = perform_all((settings, players, steps));
        let until = trial.history[event.index(trial.history.len())].at;
        let then = trial.history.iter().filter(|event| event.at <= until);
        let then = Tournament::replay(then).expect("a history");
        prop_assert_eq!(&then.delayed(until), &then);

        let shown = trial.tournament.delayed(until);
        let next = trial.tournament.hidden_until(until);
        let just_before = next.map_or(Timestamp(i64::MAX), |next| Timestamp(next.0 - 1));
        prop_assert!(just_before >= until && trial.tournament.delayed(just_before) == shown);
        let events = trial.history.iter().filter(|event| event.at <= until || is_shown_at_once(event, &trial.tournament, until));
        let events: Vec<Event> = (1..).zip(events).map(|(seq, event)| Event { seq: Seq(seq), ..event.clone() }).collect();
        let visible = Tournament::replay(&events).expect("a history").delayed(until);
        prop_assert_eq!(public(&shown, trial.now), public(&visible, trial.now));
        let is_hidden = shown.phase() != trial.tournament.phase() && matches!(trial.tournament.phase(), Phase::Ended(_));
        // What the phase was before a hidden end is not known.
        prop_assert!(shown.phase() == visible.phase() || is_hidden && visible.phase() == Phase::Paused);
    }
}

/// The random histories must get far enough to mean something.
#[test]
fn the_random_histories_reach_every_fact() {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(1), ..Config::default() });
    let mut seen = BTreeSet::new();
    for _ in 0..300 {
        let history = any_history().new_tree(&mut runner).expect("a history").current();
        seen.extend(perform_all(history).history.iter().map(|event| match &event.fact {
            Fact::Created(_) => "created",
            Fact::Configured(_) => "configured",
            Fact::Joined { .. } => "joined",
            Fact::Left { .. } => "left",
            Fact::PresenceChanged { .. } => "presence changed",
            Fact::PutAside { .. } => "put aside",
            Fact::Started => "started",
            Fact::Paired { .. } => "paired",
            Fact::Finished { .. } => "finished",
            Fact::Adjudicated { .. } => "adjudicated",
            Fact::Paused => "paused",
            Fact::Resumed => "resumed",
            Fact::ClockCredited { .. } => "clock credited",
            Fact::Ended(_) => "ended",
        }));
    }
    assert_eq!(seen.len(), 13, "all but configured: {seen:?}");
}
