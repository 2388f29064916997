//! A program as a child process, spoken to in lines.
//!
//! Each of its three streams has a thread, because any of them may block for as long as the program likes.

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

use super::failure::Trouble;
use crate::{
    cli::terminal::line::{self, Line},
    search::Stop,
};

/// Longer lines are passed over: none of the protocols has a use for them.
const LONGEST_LINE: usize = 16 * 1024;

/// Lines that wait to be read. A program that writes more waits itself.
const LINES: usize = 64;

/// Lines that wait to be taken in by the program. One that leaves more unread does not listen.
const UNHEARD: usize = 64;

/// How much is kept of the end of what it says on its standard error.
const LAST_WORDS: usize = 2 * 1024;

/// How long a program that has nothing more to say may take to end, and its last words to arrive.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// How often it is looked whether it has ended.
const BREATH: Duration = Duration::from_millis(2);

/// How long it may take until somebody who waits sees that nobody wants the answer any more.
const GLANCE: Duration = Duration::from_millis(50);

/// A running program. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: SyncSender<String>,
    lines: Receiver<String>,
    complaints: Complaints,
}

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait<'a> {
    /// Until then.
    pub(super) until: Instant,
    /// Or until this flag is raised.
    pub(super) stop: &'a Stop,
}

impl Process {
    /// Starts the program that the first word names, with the others as its arguments.
    pub(super) fn start(words: &[String]) -> Result<Self, Trouble> {
        let failed = |error: io::Error| Trouble::NotStarted(error.to_string());
        let (program, arguments) = words.split_first().ok_or(Trouble::NotStarted("nothing is named".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (input, unheard) = sync_channel(UNHEARD);
        let (said, lines) = sync_channel(LINES);
        let complaints = Complaints::hear(child.stderr.take()).map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Builder::new().name("engine-input".into()).spawn(move || tell(stdin, &unheard)).map_err(failed)?;
        Builder::new().name("engine-output".into()).spawn(move || hear(stdout, &said)).map_err(failed)?;
        Ok(Self { child, input, lines, complaints })
    }

    /// Sends a line.
    pub(super) fn send(&self, line: impl Into<String>) -> Result<(), Trouble> {
        self.input.try_send(line.into()).map_err(|error| match error {
            TrySendError::Full(_) => Trouble::Deaf,
            TrySendError::Disconnected(_) => Trouble::Ended,
        })
    }

    /// The next line that it says.
    pub(super) fn line(&self, wait: Wait<'_>) -> Result<String, Trouble> {
        loop {
            if wait.stop.is_stopped() {
                return Err(Trouble::Unwanted);
            }
            let left = wait.until.saturating_duration_since(Instant::now());
            // Whoever never stops to talk does not answer either.
            if left.is_zero() {
                return Err(Trouble::Late);
            }
            match self.lines.recv_timeout(left.min(GLANCE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Ended),
            }
        }
    }

    /// Ends it: how it ended if it did so by itself, and its last words.
    pub(super) fn end(mut self, by_itself: bool) -> String {
        let status = if by_itself { self.status() } else { None };
        // A program that is gone cannot be killed, which is as well.
        let _ = self.child.kill();
        let said = self.complaints.last_words();
        let said = if said.is_empty() { said } else { format!("; its last words: {said}") };
        status.map(|status| format!(" ({status})")).unwrap_or_default() + &said
    }

    /// How it ended. Its streams are closed a little earlier.
    fn status(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + LAST_MOMENT;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(BREATH);
        }
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(stdin: Option<ChildStdin>, lines: &Receiver<String>) {
    let Some(mut stdin) = stdin else { return };
    for line in lines {
        if writeln!(stdin, "{line}").and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn hear(stdout: Option<impl Read>, lines: &SyncSender<String>) {
    let Some(stdout) = stdout else { return };
    let mut stdout = BufReader::new(stdout);
    while let Ok(Some(line)) = line::next(&mut stdout, LONGEST_LINE) {
        if let Line::Text(line) = line
            && lines.send(line).is_err()
        {
            return;
        }
    }
}

/// The end of what a program says on its standard error.
#[derive(Debug)]
struct Complaints {
    said: Arc<Mutex<Vec<u8>>>,
    /// Hung up when there is no more.
    over: Receiver<()>,
}

impl Complaints {
    fn hear(stderr: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let said = Arc::new(Mutex::new(Vec::new()));
        let (goes_on, over) = sync_channel(0);
        let kept = Arc::clone(&said);
        Builder::new().name("engine-complaints".into()).spawn(move || {
            let _goes_on: SyncSender<()> = goes_on;
            let Some(mut stderr) = stderr else { return };
            let mut chunk = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&chunk[..count]);
                let superfluous = kept.len().saturating_sub(LAST_WORDS);
                kept.drain(..superfluous);
            }
        })?;
        Ok(Self { said, over })
    }

    /// On one line, and without what steers a terminal.
    fn last_words(&self) -> String {
        // A child of the program may keep the stream open, and then there is no end to wait for.
        let _ = self.over.recv_timeout(LAST_MOMENT);
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" | ").chars().filter(|letter| !letter.is_control()).collect()
    }
}
