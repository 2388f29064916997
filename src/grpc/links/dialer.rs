//! Keeps the link to one other node: dials it, again whenever the link has ended.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Status, Streaming,
    transport::{Endpoint, Error},
};

use super::{
    exchange::exchange,
    feed_receiver::receive_feeds,
    hello::hello,
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

/// Interval of pings, and the time limit for their answer: a link ends at most 3 s after its network has failed.
pub(super) const PING: Duration = Duration::from_secs(1);
pub(super) const PONG: Duration = Duration::from_secs(2);

/// Delay before the first retry, and its maximum: it doubles with each retry. A random 50 to 100 % of it is waited.
const BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);

/// A warning is logged at this many failures in a row. Two nodes that start find each other after fewer.
const LOGGED_FAILURE: u32 = 8;

/// Capacity of each stream's queue, in messages.
const SENT: usize = 16;

pub(super) struct Dialer {
    pub(super) me: NodeId,
    pub(super) peer: NodeId,
    pub(super) address: String,
    pub(super) tls: Option<NodeTls>,
    pub(super) node: Node,
    pub(super) open: Arc<OpenLinks>,
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
        loop {
            match timeout(DIAL, self.dial()).await.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer"))) {
                Ok(streams) => {
                    tracing::info!(node = %self.peer, "linked");
                    let ended = self.run(streams).await;
                    tracing::warn!(node = %self.peer, %ended, "the link ended");
                    (backoff, failures) = (BACKOFF, 0);
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

    fn endpoint(&self) -> Result<Endpoint, Error> {
        let endpoint = Endpoint::from_shared(self.address.clone())?
            .tcp_nodelay(true)
            .connect_timeout(DIAL)
            .http2_keep_alive_interval(PING)
            .keep_alive_timeout(PONG)
            .keep_alive_while_idle(true);
        match &self.tls {
            Some(tls) => endpoint.tls_config(tls.client()),
            None => Ok(endpoint),
        }
    }

    async fn dial(&self) -> Result<Streams, Status> {
        if self.tls.is_some() && !self.address.starts_with("https://") {
            return Err(Status::failed_precondition(
                "this server has --node-cert and the other one has not: give it to all or to none",
            ));
        }
        let endpoint = self.endpoint().map_err(|error| Status::invalid_argument(error.to_string()))?;
        let mut client =
            NodeServiceClient::new(endpoint.connect().await.map_err(|error| Status::from_error(error.into()))?);
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
    async fn run(&self, streams: Streams) -> Status {
        let (link, queues) = Link::new();
        let broken = link.broken.clone();
        let _open = self.open.open(self.peer, link);
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
