//! Simulations, each determined by a seed: real servers on virtual time with a failing disk, and clients that log in
//! and out, repeat requests and drop calls. The store is in memory, or SQLite's with power cuts. `invariants` has the
//! properties that every simulation must have, one per file. The clients call the runtime, or in `grpc` a whole server.
//!
//! `REVERSI_SIM_SEEDS=N` sets the number of seeds; `REVERSI_SIM_SEED=S` runs one seed and prints its trace.

mod call_pattern;
mod client;
mod cluster;
mod event_log;
mod faulty_disk;
mod grpc;
mod invariants;
mod plan;
mod random_action;
mod recorded_history;
mod regressions;
mod rng;
mod server;
mod simulation;
mod spectators;
mod sqlite_disk;
mod stalls;
mod tournaments;
mod watcher;

use std::{
    env,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use invariants::Check;
use plan::{Plan, Storage, Transport};
use recorded_history::RecordedHistory;
use simulation::Simulation;

/// Default number of seeds: a few seconds on two cores. `.ci/run full` takes 1,000 of each kind.
const SEEDS: u64 = 50;

/// Default number of seeds with power cuts.
const POWER_SEEDS: u64 = 25;

/// Default number of seeds over gRPC.
const GRPC_SEEDS: u64 = 15;

/// Maximum number of failures printed in full.
const SHOWN: usize = 3;

/// Maximum number of trace lines printed for a failure.
const TAIL: usize = 60;

#[test]
fn the_invariants_hold_for_every_seed() {
    check_seeds(SEEDS, Plan::of);
}

#[test]
fn the_invariants_hold_over_grpc() {
    check_seeds(GRPC_SEEDS, over_grpc);
}

#[test]
fn the_invariants_hold_when_the_power_fails() {
    check_seeds(POWER_SEEDS, with_power_cuts);
}

#[test]
fn the_invariants_find_a_disk_that_ignores_syncs() {
    let found = (0..20).filter(|&seed| {
        let history = Simulation::run(Plan { storage: Storage::Sqlite { ignores_syncs: true }, ..Plan::of(seed) });
        broken(&history).iter().any(|problem| problem.starts_with("recovered"))
    });
    assert!(found.count() >= 10);
}

fn over_grpc(seed: u64) -> Plan {
    Plan { transport: Transport::Grpc, ..Plan::of(seed) }
}

fn with_power_cuts(seed: u64) -> Plan {
    Plan { storage: Storage::Sqlite { ignores_syncs: false }, ..Plan::of(seed) }
}

fn check_seeds(seeds: u64, plan: fn(u64) -> Plan) {
    if let Some(seed) = number("REVERSI_SIM_SEED") {
        println!("{}", event_log::trace(&Simulation::run(plan(seed)).entries));
    }
    run_seeds(seeds, |seed| try_plan(plan(seed)));
}

/// Tries all seeds, or the one that is asked for, on all cores.
fn run_seeds(seeds: u64, try_seed: impl Fn(u64) -> Result<(), String> + Sync) {
    if let Some(seed) = number("REVERSI_SIM_SEED") {
        return no_failures(&[try_seed(seed)]);
    }
    let (next, seeds) = (AtomicU64::new(0), number("REVERSI_SIM_SEEDS").unwrap_or(seeds));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let seed = next.fetch_add(1, Relaxed)
                    && seed < seeds
                {
                    if let Err(failure) = try_seed(seed) {
                        failures.lock().expect("no failure panics").push(Err(failure));
                    }
                }
            });
        }
    });
    no_failures(&failures.into_inner().expect("no failure panics"));
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let mut traces = Vec::new();
    for seed in 0..30 {
        let plan = [Plan::of, with_power_cuts, over_grpc][seed as usize / 10];
        let trace = |()| event_log::trace(&Simulation::run(plan(seed)).entries);
        let [first, second] = [(); 2].map(trace);
        let difference = first.lines().zip(second.lines()).enumerate().find(|(_, (first, second))| first != second);
        assert!(first == second, "seed {seed} differs at {difference:#?}");
        traces.push(event_log::hash(first.as_bytes()));
    }
    traces.sort_unstable();
    traces.dedup();
    assert_eq!(traces.len(), 30, "each seed has a different trace");
}

/// Runs the simulation of a plan. Returns the violated invariants with the end of the trace.
fn try_plan(plan: Plan) -> Result<(), String> {
    let (seed, storage, transport) = (plan.seed, plan.storage, plan.transport);
    let history = Simulation::run(plan);
    let title = format!("seed {seed} with {storage:?}, {transport:?}");
    report(&history, &broken(&history), &title, seed, "sim::the_invariants_hold")
}

/// Fails with the end of the trace if invariants are violated.
fn report(history: &RecordedHistory, broken: &[String], title: &str, seed: u64, test: &str) -> Result<(), String> {
    if broken.is_empty() {
        return Ok(());
    }
    let trace = event_log::trace(&history.entries);
    let lines: Vec<_> = trace.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
    Err(format!(
        "{title}\n{}\nthe end of its trace:\n{tail}\nrun it again: REVERSI_SIM_SEED={seed} cargo test --test core {test} -- --nocapture",
        broken.join("\n")
    ))
}

/// The violated invariants.
fn broken(history: &RecordedHistory) -> Vec<String> {
    let problem = |(name, check): &(&str, Check)| check(history).err().map(|problem| format!("{name}: {problem}"));
    invariants::ALL.iter().filter_map(problem).collect()
}

fn no_failures(outcomes: &[Result<(), String>]) {
    let failures: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    let shown: Vec<_> = failures.iter().take(SHOWN).map(|failure| failure.as_str()).collect();
    let short: Vec<_> = failures.iter().filter_map(|failure| failure.split("\nthe end").next()).collect();
    assert!(failures.is_empty(), "{} seeds fail\n{}\n\n{}", failures.len(), shown.join("\n\n"), short.join("\n"));
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}
