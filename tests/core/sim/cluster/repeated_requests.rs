//! Requests that are sent again to another node, or at the same time.

use std::sync::Arc;

use reversi::{
    room::{Command, RoomId},
    runtime::{Opponent, Player, RoomError, request_with_id},
};

use super::world::{World, log_in, two_nodes};
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
        world.database.change(node, |tables| tables.waiting.give_back(node, &[waits], &[])).expect("a store");
        let elsewhere = second.runtime.sessions.bearer(&token).await.expect("a store").expect("a player");
        assert_eq!(quick_start(&second, &elsewhere).await, waits);
        assert_eq!(quick_start(&second, &bea).await, waits);
    });
}

#[test]
fn a_player_is_matched_with_those_of_all_nodes_once_at_a_time() {
    World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
        let [first, _] = two_nodes(&world).await;
        let (ada, _) = log_in(&first, "Ada").await;
        let start = || first.runtime.rooms.quick_start(&ada, Opponent::Anyone, None, None, None);
        let (one, other) = tokio::join!(start(), start());
        assert!(one.is_ok() && matches!(other, Err(RoomError::Busy)));
        start().await.expect("the same room");
    });
}

/// Always with the same request id.
async fn quick_start(node: &SimServer, player: &Arc<Player>) -> RoomId {
    let request = Some(request_with_id(player.id(), "once", "", &[]));
    let started = node.runtime.rooms.quick_start(player, Opponent::Anyone, None, None, request).await;
    started.expect("a room").room.id()
}
