//! The stream that sends feeds of this node's rooms to a node that has dialled it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Status, Streaming};

use super::link::MAX_FEEDS;
use crate::{
    proto::cluster::{FollowRequest, FollowResponse, Followed, follow_request::Kind, follow_response::Item},
    runtime::{FeedItem, Node},
};

/// Feeds allowed beyond [`MAX_FEEDS`]: the other node may know that a feed has ended before it is removed here.
const ENDING: usize = 1_024;

/// The feeds of one stream.
#[derive(Clone)]
pub(super) struct FeedSender {
    pub(super) node: Node,
    pub(super) tasks: TaskTracker,
    pub(super) responses: mpsc::Sender<Result<FollowResponse, Status>>,
    /// Cancelled to end all feeds and the stream.
    pub(super) ended: CancellationToken,
    pub(super) feeds: Arc<Mutex<HashMap<u64, CancellationToken>>>,
}

impl FeedSender {
    /// Starts and ends feeds as requested, until the stream of requests ends or violates the protocol.
    pub(super) async fn run(self, mut requests: Streaming<FollowRequest>) {
        while let Ok(Some(FollowRequest { kind: Some(kind) })) = requests.message().await {
            match kind {
                Kind::Followed(followed) => {
                    let end = self.ended.child_token();
                    let id = followed.feed;
                    if self.feeds().len() >= MAX_FEEDS + ENDING || self.feeds().insert(id, end.clone()).is_some() {
                        return;
                    }
                    let feed_sender = self.clone();
                    self.tasks.spawn(async move {
                        tokio::select! {
                            biased;
                            () = end.cancelled() => {}
                            () = feed_sender.feed(followed) => {}
                        }
                        feed_sender.feeds().remove(&id);
                    });
                }
                Kind::Unfollowed(id) => {
                    if let Some(end) = self.feeds().remove(&id) {
                        end.cancel();
                    }
                }
                Kind::Hello(_) => return,
            }
        }
    }

    fn feeds(&self) -> MutexGuard<'_, HashMap<u64, CancellationToken>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn feed(&self, followed: Followed) {
        let feed = followed.feed;
        let send = async |item: Option<FeedItem>| {
            let item = item.map(Item::from);
            self.responses.send(Ok(FollowResponse { feed, item })).await
        };
        let (room, view, after) = match followed.read() {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(%error, "a request of another node cannot be read");
                return drop(send(None).await);
            }
        };
        let mut followed = match self.node.follow(room, view, after).await {
            Ok(followed) => followed,
            Err(end) => return drop(send(Some(FeedItem::Ended(end))).await),
        };
        loop {
            let item = followed.next().await;
            let is_last = item.is_none();
            if send(item).await.is_err() || is_last {
                return;
            }
        }
    }
}
