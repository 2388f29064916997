//! The seam between rooms and what keeps them.

use std::{future::Future, pin::Pin};

use thiserror::Error;

use crate::room::{Event, Room, RoomId, Seq};

/// An answer that may have to wait for a disk.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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

/// Why a room cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("storage is unavailable: {0}")]
pub struct ReadError(pub String);

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

/// Keeps the events of open rooms. The first event of a room creates it; `Closed` ends what is kept.
pub trait Journal: Send + Sync + 'static {
    /// Adds events behind `expected`, all or none; 0 for a new room. What is answered `Ok` is not lost.
    fn append<'a>(&'a self, room: RoomId, expected: Seq, events: &'a [Event]) -> Pending<'a, Result<(), AppendError>>;

    /// What is kept of a room; none when there is no such open room.
    fn load(&self, room: RoomId) -> Pending<'_, Result<Option<History>, ReadError>>;

    /// Every open room.
    fn open_rooms(&self) -> Pending<'_, Result<Vec<RoomId>, ReadError>>;
}
