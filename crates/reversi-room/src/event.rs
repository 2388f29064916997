//! The events of a room: its complete history, in order.

use std::time::Duration;

use reversi_engine::rules::{ByColor, Color, Square};

use super::{
    game::GameEnd,
    ids::{JoinCode, MeetingRef, PlayerId, RoomId, Seq},
    seat::{Occupant, Profile},
    settings::{Policy, Settings},
    text::{ChatText, DeclineReason},
    thought::Thought,
    timestamp::Timestamp,
};

/// A fact with its place in the room's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Sequence number: from 1, without gaps.
    pub seq: Seq,
    /// Time by the server's clock.
    pub at: Timestamp,
    /// The change.
    pub fact: Fact,
}

/// Why a member left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveReason {
    /// Left on request.
    Left,
    /// Removed by the owner or an administrator.
    Kicked,
    /// Removed, and may not return.
    Banned,
    /// Absent for longer than the grace period.
    Absent,
}

/// Why a room closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The last member left.
    Empty,
    /// Closed by its owner or an administrator.
    Closed,
    /// No activity for too long.
    Idle,
    /// A server error.
    Server,
}

/// How an invitation ended without the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvitationEnd {
    /// The guest declined, with a reason or without.
    Declined(Option<DeclineReason>),
    /// The guest did not answer in time.
    Expired,
}

/// An offer of one player to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// End the running game as a draw.
    Draw,
    /// Play again.
    Rematch,
    /// Go on from before the last move of the side that offers it, in a new game of the room.
    TakeBack,
}

/// A client's request with an id. The event that it caused carries it, so that the store can tell a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// A hash of the player and the id.
    pub key: u64,
    /// A hash of these, the method and the body: another one if the id is used for something else.
    pub digest: u64,
}

/// The initial state of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The room's id.
    pub id: RoomId,
    /// The join code.
    pub code: JoinCode,
    /// The creator: owner and first member. Of a meeting it is the organiser, who is neither.
    pub owner: Profile,
    /// Settings that have passed [`Settings::check`].
    pub settings: Settings,
    /// The server's limits for the room.
    pub policy: Policy,
    /// The first occupants. A player among them is the owner, on one seat at most; those of a meeting are its players,
    /// who become members and are ready.
    pub seats: ByColor<Occupant>,
    /// The meeting of a tournament that is played in the room, and nothing else.
    pub meeting: Option<MeetingRef>,
    /// The request that created it, if that had an id.
    pub request: Option<Request>,
}

/// One change of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The room was created: the first fact, and only the first.
    Created(Box<Creation>),
    /// A player became a member.
    MemberJoined(Profile),
    /// A member left, or a player who was not a member was banned.
    MemberLeft {
        /// The player.
        player: PlayerId,
        /// The reason.
        reason: LeaveReason,
    },
    /// A member's connection was lost or restored.
    PresenceChanged {
        /// The member.
        player: PlayerId,
        /// Whether the member is connected.
        present: bool,
    },
    /// Another member became the owner.
    OwnerChanged {
        /// The new owner.
        owner: PlayerId,
        /// The owner who has gone, in whose place the new one stands in until that one is back.
        stands_in_for: Option<PlayerId>,
    },
    /// A player became a co-owner, or is one no more.
    CoOwnerChanged {
        /// The player.
        player: PlayerId,
        /// Whether the player is one.
        named: bool,
    },
    /// A seat has a new occupant. Clears the scores of both.
    SeatChanged {
        /// The seat.
        seat: Color,
        /// The new occupant.
        occupant: Occupant,
    },
    /// A seat that was kept for a player is open. Clears the scores of both.
    InvitationEnded {
        /// The seat.
        seat: Color,
        /// The player for whom it was kept.
        guest: Profile,
        /// How it ended.
        end: InvitationEnd,
    },
    /// The occupants changed sides, with their scores.
    SeatsSwapped,
    /// A player's readiness changed.
    ReadyChanged {
        /// The player's seat.
        seat: Color,
        /// Whether the player is ready.
        ready: bool,
        /// The request of a quick start with an id that found its own player waiting here.
        request: Option<Request>,
    },
    /// The settings changed.
    SettingsChanged(Box<Settings>),
    /// A game started.
    GameStarted {
        /// Number of the game in the room, from 1.
        number: u32,
        /// Index of the game in its series, from 0.
        index: u16,
        /// The opening: moves made for both sides before the clocks run.
        opening: Vec<Square>,
        /// The request that started it, if that had an id.
        request: Option<Request>,
    },
    /// The side to move placed a disc.
    Played {
        /// The square.
        square: Square,
        /// Time taken.
        spent: Duration,
        /// The search report, if an AI moved.
        thought: Option<Box<Thought>>,
    },
    /// The side to move had no legal move.
    Passed,
    /// A bot sent an illegal move.
    Struck,
    /// An offer was made.
    OfferMade {
        /// The offer.
        offer: Offer,
        /// The side that made it.
        by: Color,
    },
    /// The open offer was answered or withdrawn.
    OfferClosed {
        /// The offer.
        offer: Offer,
        /// Whether it was accepted.
        accepted: bool,
    },
    /// The rest of the series is cancelled: it was ended or aborted, or its test has a verdict. A running game is its
    /// last.
    SeriesEnded,
    /// The game is over. Once for each game.
    GameEnded(GameEnd),
    /// Compensation for downtime: shifts the start of the turn, of absences and of the wait for the next game.
    ClockCredited {
        /// The shift in microseconds; negative after the system clock was set back.
        micros: i64,
    },
    /// A line of chat was posted.
    ChatPosted {
        /// The author.
        from: Profile,
        /// The text.
        text: ChatText,
    },
    /// The lines of chat that were posted at this time were removed.
    ChatRemoved(Timestamp),
    /// The room closed. Always the last fact.
    Closed(CloseReason),
}

impl Fact {
    /// The request with an id that it carries.
    #[must_use]
    pub fn request(&self) -> Option<Request> {
        match self {
            Self::Created(creation) => creation.request,
            Self::ReadyChanged { request, .. } | Self::GameStarted { request, .. } => *request,
            Self::MemberJoined(_)
            | Self::MemberLeft { .. }
            | Self::PresenceChanged { .. }
            | Self::OwnerChanged { .. }
            | Self::CoOwnerChanged { .. }
            | Self::SeatChanged { .. }
            | Self::InvitationEnded { .. }
            | Self::SeatsSwapped
            | Self::SettingsChanged(_)
            | Self::Played { .. }
            | Self::Passed
            | Self::Struck
            | Self::OfferMade { .. }
            | Self::OfferClosed { .. }
            | Self::SeriesEnded
            | Self::GameEnded(_)
            | Self::ClockCredited { .. }
            | Self::ChatPosted { .. }
            | Self::ChatRemoved(_)
            | Self::Closed(_) => None,
        }
    }

    /// True if it can change the members, or who of them has a seat.
    #[must_use]
    pub fn changes_members(&self) -> bool {
        match self {
            Self::Created(_) | Self::MemberJoined(_) | Self::MemberLeft { .. } | Self::SeatChanged { .. } => true,
            Self::PresenceChanged { .. }
            | Self::OwnerChanged { .. }
            | Self::CoOwnerChanged { .. }
            | Self::InvitationEnded { .. }
            | Self::SeatsSwapped
            | Self::ReadyChanged { .. }
            | Self::SettingsChanged(_)
            | Self::GameStarted { .. }
            | Self::Played { .. }
            | Self::Passed
            | Self::Struck
            | Self::OfferMade { .. }
            | Self::OfferClosed { .. }
            | Self::SeriesEnded
            | Self::GameEnded(_)
            | Self::ClockCredited { .. }
            | Self::ChatPosted { .. }
            | Self::ChatRemoved(_)
            | Self::Closed(_) => false,
        }
    }
}
