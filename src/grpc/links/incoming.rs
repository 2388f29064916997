//! The links that other nodes dial to this one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::StreamExt as _;
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard, Semaphore, mpsc, watch},
    time::timeout,
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Request, Response, Status, Streaming};

use super::{
    feed_sender::FeedSender,
    hello::{Caller, Nodes},
    link::MAX_ASKS,
    list::send_list,
    message::ask::read_news,
    relay::{Relay, Sent, whole},
};
use crate::{
    proto::cluster::{
        Ask, ExchangeRequest, ExchangeResponse, FollowRequest, FollowResponse, ListRequest, ListResponse,
        exchange_request, follow_request, node_service_server::NodeService,
    },
    runtime::{Node, NodeId},
};

/// Time limit for the first message of a stream.
const HELLO: Duration = Duration::from_secs(5);

/// Capacity of a stream's queue: replies, or items of feeds.
const SENT: usize = 64;

/// The service that other nodes dial.
pub(super) struct Incoming {
    pub(super) node: Node,
    pub(super) nodes: watch::Receiver<Nodes>,
    pub(super) tasks: TaskTracker,
    pub(super) shutdown: CancellationToken,
    pub(super) newest: Mutex<HashMap<NodeId, Newest>>,
    pub(super) relay: Relay,
}

/// The newest link that a node has dialled.
#[derive(Default)]
pub(super) struct Newest {
    /// Cancelled to end the link.
    end: CancellationToken,
    /// Held by a link until `Node::unlinked` has been called for it. The next link waits for it.
    lock: Arc<AsyncMutex<()>>,
}

#[tonic::async_trait]
impl NodeService for Incoming {
    type ExchangeStream = Sent<ExchangeResponse>;
    type FollowStream = Sent<FollowResponse>;
    type ListStream = Sent<ListResponse>;

    async fn exchange(
        &self,
        request: Request<Streaming<ExchangeRequest>>,
    ) -> Result<Response<Self::ExchangeStream>, Status> {
        let mut requests = request.into_inner();
        let Some(exchange_request::Kind::Hello(hello)) = self.first(&mut requests).await?.kind else {
            return Err(Status::invalid_argument("no hello"));
        };
        if let Some(mut next) = self.relay.next_node(hello)? {
            let requests = whole(ExchangeRequest { kind: Some(exchange_request::Kind::Hello(hello)) }, requests);
            return Ok(self.relay.passed_on(hello, next.exchange(requests).await?));
        }
        let caller = hello.caller(&self.nodes.borrow())?;
        let (end, lock) = self.replace(caller.from);
        let lock = lock.lock_owned().await;
        let (responses, sent) = mpsc::channel(SENT);
        let link = IncomingLink {
            from: caller.from,
            node: self.node.clone(),
            tasks: self.tasks.clone(),
            responses,
            slots: Arc::new(Semaphore::new(MAX_ASKS)),
        };
        self.tasks.spawn(link.run(requests, self.end(caller, end.clone()), lock));
        Ok(Response::new(until(sent, end)))
    }

    async fn follow(&self, request: Request<Streaming<FollowRequest>>) -> Result<Response<Self::FollowStream>, Status> {
        let mut requests = request.into_inner();
        let Some(follow_request::Kind::Hello(hello)) = self.first(&mut requests).await?.kind else {
            return Err(Status::invalid_argument("no hello"));
        };
        if let Some(mut next) = self.relay.next_node(hello)? {
            let requests = whole(FollowRequest { kind: Some(follow_request::Kind::Hello(hello)) }, requests);
            return Ok(self.relay.passed_on(hello, next.follow(requests).await?));
        }
        let caller = hello.caller(&self.nodes.borrow())?;
        let (responses, sent) = mpsc::channel(SENT);
        let ended = CancellationToken::new();
        let feed_sender = FeedSender {
            node: self.node.clone(),
            tasks: self.tasks.clone(),
            responses,
            ended: ended.clone(),
            feeds: Arc::default(),
        };
        let end = self.end(caller, ended.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = end => {}
                () = feed_sender.run(requests) => {}
            }
        });
        Ok(Response::new(until(sent, ended)))
    }

    async fn list(&self, request: Request<ListRequest>) -> Result<Response<Self::ListStream>, Status> {
        let hello = request.into_inner().hello.ok_or_else(|| Status::invalid_argument("no hello"))?;
        if let Some(mut next) = self.relay.next_node(hello)? {
            return Ok(self.relay.passed_on(hello, next.list(ListRequest { hello: Some(hello) }).await?));
        }
        let caller = hello.caller(&self.nodes.borrow())?;
        let end = self.end(caller, CancellationToken::new());
        Ok(Response::new(Box::pin(send_list(self.node.list()).take_until(end))))
    }
}

impl Incoming {
    async fn first<T>(&self, requests: &mut Streaming<T>) -> Result<T, Status> {
        tokio::select! {
            () = self.shutdown.cancelled() => Err(Status::unavailable("this node is stopping")),
            first = timeout(HELLO, requests.message()) => {
                let first = first.map_err(|_| Status::deadline_exceeded("no hello"))??;
                first.ok_or_else(|| Status::invalid_argument("no hello"))
            }
        }
    }

    /// Ends the link of a node, if there is one. Returns the token of a new link, and the lock that it must take first.
    fn replace(&self, from: NodeId) -> (CancellationToken, Arc<AsyncMutex<()>>) {
        let mut links = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes = self.nodes.borrow();
        links.retain(|node, _| nodes.others.contains_key(node));
        let newest = links.entry(from).or_default();
        newest.end.cancel();
        newest.end = CancellationToken::new();
        (newest.end.clone(), Arc::clone(&newest.lock))
    }

    /// Ends when a stream must: by `ended`, by the shutdown, or for a caller no longer admitted. Cancels `ended` if
    /// dropped.
    fn end(&self, caller: Caller, ended: CancellationToken) -> impl Future<Output = ()> + use<> {
        let (mut nodes, shutdown) = (self.nodes.clone(), self.shutdown.clone());
        let guard = ended.clone().drop_guard();
        async move {
            let _guard = guard;
            tokio::select! {
                () = ended.cancelled() => {}
                () = shutdown.cancelled() => {}
                _ = nodes.wait_for(|nodes| !nodes.admits(caller)) => {}
            }
        }
    }
}

/// The stream of what is sent, until `end` is cancelled.
fn until<T: Send + 'static>(sent: mpsc::Receiver<Result<T, Status>>, end: CancellationToken) -> Sent<T> {
    Box::pin(ReceiverStream::new(sent).take_until(end.cancelled_owned()))
}

/// A link that another node has dialled.
struct IncomingLink {
    from: NodeId,
    node: Node,
    tasks: TaskTracker,
    responses: mpsc::Sender<Result<ExchangeResponse, Status>>,
    slots: Arc<Semaphore>,
}

impl IncomingLink {
    async fn run(self, requests: Streaming<ExchangeRequest>, end: impl Future<Output = ()>, lock: OwnedMutexGuard<()>) {
        tracing::debug!(node = %self.from, "linked by");
        self.node.linked_by(self.from);
        tokio::select! {
            () = end => {}
            () = self.receive(requests) => {}
        }
        self.node.unlinked(self.from);
        drop(lock);
    }

    /// Answers asks and receives news, until the stream ends or violates the protocol.
    async fn receive(&self, mut requests: Streaming<ExchangeRequest>) {
        while let Ok(Some(ExchangeRequest { kind: Some(kind) })) = requests.message().await {
            match kind {
                exchange_request::Kind::Hello(_) => return,
                exchange_request::Kind::Ask(ask) => {
                    let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else { return };
                    let (node, responses) = (self.node.clone(), self.responses.clone());
                    self.tasks.spawn(async move {
                        let response = answer(&node, ask).await;
                        if let Ok(permit) = responses.reserve().await {
                            // Freed first, as the other node may use it at once when it has the reply.
                            drop(slot);
                            permit.send(Ok(response));
                        }
                    });
                }
                news => match read_news(news) {
                    Ok(news) => self.node.receive_news(self.from, news),
                    Err(error) => tracing::warn!(%error, node = %self.from, "news cannot be read"),
                },
            }
        }
    }
}

async fn answer(node: &Node, ask: Ask) -> ExchangeResponse {
    let id = ask.id;
    let reply = match ask.read() {
        Ok(ask) => Some(node.answer(ask).await.into()),
        Err(error) => {
            tracing::warn!(%error, "an ask of another node cannot be read");
            None
        }
    };
    ExchangeResponse { id, reply }
}
