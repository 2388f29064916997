//! Passes on the streams of a node to another one which it does not reach and this node does.

use std::{collections::BTreeSet, pin::Pin};

use futures_util::{StreamExt as _, future::ready, stream::once};
use tokio::sync::watch;
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::{Response, Status, Streaming, transport::Channel};

use super::{dialer::endpoint, hello::Nodes, node_tls::NodeTls};
use crate::{
    proto::cluster::{Hello, node_service_client::NodeServiceClient},
    runtime::NodeId,
};

/// The messages of a stream to the node that dials.
pub(super) type Sent<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

pub(super) struct Relay {
    pub(super) tls: Option<NodeTls>,
    pub(super) nodes: watch::Receiver<Nodes>,
    /// The nodes to which this one has links.
    pub(super) reached: watch::Receiver<BTreeSet<NodeId>>,
    pub(super) shutdown: CancellationToken,
}

impl Relay {
    /// A client of the node to which the stream of a live node goes; none if this node cannot pass it on.
    pub(super) fn next_node(&self, hello: Hello) -> Result<Option<NodeServiceClient<Channel>>, Status> {
        let nodes = self.nodes.borrow();
        // Only over a link that does not itself go through another node: a stream is passed on once.
        if !is_between(&nodes, hello) || !self.reached.borrow().contains(&NodeId(hello.to)) {
            return Ok(None);
        }
        let Some(address) = nodes.others.get(&NodeId(hello.to)) else { return Ok(None) };
        Ok(Some(NodeServiceClient::new(endpoint(address, self.tls.as_ref())?.connect_lazy())))
    }

    /// The answers of that node, until one of the nodes no longer lives.
    pub(super) fn passed_on<T: Send + 'static>(
        &self,
        hello: Hello,
        answers: Response<Streaming<T>>,
    ) -> Response<Sent<T>> {
        let (mut nodes, shutdown) = (self.nodes.clone(), self.shutdown.clone());
        let end = async move {
            tokio::select! {
                () = shutdown.cancelled() => {}
                _ = nodes.wait_for(|nodes| !is_between(nodes, hello)) => {}
            }
        };
        Response::new(Box::pin(answers.into_inner().take_until(end)))
    }
}

/// True if a stream goes from a live node to another one than this.
fn is_between(nodes: &Nodes, hello: Hello) -> bool {
    [hello.from, hello.to].iter().all(|node| nodes.others.contains_key(&NodeId(*node)))
}

/// The messages of a stream, with the first one, which was read, again.
pub(super) fn whole<T: Send + 'static>(first: T, rest: Streaming<T>) -> impl Stream<Item = T> + Send + 'static {
    once(ready(first))
        .chain(rest.take_while(|message| ready(message.is_ok())).filter_map(|message| ready(message.ok())))
}
