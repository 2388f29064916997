//! Appends of three nodes that share one PostgreSQL: `cargo bench --bench appends`. The database and the nodes' writers
//! share the machine; each room has one append in progress at a time, as a room's actor does.
#![allow(clippy::unwrap_used, reason = "a benchmark fails if it cannot be set up")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

#[path = "../crates/reversi-store/tests/store/postgres/server.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod server;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use reversi::{
    room::{
        ChatText, Creation, DisplayName, Event, Fact, JoinCode, Occupant, PlayerId, PlayerKind, Policy, Profile,
        RoomId, RoomName, Seq, Settings, Timestamp,
    },
    rules::ByColor,
    store::{Append, ClusterStore as _, Journal as _, NodeInfo, PostgresStore, Shard, Sharing, Standby},
};
use server::{Database, PostgresServer};

const NODES: usize = 3;
const ROOMS: usize = 10_000;
const ROUNDS: usize = 5;
const SPAN: Duration = Duration::from_secs(5);

/// Longer than the benchmark: a node is not declared dead because the machine is busy.
const LEASE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() {
    let database = PostgresServer::start().database();
    let nodes = join_all((0..NODES).map(|node| member(&database, node))).await;
    let rooms = join_all(nodes.iter().map(|node| rooms(node, ROOMS / NODES))).await;
    let nodes: Vec<_> = nodes.into_iter().map(Arc::new).collect();
    let mut rates = Vec::new();
    let mut rooms: Vec<_> = rooms.into_iter().flatten().collect();
    for round in 0..ROUNDS {
        let began = Instant::now();
        let tasks: Vec<_> = rooms
            .drain(..)
            .enumerate()
            .map(|(number, room)| {
                let node = Arc::clone(&nodes[number / (ROOMS / NODES)]);
                tokio::spawn(async move { append_until(&node, room, began + SPAN).await })
            })
            .collect();
        let mut appends = 0;
        for task in tasks {
            let (room, made) = task.await.unwrap();
            rooms.push(room);
            appends += made;
        }
        let rate = f64::from(appends) / began.elapsed().as_secs_f64();
        println!("round {round}: {rate:.0} appends a second");
        rates.push(rate);
    }
    rates.sort_by(f64::total_cmp);
    println!("{NODES} nodes, {ROOMS} rooms: {:.0} appends a second (median of {ROUNDS})", rates[ROUNDS / 2]);
}

/// A node that shares the shards, once it has its share.
async fn member(database: &Database, number: usize) -> PostgresStore {
    let address = Some(format!("node {number}"));
    let info = NodeInfo { listens: address.clone(), address, ..Default::default() };
    let sharing = Sharing { patience: LEASE, lease: LEASE, info };
    let standby = Standby::join(&database.url(), sharing).await.unwrap();
    standby.take_over().await.unwrap()
}

/// An open room, with an event to append again and again.
struct OpenRoom {
    id: RoomId,
    last: Seq,
    fact: Fact,
}

/// Creates rooms in the shards of a node.
async fn rooms(node: &PostgresStore, count: usize) -> Vec<OpenRoom> {
    let shards = share(node).await;
    let ids = (0..count).map(|number| {
        let shard = shards[number % shards.len()];
        RoomId::from_random(u64::from(shard.number()) << 48 | number as u64)
    });
    join_all(ids.map(|id| create(node, id))).await
}

/// The shards of a node, once each has its share. It gives those beyond it to others, as a server does.
async fn share(node: &PostgresStore) -> Vec<Shard> {
    let mut views = node.views();
    loop {
        let view = Arc::clone(&views.borrow_and_update());
        let owned: Vec<_> = view.assignments.iter().filter(|owned| owned.node == view.me).copied().collect();
        let is_balanced = owned.len().abs_diff(usize::from(Shard::COUNT) / NODES) <= 1;
        if view.others.len() == NODES - 1 && is_balanced {
            return owned.iter().map(|owned| owned.shard).collect();
        }
        node.membership().note_reached(view.others.iter().map(|(other, _)| *other).collect());
        let given = owned.iter().filter_map(|owned| Some((*owned, *view.surplus.get(&owned.shard)?)));
        node.hand_over(given.collect(), Timestamp(0)).await.unwrap();
        views.changed().await.unwrap();
    }
}

async fn create(node: &PostgresStore, id: RoomId) -> OpenRoom {
    let name = DisplayName::parse("owner").unwrap();
    let owner = Profile { id: PlayerId::from_random(id.bits()), name, kind: PlayerKind::Bot, engine_version: None };
    let creation = Creation {
        id,
        code: JoinCode::from_random(id.bits()),
        owner: owner.clone(),
        settings: Settings::named(RoomName::parse("a room").unwrap()),
        policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(7_200), members: 64 },
        seats: ByColor::new(Occupant::Player(owner.clone()), Occupant::Open),
        request: None,
        meeting: None,
    };
    let created = Event { seq: Seq(1), at: Timestamp(0), fact: Fact::Created(Box::new(creation)) };
    append(node, id, Seq(0), created).await;
    let fact = Fact::ChatPosted { from: owner, text: ChatText::parse("hello").unwrap() };
    OpenRoom { id, last: Seq(1), fact }
}

/// Appends one event after the other. Returns how many.
async fn append_until(node: &PostgresStore, mut room: OpenRoom, end: Instant) -> (OpenRoom, u32) {
    let mut made = 0;
    while Instant::now() < end {
        let event = Event { seq: Seq(room.last.0 + 1), at: Timestamp(0), fact: room.fact.clone() };
        append(node, room.id, room.last, event).await;
        room.last = Seq(room.last.0 + 1);
        made += 1;
    }
    (room, made)
}

async fn append(node: &PostgresStore, room: RoomId, expected: Seq, event: Event) {
    node.append(Append { room, expected, events: &[event], games: &[] }).await.unwrap();
}
