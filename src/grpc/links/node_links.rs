//! All links of this node.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::transport::{Error, Server, server::TcpIncoming};

use super::{
    dialer::{Dialer, PING, PONG},
    hello::Nodes,
    incoming::Incoming,
    link::OpenLinks,
    node_tls::NodeTls,
    relay::Relay,
};
use crate::{
    proto::cluster::node_service_server::NodeServiceServer,
    room::{RoomId, Seq},
    runtime::{Ask, Audience, FeedItem, LinkError, News, Node, NodeId, Peers, Reply, server_metrics},
};

/// Maximum streams of one connection: the three of a link.
const STREAMS: u32 = 3;

/// The links from and to this node; none before [`NodeLinks::serve`].
pub struct NodeLinks {
    tls: Option<NodeTls>,
    nodes: watch::Sender<Nodes>,
    open: Arc<OpenLinks>,
}

/// A node to dial. If any field changes, the node is dialled anew.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Dialled {
    me: NodeId,
    peer: NodeId,
    address: String,
}

impl NodeLinks {
    /// The links of a node that knows no other nodes yet. With TLS, both sides of each link need a certificate.
    #[must_use]
    pub fn new(me: NodeId, tls: Option<NodeTls>) -> Arc<Self> {
        let nodes = watch::Sender::new(Nodes { me, others: BTreeMap::new() });
        Arc::new(Self { tls, nodes, open: Arc::default() })
    }

    /// Sets the id of this node, and the other live nodes with the addresses of their links, such as
    /// `http://10.0.0.5:50061`, or `https://` with TLS. New nodes are dialled; links from and to nodes that are not in
    /// the list end. If `me` is new, all links end and all nodes are dialled anew.
    pub fn set_nodes(&self, me: NodeId, others: &[(NodeId, String)]) {
        let nodes = Nodes { me, others: others.iter().filter(|(node, _)| *node != me).cloned().collect() };
        self.nodes.send_if_modified(|known| {
            let is_new = *known != nodes;
            *known = nodes;
            is_new
        });
    }

    /// The other nodes that this one reaches, and each change.
    #[must_use]
    pub fn reached(&self) -> watch::Receiver<BTreeSet<NodeId>> {
        self.open.reached()
    }

    /// Dials the other nodes and accepts their links on `listener`, until `shutdown` is cancelled. Returns when all
    /// tasks have ended.
    ///
    /// # Errors
    /// When the transport fails.
    pub async fn serve(
        self: Arc<Self>,
        node: Node,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        let mut server = Server::builder()
            .http2_keepalive_interval(Some(PING))
            .http2_keepalive_timeout(Some(PONG))
            .max_concurrent_streams(STREAMS);
        let (tasks, end) = (TaskTracker::new(), shutdown.child_token());
        let ended = end.clone().drop_guard();
        let incoming = Incoming {
            node: node.clone(),
            nodes: self.nodes.subscribe(),
            tasks: tasks.clone(),
            shutdown: end.clone(),
            newest: Default::default(),
            relay: Relay {
                tls: self.tls.clone(),
                nodes: self.nodes.subscribe(),
                reached: self.open.reached(),
                shutdown: end.clone(),
            },
        };
        let tls = self.tls.clone();
        tasks.spawn(self.dial_all(node, tasks.clone(), end.clone()));
        let router = server.add_service(NodeServiceServer::new(incoming));
        let served = match tls {
            Some(tls) => router.serve_with_incoming_shutdown(tls.incoming(listener), end.cancelled_owned()).await,
            None => {
                let connections = TcpIncoming::from(listener).with_nodelay(Some(true));
                router.serve_with_incoming_shutdown(connections, end.cancelled_owned()).await
            }
        };
        drop(ended);
        tasks.close();
        tasks.wait().await;
        served
    }

    /// Runs one dialer for each other node.
    async fn dial_all(self: Arc<Self>, node: Node, tasks: TaskTracker, end: CancellationToken) {
        let mut nodes = self.nodes.subscribe();
        nodes.mark_changed();
        let mut dialers = HashMap::<Dialled, (CancellationToken, JoinHandle<()>)>::new();
        loop {
            tokio::select! {
                () = end.cancelled() => return,
                changed = nodes.changed() => if changed.is_err() {
                    return;
                },
            }
            let wanted: HashSet<Dialled> = {
                let Nodes { me, others } = &*nodes.borrow_and_update();
                let dialled =
                    |(peer, address): (&NodeId, &String)| Dialled { me: *me, peer: *peer, address: address.clone() };
                others.iter().map(dialled).collect()
            };
            server_metrics::peers(wanted.len());
            let gone: Vec<_> = dialers.extract_if(|dialled, _| !wanted.contains(dialled)).collect();
            for (_, (cancel, dialer)) in gone {
                cancel.cancel();
                // A node has one link at a time, so the old one ends first.
                let _ = dialer.await;
            }
            for dialled in wanted {
                dialers.entry(dialled).or_insert_with_key(|Dialled { me, peer, address }| {
                    let dialer = Dialer {
                        me: *me,
                        peer: *peer,
                        address: address.clone(),
                        tls: self.tls.clone(),
                        node: node.clone(),
                        open: Arc::clone(&self.open),
                        nodes: self.nodes.subscribe(),
                    };
                    let cancel = end.child_token();
                    (
                        cancel.clone(),
                        tasks.spawn(async move {
                            cancel.run_until_cancelled(dialer.keep_linked()).await;
                        }),
                    )
                });
            }
        }
    }
}

impl Peers for NodeLinks {
    fn ask(&self, node: NodeId, ask: Ask) -> BoxFuture<'_, Result<Reply, LinkError>> {
        let link = self.open.get(node);
        Box::pin(async move {
            match link {
                Some(link) => link.ask(ask).await,
                None => Err(LinkError::Down),
            }
        })
    }

    fn follow(&self, node: NodeId, room: RoomId, audience: Audience, after: Option<Seq>) -> mpsc::Receiver<FeedItem> {
        match self.open.get(node) {
            Some(link) => link.follow(room, audience, after),
            None => mpsc::channel(1).1,
        }
    }

    fn tell(&self, node: NodeId, news: News) {
        if let Some(link) = self.open.get(node) {
            link.tell(news);
        }
    }

    fn linked(&self) -> Vec<NodeId> {
        self.open.nodes()
    }
}
