//! The mirror of a room of another node. It follows the room once, and serves all its watchers on this node as the room
//! itself would.
//!
//! It gets only events that are written, so it takes none back unless the database has lost some. When the room moves or
//! the link breaks, it follows the room again from its last event on. It ends when it has had no watchers for a while,
//! or this node gets the room. Its watchers then look the room up again.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};
use tracing::Instrument as _;

use crate::{
    room::{Event, Phase, Room, RoomId, Seq},
    runtime::{
        cluster::{
            cluster::{ASK_DEADLINE, ASK_RETRY, ShardChange},
            peers::{FeedEnd, FeedItem},
        },
        outcome::RoomError,
        room::{
            actor::ActorContext,
            encoded_event::EncodedEvent,
            mailbox::Mailbox,
            message::{Audience, Message, Subscribed, WatchAccess, WatchError},
            registry::{MirrorRegistration, NewMirror, RoomHandle},
            watchers::Watchers,
        },
        server_metrics,
    },
    store::NodeId,
};

/// Time without watchers after which a room of another node is followed no longer.
const MIRROR_IDLE: Duration = Duration::from_secs(30);

/// The mirror of a room, started if there is none.
///
/// # Errors
/// [`RoomError::Moved`] when the room must be looked for again.
pub(crate) async fn mirror(
    context: &Arc<ActorContext>,
    id: RoomId,
    audience: Audience,
) -> Result<RoomHandle, RoomError> {
    let cluster = &context.cluster;
    if let Some(handle) = context.registry.mirror(id, audience) {
        return Ok(handle);
    }
    // Before the first look for the node.
    let change = cluster.next_change();
    let (node, mut feed) = cluster.follow(id, audience, None).ok_or(RoomError::Moved)?;
    let room = match timeout(ASK_DEADLINE, feed.recv()).await {
        Ok(Some(FeedItem::Base(room))) if room.id() == id => Arc::unwrap_or_clone(room),
        Ok(Some(FeedItem::Ended(FeedEnd::Refused(error)))) => return Err(error),
        Ok(Some(FeedItem::Ended(FeedEnd::Moved(known)))) => {
            cluster.learn_from_peer(known);
            return Err(RoomError::Moved);
        }
        Ok(Some(_) | None) | Err(_) => return Err(RoomError::Moved),
    };
    let (handle, new) = context.registry.register_mirror((id, audience), context.lifecycle.stop.child_token());
    if let Some(NewMirror { registration, mailbox }) = new {
        let mirror = Mirror {
            context: Arc::clone(context),
            audience,
            room,
            node,
            change,
            feed: Some(feed),
            retry: None,
            watchers: Watchers::default(),
            is_ahead: false,
            check: Instant::now() + MIRROR_IDLE,
        };
        let span = tracing::info_span!(parent: None, "mirror", %id);
        context.lifecycle.spawn(Box::pin(mirror.run(registration, mailbox)).instrument(span));
    }
    Ok(handle)
}

/// Waits until a mirror has an event.
pub(crate) async fn catch_up(handle: &RoomHandle, seq: Seq) -> Result<(), WatchError> {
    let Subscribed { snapshot, mut events, .. } = handle.subscribe(WatchAccess::Admin, None).await?;
    let (mut has, deadline) = (snapshot.room.seq(), Instant::now() + ASK_DEADLINE);
    while has < seq {
        match tokio::time::timeout_at(deadline, events.recv()).await {
            Ok(Ok(event)) => has = event.seq,
            Ok(Err(_)) | Err(_) => return Err(RoomError::Moved.into()),
        }
    }
    Ok(())
}

struct Mirror {
    context: Arc<ActorContext>,
    audience: Audience,
    /// As of the last event received.
    room: Room,
    /// The node that it follows.
    node: NodeId,
    change: ShardChange,
    /// None until it follows the room again.
    feed: Option<mpsc::Receiver<FeedItem>>,
    retry: Option<Instant>,
    watchers: Watchers,
    /// True if it has events that the database has lost.
    is_ahead: bool,
    /// When it ends unless it has watchers.
    check: Instant,
}

impl Mirror {
    async fn run(mut self, registration: MirrorRegistration, mut mailbox: Mailbox) {
        while self.step(&registration, &mut mailbox).await.is_continue() {}
        // Before the watchers look the room up again.
        drop(registration);
        if self.is_ahead {
            self.watchers.roll_back();
        } else {
            self.watchers.restart();
        }
        mailbox.outlive_stop();
        while let Some(message) = mailbox.next().await {
            match *message {
                Message::Subscribe(.., reply) if self.is_ahead => drop(reply.send(Err(WatchError::Outdated))),
                Message::Subscribe(access, _, reply) => {
                    let last = self.watchers.last(&self.room, &access);
                    let _ = reply.send(last.map_err(|_| WatchError::Outdated));
                }
                message => self.handle(message),
            }
        }
    }

    async fn step(&mut self, registration: &MirrorRegistration, mailbox: &mut Mailbox) -> ControlFlow<()> {
        let due = self.retry.map_or(self.check, |retry| retry.min(self.check));
        // Biased, so that a simulation with one seed always runs the same way.
        tokio::select! {
            biased;
            message = mailbox.next() => match message {
                Some(message) => self.handle(*message),
                None => return ControlFlow::Break(()),
            },
            item = next(&mut self.feed) => match item {
                Some(item) => return self.receive(item),
                None => self.follow_later(),
            },
            () = self.change.as_mut() => {
                // Before it looks for the node.
                self.change = self.context.cluster.next_change();
                match self.context.cluster.node_of(self.room.id()) {
                    Some(owned) if owned.node == self.context.cluster.me() => return ControlFlow::Break(()),
                    Some(owned) if owned.node != self.node || self.feed.is_none() => self.follow(),
                    _ => {}
                }
            }
            () = sleep_until(due) => {
                let now = Instant::now();
                if self.retry.is_some_and(|retry| retry <= now) {
                    self.follow();
                }
                if self.check <= now {
                    if self.watchers.recount() == 0 && registration.remove_if_idle(mailbox) {
                        return ControlFlow::Break(());
                    }
                    self.check = now + MIRROR_IDLE;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Snapshot(_, reply) => drop(reply.send(self.watchers.snapshot(&self.room))),
            Message::Subscribe(access, after, reply) => {
                self.check = Instant::now() + MIRROR_IDLE;
                let subscribed = self.watchers.subscribe(&self.room, &access, after);
                let _ = reply.send(subscribed.map_err(|_| WatchError::Outdated));
            }
            Message::Unwatched => {
                self.check = Instant::now() + MIRROR_IDLE;
                self.watchers.recount();
            }
            Message::Command(_, _, _, reply) => drop(reply.send(Err(RoomError::Moved))),
            Message::Remind(..) | Message::CheckPresence(_) | Message::CreditStalls(_) => {}
        }
    }

    fn receive(&mut self, item: FeedItem) -> ControlFlow<()> {
        match item {
            FeedItem::Base(room) if room.id() != self.room.id() => self.follow_later(),
            // Another node has the room now, and has shown less of it: this one waits for the later events.
            FeedItem::Base(room) if room.seq() < self.room.seq() && self.audience == Audience::Delayed => {}
            FeedItem::Base(room) if room.seq() < self.room.seq() => {
                // The node has made sure that it still has the room: the database has lost events.
                let (had, has) = (self.room.seq(), room.seq());
                tracing::error!(%had, %has, "the database has lost events of the room; its watchers go back");
                server_metrics::rolled_back();
                self.is_ahead = true;
                return ControlFlow::Break(());
            }
            FeedItem::Base(room) => {
                if room.seq() > self.room.seq() {
                    self.room = Arc::unwrap_or_clone(room);
                    self.watchers.restart();
                }
            }
            FeedItem::Event(event) if event.seq <= self.room.seq() => {}
            FeedItem::Event(event) => return self.apply(&event),
            FeedItem::Ended(FeedEnd::Moved(known)) => {
                self.context.cluster.learn_from_peer(known);
                self.follow_later();
            }
            // The room has closed.
            FeedItem::Ended(FeedEnd::Refused(RoomError::Rejected(_))) => return ControlFlow::Break(()),
            FeedItem::Ended(FeedEnd::Refused(_)) => self.follow_later(),
            FeedItem::Ended(FeedEnd::RolledBack) => {
                self.is_ahead = true;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn apply(&mut self, event: &Event) -> ControlFlow<()> {
        if let Err(error) = self.room.check_next(event) {
            tracing::warn!(%error, "an event does not fit the copy of another node's room; the room is fetched again");
            return ControlFlow::Break(());
        }
        self.room.apply(event);
        self.watchers.outdate();
        if !self.watchers.is_none() {
            let encode = |room: &Room| EncodedEvent::new(self.context.encode, event, room);
            self.watchers.send(match self.audience {
                Audience::Live => encode(&self.room),
                Audience::Delayed => encode(&self.room.with_delayed_clocks()),
            });
        }
        if self.room.phase() == Phase::Closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Follows the room from its last event on, at its present node.
    fn follow(&mut self) {
        match self.context.cluster.follow(self.room.id(), self.audience, Some(self.room.seq())) {
            Some((node, feed)) => (self.node, self.feed, self.retry) = (node, Some(feed), None),
            None => self.follow_later(),
        }
    }

    fn follow_later(&mut self) {
        (self.feed, self.retry) = (None, Some(Instant::now() + ASK_RETRY));
    }
}

async fn next(feed: &mut Option<mpsc::Receiver<FeedItem>>) -> Option<FeedItem> {
    match feed {
        Some(feed) => feed.recv().await,
        None => std::future::pending().await,
    }
}
