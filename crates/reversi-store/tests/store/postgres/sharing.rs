//! Several nodes that share the shards of one database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, UNIX_EPOCH},
};

use reversi_needs::needs;
use reversi_room::{Event, Fact, Request, RoomId, Seq, Timestamp};
use reversi_store::{
    AppendError, Assignment, ClusterStore as _, ClusterView, Journal as _, NodeId, NodeInfo, NodeRow, NodeTable,
    Obstacle, PlayerStore as _, PostgresError, PostgresStore, Shard, Sharing, Standby, StoreError, StoredPlayer,
};
use tokio::time::timeout;

use super::{
    proxy::Proxy,
    server::{Database, database},
};
use crate::{
    creation_of,
    fixtures::test_room::{TestRoom, chat, profile},
    moved, write,
};

/// Long enough for any test: nothing is declared dead because it is late.
const LEASE: Duration = Duration::from_secs(60);

const SECOND: Duration = Duration::from_secs(1);

/// When shards were freed, by the clock of their node.
const FREED: Timestamp = Timestamp(1_000_000);

impl Database {
    /// A node that serves others at an address.
    pub(super) async fn member(&self, address: &str) -> PostgresStore {
        self.member_with(info(address)).await
    }

    async fn member_with(&self, info: NodeInfo) -> PostgresStore {
        Self::member_at(&self.url(), info, LEASE).await
    }

    #[expect(clippy::disallowed_methods, reason = "the task ends with the store")]
    pub(super) async fn member_at(url: &str, info: NodeInfo, lease: Duration) -> PostgresStore {
        let sharing = Sharing { patience: lease, lease, info };
        let standby = Standby::join(url, sharing).await.expect("the database is there");
        assert_eq!(standby.active(), None);
        let store = standby.take_over().await.expect("a node of a cluster takes over at once");
        // As if links were never cut.
        let (membership, mut views) = (Arc::downgrade(&store.membership()), store.views());
        views.mark_changed();
        tokio::spawn(async move {
            while views.changed().await.is_ok() {
                let others = views.borrow_and_update().others.iter().map(|(node, _)| *node).collect();
                let Some(membership) = membership.upgrade() else { return };
                membership.note_reached(others);
            }
        });
        store
    }

    /// Who owns shards, with their number.
    fn shares(&self) -> String {
        let sql = "SELECT coalesce(address, 'none'), count(*) FROM shard LEFT JOIN node ON node.id = shard.node \
            GROUP BY address ORDER BY address";
        self.sql(sql).replace('\n', " ")
    }

    async fn node_table(&self) -> NodeTable {
        NodeTable::open(&self.url(), LEASE).await.expect("the database is set up")
    }

    /// Declares a node dead, as another one would.
    fn declare_node_dead(&self, node: NodeId) {
        self.sql(&format!(
            "BEGIN; UPDATE shard SET node = NULL, away_us = 1 WHERE node = {node}; \
             DELETE FROM fence WHERE node = {node}; DELETE FROM node WHERE id = {node}; COMMIT"
        ));
    }
}

pub(super) fn info(address: &str) -> NodeInfo {
    NodeInfo { listens: Some(address.to_owned()), address: Some(address.to_owned()), ..NodeInfo::default() }
}

/// The clock of this machine, which is the database's.
fn right_clock() -> Timestamp {
    ahead(0)
}

/// A clock that is ahead by some seconds.
fn ahead(seconds: u32) -> Timestamp {
    Timestamp(0).after(UNIX_EPOCH.elapsed().expect("a time after 1970") + SECOND * seconds)
}

/// Waits until a node sees what is wanted.
async fn seen(store: &PostgresStore, is_wanted: impl Fn(&ClusterView) -> bool) -> Arc<ClusterView> {
    let mut views = store.views();
    let seen = timeout(LEASE, views.wait_for(|view| is_wanted(view))).await;
    Arc::clone(&seen.expect("it is seen in time").expect("the node is there"))
}

fn owned(view: &ClusterView) -> Vec<Assignment> {
    view.assignments.iter().filter(|owned| owned.node == view.me).copied().collect()
}

/// Gives what a node has beyond its share to those that are to have it.
async fn give(store: &PostgresStore, view: &ClusterView) -> Result<Vec<Assignment>, StoreError> {
    let next = |owned: Assignment| Some((owned, *view.surplus.get(&owned.shard)?));
    let given: Vec<_> = owned(view).into_iter().filter_map(next).collect();
    store.hand_over(given.clone(), FREED).await?;
    Ok(given.into_iter().map(|(owned, _)| owned).collect())
}

fn shards(owned: &[Assignment]) -> Vec<Shard> {
    owned.iter().map(|owned| owned.shard).collect()
}

fn room_of(owned: Assignment) -> RoomId {
    RoomId::from_random(u64::from(owned.shard.number()) << 48 | 7)
}

/// The second event of a room.
fn line(room: RoomId) -> Vec<Event> {
    let mut test = TestRoom::lobby();
    test.ok("ada", chat("one"));
    moved(test.history, room).split_off(1)
}

#[needs(postgres)]
#[tokio::test]
async fn a_node_gives_what_is_beyond_its_share_to_the_others() {
    let database = database();
    let first = database.member("one").await;
    let alone = seen(&first, |view| owned(view).len() == 4_096).await;
    assert!(alone.others.is_empty() && alone.surplus.is_empty() && alone.away_since.is_empty());
    let second = database.member("two").await;
    let shared = seen(&first, |view| view.surplus.len() == 2_048).await;
    let id = seen(&second, |view| view.assignments.len() == 4_096).await.me;
    assert_eq!(shared.others, [(id, "two".to_owned())]);
    assert_eq!(database.shares(), "one|4096");
    let given = give(&first, &shared).await.unwrap();
    assert_eq!(database.shares(), "one|2048 two|2048", "none is without a node in between");
    let taken = seen(&second, |view| shards(&owned(view)) == shards(&given)).await;
    assert!(
        given.iter().all(|owned| taken.away_since.get(&owned.shard) == Some(&FREED)),
        "their clocks may have to be credited"
    );
    give(&first, &shared).await.unwrap();
    first.note_credited(given.clone()).await.unwrap();
    second.note_credited(owned(&taken)).await.unwrap();
    assert_eq!(database.sql("SELECT count(away_us), min(version), max(version) FROM shard"), "0|1|2");
    seen(&first, |view| view.surplus.is_empty() && owned(view).len() == 2_048).await;
    assert_eq!(database.shares(), "one|2048 two|2048");
}

#[needs(postgres)]
#[tokio::test]
async fn shards_are_not_given_to_a_node_that_is_gone() {
    let database = database();
    let (first, second) = (database.member("one").await, database.member("two").await);
    let shared = seen(&first, |view| view.surplus.len() == 2_048).await;
    drop(second);
    assert!(matches!(give(&first, &shared).await, Err(StoreError::Unavailable(_))));
    assert_eq!(database.shares(), "one|4096");
}

/// So that the next node sees by its own clock how far the times in the rooms have to be moved.
#[needs(postgres)]
#[tokio::test]
async fn the_mark_of_a_shard_is_by_the_clock_of_the_node_that_had_it() {
    for mark in [None, Some(Timestamp(500_000_000))] {
        let database = database();
        let joined = right_clock();
        let first = database.member_with(NodeInfo { clock: Some(|| ahead(4)), ..info("one") }).await;
        seen(&first, |view| owned(view).len() == 4_096).await;
        if let Some(mark) = mark {
            first.mark_alive(mark).await.unwrap();
            // Much later: the lease was renewed without a write, or the clock of the database was set.
            database.sql("UPDATE fence SET alive_at = now() - interval '1 hour'");
        }
        drop(first);
        let second = database.member("two").await;
        let taken = seen(&second, |view| owned(view).len() == 4_096).await;
        let (lowest, highest) = (taken.away_since.values().min().unwrap(), taken.away_since.values().max().unwrap());
        assert_eq!((taken.away_since.len(), lowest), (4_096, highest));
        match mark {
            None => assert!((joined.after(SECOND * 4)..ahead(4)).contains(lowest), "{lowest:?}"),
            Some(mark) => assert_eq!(lowest.since(mark), Duration::from_secs(5), "no longer than between two marks"),
        }
        second.mark_alive(FREED).await.unwrap();
        assert_eq!(database.sql("SELECT count(away_us) FROM shard"), "4096", "they are not credited yet");
        second.note_credited(owned(&taken)).await.unwrap();
    }
}

#[needs(postgres)]
#[tokio::test]
async fn a_node_whose_clock_is_wrong_takes_no_shards_and_counts_for_no_share() {
    let database = database();
    let wrong = database.member_with(NodeInfo { clock: Some(|| ahead(30)), ..info("wrong") }).await;
    let alone = seen(&wrong, |view| view.obstacle == Some(Obstacle::WrongClock)).await;
    assert!(owned(&alone).is_empty());
    assert_eq!(seconds(wrong.lease().borrow().ahead), 30);
    let first = database.member_with(NodeInfo { clock: Some(|| ahead(4)), ..info("one") }).await;
    let served = |view: &ClusterView| view.obstacle.is_none();
    seen(&first, |view| owned(view).len() == 4_096 && view.surplus.is_empty() && served(view)).await;
    let shown = async || {
        let rows = database.node_table().await.nodes().await.unwrap();
        let shown = |row: &NodeRow| {
            let status = row.status.as_ref().unwrap();
            (status.is_serving, row.shards, status.ahead.map(seconds))
        };
        rows.iter().map(shown).collect::<Vec<_>>()
    };
    timeout(LEASE, async { while shown().await != [(false, 0, Some(30)), (true, 4_096, Some(4))] {} }).await.unwrap();
    // If most nodes have that clock, the database's was set.
    let second = database.member_with(NodeInfo { clock: Some(|| ahead(31)), ..info("two") }).await;
    seen(&second, |view| view.obstacle == Some(Obstacle::WrongClock)).await;
    drop(first);
    let third = database.member_with(NodeInfo { clock: Some(|| ahead(29)), ..info("three") }).await;
    for node in [&wrong, &second, &third] {
        seen(node, served).await;
    }
    seen(&second, |view| view.assignments.len() == 4_096).await;
}

/// How far the clock of a node seems to be ahead, in seconds, after the database's clock was set.
static SEEMS_AHEAD: AtomicI64 = AtomicI64::new(0);

/// What another node wrote just before then seems to be old.
#[needs(postgres)]
#[tokio::test]
async fn changes_of_shards_are_read_though_the_databases_clock_was_set_forward() {
    let database = database();
    let clock = || right_clock().shifted(SEEMS_AHEAD.load(Relaxed) * 1_000_000);
    let first = database.member_with(NodeInfo { clock: Some(clock), ..info("one") }).await;
    seen(&first, |view| owned(view).len() == 4_096).await;
    let other = NodeId(first.views().borrow().me.0 + 1_000);
    database.sql(&format!(
        "INSERT INTO node (id, host, listens, address, role, renewed, until, since) OVERRIDING SYSTEM VALUE \
         VALUES ({other}, '', 'two', 'two', 'rooms', now(), now() + interval '1 hour', now()); \
         UPDATE shard SET node = {other}, version = version + 1, changed = now() - interval '1 hour' WHERE id = 7"
    ));
    SEEMS_AHEAD.store(-4, Relaxed);
    let is_taken = |view: &ClusterView| view.assignments.iter().any(|owned| owned.node == other);
    seen(&first, is_taken).await;
}

/// Whole seconds.
fn seconds(micros: i64) -> i64 {
    (micros + 500_000) / 1_000_000
}

/// The fence of a node does not permit to write to the shards of another.
#[needs(postgres)]
#[tokio::test]
async fn a_node_writes_only_to_its_own_shards() {
    let database = database();
    let first = database.member("one").await;
    let second = database.member("two").await;
    let shared = seen(&first, |view| view.surplus.len() == 2_048).await;
    let given = owned(&shared).split_off(2_048);
    let (stays, moves) = (room_of(owned(&shared)[0]), room_of(given[0]));
    for room in [stays, moves] {
        assert_eq!(write(&first, room, Seq(0), &creation_of(room)).await, Ok(()));
    }
    give(&first, &shared).await.unwrap();
    seen(&second, |view| shards(&owned(view)) == shards(&given)).await;
    let line = line(moves);
    assert_eq!(write(&first, moves, Seq(1), &line).await, Err(AppendError::Fenced));
    assert_eq!(write(&second, stays, Seq(1), &line).await, Err(AppendError::Fenced));
    let new = room_of(given[1]);
    assert_eq!(write(&first, new, Seq(0), &creation_of(new)).await, Err(AppendError::Fenced));
    assert_eq!(write(&second, moves, Seq(0), &creation_of(moves)).await, Err(AppendError::Conflict(Seq(1))));
    assert_eq!(write(&second, moves, Seq(1), &line).await, Ok(()));
}

#[needs(postgres)]
#[tokio::test]
async fn of_the_same_request_at_two_nodes_at_once_one_is_done() {
    let database = database();
    let nodes = [database.member("one").await, database.member("two").await];
    let shared = seen(&nodes[0], |view| view.surplus.len() == 2_048).await;
    give(&nodes[0], &shared).await.unwrap();
    let has_half = |view: &ClusterView| owned(view).len() == 2_048;
    let (one, two) = (seen(&nodes[0], has_half).await, seen(&nodes[1], has_half).await);
    let shards = [owned(&one), owned(&two)];
    for key in 0..20 {
        let request = Request { key, digest: 5 };
        let create = async |node: usize| {
            let room = room_of(shards[node][key as usize]);
            let mut events = creation_of(room);
            let Fact::Created(creation) = &mut events[0].fact else { panic!("a history begins with a creation") };
            creation.request = Some(request);
            (room, write(&nodes[node], room, Seq(0), &events).await)
        };
        let (first, second) = tokio::join!(create(0), create(1));
        let both = [first, second];
        let done = both.iter().filter(|(_, written)| *written == Ok(()));
        let rooms: Vec<_> = done.map(|(room, _)| *room).collect();
        assert_eq!(rooms.len(), 1, "{both:?}");
        let known = nodes[0].done_request(key, Timestamp(0)).await.unwrap();
        assert_eq!(known.map(|done| done.room), Some(rooms[0]));
    }
    assert_eq!(database.sql("SELECT count(*) FROM room"), "20");
}

#[needs(postgres)]
#[tokio::test]
async fn a_node_that_was_declared_dead_goes_on_as_another() {
    let database = database();
    let first = database.member("one").await;
    let before = seen(&first, |view| owned(view).len() == 4_096).await;
    let room = room_of(owned(&before)[0]);
    write(&first, room, Seq(0), &creation_of(room)).await.unwrap();
    database.declare_node_dead(before.me);
    let after = seen(&first, |view| view.me != before.me && owned(view).len() == 4_096).await;
    assert!(after.me > before.me);
    assert_eq!(after.away_since.len(), 4_096, "no node owned the shards in between");
    assert_eq!(write(&first, room, Seq(1), &line(room)).await, Ok(()));
    assert!(first.load(room).await.unwrap().is_some());
}

/// As after a failover to a standby that did not have the last commits. All nodes know the versions that were lost.
#[needs(postgres)]
#[tokio::test]
async fn shards_whose_changes_the_database_has_lost_get_versions_that_no_node_knows() {
    let database = database();
    let proxy = Proxy::of(&database);
    let info_with_clock = NodeInfo { clock: Some(right_clock), ..info("one") };
    let first = Database::member_at(&proxy.url(&database), info_with_clock, LEASE).await;
    let second = database.member_with(NodeInfo { clock: Some(right_clock), ..info("two") }).await;
    let shared = seen(&first, |view| view.surplus.len() == 2_048).await;
    give(&first, &shared).await.unwrap();
    let has_half = |view: &ClusterView| owned(view).len() == 2_048 && view.assignments.len() == 4_096;
    seen(&second, has_half).await;
    let before = seen(&first, has_half).await;
    database.sql(&format!(
        "UPDATE shard SET node = {}, version = 1, changed = '-infinity', away_us = NULL WHERE version = 2",
        before.me
    ));
    proxy.cut();
    let cut = right_clock();
    let has_all = |view: &ClusterView| {
        let mut raised = view.assignments.iter().filter(|owned| owned.version > 1_000);
        view.assignments.len() == 4_096
            && raised.clone().count() == 2_048
            && raised.all(|owned| owned.node == before.me)
    };
    let taken = seen(&first, has_all).await;
    assert_eq!((owned(&taken).len(), taken.away_since.len()), (4_096, 2_048));
    assert!(taken.away_since.values().all(|since| *since <= cut), "since the connection was lost");
    seen(&second, has_all).await;
}

/// Its lease has another connection, over which it goes on.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_can_write_no_room_gives_its_shards_to_others_until_it_can() {
    let database = database();
    let proxy = Proxy::of(&database);
    let info_with_clock = NodeInfo { clock: Some(right_clock), ..info("one") };
    let first = Database::member_at(&proxy.url(&database), info_with_clock, 2 * SECOND).await;
    let before = seen(&first, |view| owned(view).len() == 4_096).await;
    let second = database.member("two").await;
    let written = right_clock();
    first.mark_alive(written).await.unwrap();
    proxy.hold_only_requests_with("UPDATE fence SET session");
    database.sql(&format!("SELECT pg_terminate_backend(backend) FROM fence WHERE node = {}", before.me));
    assert!(first.mark_alive(FREED).await.is_err());
    let has_left = |view: &ClusterView| view.me != before.me && view.obstacle == Some(Obstacle::NoAccess);
    let after = seen(&first, has_left).await;
    assert!(owned(&after).is_empty());
    let taken = seen(&second, |view| owned(view).len() == 4_096).await;
    // It had the lease for four seconds more.
    let away = taken.away_since.values().map(|since| since.since(written)).max();
    assert!(away.unwrap() < 2 * SECOND, "clocks are credited from when nothing could be written: {away:?}");
    proxy.release();
    timeout(LEASE, async { while first.mark_alive(FREED).await.is_err() {} }).await.expect("it can write");
    seen(&first, |view| view.obstacle.is_none()).await;
}

/// The type of an answer is not the expected one.
#[needs(postgres)]
#[tokio::test]
async fn a_node_whose_writer_has_panicked_ends() {
    let database = database();
    drop(database.open().await);
    database.sql("CREATE FUNCTION pg_try_advisory_xact_lock(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1'");
    let url = format!("{}%2Cpg_catalog", database.url());
    let first = Database::member_at(&url, info("one"), LEASE).await;
    seen(&first, |view| owned(view).len() == 4_096).await;
    let ada = StoredPlayer {
        profile: profile("ada"),
        seats: 1,
        token: [7; 32],
        seen: FREED,
        claimed: false,
        availability: None,
        played: false,
    };
    assert!(first.put_player(ada).await.is_err());
    timeout(LEASE, first.membership().wait_until_lost()).await.expect("it ends");
    assert_eq!(database.shares(), "none|4096");
}

/// What a silent node would get would wait for it.
#[needs(postgres)]
#[tokio::test]
async fn a_node_that_ends_gives_nothing_to_one_that_is_silent() {
    let database = database();
    let proxy = Proxy::of(&database);
    let first = database.member("one").await;
    seen(&first, |view| owned(view).len() == 4_096).await;
    let _second = database.member("two").await;
    // It is not declared dead before the end of the test.
    let silent = Database::member_at(&proxy.url(&database), info("three"), 4 * LEASE).await;
    let before = seen(&first, |view| view.others.len() == 2 && view.surplus.len() == 2_730).await;
    proxy.hold();
    assert!(database.node_table().await.ask_to_end(before.me).await.unwrap());
    let silent_id = silent.views().borrow().me;
    seen(&first, |view| view.surplus.len() == 4_096 && view.surplus.values().all(|next| *next != silent_id)).await;
    proxy.release();
}

/// As after a database that was away from all: else its rooms would be without a node until the others come back.
#[needs(postgres)]
#[tokio::test]
async fn a_node_that_ends_waits_while_all_others_are_silent() {
    let database = database();
    let proxy = Proxy::of(&database);
    let first = database.member("one").await;
    let before = seen(&first, |view| owned(view).len() == 4_096).await;
    let silent = Database::member_at(&proxy.url(&database), info("two"), 4 * LEASE).await;
    assert!(database.node_table().await.ask_to_end(before.me).await.unwrap());
    seen(&first, |view| view.surplus.len() == 4_096).await;
    proxy.hold();
    let waiting = seen(&first, |view| view.surplus.is_empty()).await;
    assert!(!waiting.is_drained);
    proxy.release();
    let given = seen(&first, |view| view.surplus.len() == 4_096).await;
    give(&first, &given).await.unwrap();
    seen(&first, |view| view.is_drained).await;
    seen(&silent, |view| owned(view).len() == 4_096).await;
}

/// One without an address for others would own all shards or none.
#[needs(postgres)]
#[tokio::test]
async fn a_server_alone_and_nodes_that_share_do_not_mix() {
    let database = database();
    let alone = database.open().await;
    let member = database.member("two").await;
    let view = seen(&member, |view| !view.assignments.is_empty()).await;
    assert!(owned(&view).is_empty());
    assert_eq!(view.obstacle, Some(Obstacle::Unshared), "it could serve no room");
    drop(alone);
    seen(&member, |view| owned(view).len() == 4_096 && view.obstacle.is_none()).await;
    assert!(database.try_open().await.is_err());
    drop(member);
    database.open().await;
}

/// Both looked before the other one had taken any, so that each has a part.
#[needs(postgres)]
#[tokio::test]
async fn shards_that_a_server_alone_and_a_node_that_shares_took_at_once_do_not_stay_with_nobody() {
    let database = database();
    let member = database.member("one").await;
    seen(&member, |view| owned(view).len() == 4_096).await;
    let sharing = Sharing { lease: LEASE, info: NodeInfo { address: None, ..info("two") }, ..Sharing::default() };
    let alone = Standby::join(&database.url(), sharing).await.unwrap();
    database.sql(
        "UPDATE shard SET node = (SELECT id FROM node WHERE listens = 'two'), version = version + 1, changed = now() \
         WHERE id < 100",
    );
    let taken_again = |view: &ClusterView| owned(view).iter().filter(|owned| owned.version == 3).count();
    seen(&member, |view| taken_again(view) == 100 && owned(view).len() == 4_096).await;
    assert!(alone.active().is_some());
}

#[needs(postgres)]
#[tokio::test]
async fn one_node_at_a_time_has_the_waiting_rooms() {
    let database = database();
    let (first, second) = (database.member("one").await, database.member("two").await);
    let [old, new] = [1, 2].map(RoomId::from_random);
    assert_eq!(first.take_waiting(9).await.unwrap(), Some(vec![]));
    assert_eq!(second.take_waiting(9).await.unwrap(), None);
    // Of an earlier match whose end was not written.
    assert_eq!(first.take_waiting(9).await.unwrap(), Some(vec![]));
    first.return_waiting(vec![], vec![old]).await.unwrap();
    first.add_waiting(vec![new, old]).await.unwrap();
    assert_eq!(second.take_waiting(9).await.unwrap(), Some(vec![old, new]));
    // Late: they are another node's now.
    first.return_waiting(vec![], vec![]).await.unwrap();
    assert_eq!(first.take_waiting(9).await.unwrap(), None);
    // As when the other node has ended.
    database.sql("UPDATE matching SET until = now() - interval '1 s'");
    assert_eq!(first.take_waiting(1).await.unwrap(), Some(vec![old]), "no more than it asks for");
    first.return_waiting(vec![old], vec![]).await.unwrap();
    assert_eq!(second.take_waiting(9).await.unwrap(), Some(vec![new]));
}

#[needs(postgres)]
#[tokio::test]
async fn a_node_that_is_asked_to_end_gives_all_its_shards_to_the_others_and_takes_none() {
    let database = database();
    let (first, second) = (database.member("one").await, database.member("two").await);
    let shared = seen(&first, |view| view.surplus.len() == 2_048).await;
    give(&first, &shared).await.unwrap();
    let before = seen(&second, |view| owned(view).len() == 2_048).await;
    let table = database.node_table().await;
    assert!(table.ask_to_end(before.me).await.unwrap());
    let draining = seen(&second, |view| view.surplus.len() == 2_048).await;
    assert!(!draining.is_drained);
    give(&second, &draining).await.unwrap();
    seen(&first, |view| owned(view).len() == 4_096 && view.surplus.is_empty()).await;
    drop(first);
    seen(&second, |view| view.assignments.is_empty()).await;
    assert_eq!(database.shares(), "none|4096");
    // Nor does it with a new number.
    database.declare_node_dead(draining.me);
    let after = seen(&second, |view| view.me != draining.me).await;
    assert!(after.is_drained && after.assignments.is_empty());
    let third = database.member("three").await;
    seen(&third, |view| owned(view).len() == 4_096 && view.surplus.is_empty()).await;
    let rows: Vec<_> = table.nodes().await.unwrap().iter().map(|row| (row.is_draining, row.shards)).collect();
    assert_eq!(rows, [(true, 0), (false, 4_096)]);
}

#[needs(postgres)]
#[tokio::test]
async fn the_table_of_nodes_is_read_without_being_one() {
    let database = database();
    assert!(matches!(NodeTable::open(&database.url(), LEASE).await.err(), Some(PostgresError::Empty)));
    assert_eq!(database.sql("SELECT to_regclass('node') IS NULL"), "t", "nothing is set up by a look");
    let node = database.member("one").await;
    let view = seen(&node, |view| owned(view).len() == 4_096).await;
    for shard in [owned(&view)[0], owned(&view)[4_095]] {
        let room = room_of(shard);
        write(&node, room, Seq(0), &creation_of(room)).await.unwrap();
    }
    let table = database.node_table().await;
    let [row] = <[_; 1]>::try_from(table.nodes().await.unwrap()).unwrap();
    assert_eq!((row.id, row.address.as_deref()), (view.me, Some("one")));
    assert_eq!((row.shards, row.rooms, row.is_draining), (4_096, 2, false));
    assert!(row.renewed < LEASE);
    assert!(!table.ask_to_end(NodeId(view.me.0 + 1)).await.unwrap());
}
