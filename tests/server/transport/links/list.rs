//! The list of rooms of two nodes.

use std::collections::BTreeMap;

use reversi::{
    proto::v1::{self, watch_rooms_response::Message},
    runtime::{Ownership, Peers as _, Shard},
};
use tonic::Streaming;

use super::pair::{Pair, TestNode};
use crate::harness::in_process::{Player, named, private, within};

/// The list as its watcher has it.
struct WatchedList {
    updates: Streaming<v1::WatchRoomsResponse>,
    rows: BTreeMap<String, v1::RoomSummary>,
    removed: usize,
}

impl WatchedList {
    async fn open(player: &Player) -> Self {
        let updates = player.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
        Self { updates, rows: BTreeMap::new(), removed: 0 }
    }

    async fn until(&mut self, reached: impl Fn(&BTreeMap<String, v1::RoomSummary>) -> bool) {
        within(self.read_until(reached)).await;
    }

    async fn read_until(&mut self, reached: impl Fn(&BTreeMap<String, v1::RoomSummary>) -> bool) {
        while !reached(&self.rows) {
            match self.updates.message().await.unwrap().unwrap().message.unwrap() {
                Message::Snapshot(list) => {
                    self.rows = list.rooms.into_iter().map(|row| (row.room_id.clone(), row)).collect();
                }
                Message::Upserted(row) => drop(self.rows.insert(row.room_id.clone(), row)),
                Message::Removed(room) => {
                    assert!(self.rows.remove(&room).is_some(), "{room} was not in the list");
                    self.removed += 1;
                }
                Message::Heartbeat(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// A player at each node, who watches the list there.
async fn watched(nodes: &[TestNode; 2]) -> [(Player, WatchedList); 2] {
    let [first, second] = [nodes[0].server.human("Bea").await, nodes[1].server.human("Wim").await];
    let lists = [WatchedList::open(&first).await, WatchedList::open(&second).await];
    let [one, other] = lists;
    [(first, one), (second, other)]
}

#[tokio::test]
async fn rooms_of_another_node_are_listed_change_and_go() {
    let pair = Pair::start([None, None]).await;
    let [(black, _), (white, mut list)] = watched(&pair.nodes).await;
    black.create(private()).await;
    let room = black.create_with(named("shared"), ["me", "open"]).await.room_id;
    list.until(|rows| rows.contains_key(&room)).await;
    assert_eq!((list.rows.len(), list.rows[&room].name.as_str()), (1, "shared"));
    white.join(&room).await.unwrap();
    white.sit(&room, 1).await.unwrap();
    white.ready(&room).await.unwrap();
    let game = black.start(&room).await.unwrap().game_id;
    black.play(&game, 0, "f5").await.unwrap();
    list.until(|rows| rows[&room].ply == 1).await;
    assert_eq!(black.list_rooms().await, white.list_rooms().await);
    assert_eq!(white.list_rooms().await, [list.rows[&room].clone()]);
    black.resign(&game).await.unwrap();
    black.close(&room).await.unwrap();
    list.until(BTreeMap::is_empty).await;
    assert_eq!(white.list_rooms().await, []);
    pair.stop().await;
}

#[tokio::test]
async fn rooms_stay_listed_while_a_link_is_dialled_again() {
    let pair = Pair::start([None, None]).await;
    let [(black, _), (white, mut list)] = watched(&pair.nodes).await;
    let old = black.create(named("old")).await.room_id;
    list.until(|rows| rows.contains_key(&old)).await;
    // The second node reads the list of the first one over this cable.
    pair.nodes[0].cable.cut();
    while !pair.nodes[1].links.linked().is_empty() {
        tokio::task::yield_now().await;
    }
    let new = black.create(named("new")).await.room_id;
    assert_eq!(white.list_rooms().await.len(), 1, "the old one is kept, and the new one is not known");
    pair.nodes[0].cable.open();
    list.until(|rows| rows.contains_key(&new)).await;
    assert_eq!((list.removed, white.list_rooms().await.len()), (0, 2));
    black.close(&old).await.unwrap();
    list.until(|rows| !rows.contains_key(&old)).await;
    pair.stop().await;
}

#[tokio::test]
async fn a_room_that_moves_is_shown_once_and_is_never_missing() {
    let pair = Pair::start([None, None]).await;
    let [(black, mut there), (white, mut here)] = watched(&pair.nodes).await;
    let room = black.create(named("moves")).await.room_id;
    for list in [&mut there, &mut here] {
        list.until(|rows| rows.contains_key(&room)).await;
    }
    let shard = Shard::of(room.parse().unwrap());
    let listed = async || {
        for player in [&black, &white] {
            let rows = player.list_rooms().await;
            assert_eq!(rows.iter().filter(|row| row.room_id == room).count(), 1);
        }
    };
    for (version, from, to) in [(2, 0, 1), (3, 1, 0), (4, 0, 1)] {
        let owned = Ownership { shard, node: pair.nodes[to].id, version };
        let [left, taken] = [from, to].map(|node| pair.nodes[node].server.runtime.node().unwrap());
        left.learn([owned]);
        // A later row of the old owner comes after its last message about the room.
        let later = [&black, &white][from].create(named("later")).await.room_id;
        for list in [&mut there, &mut here] {
            list.until(|rows| rows.contains_key(&later)).await;
        }
        listed().await;
        taken.learn([owned]);
        taken.host_shards(&[(owned, None)]).await.unwrap();
        listed().await;
        // A change at the new owner is seen at both nodes, and comes after all that was sent of the old one.
        let name = format!("moved {version}");
        black.update_settings(&room, "name", named(&name)).await.unwrap();
        for list in [&mut there, &mut here] {
            list.until(|rows| rows[&room].name == name).await;
        }
        listed().await;
    }
    assert_eq!((there.removed, here.removed), (0, 0));
    black.close(&room).await.unwrap();
    for list in [&mut there, &mut here] {
        list.until(|rows| !rows.contains_key(&room)).await;
    }
    pair.stop().await;
}
