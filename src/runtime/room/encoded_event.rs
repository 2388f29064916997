//! An event as it is sent to the watchers of a room: encoded once and shared.

use bytes::Bytes;

use crate::room::{Event, Fact, LeaveReason, PlayerId, Room, Seq, Visibility};

/// Encodes an event, given the room after it, as the bytes that watchers are sent: for the services of `grpc` a frame, as
/// by `grpc::encode`.
pub type Encode = fn(&Event, &Room) -> Bytes;

/// An event as it is broadcast to all watchers of a room.
#[derive(Clone, Debug)]
pub(crate) struct EncodedEvent {
    pub(crate) seq: Seq,
    bytes: Bytes,
    /// What one viewer is sent instead: an AI's opponent does not see its evaluation.
    redacted: Option<(PlayerId, Bytes)>,
    pub(crate) effect: Effect,
}

impl EncodedEvent {
    /// Encodes an event, given the room after it.
    pub(crate) fn new(encode: Encode, event: &Event, room: &Room) -> Self {
        let redacted = without_thought(event).and_then(|redacted| {
            let opponent = room.seats().iter().find_map(|(_, seat)| seat.occupant.player())?;
            Some((opponent, encode(&redacted, room)))
        });
        Self { seq: event.seq, bytes: encode(event, room), redacted, effect: Effect::of(event, room) }
    }

    /// The bytes for one viewer.
    pub(crate) fn bytes_for(self, viewer: PlayerId) -> Bytes {
        match self.redacted {
            Some((player, redacted)) if player == viewer => redacted,
            _ => self.bytes,
        }
    }
}

/// An AI's move as its opponent may see it; none for events that all viewers see alike.
fn without_thought(event: &Event) -> Option<Event> {
    match event.fact {
        Fact::Played { square, spent, thought: Some(_) } => {
            Some(Event { fact: Fact::Played { square, spent, thought: None }, ..*event })
        }
        _ => None,
    }
}

/// What an event changes for watchers beyond its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// Perhaps who may watch.
    Access,
    /// This player may not watch any longer.
    Removed(PlayerId),
    /// This player is no member any more, and may watch only what strangers may.
    Left(PlayerId),
    /// It is the last event.
    Closed,
}

impl Effect {
    /// The effect of an event, given the room after it.
    pub(crate) fn of(event: &Event, room: &Room) -> Self {
        let by_invitation = room.settings().visibility == Visibility::Private || room.settings().password.is_some();
        match &event.fact {
            Fact::SettingsChanged(_) => Self::Access,
            // A reservation may have been what let a guest in.
            Fact::SeatChanged { .. } if by_invitation => Self::Access,
            Fact::MemberLeft { player, reason: LeaveReason::Kicked | LeaveReason::Banned } => Self::Removed(*player),
            Fact::MemberLeft { player, .. } => Self::Left(*player),
            Fact::Closed(_) => Self::Closed,
            _ => Self::None,
        }
    }
}
