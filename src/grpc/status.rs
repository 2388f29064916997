//! Every way in which a call can fail, as a gRPC status.
//!
//! The code says what the client should do next, and the reason what happened: in `google.rpc.ErrorInfo`, and once more
//! in the ASCII trailer `reversi-reason` for languages without rich errors.

use std::{collections::HashMap, time::Duration};

use tonic::{
    Code, Status,
    metadata::{MetadataMap, MetadataValue},
};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::{
    proto::{
        convert::{Malformed, duration, squares},
        v1,
    },
    room::Rejection,
    rules::Bitboard,
    runtime::{RoomError, TooFast, metrics},
};

/// Whose reasons these are.
const DOMAIN: &str = "reversi";
/// The trailer that repeats the reason.
pub(crate) const REASON: &str = "reversi-reason";
/// When to come back where nothing better is known.
const RETRY: Duration = Duration::from_secs(2);
/// A clock may run: a room is soon less busy.
const BUSY_RETRY: Duration = Duration::from_millis(100);
/// A clock may run: the storage is tried again at this pace.
const STORE_RETRY: Duration = Duration::from_millis(500);
/// Where legal moves stand, as "d3 c4".
const LEGAL_MOVES: &str = "legal_moves";
/// Where an operator finds what went wrong.
const TRACE_ID: &str = "trace_id";

/// What a status tells beyond its reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    /// One entry of `ErrorInfo.metadata`.
    pub(crate) metadata: Option<(&'static str, String)>,
    /// The field that is wrong, and what it must be.
    pub(crate) violation: Option<(String, String)>,
    /// When to try again.
    pub(crate) retry_after: Option<Duration>,
}

/// What a player has too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quota {
    /// Rooms of their own.
    Rooms,
    /// Seats held.
    Seats,
    /// Streams open.
    Streams,
    /// Analyses under way.
    Analyses,
    /// Requests in a second.
    Rate,
}

/// A status with its reason, told in both ways.
pub(crate) fn status(code: Code, reason: &'static str, message: impl Into<String>, details: Details) -> Status {
    metrics::refused(reason);
    let metadata: HashMap<_, _> = details.metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let mut rich = ErrorDetails::with_error_info(reason, DOMAIN, metadata);
    if let Some((field, problem)) = details.violation {
        rich.add_bad_request_violation(field, problem);
    }
    if let Some(delay) = details.retry_after {
        rich.set_retry_info(Some(delay));
    }
    let mut trailer = MetadataMap::new();
    trailer.insert(REASON, MetadataValue::from_static(reason));
    Status::with_error_details_and_metadata(code, message, rich, trailer)
}

/// A room's refusal.
pub(crate) fn refused(rejection: Rejection) -> Status {
    refused_move(rejection, None)
}

/// A room's refusal of a move, with the legal moves where they are known; those of the refusal itself come first.
pub(crate) fn refused_move(rejection: Rejection, legal: Option<Bitboard>) -> Status {
    let (code, reason) = code_and_reason(&rejection);
    let legal = match rejection {
        Rejection::IllegalMove(legal) => Some(legal),
        Rejection::NotYourTurn | Rejection::GameOver => legal,
        _ => None,
    };
    let violation = match rejection {
        Rejection::BadSettings(error) => {
            let malformed = Malformed::from(error);
            Some((malformed.field, malformed.problem))
        }
        _ => None,
    };
    let metadata = legal.map(|legal| (LEGAL_MOVES, squares(legal).join(" ")));
    status(code, reason, rejection.to_string(), Details { metadata, violation, retry_after: None })
}

/// The code says what the client should do next.
fn code_and_reason(rejection: &Rejection) -> (Code, &'static str) {
    match rejection {
        Rejection::NotOwner => (Code::PermissionDenied, "NOT_OWNER"),
        Rejection::NotAdmin => (Code::PermissionDenied, "NOT_ADMIN"),
        Rejection::NotSeated => (Code::PermissionDenied, "NOT_SEATED"),
        Rejection::NotMember => (Code::PermissionDenied, "NOT_MEMBER"),
        Rejection::Banned => (Code::PermissionDenied, "BANNED"),
        Rejection::BadPassword => (Code::PermissionDenied, "BAD_PASSWORD"),
        Rejection::RoomNotFound => (Code::NotFound, "ROOM_NOT_FOUND"),
        Rejection::GameNotFound => (Code::NotFound, "GAME_NOT_FOUND"),
        Rejection::PlayerNotFound => (Code::NotFound, "PLAYER_NOT_FOUND"),
        Rejection::BadSettings(_) => (Code::InvalidArgument, Malformed::BAD_SETTINGS),
        Rejection::RoomFull => (Code::FailedPrecondition, "ROOM_FULL"),
        Rejection::SeatTaken => (Code::FailedPrecondition, "SEAT_TAKEN"),
        Rejection::RoomInGame => (Code::FailedPrecondition, "ROOM_IN_GAME"),
        Rejection::SeatsNotReady => (Code::FailedPrecondition, "SEATS_NOT_READY"),
        Rejection::WrongPhase(_) => (Code::FailedPrecondition, "WRONG_PHASE"),
        Rejection::RoomClosed => (Code::FailedPrecondition, "ROOM_CLOSED"),
        Rejection::NotYourTurn => (Code::FailedPrecondition, "NOT_YOUR_TURN"),
        Rejection::GameOver => (Code::FailedPrecondition, "GAME_OVER"),
        Rejection::IllegalMove(_) => (Code::FailedPrecondition, "ILLEGAL_MOVE"),
        Rejection::StalePly => (Code::Aborted, "STALE_PLY"),
    }
}

/// A request that cannot be read.
pub(crate) fn malformed(malformed: Malformed) -> Status {
    let message = malformed.to_string();
    let details = Details { violation: Some((malformed.field, malformed.problem)), ..Details::default() };
    status(Code::InvalidArgument, malformed.reason, message, details)
}

/// No token was sent.
pub(crate) fn token_missing() -> Status {
    let message = "log in first, and send `authorization: Bearer TOKEN`";
    status(Code::Unauthenticated, "TOKEN_MISSING", message, Details::default())
}

/// The token is unknown or revoked.
pub(crate) fn token_invalid() -> Status {
    status(Code::Unauthenticated, "TOKEN_INVALID", "the token is unknown or revoked; log in again", Details::default())
}

/// Another player has the name.
pub(crate) fn name_taken() -> Status {
    status(Code::AlreadyExists, "NAME_TAKEN", "another player has this name", Details::default())
}

/// A player has, or asks for, too much.
pub(crate) fn quota(quota: Quota, retry_after: Duration) -> Status {
    let (reason, message) = match quota {
        Quota::Rooms => ("QUOTA_ROOMS", "you, or all at your address, have as many rooms as may be"),
        Quota::Seats => ("QUOTA_SEATS", "you, or all at your address, hold as many seats as may be"),
        Quota::Streams => ("QUOTA_STREAMS", "you, or all at your address, have as many streams open as may be"),
        Quota::Analyses => {
            ("QUOTA_ANALYSES", "you, all at your address, or the server have as many analyses under way as may be")
        }
        Quota::Rate => ("RATE", "too many requests of you, or of all at your address"),
    };
    status(Code::ResourceExhausted, reason, message, retry(retry_after))
}

/// A player, or its address, asks more often than it may.
pub(crate) fn too_fast(TooFast { retry_after }: TooFast) -> Status {
    quota(Quota::Rate, retry_after)
}

/// A player, or its address, has as many calls on their way as it may.
pub(crate) fn too_many_calls() -> Status {
    quota(Quota::Rate, BUSY_RETRY)
}

/// The server stops.
pub(crate) fn draining(retry_after: Duration) -> Status {
    status(Code::Unavailable, "DRAINING", "the server is stopping; come back later", retry(retry_after))
}

/// Nothing can be written down, so nothing can change.
pub(crate) fn store_unavailable(retry_after: Duration) -> Status {
    let message = "the server cannot store anything now; nothing has changed";
    status(Code::Unavailable, "STORE_UNAVAILABLE", message, retry(retry_after))
}

/// The server knows as many players as it may.
pub(crate) fn full() -> Status {
    let message = "the server knows as many players as it may; come back later";
    status(Code::ResourceExhausted, "QUOTA_PLAYERS", message, retry(RETRY))
}

/// A request to the runtime failed.
pub(crate) fn failed(error: RoomError) -> Status {
    match error {
        RoomError::Rejected(rejection) => refused(rejection),
        RoomError::PlayerNotFound => refused(Rejection::PlayerNotFound),
        RoomError::UnknownAi => {
            malformed(Malformed::argument("ai", "must be a kind and level that GetServerInfo lists"))
        }
        RoomError::QuotaRooms(_) => quota(Quota::Rooms, RETRY),
        RoomError::QuotaSeats => quota(Quota::Seats, RETRY),
        RoomError::QuotaStreams => quota(Quota::Streams, RETRY),
        RoomError::QuotaAnalyses => quota(Quota::Analyses, RETRY),
        RoomError::TooFast(retry_after) => quota(Quota::Rate, retry_after),
        RoomError::Draining => draining(RETRY),
        RoomError::StoreUnavailable => store_unavailable(STORE_RETRY),
        RoomError::Busy => busy(BUSY_RETRY),
    }
}

/// A room has more to do than it can.
pub(crate) fn busy(retry_after: Duration) -> Status {
    status(Code::Unavailable, "BUSY", "the room is busy; nothing has changed", retry(retry_after))
}

/// What is no message of its kind, or too large a one. The transport's INTERNAL would blame the server. None when the
/// transport failed otherwise.
pub(crate) fn unreadable(refusal: &Status) -> Option<Status> {
    // A broken connection has a cause; a message that cannot be read is one itself.
    let broken = std::error::Error::source(refusal).is_some();
    let (code, reason) = match refusal.code() {
        Code::OutOfRange if !broken => (Code::OutOfRange, "MESSAGE_TOO_LARGE"),
        Code::Internal if !broken => (Code::InvalidArgument, "BAD_MESSAGE"),
        _ => return None,
    };
    Some(status(code, reason, refusal.message(), Details::default()))
}

/// A bug. What it was stands in the log, under `trace_id`.
pub(crate) fn internal(trace_id: impl Into<String>) -> Status {
    let trace_id = trace_id.into();
    let message = format!("internal error {trace_id}");
    let details = Details { metadata: Some((TRACE_ID, trace_id)), ..Details::default() };
    status(Code::Internal, "INTERNAL", message, details)
}

fn retry(after: Duration) -> Details {
    Details { retry_after: Some(after), ..Details::default() }
}

/// The answer to a move that came up a `Play` stream and was refused with `refusal`.
pub(crate) fn move_rejected(game_id: String, ply: i32, refusal: &Status) -> v1::MoveRejected {
    let reason = refusal.metadata().get(REASON).and_then(|reason| reason.to_str().ok());
    let info = refusal.get_details_error_info();
    let legal = info.as_ref().and_then(|info| info.metadata.get(LEGAL_MOVES)).map(String::as_str);
    v1::MoveRejected {
        game_id,
        ply,
        reason: reason.unwrap_or_default().to_owned(),
        message: refusal.message().to_owned(),
        legal_moves: legal.unwrap_or_default().split_whitespace().map(ToOwned::to_owned).collect(),
        retry_after: refusal.get_details_retry_info().and_then(|info| info.retry_delay).map(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{room::SettingsError, rules::Position};

    const SECOND: Duration = Duration::from_secs(1);

    /// What every status has: its code and reason, the latter told twice.
    fn read(status: &Status) -> (Code, String) {
        let info = status.get_details_error_info().unwrap();
        assert_eq!(info.domain, "reversi");
        assert_eq!(status.metadata().get("reversi-reason").unwrap().to_str().unwrap(), info.reason);
        assert!(!status.message().is_empty());
        (status.code(), info.reason)
    }

    fn legal(status: &Status) -> Option<String> {
        status.get_details_error_info().unwrap().metadata.get("legal_moves").cloned()
    }

    #[test]
    fn every_refusal_has_its_row_of_the_table() {
        let bad_games = SettingsError { field: "games", problem: "must be 1 to 1000" };
        let table = [
            (Rejection::NotOwner, Code::PermissionDenied, "NOT_OWNER"),
            (Rejection::NotAdmin, Code::PermissionDenied, "NOT_ADMIN"),
            (Rejection::NotSeated, Code::PermissionDenied, "NOT_SEATED"),
            (Rejection::NotMember, Code::PermissionDenied, "NOT_MEMBER"),
            (Rejection::Banned, Code::PermissionDenied, "BANNED"),
            (Rejection::BadPassword, Code::PermissionDenied, "BAD_PASSWORD"),
            (Rejection::RoomNotFound, Code::NotFound, "ROOM_NOT_FOUND"),
            (Rejection::GameNotFound, Code::NotFound, "GAME_NOT_FOUND"),
            (Rejection::PlayerNotFound, Code::NotFound, "PLAYER_NOT_FOUND"),
            (Rejection::BadSettings(bad_games), Code::InvalidArgument, "BAD_SETTINGS"),
            (Rejection::RoomFull, Code::FailedPrecondition, "ROOM_FULL"),
            (Rejection::SeatTaken, Code::FailedPrecondition, "SEAT_TAKEN"),
            (Rejection::RoomInGame, Code::FailedPrecondition, "ROOM_IN_GAME"),
            (Rejection::SeatsNotReady, Code::FailedPrecondition, "SEATS_NOT_READY"),
            (Rejection::WrongPhase("x"), Code::FailedPrecondition, "WRONG_PHASE"),
            (Rejection::RoomClosed, Code::FailedPrecondition, "ROOM_CLOSED"),
            (Rejection::NotYourTurn, Code::FailedPrecondition, "NOT_YOUR_TURN"),
            (Rejection::GameOver, Code::FailedPrecondition, "GAME_OVER"),
            (Rejection::IllegalMove(Bitboard::EMPTY), Code::FailedPrecondition, "ILLEGAL_MOVE"),
            (Rejection::StalePly, Code::Aborted, "STALE_PLY"),
        ];
        for (rejection, code, reason) in table {
            assert_eq!(read(&refused(rejection)), (code, reason.to_owned()));
        }
    }

    #[test]
    fn every_other_failure_has_its_row_of_the_table() {
        let table = [
            (token_missing(), Code::Unauthenticated, "TOKEN_MISSING", false),
            (token_invalid(), Code::Unauthenticated, "TOKEN_INVALID", false),
            (name_taken(), Code::AlreadyExists, "NAME_TAKEN", false),
            (quota(Quota::Rooms, SECOND), Code::ResourceExhausted, "QUOTA_ROOMS", true),
            (quota(Quota::Seats, SECOND), Code::ResourceExhausted, "QUOTA_SEATS", true),
            (quota(Quota::Streams, SECOND), Code::ResourceExhausted, "QUOTA_STREAMS", true),
            (quota(Quota::Analyses, SECOND), Code::ResourceExhausted, "QUOTA_ANALYSES", true),
            (quota(Quota::Rate, SECOND), Code::ResourceExhausted, "RATE", true),
            (draining(SECOND), Code::Unavailable, "DRAINING", true),
            (store_unavailable(SECOND), Code::Unavailable, "STORE_UNAVAILABLE", true),
            (busy(SECOND), Code::Unavailable, "BUSY", true),
            (internal("t1"), Code::Internal, "INTERNAL", false),
        ];
        for (status, code, reason, retries) in table {
            assert_eq!(read(&status), (code, reason.to_owned()));
            let delay = status.get_details_retry_info().and_then(|info| info.retry_delay);
            assert_eq!(delay, retries.then_some(SECOND), "{reason}");
        }
        let info = internal("t1").get_details_error_info().unwrap();
        assert_eq!(info.metadata.get("trace_id").map(String::as_str), Some("t1"));
    }

    #[test]
    fn a_message_that_cannot_be_read_is_told_from_a_broken_connection() {
        let (large, other) = (Status::out_of_range("too large"), Status::internal("no such field"));
        assert_eq!(read(&unreadable(&large).unwrap()), (Code::OutOfRange, "MESSAGE_TOO_LARGE".to_owned()));
        let told = unreadable(&other).unwrap();
        assert_eq!(read(&told), (Code::InvalidArgument, "BAD_MESSAGE".to_owned()));
        assert_eq!(told.message(), "no such field");
        let mut broken = Status::internal("reset");
        broken.set_source(std::sync::Arc::new(std::io::Error::other("reset")));
        assert!(unreadable(&broken).is_none() && unreadable(&Status::cancelled("gone")).is_none());
    }

    #[test]
    fn what_is_malformed_names_its_field() {
        for reason in [
            Malformed::BAD_SQUARE,
            Malformed::BAD_NAME,
            Malformed::BAD_SETTINGS,
            Malformed::BAD_PAGE_TOKEN,
            Malformed::BAD_ID,
            Malformed::BAD_ARGUMENT,
        ] {
            let status = malformed(Malformed::new(reason, "a.b", "must not be"));
            assert_eq!(read(&status), (Code::InvalidArgument, reason.to_owned()));
            assert_eq!(status.message(), "a.b must not be");
            let violations = status.get_details_bad_request().unwrap().field_violations;
            assert_eq!((violations[0].field.as_str(), violations[0].description.as_str()), ("a.b", "must not be"));
        }
        let bad = refused(Rejection::BadSettings(SettingsError { field: "games", problem: "must be 1 to 1000" }));
        assert_eq!(bad.get_details_bad_request().unwrap().field_violations[0].field, "settings.games");
    }

    #[test]
    fn a_refused_move_tells_the_legal_ones_where_they_are_known() {
        let moves = Position::START.legal_moves();
        let illegal = refused(Rejection::IllegalMove(moves));
        assert_eq!(legal(&illegal).as_deref(), Some("d3 c4 f5 e6"));
        assert_eq!(legal(&refused_move(Rejection::NotYourTurn, Some(moves))).as_deref(), Some("d3 c4 f5 e6"));
        assert_eq!(legal(&refused_move(Rejection::GameOver, Some(Bitboard::EMPTY))).as_deref(), Some(""));
        assert_eq!(legal(&refused(Rejection::NotYourTurn)), None);
        assert_eq!(legal(&refused_move(Rejection::StalePly, Some(moves))), None);

        let told = move_rejected("g-1".into(), 0, &illegal);
        assert_eq!((told.reason.as_str(), told.game_id.as_str()), ("ILLEGAL_MOVE", "g-1"));
        assert_eq!(told.legal_moves, ["d3", "c4", "f5", "e6"]);
        let later = move_rejected("g-1".into(), 0, &busy(SECOND));
        assert!(later.legal_moves.is_empty() && later.retry_after == Some(duration(SECOND)));
    }
}
