//! What two nodes count together for one player: members and seats of rooms, and places that are reserved.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use futures_util::future::join_all;
use reversi_engine::rules::Color;
use reversi_needs::needs;
use reversi_room::{Command, PlayerId, Seq};
use reversi_store::{PlaceRequest, PlayerStore as _, PostgresStore, RoomPlace};
use tokio::task::{JoinSet, yield_now};

use super::server::database;
use crate::{
    fixtures::test_room::{TestRoom, profile},
    moved, room_id, write,
};

const LIMIT: usize = 2;

fn player() -> PlayerId {
    profile("ada").id
}

/// With a number that is that of the room.
fn place(room: u64, is_seat: bool) -> PlaceRequest {
    PlaceRequest { number: room, player: player(), room: room_id(room), is_seat, limit: LIMIT }
}

#[needs(postgres)]
#[tokio::test]
async fn the_members_of_a_room_are_those_of_its_events() {
    let database = database();
    let (first, second) = (database.member("one").await, database.member("two").await);
    let held = async |name: &str| second.room_places(profile(name).id).await.unwrap();
    let mut test = TestRoom::lobby();
    let room = test.room.id();
    let mut written = 0;
    let mut write_new = async |test: &TestRoom| {
        write(&first, room, Seq(written as u64), &test.history[written..]).await.unwrap();
        written = test.history.len();
    };
    write_new(&test).await;
    assert_eq!(held("ada").await, [RoomPlace { room, seated: false }]);
    test = test.join("bob").sit("ada", Color::Black).sit("bob", Color::White);
    write_new(&test).await;
    for name in ["ada", "bob"] {
        assert_eq!(held(name).await, [RoomPlace { room, seated: true }]);
    }
    test.ok("bob", Command::Leave);
    write_new(&test).await;
    assert_eq!((held("ada").await.len(), held("bob").await.len()), (1, 0));
    test.ok("ada", Command::Leave);
    write_new(&test).await;
    assert_eq!(database.sql("SELECT count(*) FROM member"), "0", "the room has closed");
}

#[needs(postgres)]
#[tokio::test]
async fn places_and_rooms_count_at_every_node() {
    let database = database();
    let (first, second) = (database.member("one").await, database.member("two").await);
    let reserve = async |store: &PostgresStore, place| store.reserve_place(place).await.unwrap();
    write(&first, room_id(1), Seq(0), &moved(TestRoom::lobby().history, room_id(1))).await.unwrap();
    assert!(reserve(&first, place(2, false)).await);
    assert!(!reserve(&second, place(3, false)).await, "a room and a reserved one");
    assert!(reserve(&second, PlaceRequest { number: 99, ..place(2, false) }).await, "it counts already");
    assert!(reserve(&second, place(3, true)).await, "it has no seat");
    first.release_place(2).await.unwrap();
    assert!(!reserve(&second, place(4, false)).await, "the second reservation of that room");
    second.release_place(99).await.unwrap();
    assert!(reserve(&second, place(4, false)).await);
    // As when the node has ended.
    database.sql("UPDATE place_request SET until = now() - interval '1 s'");
    assert!(reserve(&first, place(5, false)).await);
    first.release_place(5).await.unwrap();
    assert_eq!(database.sql("SELECT count(*) FROM place_request"), "0", "what was not released ends");
}

#[needs(postgres)]
#[tokio::test]
async fn no_more_places_are_reserved_than_the_limit_when_all_nodes_are_asked_at_once() {
    let database = database();
    let nodes = [database.member("one").await, database.member("two").await];
    let asked = (1..=20).map(|room| nodes[room as usize % 2].reserve_place(place(room, false)));
    let reserved = join_all(asked).await.into_iter().filter(|reserved| *reserved == Ok(true)).count();
    assert_eq!(reserved, LIMIT);
}

#[needs(postgres)]
#[tokio::test]
async fn a_room_waits_for_few_of_the_changes_that_many_players_ask_for() {
    const CHANGES: u64 = 400;
    let database = database();
    let store = Arc::new(database.member("one").await);
    let (done, mut changes) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
    for number in 0..CHANGES {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        changes.spawn(async move {
            store.release_place(number).await.unwrap();
            done.fetch_add(1, Relaxed);
        });
    }
    // A yield lets some of the tasks run, those that are ready.
    let run_ready = async || {
        for _ in 0..CHANGES {
            yield_now().await;
        }
    };
    run_ready().await;
    let earlier = done.load(Relaxed);
    write(&*store, room_id(1), Seq(0), &moved(TestRoom::lobby().history, room_id(1))).await.unwrap();
    run_ready().await;
    let before = done.load(Relaxed) - earlier;
    assert!(before < 200, "{before} changes came first");
    changes.join_all().await;
}
