//! Storage of open rooms.

use std::{
    future::{Future, Ready, ready},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use reversi_room::{Event, Fact, GameRecord, JoinCode, Request, Room, RoomId, Seq, Timestamp};
use thiserror::Error;
use tokio::sync::oneshot;

use super::player_stats::glicko::RatingWeight;

/// The metric of the number of writes in a commit.
pub const COMMIT_WRITES: &str = "reversi_journal_commit_writes";

/// The metric of the number of appends that were refused because another node has taken over.
pub const FENCED_APPENDS: &str = "reversi_cluster_fenced_appends_total";

/// The metric of the size of SQLite's write-ahead log.
pub const LOG_BYTES: &str = "reversi_sqlite_log_bytes";

/// The metric of the seconds since this node last renewed its lease.
pub const LEASE_AGE: &str = "reversi_cluster_lease_age_seconds";

/// The metric of the clock of this server minus the database's.
pub const CLOCK_SKEW: &str = "reversi_cluster_clock_skew_seconds";

/// The metric of the number of shards that this node owns.
pub const OWNED_SHARDS: &str = "reversi_cluster_shards";

/// How long the store knows what a request with an id did.
pub const REQUEST_LIFETIME: Duration = Duration::from_hours(24);

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The answer of a store, or why there is none.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// The outcome of an append, boxed only where the store needs it, because thousands wait at a time.
#[must_use = "the write is certain only when this returns `Ok`"]
pub enum AppendFuture<'a> {
    /// Known at once.
    Known(Ready<Result<(), AppendError>>),
    /// Sent by the writer.
    Queued(oneshot::Receiver<Result<(), AppendError>>),
    /// Any other wait.
    Slow(BoxFuture<'a, Result<(), AppendError>>),
}

impl Future for AppendFuture<'_> {
    type Output = Result<(), AppendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let unknown = || Err(AppendError::Unknown("the writer gave no answer".to_owned()));
        match &mut *self {
            Self::Known(outcome) => Pin::new(outcome).poll(context),
            Self::Queued(outcome) => Pin::new(outcome).poll(context).map(|sent| sent.unwrap_or_else(|_| unknown())),
            Self::Slow(outcome) => outcome.as_mut().poll(context),
        }
    }
}

impl From<Result<(), AppendError>> for AppendFuture<'_> {
    fn from(outcome: Result<(), AppendError>) -> Self {
        Self::Known(ready(outcome))
    }
}

/// Why an append failed, or has an unknown outcome.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AppendError {
    /// Nothing was written; the append may be retried.
    #[error("storage is unavailable: {0}")]
    Unavailable(String),
    /// The room is at this event, not at the expected one.
    #[error("the room is already at event {0}")]
    Conflict(Seq),
    /// The append may or may not have been written: the room must be read again.
    #[error("the outcome of a write is unknown: {0}")]
    Unknown(String),
    /// Nothing was written, because another node has the room now. This node must not write or read the room again.
    #[error("another server has taken over the room")]
    Fenced,
    /// Nothing was written, because the request that an event carries was done before.
    #[error("the request was done before")]
    Repeated,
    /// Nothing was written, because what is stored of this room cannot be read; a retry does not help.
    #[error("stored data is damaged: {0}")]
    Damaged(String),
}

impl AppendError {
    /// True if the store has failed for all rooms, not for this one only.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::Conflict(_) | Self::Fenced | Self::Repeated | Self::Damaged(_))
    }
}

/// For tests: the error with which an append to a room after an event fails; none if it does not fail.
pub type FaultHook = Box<dyn Fn(RoomId, Seq) -> Option<AppendError> + Send + Sync>;

/// Why nothing was read or written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoreError {
    /// The call may be retried.
    #[error("storage is unavailable: {0}")]
    Unavailable(String),
    /// What was asked for is stored and cannot be read; a retry does not help.
    #[error("stored data is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// True if the store has failed for all data.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::Damaged(_))
    }
}

/// A write to one room: all or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// The room.
    pub room: RoomId,
    /// The last event that the caller knows; 0 for a new room.
    pub expected: Seq,
    /// The events after `expected`. The first event of a room is its creation; `Closed` removes the room.
    pub events: &'a [Event],
    /// The games that end in these events, for the archive.
    pub games: &'a [EndedGame],
}

impl Append<'_> {
    /// The request that one of its events carries, with what is kept of it.
    pub(crate) fn done_request(&self) -> Option<(Request, DoneRequest)> {
        let event = self.events.iter().find(|event| event.fact.request().is_some())?;
        let request = event.fact.request()?;
        let game = if let Fact::GameStarted { number, .. } = event.fact { number } else { 0 };
        let seq = self.events.last().map_or(event.seq, |last| last.seq);
        Some((request, DoneRequest { digest: request.digest, room: self.room, seq, game, at: event.at }))
    }
}

/// What a request with an id did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoneRequest {
    /// As in [`Request`].
    pub digest: u64,
    /// The room that it created or joined, or in which it started a game.
    pub room: RoomId,
    /// The last event that it caused.
    pub seq: Seq,
    /// The number of the game that it started; 0 for a request that created a room.
    pub game: u32,
    /// When.
    pub at: Timestamp,
}

impl DoneRequest {
    /// True if the store no longer knows it.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.at) >= REQUEST_LIFETIME
    }
}

/// A game that ends in an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedGame {
    /// What the archive keeps of the game.
    pub record: GameRecord,
    /// The highest weight of the game for the ratings of its players.
    pub weight: RatingWeight,
}

/// The stored part of an open room: a state and all later events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The oldest stored state.
    pub base: Room,
    /// The events after `base`.
    pub events: Vec<Event>,
}

impl History {
    /// The last stored event.
    #[must_use]
    pub fn last(&self) -> Seq {
        self.events.last().map_or(self.base.seq(), |event| event.seq)
    }

    /// The latest state.
    #[must_use]
    pub fn latest(mut self) -> Room {
        for event in &self.events {
            self.base.apply(event);
        }
        self.base
    }
}

/// Stores the events of open rooms.
pub trait Journal: Send + Sync + 'static {
    /// Writes events to a room; durable after `Ok`. Writes nothing if an event carries a request that was done within
    /// [`REQUEST_LIFETIME`] before: [`AppendError::Repeated`]. The write begins now or at the first poll; dropping the
    /// future leaves its outcome unknown.
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a>;

    /// The stored part of a room; none if no such room is open.
    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>>;

    /// As [`Journal::load`], for the only owner of the room. If the store can, a damaged room first goes back to its
    /// last sound state, for good.
    fn recover(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        self.load(room)
    }

    /// At most `limit` open rooms after `after`, in their latest state, by ascending id. Those that are damaged are
    /// left out, unless the store can recover them.
    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>>;

    /// What the request with this key did within [`REQUEST_LIFETIME`] before `now`.
    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>>;

    /// The open room of a join code. The default returns none: without other nodes, this process knows all rooms.
    fn room_of_code(&self, _: JoinCode) -> StoreFuture<'_, Option<RoomId>> {
        Box::pin(ready(Ok(None)))
    }

    /// Takes the list of rooms that wait for any opponent, which all nodes share: at most `limit`, the oldest first.
    /// None while another node has the list. It is back after [`Journal::return_waiting`], or after a few seconds.
    fn take_waiting(&self, _limit: usize) -> StoreFuture<'_, Option<Vec<RoomId>>> {
        Box::pin(ready(Ok(Some(Vec::new()))))
    }

    /// Gives the list back, without the rooms `gone`, which no longer wait, and with the rooms `new`.
    fn return_waiting(&self, _gone: Vec<RoomId>, _new: Vec<RoomId>) -> StoreFuture<'_, ()> {
        Box::pin(ready(Ok(())))
    }

    /// Adds rooms to the list.
    fn add_waiting(&self, _rooms: Vec<RoomId>) -> StoreFuture<'_, ()> {
        Box::pin(ready(Ok(())))
    }

    /// True if the database itself is malformed: nothing new should be written to it.
    fn is_malformed(&self) -> bool {
        false
    }

    /// Records that the server is running at this time.
    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()>;

    /// The last recorded time.
    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>>;
}
