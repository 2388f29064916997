//! All-play-all, gauntlet and play-off.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{prelude::*, test_runner::RngSeed};
use reversi_engine::match_statistics::{Points, Score};
use reversi_room::{Issuer, Opening, Settings as RoomSettings};
use reversi_tournament::{
    Command, Control, Ending, EntrantId, Format, Outcome, Phase, Playoff, Rejection, Settings, Stage, standings,
};

use crate::trial::{Trial, WON, played, player, settings};

fn all_play_all(cycles: u8, challengers: &[u32]) -> Settings {
    settings(Format::AllPlayAll { cycles, challengers: challengers.iter().map(|number| player(*number)).collect() })
}

fn meetings_of_pairs(trial: &Trial) -> BTreeMap<(u32, u32), u32> {
    let mut counts = BTreeMap::new();
    for meeting in trial.tournament.meetings() {
        let second = meeting.pairing.second.expect("no byes").0;
        let first = meeting.pairing.first.0;
        *counts.entry((first.min(second), first.max(second))).or_default() += 1;
    }
    counts
}

#[test]
fn each_meets_each_other_in_each_cycle() {
    for (players, cycles) in [(2, 1), (5, 1), (6, 2), (7, 3)] {
        let mut trial = Trial::started(all_play_all(cycles, &[]), players);
        trial.play_to_the_end();
        let counts = meetings_of_pairs(&trial);
        assert_eq!(counts.len() as u32, players * (players - 1) / 2);
        assert!(counts.values().all(|count| *count == u32::from(cycles)));
        // The second cycle has the other colours.
        let sides: BTreeSet<Vec<EntrantId>> =
            trial.tournament.meetings().map(|meeting| meeting.sides().collect()).collect();
        assert_eq!(sides.len(), counts.len() * usize::from(cycles.min(2)));
    }
}

#[test]
fn challengers_meet_all_others_with_the_same_openings() {
    let mut gauntlet = all_play_all(2, &[1, 4]);
    gauntlet.game.opening = Opening::Balanced { seed: 0 };
    let mut trial = Trial::started(gauntlet, 6);
    trial.play_to_the_end();
    let counts = meetings_of_pairs(&trial);
    assert_eq!(counts.len(), 2 * 4);
    assert!(counts.iter().all(|(pair, count)| *count == 2 && [1, 4].contains(&pair.0) != [1, 4].contains(&pair.1)));
    let openings: BTreeSet<u64> = trial.tournament.meetings().map(|meeting| meeting.pairing.opening).collect();
    assert_eq!(openings.len(), 2);
    for meeting in trial.tournament.meetings() {
        let expected = RoomSettings {
            opening: Opening::Balanced { seed: meeting.pairing.opening },
            ..trial.tournament.settings().game.clone()
        };
        assert_eq!(trial.tournament.room_settings(meeting), expected);
    }
}

/// Two challengers, each with a test.
fn tested_gauntlet(cycles: u8) -> Settings {
    let mut gauntlet = all_play_all(cycles, &[1, 2]);
    gauntlet.game.opening = Opening::Balanced { seed: 0 };
    Settings { sprt: "0,200".parse().ok(), ..gauntlet }
}

#[test]
fn a_test_needs_challengers_and_pairs() {
    let gauntlet = tested_gauntlet(1);
    let Format::AllPlayAll { cycles, .. } = gauntlet.format else { unreachable!() };
    let without_challengers = Format::AllPlayAll { cycles, challengers: Vec::new() };
    let single = RoomSettings { games: 1, ..gauntlet.game.clone() };
    for (settings, is_possible) in [
        (gauntlet.clone(), true),
        (Settings { format: without_challengers, ..gauntlet.clone() }, false),
        (Settings { format: Format::Swiss { rounds: 3 }, ..gauntlet.clone() }, false),
        (Settings { game: single, ..gauntlet }, false),
    ] {
        assert_eq!(settings.check().map_err(|error| error.field), if is_possible { Ok(()) } else { Err("sprt") });
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100, rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// As the test of a match ends on the same pairs: no later, and no sooner.
    #[test]
    fn the_meetings_of_a_challenger_end_with_its_test(results in prop::collection::vec(0..9_usize, 1..40)) {
        const CYCLES: u8 = 12;
        let gauntlet = tested_gauntlet(CYCLES);
        let sprt = gauntlet.sprt.unwrap();
        let mut trial = Trial::started(gauntlet, 5);
        let mut of_challengers = BTreeMap::from([(EntrantId(1), Score::default()), (EntrantId(2), Score::default())]);
        while let Some(meeting) = trial.running().first().cloned() {
            let number = meeting.pairing.number;
            let challenger = meeting.sides().find(|side| side.0 < 3).unwrap();
            let score = of_challengers.get_mut(&challenger).unwrap();
            prop_assert_eq!(sprt.verdict(score), None);
            let result = results[number as usize % results.len()];
            let outcome = played(&[result % 3, result / 3].map(|game| [Points::Loss, Points::Draw, Points::Win][game]));
            trial.finish(number, outcome);
            let played = trial.tournament.meeting(number).unwrap().score().unwrap();
            *score += if meeting.side_of(challenger) == Some(0) { played } else { played.opposite() };
        }
        prop_assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
        for (challenger, score) in of_challengers {
            let meetings = trial.tournament.meetings().filter(|one| one.side_of(challenger).is_some()).count();
            prop_assert!(sprt.verdict(&score).is_some() || meetings == 3 * usize::from(CYCLES));
            let row = standings(&trial.tournament).into_iter().find(|row| row.entrant == challenger).unwrap();
            prop_assert_eq!(sprt.llr(&row.score), sprt.llr(&score));
        }
        // An opponent whose challenger is done has no meeting, rather than a bye.
        prop_assert!(trial.tournament.meetings().all(|meeting| meeting.pairing.second.is_some()));
    }
}

#[test]
fn a_gauntlet_needs_both_sides() {
    let mut trial = Trial::new(all_play_all(1, &[7]), 3);
    assert_eq!(trial.control(Control::Start), Err(Rejection::TooFewEntrants));
    let mut trial = Trial::started(all_play_all(1, &[1]), 3);
    trial.issue(Issuer::Player(player(1)), Command::Leave).unwrap();
    trial.tick();
    assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
}

#[test]
fn an_entrant_who_leaves_forfeits_and_later_opponents_have_a_bye() {
    let mut trial = Trial::started(all_play_all(1, &[]), 4);
    trial.issue(Issuer::Player(player(4)), Command::Leave).unwrap();
    trial.play_to_the_end();
    let rows = standings(&trial.tournament);
    assert_eq!((rows[3].entrant, rows[3].points.0), (EntrantId(4), 0));
    let forfeit = trial.tournament.meetings().find(|meeting| meeting.side_of(EntrantId(4)).is_some()).unwrap();
    assert!(matches!(forfeit.outcome, Some(Outcome::Forfeit { fault: false, .. })));
    assert!(rows.iter().all(|row| row.meetings == if row.entrant == EntrantId(4) { 1 } else { 3 }));
    assert_eq!(trial.tournament.meetings().filter(|meeting| meeting.pairing.second.is_none()).count(), 2);
}

#[test]
fn all_meetings_of_a_round_have_one_opening_and_their_own_rooms() {
    let mut trial = Trial::started(all_play_all(1, &[]), 8);
    trial.play_to_the_end();
    let openings: BTreeSet<(u32, u64)> =
        trial.tournament.meetings().map(|meeting| (meeting.round, meeting.pairing.opening)).collect();
    let rooms: BTreeSet<_> = trial.tournament.meetings().map(|meeting| meeting.pairing.room).collect();
    assert_eq!((openings.len(), rooms.len()), (7, 28));
}

#[test]
fn rooms_are_opened_as_many_as_may_run() {
    let mut trial = Trial::started(Settings { max_running: 3, ..all_play_all(1, &[]) }, 10);
    let mut finished = 0;
    while let Some(meeting) = trial.running().first().cloned() {
        assert!(trial.running().len() <= 3 && trial.running().iter().all(|meeting| meeting.opened.is_some()));
        trial.finish(meeting.pairing.number, played(&WON));
        finished += 1;
    }
    assert_eq!(finished, 45);
}

#[test]
fn the_best_play_off_and_the_winner_is_first() {
    for (playoff, players, expected) in
        [(Playoff::Eight, 9, 7), (Playoff::Four, 9, 3), (Playoff::Two, 4, 1), (Playoff::Eight, 5, 3)]
    {
        let mut trial = Trial::started(Settings { playoff: Some(playoff), ..all_play_all(1, &[]) }, players);
        while trial.tournament.phase() == Phase::Running {
            trial.play_round();
        }
        assert_eq!(trial.tournament.phase(), Phase::Playoff);
        let seeds: Vec<EntrantId> = standings(&trial.tournament).iter().map(|row| row.entrant).collect();
        // The lower seed wins every meeting.
        while let Some(meeting) = trial.running().first().cloned() {
            let rank = |id: EntrantId| seeds.iter().position(|seed| *seed == id);
            let first_wins = rank(meeting.pairing.first) > meeting.pairing.second.map(rank).unwrap();
            let result = if first_wins { played(&WON) } else { played(&[Points::Loss; 2]) };
            trial.finish(meeting.pairing.number, result);
        }
        assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
        let count = trial.tournament.meetings().filter(|meeting| meeting.stage == Stage::Playoff).count();
        assert_eq!(count, expected);
        let rows = standings(&trial.tournament);
        assert_eq!(rows[0].entrant, seeds[expected]);
        assert_eq!(rows[0].playoff_wins as usize, (expected + 1).ilog2() as usize);
    }
}

#[test]
fn a_knockout_alone_is_seeded_by_rating() {
    let knockout = Settings { playoff: Some(Playoff::Four), ..settings(Format::Swiss { rounds: 0 }) };
    let mut trial = Trial::started(knockout, 6);
    assert_eq!(trial.join(7), Err(Rejection::AlreadyStarted));
    assert_eq!(trial.round(1), [(1, 4), (2, 3)].map(|(a, b)| (EntrantId(a), Some(EntrantId(b)))));
    // In a draw the higher seed goes on.
    for meeting in trial.running() {
        trial.finish(meeting.pairing.number, played(&crate::trial::DRAWN));
    }
    assert_eq!(trial.round(2), [(EntrantId(1), Some(EntrantId(2)))]);
    trial.issue(Issuer::Player(player(1)), Command::Leave).unwrap();
    trial.tick();
    assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
    assert_eq!(standings(&trial.tournament)[0].entrant, EntrantId(2));
}
