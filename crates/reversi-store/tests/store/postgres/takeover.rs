//! Several servers over one database: who writes, and who is declared dead when.

use std::time::Duration;

use reversi_needs::needs;
use reversi_room::{Event, Seq};
use reversi_store::{
    AppendError, Journal as _, NodeInfo, NodeRow, NodeTable, PostgresError, PostgresStore, Sharing, Standby, Store,
    StoreError,
};

use tokio::time::timeout;

use super::{
    proxy::{Point, Proxy},
    server::{Database, database},
};
use crate::{
    at, creation_of,
    fixtures::test_room::{TestRoom, chat},
    load, moved, room_id, write,
};

/// Long enough for any test: nothing is declared dead because it is late.
const LONG: Duration = Duration::from_secs(60);

/// The shortest that a server may have.
const SHORT: Duration = Duration::from_secs(1);

impl Database {
    /// A server that listens at an address of its own.
    async fn join(&self, address: &str, lease: Duration) -> Standby {
        join(&self.url(), address, lease).await
    }

    /// Who owns shards, with their number.
    fn owners(&self) -> String {
        self.sql("SELECT listens, count(*) FROM shard LEFT JOIN node ON node.id = shard.node GROUP BY listens")
    }

    /// Declares the server with the rooms dead, as another one would.
    fn declare_dead(&self) {
        self.sql(
            "BEGIN; UPDATE shard SET node = NULL WHERE node IS NOT NULL; DELETE FROM fence; DELETE FROM node; COMMIT",
        );
    }
}

async fn join(url: &str, address: &str, lease: Duration) -> Standby {
    Standby::join(url, sharing(address, LONG, lease)).await.expect("the database is there")
}

fn sharing(address: &str, patience: Duration, lease: Duration) -> Sharing {
    let info = NodeInfo { listens: Some(address.to_owned()), address: None, ..NodeInfo::default() };
    Sharing { patience, lease, info }
}

async fn open(standby: Standby) -> PostgresStore {
    standby.take_over().await.expect("it takes over")
}

/// A room and two lines of chat, of which the second is written by each test.
fn history() -> Vec<Event> {
    let mut test = TestRoom::lobby();
    test.ok("ada", chat("one"));
    test.ok("ada", chat("two"));
    moved(test.history, room_id(1))
}

/// Writes all but the last line.
async fn begin(store: &PostgresStore, history: &[Event]) {
    append(store, 0, &history[..1]).await.unwrap();
    append(store, 1, &history[1..2]).await.unwrap();
}

async fn append(store: &PostgresStore, expected: u64, events: &[Event]) -> Result<(), AppendError> {
    write(store, room_id(1), Seq(expected), events).await
}

/// Also by a standby, which has looked at the tables before.
#[needs(postgres)]
#[tokio::test]
async fn a_part_of_a_copy_is_refused() {
    let database = database();
    let copy = database.try_open().await.unwrap();
    let standby = database.join("standby", LONG).await;
    copy.set_unfinished(true).await.unwrap();
    drop(copy);
    let refused = standby.take_over().await.err();
    assert!(matches!(refused, Some(PostgresError::Unfinished)), "{refused:?}");
    let refused = database.try_open().await.err();
    assert!(matches!(refused, Some(PostgresError::Unfinished)), "{refused:?}");
}

#[needs(postgres)]
#[tokio::test]
async fn a_schema_that_is_not_there_is_named_as_the_cause() {
    let database = database();
    database.sql(&format!("DROP SCHEMA {}", database.sql("SELECT current_schema()")));
    let refused = database.try_open().await.err();
    assert!(matches!(refused, Some(PostgresError::NoSchema)), "{refused:?}");
}

#[needs(postgres)]
#[tokio::test]
async fn a_second_server_stands_by_until_the_first_one_ends() {
    let database = database();
    let first = database.join("one", LONG).await;
    assert_eq!(first.active(), None);
    let first = open(first).await;
    let history = history();
    begin(&first, &history).await;
    let second = database.join("two", LONG).await;
    assert_eq!(second.active().as_deref(), Some("the server at one"));
    assert!(matches!(database.try_open().await, Err(PostgresError::InUse)), "a command does not wait");
    let table = NodeTable::open(&database.url(), LONG).await.unwrap();
    let say = async || {
        let rows = table.nodes().await.unwrap();
        let said = |row: &NodeRow| row.status.as_ref().map(|status| (status.version.clone(), status.is_serving));
        rows.iter().map(said).collect::<Vec<_>>()
    };
    let version = || env!("CARGO_PKG_VERSION").to_owned();
    assert_eq!(say().await, [Some((version(), true)), Some((version(), false))]);
    drop(first);
    let second = Store::of(open(second).await);
    assert_eq!(database.owners(), "two|4096");
    assert_eq!(say().await, [Some((version(), true))]);
    assert_eq!(load(&second, room_id(1)).await.unwrap().seq(), Seq(2));
}

/// Of a node that was declared dead no write is done, nor any read of a room.
#[needs(postgres)]
#[tokio::test]
async fn a_server_that_was_declared_dead_writes_and_reads_nothing() {
    let database = database();
    let first = open(database.join("one", LONG).await).await;
    let history = history();
    begin(&first, &history).await;
    database.declare_dead();
    assert_eq!(append(&first, 2, &history[2..]).await, Err(AppendError::Fenced));
    let creation = creation_of(room_id(2));
    assert_eq!(write(&first, room_id(2), Seq(0), &creation).await, Err(AppendError::Fenced));
    for refused in [first.mark_alive(at(1)).await, first.load(room_id(1)).await.map(drop)] {
        let Err(StoreError::Unavailable(error)) = refused else { panic!("{refused:?}") };
        assert!(error.contains("another server has taken over"), "{error}");
    }
    first.membership().wait_until_lost().await;
    assert_eq!(database.sql("SELECT id, seq FROM room"), "1|2");
    let second = open(database.join("two", LONG).await).await;
    assert_eq!(append(&second, 2, &history[2..]).await, Ok(()));
}

/// As the one before, in the transaction that writes more than a move.
#[needs(postgres)]
#[tokio::test]
async fn a_transaction_without_the_fence_is_undone() {
    let database = database();
    let first = open(database.join("one", LONG).await).await;
    let history = history();
    database.declare_dead();
    assert_eq!(append(&first, 0, &history[..1]).await, Err(AppendError::Fenced));
    assert_eq!(database.sql("SELECT count(*) FROM room"), "0");
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_late_batch_of_a_server_that_was_declared_dead_is_refused() {
    let database = database();
    let mut proxy = Proxy::of(&database);
    let first = open(join(&proxy.url(&database), "one", SHORT).await).await;
    let history = history();
    begin(&first, &history).await;
    let second = database.join("two", SHORT).await;
    proxy.hold_all_requests();
    let taken = async {
        proxy.stopped().await;
        // Its lease ends, as its renewals are held as well.
        let second = open(second).await;
        assert_eq!(database.owners(), "two|4096");
        // The batch arrives.
        proxy.release();
        second
    };
    let (refused, second) = tokio::join!(append(&first, 2, &history[2..]), taken);
    assert_eq!(refused, Err(AppendError::Fenced));
    assert_eq!(append(&second, 2, &history[2..]).await, Ok(()));
    first.membership().wait_until_lost().await;
}

/// A write whose answer was lost is looked up over the next connection, at the next session.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_raises_the_session() {
    let database = database();
    let name = &database.schema;
    let url = format!("{}&application_name={name}", database.url());
    let store = open(join(&url, "one", LONG).await).await;
    let history = history();
    begin(&store, &history).await;
    assert_eq!(database.sql("SELECT session FROM fence"), "1");
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name";
    assert_eq!(database.sql(&format!("{end} = '{name}'")), "2", "of the writer and of the lease");
    assert_eq!(append(&store, 2, &history[2..]).await, Ok(()));
    assert_eq!(database.sql("SELECT session FROM fence"), "2");
}

/// A reconnection that was given up raises the session after that of the next one.
#[needs(postgres)]
#[tokio::test]
async fn a_session_that_was_raised_elsewhere_is_a_lost_connection() {
    let database = database();
    let store = open(database.join("one", LONG).await).await;
    let history = history();
    begin(&store, &history).await;
    database.sql("UPDATE fence SET session = session + 1");
    assert_eq!(append(&store, 2, &history[2..]).await, Ok(()));
    database.sql("UPDATE fence SET session = session + 1");
    assert_eq!(store.mark_alive(at(1)).await, Ok(()), "in a transaction, too");
    assert_eq!(database.sql("SELECT session FROM fence"), "5");
}

/// The first server has lost the answer of a write that was not made. Before it looks for it, another one takes over
/// and writes something else to the room, which then has the number that the first one looks for.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_write_of_another_server_is_not_taken_for_the_own() {
    let database = database();
    let mut proxy = Proxy::of(&database);
    let first = open(join(&proxy.url(&database), "one", LONG).await).await;
    let history = history();
    begin(&first, &history).await;
    proxy.hold_requests_with("SELECT id, seq FROM room");
    let taken = async {
        proxy.stopped().await;
        proxy.cut();
        proxy.stopped().await;
        database.declare_dead();
        let second = open(database.join("two", LONG).await).await;
        let mut other = TestRoom::lobby();
        ["one", "three"].into_iter().for_each(|line| drop(other.ok("ada", chat(line))));
        let other = moved(other.history, room_id(1));
        assert_eq!(append(&second, 2, &other[2..]).await, Ok(()));
        proxy.release();
    };
    let (refused, ()) = tokio::join!(append(&first, 2, &history[2..]), taken);
    let Err(AppendError::Unknown(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("another server has taken over"), "{why}");
}

/// A write that keeps the fence, as when its server does not read the answer, is ended.
#[needs(postgres)]
#[tokio::test]
async fn a_stopped_write_does_not_keep_a_server_from_being_declared_dead() {
    let database = database();
    insert_node(&database).await;
    let (server, schema) = (database.server, database.schema.clone());
    let stopped = std::thread::spawn(move || {
        server.sql(
            &schema,
            "SET application_name = 'reversi'; BEGIN; UPDATE fence SET backend = pg_backend_pid(); COMMIT; \
             BEGIN; SELECT FROM fence FOR SHARE; SELECT pg_sleep(60)",
        )
    });
    while database.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0" {}
    database.sql("UPDATE node SET renewed = now() - interval '1 hour', until = now() - interval '1 hour'");
    let second = database.join("two", SHORT).await;
    drop(open(second).await);
    assert!(stopped.join().is_err(), "its connection was ended");
}

/// Its lease would end much later.
#[needs(postgres)]
#[tokio::test]
async fn a_silent_server_whose_connection_has_ended_is_dead_at_once() {
    let database = database();
    insert_node(&database).await;
    let second = database.join("two", SHORT).await;
    assert_eq!(second.active().as_deref(), Some("the server at one"));
    database.sql("UPDATE node SET renewed = now() - interval '2 s' WHERE listens = 'one'");
    drop(open(second).await);
    assert_eq!(database.sql("SELECT count(*) FROM node"), "0");
}

/// The times of both lie an hour ahead.
#[needs(postgres)]
#[tokio::test]
async fn a_server_is_declared_dead_though_the_databases_clock_was_set_back() {
    let database = database();
    insert_node(&database).await;
    let second = database.join("two", SHORT).await;
    let hour = "interval '1 hour'";
    database
        .sql(&format!("UPDATE node SET renewed = renewed + {hour}, until = until + {hour}, since = since + {hour}"));
    drop(timeout(LONG, open(second)).await.expect("the other one is declared dead"));
    assert_eq!(database.sql("SELECT count(*) FROM node"), "0");
}

/// The port of the one before is this one's, so that one has ended.
#[needs(postgres)]
#[tokio::test]
async fn a_server_that_starts_again_at_its_address_does_not_wait() {
    let database = database();
    insert_node(&database).await;
    let again = database.join("one", LONG).await;
    assert_eq!(again.active(), None);
}

/// After an outage each server has a whole lease to renew.
#[needs(postgres)]
#[tokio::test]
async fn no_server_is_declared_dead_within_a_lease_after_an_outage() {
    let database = database();
    insert_node(&database).await;
    // Late, and silent for long.
    database.sql("UPDATE node SET renewed = now() - interval '1 hour', until = now() - interval '1 hour'");
    let second = database.join("two", LONG).await;
    let before = database.sql("SELECT renewed FROM node WHERE listens = 'two'");
    while database.sql("SELECT renewed FROM node WHERE listens = 'two'") == before {}
    assert_eq!(second.active().as_deref(), Some("the server at one"), "it has looked twice");
    // As if it had been connected for a lease.
    database.sql("UPDATE node SET since = now() - interval '1 hour' WHERE listens = 'two'");
    let _second = open(second).await;
    assert_eq!(database.owners(), "two|4096");
}

/// The mark counts from the last renewal of the dead one, by its own clock.
#[needs(postgres)]
#[tokio::test]
async fn the_last_sign_of_a_dead_server_is_kept_until_the_next_mark() {
    let database = database();
    insert_node(&database).await;
    database.sql("UPDATE fence SET alive_us = 1000000, alive_at = (SELECT renewed - interval '4 s' FROM node)");
    let second = open(database.join("one", LONG).await).await;
    assert_eq!(second.last_alive().await, Ok(Some(at(5))));
    second.membership().leave().await;
    let third = open(database.join("one", LONG).await).await;
    assert_eq!(third.last_alive().await, Ok(Some(at(5))), "no clock has been credited since");
    third.mark_alive(at(9)).await.unwrap();
    assert_eq!(third.last_alive().await, Ok(Some(at(9))));
}

/// It has the lock, and sends nothing more.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_while_it_creates_the_tables_blocks_no_other_for_long() {
    let database = database();
    let mut proxy = Proxy::of(&database);
    proxy.hold_at(Point::Before(2));
    let url = proxy.url(&database);
    let stopped = Standby::join(&url, sharing("one", SHORT, LONG));
    let other = async {
        proxy.stopped().await;
        timeout(LONG, database.join("two", LONG)).await.expect("it starts")
    };
    let (stopped, other) = tokio::join!(stopped, other);
    assert!(stopped.is_err(), "its connection was ended");
    drop(open(other).await);
}

#[needs(postgres)]
#[tokio::test]
async fn who_upgrades_the_tables_for_long_is_named() {
    let database = database();
    let (server, schema) = (database.server, database.schema.clone());
    let upgrades = std::thread::spawn(move || {
        let lock = format!("SELECT pg_advisory_lock(hashtextextended('{schema}', 0)), pg_sleep(60)");
        server.sql(&schema, &lock)
    });
    let locked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%advisory%' \
        AND query LIKE '%' || current_schema() || '%'";
    while database.sql(locked) == "0" {}
    let refused = Standby::join(&database.url(), sharing("one", SHORT, LONG)).await.err();
    let Some(PostgresError::Upgrading { holder }) = refused else { panic!("{refused:?}") };
    assert_eq!(database.sql(&format!("SELECT pg_terminate_backend({holder})")), "t");
    assert!(upgrades.join().is_err(), "its connection was ended");
    drop(open(database.join("one", LONG).await).await);
}

/// A server at "one" that has all shards, and is not connected.
async fn insert_node(database: &Database) {
    // Creates the tables.
    drop(database.join("none", LONG).await);
    database.sql(
        "INSERT INTO node (host, listens, role, renewed, until, since) \
         VALUES ('', 'one', 'rooms', now(), now() + interval '1 hour', now()); \
         INSERT INTO fence (node, session) SELECT id, 1 FROM node; UPDATE shard SET node = (SELECT id FROM node)",
    );
}
