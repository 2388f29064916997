//! A server whose lease has ended: it sends its clients away, and serves them again once the lease is renewed.

use std::{collections::BTreeSet, future::ready, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use reversi::{
    proto::v1,
    room::Timestamp,
    runtime::{Assignment, NodeId, Shard},
    store::{ClusterStore, ClusterView, Lease, StoreFuture},
};
use tokio::{sync::watch, task::JoinSet, time::Instant};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use crate::harness::in_process::{Player, ServerOptions, TestServer, refused, within};

const LONG: Duration = Duration::from_secs(3600);

/// The membership of the only node, which owns all shards.
struct Membership {
    view: watch::Sender<Arc<ClusterView>>,
    lease: watch::Sender<Lease>,
}

impl ClusterStore for Membership {
    fn views(&self) -> watch::Receiver<Arc<ClusterView>> {
        self.view.subscribe()
    }

    fn lease(&self) -> watch::Receiver<Lease> {
        self.lease.subscribe()
    }

    fn note_reached(&self, _: BTreeSet<NodeId>) {}

    fn note_credited(&self, _: Vec<Assignment>) -> StoreFuture<'_, ()> {
        Box::pin(ready(Ok(())))
    }

    fn hand_over(&self, _: Vec<(Assignment, NodeId)>, _: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(ready(Ok(())))
    }

    fn look_again(&self) {}
}

struct Node {
    server: TestServer,
    membership: Arc<Membership>,
    _tasks: JoinSet<()>,
}

impl Node {
    async fn start() -> Self {
        let me = NodeId(1);
        let links = reversi::grpc::NodeLinks::new(me, None);
        let cluster = Some((me, links as _));
        let server = TestServer::with(ServerOptions { cluster, ..ServerOptions::default() }).await;
        Self::run(server, |node, membership| Box::pin(node.follow_views(membership)))
    }

    /// One that shares no rooms.
    async fn start_active() -> Self {
        let server = TestServer::with(ServerOptions::default()).await;
        Self::run(server, |node, membership| Box::pin(node.follow_lease(membership)))
    }

    fn run(
        server: TestServer,
        follow: impl FnOnce(reversi::runtime::Node, Arc<Membership>) -> BoxFuture<'static, ()>,
    ) -> Self {
        let me = NodeId(1);
        let assignments = Shard::all().map(|shard| Assignment { shard, node: me, version: 1 }).collect();
        let view = ClusterView { me, assignments, ..ClusterView::default() };
        let membership = Arc::new(Membership {
            view: watch::Sender::new(Arc::new(view)),
            lease: watch::Sender::new(Lease { end: Instant::now() + LONG, ahead: 0, is_replaceable: true }),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(follow(server.runtime.node(), Arc::clone(&membership)));
        Self { server, membership, _tasks: tasks }
    }

    async fn health(&self) -> ServingStatus {
        let mut health = HealthClient::new(self.server.channel().await);
        health.check(HealthCheckRequest::default()).await.unwrap().into_inner().status()
    }

    async fn end_lease_without_standby(&self) {
        self.membership.lease.send_replace(Lease { end: Instant::now(), ahead: 0, is_replaceable: false });
        assert_eq!(self.health().await, ServingStatus::Serving);
    }

    /// The lease ends now, or is renewed.
    async fn set_lease(&self, is_held: bool) {
        let end = if is_held { Instant::now() + LONG } else { Instant::now() };
        self.membership.lease.send_replace(Lease { end, ahead: 0, is_replaceable: true });
        within(self.server.runtime.in_service().wait_for(|in_service| *in_service == is_held)).await.unwrap();
    }

    /// The player over a new connection.
    async fn again(&self, player: &Player) -> Player {
        Player::new(self.server.channel().await, player.profile.clone(), &player.token)
    }
}

#[tokio::test]
async fn a_node_without_a_lease_sends_its_clients_elsewhere_until_it_is_renewed() {
    let node = Node::start().await;
    let ada = node.server.human("Ada").await;
    let room = ada.create(v1::RoomSettings::default()).await.room_id;
    let (mut turns, mut watcher) = (ada.turns().await, ada.watch(&room).await);
    watcher.snapshot().await;
    let mut health = HealthClient::new(node.server.channel().await);
    let mut watch = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(within(watch.message()).await.unwrap().unwrap().status(), ServingStatus::Serving);

    node.set_lease(false).await;
    assert_eq!(turns.close_reason().await, v1::CloseReason::Draining);
    assert_eq!(watcher.close_reason().await, v1::CloseReason::Draining);
    assert_eq!(within(watch.message()).await.unwrap().unwrap().status(), ServingStatus::NotServing);
    // Over the connection that was open: it is told to end, so that the client opens another one.
    let refusal = async {
        loop {
            let refusal = ada.try_room(&room).await;
            if refusal.as_ref().is_err_and(|status| status.metadata().contains_key("reversi-reason")) {
                return refusal;
            }
        }
    };
    refused(within(refusal).await, Code::Unavailable, "OUT_OF_SERVICE");
    refused(node.again(&ada).await.try_room(&room).await, Code::Unavailable, "OUT_OF_SERVICE");
    assert_eq!(node.health().await, ServingStatus::NotServing);

    node.set_lease(true).await;
    let ada = node.again(&ada).await;
    let mut turns = ada.turns().await;
    ada.watch(&room).await.snapshot().await;
    ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    turns.turn_request().await;
    assert_eq!(node.health().await, ServingStatus::Serving);
}

/// Without a standby its clients have nowhere to go, and the moves wait for the database.
#[tokio::test]
async fn an_active_server_without_a_lease_keeps_its_clients_unless_there_is_a_standby() {
    let active = Node::start_active().await;
    let ada = active.server.human("Ada").await;
    let mut turns = ada.turns().await;
    active.end_lease_without_standby().await;
    ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    turns.turn_request().await;
    active.set_lease(false).await;
    assert_eq!(turns.close_reason().await, v1::CloseReason::Draining);
    assert_eq!(active.health().await, ServingStatus::NotServing);
    active.set_lease(true).await;
    active.again(&ada).await.turns().await.turn_request().await;
}

#[tokio::test]
async fn a_node_out_of_service_stops_cleanly() {
    let mut node = Node::start().await;
    let ada = node.server.human("Ada").await;
    let mut turns = ada.turns().await;
    node.set_lease(false).await;
    assert_eq!(turns.close_reason().await, v1::CloseReason::Draining);
    node.server.stop();
    assert!(node.server.stopped().await);
}
