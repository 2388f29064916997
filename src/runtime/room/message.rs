//! What is said to actors, and what they say.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{broadcast, oneshot};

use crate::{
    room::{Command, Event, Fact, GameId, Issuer, LeaveReason, PlayerId, Room, Seq, Visibility},
    runtime::{error::RoomError, server_state::Encode},
};

/// What an actor is asked. Callers use a `RoomHandle`.
pub(crate) enum Message {
    Command(Issuer, Command, oneshot::Sender<Result<Accepted, RoomError>>),
    Snapshot(oneshot::Sender<Snapshot>),
    Subscribe(Option<Seq>, oneshot::Sender<Subscribed>),
    /// A watcher's stream has ended.
    Unwatched,
    /// Tell the player again if it is their turn, and then say so.
    Remind(PlayerId, oneshot::Sender<()>),
    /// Look whether the player is connected.
    CheckPresence(PlayerId),
}

/// What is left to be done of a message once it was heard.
pub(crate) enum Heard {
    Command {
        judged: Result<Vec<Event>, RoomError>,
        /// The game and the ply that a bot has tried an illegal move for.
        strike: Option<(u32, u16)>,
        reply: oneshot::Sender<Result<Accepted, RoomError>>,
    },
    Subscribe(Option<Seq>, oneshot::Sender<Subscribed>),
    CheckPresence(PlayerId),
    Done,
}

/// What a command came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The last event of the room.
    pub seq: Seq,
    /// Whether the command caused anything.
    pub changed: bool,
    /// The room's running or last game.
    pub game: Option<GameId>,
}

/// An event as it is told to all who watch a room.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    /// Its number.
    pub(crate) seq: Seq,
    /// As they are sent it: made once for all.
    pub(crate) wire: Bytes,
    /// What one of them is sent instead: without what the AI thinks against whom they play.
    pub(crate) veiled: Option<(PlayerId, Bytes)>,
    pub(crate) effect: Effect,
}

impl Published {
    /// An event with the room just after it.
    pub(crate) fn of(encode: Encode, event: &Event, room: &Room) -> Self {
        let veiled = without_thought(event).and_then(|veiled| {
            let opponent = room.seats().iter().find_map(|(_, seat)| seat.occupant.player())?;
            Some((opponent, encode(&veiled, room)))
        });
        Self { seq: event.seq, wire: encode(event, room), veiled, effect: Effect::of(event, room) }
    }

    /// What a viewer is sent.
    pub(crate) fn wire_for(self, viewer: PlayerId) -> Bytes {
        match self.veiled {
            Some((player, veiled)) if player == viewer => veiled,
            _ => self.wire,
        }
    }
}

/// An AI's move as its opponent sees it; none for what everybody sees alike.
fn without_thought(event: &Event) -> Option<Event> {
    match event.fact {
        Fact::Played { square, spent, thought: Some(_) } => {
            Some(Event { fact: Fact::Played { square, spent, thought: None }, ..*event })
        }
        _ => None,
    }
}

/// What an event means for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing beyond itself.
    None,
    /// Who may watch could have changed.
    Access,
    /// That player must go.
    Removed(PlayerId),
    /// That player is no member any more, and may watch only what strangers may.
    Left(PlayerId),
    /// It was the last.
    Closed,
}

impl Effect {
    /// What an event means, with the room as it is behind it.
    pub(crate) fn of(event: &Event, room: &Room) -> Self {
        let by_invitation = room.settings().visibility == Visibility::Private || room.settings().password.is_some();
        match &event.fact {
            Fact::SettingsChanged(_) => Self::Access,
            // A seat that was kept for a guest was the guest's way in.
            Fact::SeatChanged { .. } if by_invitation => Self::Access,
            Fact::MemberLeft { player, reason: LeaveReason::Kicked | LeaveReason::Banned } => Self::Removed(*player),
            Fact::MemberLeft { player, .. } => Self::Left(*player),
            Fact::Closed(_) => Self::Closed,
            _ => Self::None,
        }
    }
}

/// A room at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its state.
    pub room: Arc<Room>,
    /// Streams that watch it.
    pub watchers: u32,
}

/// What a new watcher begins with.
pub(crate) struct Subscribed {
    /// Absent when the missed events are given.
    pub(crate) snapshot: Option<Snapshot>,
    /// What the watcher missed.
    pub(crate) missed: Vec<Published>,
    /// What comes after.
    pub(crate) events: broadcast::Receiver<Published>,
}
