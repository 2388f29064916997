//! Keeps the link to one other node: dials it, again whenever the link has ended. While it does not answer, the link goes
//! through a third node that both reach.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Status, Streaming,
    transport::{Endpoint, Error},
};

use super::{
    exchange::exchange,
    feed_receiver::receive_feeds,
    hello::{Nodes, hello},
    link::{Link, OpenLinks},
    list::receive_list,
    node_tls::NodeTls,
};
use crate::{
    proto::cluster::{
        ExchangeRequest, ExchangeResponse, FollowRequest, FollowResponse, ListRequest, ListResponse, exchange_request,
        follow_request, node_service_client::NodeServiceClient,
    },
    runtime::{Node, NodeId, RandomSource},
};

/// Time limit for a node to accept the connection and all three streams.
const DIAL: Duration = Duration::from_secs(5);

/// A node that does not answer within this time is dialled through others, too.
const SLOW: Duration = Duration::from_millis(500);

/// Interval of pings, and the time limit for their answer: a link ends at most 3 s after its network has failed.
pub(super) const PING: Duration = Duration::from_secs(1);
pub(super) const PONG: Duration = Duration::from_secs(2);

/// Delay before the first retry, and its maximum: it doubles with each retry. A random 50 to 100 % of it is waited.
const BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);

/// A warning is logged at this many failures in a row. Two nodes that start find each other after fewer.
const LOGGED_FAILURE: u32 = 8;

/// A link that ends within this time shows a fault: of the network, or of a server that does not take its news.
const SHORT: Duration = Duration::from_secs(10);

/// Capacity of each stream's queue, in messages.
const SENT: usize = 16;

pub(super) struct Dialer {
    pub(super) me: NodeId,
    pub(super) peer: NodeId,
    pub(super) address: String,
    pub(super) tls: Option<NodeTls>,
    pub(super) node: Node,
    pub(super) open: Arc<OpenLinks>,
    /// All nodes: any of them may pass the messages on.
    pub(super) nodes: watch::Receiver<Nodes>,
}

/// The streams of a link that the other node has accepted.
struct Streams {
    requests: mpsc::Sender<ExchangeRequest>,
    responses: Streaming<ExchangeResponse>,
    follows: mpsc::Sender<FollowRequest>,
    items: Streaming<FollowResponse>,
    rows: Streaming<ListResponse>,
}

impl Dialer {
    /// Dials for ever, and runs each link. Dropping the future ends the link.
    pub(super) async fn keep_linked(self) {
        let random = RandomSource::default();
        let (mut backoff, mut failures) = (BACKOFF, 0_u32);
        let mut direct = None;
        loop {
            let reached = match direct.take() {
                Some(streams) => Ok((streams, None)),
                None => self.reach().await,
            };
            let began = Instant::now();
            match reached {
                Ok((streams, None)) => {
                    tracing::info!(node = %self.peer, "linked");
                    self.log_end(&self.run(streams, true).await, began);
                    (backoff, failures) = (BACKOFF, 0);
                }
                Ok((streams, Some(relay))) => {
                    tracing::warn!(node = %self.peer, %relay, "linked through another node");
                    tokio::select! {
                        streams = self.dial_until_reached() => {
                            direct = Some(streams);
                            continue;
                        }
                        ended = self.run(streams, false) => self.log_end(&ended, began),
                    }
                }
                Err(status) => {
                    failures = failures.saturating_add(1);
                    if failures == LOGGED_FAILURE {
                        tracing::warn!(
                            node = %self.peer, address = self.address, %status,
                            "cannot link to another server; check its --advertise address, and that all servers have \
                             --node-cert or none"
                        );
                    }
                }
            }
            let half = backoff / 2;
            let jitter = random.bits() % u64::try_from(half.as_micros()).unwrap_or(1).max(1);
            tokio::time::sleep(half + Duration::from_micros(jitter)).await;
            backoff = (backoff * 2).min(LONGEST_BACKOFF);
        }
    }

    /// A link also ends when the other server stops, which is no fault. One that cannot be made again gives a warning.
    fn log_end(&self, ended: &Status, began: Instant) {
        let (code, reason) = (ended.code(), ended.message());
        if began.elapsed() < SHORT {
            tracing::warn!(node = %self.peer, ?code, reason, "the link ended soon");
        } else {
            tracing::info!(node = %self.peer, ?code, reason, "the link ended");
        }
    }

    /// Dials the node, and those through which it may be reached. Also returns through which one it was.
    async fn reach(&self) -> Result<(Streams, Option<NodeId>), Status> {
        let mut direct = Box::pin(self.dial(&self.address));
        let failure = match timeout(SLOW, &mut direct).await {
            Ok(Ok(streams)) => return Ok((streams, None)),
            Ok(Err(status)) => Some(status),
            Err(_) => None,
        };
        let reached = self.open.reached().borrow().clone();
        let others = self.nodes.borrow().others.clone();
        let relays = others.into_iter().filter(|(node, _)| *node != self.peer && reached.contains(node));
        for (relay, address) in relays {
            if let Ok(streams) = self.dial(&address).await {
                return Ok((streams, Some(relay)));
            }
        }
        match failure {
            Some(status) => Err(status),
            None => Ok((direct.await?, None)),
        }
    }

    /// Dials the node itself until it answers.
    async fn dial_until_reached(&self) -> Streams {
        loop {
            tokio::time::sleep(LONGEST_BACKOFF).await;
            if let Ok(streams) = self.dial(&self.address).await {
                return streams;
            }
        }
    }

    /// Opens the streams of a link at an address: that of the node, or of one that passes messages on to it.
    async fn dial(&self, address: &str) -> Result<Streams, Status> {
        timeout(DIAL, self.open_streams(address)).await.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))
    }

    async fn open_streams(&self, address: &str) -> Result<Streams, Status> {
        let channel = endpoint(address, self.tls.as_ref())?.connect().await;
        let mut client = NodeServiceClient::new(channel.map_err(|error| Status::from_error(error.into()))?);
        let hello = hello(self.me, self.peer);
        let (follows, sent) = mpsc::channel(SENT);
        let _ = follows.try_send(FollowRequest { kind: Some(follow_request::Kind::Hello(hello)) });
        let items = client.follow(ReceiverStream::new(sent)).await?.into_inner();
        let rows = client.list(ListRequest { hello: Some(hello) }).await?.into_inner();
        let (requests, sent) = mpsc::channel(SENT);
        let _ = requests.try_send(ExchangeRequest { kind: Some(exchange_request::Kind::Hello(hello)) });
        let responses = client.exchange(ReceiverStream::new(sent)).await?.into_inner();
        Ok(Streams { requests, responses, follows, items, rows })
    }

    /// Runs a link until it ends, and returns the reason.
    async fn run(&self, streams: Streams, is_direct: bool) -> Status {
        let (link, queues) = Link::new();
        let broken = link.broken.clone();
        let _open = self.open.open(self.peer, link, is_direct);
        self.node.linked(self.peer);
        let ended = tokio::select! {
            () = broken.cancelled() => Err(Status::resource_exhausted("the node does not take news fast enough")),
            ended = exchange(queues.asks, queues.news, streams.requests, streams.responses) => ended,
            ended = receive_feeds(queues.feeds, streams.follows, streams.items) => ended,
            ended = receive_list(self.node.peer_list(self.peer), streams.rows) => ended,
        };
        ended.err().unwrap_or_else(|| Status::unavailable("the other node has ended the link"))
    }
}

/// How to connect to the node at an address.
pub(super) fn endpoint(address: &str, tls: Option<&NodeTls>) -> Result<Endpoint, Status> {
    if tls.is_some() && !address.starts_with("https://") {
        return Err(Status::failed_precondition(
            "this server has --node-cert and the other one has not: give it to all or to none",
        ));
    }
    let invalid = |error: Error| Status::invalid_argument(error.to_string());
    let endpoint = Endpoint::from_shared(address.to_owned())
        .map_err(invalid)?
        .tcp_nodelay(true)
        .connect_timeout(DIAL)
        .http2_keep_alive_interval(PING)
        .keep_alive_timeout(PONG)
        .keep_alive_while_idle(true);
    match tls {
        Some(tls) => endpoint.tls_config(tls.client()).map_err(invalid),
        None => Ok(endpoint),
    }
}
