//! The real binary as a process, with pipes instead of a terminal.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

/// Timeout of the wait for a line; no test needs this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that is stopped when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(options: &[&str]) -> Self {
        Self::serve(&[&["--ephemeral"], options].concat())
    }

    pub(crate) fn serve(options: &[&str]) -> Self {
        let mut child = reversi(&["serve", "--listen", "127.0.0.1:0", "--log", "error"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_whitespace().last().unwrap_or_default();
        Self { child, url: format!("http://{address}") }
    }

    /// Runs a command until it exits.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = reversi(arguments)
            .env("REVERSI_SERVER", &self.url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read its input may have exited already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// The output of a command, which must succeed.
    pub(crate) fn output_of(&self, arguments: &[&str], input: &str) -> String {
        let output = self.run(arguments, input);
        let (printed, error) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?} failed: {error}\n{printed}");
        printed
    }

    /// The error output of a command, which must fail.
    pub(crate) fn error_of(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, "");
        assert!(!output.status.success(), "{arguments:?} did not fail: {}", text(&output.stdout));
        text(&output.stderr)
    }
}

/// A command that runs alongside the test, and is killed when this is dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Receiver<String>,
    pub(crate) seen: Vec<String>,
}

impl Running {
    pub(crate) fn start(server: &Server, arguments: &[&str]) -> Self {
        let mut command = reversi(arguments);
        command.env("REVERSI_SERVER", &server.url);
        Self::spawn(command)
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (sender, lines) = sync_channel(0);
        thread::spawn(move || printed.into_iter().try_for_each(|line| sender.send(line)));
        Self { child, lines, seen: vec![] }
    }

    /// Waits for the next line; none at the end of the output.
    #[track_caller]
    pub(crate) fn next_line(&mut self) -> Option<&str> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => {
                self.seen.push(line);
                self.seen.last().map(String::as_str)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line follows:\n{}", self.seen.join("\n")),
        }
    }

    /// Waits for a line that contains this text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, part: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(TIMEOUT) else {
                panic!("no line has {part:?}:\n{}", self.seen.join("\n"));
            };
            self.seen.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Writes a line in one write: the command may exit as soon as it has read a part of one.
    pub(crate) fn send_line(&mut self, line: &str) {
        self.child.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Writes a line, and waits for a line that contains `part`.
    #[track_caller]
    pub(crate) fn send_and_wait(&mut self, line: &str, part: &str) -> String {
        self.send_line(line);
        self.wait_for(part)
    }

    /// Waits for the command to succeed. Returns the rest of its output.
    #[track_caller]
    pub(crate) fn wait_for_exit(&mut self) -> String {
        let mut rest = String::new();
        // The channel closes when the output ends.
        loop {
            match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) => rest += &(line + "\n"),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the command still runs after\n{rest}"),
            }
        }
        assert!(self.child.wait().unwrap().success(), "the command failed after\n{rest}");
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary, without the variables of the tests' environment.
pub(crate) fn reversi(arguments: &[&str]) -> Command {
    let mut command = without_variables(Command::new(env!("CARGO_BIN_EXE_reversi")));
    command.args(arguments);
    command
}

/// The command without the variables `REVERSI_*` of the tests' environment.
pub(crate) fn without_variables(mut command: Command) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("REVERSI_")) {
        command.env_remove(name);
    }
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path for a file of this process.
pub(crate) fn file(name: &str) -> String {
    std::env::temp_dir().join(format!("reversi-{name}-{}", std::process::id())).display().to_string()
}
