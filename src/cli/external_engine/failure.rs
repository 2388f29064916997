//! What can go wrong with a program that others wrote.

use thiserror::Error;

/// Why there is no move, once. Continues a sentence that begins with the engine's name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is no such program, or it may not be run.
    #[error("cannot be started: {0}")]
    NotStarted(String),
    /// The process is gone.
    #[error("has ended")]
    Ended,
    /// What it is sent is not read.
    #[error("does not read what it is sent")]
    Deaf,
    /// The time is over.
    #[error("does not answer in time")]
    Late,
    /// It does not do what the protocol has it do.
    #[error("refuses `{command}`: {answer}")]
    Refused {
        /// What it was told.
        command: String,
        /// What it said.
        answer: String,
    },
    /// It moved where nobody can, or passed.
    #[error("plays {0}, which is illegal")]
    Illegal(String),
    /// It gave the game up.
    #[error("resigns")]
    Resigned,
    /// Nobody wants the answer any more.
    #[error("is not asked any more")]
    Unwanted,
}

/// Why an engine has no move to offer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(in crate::cli) enum Failure {
    /// It gave this game up.
    #[error("the engine resigns")]
    Resigned,
    /// It took too long. It is started again for the next move.
    #[error("the engine does not answer in time, and is started again")]
    Late,
    /// The flag was raised meanwhile.
    #[error("the engine is not asked any more")]
    Unwanted,
    /// It cannot be used, and why.
    #[error("{0}")]
    Broken(String),
}
