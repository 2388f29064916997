//! Requests that are sent again to another node.

use std::sync::Arc;

use reversi::{
    room::{Command, DisplayName, PlayerKind, RoomId},
    runtime::{Opponent, Player, Token},
};
use tokio::time::sleep;

use super::world::{SETTLED, World};
use crate::sim::{event_log::Log, plan::Plan, server::SimServer};

#[test]
fn a_repeated_quick_start_finds_no_other_room() {
    World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
        let [first, second] = two_nodes(&world).await;
        let ((ada, token), (bea, _)) = (log_in(&first, "Ada").await, log_in(&second, "Bea").await);
        let _turns = [first.runtime.streams.turns(&ada).await, second.runtime.streams.turns(&bea).await];
        let waits = quick_start(&first, &ada).await;
        first.runtime.rooms.command(&ada, waits, Command::SetReady(false)).await.expect("not ready");
        assert_ne!(quick_start(&second, &bea).await, waits);
        let elsewhere = second.runtime.sessions.bearer(&token).await.expect("a store").expect("a player");
        assert_eq!(quick_start(&second, &elsewhere).await, waits);
    });
}

#[test]
fn a_repeated_quick_start_lets_others_find_its_room_if_the_first_node_ended_before_that() {
    World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
        let [first, second] = two_nodes(&world).await;
        let ((ada, token), (bea, _)) = (log_in(&first, "Ada").await, log_in(&second, "Bea").await);
        let _turns = [first.runtime.streams.turns(&ada).await, second.runtime.streams.turns(&bea).await];
        let waits = quick_start(&first, &ada).await;
        // As if the first node had ended before it returned the waiting rooms.
        let node = world.living()[0].connection.node();
        world.engine.change(node, |tables| tables.waiting.give_back(node, &[waits], &[])).expect("a store");
        let elsewhere = second.runtime.sessions.bearer(&token).await.expect("a store").expect("a player");
        assert_eq!(quick_start(&second, &elsewhere).await, waits);
        assert_eq!(quick_start(&second, &bea).await, waits);
    });
}

async fn two_nodes(world: &World) -> [Arc<SimServer>; 2] {
    world.start().await;
    world.start().await;
    sleep(SETTLED).await;
    let mut nodes = world.living().into_iter().map(|process| process.server);
    [(); 2].map(|()| nodes.next().expect("a node"))
}

async fn log_in(node: &SimServer, name: &str) -> (Arc<Player>, Token) {
    let name = DisplayName::parse(name).expect("a name");
    node.runtime.sessions.log_in(name, PlayerKind::Human, 0, None).await.expect("a player")
}

/// Always with the same request id.
async fn quick_start(node: &SimServer, player: &Arc<Player>) -> RoomId {
    let request = Some("once".to_owned());
    let started = node.runtime.rooms.quick_start(player, Opponent::Anyone, None, request).await;
    started.expect("a room").room.id()
}
