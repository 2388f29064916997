//! Shards that a node has given to another one, which the database then loses.

use std::{sync::Arc, time::Duration};

use reversi::runtime::Opponent;
use tokio::time::{sleep, timeout};

use super::world::{World, log_in, two_nodes};
use crate::sim::{event_log::Log, plan::Plan};

/// Many times as long as a node takes to give its shards away.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn shards_whose_hand_over_is_lost_are_served_and_given_again() {
    World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
        let [first, second] = two_nodes(&world).await;
        let (ada, _) = log_in(&first, "Ada").await;
        let room =
            first.runtime.rooms.quick_start(&ada, Opponent::Anyone, None, None, None).await.expect("a room").room.id();
        let [owner, _] = <[_; 2]>::try_from(world.living()).ok().expect("two nodes");
        world.database.lose_hand_overs(true);
        owner.drain();
        sleep(Duration::from_secs(1)).await;
        world.database.lose_hand_overs(false);
        let drained = async {
            while !owner.is_drained() {
                sleep(Duration::from_secs(1)).await;
            }
        };
        timeout(LONG, drained).await.expect("the other node has the shards");
        second.runtime.rooms.snapshot_as_admin(room).await.expect("a room");
    });
}
