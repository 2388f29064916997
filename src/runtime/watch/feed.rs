//! The updates of a room for one watcher, or for one node that follows the room.

use std::collections::VecDeque;

use thiserror::Error;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    task::yield_now,
};

use crate::{
    room::{Credentials, Event, Fact, PlayerId, Rejection, Room, RoomId, Seq},
    runtime::{
        cluster::peers::{FeedEnd, FeedItem},
        outcome::RoomError,
        room::{
            actor::ActorContext,
            encoded_event::EncodedEvent,
            host::RoomHost,
            message::{Message, Snapshot, Subscribed},
        },
    },
    store::History,
};

/// Number of missed events that are encoded before the task yields to others.
const RESUME_STEP: u64 = 32;

/// The permission of a watcher.
#[derive(Clone, Debug)]
pub(crate) enum WatchAccess {
    /// Membership, or the room's password or join code.
    Credentials(Credentials),
    /// The administrator's token, or another node.
    Admin,
}

impl WatchAccess {
    pub(super) fn check(&self, room: &Room, player: PlayerId) -> Result<(), Rejection> {
        match self {
            Self::Credentials(credentials) => room.may_watch(player, credentials),
            Self::Admin => Ok(()),
        }
    }
}

/// The updates for a watcher, in the order of the fields.
pub(super) struct Feed {
    host: RoomHost,
    room: RoomId,
    /// The last event that the watcher has received, or that its snapshot will include.
    pub(super) seq: Seq,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) missed: VecDeque<EncodedEvent>,
    pub(super) events: broadcast::Receiver<EncodedEvent>,
}

impl Drop for Feed {
    fn drop(&mut self) {
        let context = &self.host.context;
        if let Some(handle) = context.registry.watched(self.room)
            && !context.lifecycle.stop.is_cancelled()
        {
            // The receiver is replaced before the message is sent, so that the room no longer counts this watcher.
            self.events = broadcast::Sender::new(1).subscribe();
            context.lifecycle.spawn(async move {
                // If this fails because the room is busy, the room counts its watchers at the next change.
                let _ = handle.send(Message::Unwatched).await;
            });
        }
    }
}

/// Subscribes to a room, if the player may watch it.
pub(super) async fn subscribe(
    host: &RoomHost,
    player: PlayerId,
    room: RoomId,
    access: &WatchAccess,
    after: Option<Seq>,
) -> Result<Feed, WatchError> {
    let (handle, seen) = host.watched(room, after, |room| access.check(room, player).is_ok()).await?;
    access.check(&seen.room, player)?;
    let Subscribed { mut snapshot, seq, events } = handle.subscribe(after).await?;
    let mut missed = VecDeque::new();
    if let (None, Some(after)) = (&snapshot, after) {
        match read_missed(&host.context, room, after, seq).await {
            Some(read) => missed = read,
            None => snapshot = Some(handle.snapshot().await?),
        }
    }
    // Checked again, because access may have ended before the subscription. Later ends are among `events`.
    match &snapshot {
        Some(snapshot) => access.check(&snapshot.room, player)?,
        None => access.check(&handle.snapshot().await?.room, player)?,
    }
    let seq = snapshot.as_ref().map_or(after, |snapshot| Some(snapshot.room.seq())).unwrap_or_default();
    Ok(Feed { host: host.clone(), room, seq, snapshot, missed, events })
}

/// The events after `after` up to `last`; none if the journal starts later, or a line of chat among them was removed. Read in
/// the watcher's task, not the room's.
async fn read_missed(context: &ActorContext, room: RoomId, after: Seq, last: Seq) -> Option<VecDeque<EncodedEvent>> {
    let mut missed = VecDeque::new();
    if after == last {
        return Some(missed);
    }
    // Only a few watchers resume at the same time, so that they do not delay the tasks of players.
    let _permit = context.resumes.acquire().await.ok()?;
    let History { base: mut room, events } = context.journal.load(room).await.ok()??;
    if after < room.seq() || events.iter().any(|event| event.seq > after && is_removed_line(event, &events)) {
        return None;
    }
    for event in events.iter().take_while(|event| event.seq <= last) {
        room.apply(event);
        if event.seq > after {
            missed.push_back(context.encoded(event, &room));
        }
        if event.seq.0.is_multiple_of(RESUME_STEP) {
            yield_now().await;
        }
    }
    (room.seq() == last).then_some(missed)
}

/// True if the event posted a line of chat that a later event removed.
fn is_removed_line(event: &Event, later: &[Event]) -> bool {
    let removes = |fact: &Fact| matches!(fact, Fact::ChatRemoved(posted) if *posted == event.at);
    matches!(event.fact, Fact::ChatPosted { .. }) && later.iter().any(|later| removes(&later.fact))
}

/// Why a watcher cannot continue.
#[derive(Debug, Error)]
pub(super) enum WatchError {
    /// The player may not watch.
    #[error(transparent)]
    Access(#[from] Rejection),
    /// The room cannot be reached.
    #[error(transparent)]
    Room(#[from] RoomError),
}

/// A room as another node follows it.
pub struct FollowedRoom(Feed);

impl FollowedRoom {
    /// Follows a room of this node, from its current state or from the event after `after` on.
    pub(crate) async fn new(host: &RoomHost, room: RoomId, after: Option<Seq>) -> Result<Self, FeedEnd> {
        let cluster = &host.context.cluster;
        if !cluster.serves(room) {
            return Err(FeedEnd::Elsewhere(cluster.owner(room)));
        }
        let nobody = PlayerId::from_random(0);
        match subscribe(host, nobody, room, &WatchAccess::Admin, after).await {
            Ok(feed) => Ok(Self(feed)),
            Err(WatchError::Access(rejection)) => Err(FeedEnd::Refused(rejection.into())),
            Err(WatchError::Room(error)) => Err(FeedEnd::Refused(error)),
        }
    }

    /// The next item. `None` if the node must follow the room again: it read too slowly, or the room's actor has ended
    /// here. Cancel safe.
    pub async fn next(&mut self) -> Option<FeedItem> {
        let feed = &mut self.0;
        if let Some(snapshot) = feed.snapshot.take() {
            return Some(FeedItem::Base(snapshot.room));
        }
        if let Some(event) = feed.missed.pop_front() {
            feed.seq = event.seq;
            return Some(FeedItem::Event(event.event?));
        }
        loop {
            match feed.events.recv().await {
                Ok(event) if event.seq <= feed.seq => {}
                Ok(event) if event.seq == feed.seq.next() => {
                    feed.seq = event.seq;
                    return Some(FeedItem::Event(event.event?));
                }
                Ok(_) | Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
            }
        }
    }
}
