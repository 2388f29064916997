//! Tournaments on nodes that end, leave, pause, or lose the database or each other.

use std::{sync::Arc, time::Duration};

use reversi::tournament::{Control, Format, Phase};
use tokio::time::{Instant, sleep};

use super::world::{SETTLED, World};
use crate::sim::{
    event_log::Log,
    plan::Plan,
    rng::Rng,
    run_seeds,
    tournaments::{check_meetings, create, settings, try_control},
};

/// Default number of seeds.
const SEEDS: u64 = 10;

/// Times at which something happens to the nodes.
const INCIDENTS: usize = 5;

/// Much longer than all meetings take.
const LONG: Duration = Duration::from_secs(60 * 60);

#[test]
fn a_tournament_is_played_to_its_end_whatever_happens_to_the_nodes() {
    run_seeds(SEEDS, |seed| {
        let mut outcome = Err("not simulated".to_owned());
        World::simulate(&Plan::of(seed), &Arc::new(Log::new()), async |world| {
            outcome = play(&world, seed).await.map_err(|problem| format!("seed {seed}: {problem}"));
        });
        outcome
    });
}

async fn play(world: &World, seed: u64) -> Result<(), String> {
    let mut rng = Rng::seeded(seed, 901);
    for _ in 0..3 {
        world.start().await;
    }
    sleep(SETTLED).await;
    let nodes = world.living();
    let formats = [Format::AllPlayAll { cycles: 2, challengers: Vec::new() }, Format::Swiss { rounds: 3 }];
    let format = formats[rng.below(formats.len())].clone();
    let (id, organiser) = create(&nodes[0].server.runtime, settings(format, None)).await;
    // Another node has no part of the tournament.
    try_control(&nodes[1].server.runtime, id, organiser, Control::Start).await.map_err(|error| error.to_string())?;
    for _ in 0..INCIDENTS {
        world.cause_incidents(&mut rng).await;
    }
    let end = Instant::now() + LONG;
    loop {
        for node in world.living() {
            if let Ok(tournament) = node.server.runtime.tournaments.get(id).await
                && matches!(tournament.phase(), Phase::Ended(_))
            {
                return check_meetings(&tournament);
            }
        }
        if Instant::now() > end {
            return Err("it has not ended".to_owned());
        }
        sleep(Duration::from_secs(1)).await;
    }
}
