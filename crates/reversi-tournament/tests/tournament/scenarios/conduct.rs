//! No-shows, and entrants who are put aside.

use std::time::Duration;

use reversi_room::{ChatText, Issuer, Participant};
use reversi_tournament::{
    Command, Control, EntrantId, EntrantState, Fact, Fault, Forfeiter, Format, Outcome, Settings,
};

use crate::trial::{ORGANISER, Trial, WON, ai, arena, played, player, settings};

fn two_players(cycles: u8) -> Settings {
    settings(Format::AllPlayAll { cycles, challengers: Vec::new() })
}

#[test]
fn the_point_goes_to_the_side_that_is_there() {
    let mut trial = Trial::new(two_players(2), 2);
    trial.presence(1, false);
    trial.control(reversi_tournament::Control::Start).unwrap();
    trial.tick();
    trial.wait(59);
    assert_eq!(trial.running()[0].outcome, None);
    trial.wait(1);
    let first = trial.tournament.meeting(1).unwrap();
    let by = if first.pairing.first == EntrantId(1) { Forfeiter::First } else { Forfeiter::Second };
    assert_eq!(first.outcome, Some(Outcome::Forfeit { by, fault: true }));
    // Who comes within the minute plays, and the room judges later absences.
    trial.presence(1, true);
    trial.presence(1, false);
    trial.wait(3600);
    assert_eq!(trial.tournament.meeting(2).unwrap().outcome, None);
}

#[test]
fn a_server_that_was_down_costs_nobody_the_meeting() {
    let mut trial = Trial::new(two_players(1), 2);
    trial.presence(1, false);
    trial.presence(2, false);
    assert_eq!(trial.server(Command::Credit { micros: 1 }), []);
    trial.control(reversi_tournament::Control::Start).unwrap();
    trial.tick();
    trial.now = trial.now.after(Duration::from_secs(3600));
    trial.server(Command::Credit { micros: 3_600_000_000 });
    trial.tick();
    assert_eq!(trial.running().len(), 1);
    trial.wait(60);
    let outcome = trial.tournament.meeting(1).unwrap().outcome;
    assert_eq!(outcome, Some(Outcome::Forfeit { by: Forfeiter::Both, fault: true }));
}

fn timeout_of(trial: &Trial, loser: u32) -> (u32, Outcome) {
    let meeting = trial.running().remove(0);
    let side = meeting.side_of(EntrantId(loser)).expect("a side");
    let mut faults = [None; 2];
    faults[side] = Some(Fault::Timeout);
    let Outcome::Played { score, discs, .. } = played(&WON) else { unreachable!() };
    let score = if side == 1 { score } else { score.opposite() };
    (meeting.pairing.number, Outcome::Played { score, discs, faults })
}

#[test]
fn three_faults_put_aside_with_the_meetings() {
    let mut trial = Trial::started(two_players(9), 2);
    let mut told = None;
    for _ in 0..3 {
        let (number, outcome) = timeout_of(&trial, 2);
        told = trial.finish(number, outcome).into_iter().find_map(|event| match event.fact {
            Fact::PutAside { entrant, put_aside, meetings } => Some((entrant, put_aside, meetings)),
            _ => None,
        });
    }
    let (entrant, put_aside, meetings) = told.expect("put aside");
    assert_eq!((entrant, put_aside.reason, meetings), (EntrantId(2), Fault::Timeout, vec![1, 2, 3]));
    assert_eq!(put_aside.until, trial.now.after(Duration::from_secs(600)));
    assert_eq!(trial.running().len(), 0);
    trial.wait(599);
    assert_eq!(trial.tournament.entrants()[&EntrantId(2)].state(trial.now), EntrantState::PutAside(put_aside));
    assert_eq!(trial.running().len(), 0);
    trial.wait(1);
    assert_eq!(trial.running().len(), 1);
}

#[test]
fn an_ai_plays_in_the_place_of_a_player_who_is_put_aside() {
    let mut trial = Trial::new(settings(arena(3600)), 2);
    trial.issue(ORGANISER, Command::Join { who: Participant::Ai(ai()), rating: 1500, password: None }).unwrap();
    trial.control(Control::Start).unwrap();
    for _ in 0..3 {
        trial.wait(5);
        let (number, outcome) = timeout_of(&trial, 2);
        trial.finish(number, outcome);
    }
    trial.wait(5);
    assert_eq!(trial.running()[0].sides().map(|side| side.0).sum::<u32>(), 1 + 3);
}

/// In an arena the others go on.
#[test]
fn leaving_does_not_end_being_put_aside() {
    let mut trial = Trial::started(settings(arena(0)), 2);
    for _ in 0..3 {
        trial.wait(10);
        let (number, outcome) = timeout_of(&trial, 2);
        trial.finish(number, outcome);
    }
    trial.issue(Issuer::Player(player(2)), Command::Leave).unwrap();
    trial.join(2).unwrap();
    trial.join(3).unwrap();
    trial.wait(10);
    assert!(trial.running()[0].sides().all(|side| side != EntrantId(2)));
}

#[test]
fn the_absence_of_the_opponent_is_no_fault() {
    let mut trial = Trial::new(two_players(9), 2);
    trial.presence(1, false);
    trial.control(reversi_tournament::Control::Start).unwrap();
    trial.tick();
    (0..3).for_each(|_| trial.wait(60));
    let put_aside = |number| trial.tournament.entrants()[&EntrantId(number)].put_aside.map(|one| one.reason);
    assert_eq!((put_aside(1), put_aside(2)), (Some(Fault::Absence), None));
}

#[test]
fn a_decision_of_the_organiser_is_no_fault() {
    let mut trial = Trial::started(two_players(9), 2);
    for _ in 0..3 {
        let (number, outcome) = timeout_of(&trial, 2);
        let why = ChatText::parse("It was too late.").unwrap();
        trial.issue(ORGANISER, Command::Adjudicate { number, outcome, why }).unwrap();
        trial.tick();
    }
    let (number, outcome) = timeout_of(&trial, 2);
    trial.finish(number, outcome);
    assert_eq!(trial.tournament.entrants()[&EntrantId(2)].put_aside, None);
}
