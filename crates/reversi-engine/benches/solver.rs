//! Speed of the engine on one core, with its goals: `cargo bench --bench solver` (two minutes), with `stop` for one
//! figure. Times are CPU times of the thread, except for stopping.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and stops at a fault"
)]

use std::{
    fs,
    ops::{ControlFlow, RangeInclusive},
    thread,
    time::{Duration, Instant},
};

use reversi_engine::{
    ai::engine::{Engine, Limits, Report, Weights},
    rules::{Position, opening},
    search::Stop,
};

const TABLE_BYTES: usize = 64 << 20;

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let measure = |name: &str, figure: fn()| {
        if name.contains(&wanted) {
            figure();
        }
    };
    measure("endgame", endgame);
    measure("midgame", midgame);
    measure("stop", stop);
    measure("last", last);
    measure("threads", threads);
}

/// The goals: 20 s in total, and 15 million positions per second.
fn endgame() {
    solve_all(20..=39);
}

/// The goal: ten minutes in total.
fn last() {
    solve_all(40..=49);
}

fn solve_all(numbers: RangeInclusive<u32>) {
    let mut engine = engine();
    let (mut nodes, mut time) = (0, Duration::ZERO);
    for (name, position, score) in problems(numbers) {
        let began = on_core();
        let report = search(&mut engine, position, &Limits::default(), &Stop::new());
        let took = on_core() - began;
        assert_eq!(report.discs, score, "{name}");
        println!("{name}: {took:8.2?}, {:6.1} million positions, {}", millions(report.nodes), report.best);
        nodes += report.nodes;
        time += took;
    }
    let speed = millions(nodes) / time.as_secs_f64();
    println!("endgame: {time:.2?}, {:.0} million positions, {speed:.1} million a second", millions(nodes));
}

/// The goal: depth 14 within a second, 20 plies into a game.
fn midgame() {
    let mut engine = engine();
    let mut depths = Vec::new();
    for seed in 0..50 {
        let began = on_core();
        let mut depth = 0;
        engine.search(after(20, seed), &Limits::default(), &Stop::new(), &mut |report| {
            if on_core() - began > Duration::from_secs(1) {
                return ControlFlow::Break(());
            }
            depth = report.depth;
            ControlFlow::Continue(())
        });
        depths.push(depth);
    }
    let mean = depths.iter().map(|&depth| f64::from(depth)).sum::<f64>() / depths.len() as f64;
    println!("midgame: {mean:.1} plies in a second, {} at least, of {}", depths.iter().min().unwrap(), depths.len());
}

/// The goal: 2 ms from setting the flag to the result. Measures wall time, so the machine should be idle.
fn stop() {
    let mut engine = engine();
    let mut waits: Vec<_> = (0..200).map(|seed| wait(&mut engine, seed)).collect();
    waits.sort();
    let [half, most_often, most] = [waits[100], waits[197], waits[199]];
    println!(
        "stop: {half:.0?} half of the time, {most_often:.0?} in 99 of 100, {most:.0?} at most, of {}",
        waits.len()
    );
}

/// Stops a search after up to 200 ms; even seeds are of the middle game, odd ones of the endgame.
fn wait(engine: &mut Engine, seed: u64) -> Duration {
    let end = || problems(40..=49).nth(seed as usize / 2 % 10).unwrap().1;
    let position = if seed.is_multiple_of(2) { after(20, seed) } else { end() };
    let stop = Stop::new();
    let flag = stop.clone();
    thread::scope(|scope| {
        let stopped_at = scope.spawn(move || {
            thread::sleep(Duration::from_micros(1 + seed.wrapping_mul(7_919) % 200 * 1_000));
            let now = Instant::now();
            flag.stop();
            now
        });
        search(engine, position, &Limits::default(), &stop);
        let returned_at = Instant::now();
        returned_at - stopped_at.join().unwrap()
    })
}

/// The speed-up of two threads over one, in wall time.
fn threads() {
    let time = |threads| {
        let mut engine = engine().with_threads(threads);
        let began = Instant::now();
        for (name, position, score) in problems(30..=35) {
            assert_eq!(search(&mut engine, position, &Limits::default(), &Stop::new()).discs, score, "{name}");
        }
        began.elapsed()
    };
    let (one, two) = (time(1), time(2));
    println!("threads: {one:.2?} with one, {two:.2?} with two: {:.2} times", one.as_secs_f64() / two.as_secs_f64());
}

fn engine() -> Engine {
    Engine::new(Weights::embedded(), TABLE_BYTES)
}

fn search(engine: &mut Engine, position: Position, limits: &Limits, stop: &Stop) -> Report {
    engine.search(position, limits, stop, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn after(plies: u8, seed: u64) -> Position {
    let play = |position: Position, square| position.play(square).unwrap().after_forced_pass().0;
    opening::random(plies, seed).into_iter().fold(Position::START, play)
}

/// Name, position and score of the FFO endgame suite.
fn problems(numbers: RangeInclusive<u32>) -> impl Iterator<Item = (&'static str, Position, f32)> {
    let lines = include_str!("../tests/data/ffo.txt").lines().filter(|line| line.starts_with("ffo-"));
    lines.filter_map(move |line| {
        let [name, _, board, side, score, ..] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let wanted = numbers.contains(&name[4..].parse().unwrap());
        wanted.then(|| (name, format!("{board} {side}").parse().unwrap(), score.parse().unwrap()))
    })
}

fn millions(nodes: u64) -> f64 {
    nodes as f64 / 1e6
}

/// CPU time of this thread; wall time on systems without that figure.
fn on_core() -> Duration {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok().map(Duration::from_nanos));
    nanoseconds.unwrap_or_else(|| BEGAN.elapsed())
}
