//! Connections that end, or are held, while something is written.

use std::time::Duration;

use futures_util::future::join_all;
use reversi_needs::needs;
use reversi_room::{Command, Event, Seq};
use reversi_store::{AppendError, Journal as _, PostgresStore, StoreError};

use super::{
    proxy::Proxy,
    server::{Database, PostgresServer, database},
};
use crate::{
    creation_of,
    fixtures::test_room::{TestRoom, chat},
    moved, room_id, write,
};

/// Long enough for any test.
const PATIENT: Duration = Duration::from_secs(60);

/// Soon over, and enough to connect on a busy machine.
const IMPATIENT: Duration = Duration::from_secs(1);

/// A room and two lines of chat, of which the second is written by each test.
fn history() -> Vec<Event> {
    let mut test = TestRoom::lobby();
    test.ok("ada", chat("one"));
    test.ok("ada", chat("two"));
    moved(test.history, room_id(1))
}

async fn append(store: &PostgresStore, expected: u64, events: &[Event]) -> Result<(), AppendError> {
    write(store, room_id(1), Seq(expected), events).await
}

/// Writes all but the last line. Statements are then prepared.
async fn begin(store: &PostgresStore, history: &[Event]) {
    append(store, 0, &history[..1]).await.unwrap();
    append(store, 1, &history[1..2]).await.unwrap();
}

async fn last(store: &PostgresStore) -> Result<Option<Seq>, StoreError> {
    Ok(store.load(room_id(1)).await?.map(|history| history.latest().seq()))
}

/// A link to an empty database.
fn link() -> (Database, Proxy) {
    let database = database();
    let proxy = Proxy::of(&database);
    (database, proxy)
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_answer_was_lost_is_found_and_not_repeated() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, PATIENT).await;
    let history = history();
    begin(&store, &history).await;
    proxy.hold_answers();
    let cut = async {
        proxy.stopped().await;
        assert_eq!(database.sql("SELECT seq FROM room"), "3", "it is written");
        proxy.cut();
        proxy.release();
    };
    assert_eq!(tokio::join!(append(&store, 2, &history[2..]), cut).0, Ok(()));
    assert_eq!(last(&store).await, Ok(Some(Seq(3))));
    assert_eq!(append(&store, 2, &history[2..]).await, Err(AppendError::Conflict(Seq(3))));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_close_that_is_interrupted_is_done_all_the_same() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, PATIENT).await;
    let mut test = TestRoom::lobby();
    test.ok("ada", Command::Close);
    let history = moved(test.history, room_id(1));
    append(&store, 0, &history[..1]).await.unwrap();
    proxy.hold_answers();
    let cut = async {
        proxy.stopped().await;
        proxy.cut();
        proxy.release();
    };
    assert_eq!(tokio::join!(append(&store, 1, &history[1..]), cut).0, Ok(()));
    assert_eq!(last(&store).await, Ok(None));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_did_not_arrive_is_sent_again() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, PATIENT).await;
    let history = history();
    begin(&store, &history).await;
    proxy.hold_requests();
    let cut = async {
        proxy.stopped().await;
        assert_eq!(database.sql("SELECT seq FROM room"), "2", "it has not arrived");
        proxy.cut();
    };
    assert_eq!(tokio::join!(append(&store, 2, &history[2..]), cut).0, Ok(()));
    assert_eq!(last(&store).await, Ok(Some(Seq(3))));
}

/// After the patience the outcome is unknown, and the room cannot be read until it is certain.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_room_is_not_read_while_a_write_may_still_arrive() {
    let (database, proxy) = link();
    let store = proxy.open(&database, IMPATIENT).await;
    let history = history();
    begin(&store, &history).await;
    assert_eq!(last(&store).await, Ok(Some(Seq(2))));
    proxy.hold_answers();
    let unknown = append(&store, 2, &history[2..]).await;
    assert!(matches!(unknown, Err(AppendError::Unknown(_))), "{unknown:?}");
    assert!(matches!(last(&store).await, Err(StoreError::Unavailable(_))));
    let unavailable = append(&store, 2, &history[2..]).await;
    assert!(matches!(unavailable, Err(AppendError::Unavailable(_))), "it was not sent: {unavailable:?}");
    proxy.release();
    let found = loop {
        if let Ok(found) = last(&store).await {
            break found;
        }
    };
    assert_eq!(found, Some(Seq(3)), "it was written");
}

/// The write of a connection that was given up arrives after that of the next connection.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_late_write_changes_nothing() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, IMPATIENT).await;
    let history = history();
    begin(&store, &history).await;
    proxy.hold_requests();
    let held = async { proxy.stopped().await };
    let (unknown, ()) = tokio::join!(append(&store, 2, &history[2..]), held);
    assert!(matches!(unknown, Err(AppendError::Unknown(_))), "{unknown:?}");
    // By a new connection, as the old one is held.
    while last(&store).await.is_err() {}
    assert_eq!(last(&store).await, Ok(Some(Seq(2))));
    proxy.release();
    assert_eq!(last(&store).await, Ok(Some(Seq(2))), "the old one has ended before it arrived");
    assert_eq!(append(&store, 2, &history[2..]).await, Ok(()));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_server_is_killed() {
    const ROOMS: u64 = 40;
    let server = PostgresServer::start();
    let database = server.database();
    let store = database.try_open().await.unwrap();
    let events: Vec<_> = (0..ROOMS).map(|room| (room_id(room), creation_of(room_id(room)))).collect();
    let create = events.iter().map(|(room, events)| write(&store, *room, Seq(0), events));
    assert!(join_all(create).await.iter().all(Result::is_ok));
    let mut test = TestRoom::lobby();
    (0..60).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    let lines = &test.history[1..];
    let drive = events.iter().map(async |(room, _)| {
        for event in lines {
            write(&store, *room, Seq(event.seq.0 - 1), std::slice::from_ref(event)).await.expect("written");
        }
    });
    let restart = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            server.kill();
            server.run();
        }
    });
    let (_, restarted) = tokio::join!(join_all(drive), restart);
    restarted.unwrap();
    for (room, _) in &events {
        let kept = store.load(*room).await.unwrap().expect("an open room").latest();
        assert_eq!(kept.seq(), Seq(61));
    }
}
