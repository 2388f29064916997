//! Why a gRPC call or stream failed.

use std::error::Error as _;

use tonic::{Code, Status};

use crate::sim::event_log::Outcome;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server refused, with this reason.
    Refused(Code, String),
    /// The connection broke before the answer.
    Broken(Code),
}

impl Failure {
    /// Whether the outcome is unknown, or another try may succeed.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Refused(code, _) => *code == Code::Unavailable,
            Self::Broken(_) => true,
        }
    }

    /// Whether the server refused with this reason.
    pub(crate) fn is(&self, reason: &str) -> bool {
        matches!(self, Self::Refused(_, given) if given == reason)
    }
}

impl From<&Status> for Failure {
    fn from(status: &Status) -> Self {
        let reason = status.metadata().get("reversi-reason").and_then(|reason| reason.to_str().ok());
        // Only a status that the client's own transport has made has a source.
        match reason {
            None if status.source().is_some() => Self::Broken(status.code()),
            reason => Self::Refused(status.code(), reason.unwrap_or_default().to_owned()),
        }
    }
}

impl From<Status> for Outcome {
    fn from(status: Status) -> Self {
        Self::Failed(Failure::from(&status))
    }
}
