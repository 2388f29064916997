//! The engine's results for published positions, and the guarantees of its searches.
use std::ops::ControlFlow;

use reversi_engine::ai::engine::{Engine, Goal, Limits, Report, Weights, with_engine};
use reversi_engine::rules::{Position, Square, Transcript, opening};
use reversi_engine::search::{EndedBy, Stop};

/// A position of the FFO endgame suite: see the head of the file for its fields.
struct Problem {
    name: &'static str,
    position: Position,
    score: f32,
    best: Vec<Square>,
}

fn problems(numbers: std::ops::RangeInclusive<u32>) -> impl Iterator<Item = Problem> {
    include_str!("../data/ffo.txt").lines().filter(|line| line.starts_with("ffo-")).filter_map(move |line| {
        let [name, _, board, side, score, best, ..] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a line without its fields: {line}");
        };
        numbers.contains(&name[4..].parse().unwrap()).then(|| Problem {
            name,
            position: format!("{board} {side}").parse().unwrap(),
            score: score.parse().unwrap(),
            best: best.split(',').map(|square| square.parse().unwrap()).collect(),
        })
    })
}

fn engine() -> Engine {
    Engine::new(Weights::embedded(), 64 << 20)
}

fn search(engine: &mut Engine, position: Position, limits: &Limits) -> Report {
    engine.search(position, limits, &Stop::new(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn solves(numbers: std::ops::RangeInclusive<u32>) {
    let mut engine = engine();
    for problem in problems(numbers) {
        let report = search(&mut engine, problem.position, &Limits::default());
        assert!(report.exact && report.ended_by == EndedBy::Depth, "{}", problem.name);
        assert_eq!(report.discs, problem.score, "{}", problem.name);
        assert!(problem.best.contains(&report.best), "{} is not solved by {}", problem.name, report.best);
    }
}

#[test]
fn the_positions_with_up_to_19_empty_squares_are_solved() {
    solves(1..=25);
}

#[test]
#[ignore = "some seconds when optimised"]
fn the_positions_with_up_to_26_empty_squares_are_solved() {
    solves(26..=39);
}

#[test]
#[ignore = "half a minute when optimised"]
fn the_last_positions_are_solved() {
    solves(40..=49);
}

#[test]
fn the_winner_is_found_with_less_work_than_the_score() {
    let mut engine = engine();
    let (mut of_winner, mut of_score) = (0, 0);
    for problem in problems(13..=25) {
        let limits = Limits { goal: Goal::Winner, ..Limits::default() };
        let report = search(&mut engine, problem.position, &limits);
        let sign = |discs: f32| if discs == 0.0 { 0.0 } else { discs.signum() };
        assert_eq!(sign(report.discs), sign(problem.score), "{}", problem.name);
        of_winner += report.nodes;
        of_score += search(&mut engine, problem.position, &Limits::default()).nodes;
    }
    assert!(of_winner < of_score, "{of_winner} {of_score}");
}

#[test]
fn the_winner_is_found_before_the_score_if_requested_first() {
    for problem in problems(13..=22) {
        let limits = Limits { goal: Goal::WinnerFirst, ..Limits::default() };
        let mut known = Vec::new();
        let report = engine().search(problem.position, &limits, &Stop::new(), &mut |report| {
            known.push((report.certainty, report.exact, report.discs > 0.0));
            ControlFlow::Continue(())
        });
        let report = report.unwrap();
        let wins = problem.score > 0.0;
        assert_eq!(known[known.len() - 2..], [(100, false, wins), (100, true, wins)], "{}", problem.name);
        assert_eq!(report.discs, problem.score, "{}", problem.name);
        assert!(problem.best.contains(&report.best), "{}", problem.name);
    }
}

#[test]
fn threads_that_share_a_table_find_the_exact_scores() {
    for threads in [2, 4] {
        let mut engine = engine().with_threads(threads);
        for problem in problems(10..=22) {
            let report = search(&mut engine, problem.position, &Limits::default());
            assert!(report.exact && report.ended_by == EndedBy::Depth, "{}", problem.name);
            assert_eq!(report.discs, problem.score, "{}", problem.name);
            assert!(problem.best.contains(&report.best), "{}", problem.name);
        }
    }
}

#[test]
fn threads_share_the_budget_and_end_with_the_flag() {
    let mut engine = engine_of(1 << 20).with_threads(3);
    let report = search(&mut engine, middlegame(3), &Limits::of_nodes(60_000));
    assert_eq!(report.ended_by, EndedBy::Nodes);
    assert!(report.nodes > 20_000 && report.nodes < 120_000, "{}", report.nodes);
    // Would not return if a helper did not end.
    let report = engine.search(middlegame(3), &Limits::default(), &Stop::new(), &mut |_| ControlFlow::Break(()));
    assert_eq!(report.unwrap().depth, 1);
}

fn middlegame(seed: u64) -> Position {
    let play = |position: Position, square| position.play(square).unwrap().after_forced_pass().0;
    opening::random(20, seed).into_iter().fold(Position::START, play)
}

#[test]
fn a_budget_of_nodes_gives_one_answer_whatever_was_searched_before() {
    let mut used = engine();
    for seed in 0..20 {
        let limits = Limits::of_nodes(20_000 + seed);
        let report = search(&mut used, middlegame(seed), &limits);
        assert_eq!(report, search(&mut engine_of(1 << 26), middlegame(seed), &limits));
        assert_eq!(report.ended_by, EndedBy::Nodes);
        // A search of the last squares may be finished.
        assert!(report.nodes < limits.nodes + 20_000, "{}", report.nodes);
    }
}

fn engine_of(bytes: usize) -> Engine {
    Engine::new(Weights::embedded(), bytes)
}

#[test]
fn a_line_has_legal_moves_and_begins_with_the_best() {
    let mut engine = engine();
    for seed in 0..20 {
        let report = search(&mut engine, middlegame(seed), &Limits::of_depth(8));
        assert_eq!(report.line.first(), Some(&report.best));
        assert_eq!(report.depth, 8);
        report
            .line
            .iter()
            .fold(middlegame(seed), |position, &square| position.play(square).unwrap().after_forced_pass().0);
    }
}

#[test]
fn a_search_reports_each_depth_and_ends_on_request() {
    let mut engine = engine();
    let mut depths = Vec::new();
    let report = engine.search(middlegame(1), &Limits::default(), &Stop::new(), &mut |report| {
        depths.push(report.depth);
        if report.depth == 6 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(depths, [1, 2, 3, 4, 5, 6]);
    assert_eq!(report.unwrap().ended_by, EndedBy::Stop);
}

#[test]
fn a_raised_flag_ends_a_search_within_few_positions() {
    let mut engine = engine();
    let stop = Stop::new();
    let mut before = 0;
    let report = engine.search(middlegame(2), &Limits::default(), &stop, &mut |report| {
        if report.depth == 8 {
            before = report.nodes;
            stop.stop();
        }
        ControlFlow::Continue(())
    });
    let report = report.unwrap();
    assert_eq!((report.depth, report.ended_by), (8, EndedBy::Stop));
    assert!(report.nodes < before + 10, "{} {before}", report.nodes);
}

#[test]
fn a_search_that_winds_down_ends_with_its_step() {
    let stop = Stop::new();
    stop.wind_down();
    let report = engine().search(middlegame(2), &Limits::default(), &stop, &mut |_| ControlFlow::Continue(()));
    assert_eq!(report.map(|report| (report.depth, report.ended_by)), Some((1, EndedBy::Stop)));
    let (stop, mut depths) = (Stop::new(), Vec::new());
    engine().search(middlegame(2), &Limits::default(), &stop, &mut |report| {
        depths.push(report.depth);
        if report.depth == 5 {
            stop.wind_down();
        }
        ControlFlow::Continue(())
    });
    assert_eq!(depths, [1, 2, 3, 4, 5]);
}

/// By the measure in the head of the list in `rules`. New weights may need a new list, made by `reversi openings`.
#[test]
#[ignore = "two minutes when optimised"]
fn the_listed_openings_are_even() {
    for index in 0..opening::balanced_count() as u32 {
        let line = Transcript::from_squares(opening::balanced(0, index)).unwrap();
        let report = with_engine(|engine| search(engine, line.position(), &Limits::of_nodes(500_000)));
        assert!(report.discs.abs() <= 2.0, "{line}: {} discs for black", report.discs);
    }
}

#[test]
fn nothing_is_searched_without_a_move() {
    let over: Position = format!("{} X", "X".repeat(64)).parse().unwrap();
    let none = engine().search(over, &Limits::default(), &Stop::new(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(none, None);
}
