//! The real server as a process of its own, and what its log says.

#![allow(dead_code, reason = "each test binary asks its own part of it")]
use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. It ends with the test.
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
    pub(crate) url: String,
}

impl Server {
    /// Starts `reversi serve` on a free port, with these options beside.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reversi"));
        // What the environment of the tests sets must not count.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("REVERSI_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = sync_channel(100);
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut errors = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut log = String::new();
            errors.read_to_string(&mut log).unwrap();
            log
        });
        let mut server = Self { child, lines, log: Some(log), url: String::new() };
        server.url = format!("http://{}", server.hear("reversi is listening on "));
        server
    }

    /// What follows `intro` on the next line that begins with it, up to the first space.
    pub(crate) fn hear(&self, intro: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("it never said {intro:?}"));
            if let Some(rest) = line.strip_prefix(intro) {
                return rest.split(' ').next().unwrap_or_default().to_owned();
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, and waits: whether it was clean, and all that it logged.
    pub(crate) fn stop(mut self) -> (bool, String) {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(asked.success());
        let clean = self.child.wait().unwrap().success();
        (clean, self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
