//! The updates of a room for one watcher, or for one node that follows the room.

use std::collections::VecDeque;

use tokio::{
    sync::broadcast::{self, error::RecvError},
    task::yield_now,
};

use crate::{
    room::{Event, Fact, Room, RoomId, Seq},
    runtime::{
        cluster::peers::{FeedEnd, FeedItem},
        room::{
            actor::ActorContext,
            encoded_event::{Effect, EncodedEvent},
            host::RoomHost,
            message::{Audience, Message, Snapshot, Subscribed, WatchAccess, WatchError},
        },
    },
    store::History,
};

/// Number of missed events that are encoded before the task yields to others.
const RESUME_STEP: u64 = 32;

/// The updates for a watcher, in the order of the fields.
pub(super) struct Feed {
    host: RoomHost,
    room: RoomId,
    /// The last event that the watcher has received, or that its snapshot will include; 0 if it needs a snapshot.
    pub(super) seq: Seq,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) missed: VecDeque<EncodedEvent>,
    pub(super) events: broadcast::Receiver<EncodedEvent>,
    /// Of the room as it is, for a spectator of a room with a delay.
    pub(super) live: Option<broadcast::Receiver<EncodedEvent>>,
}

impl Drop for Feed {
    fn drop(&mut self) {
        let context = &self.host.context;
        if let Some(handle) = context.registry.watched(self.room)
            && !context.lifecycle.stop.is_cancelled()
        {
            // The receivers are dropped before the message is sent, so that the room no longer counts this watcher.
            self.events = broadcast::Sender::new(1).subscribe();
            self.live = None;
            context.lifecycle.spawn(async move {
                // If this fails because the room is busy, the room counts its watchers at the next change.
                let _ = handle.send(Message::Unwatched).await;
            });
        }
    }
}

/// Subscribes to a room, if the watcher may watch it.
pub(super) async fn subscribe(
    host: &RoomHost,
    room: RoomId,
    access: &WatchAccess,
    after: Option<Seq>,
) -> Result<Feed, WatchError> {
    let Subscribed { snapshot, after, events, live, is_delayed: _ } = host.subscribe(room, access, after).await?;
    let (host, seq, missed) = (host.clone(), snapshot.room.seq(), VecDeque::new());
    let mut feed = Feed { host, room, seq, snapshot: None, missed, events, live };
    let missed = match after {
        Some(after) => read_missed(&feed.host.context, &snapshot.room, after, feed.live.is_some()).await,
        None => None,
    };
    match (after, missed) {
        (Some(after), Some(missed)) => (feed.seq, feed.missed) = (after, missed),
        _ if feed.live.is_some() => feed.snapshot = Some(snapshot.with_delayed_clocks()),
        _ => feed.snapshot = Some(snapshot),
    }
    Ok(feed)
}

/// The events after `after`, up to those of `room`; none if the journal starts later, or a line of chat among them was
/// removed. Read in the watcher's task, not the room's.
async fn read_missed(
    context: &ActorContext,
    room: &Room,
    after: Seq,
    is_delayed: bool,
) -> Option<VecDeque<EncodedEvent>> {
    let encoded = |event: &Event, room: &Room| match is_delayed {
        true => context.encoded(event, &room.with_delayed_clocks()),
        false => context.encoded(event, room),
    };
    let mut missed = VecDeque::new();
    if after == room.seq() {
        return Some(missed);
    }
    // Only a few watchers resume at the same time, so that they do not delay the tasks of players.
    let _permit = context.resumes.acquire().await.ok()?;
    let History { base: mut past, events } = context.journal.load(room.id()).await.ok()??;
    if after < past.seq() || events.iter().any(|event| event.seq > after && is_removed_line(event, &events)) {
        return None;
    }
    if after.next() == room.seq() {
        // The usual case: nothing before it is replayed.
        let last = events.iter().find(|event| event.seq == room.seq())?;
        return Some([encoded(last, room)].into());
    }
    for event in events.iter().take_while(|event| event.seq <= room.seq()) {
        past.apply(event);
        if event.seq > after {
            missed.push_back(encoded(event, &past));
        }
        if event.seq.0.is_multiple_of(RESUME_STEP) {
            yield_now().await;
        }
    }
    (past.seq() == room.seq()).then_some(missed)
}

/// True if the event posted a line of chat that a later event removed.
fn is_removed_line(event: &Event, later: &[Event]) -> bool {
    let removes = |fact: &Fact| matches!(fact, Fact::ChatRemoved(posted) if *posted == event.at);
    matches!(event.fact, Fact::ChatPosted { .. }) && later.iter().any(|later| removes(&later.fact))
}

/// A room as another node follows it.
pub struct FollowedRoom(Feed);

impl FollowedRoom {
    /// Follows a room of this node, from its current state or from the event after `after` on.
    pub(crate) async fn new(
        host: &RoomHost,
        room: RoomId,
        audience: Audience,
        after: Option<Seq>,
    ) -> Result<Self, FeedEnd> {
        let cluster = &host.context.cluster;
        if !cluster.serves(room) {
            return Err(FeedEnd::Moved(cluster.node_of(room)));
        }
        let access = if audience == Audience::Delayed { WatchAccess::Delayed } else { WatchAccess::Admin };
        let feed = subscribe(host, room, &access, after).await.map_err(|error| FeedEnd::Refused(error.into()))?;
        if let (Audience::Delayed, Some(base), Some(after)) = (audience, &feed.snapshot, after)
            && base.room.seq() < after
            // Otherwise this node has only shown less than the last one.
            && host.snapshot(room).await.map_err(FeedEnd::Refused)?.room.seq() < after
        {
            return Err(FeedEnd::RolledBack);
        }
        Ok(Self(feed))
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
                Ok(event) if event.effect == Effect::RolledBack => {
                    return Some(FeedItem::Ended(FeedEnd::RolledBack));
                }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{AiSpec, Command, DisplayName, PlayerKind, SeatSpec, Settings},
        rules::ByColor,
        runtime::{NewRoom, Parts, Runtime},
        store::{MemoryStore, Store},
    };

    /// A node that takes over a room may have shown less of it than the last one; but it has all of its events.
    #[tokio::test]
    async fn a_mirror_of_what_spectators_see_is_told_when_events_are_lost() {
        let parts = Parts { ai_threads: Some(0), ..Parts::new(Store::of(MemoryStore::default()), |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let ada = DisplayName::parse("Ada").unwrap();
        let (ada, _) = runtime.sessions.log_in(ada, PlayerKind::Human, 0, None, None).await.unwrap();
        let settings = Settings { spectator_delay: Duration::from_secs(60), ..Settings::named((&ada.name).into()) };
        let ai = SeatSpec::Ai(AiSpec { kind: "random".into(), level: None, seed: None });
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, ai) };
        let room = runtime.rooms.create(&ada, new, None).await.unwrap().room.id();
        let last = runtime.rooms.command(&ada, room, Command::Start(None)).await.unwrap().seq;
        let host = &runtime.rooms.host;
        let follow = async |after| FollowedRoom::new(host, room, Audience::Delayed, Some(after)).await;
        let mut feed = follow(last).await.ok().unwrap();
        assert!(matches!(feed.next().await, Some(FeedItem::Base(base)) if base.seq() < last), "nothing is lost");
        assert!(matches!(follow(last.next()).await, Err(FeedEnd::RolledBack)));
    }
}
