//! The list of rooms with the rows of other nodes.

use std::{collections::BTreeMap, sync::Arc, thread, time::Duration};

use tokio::{
    runtime::Builder,
    task::yield_now,
    time::{advance, timeout},
};

use super::{
    listing::{LOBBY_INTERVAL, Listing, Lobby, LobbyWatch, MIN_FREE_ROWS, SEARCH_STEP, SNAPSHOT_ROWS, tests::room},
    peer_rows::PeerList,
    row::{LOBBY_LAG, LobbyUpdate, Row, RowFilter, RowKey},
};
use crate::{
    room::RoomName,
    runtime::cluster::{
        cluster::{Cluster, MOVE_TIMEOUT, WATCHED_ROWS},
        peers::NoPeers,
    },
    store::{Assignment, NodeId, Shard},
};

const ME: NodeId = NodeId(1);
const ONE: NodeId = NodeId(2);
const OTHER: NodeId = NodeId(3);

struct World {
    cluster: Arc<Cluster>,
    lobby: Arc<Lobby>,
}

impl World {
    fn new() -> Self {
        let cluster = Arc::new(Cluster::new(ME, Arc::new(NoPeers)));
        Self { lobby: Arc::new(Lobby::new(Arc::clone(&cluster))), cluster }
    }

    async fn listed(&self) -> Vec<Row> {
        self.lobby.page(&RowFilter::default(), None, usize::MAX).await
    }

    /// The numbers of watchers, which identify the rows in these tests.
    async fn watchers(&self) -> Vec<u32> {
        self.listed().await.iter().map(|row| row.watchers).collect()
    }

    fn list_of(&self, node: NodeId) -> PeerList {
        PeerList::new(&self.lobby.peers, node)
    }

    fn drop_left(&self) {
        self.lobby.peers.drop_left();
    }
}

fn tea(number: usize) -> Row {
    row(number, 0)
}

fn go(number: usize) -> Row {
    Row { name: RoomName::parse("Go").unwrap(), ..tea(number) }
}

fn row(number: usize, watchers: u32) -> Row {
    Row::of(&room(number), watchers)
}

fn last_page(after: Option<RowKey>, rows: Vec<Row>) -> LobbyUpdate {
    LobbyUpdate::Page { after, rows, end: None }
}

fn upserted(row: Row) -> LobbyUpdate {
    LobbyUpdate::Changed { upserted: vec![row], removed: Vec::new(), moved: Vec::new() }
}

fn removed(row: &Row) -> LobbyUpdate {
    LobbyUpdate::Changed { upserted: Vec::new(), removed: vec![row.key()], moved: Vec::new() }
}

fn moved(row: &Row) -> LobbyUpdate {
    LobbyUpdate::Changed { upserted: Vec::new(), removed: Vec::new(), moved: vec![row.key()] }
}

#[tokio::test(start_paused = true)]
async fn pages_are_of_all_nodes_in_order() {
    let world = World::new();
    let _own = [1, 4].map(|number| Listing::new(&world.lobby, &room(number)));
    let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
    one.update(last_page(None, vec![row(0, 0), row(3, 0)]));
    other.update(last_page(None, vec![row(2, 0), row(5, 0)]));
    let all = world.listed().await;
    assert_eq!(all, [0, 1, 2, 3, 4, 5].map(|number| row(number, 0)));
    let filter = RowFilter::default();
    for size in 1..=6 {
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = world.lobby.page(&filter, after, size).await;
            let Some(last) = page.last() else { break };
            after = Some(last.key());
            paged.extend(page);
        }
        assert_eq!(paged, all, "by {size}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_search_in_steps_finds_each_room_once() {
    let (world, rooms) = (World::new(), 2 * SEARCH_STEP + 2);
    let _own: Vec<_> = (0..rooms).step_by(2).map(|number| Listing::new(&world.lobby, &room(number))).collect();
    let one = world.list_of(ONE);
    one.update(last_page(None, (0..rooms).filter(|number| number % 2 == 1 || number % 3 == 0).map(tea).collect()));
    assert_eq!(world.listed().await, (0..rooms).map(tea).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn rooms_come_and_go_between_the_steps_of_a_search() {
    let (world, rooms) = (World::new(), 3 * SEARCH_STEP);
    let one = world.list_of(ONE);
    one.update(last_page(None, (0..rooms).map(tea).collect()));
    let filter = RowFilter { text: Some("go".into()), ..RowFilter::default() };
    let mut steps = 0;
    let changes = async {
        loop {
            steps += 1;
            // The second one was searched already.
            for number in [rooms - 1, 0] {
                one.update(upserted(go(number)));
            }
            yield_now().await;
        }
    };
    let found = tokio::select! {
        biased;
        found = world.lobby.page(&filter, None, 2) => found,
        () = changes => unreachable!(),
    };
    assert_eq!((found, steps), (vec![go(rooms - 1)], 3));
}

#[tokio::test(start_paused = true)]
async fn of_two_rows_of_a_room_the_own_one_is_shown_or_that_of_the_serving_node() {
    let world = World::new();
    let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
    one.update(upserted(row(0, 7)));
    other.update(upserted(row(0, 8)));
    let shard = Shard::of(row(0, 0).id);
    for (version, node, shown) in [(1, ONE, 7), (2, OTHER, 8)] {
        world.cluster.learn([Assignment { shard, node, version }]);
        assert_eq!(world.watchers().await, [shown]);
    }
    let own = Listing::new(&world.lobby, &room(0));
    own.update_watchers(9);
    assert_eq!(world.watchers().await, [9]);
    drop(own);
    assert_eq!(world.watchers().await, [8]);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_left_its_node_is_kept_until_another_one_lists_the_room() {
    let world = World::new();
    let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
    one.update(upserted(row(0, 7)));
    one.update(moved(&row(0, 0)));
    assert_eq!(world.watchers().await, [7]);
    other.update(upserted(row(0, 8)));
    assert_eq!(world.watchers().await, [8]);
    other.update(removed(&row(0, 0)));
    assert!(world.listed().await.is_empty(), "the earlier row does not come back");
    // The same in the other order.
    one.update(upserted(row(0, 7)));
    other.update(upserted(row(0, 8)));
    one.update(moved(&row(0, 0)));
    assert_eq!(world.watchers().await, [8]);
    other.update(removed(&row(0, 0)));
    assert!(world.listed().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn rows_of_a_node_without_a_link_are_kept_for_a_while() {
    let world = World::new();
    let (one, gone) = (world.list_of(ONE), world.list_of(OTHER));
    one.update(last_page(None, vec![row(0, 0)]));
    gone.update(last_page(None, vec![row(1, 0), row(2, 0)]));
    drop(gone);
    advance(MOVE_TIMEOUT / 2).await;
    world.drop_left();
    assert_eq!(world.listed().await.len(), 3);
    let again = world.list_of(OTHER);
    again.update(last_page(None, vec![row(1, 0)]));
    advance(MOVE_TIMEOUT / 2).await;
    world.drop_left();
    assert_eq!(world.listed().await, [row(0, 0), row(1, 0)]);
    drop(again);
    advance(MOVE_TIMEOUT).await;
    world.drop_left();
    assert_eq!(world.listed().await, [row(0, 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_page_replaces_the_rows_of_its_node_between_its_ends() {
    let world = World::new();
    let (one, other) = (world.list_of(ONE), world.list_of(OTHER));
    one.update(last_page(None, (0..6).map(|number| row(number, 0)).collect()));
    other.update(last_page(None, vec![row(9, 0)]));
    // The page ends with a row that is missing.
    let end = Some(row(3, 0).key());
    one.update(LobbyUpdate::Page { after: None, rows: vec![row(0, 0), row(2, 0)], end });
    advance(MOVE_TIMEOUT).await;
    world.drop_left();
    assert_eq!(world.listed().await, [0, 2, 4, 5, 9].map(|number| row(number, 0)));
    one.update(last_page(end, vec![row(4, 0)]));
    advance(MOVE_TIMEOUT).await;
    world.drop_left();
    assert_eq!(world.listed().await, [0, 2, 4, 9].map(|number| row(number, 0)));
}

async fn changed(watch: &mut LobbyWatch) -> (Vec<u32>, usize) {
    match watch.next().await {
        LobbyUpdate::Changed { upserted, removed, .. } => {
            (upserted.iter().map(|row| row.watchers).collect(), removed.len())
        }
        other => panic!("expected changes: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn watchers_of_the_list_see_the_rows_of_other_nodes_and_nodes_only_own_ones() {
    let world = World::new();
    let (mut all, mut own) = (world.lobby.watch(RowFilter::default()), world.lobby.watch_own(RowFilter::default()));
    for watch in [&mut all, &mut own] {
        assert_eq!(watch.next().await, last_page(None, Vec::new()));
    }
    let one = world.list_of(ONE);
    one.update(upserted(row(0, 7)));
    assert_eq!(changed(&mut all).await, (vec![7], 0));
    let listing = Listing::new(&world.lobby, &room(1));
    assert_eq!(changed(&mut all).await, (vec![0], 0));
    assert_eq!(own.next().await, upserted(row(1, 0)));
    one.update(removed(&row(0, 0)));
    assert_eq!(changed(&mut all).await, (Vec::new(), 1));
    drop(listing);
    assert_eq!(own.next().await, moved(&row(1, 0)));
    assert_eq!(changed(&mut all).await, (vec![0], 0), "it is still in the list");
    let mut closed = Listing::new(&world.lobby, &room(1));
    assert_eq!(own.next().await, upserted(row(1, 0)));
    assert_eq!(changed(&mut all).await, (vec![0], 0));
    closed.remove();
    assert_eq!(own.next().await, removed(&row(1, 0)));
    assert_eq!(changed(&mut all).await, (Vec::new(), 1));
}

/// The list is not sent again, though all rows change at once.
#[tokio::test(start_paused = true)]
async fn a_watcher_keeps_up_with_many_changes() {
    const ROOMS: usize = 10_000;
    let lobby = Arc::new(Lobby::new(Arc::default()));
    let listings: Vec<_> = (0..ROOMS).map(|number| Listing::new(&lobby, &room(number))).collect();
    let mut watch = lobby.watch(RowFilter::default());
    while !matches!(watch.next().await, LobbyUpdate::Page { end: None, .. }) {}
    listings[0].update_watchers(1);
    timeout(LOBBY_INTERVAL / 2, watch.next()).await.expect_err("not due");
    listings.iter().for_each(|listing| listing.update_watchers(2));
    let mut sent = 0;
    while sent < ROOMS {
        let (watchers, removed) = changed(&mut watch).await;
        assert!(watchers.len() <= SNAPSHOT_ROWS && watchers.iter().all(|&watchers| watchers == 2) && removed == 0);
        sent += watchers.len();
    }
    timeout(2 * LOBBY_INTERVAL, watch.next()).await.expect_err("each row is sent once");
}

/// In a room with a delay, an equal row would tell the time of a hidden move.
#[tokio::test(start_paused = true)]
async fn a_row_that_has_not_changed_is_not_sent() {
    let lobby = Arc::new(Lobby::new(Arc::default()));
    let room = room(0);
    let mut listing = Listing::new(&lobby, &room);
    let mut watch = lobby.watch(RowFilter::default());
    watch.next().await;
    listing.update(&room, &room, 0);
    timeout(2 * LOBBY_INTERVAL, watch.next()).await.expect_err("nothing has changed");
    listing.update(&room, &room, 1);
    assert_eq!(changed(&mut watch).await, (vec![1], 0));
}

#[tokio::test(start_paused = true)]
async fn changes_are_sent_when_due_though_others_come_without_end() {
    let lobby = Arc::new(Lobby::new(Arc::default()));
    let listing = Listing::new(&lobby, &room(0));
    let mut watch = lobby.watch(RowFilter::default());
    watch.next().await;
    listing.update_watchers(1);
    timeout(LOBBY_INTERVAL / 2, watch.next()).await.expect_err("not due");
    let change = |times| (0..times).for_each(|_| listing.update_watchers(2));
    change(LOBBY_LAG / 4);
    advance(LOBBY_INTERVAL).await;
    let without_end = async {
        loop {
            // More than the watcher takes before other tasks run.
            change(LOBBY_LAG / 128);
            yield_now().await;
        }
    };
    tokio::select! {
        biased;
        sent = changed(&mut watch) => assert_eq!(sent, (vec![2], 0)),
        () = without_end => unreachable!(),
    }
}

#[tokio::test(start_paused = true)]
async fn watchers_of_many_rooms_have_the_newest_that_match() {
    let world = World::new();
    let one = world.list_of(ONE);
    let filter = RowFilter { text: Some("go".into()), ..RowFilter::default() };
    let mut watch = world.lobby.watch(filter.clone());
    let (mut shown, mut most) = (BTreeMap::new(), 0);
    for round in 0..30 {
        for number in 0..2 * WATCHED_ROWS {
            one.update(match 7 * number % 10 {
                rest if rest < 7 * round % 10 => upserted(go(number)),
                9 => removed(&tea(number)),
                _ => upserted(tea(number)),
            });
        }
        while let Ok(update) = timeout(2 * LOBBY_INTERVAL, watch.next()).await {
            let (rows, removed) = match update {
                LobbyUpdate::Page { rows, .. } => (rows, Vec::new()),
                LobbyUpdate::Changed { upserted, removed, .. } => (upserted, removed),
            };
            shown.extend(rows.into_iter().map(|row| (row.key(), row)));
            shown.retain(|key, _| !removed.contains(key));
        }
        let expected = world.lobby.page(&filter, None, WATCHED_ROWS).await;
        let lacking = expected.len() - shown.len();
        assert!(
            shown.values().eq(&expected[..shown.len()]) && lacking < MIN_FREE_ROWS,
            "round {round}: {lacking} lack"
        );
        most = most.max(shown.len());
    }
    assert_eq!(most, WATCHED_ROWS);
}

#[tokio::test(start_paused = true)]
async fn a_watcher_gets_more_rows_when_it_has_lost_many() {
    let world = World::new();
    let one = world.list_of(ONE);
    one.update(last_page(None, (0..2 * WATCHED_ROWS).map(tea).collect()));
    let mut watch = world.lobby.watch(RowFilter::default());
    for _ in 0..WATCHED_ROWS / SNAPSHOT_ROWS {
        assert!(matches!(watch.next().await, LobbyUpdate::Page { rows, .. } if rows.len() == SNAPSHOT_ROWS));
    }
    for number in 0..MIN_FREE_ROWS - 1 {
        one.update(removed(&tea(number)));
    }
    assert_eq!(changed(&mut watch).await, (Vec::new(), MIN_FREE_ROWS - 1));
    timeout(2 * LOBBY_INTERVAL, watch.next()).await.expect_err("no search for each row");
    one.update(removed(&tea(MIN_FREE_ROWS)));
    assert_eq!(changed(&mut watch).await, (Vec::new(), 1));
    let LobbyUpdate::Page { after: Some(_), rows, .. } = watch.next().await else { panic!("expected a page") };
    assert_eq!(rows, (WATCHED_ROWS..WATCHED_ROWS + MIN_FREE_ROWS).map(tea).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_sent_again_is_no_change() {
    let world = World::new();
    let rows: Vec<_> = (0..SNAPSHOT_ROWS).map(|number| row(number, 0)).collect();
    let one = world.list_of(ONE);
    one.update(last_page(None, rows.clone()));
    let mut changes = world.lobby.peers.changes();
    drop(one);
    world.list_of(ONE).update(last_page(None, rows));
    assert!(changes.try_recv().is_err());
}

/// Both threads take several locks.
#[test]
fn rooms_leave_while_the_list_is_read() {
    const ROUNDS: usize = 20_000;
    let World { lobby, .. } = World::new();
    let read = Arc::clone(&lobby);
    let reads = async move {
        for _ in 0..ROUNDS {
            read.page(&RowFilter::default(), None, 1).await;
        }
    };
    let reader = thread::spawn(|| Builder::new_current_thread().build().unwrap().block_on(reads));
    let room = room(0);
    let writer = thread::spawn(move || (0..ROUNDS).for_each(|_| drop(Listing::new(&lobby, &room))));
    let (done, ended) = std::sync::mpsc::sync_channel(1);
    thread::spawn(move || done.send((reader.join(), writer.join())));
    let (reader, writer) = ended.recv_timeout(Duration::from_secs(60)).expect("neither waits for the other for ever");
    reader.unwrap();
    writer.unwrap();
}
