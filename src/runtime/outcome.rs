//! Outcomes of requests and streams.

use std::time::Duration;

use thiserror::Error;

use crate::{
    room::{Availability, GameId, Rejection, RoomId, Seq},
    store::StoreError,
    tournament,
};

/// The outcome of an accepted command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The last event of the room.
    pub seq: Seq,
    /// True if the command caused an event.
    pub changed: bool,
    /// The room's running or last game.
    pub game: Option<GameId>,
}

/// Why a room, or the server, has refused a request or could not execute it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RoomError {
    /// The room rejected the command.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// No player has that id.
    #[error("no such player")]
    PlayerNotFound,
    /// There is no AI of that kind and level.
    #[error("no such AI; GetServerInfo lists the kinds and their levels")]
    UnknownAi,
    /// The player or the server has reached its limit of rooms.
    #[error("too many rooms: {0}")]
    QuotaRooms(&'static str),
    /// The player has reached its limit of seats.
    #[error("you hold too many seats; leave one first")]
    QuotaSeats,
    /// The player has reached its limit of seats, and plays in a room.
    #[error("you play in room {0}; finish the game first")]
    QuotaSeatsPlaying(RoomId),
    /// The invited player does not accept the invitation, because of this field of its availability.
    #[error("the player does not accept {}; the list of players shows what it accepts", unaccepted(.0, .1))]
    InvitationRefused(&'static str, Box<Availability>),
    /// The tournament rejected the command.
    #[error(transparent)]
    Tournament(#[from] tournament::Rejection),
    /// No tournament has that id.
    #[error("no such tournament")]
    TournamentNotFound,
    /// The player, its address or the server has reached its limit of tournaments.
    #[error("too many tournaments: {0}")]
    QuotaTournaments(&'static str),
    /// The player has reached its limit of streams.
    #[error("too many streams are open; close one first")]
    QuotaStreams,
    /// The player, its address or the server has reached its limit of analyses.
    #[error("too many analyses are running; wait for one to end")]
    QuotaAnalyses,
    /// The server has its maximum number of claimed names.
    #[error("too many names are claimed on this server")]
    QuotaNames,
    /// The request id was used for another method or another body.
    #[error("this request id was used for another request; choose another")]
    RequestIdReused,
    /// The token of the call was replaced while it was in progress.
    #[error("the token was replaced")]
    TokenReplaced,
    /// A rate is exceeded; the time is until the request would be admitted.
    #[error("too fast")]
    TooFast(Duration),
    /// Too many passwords or join codes were wrong; the time is until the next one may be tried.
    #[error("too many wrong passwords or join codes")]
    WrongGuesses(Duration),
    /// The server is shutting down.
    #[error("the server is stopping")]
    Draining,
    /// The store cannot be written; the change may have been made.
    #[error("storage is unavailable")]
    StoreUnavailable,
    /// What was asked for is stored, but damaged.
    #[error("stored data is damaged; the server's log names it")]
    Damaged,
    /// Nothing was done, because the room is moving to another node.
    #[error("the room is moving to another node")]
    Moved,
    /// No node serves the room now, or its node does not answer. The request may have been executed.
    #[error("the node of the room does not answer")]
    Unreachable,
    /// The room's mailbox stayed full, too many requests wait for a node, or the player is being matched already.
    #[error("the room or the server is busy")]
    Busy,
}

impl From<StoreError> for RoomError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a request was refused");
        match error {
            StoreError::Unavailable(_) => Self::StoreUnavailable,
            StoreError::Damaged(_) => Self::Damaged,
        }
    }
}

/// What a player does not accept, with the values that it accepts, by the field of its availability that says so.
fn unaccepted(field: &str, accepted: &Availability) -> String {
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
    let number = |number: Option<u16>| number.unwrap_or_default();
    match field {
        "kinds" if accepted.people => "invitations of players of your kind (people only)".into(),
        "kinds" if accepted.bots => "invitations of players of your kind (bots only)".into(),
        "rated" if accepted.rated == Some(true) => "this choice of rated or unrated (rated games only)".into(),
        "rated" => "this choice of rated or unrated (unrated games only)".into(),
        "shortest_move" => {
            format!("so short a time for a move (at least {} s)", seconds(accepted.per_move.shortest))
        }
        "longest_move" => {
            format!("so long a time for a move, or none (at most {} s)", seconds(accepted.per_move.longest))
        }
        "shortest_total" => {
            format!("so short a time for all moves (at least {} s)", seconds(accepted.total.shortest))
        }
        "longest_total" => {
            format!("so long a time for all moves, or none (at most {} s)", seconds(accepted.total.longest))
        }
        "shortest_increment" => {
            format!("so short an increment, or none (at least {} s)", seconds(accepted.increment.shortest))
        }
        "longest_increment" => format!("so long an increment (at most {} s)", seconds(accepted.increment.longest)),
        "min_rating" => format!("so low a rating (at least {})", number(accepted.min_rating)),
        "max_rating" => format!("so high a rating (at most {})", number(accepted.max_rating)),
        "games_at_once" => format!("a further game now (at most {} at once)", number(accepted.games_at_once)),
        "opponents_a_day" => {
            format!("a further opponent within 24 hours (at most {})", number(accepted.opponents_a_day))
        }
        _ => "invitations".into(),
    }
}

impl RoomError {
    /// True if the request may have been executed, or may still be. Also true for refusals that changed nothing,
    /// because an earlier attempt whose answer was lost may have been executed.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::StoreUnavailable | Self::Unreachable | Self::Moved | Self::Draining | Self::Busy)
    }

    /// True for a move that is refused because its game has ended, its room has closed, or its player has left.
    pub(crate) fn may_be_of_ended_game(&self) -> bool {
        use Rejection::{GameNotFound, GameOver, NotSeated, RoomClosed};
        matches!(self, Self::Rejected(GameOver | GameNotFound | NotSeated | RoomClosed))
    }

    /// For commands that name a game: the error for a missing room becomes that for a missing game.
    pub(crate) fn or_game_not_found(self) -> Self {
        match self {
            Self::Rejected(Rejection::RoomNotFound) => Rejection::GameNotFound.into(),
            error => error,
        }
    }
}

/// Why the server ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The room has closed.
    RoomClosed,
    /// The player may no longer watch.
    Kicked,
    /// The player opened a newer stream.
    Superseded,
    /// The server is shutting down.
    Draining,
    /// The server has lost the database, rooms or the other servers, or its clock is wrong; others serve its clients.
    OutOfService,
    /// The client read too slowly.
    SlowConsumer,
    /// The player logged out, or its token was replaced.
    LoggedOut,
    /// The player or its address is banned.
    Banned,
    /// The room cannot be reached for the moment.
    Unavailable,
}
