//! The exit statuses of commands that fail or are interrupted; those of output that fails are in [`output`](super::output).

use std::process::ExitCode;

use super::interrupt;

/// The status for a wrong command line, as clap's.
const USAGE: u8 = 2;

/// The status of a program that SIGINT ends, in a shell.
const INTERRUPTED: u8 = 128 + 2;

/// What is wrong with the command line, found only after it was parsed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::cli) struct UsageError(pub(in crate::cli) String);

/// The status of a command that fails.
pub(in crate::cli) fn of_error(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.is::<UsageError>() || is_wrong_url(error);
    unless_interrupted(if is_usage { USAGE.into() } else { ExitCode::FAILURE })
}

#[cfg(feature = "postgres")]
fn is_wrong_url(error: &anyhow::Error) -> bool {
    use crate::store::PostgresError::{Option, SpecialCharacter, Url};
    matches!(error.downcast_ref(), Some(Url(_) | SpecialCharacter | Option(_)))
}

#[cfg(not(feature = "postgres"))]
fn is_wrong_url(_: &anyhow::Error) -> bool {
    false
}

/// `done`, or 130 if Ctrl-C has ended the command.
pub(in crate::cli) fn unless_interrupted(done: ExitCode) -> ExitCode {
    if interrupt::is_interrupted() { INTERRUPTED.into() } else { done }
}
