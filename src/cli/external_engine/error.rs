//! Errors of external engines.

use thiserror::Error;

/// Why one attempt failed. The message continues a sentence that begins with the engine's name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum EngineFault {
    #[error("cannot be started: {0}")]
    NotStarted(String),
    #[error("has ended")]
    Ended,
    /// The program does not read its input.
    #[error("does not read what it is sent")]
    Deaf,
    #[error("does not answer in time")]
    Late,
    /// The program violates its protocol.
    #[error("refuses `{command}`: {answer}")]
    Refused { command: String, answer: String },
    /// An illegal move, or a pass.
    #[error("plays {0}, which is illegal")]
    Illegal(String),
    #[error("resigns")]
    Resigned,
    /// The stop flag is set.
    #[error("is no longer used")]
    Unwanted,
}

/// Why an engine has no move.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(in crate::cli) enum NoMove {
    #[error("the engine resigns")]
    Resigned,
    #[error("the engine has not answered before the end of its time, and is started again")]
    Late,
    /// The stop flag is set.
    #[error("the engine is no longer used")]
    Unwanted,
    /// The engine cannot be used, for this reason.
    #[error("{0}")]
    Broken(String),
}

/// The first characters of a program's output, without control characters.
pub(super) fn quoted(output: &str) -> String {
    const MAX: usize = 60;
    format!("`{}`", output.chars().filter(|letter| !letter.is_control()).take(MAX).collect::<String>())
}
