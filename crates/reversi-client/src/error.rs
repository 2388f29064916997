//! Errors of calls and streams.

use std::{error::Error as _, fmt, time::Duration};

use thiserror::Error;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::rules::Bitboard;

/// The trailer that has the reason of a refusal.
const REASON: &str = "reversi-reason";

/// Why a call or a stream failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The text is not a server address.
    #[error("`{0}` is not a server address; one looks like http://127.0.0.1:50051")]
    Address(String),
    /// The certificates or keys cannot be used.
    #[error("the certificates cannot be used: {0}")]
    Certificates(String),
    /// No server can be reached; what failed at each.
    #[error("no server at {}", .0.iter().map(Unreachable::to_string).collect::<Vec<_>>().join(", nor at "))]
    Unreachable(Vec<Unreachable>),
    /// The connection broke, or the server stopped, before the answer.
    #[error("the connection to the server broke: {0}")]
    Broken(String),
    /// The server refused the call.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The answer violates the API contract.
    #[error("the server's answer cannot be understood: {0}")]
    Malformed(#[from] Malformed),
}

impl ClientError {
    /// The refusal, if the error is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the server refused with this reason, such as `NAME_TAKEN`.
    #[must_use]
    pub fn is(&self, reason: &str) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason == reason)
    }

    /// Whether the request named something that does not exist, or was malformed.
    #[must_use]
    pub fn is_unknown_or_malformed(&self) -> bool {
        self.refusal().is_some_and(|refusal| matches!(refusal.code, Code::NotFound | Code::InvalidArgument))
    }

    /// Whether the server no longer knows the session: the player must log in again.
    #[must_use]
    pub fn is_session_lost(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code == Code::Unauthenticated)
    }

    /// Whether the server does not know the call: it is of an earlier version.
    #[must_use]
    pub fn is_unimplemented(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code == Code::Unimplemented)
    }

    /// Whether the answer is probably not from a Reversi server, which always sends a reason.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        match self {
            Self::Broken(_) | Self::Malformed(_) => true,
            // A proxy in front of a Reversi server may be out of resources too.
            Self::Refused(refusal) => refusal.reason.is_empty() && refusal.code != Code::ResourceExhausted,
            Self::Address(_) | Self::Certificates(_) | Self::Unreachable(_) => false,
        }
    }

    /// Whether the same call may succeed later: the connection broke, or the server is busy or restarting.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) => true,
            Self::Refused(refusal) => matches!(refusal.code, Code::Unavailable | Code::ResourceExhausted),
            Self::Address(_) | Self::Certificates(_) | Self::Malformed(_) => false,
        }
    }
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        let refusal = Refusal::parse(&status);
        // With these codes and no reason, the status is the transport's own: the request was not processed.
        let from_transport =
            matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal);
        if refusal.reason.is_empty() && from_transport {
            let cause = if status.source().is_some() { innermost(&status) } else { status.message().to_owned() };
            return Self::Broken(cause);
        }
        Self::Refused(Box::new(refusal))
    }
}

/// A server that could not be reached, or that refused the first call.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{url}: {cause}")]
pub struct Unreachable {
    /// The URL.
    pub url: String,
    /// The cause in words.
    pub cause: String,
}

/// A refusal of the server.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Refusal {
    /// The gRPC code.
    pub code: Code,
    /// The reason as a constant such as `ROOM_FULL`; empty if the server gave none.
    pub reason: String,
    /// The reason in words.
    pub message: String,
    /// The legal moves, after an illegal one.
    pub legal_moves: Bitboard,
    /// The time after which to try again.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    fn parse(status: &Status) -> Self {
        let details = status.get_details_error_info();
        let trailer = status.metadata().get(REASON).and_then(|value| value.to_str().ok());
        let named = details.as_ref().map(|details| details.reason.as_str());
        let reason = trailer.or(named).unwrap_or_default().to_owned();
        let legal = details.iter().flat_map(|details| details.metadata.get("legal_moves"));
        let legal = legal.flat_map(|list| list.split([',', ' '])).filter_map(|word| word.parse().ok());
        let message = if status.message().is_empty() { status.code().description() } else { status.message() };
        Self {
            code: status.code(),
            reason,
            message: message.chars().filter(|letter| !letter.is_control()).collect(),
            legal_moves: legal.collect(),
            retry_after: status.get_details_retry_info().and_then(|info| info.retry_delay),
        }
    }
}

/// A violation of the API contract in an answer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what}: {why}")]
pub struct Malformed {
    what: &'static str,
    why: String,
}

impl Malformed {
    pub(super) fn new(what: &'static str, why: impl fmt::Display) -> Self {
        Self { what, why: why.to_string() }
    }
}

/// The last source of an error, such as "connection refused": errors before it add only context.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tonic_types::{ErrorDetails, StatusExt as _};

    use super::*;
    use crate::rules::Square;

    #[test]
    fn a_refusal_keeps_the_details_from_the_server() {
        let details = ErrorDetails::with_error_info(
            "ILLEGAL_MOVE",
            "reversi",
            HashMap::from([("legal_moves".to_owned(), "d3,c4 f5".to_owned())]),
        );
        let mut status = Status::with_error_details(Code::FailedPrecondition, "a1 turns nothing over", details);
        status.metadata_mut().insert(REASON, "ILLEGAL_MOVE".parse().unwrap());
        let error = ClientError::from(status);
        let refusal = error.refusal().unwrap();
        assert_eq!(
            refusal.legal_moves,
            ["d3", "c4", "f5"].map(|name| name.parse::<Square>().unwrap()).into_iter().collect()
        );
        assert!(error.is("ILLEGAL_MOVE") && !error.is_transient());
        assert_eq!(error.to_string(), "a1 turns nothing over");
    }

    #[test]
    fn an_error_of_the_transport_is_a_broken_connection() {
        let error = ClientError::from(Status::unavailable("tcp connect error"));
        assert!(matches!(error, ClientError::Broken(_)) && error.is_transient());
    }

    #[test]
    fn busy_is_a_refusal_that_can_be_retried() {
        let mut status = Status::unavailable("busy");
        status.metadata_mut().insert(REASON, "BUSY".parse().unwrap());
        let error = ClientError::from(status);
        assert!(error.is("BUSY") && error.is_transient());
    }
}
