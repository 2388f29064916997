//! Who may do what, and when.

use std::time::Duration;

use reversi_engine::match_statistics::Score;
use reversi_room::{Issuer, Opponents, Participant, PasswordHash, RoomName, Timestamp};
use reversi_tournament::{
    Command, Control, Ending, EntrantId, EntrantState, Fact, Format, Outcome, Phase, Playoff, Rejection, Settings,
    Tournament, standings,
};

use crate::trial::{ORGANISER, Trial, WON, ai, played, player, profile, settings};

fn swiss() -> Settings {
    settings(Format::Swiss { rounds: 3 })
}

#[test]
fn only_the_organiser_controls_and_only_the_server_tells_results() {
    let mut trial = Trial::new(swiss(), 4);
    let other = Issuer::Player(player(1));
    for control in [Control::Start, Control::Pause, Control::Resume, Control::End, Control::Cancel] {
        assert_eq!(trial.issue(other, Command::Control(control)), Err(Rejection::NotOrganiser));
    }
    let mine = [Command::Configure(Box::new(swiss())), Command::Exclude(EntrantId(2))];
    for command in mine {
        assert_eq!(trial.issue(other, command), Err(Rejection::NotOrganiser));
    }
    trial.control(Control::Start).unwrap();
    trial.tick();
    for issuer in [other, ORGANISER, Issuer::Admin] {
        let finish = Command::Finish { number: 1, outcome: played(&WON) };
        assert_eq!(trial.issue(issuer, finish), Err(Rejection::NotServer));
        assert_eq!(trial.issue(issuer, Command::Tick { random: 1 }), Err(Rejection::NotServer));
    }
}

#[test]
fn players_join_by_themselves_and_ais_by_the_organiser() {
    let admits = Opponents { people: false, min_rating: Some(1995), ..Opponents::default() };
    let password = Some(PasswordHash([1; 32].into()));
    let mut trial = Trial::new(Settings { admits, password: password.clone(), max_entrants: 3, ..swiss() }, 0);
    let join = |who: Participant, rating, password: &Option<PasswordHash>| Command::Join {
        who,
        rating,
        password: password.clone(),
    };
    let one = || Participant::Player(profile(1));
    let own = Issuer::Player(player(1));
    assert_eq!(trial.issue(own, join(one(), 1994, &password)), Err(Rejection::NotAdmitted));
    assert_eq!(trial.issue(own, join(one(), 1999, &None)), Err(Rejection::BadPassword));
    assert_eq!(trial.issue(ORGANISER, join(one(), 1999, &password)), Err(Rejection::NotYou));
    assert_eq!(trial.issue(own, join(Participant::Ai(ai()), 0, &password)), Err(Rejection::NotOrganiser));
    assert_eq!(trial.issue(own, join(one(), 1999, &password)).unwrap().len(), 1);
    assert_eq!(trial.issue(own, join(one(), 1999, &password)).unwrap(), []);
    assert_eq!(trial.issue(ORGANISER, join(Participant::Ai(ai()), 0, &None)).unwrap().len(), 1);
    let next = |number| (Issuer::Player(player(number)), join(Participant::Player(profile(number)), 1999, &password));
    let (issuer, command) = next(2);
    trial.issue(issuer, command).unwrap();
    let (issuer, command) = next(3);
    assert_eq!(trial.issue(issuer, command), Err(Rejection::TournamentFull));
}

#[test]
fn an_entrant_who_leaves_before_the_start_is_forgotten_and_one_excluded_stays_out() {
    let mut trial = Trial::new(settings(Format::Swiss { rounds: 2 }), 4);
    trial.issue(Issuer::Player(player(1)), Command::Leave).unwrap();
    trial.issue(ORGANISER, Command::Exclude(EntrantId(2))).unwrap();
    assert_eq!(trial.tournament.entrants().keys().map(|id| id.0).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(trial.join(2), Err(Rejection::Excluded));
    assert_eq!(trial.issue(Issuer::Player(player(2)), Command::Admit(EntrantId(2))), Err(Rejection::NotOrganiser));
    assert_eq!(trial.issue(ORGANISER, Command::Admit(EntrantId(3))), Ok(Vec::new()));
    trial.issue(ORGANISER, Command::Admit(EntrantId(2))).unwrap();
    trial.join(2).unwrap();
    trial.issue(ORGANISER, Command::Exclude(EntrantId(5))).unwrap();
    trial.join(1).unwrap();
    assert_eq!(trial.tournament.entrant(&Participant::Player(profile(1))), Some(EntrantId(6)));
    trial.control(Control::Start).unwrap();
    trial.tick();
    assert!(trial.running().iter().all(|meeting| meeting.sides().all(|side| ![1, 2, 5].contains(&side.0))));
}

#[test]
fn late_entrants_join_a_swiss_tournament_but_not_an_all_play_all() {
    let mut trial = Trial::started(swiss(), 4);
    trial.join(5).unwrap();
    trial.play_round();
    assert!(trial.round(2).iter().any(|(a, b)| a.0 == 5 || b.is_some_and(|b| b.0 == 5)));
    let mut closed = Trial::started(settings(Format::AllPlayAll { cycles: 1, challengers: Vec::new() }), 4);
    assert_eq!(closed.join(5), Err(Rejection::AlreadyStarted));
}

#[test]
fn a_pause_lets_meetings_end_and_pairs_no_more() {
    let mut trial = Trial::started(swiss(), 4);
    trial.control(Control::Pause).unwrap();
    trial.play_round();
    assert_eq!((trial.tournament.deadline(), trial.running().len()), (None, 0));
    trial.control(Control::Resume).unwrap();
    trial.tick();
    assert_eq!((trial.tournament.phase(), trial.running().len()), (Phase::Running, 2));
    let mut knockout =
        Trial::started(Settings { playoff: Some(Playoff::Four), ..settings(Format::Swiss { rounds: 0 }) }, 4);
    knockout.control(Control::Pause).unwrap();
    knockout.control(Control::Resume).unwrap();
    assert_eq!(knockout.tournament.phase(), Phase::Playoff);
}

#[test]
fn the_start_is_punctual_and_needs_two_entrants() {
    let at = Trial::new(swiss(), 0).now.after(Duration::from_secs(60));
    for (players, phase) in [(4, Phase::Running), (1, Phase::Ended(Ending::TooFewEntrants))] {
        let mut trial = Trial::new(Settings { starts_at: Some(at), ..swiss() }, players);
        assert_eq!(trial.tournament.deadline(), Some(at));
        trial.wait(59);
        assert_eq!(trial.tournament.phase(), Phase::Open);
        trial.wait(1);
        assert_eq!(trial.tournament.phase(), phase);
    }
}

#[test]
fn a_cancelled_tournament_says_why() {
    for (issuer, ending) in
        [(ORGANISER, Ending::Cancelled), (Issuer::Admin, Ending::Cancelled), (Issuer::Server, Ending::Stale)]
    {
        let mut trial = Trial::new(swiss(), 4);
        trial.issue(issuer, Command::Control(Control::Cancel)).unwrap();
        assert_eq!(trial.tournament.phase(), Phase::Ended(ending));
    }
}

#[test]
fn after_the_end_entrants_stay_and_others_are_no_entrants() {
    let mut trial = Trial::started(swiss(), 4);
    trial.control(Control::End).unwrap();
    assert_eq!(trial.issue(Issuer::Player(player(1)), Command::Leave), Ok(Vec::new()));
    assert_eq!(trial.issue(Issuer::Player(player(9)), Command::Leave), Err(Rejection::EntrantNotFound));
}

/// Seven players and a bye make five rounds.
#[test]
fn a_scheduled_start_has_as_many_rounds_as_there_can_be() {
    let format = Format::Swiss { rounds: 7 };
    let mut trial = Trial::new(Settings { starts_at: Some(Timestamp(2_000_000)), ..settings(format) }, 7);
    trial.wait(1);
    assert_eq!(trial.tournament.settings().format, Format::Swiss { rounds: 5 });
    assert_eq!((trial.tournament.phase(), trial.running().len()), (Phase::Running, 3));
}

#[test]
fn an_early_end_voids_what_runs_and_keeps_the_standings() {
    let mut trial = Trial::started(swiss(), 4);
    let meetings = trial.running();
    trial.finish(meetings[0].pairing.number, played(&WON));
    let events = trial.control(Control::End).unwrap();
    assert!(matches!(events[0].fact, Fact::Finished { number: 2, outcome: Outcome::Void }));
    assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Stopped));
    let rows = standings(&trial.tournament);
    assert_eq!(rows[0].points.0, 4);
    let void = rows.iter().find(|row| row.entrant == meetings[1].pairing.first).unwrap();
    assert_eq!((void.meetings, void.discs, void.brightwell), (0, 0, 0));
    // The room of the other meeting still ends.
    assert_eq!(trial.finish(2, played(&WON)), []);
    assert_eq!(trial.join(9), Err(Rejection::TournamentEnded));
    let end = Command::Control(Control::End);
    assert_eq!(trial.issue(ORGANISER, end.clone()), Err(Rejection::TournamentEnded));
    assert_eq!(trial.issue(Issuer::Player(player(1)), end), Err(Rejection::NotOrganiser), "as before the end");
}

#[test]
fn an_impossible_outcome_is_refused() {
    let mut trial = Trial::started(settings(Format::Swiss { rounds: 2 }), 3);
    let Outcome::Played { score, discs, faults } = played(&WON) else { unreachable!() };
    let three = Score { wins: 3, ..score };
    let bye = trial.tournament.meetings().find(|meeting| meeting.is_finished()).unwrap().pairing.number;
    let running = trial.running()[0].pairing.number;
    let cases = [
        (running, Outcome::Played { score: three, discs, faults }),
        (running, Outcome::Played { score: Score { wins: 1, ..score }, discs, faults }),
        (running, Outcome::Played { score, discs: [u32::MAX, 1], faults }),
    ];
    for (number, outcome) in cases {
        assert_eq!(trial.issue(Issuer::Server, Command::Finish { number, outcome }), Err(Rejection::BadOutcome));
    }
    assert_eq!(trial.server(Command::Finish { number: bye, outcome: Outcome::Void }), []);
    let unknown = Command::Finish { number: 99, outcome: Outcome::Void };
    assert_eq!(trial.issue(Issuer::Server, unknown), Err(Rejection::MeetingNotFound));
}

#[test]
fn states_of_entrants_are_told() {
    let mut trial = Trial::started(swiss(), 4);
    let state = |trial: &Trial, number| trial.tournament.entrants()[&EntrantId(number)].state(trial.now);
    trial.presence(2, false);
    assert_eq!((state(&trial, 1), state(&trial, 2)), (EntrantState::In, EntrantState::Away));
    trial.issue(ORGANISER, Command::Exclude(EntrantId(3))).unwrap();
    assert!(matches!(state(&trial, 3), EntrantState::Left(_)));
}

#[test]
fn too_many_meetings_are_refused() {
    let mut trial = Trial::new(settings(Format::AllPlayAll { cycles: 100, challengers: Vec::new() }), 50);
    assert_eq!(trial.control(Control::Start), Err(Rejection::TooManyMeetings(Tournament::MAX_MEETINGS)));
}

#[test]
fn settings_change_before_the_start() {
    let mut trial = Trial::new(swiss(), 4);
    let changed = Settings { name: RoomName::parse("Monday").unwrap(), ..swiss() };
    let configure = |settings: &Settings| Command::Configure(Box::new(settings.clone()));
    assert_eq!(trial.issue(ORGANISER, configure(&swiss())), Ok(Vec::new()));
    trial.issue(ORGANISER, configure(&changed)).unwrap();
    assert_eq!(trial.tournament.settings(), &changed);
    let small = Settings { max_entrants: 3, ..swiss() };
    assert_eq!(trial.issue(ORGANISER, configure(&small)), Err(Rejection::TournamentFull));
    let bad = Settings { max_running: 0, ..swiss() };
    assert!(matches!(trial.issue(ORGANISER, configure(&bad)), Err(Rejection::BadSettings(_))));
    trial.control(Control::Start).unwrap();
    assert_eq!(trial.issue(ORGANISER, configure(&swiss())), Err(Rejection::AlreadyStarted));
}

#[test]
fn excluded_players_are_bounded() {
    let mut trial = Trial::new(Settings { max_entrants: 1000, ..swiss() }, 201);
    let most = u32::try_from(Tournament::MAX_EXCLUDED).unwrap();
    (1..=most).for_each(|number| drop(trial.issue(ORGANISER, Command::Exclude(EntrantId(number))).unwrap()));
    assert_eq!(trial.issue(ORGANISER, Command::Exclude(EntrantId(201))), Err(Rejection::TooManyExcluded));
}

#[test]
fn a_pause_begins_no_meeting_that_waits_for_its_room() {
    let mut trial = Trial::started(Settings { max_running: 1, ..swiss() }, 4);
    trial.control(Control::Pause).unwrap();
    trial.finish(1, played(&WON));
    trial.wait(3600);
    assert_eq!((trial.running(), trial.tournament.meeting(2).unwrap().outcome), (Vec::new(), None));
    trial.control(Control::Resume).unwrap();
    assert_eq!(trial.running()[0].opened, Some(trial.now));
}
