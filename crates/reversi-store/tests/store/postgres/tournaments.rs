//! Tournaments of nodes that lose their connection or their shards.

use std::time::Duration;

use futures_util::future::join_all;
use reversi_needs::needs;
use reversi_room::{Seq, Timestamp};
use reversi_store::{
    AppendError, ClusterStore as _, PostgresStore, Shard, StoreError, TournamentAppend, TournamentJournal as _,
};

use super::{proxy::Proxy, server::database};
use crate::tournaments::{append, id, stored};

/// Long enough for any test.
const PATIENT: Duration = Duration::from_secs(60);

/// Soon over, and enough to connect on a busy machine.
const IMPATIENT: Duration = Duration::from_secs(1);

/// Three cases: the write was lost, its answer was lost, or its answer was lost and another write followed.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn an_append_is_written_once_whenever_the_connection_is_lost() {
    for is_committed in [false, true] {
        for snapshot in [false, true] {
            let database = database();
            let mut proxy = Proxy::of(&database);
            let store = proxy.open(&database, PATIENT).await;
            store.append_tournament(append(1, 0, 2, false)).await.unwrap();
            if is_committed {
                proxy.hold_answers_with("COMMIT")
            } else {
                proxy.hold_only_requests_with("COMMIT")
            }
            let cut = async {
                proxy.stopped().await;
                let last = if is_committed { "4" } else { "2" };
                assert_eq!(database.sql("SELECT seq FROM tournaments"), last);
                proxy.cut();
                proxy.release();
            };
            let next = [append(1, 2, 2, snapshot), append(1, 4, 1, false)].map(|next| store.append_tournament(next));
            assert_eq!(tokio::join!(join_all(next), cut).0, [Ok(()), Ok(())]);
            assert_eq!(store.tournament(id(1)).await, Ok(Some(stored(if snapshot { 4 } else { 0 }, 5))));
            let again = store.append_tournament(append(1, 2, 2, snapshot)).await;
            assert_eq!(again, Err(AppendError::Conflict(Seq(5))));
        }
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_is_not_read_while_an_append_may_still_arrive() {
    let database = database();
    let proxy = Proxy::of(&database);
    let store = proxy.open(&database, IMPATIENT).await;
    store.append_tournament(append(1, 0, 1, false)).await.unwrap();
    proxy.hold_answers_with("COMMIT");
    let unknown = store.append_tournament(append(1, 1, 1, false)).await;
    assert!(matches!(unknown, Err(AppendError::Unknown(_))), "{unknown:?}");
    assert!(matches!(store.tournament(id(1)).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.tournament_seq(id(1)).await, Err(StoreError::Unavailable(_))));
    proxy.release();
    let found = loop {
        if let Ok(found) = store.tournament(id(1)).await {
            break found;
        }
    };
    assert_eq!(found, Some(stored(0, 2)), "it was written");
}

#[needs(postgres)]
#[tokio::test]
async fn a_node_that_was_declared_dead_appends_nothing() {
    let database = database();
    let store = database.try_open().await.unwrap();
    store.append_tournament(append(1, 0, 1, false)).await.unwrap();
    database.sql("BEGIN; UPDATE shard SET node = NULL; DELETE FROM fence; DELETE FROM node; COMMIT");
    assert_eq!(store.append_tournament(append(1, 1, 1, false)).await, Err(AppendError::Fenced));
    assert_eq!(store.append_tournament(append(2, 0, 1, false)).await, Err(AppendError::Fenced));
    assert_eq!(database.sql("SELECT id, seq FROM tournaments"), "1|1");
    let next = database.try_open().await.unwrap();
    assert_eq!(next.running_tournaments(Shard::all().collect()).await, Ok(vec![id(1)]));
    assert_eq!(next.append_tournament(append(1, 1, 1, false)).await, Ok(()));
}

/// The new owner finds the tournament by its shard.
#[needs(postgres)]
#[tokio::test]
async fn only_the_owner_of_the_shard_appends() {
    let database = database();
    let nodes = [database.member("one").await, database.member("two").await];
    let [one, two] = [0, 1].map(|node| nodes[node].views().borrow().me);
    let shard = Shard::new(7).unwrap();
    let add = async |node: &PostgresStore, expected| {
        let append = TournamentAppend { id: shard.tournament(5), ..append(0, expected, 1, false) };
        node.append_tournament(append).await
    };
    assert_eq!(add(&nodes[0], 0).await, Ok(()));
    assert_eq!(add(&nodes[1], 1).await, Err(AppendError::Fenced));
    let owned = nodes[0].views().borrow().assignments.iter().find(|owned| owned.shard == shard).copied().unwrap();
    assert_eq!(owned.node, one);
    nodes[0].hand_over(vec![(owned, two)], Timestamp(1)).await.unwrap();
    assert_eq!(nodes[1].running_tournaments([shard].into()).await, Ok(vec![shard.tournament(5)]));
    assert_eq!(add(&nodes[1], 1).await, Ok(()));
    assert_eq!(add(&nodes[0], 2).await, Err(AppendError::Fenced));
    assert_eq!(database.sql("SELECT seq FROM tournaments"), "2");
}
