//! The messages of actors and their answers.

use std::sync::Arc;

use tokio::{
    sync::{broadcast, oneshot},
    time::Instant,
};

use super::encoded_event::EncodedEvent;
use crate::{
    room::{Command, Issuer, PlayerId, Room, Seq},
    runtime::outcome::{Accepted, RoomError},
};

/// A message to an actor. Callers use a `RoomHandle`.
pub(crate) enum Message {
    /// With the time of its arrival at the server.
    Command(Issuer, Command, Instant, oneshot::Sender<Result<Accepted, RoomError>>),
    Snapshot(oneshot::Sender<Snapshot>),
    /// Subscribes a watcher, from the start or after the event that it has.
    Subscribe(Option<Seq>, oneshot::Sender<Subscribed>),
    /// A watcher's stream has ended.
    Unwatched,
    /// Sends the player an open turn again, then replies.
    Remind(PlayerId, oneshot::Sender<()>),
    /// Checks whether the player is connected.
    CheckPresence(PlayerId),
    /// Credits the clocks after a stall.
    CreditStalls,
}

/// A room at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its state.
    pub room: Arc<Room>,
    /// The number of streams that watch it.
    pub watchers: u32,
}

/// The answer to a new watcher.
pub(crate) struct Subscribed {
    /// The room; none for a watcher that has an earlier event and reads the next ones, up to `seq`, from the journal.
    pub(crate) snapshot: Option<Snapshot>,
    /// The last event of the room.
    pub(crate) seq: Seq,
    /// The events after `seq`.
    pub(crate) events: broadcast::Receiver<EncodedEvent>,
}
