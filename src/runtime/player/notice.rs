//! Notices from rooms to one player: turns, games, kicks, invitations.

use crate::{
    room::{
        DeclineReason, GameEnd, GameId, JoinCode, MeetingRef, Offer, Participant, Profile, RatingChange, RoomId, Seat,
        Series, Settings, Timestamp, TournamentId, TurnRequest,
    },
    rules::{ByColor, Color, Position, Square},
    tournament::{Ending, PutAside},
};

/// Why a turn closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The move was made.
    Played(Square),
    /// The player's time ran out.
    TimedOut,
    /// The game ended for another reason.
    GameEnded,
}

/// The state of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferStatus {
    /// It can be answered.
    Open,
    /// It was accepted.
    Accepted,
    /// It was declined or withdrawn, or is no longer possible.
    Closed,
}

/// Why a seat is no longer kept for a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvitationOutcome {
    /// The player has taken it.
    Accepted,
    /// The player declined, with a reason or without.
    Declined(Option<DeclineReason>),
    /// The player did not answer in time.
    Expired,
    /// The seat was given to another, or the room has closed.
    Withdrawn,
}

/// A message to one player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is the player's turn.
    TurnRequested(Box<TurnRequest>),
    /// A turn of the player closed.
    TurnClosed {
        /// The game.
        game: GameId,
        /// The ply, from 0.
        ply: u16,
        /// Why it closed.
        end: TurnEnd,
    },
    /// A game of the player started.
    GameStarted {
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The opponent's seat.
        opponent: Seat,
        /// True if the opponent is connected.
        present: bool,
        /// The place of the game in its series.
        series: Option<Series>,
        /// The meeting of a tournament of which it is a part.
        meeting: Option<MeetingRef>,
    },
    /// A game of the player ended.
    GameEnded {
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The result.
        end: GameEnd,
        /// The last position.
        position: Position,
        /// The series, if another game follows.
        series: Option<Series>,
    },
    /// What a rated game of the player did to the ratings.
    RatingChanged {
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The rounded ratings before the game.
        before: ByColor<Option<u16>>,
        /// The changes.
        changes: ByColor<RatingChange>,
    },
    /// An offer of either side in a room of the player changed.
    Offer {
        /// The running game, or the last one.
        game: GameId,
        /// The offer.
        offer: Offer,
        /// Its state.
        status: OfferStatus,
        /// True if the player made it.
        own: bool,
    },
    /// The rest of the player's series is cancelled.
    SeriesEnded(RoomId),
    /// The player was removed from a room.
    Kicked {
        /// The room.
        room: RoomId,
        /// True if the player may not return.
        banned: bool,
    },
    /// A room of the player closed.
    RoomClosed(RoomId),
    /// A seat is reserved for the player.
    Invited {
        /// The room.
        room: RoomId,
        /// The seat.
        seat: Color,
        /// The join code of the room.
        code: JoinCode,
        /// The player who invites.
        by: Option<Profile>,
        /// The rating of that player.
        by_rating: Option<u16>,
        /// When the seat opens, if it is an invitation with an end.
        until: Option<Timestamp>,
        /// The settings of the room.
        settings: Box<Settings>,
    },
    /// A seat is no longer kept for the player, or for another whom the player invited.
    InvitationEnded {
        /// The room.
        room: RoomId,
        /// The seat.
        seat: Color,
        /// The player for whom it was kept.
        guest: Profile,
        /// How it ended.
        outcome: InvitationOutcome,
    },
    /// News of a tournament of which the player is an entrant.
    Tournament {
        /// The tournament.
        tournament: TournamentId,
        /// What is new.
        news: TournamentNews,
    },
}

/// News of a tournament for one of its entrants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TournamentNews {
    /// The entrant has a meeting, or a bye.
    Paired {
        /// Whether it is a meeting of the play-off.
        playoff: bool,
        /// The round, from 1; in a play-off from 1 again.
        round: u32,
        /// The number of the meeting.
        meeting: u32,
        /// Its room, which exists once both sides have been there.
        room: RoomId,
        /// The other side; none for a bye.
        opponent: Option<Participant>,
    },
    /// A meeting of the entrant was not played.
    Forfeited {
        /// The number of the meeting.
        meeting: u32,
        /// True if the entrant has lost it.
        lost: bool,
    },
    /// The entrant is not paired for some time.
    PutAside {
        /// Until when, and the last fault.
        put_aside: PutAside,
        /// The numbers of the meetings with faults.
        meetings: Vec<u32>,
    },
    /// The organiser has set the outcome of a meeting of the entrant.
    Decided {
        /// The number of the meeting.
        meeting: u32,
        /// Whether the entrant has all points of it, or none. None if it is void.
        won: Option<bool>,
        /// The reason that the organiser gave.
        why: String,
    },
    /// The entrant is no longer paired.
    Left {
        /// Whether the organiser has excluded it.
        excluded: bool,
    },
    /// The tournament is over.
    Ended {
        /// How.
        ending: Ending,
        /// The rank of the entrant, from 1.
        rank: u32,
        /// Of how many.
        entrants: u32,
    },
}

impl Notice {
    /// True if it is kept for a player without a stream. Rooms request open turns again themselves.
    pub(crate) fn is_kept(&self) -> bool {
        !matches!(self, Self::TurnRequested(_) | Self::TurnClosed { .. })
    }

    /// True if other players decide how often it is sent, or it stands in the record of a game. Such notices are dropped
    /// before others.
    pub(crate) fn is_droppable(&self) -> bool {
        matches!(
            self,
            Self::Invited { .. }
                | Self::InvitationEnded { .. }
                | Self::Offer { .. }
                | Self::RatingChanged { .. }
                | Self::Tournament { .. }
        )
    }

    /// True if it makes an earlier notice out of date.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Invited { room, .. } | Self::InvitationEnded { room, .. }, Self::Invited { room: earlier, .. }) => {
                room == earlier
            }
            (Self::Offer { game, offer, .. }, Self::Offer { game: earlier, offer: same, .. }) => {
                game.room == earlier.room && offer == same
            }
            _ => false,
        }
    }
}
