//! Standings, crosstable and strengths of worked cases.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed},
};
use reversi_engine::match_statistics::{Difference, Points, Score};
use reversi_room::{ChatText, Issuer};
use reversi_tournament::{
    Cell, Command, Control, Crosstable, EntrantId, Fact, Fault, Forfeiter, Format, HalfPoints, Meeting, Outcome, Phase,
    Rejection, Settings, Strengths, crosstable, standings, trf,
};

use crate::trial::{DRAWN, ORGANISER, Trial, WON, arena, played, player, settings};

fn all_play_all() -> Format {
    Format::AllPlayAll { cycles: 1, challengers: Vec::new() }
}

/// Three players of whom 1 beats 2 and 3, and 2 and 3 draw: in meetings of two games, with 80 discs for the winner.
fn three_players() -> Trial {
    let mut trial = Trial::started(settings(all_play_all()), 3);
    while let Some(meeting) = trial.running().first().cloned() {
        let outcome = match (meeting.pairing.first.0, meeting.pairing.second.map(|second| second.0)) {
            (1, _) => played(&WON),
            (_, Some(1)) => played(&[Points::Loss; 2]),
            _ => played(&DRAWN),
        };
        trial.finish(meeting.pairing.number, outcome);
    }
    trial
}

#[test]
fn the_brightwell_quotient_is_discs_and_the_opponents_points() {
    let trial = three_players();
    let rows = standings(&trial.tournament);
    let of = |entrant| {
        let row = rows.iter().find(|row| row.entrant == EntrantId(entrant)).unwrap();
        (row.points.to_string(), row.discs, row.brightwell)
    };
    assert_eq!(of(1), ("4".to_owned(), 160, 160 + 6 * (1 + 1)));
    assert_eq!(of(2), ("1".to_owned(), 48 + 64, 48 + 64 + 6 * (4 + 1)));
    assert_eq!(of(3), of(2));
    assert_eq!(rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(rows[0].entrant, EntrantId(1));
}

#[test]
fn a_bye_and_a_withdrawn_opponent_count_as_32_discs_and_the_own_points() {
    let mut trial = Trial::started(settings(Format::Swiss { rounds: 2 }), 3);
    trial.control(Control::Pause).unwrap();
    let bye = trial.round(1).iter().find(|pair| pair.1.is_none()).unwrap().0;
    let meeting = trial.running().remove(0);
    trial.finish(meeting.pairing.number, played(&DRAWN));
    let row = |trial: &Trial, entrant| *standings(&trial.tournament).iter().find(|row| row.entrant == entrant).unwrap();
    assert_eq!((row(&trial, bye).points, row(&trial, bye).discs), (HalfPoints(4), 64));
    assert_eq!(row(&trial, bye).brightwell, 64 + 6 * 2);
    let (first, second) = (meeting.pairing.first, meeting.pairing.second.unwrap());
    assert_eq!(row(&trial, first).brightwell, 64 + 6);
    let other =
        Outcome::Played { score: Score { wins: 1, losses: 1, ..Score::default() }, discs: [80, 48], faults: [None; 2] };
    let why = ChatText::parse("The discs were wrong.").unwrap();
    trial.issue(ORGANISER, Command::Adjudicate { number: meeting.pairing.number, outcome: other, why }).unwrap();
    assert_eq!((row(&trial, first).brightwell, row(&trial, second).brightwell), (80 + 6, 48 + 6));
    trial.issue(Issuer::Player(player(second.0)), Command::Leave).unwrap();
    assert_eq!(row(&trial, first).brightwell, 64 + 6);
}

#[test]
fn forfeits_give_points_but_no_games() {
    let mut trial = Trial::started(settings(all_play_all()), 2);
    let meeting = trial.running().remove(0);
    trial.finish(meeting.pairing.number, Outcome::Forfeit { by: Forfeiter::Second, fault: true });
    let cells = crosstable(&trial.tournament);
    let key = (meeting.pairing.first, meeting.pairing.second.unwrap());
    assert_eq!(cells[&key], Cell { meetings: 1, points: HalfPoints(4), score: Score::default() });
    assert_eq!(cells[&(key.1, key.0)].points, HalfPoints(0));
    assert_eq!(Strengths::fit(&cells).of(key.0), None);
    let rows = standings(&trial.tournament);
    assert_eq!(rows.iter().map(|row| row.discs).collect::<Vec<_>>(), [64, 0]);
    assert_eq!(rows.iter().map(|row| row.brightwell).collect::<Vec<_>>(), [64 + 6 * 2, 6 * 2]);
}

/// A room ends its series when a player does not come back.
#[test]
fn the_games_that_a_side_missed_are_the_points_of_the_other() {
    let mut trial = Trial::started(settings(all_play_all()), 2);
    let meeting = trial.running().remove(0);
    let score = Score { losses: 1, ..Score::default() };
    let faults = [Some(Fault::Absence), None];
    trial.finish(meeting.pairing.number, Outcome::Played { score, discs: [0, 64], faults });
    let rows = standings(&trial.tournament);
    assert_eq!(rows.iter().map(|row| row.points).collect::<Vec<_>>(), [HalfPoints(4), HalfPoints(0)]);
    assert_eq!((rows[0].entrant, rows[0].score), (meeting.pairing.second.unwrap(), score.opposite()));
    // A series that a test of its result ended, and one that both left.
    for faults in [[None; 2], [Some(Fault::Absence); 2]] {
        let outcome = Outcome::Played { score, discs: [0, 64], faults };
        let meeting = Meeting { outcome: Some(outcome), ..trial.tournament.meeting(1).unwrap().clone() };
        assert_eq!(meeting.points(2), [HalfPoints(0), HalfPoints(2)]);
    }
}

/// Two rounds of four players. `second` has lost to the best and `third` to `second`; each has one win, and the
/// opponents of `second` have 4 points more, which are worth 24 discs.
#[test]
fn the_order_is_points_then_quotient_then_discs_then_lot() {
    let cases = [(10, true), (23, true), (24, false), (30, false)];
    for (seed, (more_discs, second_is_above)) in (0..8).flat_map(|seed| cases.map(|case| (seed, case))) {
        let mut trial = Trial::started(Settings { seed, ..settings(Format::Swiss { rounds: 2 }) }, 4);
        let mut losers = Vec::new();
        let mut first_round = trial.running();
        let second = first_round[1].pairing.first;
        let third = first_round[1].pairing.second.unwrap();
        for meeting in first_round.drain(..) {
            let Outcome::Played { score, faults, .. } = played(&WON) else { unreachable!() };
            losers.extend(meeting.pairing.second);
            trial.finish(meeting.pairing.number, Outcome::Played { score, discs: [70, 58], faults });
        }
        for meeting in trial.running() {
            let Outcome::Played { score, faults, .. } = played(&WON) else { unreachable!() };
            let first_wins = meeting.pairing.first == third || meeting.pairing.second == Some(second);
            let (score, discs) = match (first_wins, losers.contains(&meeting.pairing.first)) {
                (true, true) => (score, [42 + more_discs, 0]),
                (false, true) => (score.opposite(), [0, 42 + more_discs]),
                (true, false) => (score, [98, 30]),
                (false, false) => (score.opposite(), [30, 98]),
            };
            trial.finish(meeting.pairing.number, Outcome::Played { score, discs, faults });
        }
        let rows = standings(&trial.tournament);
        assert_eq!([rows[1].points, rows[2].points], [HalfPoints(4); 2]);
        let expected = if second_is_above { [second, third] } else { [third, second] };
        assert_eq!([rows[1].entrant, rows[2].entrant], expected, "{more_discs}");
    }
    let first = |seed| standings(&Trial::new(Settings { seed, ..settings(all_play_all()) }, 2).tournament)[0].entrant;
    assert_eq!((0..16).map(first).collect::<BTreeSet<_>>().len(), 2);
}

#[test]
fn the_crosstable_adds_up_to_the_standings() {
    let mut trial = Trial::started(settings(Format::AllPlayAll { cycles: 2, challengers: Vec::new() }), 6);
    trial.play_to_the_end();
    let cells = crosstable(&trial.tournament);
    for row in standings(&trial.tournament) {
        let own = || cells.iter().filter(|(key, _)| key.0 == row.entrant);
        assert_eq!((own().count(), own().map(|(_, cell)| cell.meetings).sum::<u32>()), (5, row.meetings));
        assert_eq!(own().map(|(_, cell)| cell.points).sum::<HalfPoints>(), row.points);
        let mut score = Score::default();
        own().for_each(|(_, cell)| score += cell.score);
        assert_eq!(score, row.score);
    }
}

/// A crosstable of pairs of games, by half points of the first.
fn table(results: &[(u32, u32, [u32; 5])]) -> Crosstable {
    let mut cells = BTreeMap::new();
    for (one, other, pairs) in results {
        let score = Score { pairs: *pairs, ..Score::default() };
        let cell = |score| Cell { score, ..Cell::default() };
        cells.insert((EntrantId(*one), EntrantId(*other)), cell(score));
        cells.insert((EntrantId(*other), EntrantId(*one)), cell(score.opposite()));
    }
    cells
}

/// 75 % is 191 Elo, and 90 % is twice that: odds of 3 and 9.
#[test]
fn three_consistent_results_give_one_scale() {
    let fit = Strengths::fit(&table(&[
        (1, 2, [0, 0, 1000, 0, 1000]),
        (2, 3, [0, 0, 1000, 0, 1000]),
        (1, 3, [0, 0, 400, 0, 1600]),
    ]));
    let of = |one| fit.of(EntrantId(one)).unwrap();
    assert_eq!([1, 2, 3].map(|one| of(one).elo.round()), [191.0, 0.0, -191.0]);
    assert!([1, 2, 3].iter().all(|one| of(*one).low < of(*one).elo && of(*one).elo < of(*one).high));
    assert!(of(1).high - of(1).low < 20.0, "{}", of(1));
    assert!(fit.superiority(EntrantId(1), EntrantId(2)).unwrap() > 0.9999);
    assert_eq!((fit.of(EntrantId(4)), fit.superiority(EntrantId(1), EntrantId(4))), (None, None));
}

/// With one opponent the interval is that of a match, and the likelihood of superiority the usual one.
#[test]
fn two_entrants_have_the_interval_of_a_match() {
    let pairs = [4, 18, 54, 29, 15];
    let fit = Strengths::fit(&table(&[(1, 2, pairs)]));
    let found = fit.of(EntrantId(1)).unwrap();
    let whole = Difference::of(&Score { pairs, ..Score::default() }).unwrap();
    assert!((2.0 * found.elo - whole.elo).abs() < 1.0, "{found} {whole}");
    assert!((found.high - found.low - (whole.high - whole.low)).abs() < 0.1, "{found} {whole}");
    let error = (whole.high - whole.low) / (2.0 * 1.959_964);
    let superiority = fit.superiority(EntrantId(1), EntrantId(2)).unwrap();
    // 3.03 standard errors.
    assert!((whole.elo / error - 3.03).abs() < 0.01, "{}", whole.elo / error);
    assert!((superiority - 0.9988).abs() < 0.0005, "{superiority}");
    let back = fit.superiority(EntrantId(2), EntrantId(1)).unwrap();
    assert!((superiority + back - 1.0).abs() < 1e-6);
}

#[test]
fn an_entrant_without_a_loss_has_a_finite_strength_and_no_upper_bound() {
    let fit = Strengths::fit(&table(&[(1, 2, [0, 0, 0, 0, 7]), (3, 4, [0, 0, 2, 0, 0])]));
    let [first, second, third, fourth] = [1, 2, 3, 4].map(|one| fit.of(EntrantId(one)).unwrap());
    assert!(first.elo.is_finite() && first.high == f64::INFINITY && first.low > -120.0, "{first:?}");
    assert!(second.elo.is_finite() && second.low == f64::NEG_INFINITY, "{second:?}");
    assert!(third.elo.abs() < 1.0 && fourth.elo.abs() < 1.0, "{third} {fourth}");
    assert_eq!(fit.superiority(EntrantId(3), EntrantId(4)).map(|half| (half * 1e6).round()), Some(5e5));
}

/// Single games are results too where they have no pairs.
#[test]
fn single_games_are_fitted() {
    let score = Score { wins: 300, losses: 100, ..Score::default() };
    let cells = [((1, 2), score), ((2, 1), score.opposite())];
    let cells =
        cells.map(|((one, other), score)| ((EntrantId(one), EntrantId(other)), Cell { score, ..Cell::default() }));
    let fit = Strengths::fit(&cells.into_iter().collect());
    assert!((fit.of(EntrantId(1)).unwrap().elo - 191.0 / 2.0).abs() < 1.0);
}

/// The strengths of players of a known ladder are found again from few meetings each.
#[test]
fn a_ladder_is_found_again() {
    let mut results = Vec::new();
    for one in 1..=40_u32 {
        for other in (one + 1..=40).filter(|other| other - one <= 6) {
            let expected = 1.0 / (1.0 + 10_f64.powf(-f64::from(other - one) * 30.0 / 400.0));
            let won = (200.0 * expected).round() as u32;
            results.push((one, other, [200 - won, 0, 0, 0, won]));
        }
    }
    let fit = Strengths::fit(&table(&results));
    for one in 1..=40_u32 {
        let expected = 30.0 * (20.5 - f64::from(one));
        let found = fit.of(EntrantId(one)).unwrap();
        assert!((found.elo - expected).abs() < 8.0 && found.low < expected && expected < found.high, "{one}: {found}");
    }
}

/// The root of an increasing function by bisection.
fn root(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-100.0, 100.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if function(middle) < 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Strengths and the ends of their intervals in Elo, by definition: the likeliest strength of one entrant after the other
/// until none changes, and the strengths with the mean results of the interval.
fn by_definition(cells: &Crosstable) -> BTreeMap<EntrantId, [f64; 3]> {
    let count = |cell: &Cell| f64::from(cell.score.pairs.iter().sum::<u32>());
    let points =
        |cell: &Cell| (0..).zip(cell.score.pairs).map(|(of_four, n)| f64::from(of_four * n) / 4.0).sum::<f64>();
    let expected = |distance: f64| 1.0 / (1.0 + (-distance).exp());
    let own = |id| cells.iter().filter(move |((one, _), cell)| *one == id && cell.score.pairs != [0; 5]);
    let mut strengths: BTreeMap<EntrantId, f64> = cells.keys().map(|(id, _)| (*id, 0.0)).collect();
    strengths.retain(|id, _| own(*id).next().is_some());
    let against = |strengths: &BTreeMap<EntrantId, f64>, id, strength: f64| {
        own(id).map(|((_, other), cell)| count(cell) * expected(strength - strengths[other])).sum::<f64>()
    };
    loop {
        let mut largest = 0.0_f64;
        for id in strengths.keys().copied().collect::<Vec<_>>() {
            let points: f64 = own(id).map(|(_, cell)| points(cell)).sum();
            let likeliest = root(|it| against(&strengths, id, it) - points + 0.5 * (expected(it) - 0.5));
            largest = largest.max((strengths.insert(id, likeliest).expect("a strength") - likeliest).abs());
        }
        if largest < 1e-6 {
            break;
        }
    }
    let mean = strengths.values().sum::<f64>() / strengths.len() as f64;
    strengths.values_mut().for_each(|strength| *strength -= mean);
    let elo = 400.0 / std::f64::consts::LN_10;
    let of = |id| {
        let mut total = Score::default();
        own(id).for_each(|(_, cell)| total += cell.score);
        let Difference { low, high, .. } = Difference::of(&total).expect("a result");
        let all: f64 = own(id).map(|(_, cell)| count(cell)).sum();
        let end = |end: f64| match end.is_infinite() {
            true => end,
            false => elo * root(|strength| against(&strengths, id, strength) - all * expected(end / elo)),
        };
        [(elo * strengths[&id]).clamp(end(low), end(high)), end(low), end(high)]
    };
    strengths.keys().map(|id| (*id, of(*id))).collect()
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..Config::with_cases(24) })]

    #[test]
    fn strengths_are_those_of_the_definition(
        results in prop::collection::btree_map((1..8_u32, 1..8_u32), prop::array::uniform5(prop_oneof![Just(0), 0..20_u32]), 1..16)
    ) {
        let results: Vec<_> = results.into_iter().filter(|((one, other), _)| one < other).collect();
        let cells = table(&results.into_iter().map(|((one, other), pairs)| (one, other, pairs)).collect::<Vec<_>>());
        let fit = Strengths::fit(&cells);
        for (id, expected) in by_definition(&cells) {
            let found = fit.of(id).unwrap();
            for (found, expected) in [found.elo, found.low, found.high].into_iter().zip(expected) {
                prop_assert!(found == expected || (found - expected).abs() < 0.5, "{found} {expected}");
            }
        }
    }
}

#[test]
fn a_correction_of_the_organiser_counts() {
    let mut trial = three_players();
    assert!(trial.history.iter().any(|event| matches!(event.fact, Fact::Ended(_))));
    let mut running = Trial::started(settings(all_play_all()), 4);
    let meeting = running.running().remove(0);
    running.finish(meeting.pairing.number, played(&WON));
    let why = ChatText::parse("It was the wrong opening.").unwrap();
    let command = |outcome| Command::Adjudicate { number: meeting.pairing.number, outcome, why: why.clone() };
    running.issue(ORGANISER, command(played(&DRAWN))).unwrap();
    let points = |trial: &Trial| {
        let rows = standings(&trial.tournament);
        rows.iter().find(|row| row.entrant == meeting.pairing.first).unwrap().points
    };
    assert_eq!(points(&running), HalfPoints(2));
    assert_eq!(trial.issue(ORGANISER, command(Outcome::Void)), Err(Rejection::TournamentEnded));
}

/// The columns before the first round.
const UP_TO_THE_RANK: usize = 89;

/// In the columns of TRF16: number, name, rating, points, rank, and opponent, colour and result of each round.
#[test]
fn the_report_has_all_results_of_the_rounds() {
    let mut trial = Trial::started(settings(all_play_all()), 3);
    trial.control(Control::Pause).unwrap();
    let running = trf(&trial.tournament).unwrap();
    assert!(running.iter().all(|line| !line.starts_with("001") || line.len() == UP_TO_THE_RANK), "{running:?}");
    let outcomes = [Outcome::Forfeit { by: Forfeiter::First, fault: true }, played(&WON), Outcome::Void];
    for outcome in outcomes {
        trial.control(Control::Resume).unwrap();
        let meeting = trial.running().remove(0);
        trial.finish(meeting.pairing.number, outcome);
        if !matches!(trial.tournament.phase(), Phase::Ended(_)) {
            trial.control(Control::Pause).unwrap();
        }
    }
    let report = "\
012 Weekend
042 1970/01/01
052 1970/01/01
062 3
092 Round robin
001    1      p1                                1999                             0.0    2  0000 - Z     3 w 0  0000 - Z
001    2      p2                                1998                             0.0    3     3 b -  0000 - Z  0000 - Z
001    3      p3                                1997                             2.0    1     2 w +     1 b 1  0000 - Z
XXR 3";
    assert_eq!(trf(&trial.tournament).unwrap().join("\n"), report);
}

#[test]
fn a_tournament_without_rounds_or_with_more_than_99_has_no_report() {
    assert_eq!(trf(&Trial::started(settings(arena(60)), 2).tournament), None);
    let many = Format::AllPlayAll { cycles: 100, challengers: Vec::new() };
    let mut trial = Trial::started(settings(many), 2);
    assert!(trf(&trial.tournament).is_some());
    trial.play_to_the_end();
    assert_eq!(trf(&trial.tournament), None);
}
