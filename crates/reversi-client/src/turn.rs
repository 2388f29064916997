//! A player's turns and other events, in all rooms.

use std::time::{Duration, SystemTime};

use super::{
    Clocks, Closing, GameId, InvitationEndReason, Malformed, MeetingRef, Offer, Outcome, Player, RatingChange, RoomId,
    Seat, Series, Settings, Standing, TournamentId, event::StreamMessage, parse,
};
use crate::{
    rules::{Bitboard, Board, Color, Position, Square},
    v1,
};

/// A message to a player.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayEvent {
    /// The player is to move.
    Turn(Box<Turn>),
    /// A turn is no longer open.
    TurnClosed {
        /// The game.
        game: GameId,
        /// The ply.
        ply: u32,
        /// The reason.
        end: TurnEnd,
    },
    /// A game of the player began.
    GameStarted {
        /// The room.
        room: RoomId,
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The opponent's seat.
        opponent: Option<Seat>,
        /// The place of the game in its series.
        series: Option<Series>,
        /// The meeting of a tournament of which it is a part.
        meeting: Option<MeetingRef>,
    },
    /// A game of the player ended.
    GameEnded {
        /// The room.
        room: RoomId,
        /// The game.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The result.
        outcome: Outcome,
        /// The last position's discs, if sent.
        board: Option<Board>,
        /// The series, if another game follows.
        series: Option<Series>,
    },
    /// A rated game of the player has changed the ratings, or not.
    RatingChanged {
        /// The game.
        game: GameId,
        /// What it did to the player's rating.
        own: RatingChange,
        /// What it did to the opponent's.
        opponent: RatingChange,
    },
    /// An offer of either side was made or closed.
    Offer {
        /// The room.
        room: RoomId,
        /// The running game, or the last one.
        game: GameId,
        /// The offer.
        offer: Offer,
        /// Its state.
        status: OfferStatus,
        /// Whether the player made it.
        own: bool,
    },
    /// The rest of the series in this room is cancelled; a running game is its last.
    SeriesEnded(RoomId),
    /// The player was removed from a room.
    Kicked {
        /// The room.
        room: RoomId,
        /// Whether the player may not join again.
        banned: bool,
    },
    /// A room of the player was closed.
    RoomClosed(RoomId),
    /// A seat is reserved for the player.
    Invited(Box<Invited>),
    /// A seat is no longer reserved for the player, or for another whom the player invited.
    InvitationEnded {
        /// The room.
        room: RoomId,
        /// The side.
        side: Color,
        /// The player for whom it was reserved.
        player: Option<Player>,
        /// How it ended.
        reason: InvitationEndReason,
        /// Why the player declined, perhaps empty.
        message: String,
    },
    /// News of a tournament of which the player is an entrant.
    Tournament {
        /// The tournament.
        tournament: TournamentId,
        /// What is new, as sent.
        news: Box<v1::player_tournament::News>,
    },
    /// A move sent by [`PlayStream`](super::PlayStream) was refused.
    MoveRejected {
        /// The game.
        game: GameId,
        /// The ply.
        ply: u32,
        /// The reason, such as `ILLEGAL_MOVE`, the same as for [`Session::play`](super::Session::play).
        reason: String,
        /// The reason in words.
        message: String,
        /// The legal moves.
        legal: Bitboard,
        /// The time after which to send the same move again, if it may succeed.
        retry_after: Option<Duration>,
    },
    /// A heartbeat.
    Heartbeat,
    /// The stream ends.
    Closing(Closing),
}

impl StreamMessage for PlayEvent {
    fn closing(&self) -> Option<&Closing> {
        match self {
            Self::Closing(closing) => Some(closing),
            _ => None,
        }
    }
}

/// A seat that is reserved for the player.
#[derive(Clone, Debug, PartialEq)]
pub struct Invited {
    /// The room.
    pub room: RoomId,
    /// The side.
    pub side: Color,
    /// The code with which to join a private room.
    pub join_code: String,
    /// The player who invites.
    pub by: Option<Player>,
    /// The rating of that player; 0 without one.
    pub by_rating: u32,
    /// When the invitation ends; `None` for a seat that stays reserved.
    pub expires_at: Option<SystemTime>,
    /// The settings of the room; `None` from a server of an older version.
    pub settings: Option<Settings>,
}

impl TryFrom<v1::PlayerInvited> for Invited {
    type Error = Malformed;

    fn try_from(invited: v1::PlayerInvited) -> Result<Self, Malformed> {
        Ok(Self {
            room: RoomId::parse(invited.room_id)?,
            side: parse::seat(invited.seat, "seat")?,
            join_code: invited.join_code,
            by: invited.by.map(Player::try_from).transpose()?,
            by_rating: parse::count(invited.by_rating, "rating")?,
            expires_at: parse::maybe_time(invited.expires_at, "end of an invitation")?,
            settings: invited.settings.map(Settings::try_from).transpose()?,
        })
    }
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

/// The reason for which a turn was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// This move was made.
    Played(Square),
    /// No move was made in time.
    TimedOut,
    /// The game ended for another reason.
    GameEnded,
}

/// A request for a move, with everything that a stateless bot needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The game.
    pub game: GameId,
    /// The room.
    pub room: RoomId,
    /// The ply to send with the move.
    pub ply: u32,
    /// The player's side, which is to move in `position`.
    pub side: Color,
    /// The current position.
    pub position: Position,
    /// The legal moves; never empty, because the server makes passes.
    pub legal: Bitboard,
    /// The move before, if any.
    pub last_move: Option<Square>,
    /// The clocks when this was sent.
    pub clocks: Clocks,
}

impl TryFrom<v1::TurnRequested> for Turn {
    type Error = Malformed;

    fn try_from(turn: v1::TurnRequested) -> Result<Self, Malformed> {
        let side = parse::side(turn.side, "side to move")?;
        let standing = Standing::try_from(parse::required(turn.position, "position")?)?;
        if standing.turn != Some(side) || standing.legal.is_empty() {
            return Err(Malformed::new("turn", "the position is not this side's to move in"));
        }
        Ok(Self {
            game: GameId::parse(turn.game_id)?,
            room: RoomId::parse(turn.room_id)?,
            ply: parse::count(turn.ply, "ply")?,
            side,
            position: Position::new(standing.board, side),
            legal: standing.legal,
            last_move: parse::maybe_square(&turn.last_move, "last move")?,
            clocks: turn.clocks.unwrap_or_default().try_into()?,
        })
    }
}

impl PlayEvent {
    /// `None` for an event that this client does not know.
    pub(super) fn parse(event: Option<v1::PlayEvent>) -> Result<Option<Self>, Malformed> {
        use v1::play_event::Event;
        let Some(event) = event.and_then(|event| event.event) else { return Ok(None) };
        Ok(Some(match event {
            Event::TurnRequested(turn) => Self::Turn(Box::new(turn.try_into()?)),
            Event::TurnClosed(closed) => match parse_turn_end(&closed)? {
                None => return Ok(None),
                Some(end) => Self::TurnClosed {
                    game: GameId::parse(closed.game_id)?,
                    ply: parse::count(closed.ply, "ply")?,
                    end,
                },
            },
            Event::GameStarted(started) => Self::GameStarted {
                room: RoomId::parse(started.room_id)?,
                game: GameId::parse(started.game_id)?,
                side: parse::side(started.side, "side")?,
                opponent: started.opponent.map(Seat::try_from).transpose()?,
                series: started.series.map(Series::try_from).transpose()?,
                meeting: started.meeting.map(MeetingRef::try_from).transpose()?,
            },
            Event::GameEnded(ended) => Self::GameEnded {
                room: RoomId::parse(ended.room_id)?,
                game: GameId::parse(ended.game_id)?,
                side: parse::side(ended.side, "side")?,
                outcome: parse::required(ended.outcome, "outcome")?.try_into()?,
                board: ended.position.map(Standing::try_from).transpose()?.map(|standing| standing.board),
                series: ended.series.map(Series::try_from).transpose()?,
            },
            Event::RatingChanged(changed) => Self::RatingChanged {
                game: GameId::parse(changed.game_id)?,
                own: parse::required(changed.own, "rating change")?.try_into()?,
                opponent: parse::required(changed.opponent, "rating change")?.try_into()?,
            },
            Event::Offer(offered) => match (parse_offer(offered.offer()), parse_offer_status(offered.status())) {
                (Some(offer), Some(status)) => Self::Offer {
                    room: RoomId::parse(offered.room_id)?,
                    game: GameId::parse(offered.game_id)?,
                    offer,
                    status,
                    own: offered.own,
                },
                _ => return Ok(None),
            },
            Event::SeriesEnded(ended) => Self::SeriesEnded(RoomId::parse(ended.room_id)?),
            Event::Kicked(kicked) => Self::Kicked { room: RoomId::parse(kicked.room_id)?, banned: kicked.banned },
            Event::RoomClosed(closed) => Self::RoomClosed(RoomId::parse(closed.room_id)?),
            Event::Invited(invited) => Self::Invited(Box::new(invited.try_into()?)),
            Event::InvitationEnded(ended) => Self::InvitationEnded {
                reason: ended.reason(),
                room: RoomId::parse(ended.room_id)?,
                side: parse::seat(ended.seat, "seat")?,
                player: ended.player.map(Player::try_from).transpose()?,
                message: parse::plain(ended.message, "reason")?,
            },
            Event::Tournament(sent) => match sent.news {
                Some(news) => {
                    Self::Tournament { tournament: TournamentId::parse(sent.tournament_id)?, news: Box::new(news) }
                }
                None => return Ok(None),
            },
            Event::MoveRejected(rejected) => parse_rejection(rejected)?,
            Event::Heartbeat(_) => Self::Heartbeat,
            Event::Closing(closing) => Self::Closing(closing.try_into()?),
        }))
    }
}

fn parse_turn_end(closed: &v1::TurnClosed) -> Result<Option<TurnEnd>, Malformed> {
    Ok(match closed.reason() {
        v1::TurnCloseReason::Played => Some(TurnEnd::Played(parse::square(&closed.square, "move")?)),
        v1::TurnCloseReason::TimedOut => Some(TurnEnd::TimedOut),
        v1::TurnCloseReason::GameEnded => Some(TurnEnd::GameEnded),
        v1::TurnCloseReason::Unspecified => None,
    })
}

fn parse_offer(offer: v1::Offer) -> Option<Offer> {
    match offer {
        v1::Offer::Draw => Some(Offer::Draw),
        v1::Offer::Rematch => Some(Offer::Rematch),
        v1::Offer::TakeBack => Some(Offer::TakeBack),
        v1::Offer::Unspecified => None,
    }
}

fn parse_offer_status(status: v1::OfferStatus) -> Option<OfferStatus> {
    match status {
        v1::OfferStatus::Open => Some(OfferStatus::Open),
        v1::OfferStatus::Accepted => Some(OfferStatus::Accepted),
        v1::OfferStatus::Closed => Some(OfferStatus::Closed),
        v1::OfferStatus::Unspecified => None,
    }
}

fn parse_rejection(rejected: v1::MoveRejected) -> Result<PlayEvent, Malformed> {
    Ok(PlayEvent::MoveRejected {
        legal: parse::squares(&rejected.legal_moves, "legal move")?,
        game: GameId::parse(rejected.game_id)?,
        ply: parse::count(rejected.ply, "ply")?,
        reason: rejected.reason,
        message: rejected.message,
        retry_after: parse::maybe_duration(rejected.retry_after, "retry after")?,
    })
}
