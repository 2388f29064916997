//! Stored facts.

use std::time::Duration;

use reversi_engine::rules::{ByColor, Color, Square};

use super::{
    StoredError, checked,
    codec::{Numbered, StoredPair, narrow, read_code, read_player, read_room, read_squares, squares},
    game::{StoredThought, read_end, stored_end},
    required,
    room::StoredChatLine,
    seat::{StoredOccupant, StoredProfile},
    settings::{StoredPolicy, StoredSettings},
};
use crate::{
    event::{CloseReason, Creation, Fact, LeaveReason, Offer},
    seat::Occupant,
    state::ChatLine,
    timestamp::Timestamp,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredFact {
    /// Time taken by a move, in microseconds. Next to its square, because a message around both would be longer.
    #[prost(uint64, tag = "1")]
    spent: u64,
    /// The search report of a move, next to it for the same reason.
    #[prost(message, optional, boxed, tag = "22")]
    thought: Option<Box<StoredThought>>,
    #[prost(oneof = "Kind", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23")]
    kind: Option<Kind>,
}

/// Frequent facts have tags up to 15, which take one byte.
#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(uint32, tag = "2")]
    Played(u32),
    #[prost(message, tag = "3")]
    Passed(()),
    #[prost(message, tag = "4")]
    GameStarted(StoredStart),
    #[prost(message, tag = "5")]
    GameEnded(StoredPair),
    #[prost(message, tag = "6")]
    Struck(()),
    #[prost(message, tag = "7")]
    OfferMade(StoredPair),
    #[prost(message, tag = "8")]
    OfferClosed(StoredPair),
    #[prost(message, tag = "9")]
    SeriesEnded(()),
    #[prost(sint64, tag = "10")]
    ClockCredited(i64),
    #[prost(message, tag = "11")]
    PresenceChanged(StoredPair),
    #[prost(message, tag = "12")]
    ReadyChanged(StoredPair),
    #[prost(message, tag = "13")]
    MemberJoined(StoredProfile),
    #[prost(message, tag = "14")]
    MemberLeft(StoredPair),
    #[prost(uint64, tag = "15")]
    OwnerChanged(u64),
    #[prost(message, tag = "16")]
    SeatChanged(StoredSeatChange),
    #[prost(message, tag = "17")]
    SeatsSwapped(()),
    #[prost(message, tag = "18")]
    SettingsChanged(StoredSettings),
    #[prost(message, tag = "19")]
    ChatPosted(StoredChatLine),
    #[prost(uint32, tag = "20")]
    Closed(u32),
    #[prost(message, tag = "21")]
    Created(Box<StoredCreation>),
    #[prost(sint64, tag = "23")]
    ChatRemoved(i64),
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredStart {
    #[prost(uint32, tag = "1")]
    number: u32,
    #[prost(uint32, tag = "2")]
    index: u32,
    #[prost(bytes = "vec", tag = "3")]
    opening: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredSeatChange {
    #[prost(uint32, tag = "1")]
    seat: u32,
    #[prost(message, optional, tag = "2")]
    occupant: Option<StoredOccupant>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredCreation {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    code: u64,
    #[prost(message, optional, tag = "3")]
    owner: Option<StoredProfile>,
    #[prost(message, optional, tag = "4")]
    settings: Option<StoredSettings>,
    #[prost(message, optional, tag = "5")]
    policy: Option<StoredPolicy>,
    #[prost(message, optional, tag = "6")]
    black: Option<StoredOccupant>,
    #[prost(message, optional, tag = "7")]
    white: Option<StoredOccupant>,
}

impl From<&Fact> for StoredFact {
    fn from(fact: &Fact) -> Self {
        let (mut micros, mut thought) = (0, None);
        let kind = match fact {
            Fact::Played { square, spent, thought: reported } => {
                // The difference of two timestamps: whole microseconds that fit.
                micros = u64::try_from(spent.as_micros()).unwrap_or(u64::MAX);
                thought = reported.as_deref().map(|thought| Box::new(thought.into()));
                Kind::Played(square.index().into())
            }
            Fact::Passed => Kind::Passed(()),
            Fact::GameStarted { number, index, opening } => {
                Kind::GameStarted(StoredStart { number: *number, index: (*index).into(), opening: squares(opening) })
            }
            Fact::GameEnded(end) => Kind::GameEnded(stored_end(*end)),
            Fact::Struck => Kind::Struck(()),
            Fact::OfferMade { offer, by } => Kind::OfferMade(StoredPair::new(offer.number(), by.number())),
            Fact::OfferClosed { offer, accepted } => Kind::OfferClosed(StoredPair::new(offer.number(), *accepted)),
            Fact::SeriesEnded => Kind::SeriesEnded(()),
            Fact::ClockCredited { micros } => Kind::ClockCredited(*micros),
            Fact::PresenceChanged { player, present } => {
                Kind::PresenceChanged(StoredPair::new(player.bits(), *present))
            }
            Fact::ReadyChanged { seat, ready } => Kind::ReadyChanged(StoredPair::new(seat.number(), *ready)),
            Fact::MemberJoined(profile) => Kind::MemberJoined(profile.into()),
            Fact::MemberLeft { player, reason } => Kind::MemberLeft(StoredPair::new(player.bits(), reason.number())),
            Fact::OwnerChanged(player) => Kind::OwnerChanged(player.bits()),
            Fact::SeatChanged { seat, occupant } => {
                Kind::SeatChanged(StoredSeatChange { seat: seat.number(), occupant: Some(occupant.into()) })
            }
            Fact::SeatsSwapped => Kind::SeatsSwapped(()),
            Fact::SettingsChanged(settings) => Kind::SettingsChanged((&**settings).into()),
            Fact::ChatPosted { from, text } => Kind::ChatPosted(StoredChatLine::new(from, text, Timestamp(0))),
            Fact::ChatRemoved(posted) => Kind::ChatRemoved(posted.0),
            Fact::Closed(reason) => Kind::Closed(reason.number()),
            Fact::Created(creation) => Kind::Created(Box::new((&**creation).into())),
        };
        Self { spent: micros, thought, kind: Some(kind) }
    }
}

impl StoredFact {
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
            },
            Kind::GameEnded(end) => Fact::GameEnded(read_end(end)?),
            Kind::Struck(()) => Fact::Struck,
            Kind::OfferMade(made) => Fact::OfferMade { offer: Offer::read(made.first)?, by: Color::read(made.second)? },
            Kind::OfferClosed(closed) => {
                Fact::OfferClosed { offer: Offer::read(closed.first)?, accepted: closed.second != 0 }
            }
            Kind::SeriesEnded(()) => Fact::SeriesEnded,
            Kind::ClockCredited(micros) => Fact::ClockCredited { micros },
            Kind::PresenceChanged(change) => {
                Fact::PresenceChanged { player: read_player(change.first)?, present: change.second != 0 }
            }
            Kind::ReadyChanged(change) => {
                Fact::ReadyChanged { seat: Color::read(change.first)?, ready: change.second != 0 }
            }
            Kind::MemberJoined(profile) => Fact::MemberJoined(profile.read()?),
            Kind::MemberLeft(leave) => {
                Fact::MemberLeft { player: read_player(leave.first)?, reason: LeaveReason::read(leave.second)? }
            }
            Kind::OwnerChanged(player) => Fact::OwnerChanged(read_player(player)?),
            Kind::SeatChanged(change) => Fact::SeatChanged {
                seat: Color::read(change.seat)?,
                occupant: required(change.occupant, "occupant")?.read()?,
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

impl From<&Creation> for StoredCreation {
    fn from(creation: &Creation) -> Self {
        Self {
            id: creation.id.bits(),
            code: creation.code.bits(),
            owner: Some((&creation.owner).into()),
            settings: Some((&creation.settings).into()),
            policy: Some(creation.policy.into()),
            black: Some((&creation.seats.black).into()),
            white: Some((&creation.seats.white).into()),
        }
    }
}

impl StoredCreation {
    fn read(self) -> Result<Creation, StoredError> {
        let owner = required(self.owner, "owner")?.read()?;
        let seats = ByColor::new(required(self.black, "occupant")?.read()?, required(self.white, "occupant")?.read()?);
        let may_sit = |occupant: &Occupant| occupant.player().is_none_or(|player| player == owner.id);
        let at_most_once = seats.black.player().is_none() || seats.white.player().is_none();
        let seated = may_sit(&seats.black) && may_sit(&seats.white) && at_most_once;
        Ok(Creation {
            id: read_room(self.id)?,
            code: read_code(self.code)?,
            settings: required(self.settings, "settings")?.read()?,
            policy: required(self.policy, "policy")?.read()?,
            seats: checked(seats, seated, "seats")?,
            owner,
        })
    }
}
