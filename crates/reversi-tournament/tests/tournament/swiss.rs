//! Swiss tournaments of every size and length pair every round; repeats come only where they cannot be avoided.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use reversi_engine::match_statistics::Points;
use reversi_room::{Issuer, RoomName};
use reversi_tournament::{Command, Ending, EntrantId, Format, Outcome, Phase, Rejection, Settings, standings};

use crate::trial::{Trial, ai, played, player, settings};

type Met = BTreeMap<(u32, u32), u32>;

fn most_rounds(players: u32) -> u32 {
    if players.is_multiple_of(2) { players - 1 } else { players - players / 3 }
}

fn swiss(rounds: u32) -> Settings {
    settings(Format::Swiss { rounds: u8::try_from(rounds).expect("few") })
}

/// The fewest repeats of all pairings of `left`, where one of `byes` has a bye if their number is odd.
fn fewest_repeats(left: &[u32], byes: &BTreeSet<u32>, met: &Met) -> Option<u32> {
    let Some((&first, rest)) = left.split_first() else { return Some(0) };
    let pairs = rest.iter().filter_map(|&other| {
        let others: Vec<u32> = rest.iter().copied().filter(|one| *one != other).collect();
        Some(met.get(&(first, other)).copied().unwrap_or(0) + fewest_repeats(&others, byes, met)?)
    });
    let bye = (left.len() % 2 == 1 && byes.contains(&first)).then(|| fewest_repeats(rest, byes, met)).flatten();
    pairs.chain(bye).min()
}

/// Checks the round that was just paired against the standings before it.
fn check_round(trial: &Trial, players: u32, round: u32, met: &mut Met, had_bye: &mut BTreeSet<u32>) -> u32 {
    let pairs = trial.round(round);
    let paired: Vec<u32> = pairs.iter().flat_map(|(a, b)| [Some(a.0), b.map(|b| b.0)]).flatten().collect();
    assert_eq!(paired.len(), players as usize, "{players} players, round {round}");
    assert_eq!(paired.iter().collect::<BTreeSet<_>>().len(), players as usize);

    let before: BTreeMap<EntrantId, u32> = standings(&trial.tournament)
        .iter()
        .map(|row| {
            let byes = trial.round(round).contains(&(row.entrant, None));
            // A bye counts at once.
            (row.entrant, row.points.0 - if byes { 4 } else { 0 })
        })
        .collect();
    let mut best: Vec<u32> = (1..=players).collect();
    // Ratings fall with the numbers.
    best.sort_by_key(|one| (Reverse(before[&EntrantId(*one)]), *one));
    let byes: BTreeSet<u32> =
        best.iter().skip(players as usize / 3).copied().filter(|one| !had_bye.contains(one)).collect();
    let bye: Vec<u32> = pairs.iter().filter(|pair| pair.1.is_none()).map(|pair| pair.0.0).collect();
    assert_eq!(bye.len(), players as usize % 2);
    assert!(bye.iter().all(|one| byes.contains(one)), "{bye:?} of {byes:?}");

    let keys: Vec<(u32, u32)> = pairs.iter().filter_map(|(a, b)| b.map(|b| (a.0.min(b.0), a.0.max(b.0)))).collect();
    let repeats = keys.iter().map(|key| met.get(key).copied().unwrap_or(0)).sum();
    if players <= 10 {
        let all: Vec<u32> = (1..=players).collect();
        assert_eq!(Some(repeats), fewest_repeats(&all, &byes, met), "{players} players, round {round}");
    } else if round <= players / 2 {
        // By Dirac's theorem there is a pairing without repeats.
        assert_eq!(repeats, 0, "{players} players, round {round}");
    }
    keys.into_iter().for_each(|key| *met.entry(key).or_default() += 1);
    had_bye.extend(bye);
    repeats
}

/// A tournament of fewer rounds is the beginning of this one.
#[test]
fn every_round_of_every_size_is_paired() {
    for players in 2..=64 {
        let mut trial = Trial::started(swiss(most_rounds(players)), players);
        let (mut met, mut had_bye) = (Met::new(), BTreeSet::new());
        for round in 1..=most_rounds(players) {
            check_round(&trial, players, round, &mut met, &mut had_bye);
            trial.play_round();
        }
        assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed), "{players}");
    }
}

#[test]
fn small_fields_have_the_fewest_repeats_with_any_results() {
    for players in 2..=8 {
        for seed in 0..12 {
            let mut trial = Trial::started(Settings { seed, ..swiss(most_rounds(players)) }, players);
            (0..seed).for_each(|_| _ = trial.draw());
            let (mut met, mut had_bye) = (Met::new(), BTreeSet::new());
            for round in 1..=most_rounds(players) {
                check_round(&trial, players, round, &mut met, &mut had_bye);
                trial.play_round();
            }
        }
    }
}

#[test]
fn too_many_rounds_are_refused_with_the_most_possible() {
    for players in 2..=20 {
        let mut trial = Trial::new(swiss(most_rounds(players) + 1), players);
        let refused = trial.control(reversi_tournament::Control::Start);
        assert_eq!(refused, Err(Rejection::TooManyRounds(most_rounds(players))));
    }
}

#[test]
fn a_house_player_takes_the_place_of_the_bye() {
    let filled = Settings { fills_bye: Some(ai()), name: RoomName::parse("Filled").unwrap(), ..swiss(7) };
    let mut trial = Trial::started(filled, 7);
    let house = EntrantId(8);
    for round in 1..=7 {
        let pairs = trial.round(round);
        assert_eq!((pairs.len(), pairs.iter().filter(|pair| pair.1.is_none()).count()), (4, 0));
        assert!(pairs.iter().any(|(a, b)| *a == house || *b == Some(house)));
        trial.play_round();
    }
    assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
    let mut even = Trial::started(Settings { fills_bye: Some(ai()), ..swiss(3) }, 6);
    even.play_to_the_end();
    assert!(even.tournament.meetings().all(|meeting| meeting.sides().all(|side| side.0 <= 6)));
}

#[test]
fn a_tournament_does_not_go_on_with_one_player_and_the_house_player() {
    let mut trial = Trial::started(Settings { fills_bye: Some(ai()), ..swiss(3) }, 3);
    [1, 2].iter().for_each(|number| drop(trial.issue(Issuer::Player(player(*number)), Command::Leave).unwrap()));
    trial.play_round();
    assert_eq!(trial.tournament.phase(), Phase::Ended(Ending::Completed));
    assert!(trial.tournament.meetings().all(|meeting| meeting.round == 1));
}

/// Ratings pair the second round as the first, of which nothing was played.
#[test]
fn a_meeting_that_was_not_played_may_be_repeated() {
    let mut trial = Trial::started(swiss(2), 4);
    for meeting in trial.running() {
        trial.finish(meeting.pairing.number, Outcome::Void);
    }
    let pairs = |round| -> BTreeSet<BTreeSet<Option<EntrantId>>> {
        trial.round(round).into_iter().map(|(a, b)| [Some(a), b].into()).collect()
    };
    assert_eq!(pairs(1), [[1, 2], [3, 4]].map(|pair| pair.map(|one| Some(EntrantId(one))).into()).into());
    assert_eq!(pairs(1), pairs(2));
}

/// Also where a bye of a leader would bring the others as near to each other; here the leaders have the lowest ratings.
#[test]
fn a_bye_goes_to_the_lowest_score() {
    for players in [5, 7, 9, 11] {
        let mut trial = Trial::started(swiss(2), players);
        let bye = |trial: &Trial, round| trial.round(round).iter().find(|pair| pair.1.is_none()).unwrap().0;
        let first = bye(&trial, 1);
        for meeting in trial.running() {
            let upset = if Some(meeting.pairing.first) > meeting.pairing.second { Points::Win } else { Points::Loss };
            trial.finish(meeting.pairing.number, played(&[upset; 2]));
        }
        let second = bye(&trial, 2);
        let rows = standings(&trial.tournament);
        let points = rows.iter().find(|row| row.entrant == second).unwrap().points.0;
        assert!(
            second != first && points == 4,
            "{players}: {second:?} had {points} half points, with those of the bye"
        );
    }
}

#[test]
fn winners_meet_winners() {
    let mut trial = Trial::started(swiss(4), 16);
    for _ in 0..4 {
        let points: BTreeMap<EntrantId, u32> =
            standings(&trial.tournament).iter().map(|row| (row.entrant, row.points.0)).collect();
        let gaps: Vec<u32> = trial
            .running()
            .iter()
            .map(|meeting| {
                let points: Vec<u32> = meeting.sides().map(|side| points[&side]).collect();
                points[0].abs_diff(points[1])
            })
            .collect();
        assert!(gaps.iter().all(|gap| *gap <= 2), "{gaps:?}");
        trial.play_round();
    }
}

/// Only meetings of one game give colours.
#[test]
fn colours_are_balanced_where_a_meeting_is_one_game() {
    for players in [6, 16, 33] {
        let mut single = swiss(9.min(most_rounds(players)));
        single.game.games = 1;
        let mut trial = Trial::started(single, players);
        trial.play_to_the_end();
        let mut blacks: BTreeMap<EntrantId, i32> = BTreeMap::new();
        for meeting in trial.tournament.meetings() {
            if let Some(second) = meeting.pairing.second {
                *blacks.entry(meeting.pairing.first).or_default() += 1;
                *blacks.entry(second).or_default() -= 1;
            }
        }
        let unbalanced = blacks.values().filter(|balance| balance.abs() > 1).count();
        assert!(blacks.values().all(|balance| balance.abs() <= 2) && unbalanced * 4 <= blacks.len(), "{blacks:?}");
    }
}
