//! The stream of a link that receives the feeds of the other node's rooms.

use std::{collections::HashMap, convert::Infallible};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::sync::{mpsc, oneshot};
use tonic::{Status, Streaming};

use super::link::{MAX_FEEDS, NewFeed};
use crate::{
    proto::cluster::{FollowRequest, FollowResponse, Followed, follow_request::Kind},
    runtime::{Audience, FeedItem},
};

struct Feed {
    items: mpsc::Sender<FeedItem>,
    /// Dropped with the feed, which ends the wait for the follower to close `items`.
    _ended: oneshot::Sender<Infallible>,
}

/// Requests feeds, and passes their items on, until the stream ends. A feed beyond [`MAX_FEEDS`] ends at once.
pub(super) async fn receive_feeds(
    mut new: mpsc::Receiver<NewFeed>,
    requests: mpsc::Sender<FollowRequest>,
    mut responses: Streaming<FollowResponse>,
) -> Result<(), Status> {
    let mut feeds = HashMap::<u64, Feed>::new();
    let mut followers = FuturesUnordered::new();
    let mut last = 0;
    loop {
        let request = tokio::select! {
            Some(NewFeed { room, audience, after, items }) = new.recv() => {
                if feeds.len() >= MAX_FEEDS {
                    continue;
                }
                last += 1;
                let (id, follower) = (last, items.clone());
                let (ended, end) = oneshot::channel();
                followers.push(async move {
                    tokio::select! {
                        () = follower.closed() => Some(id),
                        _ = end => None,
                    }
                });
                feeds.insert(id, Feed { items, _ended: ended });
                let for_spectators = audience == Audience::Delayed;
                Kind::Followed(Followed { feed: id, room: room.bits(), after: after.map(|seq| seq.0), for_spectators })
            }
            Some(gone) = followers.next() => match gone.filter(|id| feeds.remove(id).is_some()) {
                Some(id) => Kind::Unfollowed(id),
                None => continue,
            },
            response = responses.message() => {
                let Some(response) = response? else { return Ok(()) };
                match receive(&mut feeds, response) {
                    Some(unread) => Kind::Unfollowed(unread),
                    None => continue,
                }
            }
        };
        if requests.send(FollowRequest { kind: Some(request) }).await.is_err() {
            return Ok(());
        }
    }
}

/// Passes an item to its follower. Returns the feed's id if it ends here first, so that the other node must end it too.
fn receive(feeds: &mut HashMap<u64, Feed>, response: FollowResponse) -> Option<u64> {
    let id = response.feed;
    let feed = feeds.get(&id)?;
    let Some(item) = response.item else {
        feeds.remove(&id);
        return None;
    };
    let goes_on = match item.read() {
        Ok(item) => {
            let is_last = matches!(item, FeedItem::Ended(_));
            // Fails for a follower that is gone or too slow.
            let is_given = feed.items.try_send(item).is_ok();
            if is_last {
                feeds.remove(&id);
                return None;
            }
            is_given
        }
        Err(error) => {
            tracing::warn!(%error, "an item of a feed cannot be read");
            false
        }
    };
    if goes_on {
        return None;
    }
    feeds.remove(&id);
    Some(id)
}
