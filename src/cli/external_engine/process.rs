//! A child process that reads and writes lines.
//!
//! Each of its three streams has a thread, because any of them may block without bound.

use std::{
    io::{self, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, Builder},
    time::Duration,
};

use tokio::time::Instant;

use super::error::EngineFault;
use crate::{
    cli::terminal::line::{self, BoundedLine},
    search::Stop,
};

/// Longer lines are skipped, in bytes; no protocol needs them.
const MAX_LINE: usize = 16 * 1024;

/// Maximum buffered lines of output. A program that writes more is blocked.
const OUTPUT_LINES: usize = 64;

/// Maximum lines that the program has not read; then it counts as unresponsive.
const UNREAD_LINES: usize = 64;

/// Number of last bytes of standard error that are stored.
const STDERR_BYTES: usize = 2 * 1024;

/// The wait for the program's exit after its output has ended, and for the end of its standard error.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval at which the program's exit is polled.
const END_POLL: Duration = Duration::from_millis(2);

/// The interval at which a wait checks its stop flag.
const STOP_POLL: Duration = Duration::from_millis(50);

/// A running program, killed on drop.
#[derive(Debug)]
pub(super) struct EngineProcess {
    child: Child,
    input: SyncSender<String>,
    lines: Receiver<String>,
    stderr: StderrTail,
}

/// The bounds of a wait for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait<'a> {
    pub(super) until: Instant,
    /// Ends the wait if set.
    pub(super) stop: &'a Stop,
}

impl EngineProcess {
    /// Starts the program `words[0]` with the other words as its arguments.
    pub(super) fn start(words: &[String]) -> Result<Self, EngineFault> {
        let failed = |error: io::Error| EngineFault::NotStarted(error.to_string());
        let (program, arguments) = words.split_first().ok_or(EngineFault::NotStarted("nothing is named".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (input, unread) = sync_channel(UNREAD_LINES);
        let (output, lines) = sync_channel(OUTPUT_LINES);
        let stderr = StderrTail::collect(child.stderr.take()).map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Builder::new().name("engine-input".into()).spawn(move || write_lines(stdin, &unread)).map_err(failed)?;
        Builder::new().name("engine-output".into()).spawn(move || read_lines(stdout, &output)).map_err(failed)?;
        Ok(Self { child, input, lines, stderr })
    }

    pub(super) fn send(&self, line: impl Into<String>) -> Result<(), EngineFault> {
        self.input.try_send(line.into()).map_err(|error| match error {
            TrySendError::Full(_) => EngineFault::Deaf,
            TrySendError::Disconnected(_) => EngineFault::Ended,
        })
    }

    /// The next line of output.
    pub(super) fn line(&self, wait: Wait<'_>) -> Result<String, EngineFault> {
        loop {
            if wait.stop.is_stopped() {
                return Err(EngineFault::Unwanted);
            }
            let left = wait.until.saturating_duration_since(Instant::now());
            // Checked before the receive: endless output must not extend the wait.
            if left.is_zero() {
                return Err(EngineFault::Late);
            }
            match self.lines.recv_timeout(left.min(STOP_POLL)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(EngineFault::Ended),
            }
        }
    }

    /// Ends the program; returns its exit status if it ended `by_itself`, and its last standard error.
    pub(super) fn end(mut self, by_itself: bool) -> String {
        let status = if by_itself { self.status() } else { None };
        // Fails if the program has ended.
        let _ = self.child.kill();
        let errors = self.stderr.text();
        let errors = if errors.is_empty() { errors } else { format!("; its last words: {errors}") };
        status.map(|status| format!(" ({status})")).unwrap_or_default() + &errors
    }

    /// Waits for the exit status, which comes shortly after the streams are closed.
    fn status(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + END_TIMEOUT;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(END_POLL);
        }
        None
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_lines(stdin: Option<ChildStdin>, lines: &Receiver<String>) {
    let Some(mut stdin) = stdin else { return };
    for line in lines {
        if writeln!(stdin, "{line}").and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: Option<impl Read>, lines: &SyncSender<String>) {
    let Some(stdout) = stdout else { return };
    let mut stdout = BufReader::new(stdout);
    while let Ok(Some(line)) = line::next(&mut stdout, MAX_LINE) {
        if let BoundedLine::Text(line) = line
            && lines.send(line).is_err()
        {
            return;
        }
    }
}

/// The end of a program's standard error.
#[derive(Debug)]
struct StderrTail {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Disconnected at the end of the stream.
    over: Receiver<()>,
}

impl StderrTail {
    fn collect(stderr: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (open, over) = sync_channel(0);
        let tail = Arc::clone(&bytes);
        Builder::new().name("engine-stderr".into()).spawn(move || {
            let _open: SyncSender<()> = open;
            let Some(mut stderr) = stderr else { return };
            let mut chunk = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend(&chunk[..count]);
                let excess = tail.len().saturating_sub(STDERR_BYTES);
                tail.drain(..excess);
            }
        })?;
        Ok(Self { bytes, over })
    }

    /// The text on one line, without control characters.
    fn text(&self) -> String {
        // The wait is bounded, as a child of the program may keep the stream open.
        let _ = self.over.recv_timeout(END_TIMEOUT);
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" | ").chars().filter(|letter| !letter.is_control()).collect()
    }
}
