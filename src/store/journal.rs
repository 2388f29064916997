//! The seam between open rooms and what keeps them.

use std::{
    future::{Future, Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use thiserror::Error;
use tokio::sync::oneshot;

use crate::room::{Event, GameRecord, Room, RoomId, Seq, Timestamp};

/// An answer that may have to wait for a disk.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The outcome of an append. Thousands wait for theirs at a time, and need no box for that.
#[must_use = "nothing is certain to be written before this says so"]
pub enum AppendFuture<'a> {
    /// It is known.
    Known(Ready<Result<(), AppendError>>),
    /// Whoever writes tells it.
    Queued(oneshot::Receiver<Result<(), AppendError>>),
    /// More must happen than that.
    Slow(BoxFuture<'a, Result<(), AppendError>>),
}

impl Future for AppendFuture<'_> {
    type Output = Result<(), AppendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let unknown = || Err(AppendError::Unknown("nobody has told it".to_owned()));
        match &mut *self {
            Self::Known(outcome) => Pin::new(outcome).poll(context),
            Self::Queued(outcome) => Pin::new(outcome).poll(context).map(|told| told.unwrap_or_else(|_| unknown())),
            Self::Slow(outcome) => outcome.as_mut().poll(context),
        }
    }
}

impl From<Result<(), AppendError>> for AppendFuture<'_> {
    fn from(outcome: Result<(), AppendError>) -> Self {
        Self::Known(ready(outcome))
    }
}

/// Why nothing can be said about an append, or why it did not happen.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AppendError {
    /// Nothing was written; it may be tried again.
    #[error("storage is unavailable: {0}")]
    Unavailable(String),
    /// Somebody else has written to the room, which is now at this number.
    #[error("the room is already at event {0}")]
    Conflict(Seq),
    /// It may or may not have been written: the room must be read again.
    #[error("the outcome of a write is unknown: {0}")]
    Unknown(String),
}

/// Decides what goes wrong with an append to a room behind an event; for tests.
pub type FaultHook = Box<dyn Fn(RoomId, Seq) -> Option<AppendError> + Send + Sync>;

/// Nothing can be read, or nothing was written; it may be tried again.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("storage is unavailable: {0}")]
pub struct Unavailable(pub String);

/// What is to be written to one room, all of it or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// Which.
    pub room: RoomId,
    /// The last event that the writer knows; 0 for a new room.
    pub expected: Seq,
    /// The events behind it. The first of a room creates it; `Closed` ends what is kept of it.
    pub events: &'a [Event],
    /// The games that end with them, for the archive.
    pub games: &'a [GameRecord],
}

/// What is kept of an open room: a state, and every event since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The oldest state that is kept.
    pub base: Room,
    /// The events after it.
    pub events: Vec<Event>,
}

impl History {
    /// The room as it is now.
    #[must_use]
    pub fn latest(mut self) -> Room {
        for event in &self.events {
            self.base.apply(event);
        }
        self.base
    }
}

/// Keeps the events of open rooms.
pub trait Journal: Send + Sync + 'static {
    /// Writes to a room. What is answered `Ok` is not lost. It may be on its way when this returns, or only once the answer
    /// is waited for; who stops waiting does not know whether it is written.
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a>;

    /// What is kept of a room; none when there is no such open room.
    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, Unavailable>>;

    /// At most `limit` open rooms as they are now, in the order of their ids, beginning behind `after`.
    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, Unavailable>>;

    /// Notes that the server runs at this moment.
    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// When that was last noted; none when it never was.
    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, Unavailable>>;
}
