//! Requests that are sent again to another node.

use std::sync::Arc;

use reversi::{
    room::{Command, DisplayName, PlayerKind},
    runtime::{Opponent, Player},
};
use tokio::time::sleep;

use super::world::{SETTLED, World};
use crate::sim::{event_log::Log, plan::Plan, server::SimServer};

#[test]
fn a_repeated_quick_start_finds_no_other_room() {
    World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
        for _ in 0..2 {
            world.start().await;
        }
        sleep(SETTLED).await;
        let nodes: Vec<Arc<SimServer>> = world.living().into_iter().map(|process| process.server).collect();
        let [ada, bea] = ["Ada", "Bea"].map(|name| DisplayName::parse(name).expect("a name"));
        let (ada, token) = nodes[0].runtime.sessions.log_in(ada, PlayerKind::Human, 0, None).await.expect("a player");
        let (bea, _) = nodes[1].runtime.sessions.log_in(bea, PlayerKind::Human, 0, None).await.expect("a player");
        let start = async |node: &SimServer, player: &Arc<Player>| {
            let request = Some("once".to_owned());
            let started = node.runtime.rooms.quick_start(player, Opponent::Anyone, None, request).await;
            started.expect("a room").room.id()
        };
        let _turns = [nodes[0].runtime.streams.turns(&ada).await, nodes[1].runtime.streams.turns(&bea).await];
        let waits = start(&nodes[0], &ada).await;
        nodes[0].runtime.rooms.command(&ada, waits, Command::SetReady(false)).await.expect("not ready");
        assert_ne!(start(&nodes[1], &bea).await, waits);
        let elsewhere = nodes[1].runtime.sessions.bearer(&token).await.expect("a store").expect("a player");
        assert_eq!(start(&nodes[1], &elsewhere).await, waits);
    });
}
