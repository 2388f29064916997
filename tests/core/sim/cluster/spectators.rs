//! What spectators see of a room with a delay that is on another node, also when that node has ended.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::world::World;
use crate::sim::{event_log::Log, plan::Plan, spectators::Trial};

/// Number of seeds: with each the room may be on another node.
const SEEDS: u64 = 6;

/// What arrives over links takes at most this long.
const LAG: Duration = Duration::from_secs(4);

/// In this time shards move, and mirrors follow them.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn spectators_on_other_nodes_see_what_is_older_than_the_delay() {
    for seed in 0..SEEDS {
        let mut plan = Plan::of(seed);
        let hour = Duration::from_secs(3600);
        (plan.limits.presence_grace, plan.limits.idle_close) = (hour, hour);
        World::simulate(&plan, &Arc::new(Log::new()), async |world| {
            for _ in 0..3 {
                // By the clocks of all nodes the delay is the same.
                world.start_with(Some(0)).await;
            }
            sleep(LONG).await;
            let nodes: Vec<_> = world.living().into_iter().map(|process| process.server.runtime.clone()).collect();
            let [first, second] = [&nodes[0], &nodes[1]].map(Clone::clone);
            let runtimes = [first.clone(), second.clone(), first, second];
            let mut trial = Trial::new(seed, LAG);
            trial.act(&runtimes).await;
            let third = world.living().into_iter().nth(2).expect("a node");
            third.kill();
            sleep(LONG).await;
            trial.act(&runtimes).await;
        });
    }
}
