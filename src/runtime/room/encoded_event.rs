//! An event as sent to the watchers of a room: encoded once and shared.

use std::sync::Arc;

use bytes::Bytes;

use crate::room::{Event, Fact, LeaveReason, PlayerId, Room, Seq, Settings, Visibility};

/// Encodes an event, given the room after it, as the bytes for watchers; see `grpc::encode`.
pub type Encode = fn(&Event, &Room) -> Bytes;

#[derive(Clone, Debug)]
pub(crate) struct EncodedEvent {
    pub(crate) seq: Seq,
    bytes: Bytes,
    /// The bytes for the AI's opponent, without the search report. In rated games, `bytes` has no report either.
    redacted: Option<(PlayerId, Bytes)>,
    pub(crate) effect: Effect,
    /// The event itself, for the nodes that follow the room.
    pub(crate) event: Option<Arc<Event>>,
}

impl EncodedEvent {
    pub(crate) fn new(encode: Encode, event: &Event, room: &Room) -> Self {
        let effect = Effect::of(event, room);
        let hidden = without_thought(event);
        if room.settings().rated {
            let bytes = encode(hidden.as_ref().unwrap_or(event), room);
            return Self { seq: event.seq, bytes, redacted: None, effect, event: None };
        }
        let redacted = hidden.and_then(|redacted| {
            let opponent = room.seats().iter().find_map(|(_, seat)| seat.occupant.player())?;
            Some((opponent, encode(&redacted, room)))
        });
        Self { seq: event.seq, bytes: encode(event, room), redacted, effect, event: None }
    }

    /// Tells watchers that events which they have are lost. It has no bytes.
    pub(crate) fn rolled_back() -> Self {
        Self { seq: Seq(0), bytes: Bytes::new(), redacted: None, effect: Effect::RolledBack, event: None }
    }

    /// With the event itself.
    pub(crate) fn for_nodes(self, event: &Event) -> Self {
        Self { event: Some(Arc::new(event.clone())), ..self }
    }

    pub(crate) fn bytes_for(self, viewer: PlayerId) -> Bytes {
        match self.redacted {
            Some((player, redacted)) if player == viewer => redacted,
            _ => self.bytes,
        }
    }
}

/// An AI's move as its opponent may see it; none for events that are the same for all viewers.
fn without_thought(event: &Event) -> Option<Event> {
    match event.fact {
        Fact::Played { square, spent, thought: Some(_) } => {
            Some(Event { fact: Fact::Played { square, spent, thought: None }, ..*event })
        }
        _ => None,
    }
}

/// What an event changes for watchers besides its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// May change who may watch.
    Access,
    /// This player may no longer watch.
    Removed(PlayerId),
    /// This player is no longer a member, and may watch only what strangers may.
    Left(PlayerId),
    /// The room has closed. This is its last event.
    Closed,
    /// It is no event: the room has gone back to an earlier state.
    RolledBack,
}

impl Effect {
    /// `room` is the room after the event.
    pub(crate) fn of(event: &Event, room: &Room) -> Self {
        let Settings { visibility, password, spectator_delay, .. } = room.settings();
        let by_invitation = *visibility == Visibility::Private || password.is_some();
        let by_seat = by_invitation || !spectator_delay.is_zero();
        match &event.fact {
            Fact::SettingsChanged(_) => Self::Access,
            // A reservation may have given a guest access, and a seat shows the room without a delay.
            Fact::SeatChanged { .. } | Fact::InvitationEnded { .. } if by_seat => Self::Access,
            Fact::MemberLeft { player, reason: LeaveReason::Kicked | LeaveReason::Banned } => Self::Removed(*player),
            Fact::MemberLeft { player, .. } => Self::Left(*player),
            Fact::Closed(_) => Self::Closed,
            Fact::Created(_)
            | Fact::MemberJoined(_)
            | Fact::PresenceChanged { .. }
            | Fact::OwnerChanged { .. }
            | Fact::CoOwnerChanged { .. }
            | Fact::SeatChanged { .. }
            | Fact::InvitationEnded { .. }
            | Fact::SeatsSwapped
            | Fact::ReadyChanged { .. }
            | Fact::GameStarted { .. }
            | Fact::Played { .. }
            | Fact::Passed
            | Fact::Struck
            | Fact::OfferMade { .. }
            | Fact::OfferClosed { .. }
            | Fact::SeriesEnded
            | Fact::GameEnded(_)
            | Fact::ClockCredited { .. }
            | Fact::ChatPosted { .. }
            | Fact::ChatRemoved(_) => Self::None,
        }
    }
}
