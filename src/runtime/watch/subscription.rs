//! Long-lived views of the server: a player's turns, a room's events. Each is counted, and each ends with a reason.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        oneshot,
    },
    time::{Instant, timeout_at},
};

use crate::{
    room::{Credentials, PlayerId, Rejection, Room, RoomId, Seq},
    runtime::{
        error::RoomError,
        limit::{
            client_address::{Address, Share},
            limits::MAILBOX_PATIENCE,
        },
        metrics::{self, StreamKind},
        player::{
            directory::Player,
            inbox::{InboxReceiver, Notice, StreamEnd},
        },
        poll::Stop,
        room::message::{Effect, Message, Published, Snapshot},
        server_state::Shared,
    },
};

/// By what right somebody looks at a room.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Right {
    /// As a member, or with what opens the room to others.
    Guest(Credentials),
    /// As an administrator.
    Admin,
}

impl Right {
    fn check(&self, room: &Room, player: PlayerId) -> Result<(), Rejection> {
        match self {
            Self::Guest(credentials) => room.may_watch(player, credentials),
            Self::Admin => Ok(()),
        }
    }
}

/// One open stream of a player, counted while it lives, unless it is released before. The player's rooms learn of the
/// first and the last.
pub(crate) struct OpenStream {
    shared: Arc<Shared>,
    player: Arc<Player>,
    kind: StreamKind,
    /// The address at which it counts too.
    home: Option<Arc<Address>>,
    released: AtomicBool,
}

impl OpenStream {
    pub(crate) fn new(shared: &Arc<Shared>, player: &Arc<Player>, kind: StreamKind) -> Result<Self, RoomError> {
        let home = player.home().cloned();
        if home.as_ref().is_some_and(|home| !home.try_add(Share::Streams)) {
            return Err(RoomError::QuotaStreams);
        }
        let before = player.open_stream();
        metrics::streams(kind, 1.0);
        let stream = Self {
            shared: Arc::clone(shared),
            player: Arc::clone(player),
            kind,
            home,
            released: AtomicBool::new(false),
        };
        if before >= shared.limits.streams_per_player {
            return Err(RoomError::QuotaStreams);
        }
        if before == 0 {
            shared.check_presence(player, player.rooms());
        }
        Ok(stream)
    }

    /// Waits until the server or the player ends every stream.
    pub(crate) async fn ended(&self) -> StreamEnd {
        self.player.streams_end.cancelled().await;
        self.why_ended()
    }

    /// Why, when it is so.
    fn why_ended(&self) -> StreamEnd {
        self.player.stream_end().unwrap_or(StreamEnd::Draining)
    }

    /// Counts it no longer.
    pub(crate) fn release(&self) {
        if self.released.swap(true, SeqCst) {
            return;
        }
        if let Some(home) = &self.home {
            home.shift(Share::Streams, 1, 0);
        }
        metrics::streams(self.kind, -1.0);
        if self.player.close_stream() {
            self.shared.check_presence(&self.player, self.player.rooms());
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.release();
    }
}

/// The turns of one player, and what else concerns them.
pub struct Turns {
    inbox: InboxReceiver,
    /// Counted for as long as this lives.
    _open: Arc<OpenStream>,
    /// Rooms that are still to ask an open turn again. They are waited for while these are kept.
    reminders: Vec<oneshot::Receiver<()>>,
}

impl Turns {
    pub(crate) async fn open(shared: &Arc<Shared>, player: &Arc<Player>) -> Result<Self, RoomError> {
        let open = Arc::new(OpenStream::new(shared, player, StreamKind::Turns)?);
        let inbox = player.open_inbox(Arc::downgrade(&open));
        // Complete before anything is waited for: when the wait is dropped, what the inbox has is kept.
        if let Some(end) = player.stream_end() {
            player.close_inbox(end);
        }
        let mut turns = Self { inbox, _open: open, reminders: Vec::new() };
        turns.reminders = player.seats().into_iter().map(|room| remind(shared, player, room)).collect();
        let patience = Instant::now() + MAILBOX_PATIENCE;
        for reminder in &mut turns.reminders {
            // The turns of a room that is very busy come later.
            let _ = timeout_at(patience, reminder).await;
        }
        player.pass_missed(&turns.inbox);
        Ok(turns)
    }

    /// The next notice, or why the stream ends. Nothing is lost when the wait is dropped.
    ///
    /// # Errors
    /// The end of the stream.
    pub async fn next(&mut self) -> Result<Notice, StreamEnd> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`Turns::next`], for one who waits for more than this.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Notice, StreamEnd>> {
        self.inbox.poll_next(context.waker())
    }
}

/// Lets a room ask an open turn again, and then say so. It is waited for as long as the answer is.
fn remind(shared: &Arc<Shared>, player: &Arc<Player>, room: RoomId) -> oneshot::Receiver<()> {
    let (told, answer) = oneshot::channel();
    let (shared, player) = (Arc::clone(shared), player.id());
    shared.tasks.clone().spawn(async move { ask_again(&shared, player, room, told).await });
    answer
}

async fn ask_again(shared: &Arc<Shared>, player: PlayerId, room: RoomId, mut told: oneshot::Sender<()>) {
    // A room that there is not asks nothing.
    let Ok(handle) = shared.room(room).await else { return };
    let place = tokio::select! {
        biased;
        place = handle.place() => place,
        () = told.closed() => None,
        () = shared.rooms_end.cancelled() => None,
    };
    if let Some(place) = place {
        place.send(Box::new(Message::Remind(player, told)));
    }
}

/// What a watcher is sent.
#[derive(Clone, Debug)]
pub enum Update {
    /// The room as it is now.
    Snapshot(Snapshot),
    /// The next event, as it is sent.
    Event(Bytes),
}

/// One watcher of a room.
pub struct Watch {
    open: OpenStream,
    end_of_all: Stop,
    room: RoomId,
    right: Right,
    /// The last event the watcher has.
    seq: Seq,
    snapshot: Option<Snapshot>,
    missed: VecDeque<Published>,
    /// An event after which the player perhaps may not watch any longer.
    doubtful: Option<Published>,
    events: broadcast::Receiver<Published>,
    ended: Option<StreamEnd>,
}

impl Watch {
    pub(crate) async fn open(
        shared: &Arc<Shared>,
        player: &Arc<Player>,
        room: RoomId,
        right: Right,
        after: Option<Seq>,
    ) -> Result<Self, RoomError> {
        let open = OpenStream::new(shared, player, StreamKind::Room)?;
        let handle = shared.room(room).await?;
        right.check(&handle.snapshot().await?.room, player.id())?;
        let subscribed = handle.subscribe(after).await?;
        let seq = subscribed.snapshot.as_ref().map_or(after, |snapshot| Some(snapshot.room.seq()));
        Ok(Self {
            end_of_all: Stop::of(player.streams_end.clone()),
            open,
            room,
            right,
            seq: seq.unwrap_or_default(),
            snapshot: subscribed.snapshot,
            missed: subscribed.missed.into(),
            doubtful: None,
            events: subscribed.events,
            ended: None,
        })
    }

    /// The next update, or why the stream ends. Nothing is lost when the wait is dropped.
    ///
    /// # Errors
    /// The end of the stream.
    pub async fn next(&mut self) -> Result<Update, StreamEnd> {
        loop {
            if let Some(snapshot) = self.snapshot.take() {
                return Ok(Update::Snapshot(snapshot));
            }
            if let Some(end) = self.ended {
                return Err(end);
            }
            if let Some(published) = self.missed.pop_front() {
                // That the player was once removed is past: the stream was opened, or begun again, later.
                self.seq = published.seq;
                self.ended = (published.effect == Effect::Closed).then_some(StreamEnd::RoomClosed);
                return Ok(Update::Event(published.wire_for(self.open.player.id())));
            }
            if let Some(published) = self.doubtful.clone() {
                self.check_access().await?;
                self.doubtful = None;
                return Ok(self.pass_on(published));
            }
            let received = tokio::select! {
                biased;
                received = self.events.recv() => received,
                () = self.end_of_all.come() => return Err(self.open.why_ended()),
            };
            match received {
                Ok(published) if published.seq <= self.seq => {}
                // An earlier wait was dropped while it caught up.
                Ok(published) if published.seq != self.seq.next() => self.catch_up(Some(self.seq)).await?,
                Ok(published) => {
                    if !self.affects_access(published.effect) {
                        return Ok(self.pass_on(published));
                    }
                    self.doubtful = Some(published);
                }
                Err(RecvError::Lagged(_)) => {
                    metrics::lagged();
                    self.catch_up(None).await?;
                }
                // The room is over, or the server stops.
                Err(RecvError::Closed) => match self.open.player.stream_end() {
                    Some(end) => return Err(end),
                    None => self.catch_up(Some(self.seq)).await?,
                },
            }
        }
    }

    fn pass_on(&mut self, published: Published) -> Update {
        self.seq = published.seq;
        self.ended = match published.effect {
            Effect::Removed(player) if player == self.open.player.id() => Some(StreamEnd::Kicked),
            Effect::Closed => Some(StreamEnd::RoomClosed),
            Effect::None | Effect::Access | Effect::Removed(_) | Effect::Left(_) => None,
        };
        Update::Event(published.wire_for(self.open.player.id()))
    }

    fn affects_access(&self, effect: Effect) -> bool {
        match effect {
            Effect::Access => true,
            Effect::Left(player) => player == self.open.player.id(),
            Effect::None | Effect::Removed(_) | Effect::Closed => false,
        }
    }

    async fn check_access(&self) -> Result<(), StreamEnd> {
        let may = async {
            let room = self.open.shared.room(self.room).await?.snapshot().await?.room;
            Ok(self.right.check(&room, self.open.player.id())?)
        };
        may.await.map_err(end_of)
    }

    async fn catch_up(&mut self, after: Option<Seq>) -> Result<(), StreamEnd> {
        self.begin_again(after).await.map_err(end_of)
    }

    /// Subscribes once more, if the player still may.
    async fn begin_again(&mut self, after: Option<Seq>) -> Result<(), WatchError> {
        let handle = self.open.shared.room(self.room).await?;
        self.right.check(&handle.snapshot().await?.room, self.open.player.id())?;
        let subscribed = handle.subscribe(after).await?;
        self.snapshot = subscribed.snapshot;
        if let Some(snapshot) = &self.snapshot {
            self.seq = snapshot.room.seq();
        }
        self.missed = subscribed.missed.into();
        self.events = subscribed.events;
        Ok(())
    }
}

/// How a watcher's stream ends that cannot go on.
fn end_of(error: WatchError) -> StreamEnd {
    match error {
        WatchError::Access(Rejection::RoomClosed) => StreamEnd::RoomClosed,
        // A room that has turned private is hidden from strangers, but not gone.
        WatchError::Access(_) => StreamEnd::Kicked,
        WatchError::Room(RoomError::Draining) => StreamEnd::Draining,
        WatchError::Room(RoomError::Rejected(_)) => StreamEnd::RoomClosed,
        WatchError::Room(_) => StreamEnd::SlowConsumer,
    }
}

/// Why a watcher cannot go on.
enum WatchError {
    /// The room does not let it.
    Access(Rejection),
    /// The room cannot be reached.
    Room(RoomError),
}

impl From<Rejection> for WatchError {
    fn from(rejection: Rejection) -> Self {
        Self::Access(rejection)
    }
}

impl From<RoomError> for WatchError {
    fn from(error: RoomError) -> Self {
        Self::Room(error)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let shared = &self.open.shared;
        if let Some(handle) = shared.registry.live(self.room)
            && !shared.rooms_end.is_cancelled()
        {
            self.events = broadcast::Sender::new(1).subscribe();
            shared.tasks.spawn(async move {
                // A room that is too busy counts its watchers at the next change.
                let _ = handle.tell(Message::Unwatched).await;
            });
        }
    }
}
