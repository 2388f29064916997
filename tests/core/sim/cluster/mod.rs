//! Three nodes of a cluster on one database, with links that delay, reorder and break, clocks that are apart, and nodes
//! that end, leave, pause, or lose the database or each other, up to three at a time.

mod accounts;
mod connection;
mod creations;
mod database;
mod gate;
mod idle_players;
mod incident;
mod lost_hand_overs;
mod places;
mod process;
mod repeated_requests;
mod silent_nodes;
mod spectators;
mod tables;
mod tournaments;
mod waiting;
mod wire;
mod world;

use super::{event_log, invariants, number, plan::Plan, recorded_history::RecordedHistory, run_seeds};
use world::World;

/// Default number of seeds.
const SEEDS: u64 = 50;

/// An invariant that holds for one process only: after a log-out, another node accepts the token until it has the news.
const NOT_CHECKED: &str = "tokens";

#[test]
fn the_invariants_hold_for_three_nodes() {
    if let Some(seed) = number("REVERSI_SIM_SEED") {
        println!("{}", event_log::trace(&run(seed).entries));
    }
    run_seeds(SEEDS, |seed| {
        let history = run(seed);
        let broken = broken(&history);
        let test = "sim::cluster::the_invariants_hold_for_three_nodes";
        super::report(&history, &broken, &format!("seed {seed} of three nodes"), seed, test)
    });
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..5 {
        let [first, second] = [(); 2].map(|()| event_log::trace(&run(seed).entries));
        let difference = first.lines().zip(second.lines()).enumerate().find(|(_, (first, second))| first != second);
        assert!(first == second, "seed {seed} differs at {difference:#?}");
    }
}

fn run(seed: u64) -> RecordedHistory {
    World::run(&Plan::of(seed))
}

fn broken(history: &RecordedHistory) -> Vec<String> {
    let checks = invariants::ALL.iter().filter(|(name, _)| *name != NOT_CHECKED).chain(&invariants::cluster::ALL);
    checks.filter_map(|(name, check)| check(history).err().map(|problem| format!("{name}: {problem}"))).collect()
}
