//! Arenas and pools.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use reversi_engine::match_statistics::Points;
use reversi_room::{AiSeat, Issuer, Participant, RoomId, Timestamp};
use reversi_tournament::{
    Command, Control, Ending, EntrantId, Event, Fact, Pairing, Phase, Settings, Stage, Tournament, standings,
};

use crate::trial::{ORGANISER, Trial, WON, ai, arena, played, player, profile, settings};

fn pairs_of(trial: &Trial) -> Vec<Vec<u32>> {
    trial.running().iter().map(|meeting| meeting.sides().map(|side| side.0).collect()).collect()
}

#[test]
fn two_free_players_of_a_small_arena_wait_five_seconds_at_most() {
    for players in 2..=7 {
        let mut trial = Trial::started(settings(arena(3600)), players);
        let due = trial.tournament.deadline();
        if players >= 3 {
            assert_eq!(trial.running().len() as u32, players / 2);
        } else {
            assert_eq!(due, Some(trial.now.after(Duration::from_secs(5))));
            trial.wait(5);
            assert_eq!(trial.running().len(), 1);
        }
    }
}

#[test]
fn a_sixteenth_of_a_large_arena_must_be_free() {
    let mut trial = Trial::started(settings(arena(3600)), 100);
    assert_eq!(trial.running().len(), 50);
    let first: Vec<u32> = trial.running().iter().map(|meeting| meeting.pairing.number).collect();
    trial.wait(64);
    first[..3].iter().for_each(|number| drop(trial.finish(*number, played(&WON))));
    assert_eq!(trial.running().len(), 47);
    trial.finish(first[3], played(&WON));
    assert_eq!(trial.running().len(), 50);
    trial.finish(first[4], played(&WON));
    // The mean meeting took 64 s, and each of 100 players makes a wait of a 200th of it.
    trial.wait(31);
    assert_eq!(trial.running().len(), 49);
    trial.wait(1);
    assert_eq!(trial.running().len(), 50);
}

#[test]
fn a_rematch_comes_only_where_nobody_else_is_free() {
    let mut trial = Trial::started(settings(arena(3600)), 3);
    let mut last = Vec::new();
    for _ in 0..12 {
        trial.wait(5);
        let pairs = pairs_of(&trial);
        assert_eq!(pairs.len(), 1);
        let pair: Vec<u32> = {
            let mut pair = pairs[0].clone();
            pair.sort_unstable();
            pair
        };
        assert_ne!(pair, last);
        last = pair;
        trial.wait(30);
        let number = trial.running()[0].pairing.number;
        trial.finish(number, played(&WON));
    }
    let mut two = Trial::started(settings(arena(3600)), 2);
    for round in 1..=3 {
        two.wait(5);
        assert_eq!(two.running()[0].round, round);
        let number = two.running()[0].pairing.number;
        two.finish(number, played(&WON));
    }
}

/// Players 2, 3 and 4 have each met player 1 last, so each pairing of the four has a rematch, which waits.
#[test]
fn a_rematch_waits_while_others_are_free() {
    let mut trial = Trial::new(settings(arena(3600)), 4);
    (2..=4).for_each(|number| drop(trial.presence(number, false)));
    trial.control(Control::Start).unwrap();
    for number in 2..=4 {
        trial.presence(number, true);
        trial.wait(5);
        trial.presence(number, false);
        trial.wait(60);
        let meeting = trial.running()[0].pairing.number;
        trial.finish(meeting, played(&WON));
    }
    (2..=4).for_each(|number| drop(trial.presence(number, true)));
    trial.tick();
    let pairs = pairs_of(&trial);
    assert!(pairs.len() == 1 && !pairs[0].contains(&1), "{pairs:?}");
    trial.wait(5);
    assert!(trial.running().len() == 2 && pairs_of(&trial)[1].contains(&1));
}

#[test]
fn the_absent_are_not_paired_and_delay_nobody() {
    let mut trial = Trial::new(settings(arena(3600)), 6);
    [1, 2].iter().for_each(|number| drop(trial.presence(*number, false)));
    trial.control(Control::Start).unwrap();
    trial.tick();
    assert_eq!(pairs_of(&trial).concat().into_iter().min(), Some(3));
    assert_eq!(trial.running().len(), 2);
}

#[test]
fn an_ai_plays_who_has_no_opponent() {
    let mut trial = Trial::new(settings(arena(0)), 3);
    trial.issue(ORGANISER, Command::Join { who: Participant::Ai(ai()), rating: 1500, password: None }).unwrap();
    trial.control(Control::Start).unwrap();
    trial.wait(5);
    assert_eq!(trial.running().len(), 2);
    let mut alone = Trial::new(settings(arena(0)), 1);
    alone.issue(ORGANISER, Command::Join { who: Participant::Ai(ai()), rating: 1500, password: None }).unwrap();
    alone.control(Control::Start).unwrap();
    for _ in 0..3 {
        alone.wait(5);
        let number = alone.running()[0].pairing.number;
        alone.finish(number, played(&WON));
    }
}

#[test]
fn two_players_of_a_pool_play_ais_between_their_meetings() {
    let mut trial = Trial::new(settings(arena(0)), 2);
    for level in 1..=2 {
        let who = Participant::Ai(AiSeat { level, ..ai() });
        trial.issue(ORGANISER, Command::Join { who, rating: 1500, password: None }).unwrap();
    }
    trial.control(Control::Start).unwrap();
    for round in 0..6 {
        trial.wait(5);
        let running = trial.running();
        assert_eq!(running.len(), 1 + round % 2, "round {round}");
        running.iter().for_each(|meeting| drop(trial.finish(meeting.pairing.number, played(&WON))));
    }
}

/// Plays an arena: each meeting ends 30 to 90 s after it was opened.
fn simulate(trial: &mut Trial, until: Timestamp) {
    let mut ends: BTreeMap<u32, Timestamp> = BTreeMap::new();
    loop {
        for meeting in trial.running() {
            let number = meeting.pairing.number;
            let lasts = Duration::from_secs(30 + trial.draw() % 60);
            ends.entry(number).or_insert_with(|| meeting.opened.expect("running").after(lasts));
        }
        let next = ends.iter().map(|(number, at)| (*at, *number)).min();
        let due = trial.tournament.deadline();
        match (next, due) {
            (Some((at, number)), due) if due.is_none_or(|due| at <= due) => {
                trial.now = at.max(trial.now);
                ends.remove(&number);
                let meeting = trial.tournament.meeting(number).expect("kept").clone();
                let outcome = trial.any_result(&meeting);
                trial.finish(number, outcome);
            }
            (_, Some(due)) => {
                trial.now = due.max(trial.now);
                trial.tick();
            }
            _ => return,
        }
        if trial.now >= until {
            return;
        }
    }
}

#[test]
fn an_arena_ends_when_its_time_is_up_and_all_is_played() {
    let mut trial = Trial::started(settings(arena(1800)), 10);
    let ends = trial.now.after(Duration::from_secs(1800));
    simulate(&mut trial, Timestamp(i64::MAX));
    assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
    assert!(ends <= trial.now && trial.now < ends.after(Duration::from_secs(90)));
    let rows = standings(&trial.tournament);
    // Every player plays nearly all the time, and the strong ones win.
    assert!(rows.iter().all(|row| row.meetings >= 20), "{rows:?}");
    assert!(rows[0].entrant.0 <= 4, "{rows:?}");
}

/// The share of its time in games and its opponents, of each player of a pool in 8 hours.
fn eight_hours(players: u32) -> BTreeMap<EntrantId, (f64, BTreeMap<EntrantId, u32>)> {
    let mut trial = Trial::new(settings(arena(0)), players);
    trial
        .issue(ORGANISER, Command::Join { who: Participant::Ai(ai()), rating: 1500, password: None })
        .expect("allowed");
    trial.control(Control::Start).expect("allowed");
    let start = trial.now;
    simulate(&mut trial, start.after(Duration::from_secs(8 * 3600)));
    let lasted = trial.now.since(start).as_secs_f64();
    let mut running = BTreeMap::new();
    let mut found: BTreeMap<EntrantId, (f64, BTreeMap<EntrantId, u32>)> = BTreeMap::new();
    for event in &trial.history {
        match &event.fact {
            Fact::Paired { meetings, .. } => {
                running.extend(meetings.iter().map(|pairing| (pairing.number, (*pairing, event.at))));
            }
            Fact::Finished { number, .. } => {
                let (pairing, opened) = running.remove(number).expect("once");
                let (first, second) = (pairing.first, pairing.second.expect("an opponent"));
                for (one, other) in [(first, second), (second, first)] {
                    let (share, opponents) = found.entry(one).or_default();
                    *share += event.at.since(opened).as_secs_f64() / lasted;
                    *opponents.entry(other).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    found.retain(|one, _| one.0 <= players);
    found
}

#[test]
fn a_player_of_a_pool_plays_nearly_always_and_against_many() {
    for players in [8, 13, 20, 33, 100] {
        let found = eight_hours(players);
        assert_eq!(found.len() as u32, players);
        for (one, (share, opponents)) in found {
            assert!(share >= 0.95, "{one} of {players}: {share}");
            let games: u32 = opponents.values().sum();
            let most = opponents.values().max().expect("an opponent");
            assert!(opponents.len() >= 15.min(players as usize - 1), "{one} of {players}: {opponents:?}");
            assert!(players < 20 || most * 10 <= games, "{one} of {players}: {opponents:?}");
        }
    }
}

#[test]
fn a_pool_forgets_its_oldest_meetings_and_who_left_with_them() {
    let mut trial = Trial::started(settings(arena(0)), 3);
    trial.wait(5);
    trial.play_round();
    trial.issue(reversi_room::Issuer::Player(crate::trial::player(3)), Command::Leave).unwrap();
    for _ in 0..Tournament::POOL_MEETINGS + 5 {
        trial.wait(5);
        let number = trial.running()[0].pairing.number;
        trial.finish(number, played(&WON));
    }
    assert_eq!(trial.tournament.meetings().len(), Tournament::POOL_MEETINGS);
    assert_eq!(trial.tournament.entrants().len(), 2);
    // A room that tells its end once more changes nothing.
    assert_eq!(trial.tournament.meeting(1), None);
    assert_eq!(trial.finish(1, played(&WON)), []);
    assert_eq!(Tournament::replay(&trial.history).as_ref(), Some(&trial.tournament));
}

/// Player 25 of an odd pool is far weaker than all others, who are nearer to each other.
#[test]
fn nobody_is_left_out_of_two_pairings_in_a_row() {
    let mut trial = Trial::new(settings(arena(0)), 24);
    let who = Participant::Player(profile(25));
    trial.issue(Issuer::Player(player(25)), Command::Join { who, rating: 100, password: None }).unwrap();
    trial.control(Control::Start).unwrap();
    let until = trial.now.after(Duration::from_secs(3600));
    simulate(&mut trial, until);
    let mut left_out: BTreeSet<EntrantId> = BTreeSet::new();
    let mut busy: BTreeSet<EntrantId> = BTreeSet::new();
    for event in &trial.history {
        match &event.fact {
            Fact::Paired { meetings, .. } => {
                busy.extend(meetings.iter().flat_map(|meeting| [Some(meeting.first), meeting.second]).flatten());
                let free: BTreeSet<EntrantId> = (1..=25).map(EntrantId).filter(|one| !busy.contains(one)).collect();
                assert!(free.is_disjoint(&left_out), "{free:?} at {}", event.seq.0);
                left_out = free;
            }
            Fact::Finished { number, .. } => {
                let meeting = trial.tournament.meeting(*number).expect("kept");
                busy.retain(|one| meeting.side_of(*one).is_none());
            }
            _ => {}
        }
    }
}

#[test]
fn the_ais_of_a_pool_take_turns() {
    let mut trial = Trial::new(settings(arena(0)), 1);
    for level in 1..=3 {
        let who = Participant::Ai(AiSeat { level, ..ai() });
        trial.issue(ORGANISER, Command::Join { who, rating: 1500, password: None }).unwrap();
    }
    trial.control(Control::Start).unwrap();
    let mut met = BTreeSet::new();
    for _ in 0..3 {
        trial.wait(5);
        let meeting = trial.running().remove(0);
        met.extend(meeting.sides());
        trial.finish(meeting.pairing.number, played(&WON));
    }
    assert_eq!(met.len(), 4);
}

/// 1 beats 4 and 3 beats 2. Points pair 1 with 3, and ratings 1 with 2.
#[test]
fn points_pair_an_arena_and_ratings_a_pool() {
    for (seconds, opponent) in [(3600, 3), (0, 2)] {
        for seed in 0..8 {
            let mut trial = Trial::new(Settings { seed, ..settings(arena(seconds)) }, 4);
            [2, 3].iter().for_each(|number| drop(trial.presence(*number, false)));
            trial.control(Control::Start).unwrap();
            trial.wait(5);
            [2, 3].iter().for_each(|number| drop(trial.presence(*number, true)));
            trial.wait(5);
            trial.wait(Tournament::POOL_PACE.as_secs());
            for meeting in trial.running() {
                let first_wins = [1, 3].contains(&meeting.pairing.first.0);
                trial.finish(meeting.pairing.number, played(&[if first_wins { Points::Win } else { Points::Loss }; 2]));
            }
            let mut pairs = pairs_of(&trial);
            pairs.iter_mut().for_each(|pair| pair.sort_unstable());
            assert!(pairs.contains(&vec![1, opponent]), "{pairs:?}");
            let openings: BTreeSet<u64> = trial.tournament.meetings().map(|meeting| meeting.pairing.opening).collect();
            assert_eq!(openings.len(), 4);
        }
    }
}

#[test]
fn the_absent_do_not_count_for_how_many_must_be_free() {
    let mut trial = Trial::new(settings(arena(3600)), 108);
    (49..=108).for_each(|number| drop(trial.presence(number, false)));
    trial.control(Control::Start).unwrap();
    trial.tick();
    trial.wait(60);
    [1, 2].iter().for_each(|number| drop(trial.finish(*number, played(&WON))));
    assert_eq!(trial.running().len(), 24);
}

/// Otherwise two programs that answer at once would play several games a second.
#[test]
fn a_short_meeting_of_a_pool_or_an_arena_is_not_followed_at_once() {
    for (seconds, pace) in [(0, Tournament::POOL_PACE), (3600, Tournament::ARENA_PACE)] {
        let mut trial = Trial::started(settings(arena(seconds)), 2);
        trial.wait(5);
        let [meeting] = &trial.running()[..] else { panic!("a meeting") };
        let number = meeting.pairing.number;
        trial.server(Command::Finish { number, outcome: played(&WON) });
        trial.wait(pace.as_secs() - 1);
        assert!(trial.running().is_empty());
        // Back and forth does not shorten it.
        trial.server(Command::SetPresence(player(1), false));
        trial.server(Command::SetPresence(player(1), true));
        trial.wait(6);
        assert_eq!(trial.running().len(), 1);
    }
}

#[test]
fn players_who_come_back_wait_anew() {
    let mut trial = Trial::new(settings(arena(3600)), 2);
    [1, 2].iter().for_each(|number| drop(trial.presence(*number, false)));
    trial.control(Control::Start).unwrap();
    trial.wait(60);
    [1, 2].iter().for_each(|number| drop(trial.presence(*number, true)));
    assert_eq!(trial.tournament.deadline(), Some(trial.now.after(Duration::from_secs(5))));
}

#[test]
fn an_arena_with_the_highest_number_of_meetings_ends() {
    let Trial { mut tournament, now, .. } = Trial::started(settings(arena(3600)), 2);
    let bye = |number| Pairing {
        number,
        first: EntrantId(1),
        second: None,
        room: RoomId::from_random(number.into()),
        opening: 0,
    };
    let meetings = (1..=Tournament::MAX_MEETINGS).map(bye).collect();
    let fact = Fact::Paired { stage: Stage::Main, round: 1, meetings };
    tournament.apply(&Event { seq: tournament.seq().next(), at: now, fact });
    let events = tournament.decide(now, Issuer::Server, Command::Tick { random: 1 }).unwrap();
    assert_eq!(events.last().map(|event| event.fact.clone()), Some(Fact::Ended(Ending::Completed)));
}

#[test]
fn players_of_near_ratings_meet() {
    for (ratings, expected) in [([2000, 1000, 990], [2, 3]), ([2000, 1990, 1000], [1, 2])] {
        let mut trial = Trial::new(settings(arena(0)), 0);
        for (number, rating) in (1..).zip(ratings) {
            let who = Participant::Player(profile(number));
            let join = Command::Join { who, rating, password: None };
            trial.issue(Issuer::Player(player(number)), join).unwrap();
        }
        trial.control(Control::Start).unwrap();
        trial.tick();
        assert_eq!(BTreeSet::from_iter(pairs_of(&trial).concat()), expected.into());
    }
}
