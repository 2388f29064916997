//! The removal of players whom no node has in use.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::world::{World, log_in, two_nodes};
use crate::sim::{event_log::Log, plan::Plan};

const HOUR: Duration = Duration::from_secs(60 * 60);

#[test]
fn only_players_who_are_idle_on_all_nodes_are_removed() {
    let mut plan = Plan::of(0);
    plan.limits.player_idle = HOUR;
    World::simulate(&plan, &Arc::new(Log::new()), async |world| {
        let nodes = two_nodes(&world).await;
        let ((_, ada), (_, bea)) = (log_in(&nodes[0], "Ada").await, log_in(&nodes[0], "Bea").await);
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
