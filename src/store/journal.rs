//! Storage of open rooms.

use std::{
    future::{Future, Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use thiserror::Error;
use tokio::sync::oneshot;

use crate::room::{Event, GameRecord, Room, RoomId, Seq, Timestamp};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The outcome of an append, without a box where the store needs none: thousands wait at a time.
#[must_use = "nothing is certain to be written before this says so"]
pub enum AppendFuture<'a> {
    /// Known at once.
    Known(Ready<Result<(), AppendError>>),
    /// Sent by the writer.
    Queued(oneshot::Receiver<Result<(), AppendError>>),
    /// Anything else.
    Slow(BoxFuture<'a, Result<(), AppendError>>),
}

impl Future for AppendFuture<'_> {
    type Output = Result<(), AppendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let unknown = || Err(AppendError::Unknown("the writer gave no answer".to_owned()));
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

/// Why an append failed, or why its outcome is unknown.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AppendError {
    /// Nothing was written; it may be tried again.
    #[error("storage is unavailable: {0}")]
    Unavailable(String),
    /// The room is at this event and not at the expected one.
    #[error("the room is already at event {0}")]
    Conflict(Seq),
    /// It may or may not have been written: the room must be read again.
    #[error("the outcome of a write is unknown: {0}")]
    Unknown(String),
}

/// Returns the failure of an append to a room after an event, if it is to fail; for tests.
pub type FaultHook = Box<dyn Fn(RoomId, Seq) -> Option<AppendError> + Send + Sync>;

/// Nothing can be read, or nothing was written; it may be tried again.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("storage is unavailable: {0}")]
pub struct Unavailable(pub String);

/// What is to be written to one room, all of it or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// The room.
    pub room: RoomId,
    /// The last event that the caller knows; 0 for a new room.
    pub expected: Seq,
    /// The events after it. The first of a room is its creation; `Closed` removes the room.
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
    /// Writes to a room. After `Ok` it is on the disk. The write begins now or when the future is first polled; dropping the
    /// future leaves its outcome unknown.
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a>;

    /// What is kept of a room; none when there is no such open room.
    fn load(&self, room: RoomId) -> BoxFuture<'_, Result<Option<History>, Unavailable>>;

    /// At most `limit` open rooms in their latest state, by ascending id, after `after`.
    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> BoxFuture<'_, Result<Vec<Room>, Unavailable>>;

    /// Records that the server runs at this time.
    fn mark_alive(&self, now: Timestamp) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// The last time recorded, if any.
    fn last_alive(&self) -> BoxFuture<'_, Result<Option<Timestamp>, Unavailable>>;
}
