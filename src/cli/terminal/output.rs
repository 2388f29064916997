//! Standard output and standard error, a line at a time. Every write to standard output is checked.

#![expect(clippy::disallowed_methods, reason = "the one place that writes to standard output")]

use std::{
    fmt::Display,
    io::{self, ErrorKind, IsTerminal as _, Write},
    process::ExitCode,
    sync::OnceLock,
};

use super::{exit_status::unless_interrupted, interrupt};
use crate::cli::text::printable::printable;

/// The exit status of a program that SIGPIPE ends, in a shell.
const PIPE_CLOSED: u8 = 128 + 13;

/// The kind of the first error of standard output.
static FAILURE: OnceLock<ErrorKind> = OnceLock::new();

/// Standard output, for those who write lines of their own. Errors are noted.
pub(in crate::cli) struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes).inspect_err(note_failure)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush().inspect_err(note_failure)
    }
}

/// Prints one line, whatever text of a server is in it. An error interrupts the command, which then ends as
/// [`exit_status`] says.
pub(in crate::cli) fn say(line: impl Display) {
    // Noted.
    let _ = StandardOutput.write_all(format!("{}\n", printable(line)).as_bytes());
}

/// Prints one line to standard error, as [`say`] does to standard output.
pub(in crate::cli) fn warn(line: impl Display) {
    // Fails if standard error is closed.
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

pub(in crate::cli) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Notes an error of standard output, and says it. A closed pipe (`| head`) is not said.
pub(in crate::cli) fn note_failure(error: &io::Error) {
    if error.kind() == ErrorKind::Interrupted {
        // The write is repeated.
        return;
    }
    if FAILURE.set(error.kind()).is_ok() && error.kind() != ErrorKind::BrokenPipe {
        warn(format_args!("reversi: cannot write to standard output: {error}"));
    }
    interrupt::output_is_gone();
}

/// Whether standard output cannot be written any more.
pub(in crate::cli) fn stdout_has_failed() -> bool {
    FAILURE.get().is_some()
}

/// The status of a command that would exit with `done`: 141 if the reader of its output closed the pipe, 1 if the
/// output could not be written, 130 if Ctrl-C has ended it.
pub(in crate::cli) fn exit_status(done: ExitCode) -> ExitCode {
    match FAILURE.get() {
        None => unless_interrupted(done),
        Some(ErrorKind::BrokenPipe) => PIPE_CLOSED.into(),
        Some(_) => ExitCode::FAILURE,
    }
}
