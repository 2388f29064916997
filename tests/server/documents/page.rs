//! Runs the commands of a document, block by block, in a folder of its own, as a reader in one terminal for each would.

use std::{collections::HashMap, env, fs, os::unix::fs::symlink, path::Path, process::Command};

use tempfile::TempDir;

use super::{
    lines::{Line, blocks},
    table::{ANSWERED, is_run, long_running},
};
use crate::cli::command::{Running, text, without_variables};

/// Beginnings of lines that change the shell in which the rest of their block runs.
const FOR_THE_BLOCK: &[&str] = &["cd ", "export ", "auth=", "bot() ", "call() "];

/// What stands before a value that a later line of the page needs, and the name of it there.
const LEARNED: &[(&str, &str)] = &[("room ", "ROOM"), ("\"token\": \"", "TOKEN"), ("\"gameId\": \"", "GAME")];

pub(super) struct Page {
    blocks: Vec<Vec<Line>>,
    folder: TempDir,
    /// What is printed, and what stands for it here; for `{name}` in it a value.
    table: Vec<(&'static str, String)>,
    values: HashMap<&'static str, String>,
    server: Option<Running>,
    /// Commands that use the server.
    clients: Vec<Running>,
    /// The command that lines of a block of the kind `console` are typed to.
    console: Option<Running>,
}

impl Page {
    pub(super) fn open(name: &str, table: &[(&'static str, &str)]) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let document = fs::read_to_string(root.join(name)).unwrap();
        for (printed, _) in table {
            assert!(document.contains(printed), "{name} does not print {printed:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        for used in ["clients", "deploy", "proto"] {
            symlink(root.join(used), folder.path().join(used)).unwrap();
        }
        Self {
            blocks: blocks(&document),
            folder,
            table: table.iter().map(|&(printed, here)| (printed, here.to_owned())).collect(),
            values: HashMap::new(),
            server: None,
            clients: vec![],
            console: None,
        }
    }

    /// Leaves only the last block of the page, or only all others.
    pub(super) fn only_last_block(mut self, only: bool) -> Self {
        let others = self.blocks.len() - 1;
        let _ = if only { self.blocks.drain(..others) } else { self.blocks.drain(others..) };
        self
    }

    pub(super) fn write(&self, file: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn link(&self, target: &Path, name: &str) {
        symlink(target, self.folder.path().join(name)).unwrap();
    }

    pub(super) fn run(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            let mut shell = String::new();
            for line in block {
                self.follow(line, &mut shell);
            }
        }
        self.stop_server();
    }

    /// Does what a line says. `shell` has the lines before it that changed the shell of the block.
    fn follow(&mut self, line: Line, shell: &mut String) {
        match line {
            Line::Run(line) if line.starts_with("systemctl stop ") => self.stop_server(),
            Line::Run(line) if !is_run(&line) => {}
            Line::Run(line) if FOR_THE_BLOCK.iter().any(|start| line.starts_with(start)) => *shell += &self.here(&line),
            Line::Run(line) => self.run_line(shell, &line),
            Line::Start(line) => self.console = Some(Running::spawn(self.command(&self.here(&line)))),
            Line::Type(line) => {
                self.console().send_line(&line);
                for (_, answers) in ANSWERED.iter().filter(|(typed, _)| *typed == line) {
                    answers.iter().for_each(|answer| drop(self.console().wait_for(answer)));
                }
            }
            Line::See(part) => {
                let seen = self.console().wait_for(&part);
                self.learn(&seen);
            }
        }
    }

    /// Runs a line to its end, or if it has none, until it is seen to work.
    pub(super) fn run_line(&mut self, shell: &str, line: &str) {
        if line.contains("ROOM") && !self.values.contains_key("ROOM") {
            self.open_room("--black random --white random --auto-start", "game over");
        }
        let here = self.here(line);
        if here.trim() == "reversi" || here.contains("reversi serve") {
            return self.serve(&here);
        }
        let mut command = self.command(&format!("{shell}{here}"));
        if let Some(seen) = long_running(line) {
            let mut client = Running::spawn(command);
            let seen = client.wait_for(seen);
            self.learn(&seen);
            self.clients.push(client);
            if let Some(host) = self.console.as_mut().filter(|_| line.contains("--room ROOM")) {
                host.wait_for("is ready");
            }
        } else {
            let output = command.output().unwrap();
            let (printed, error) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success(), "{line}, here {here}: {printed}{error}");
            self.learn(&printed);
        }
    }

    /// Starts a server in place of the one before it.
    pub(super) fn serve(&mut self, line: &str) {
        self.stop_server();
        let mut server = Running::spawn(self.command(&format!("exec env {line}")));
        let listening = server.wait_for("listening on ");
        let address = listening.split("listening on ").nth(1).unwrap().split(['"', ' ']).next().unwrap();
        let url = match address.rsplit_once(':').unwrap() {
            ("unix", _) => address.to_owned(),
            (_, port) if line.contains("--tls-cert") => format!("https://127.0.0.1:{port}"),
            (_, port) => format!("http://127.0.0.1:{port}"),
        };
        self.values.insert("{address}", url.rsplit('/').next().unwrap().to_owned());
        self.values.insert("{url}", url);
        self.server = Some(server);
    }

    /// Stops the server as systemd would.
    fn stop_server(&mut self) {
        for mut client in self.clients.drain(..) {
            assert!(client.child.try_wait().unwrap().is_none_or(|status| status.success()), "a command has failed");
        }
        self.console = None;
        self.values.remove("ROOM");
        if let Some(mut server) = self.server.take() {
            let process = server.child.id().to_string();
            assert!(Command::new("kill").arg(process).status().unwrap().success());
            server.wait_for_exit();
        }
    }

    /// Opens a room with these options, and waits for a line with this part.
    pub(super) fn open_room(&mut self, options: &str, part: &str) {
        let mut host = Running::spawn(self.command(&format!("reversi host {options}")));
        let first = host.wait_for("room ");
        self.learn(&first);
        host.wait_for(part);
        self.clients.push(host);
    }

    fn console(&mut self) -> &mut Running {
        self.console.as_mut().expect("a command of the block is running")
    }

    fn learn(&mut self, printed: &str) {
        for (before, name) in LEARNED {
            if let Some(after) = printed.lines().find_map(|line| line.trim_start().strip_prefix(before)) {
                let end = after.find(|letter: char| !letter.is_alphanumeric() && letter != '-').unwrap_or(after.len());
                self.values.insert(name, after[..end].to_owned());
            }
        }
    }

    /// The line with what stands here for what is printed.
    fn here(&self, line: &str) -> String {
        let line = self.table.iter().fold(line.to_owned(), |line, (printed, here)| line.replace(printed, here));
        self.values.iter().fold(line, |line, (name, value)| line.replace(name, value))
    }

    fn command(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_reversi")).parent().unwrap();
        let mut command = without_variables(Command::new("bash"));
        command.args(["-o", "pipefail", "-c", line]).current_dir(&self.folder).env("HOME", self.folder.path());
        command.env("PATH", format!("{}:{}", program.display(), env::var("PATH").unwrap()));
        command.env_remove("XDG_DATA_HOME").env("REVERSI_LISTEN", "127.0.0.1:0").env("REVERSI_LOG", "error");
        if let Some(url) = self.values.get("{url}") {
            command.env("REVERSI_SERVER", url);
            if url.starts_with("https:") {
                command.env("REVERSI_TLS_CA", "chain.pem");
            }
        }
        command
    }
}

/// Whether a line begins with these words.
pub(super) fn begins(line: &str, words: &str) -> bool {
    line.strip_prefix(words).is_some_and(|rest| rest.starts_with(|next: char| next.is_whitespace()))
}
