//! The failures of calls as gRPC statuses. The code is the client's next step, the reason is what happened: in
//! `google.rpc.ErrorInfo`, and in the ASCII trailer `reversi-reason` for languages without rich errors.

use std::{collections::HashMap, time::Duration};

use tonic::{
    Code, Status,
    metadata::{MetadataMap, MetadataValue},
};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::{
    proto::{
        convert::{Malformed, duration, squares, timestamp},
        v1::{self, ErrorReason as Reason},
    },
    room::Rejection,
    runtime::{BanSubject, Banned, LogInError, RoomError, TooFast, server_metrics},
    tournament,
};

/// The `domain` of `ErrorInfo`.
const DOMAIN: &str = "reversi";
/// The trailer that repeats the reason.
pub(crate) const REASON: &str = "reversi-reason";
/// The beginning of the names of reasons in the API, which is not sent.
const PREFIX: &str = "ERROR_REASON_";
/// Default delay before a client should try again.
const RETRY: Duration = Duration::from_secs(2);
/// Delay before the next try for a busy room: a clock may run, and the room is soon less busy.
const BUSY_RETRY: Duration = Duration::from_millis(100);
/// That for a server that stands by: it may replace the other one at any moment, while clocks run.
const STANDBY_RETRY: Duration = Duration::from_millis(250);
const BUSY: &str = "the room or the server is busy; nothing has changed";
/// Delay before the next try when the store fails: the server itself tries again at this interval.
const STORE_RETRY: Duration = Duration::from_millis(500);
/// Delay before the next try for streams that a stopping server ends.
pub(crate) const RETURN_AFTER_DRAIN: Duration = Duration::from_secs(5);
/// Delay before the next try for clients of a server that is out of service, which the others serve at once, and for a
/// stream whose room cannot be reached.
pub(crate) const RETURN_ELSEWHERE: Duration = Duration::from_secs(1);
/// The metadata of `ErrorInfo` with the legal moves, as "d3 c4".
const LEGAL_MOVES: &str = "legal_moves";
/// The metadata of `ErrorInfo` with the ply from which something can be done.
const PLY: &str = "ply";
/// The metadata of `ErrorInfo` with the time from which something can be done.
const AT: &str = "at";
/// The metadata of `ErrorInfo` with the room in which a player plays.
const ROOM_ID: &str = "room_id";
/// The metadata of `ErrorInfo` with the id of the call, for searching the log.
const TRACE_ID: &str = "trace_id";

/// The details of a status other than the reason.
#[derive(Debug, Default)]
struct Details {
    /// Entries of `ErrorInfo.metadata`.
    metadata: Vec<(&'static str, String)>,
    /// The name of the invalid field, and what it must be.
    violation: Option<(String, String)>,
    retry_after: Option<Duration>,
}

fn status(code: Code, reason: Reason, message: impl Into<String>, details: Details) -> Status {
    let reason = name(reason);
    server_metrics::refused(reason);
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

/// The reason as it is sent.
fn name(reason: Reason) -> &'static str {
    let name = reason.as_str_name();
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// The reason of a status as it is sent.
pub(crate) fn reason(status: &Status) -> Option<&'static str> {
    let sent = status.metadata().get(REASON)?.to_str().ok()?;
    reason_of(sent).map(name)
}

/// The reason of a name as it is sent.
pub(crate) fn reason_of(sent: &str) -> Option<Reason> {
    Reason::from_str_name(&format!("{PREFIX}{sent}"))
}

/// A status after which the client should try again.
fn retry(code: Code, reason: Reason, message: &str, after: Duration) -> Status {
    status(code, reason, message, Details { retry_after: Some(after), ..Details::default() })
}

pub(crate) fn refused(rejection: Rejection) -> Status {
    let (code, reason) = code_and_reason(&rejection);
    let mut details = Details::default();
    match rejection {
        Rejection::IllegalMove(legal) => details.metadata = vec![(LEGAL_MOVES, squares(legal).join(" "))],
        Rejection::BadSettings(error) => {
            let malformed = Malformed::from(error);
            details.violation = Some((malformed.field, malformed.problem));
        }
        Rejection::OfferTooSoon(ply) => details.metadata = vec![(PLY, ply.to_string())],
        Rejection::ClaimTooSoon(at) => details.metadata = vec![(AT, timestamp(at).to_string())],
        _ => {}
    }
    status(code, reason, rejection.to_string(), details)
}

fn code_and_reason(rejection: &Rejection) -> (Code, Reason) {
    match rejection {
        Rejection::NotOwner => (Code::PermissionDenied, Reason::NotOwner),
        Rejection::NotAdmin => (Code::PermissionDenied, Reason::NotAdmin),
        Rejection::NotSeated => (Code::PermissionDenied, Reason::NotSeated),
        Rejection::NotMember => (Code::PermissionDenied, Reason::NotMember),
        Rejection::Banned => (Code::PermissionDenied, Reason::Banned),
        Rejection::BadPassword => (Code::PermissionDenied, Reason::BadPassword),
        Rejection::RoomNotFound => (Code::NotFound, Reason::RoomNotFound),
        Rejection::GameNotFound => (Code::NotFound, Reason::GameNotFound),
        Rejection::PlayerNotFound => (Code::NotFound, Reason::PlayerNotFound),
        Rejection::BadSettings(_) => (Code::InvalidArgument, Malformed::BAD_SETTINGS),
        Rejection::RoomFull => (Code::FailedPrecondition, Reason::RoomFull),
        Rejection::SeatTaken => (Code::FailedPrecondition, Reason::SeatTaken),
        Rejection::NotAccepted => (Code::FailedPrecondition, Reason::NotAccepted),
        Rejection::RoomInGame => (Code::FailedPrecondition, Reason::RoomInGame),
        Rejection::SeatsNotReady => (Code::FailedPrecondition, Reason::SeatsNotReady),
        Rejection::WrongPhase(_) => (Code::FailedPrecondition, Reason::WrongPhase),
        Rejection::RoomClosed => (Code::FailedPrecondition, Reason::RoomClosed),
        Rejection::NotYourTurn => (Code::FailedPrecondition, Reason::NotYourTurn),
        Rejection::GameOver => (Code::FailedPrecondition, Reason::GameOver),
        Rejection::IllegalMove(_) => (Code::FailedPrecondition, Reason::IllegalMove),
        Rejection::OfferTooSoon(_) | Rejection::ClaimTooSoon(_) => (Code::FailedPrecondition, Reason::TooSoon),
        Rejection::StalePly => (Code::Aborted, Reason::StalePly),
        Rejection::StaleSettings => (Code::Aborted, Reason::StaleSettings),
    }
}

fn refused_by_tournament(rejection: tournament::Rejection) -> Status {
    use tournament::Rejection as Refusal;

    let (code, reason) = match rejection {
        Refusal::NotOrganiser | Refusal::NotServer | Refusal::NotYou => (Code::PermissionDenied, Reason::NotOwner),
        Refusal::Excluded => (Code::PermissionDenied, Reason::Banned),
        Refusal::BadPassword => (Code::PermissionDenied, Reason::BadPassword),
        Refusal::EntrantNotFound => (Code::NotFound, Reason::EntrantNotFound),
        Refusal::MeetingNotFound => (Code::NotFound, Reason::MeetingNotFound),
        Refusal::BadSettings(error) => return Malformed::from(error).into(),
        Refusal::TournamentFull => (Code::FailedPrecondition, Reason::TournamentFull),
        Refusal::NotAdmitted => (Code::FailedPrecondition, Reason::NotAccepted),
        Refusal::BadOutcome
        | Refusal::TooManyExcluded
        | Refusal::TooFewEntrants
        | Refusal::TooManyRounds(_)
        | Refusal::TooManyMeetings(_)
        | Refusal::AlreadyStarted
        | Refusal::NotStarted
        | Refusal::TournamentEnded => (Code::FailedPrecondition, Reason::WrongPhase),
    };
    status(code, reason, rejection.to_string(), Details::default())
}

impl From<Malformed> for Status {
    fn from(malformed: Malformed) -> Self {
        let message = malformed.to_string();
        let details = Details { violation: Some((malformed.field, malformed.problem)), ..Details::default() };
        status(Code::InvalidArgument, malformed.reason, message, details)
    }
}

impl From<TooFast> for Status {
    fn from(TooFast { retry_after }: TooFast) -> Self {
        let message = "too many requests, passwords, chat lines or games of you, or of all at your address";
        retry(Code::ResourceExhausted, Reason::Rate, message, retry_after)
    }
}

impl From<RoomError> for Status {
    fn from(error: RoomError) -> Self {
        let quota = |reason, message| retry(Code::ResourceExhausted, reason, message, RETRY);
        match error {
            RoomError::Rejected(rejection) => refused(rejection),
            RoomError::PlayerNotFound => status(
                Code::NotFound,
                Reason::PlayerNotFound,
                "no player has this id or name".to_owned(),
                Details::default(),
            ),
            RoomError::UnknownAi => {
                Malformed::argument("ai", "must be a kind and level that GetServerInfo lists").into()
            }
            RoomError::QuotaRooms(_) => quota(Reason::QuotaRooms, "you, your address or the server has too many rooms"),
            RoomError::QuotaSeats => {
                quota(Reason::QuotaSeats, "you or your address holds too many seats; leave one first")
            }
            RoomError::QuotaSeatsPlaying(room) => {
                let message = format!("you play in room {room}; finish the game first");
                let metadata = vec![(ROOM_ID, room.to_string())];
                let details = Details { metadata, retry_after: Some(RETRY), ..Details::default() };
                status(Code::ResourceExhausted, Reason::QuotaSeats, message, details)
            }
            RoomError::InvitationRefused(field, _) => {
                let violation = Some((format!("availability.{field}"), "must allow the invitation".to_owned()));
                let details = Details { violation, ..Details::default() };
                status(Code::FailedPrecondition, Reason::NotAccepted, error.to_string(), details)
            }
            RoomError::Tournament(rejection) => refused_by_tournament(rejection),
            RoomError::TournamentNotFound => {
                status(Code::NotFound, Reason::TournamentNotFound, error.to_string(), Details::default())
            }
            RoomError::QuotaTournaments(_) => {
                retry(Code::ResourceExhausted, Reason::QuotaTournaments, &error.to_string(), RETRY)
            }
            RoomError::QuotaStreams => quota(Reason::QuotaStreams, "you or your address has too many open streams"),
            RoomError::QuotaAnalyses => {
                quota(Reason::QuotaAnalyses, "you, your address or the server has too many running analyses")
            }
            RoomError::RequestIdReused => {
                status(Code::AlreadyExists, Reason::RequestIdReused, error.to_string(), Details::default())
            }
            RoomError::TokenReplaced => token_invalid(),
            RoomError::QuotaNames => quota(Reason::QuotaPlayers, "too many names are claimed on this server"),
            RoomError::TooFast(retry_after) => TooFast { retry_after }.into(),
            RoomError::WrongGuesses(wait) => {
                let seconds = wait.as_secs_f64().ceil();
                let message = format!("too many wrong passwords, join codes or secrets; try again in {seconds} s");
                retry(Code::ResourceExhausted, Reason::Rate, &message, wait)
            }
            RoomError::Draining => draining(RETRY),
            RoomError::StoreUnavailable => {
                let message = "the server cannot store anything now; the change may have been made";
                retry(Code::Unavailable, Reason::StoreUnavailable, message, STORE_RETRY)
            }
            RoomError::Damaged => {
                let message = "stored data is damaged; the server's log names it";
                status(Code::DataLoss, Reason::Damaged, message, Details::default())
            }
            RoomError::Unreachable => {
                let message =
                    "the part of the server that has the room does not answer; this may have been carried out";
                retry(Code::Unavailable, Reason::Unreachable, message, STORE_RETRY)
            }
            RoomError::Moved | RoomError::Busy => retry(Code::Unavailable, Reason::Busy, BUSY, BUSY_RETRY),
        }
    }
}

impl From<Banned> for Status {
    fn from(Banned(ban): Banned) -> Self {
        let scope = match ban.subject {
            BanSubject::Name(_) => "name",
            BanSubject::Network(_) => "network",
        };
        let mut message = format!("your {scope} is banned from this server");
        let mut metadata = vec![("scope", scope.to_owned())];
        if let Some(until) = ban.until {
            let until = prost_types::Timestamp { nanos: 0, ..timestamp(until) }.to_string();
            message.push_str(&format!(" until {until}"));
            metadata.push(("until", until));
        }
        if let Some(reason) = &ban.reason {
            message.push_str(&format!(": {reason}"));
            metadata.push(("ban_reason", reason.to_string()));
        }
        status(Code::PermissionDenied, Reason::Banned, message, Details { metadata, ..Details::default() })
    }
}

impl From<LogInError> for Status {
    fn from(error: LogInError) -> Self {
        match error {
            LogInError::Closed(error) => error.into(),
            LogInError::Banned(banned) => banned.into(),
            LogInError::NameTaken => status(
                Code::AlreadyExists,
                Reason::NameTaken,
                "another player has this name; choose another",
                Details::default(),
            ),
            LogInError::NameAlike => {
                let message = "this name looks like that of another player; choose another";
                status(Code::AlreadyExists, Reason::NameTaken, message, Details::default())
            }
            LogInError::NameReserved => Malformed::new(
                Malformed::BAD_NAME,
                "display_name",
                "must not be a name of the server or of an AI; choose another",
            )
            .into(),
            LogInError::Full => {
                let message = "the server has too many players; come back later";
                retry(Code::ResourceExhausted, Reason::QuotaPlayers, message, RETRY)
            }
            LogInError::AddressFull => {
                let message =
                    "your address has too many players; log out those that are not needed, or come back later";
                retry(Code::ResourceExhausted, Reason::QuotaPlayers, message, RETRY)
            }
            LogInError::TooManySeats(max) => Malformed::argument("seats", format!("must be at most {max}")).into(),
        }
    }
}

pub(crate) fn too_many_bans() -> Status {
    let message = "the server has too many bans; remove some first";
    retry(Code::ResourceExhausted, Reason::QuotaBans, message, RETRY)
}

pub(crate) fn host_not_served(message: &str) -> Status {
    status(Code::PermissionDenied, Reason::HostNotServed, message, Details::default())
}

/// A play token does not suffice.
pub(crate) fn full_token_needed() -> Status {
    let message = "this token is limited to playing; send the token from which it was made";
    status(Code::PermissionDenied, Reason::FullTokenNeeded, message, Details::default())
}

pub(crate) fn token_missing() -> Status {
    let message = "log in first, and send `authorization: Bearer TOKEN`";
    status(Code::Unauthenticated, Reason::TokenMissing, message, Details::default())
}

pub(crate) fn token_invalid() -> Status {
    status(
        Code::Unauthenticated,
        Reason::TokenInvalid,
        "the token is unknown or revoked; log in again",
        Details::default(),
    )
}

/// A call was not answered within the time that its client gave, or within that of the server.
pub(crate) fn deadline_exceeded() -> Status {
    let message = "there was no answer within the time given; what was asked for may have been done all the same";
    status(Code::DeadlineExceeded, Reason::DeadlineExceeded, message, Details::default())
}

/// A header of a secret is given twice.
pub(crate) fn header_repeated(name: &str) -> Status {
    let message = format!("the header {name} is given more than once");
    status(Code::Unauthenticated, Reason::TokenInvalid, message, Details::default())
}

/// The player or the address has too many calls in progress.
pub(crate) fn too_many_calls() -> Status {
    TooFast { retry_after: BUSY_RETRY }.into()
}

pub(crate) fn draining(retry_after: Duration) -> Status {
    retry(Code::Unavailable, Reason::Draining, "the server is stopping; come back later", retry_after)
}

/// The server stands by for another one, which it may replace within seconds.
pub(crate) fn standing_by() -> Status {
    let message = "this server stands by for another one; call that one, or come back later";
    retry(Code::Unavailable, Reason::Standby, message, STANDBY_RETRY)
}

/// The server has lost the database or the other servers.
pub(crate) fn out_of_service() -> Status {
    let message = "this server has lost the database or the other servers; call another one, or come back later";
    retry(Code::Unavailable, Reason::OutOfService, message, RETURN_ELSEWHERE)
}

/// A call of gRPC over HTTP/1.
pub(crate) fn needs_http2() -> Status {
    let message = "gRPC needs HTTP/2, and this call reached the server over HTTP/1: the proxy in between must call it \
        over HTTP/2, in nginx by grpc_pass instead of proxy_pass";
    status(Code::Unimplemented, Reason::Unimplemented, message, Details::default())
}

/// The status for a message that cannot be read or is too large, which the transport reports as INTERNAL, although it is
/// an error of the client; or for a method that is not there. None for other errors of the transport.
pub(crate) fn of_transport(refusal: &Status) -> Option<Status> {
    // A broken connection has a source; a message that cannot be read has none.
    let broken = std::error::Error::source(refusal).is_some();
    let (code, reason) = match refusal.code() {
        // RESOURCE_EXHAUSTED: too large once decompressed.
        Code::OutOfRange | Code::ResourceExhausted if !broken => (Code::OutOfRange, Reason::MessageTooLarge),
        Code::Internal if !broken => (Code::InvalidArgument, Reason::BadMessage),
        Code::Unimplemented => (Code::Unimplemented, Reason::Unimplemented),
        _ => return None,
    };
    let message = if refusal.message().is_empty() { "there is no such method" } else { refusal.message() };
    Some(status(code, reason, message, Details::default()))
}

/// A bug in the server. The log has the details under `trace_id`.
pub(crate) fn internal(trace_id: impl Into<String>) -> Status {
    let trace_id = trace_id.into();
    let message = format!("internal error {trace_id}");
    let details = Details { metadata: vec![(TRACE_ID, trace_id)], ..Details::default() };
    status(Code::Internal, Reason::Internal, message, details)
}

/// The message for a rejected move of a `Play` stream.
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
    use crate::{
        proto::POOL,
        room::{RoomId, SettingsError, Timestamp},
        rules::{Bitboard, Position},
    };

    const SECOND: Duration = Duration::from_secs(1);

    /// The code and the reason of a status, which must be the same in the details and in the trailer.
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
    fn every_rejection_has_its_code_and_reason() {
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
            (Rejection::NotAccepted, Code::FailedPrecondition, "NOT_ACCEPTED"),
            (Rejection::RoomInGame, Code::FailedPrecondition, "ROOM_IN_GAME"),
            (Rejection::SeatsNotReady, Code::FailedPrecondition, "SEATS_NOT_READY"),
            (Rejection::WrongPhase("x"), Code::FailedPrecondition, "WRONG_PHASE"),
            (Rejection::RoomClosed, Code::FailedPrecondition, "ROOM_CLOSED"),
            (Rejection::NotYourTurn, Code::FailedPrecondition, "NOT_YOUR_TURN"),
            (Rejection::GameOver, Code::FailedPrecondition, "GAME_OVER"),
            (Rejection::IllegalMove(Bitboard::EMPTY), Code::FailedPrecondition, "ILLEGAL_MOVE"),
            (Rejection::OfferTooSoon(10), Code::FailedPrecondition, "TOO_SOON"),
            (Rejection::ClaimTooSoon(Timestamp(0)), Code::FailedPrecondition, "TOO_SOON"),
            (Rejection::StalePly, Code::Aborted, "STALE_PLY"),
            (Rejection::StaleSettings, Code::Aborted, "STALE_SETTINGS"),
        ];
        for (rejection, code, reason) in table {
            assert_eq!(read(&refused(rejection)), (code, reason.to_owned()));
        }
    }

    #[test]
    fn every_other_failure_has_its_code_reason_and_delay() {
        let room = RoomId::from_random(1);
        let table = [
            (token_missing(), Code::Unauthenticated, "TOKEN_MISSING", None),
            (token_invalid(), Code::Unauthenticated, "TOKEN_INVALID", None),
            (full_token_needed(), Code::PermissionDenied, "FULL_TOKEN_NEEDED", None),
            (too_many_bans(), Code::ResourceExhausted, "QUOTA_BANS", Some(RETRY)),
            (LogInError::NameTaken.into(), Code::AlreadyExists, "NAME_TAKEN", None),
            (LogInError::NameAlike.into(), Code::AlreadyExists, "NAME_TAKEN", None),
            (LogInError::NameReserved.into(), Code::InvalidArgument, "BAD_NAME", None),
            (LogInError::Full.into(), Code::ResourceExhausted, "QUOTA_PLAYERS", Some(RETRY)),
            (LogInError::AddressFull.into(), Code::ResourceExhausted, "QUOTA_PLAYERS", Some(RETRY)),
            (RoomError::QuotaRooms("x").into(), Code::ResourceExhausted, "QUOTA_ROOMS", Some(RETRY)),
            (RoomError::QuotaSeats.into(), Code::ResourceExhausted, "QUOTA_SEATS", Some(RETRY)),
            (RoomError::QuotaSeatsPlaying(room).into(), Code::ResourceExhausted, "QUOTA_SEATS", Some(RETRY)),
            (RoomError::QuotaStreams.into(), Code::ResourceExhausted, "QUOTA_STREAMS", Some(RETRY)),
            (RoomError::QuotaAnalyses.into(), Code::ResourceExhausted, "QUOTA_ANALYSES", Some(RETRY)),
            (RoomError::TooFast(SECOND).into(), Code::ResourceExhausted, "RATE", Some(SECOND)),
            (RoomError::WrongGuesses(SECOND).into(), Code::ResourceExhausted, "RATE", Some(SECOND)),
            (too_many_calls(), Code::ResourceExhausted, "RATE", Some(BUSY_RETRY)),
            (standing_by(), Code::Unavailable, "STANDBY", Some(STANDBY_RETRY)),
            (out_of_service(), Code::Unavailable, "OUT_OF_SERVICE", Some(RETURN_ELSEWHERE)),
            (draining(SECOND), Code::Unavailable, "DRAINING", Some(SECOND)),
            (RoomError::RequestIdReused.into(), Code::AlreadyExists, "REQUEST_ID_REUSED", None),
            (RoomError::Damaged.into(), Code::DataLoss, "DAMAGED", None),
            (RoomError::StoreUnavailable.into(), Code::Unavailable, "STORE_UNAVAILABLE", Some(STORE_RETRY)),
            (RoomError::Unreachable.into(), Code::Unavailable, "UNREACHABLE", Some(STORE_RETRY)),
            (RoomError::Moved.into(), Code::Unavailable, "BUSY", Some(BUSY_RETRY)),
            (RoomError::Busy.into(), Code::Unavailable, "BUSY", Some(BUSY_RETRY)),
            (internal("t1"), Code::Internal, "INTERNAL", None),
        ];
        for (status, code, reason, retry_after) in table {
            assert_eq!(read(&status), (code, reason.to_owned()));
            let delay = status.get_details_retry_info().and_then(|info| info.retry_delay);
            assert_eq!(delay, retry_after, "{reason}");
        }
        let info = internal("t1").get_details_error_info().unwrap();
        assert_eq!(info.metadata.get("trace_id").map(String::as_str), Some("t1"));
    }

    /// Those of `Malformed` are in its file.
    #[test]
    fn every_reason_of_the_api_is_given() {
        let files = concat!(include_str!("status.rs"), include_str!("../proto/convert/malformed.rs"));
        let reasons = POOL.get_enum_by_name("reversi.v1.ErrorReason").unwrap();
        for reason in reasons.values().filter(|reason| reason.number() != 0) {
            let reason = Reason::try_from(reason.number()).unwrap();
            let is_given = ["Reason", "ErrorReason"].map(|name| files.contains(&format!("{name}::{reason:?}")));
            assert!(is_given.contains(&true), "{reason:?}");
        }
    }

    #[test]
    fn an_unreadable_message_is_not_a_broken_connection() {
        let (large, other) = (Status::out_of_range("too large"), Status::internal("no such field"));
        assert_eq!(read(&of_transport(&large).unwrap()), (Code::OutOfRange, "MESSAGE_TOO_LARGE".to_owned()));
        let named = of_transport(&other).unwrap();
        assert_eq!(read(&named), (Code::InvalidArgument, "BAD_MESSAGE".to_owned()));
        assert_eq!(named.message(), "no such field");
        let mut broken = Status::internal("reset");
        broken.set_source(std::sync::Arc::new(std::io::Error::other("reset")));
        assert!(of_transport(&broken).is_none() && of_transport(&Status::cancelled("gone")).is_none());
    }

    #[test]
    fn a_malformed_request_names_the_field() {
        for reason in [
            Malformed::BAD_SQUARE,
            Malformed::BAD_NAME,
            Malformed::BAD_SETTINGS,
            Malformed::BAD_PAGE_TOKEN,
            Malformed::BAD_ID,
            Malformed::BAD_ARGUMENT,
        ] {
            let status = Status::from(Malformed::new(reason, "a.b", "must not be"));
            assert_eq!(read(&status), (Code::InvalidArgument, name(reason).to_owned()));
            assert_eq!(status.message(), "a.b must not be");
            let violations = status.get_details_bad_request().unwrap().field_violations;
            assert_eq!((violations[0].field.as_str(), violations[0].description.as_str()), ("a.b", "must not be"));
        }
        let bad = refused(Rejection::BadSettings(SettingsError { field: "games", problem: "must be 1 to 1000" }));
        assert_eq!(bad.get_details_bad_request().unwrap().field_violations[0].field, "settings.games");
    }

    #[test]
    fn an_illegal_move_gets_the_legal_moves() {
        let moves = Position::START.legal_moves();
        let illegal = refused(Rejection::IllegalMove(moves));
        assert_eq!(legal(&illegal).as_deref(), Some("d3 c4 f5 e6"));
        assert_eq!(legal(&refused(Rejection::IllegalMove(Bitboard::EMPTY))).as_deref(), Some(""));
        assert_eq!(legal(&refused(Rejection::GameOver)), None);
        assert_eq!(legal(&refused(Rejection::NotYourTurn)), None);
        assert_eq!(legal(&refused(Rejection::StalePly)), None);

        let rejected = move_rejected("g-1".into(), 0, &illegal);
        assert_eq!((rejected.reason.as_str(), rejected.game_id.as_str()), ("ILLEGAL_MOVE", "g-1"));
        assert_eq!(rejected.legal_moves, ["d3", "c4", "f5", "e6"]);
        let later = move_rejected("g-1".into(), 0, &RoomError::Busy.into());
        assert!(later.legal_moves.is_empty() && later.retry_after == Some(duration(BUSY_RETRY)));
    }
}
