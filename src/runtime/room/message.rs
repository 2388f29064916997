//! The messages of actors and their answers.

use std::sync::Arc;

use thiserror::Error;
use tokio::{
    sync::{broadcast, oneshot},
    time::Instant,
};

use super::encoded_event::EncodedEvent;
use crate::{
    room::{Command, Credentials, Issuer, PlayerId, Rejection, Room, Seq},
    runtime::outcome::{Accepted, RoomError},
};

/// A message to an actor. Callers use a `RoomHandle`.
pub(crate) enum Message {
    /// With the time of its arrival at the server.
    Command(Issuer, Command, Instant, oneshot::Sender<Result<Accepted, RoomError>>),
    Snapshot(Audience, oneshot::Sender<Snapshot>),
    /// Subscribes a watcher, from the present state or after the event that it has.
    Subscribe(WatchAccess, Option<Seq>, oneshot::Sender<Result<Subscribed, WatchError>>),
    /// A watcher's stream has ended.
    Unwatched,
    /// Sends the player an open turn again, then replies.
    Remind(PlayerId, oneshot::Sender<()>),
    /// Checks whether the player is connected.
    CheckPresence(PlayerId),
    /// Credits the clocks after a stall. The sender waits until all of these are dropped.
    CreditStalls(Arc<()>),
}

/// Whether a room is shown as it is, or with its delay for spectators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// Its players, administrators, and other nodes for these. All, if the room has no delay.
    Live,
    /// All others, and other nodes for these.
    Delayed,
}

/// A room at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its state.
    pub room: Arc<Room>,
    /// The number of streams that watch it.
    pub watchers: u32,
}

impl Snapshot {
    /// As [`Room::with_delayed_clocks`].
    pub(crate) fn with_delayed_clocks(self) -> Self {
        Self { room: Arc::new(self.room.with_delayed_clocks()), ..self }
    }
}

/// The permission of a watcher.
#[derive(Clone, Debug)]
pub(crate) enum WatchAccess {
    /// That of a player: membership, or the room's password or join code.
    Player(PlayerId, Credentials),
    /// The administrator's token, or another node.
    Admin,
    /// For what spectators see: another node, or a player whose permission was checked, or has the join code.
    Delayed,
}

impl WatchAccess {
    pub(crate) fn check(&self, room: &Room) -> Result<(), Rejection> {
        match self {
            Self::Player(player, credentials) => room.may_watch(*player, credentials),
            Self::Admin | Self::Delayed => Ok(()),
        }
    }

    /// What this permission asks for. A player's may turn out to be for the other one: see [`WatchAccess::is_delayed`].
    pub(crate) fn audience(&self) -> Audience {
        match self {
            Self::Player(..) | Self::Admin => Audience::Live,
            Self::Delayed => Audience::Delayed,
        }
    }

    /// Whether the player is to see the room as spectators do, not as it is.
    pub(crate) fn is_delayed(&self, room: &Room) -> bool {
        matches!(self, Self::Player(player, _) if room.is_delayed_for(*player))
    }
}

/// The answer to a new watcher.
pub(crate) struct Subscribed {
    /// The room, shared by all who get it in this state.
    pub(crate) snapshot: Snapshot,
    /// The watcher's last event, if it reads the later ones, up to those of `snapshot`, from the journal.
    pub(crate) after: Option<Seq>,
    /// The events after `snapshot`.
    pub(crate) events: broadcast::Receiver<EncodedEvent>,
    /// True if the watcher is to see the room as spectators do: it must not get any of this.
    pub(crate) is_delayed: bool,
    /// The events of the room as it is, which tell a spectator when its permission may change.
    pub(crate) live: Option<broadcast::Receiver<EncodedEvent>>,
}

/// Why a watcher is not subscribed.
#[derive(Debug, Error)]
pub(crate) enum WatchError {
    /// The player may not watch.
    #[error(transparent)]
    Access(Rejection),
    /// The room as known here lacks the watcher's last event, or its mirror refuses the watcher: it may have changed.
    #[error("the room may have changed")]
    Outdated,
    /// The room cannot be reached.
    #[error(transparent)]
    Room(#[from] RoomError),
}

impl From<WatchError> for RoomError {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::Access(rejection) => rejection.into(),
            WatchError::Outdated => Self::Moved,
            WatchError::Room(error) => error,
        }
    }
}
