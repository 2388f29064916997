//! The list of rooms of two nodes.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::{StreamExt as _, stream};
use reversi::{
    proto::{
        cluster::{
            ExchangeRequest, ExchangeResponse, FollowRequest, FollowResponse, ListRequest, ListResponse,
            list_response::Update,
            node_service_server::{NodeService, NodeServiceServer},
        },
        v1::{self, watch_rooms_response::Message},
    },
    runtime::{Assignment, LobbyUpdate, NodeId, Peers as _, RowFilter, Shard},
    store::{MemoryStore, Store},
};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;
use tonic::{
    Request, Response, Status, Streaming,
    codegen::BoxStream,
    transport::server::{Server, TcpIncoming},
};
use tracing::{Event, Subscriber};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _, registry};

use super::pair::{Pair, TestNode, node};
use crate::harness::in_process::{Player, TestServer, named, private, within};

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
        let owned = Assignment { shard, node: pair.nodes[to].id, version };
        let [left, taken] = [from, to].map(|node| pair.nodes[node].server.runtime.node());
        left.learn([owned]);
        // A later row of the old owner comes after its last message about the room.
        let later = [&black, &white][from].create(named("later")).await.room_id;
        for list in [&mut there, &mut here] {
            list.until(|rows| rows.contains_key(&later)).await;
        }
        listed().await;
        taken.learn([owned]);
        taken.serve_shards(&[(owned, None)]).await.unwrap();
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

/// A node that only sends its list, once.
struct ListingNode(Vec<ListResponse>);

#[tonic::async_trait]
impl NodeService for ListingNode {
    type ExchangeStream = BoxStream<ExchangeResponse>;
    type FollowStream = BoxStream<FollowResponse>;
    type ListStream = BoxStream<ListResponse>;

    async fn exchange(&self, _: Request<Streaming<ExchangeRequest>>) -> Result<Response<Self::ExchangeStream>, Status> {
        Ok(Response::new(Box::pin(stream::pending())))
    }

    async fn follow(&self, _: Request<Streaming<FollowRequest>>) -> Result<Response<Self::FollowStream>, Status> {
        Ok(Response::new(Box::pin(stream::pending())))
    }

    async fn list(&self, _: Request<ListRequest>) -> Result<Response<Self::ListStream>, Status> {
        let sent = stream::iter(self.0.clone()).map(Ok);
        Ok(Response::new(Box::pin(sent.chain(stream::pending()))))
    }
}

/// Counts the warnings of the list.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(usize::from(event.metadata().target() == "reversi::grpc::links::list"), Ordering::Relaxed);
    }
}

/// During a rolling upgrade, other nodes have rows of a later version.
#[tokio::test]
async fn a_row_that_cannot_be_read_is_left_out_and_the_link_stays_up() {
    let warnings = Warnings::default();
    let _log = tracing::subscriber::set_default(registry().with(warnings.clone()));
    let later = TestServer::open().await;
    let owner = later.human("Bea").await;
    for name in ["first", "second", "third"] {
        owner.create(named(name)).await;
    }
    let rows = later.runtime.lobby.page(&RowFilter::default(), None, 3).await;
    let [all, changed] = [rows.clone(), rows[..2].to_vec()];
    let mut page = ListResponse::from(LobbyUpdate::Page { after: None, rows: all, end: None });
    let Some(Update::Page(sent)) = &mut page.update else { panic!() };
    sent.rows[0].white = None;
    let change = LobbyUpdate::Changed { upserted: changed, removed: Vec::new(), moved: Vec::new() };
    let mut change = ListResponse::from(change);
    let Some(Update::Changed(sent)) = &mut change.update else { panic!() };
    sent.upserted[0].black = None;
    sent.upserted[1].watchers = 7;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let service = NodeServiceServer::new(ListingNode(vec![page, change]));
    let mut served = JoinSet::new();
    served.spawn(Server::builder().add_service(service).serve_with_incoming(TcpIncoming::from(listener)));
    let (earlier, listener) = node(NodeId(1), None, Store::of(MemoryStore::default())).await;
    earlier.links.set_nodes(earlier.id, &[(NodeId(2), address)]);
    let shutdown = CancellationToken::new();
    let links = Arc::clone(&earlier.links).serve(earlier.server.runtime.node(), listener, shutdown.clone());
    let mut linked = JoinSet::new();
    linked.spawn(links);
    let watcher = earlier.server.human("Wim").await;
    let mut list = WatchedList::open(&watcher).await;
    list.until(|rows| rows.len() == 2 && rows.values().any(|row| row.watchers == 7)).await;
    let mut names: Vec<_> = list.rows.values().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!((names, earlier.links.linked()), (vec!["first", "second"], vec![NodeId(2)]));
    assert_eq!(warnings.0.load(Ordering::Relaxed), 1, "two rows could not be read");
    shutdown.cancel();
    within(linked.join_next()).await.unwrap().unwrap().unwrap();
}
