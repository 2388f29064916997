//! Two nodes over one store in memory, each with half of the shards.

use std::sync::Arc;

use reversi::{
    grpc::{NodeLinks, NodeTls},
    runtime::{Assignment, NodeId, Shard},
    store::{MemoryStore, Store},
};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::harness::{
    cable::Cable,
    in_process::{ServerOptions, TestServer, within},
};

pub(super) struct TestNode {
    pub(super) id: NodeId,
    pub(super) server: TestServer,
    pub(super) links: Arc<NodeLinks>,
    /// The way of the other node to this one.
    pub(super) cable: Cable,
    /// Where it listens for links.
    address: String,
}

pub(super) struct Pair {
    pub(super) nodes: [TestNode; 2],
    shutdown: CancellationToken,
    served: JoinSet<()>,
}

impl Pair {
    pub(super) async fn start(tls: [Option<NodeTls>; 2]) -> Self {
        let scheme = if tls[0].is_some() { "https" } else { "http" };
        let store = Store::of(MemoryStore::default());
        let [first, second] = tls;
        let (first, one) = node(NodeId(1), first, store.clone()).await;
        let (second, other) = node(NodeId(2), second, store).await;
        let (shutdown, mut served) = (CancellationToken::new(), JoinSet::new());
        let nodes = [first, second];
        let owners: Vec<_> = Shard::all()
            .map(|shard| Assignment { shard, node: NodeId(1 + i64::from(shard.number() % 2)), version: 1 })
            .collect();
        for ((node, listener), peer) in nodes.iter().zip([one, other]).zip([&nodes[1], &nodes[0]]) {
            let address = format!("{scheme}://{}", peer.cable.address);
            node.links.set_nodes(node.id, &[(peer.id, address)]);
            let handle = node.server.runtime.node();
            handle.learn_nodes([peer.id]);
            handle.learn(owners.iter().copied());
            let own = owners.iter().filter(|owned| owned.node == node.id);
            handle.serve_shards(&own.map(|owned| (*owned, None)).collect::<Vec<_>>()).await.unwrap();
            let serve = Arc::clone(&node.links).serve(handle, listener, shutdown.clone());
            served.spawn(async move { serve.await.unwrap() });
        }
        Self { nodes, shutdown, served }
    }

    /// Adds a node without shards, which is linked with both others.
    pub(super) async fn add_third(&mut self) -> TestNode {
        let (third, listener) = node(NodeId(3), None, Store::of(MemoryStore::default())).await;
        let url = |address: &str| format!("http://{address}");
        for (at, peer) in [(0, 1), (1, 0)] {
            let (node, peer) = (&self.nodes[at], &self.nodes[peer]);
            let others = [(peer.id, url(&peer.cable.address)), (third.id, url(&third.address))];
            node.server.runtime.node().learn_nodes([peer.id, third.id]);
            node.links.set_nodes(node.id, &others);
        }
        third.links.set_nodes(third.id, &self.nodes.each_ref().map(|node| (node.id, url(&node.address))));
        let serve = Arc::clone(&third.links).serve(third.server.runtime.node(), listener, self.shutdown.clone());
        self.served.spawn(async move { serve.await.unwrap() });
        third
    }

    /// All tasks of the links end, though links are up and streams open.
    pub(super) async fn stop(mut self) {
        self.shutdown.cancel();
        while let Some(ended) = within(self.served.join_next()).await {
            ended.unwrap();
        }
    }
}

pub(super) async fn node(id: NodeId, tls: Option<NodeTls>, store: Store) -> (TestNode, TcpListener) {
    let links = NodeLinks::new(id, tls);
    let cluster = Some((id, Arc::clone(&links) as _));
    let server = TestServer::with(ServerOptions { store, cluster, ..ServerOptions::default() }).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let cable = Cable::to(address.clone()).await;
    (TestNode { id, server, links, cable, address }, listener)
}
