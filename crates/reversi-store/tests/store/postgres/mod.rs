//! The store in PostgreSQL: what it does beyond the properties of every store.

mod connecting;
mod lost_connections;
mod pooler;
mod proxy;
mod server;
mod settling;
mod shared_quotas;
mod sharing;
mod takeover;
mod tournaments;

use futures_util::future::join_all;
use reversi_needs::needs;
use reversi_room::Seq;
use reversi_store::{Append, AppendError, PostgresError, Store, StoreError};

pub(crate) use server::{Database, database};

use crate::{
    at, creation_of, drive,
    fixtures::test_room::{TestRoom, chat, default_settings},
    load, room_id, write,
};

#[needs(postgres)]
#[tokio::test]
async fn a_second_server_is_refused_while_the_first_one_lives() {
    let database = database();
    let first = database.try_open().await.unwrap();
    assert!(matches!(database.try_open().await, Err(PostgresError::InUse)));
    drop(first);
    database.open().await;
}

#[needs(postgres)]
#[tokio::test]
async fn tables_of_a_later_version_are_refused_and_unchanged() {
    let database = database();
    database.open().await;
    database.sql("UPDATE reversi SET version = 1000");
    let refused = database.try_open().await;
    assert!(matches!(refused, Err(PostgresError::Newer { found: 1000, .. })), "{:?}", refused.err());
    assert_eq!(database.sql("SELECT version FROM reversi"), "1000");
    assert_eq!(database.sql("SELECT count(*) FROM node"), "0");
}

#[needs(postgres)]
#[tokio::test]
async fn writes_that_wait_are_committed_together() {
    const ROOMS: u64 = 200;
    let database = database();
    let store = database.open().await;
    let appends: Vec<_> = (0..ROOMS).map(room_id).map(|room| (room, creation_of(room))).collect();
    let written = join_all(appends.iter().map(|(room, events)| write(&*store.journal, *room, Seq(0), events))).await;
    assert!(written.iter().all(Result::is_ok));
    let commits: u64 = database.sql("SELECT count(DISTINCT xmin::text) FROM room").parse().unwrap();
    assert!((1..=ROOMS / 2).contains(&commits), "{commits} commits");
}

/// Also when it is opened again.
#[needs(postgres)]
#[tokio::test]
async fn the_events_of_a_long_room_are_folded_into_its_state() {
    let database = database();
    let store = database.open().await;
    let mut test = TestRoom::two_players(default_settings());
    (0..1_000).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    let half = test.history.len() / 2;
    let (mut room, _) = drive(&store, &test.history[..half], 20).await;
    // Folds are made with any write that is not a move.
    store.journal.mark_alive(at(1)).await.unwrap();
    let bytes: usize = database.sql("SELECT octet_length(tail) FROM room").parse().unwrap();
    assert!((1..3 << 10).contains(&bytes), "{bytes} bytes");
    assert_eq!(store.journal.load(room.id()).await.unwrap().unwrap().events.len(), 16);
    write(&*store.journal, room.id(), room.seq(), &test.history[half..]).await.unwrap();
    test.history[half..].iter().for_each(|event| room.apply(event));
    assert_eq!(load(&store, room.id()).await.as_ref(), Some(&room));
    drop(store);
    assert_eq!(load(&database.open().await, room.id()).await, Some(room));
}

/// A write that the database refuses fails alone.
#[needs(postgres)]
#[tokio::test]
async fn one_refused_write_fails_no_other() {
    let database = database();
    let store = database.open().await;
    let [one, two] = [1, 2].map(|room| creation_of(room_id(room)));
    database.sql("ALTER TABLE room ADD CHECK (id <> 2)");
    let written =
        join_all([(1, &one), (2, &two)].map(|(room, events)| write(&*store.journal, room_id(room), Seq(0), events)));
    let [first, second] = <[_; 2]>::try_from(written.await).unwrap();
    assert_eq!(first, Ok(()));
    assert!(matches!(second, Err(AppendError::Unavailable(_))), "{second:?}");
}

#[needs(postgres)]
#[tokio::test]
async fn a_damaged_room_is_passed_over_and_named() {
    let database = database();
    let store = database.open().await;
    for room in 1..=3 {
        write(&*store.journal, room_id(room), Seq(0), &creation_of(room_id(room))).await.unwrap();
    }
    database.sql("UPDATE room_state SET state = '\\x00' WHERE room = 2");
    let rooms = store.journal.open_rooms(None, 2).await.unwrap();
    assert_eq!(rooms.iter().map(reversi_room::Room::id).collect::<Vec<_>>(), [1, 3].map(room_id));
    assert!(matches!(store.journal.load(room_id(2)).await, Err(StoreError::Damaged(_))));
}

#[needs(postgres)]
#[tokio::test]
async fn games_are_not_stored_with_an_append_that_is_refused() {
    let database = database();
    let store: Store = database.open().await;
    let game = super::games::game(room_id(1), 1, 1, ["ada", "bob"]);
    let (events, games) = (creation_of(room_id(1)), super::ended(&[game]));
    write(&*store.journal, room_id(1), Seq(0), &events).await.unwrap();
    let append = Append { room: room_id(1), expected: Seq(0), events: &events, games: &games };
    assert_eq!(store.journal.append(append).await, Err(AppendError::Conflict(Seq(1))));
    assert_eq!(database.sql("SELECT count(*) FROM games"), "0");
}
