//! The removal of players whom no node has in use.

use std::{sync::Arc, time::Duration};

use reversi::room::{DisplayName, PlayerKind};
use tokio::time::sleep;

use super::world::{SETTLED, World};
use crate::sim::{event_log::Log, plan::Plan, server::SimServer};

const HOUR: Duration = Duration::from_secs(60 * 60);

#[test]
fn only_players_who_are_idle_on_all_nodes_are_removed() {
    let mut plan = Plan::of(0);
    plan.limits.player_idle = HOUR;
    World::simulate(&plan, &Arc::new(Log::new()), async |world| {
        for _ in 0..2 {
            world.start().await;
        }
        sleep(SETTLED).await;
        let nodes: Vec<Arc<SimServer>> = world.living().into_iter().map(|process| process.server).collect();
        let [ada, bea] = ["Ada", "Bea"].map(|name| DisplayName::parse(name).expect("a name"));
        let (_, ada) = nodes[0].runtime.sessions.log_in(ada, PlayerKind::Human, 0, None).await.expect("a player");
        let (_, bea) = nodes[0].runtime.sessions.log_in(bea, PlayerKind::Human, 0, None).await.expect("a player");
        let elsewhere = nodes[1].runtime.sessions.bearer(&ada).await.expect("a store").expect("a player");
        let _turns = nodes[1].runtime.streams.turns(&elsewhere).await.expect("a stream");
        // Idleness counts from the last stored use, which may be two hours old.
        sleep(4 * HOUR).await;
        for node in &nodes {
            assert!(node.runtime.sessions.bearer(&ada).await.expect("a store").is_some(), "in use at one node");
            assert!(node.runtime.sessions.bearer(&bea).await.expect("a store").is_none(), "in use at none");
        }
    });
}
