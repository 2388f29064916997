//! Stored events and facts.

use std::time::Duration;

use reversi_engine::rules::{ByColor, Color, Square};

use super::{
    StoredError, checked,
    codec::{
        Numbered, narrow, read_code, read_player, read_player_or_none, read_room, read_seq, read_squares, squares,
    },
    command::read_reason,
    required,
    v1::{self, fact::Kind},
};
use crate::{
    event::{CloseReason, Creation, Event, Fact, InvitationEnd, LeaveReason, Offer, Request},
    ids::{PlayerId, Seq},
    seat::Occupant,
    state::ChatLine,
    timestamp::Timestamp,
};

impl From<&Event> for v1::Event {
    fn from(event: &Event) -> Self {
        Self { seq: event.seq.0, at: event.at.0, fact: Some((&event.fact).into()) }
    }
}

impl v1::Event {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Event, StoredError> {
        let (seq, fact) = (read_seq(self.seq)?, required(self.fact, "fact")?.read()?);
        let in_place = matches!(fact, Fact::Created(_)) == (seq == Seq(1));
        Ok(Event { seq: checked(seq, in_place, "sequence number")?, at: Timestamp(self.at), fact })
    }
}

impl From<&Fact> for v1::Fact {
    fn from(fact: &Fact) -> Self {
        let (mut micros, mut thought, mut absent_owner) = (0, None, 0);
        let kind = match fact {
            Fact::Played { square, spent, thought: reported } => {
                // The difference of two timestamps: whole microseconds that fit.
                micros = u64::try_from(spent.as_micros()).unwrap_or(u64::MAX);
                thought = reported.as_deref().map(|thought| Box::new(thought.into()));
                Kind::Played(square.index().into())
            }
            Fact::Passed => Kind::Passed(()),
            Fact::GameStarted { number, index, opening, request } => Kind::GameStarted(v1::GameStarted {
                number: *number,
                index: (*index).into(),
                opening: squares(opening),
                request: request.map(Into::into),
            }),
            Fact::GameEnded(end) => Kind::GameEnded((*end).into()),
            Fact::Struck => Kind::Struck(()),
            Fact::OfferMade { offer, by } => Kind::OfferMade(v1::OfferMade { offer: offer.number(), by: by.number() }),
            Fact::OfferClosed { offer, accepted } => {
                Kind::OfferClosed(v1::OfferClosed { offer: offer.number(), accepted: *accepted })
            }
            Fact::SeriesEnded => Kind::SeriesEnded(()),
            Fact::ClockCredited { micros } => Kind::ClockCredited(*micros),
            Fact::PresenceChanged { player, present } => {
                Kind::PresenceChanged(v1::PresenceChanged { player: player.bits(), present: *present })
            }
            Fact::ReadyChanged { seat, ready, request } => Kind::ReadyChanged(v1::ReadyChanged {
                seat: seat.number(),
                ready: *ready,
                request: request.map(Into::into),
            }),
            Fact::MemberJoined(profile) => Kind::MemberJoined(profile.into()),
            Fact::MemberLeft { player, reason } => {
                Kind::MemberLeft(v1::MemberLeft { player: player.bits(), reason: reason.number() })
            }
            Fact::OwnerChanged { owner, stands_in_for } => {
                absent_owner = stands_in_for.map_or(0, PlayerId::bits);
                Kind::OwnerChanged(owner.bits())
            }
            Fact::CoOwnerChanged { player, named } => {
                Kind::CoOwnerChanged(v1::CoOwnerChanged { player: player.bits(), named: *named })
            }
            Fact::SeatChanged { seat, occupant } => {
                Kind::SeatChanged(v1::SeatChanged { seat: seat.number(), occupant: Some(occupant.into()) })
            }
            Fact::InvitationEnded { seat, guest, end } => {
                let (expired, reason) = match end {
                    InvitationEnd::Declined(reason) => (false, reason.as_ref()),
                    InvitationEnd::Expired => (true, None),
                };
                Kind::InvitationEnded(v1::InvitationEnded {
                    seat: seat.number(),
                    guest: Some(guest.into()),
                    expired,
                    reason: reason.map(ToString::to_string).unwrap_or_default(),
                })
            }
            Fact::SeatsSwapped => Kind::SeatsSwapped(()),
            Fact::SettingsChanged(settings) => Kind::SettingsChanged((&**settings).into()),
            Fact::ChatPosted { from, text } => Kind::ChatPosted(v1::ChatLine::new(from, text, Timestamp(0))),
            Fact::ChatRemoved(posted) => Kind::ChatRemoved(posted.0),
            Fact::Closed(reason) => Kind::Closed(reason.number()),
            Fact::Created(creation) => Kind::Created(Box::new((&**creation).into())),
        };
        Self { spent: micros, thought, absent_owner, kind: Some(kind) }
    }
}

impl v1::Fact {
    pub(super) fn read(self) -> Result<Fact, StoredError> {
        Ok(match required(self.kind, "fact")? {
            Kind::Played(index) => Fact::Played {
                square: required(Square::new(narrow(index, "square")?), "square")?,
                spent: Duration::from_micros(self.spent),
                thought: self.thought.map(|thought| thought.read().map(Box::new)).transpose()?,
            },
            Kind::Passed(()) => Fact::Passed,
            Kind::GameStarted(start) => Fact::GameStarted {
                number: start.number,
                index: narrow(start.index, "series")?,
                opening: read_squares(&start.opening)?,
                request: start.request.map(v1::Request::read),
            },
            Kind::GameEnded(end) => Fact::GameEnded(end.read()?),
            Kind::Struck(()) => Fact::Struck,
            Kind::OfferMade(made) => Fact::OfferMade { offer: Offer::read(made.offer)?, by: Color::read(made.by)? },
            Kind::OfferClosed(closed) => {
                Fact::OfferClosed { offer: Offer::read(closed.offer)?, accepted: closed.accepted }
            }
            Kind::SeriesEnded(()) => Fact::SeriesEnded,
            Kind::ClockCredited(micros) => Fact::ClockCredited { micros },
            Kind::PresenceChanged(change) => {
                Fact::PresenceChanged { player: read_player(change.player)?, present: change.present }
            }
            Kind::ReadyChanged(change) => Fact::ReadyChanged {
                seat: Color::read(change.seat)?,
                ready: change.ready,
                request: change.request.map(v1::Request::read),
            },
            Kind::MemberJoined(profile) => Fact::MemberJoined(profile.read()?),
            Kind::MemberLeft(leave) => {
                Fact::MemberLeft { player: read_player(leave.player)?, reason: LeaveReason::read(leave.reason)? }
            }
            Kind::OwnerChanged(player) => Fact::OwnerChanged {
                owner: read_player(player)?,
                stands_in_for: read_player_or_none(self.absent_owner)?,
            },
            Kind::CoOwnerChanged(change) => {
                Fact::CoOwnerChanged { player: read_player(change.player)?, named: change.named }
            }
            Kind::SeatChanged(change) => Fact::SeatChanged {
                seat: Color::read(change.seat)?,
                occupant: required(change.occupant, "occupant")?.read()?,
            },
            Kind::InvitationEnded(ended) => Fact::InvitationEnded {
                seat: Color::read(ended.seat)?,
                guest: required(ended.guest, "guest")?.read()?,
                end: match ended.expired {
                    true => InvitationEnd::Expired,
                    false => InvitationEnd::Declined(read_reason(&ended.reason)?),
                },
            },
            Kind::SeatsSwapped(()) => Fact::SeatsSwapped,
            Kind::SettingsChanged(settings) => Fact::SettingsChanged(Box::new(settings.read()?)),
            Kind::ChatPosted(line) => {
                let ChatLine { from, text, .. } = line.read()?;
                Fact::ChatPosted { from, text }
            }
            Kind::ChatRemoved(posted) => Fact::ChatRemoved(Timestamp(posted)),
            Kind::Closed(reason) => Fact::Closed(CloseReason::read(reason)?),
            Kind::Created(creation) => Fact::Created(Box::new(creation.read()?)),
        })
    }
}

impl From<Request> for v1::Request {
    fn from(Request { key, digest }: Request) -> Self {
        Self { key, digest }
    }
}

impl v1::Request {
    pub(super) fn read(self) -> Request {
        Request { key: self.key, digest: self.digest }
    }
}

impl From<&Creation> for v1::Creation {
    fn from(creation: &Creation) -> Self {
        Self {
            id: creation.id.bits(),
            code: creation.code.bits(),
            owner: Some((&creation.owner).into()),
            settings: Some((&creation.settings).into()),
            policy: Some(creation.policy.into()),
            black: Some((&creation.seats.black).into()),
            white: Some((&creation.seats.white).into()),
            request: creation.request.map(Into::into),
            meeting: creation.meeting.map(Into::into),
        }
    }
}

impl v1::Creation {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Creation, StoredError> {
        let owner = required(self.owner, "owner")?.read()?;
        let seats = ByColor::new(required(self.black, "occupant")?.read()?, required(self.white, "occupant")?.read()?);
        let may_sit = |occupant: &Occupant| occupant.player().is_none_or(|player| player == owner.id);
        let may_sit = |occupant: &Occupant| self.meeting.is_some() || may_sit(occupant);
        let at_most_once = seats.black.player().is_none_or(|black| seats.white.player() != Some(black));
        let seated = may_sit(&seats.black) && may_sit(&seats.white) && at_most_once;
        Ok(Creation {
            id: read_room(self.id)?,
            code: read_code(self.code)?,
            settings: required(self.settings, "settings")?.read()?,
            policy: required(self.policy, "policy")?.read()?,
            seats: checked(seats, seated, "seats")?,
            owner,
            request: self.request.map(v1::Request::read),
            meeting: self.meeting.map(v1::MeetingRef::read).transpose()?,
        })
    }
}
