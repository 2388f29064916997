//! The API as used from other languages: bots in Python, Go and Node play whole games against the real binary, with gRPC
//! only.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use reversi_needs::needs;

use super::command::reversi;

/// Names a Python interpreter with `grpcio` and `grpcio-tools`; `.ci/run` installs one and sets this.
pub(crate) const PYTHON: &str = "REVERSI_PYTHON";

/// Names the program of `clients/go`; `.ci/run` builds it and sets this.
pub(crate) const GO_BOT: &str = "REVERSI_GO_BOT";

/// Timeout of a game. A random game against a fast AI takes a second; a slow machine needs much longer.
const TIMEOUT: Duration = Duration::from_secs(120);

#[needs(python)]
#[test]
fn plays_a_game_against_an_ai() {
    let python = program(PYTHON);
    let server = Server::start("against_an_ai");
    let mut bot = Bot::in_python(&python, &[&server.address, "roxanne"]);
    played_to_the_end(&bot.finish());
}

#[test]
fn a_whole_bot_is_short() {
    let bot = include_str!("../../../clients/python/bot.py");
    let inner = bot.lines().skip_while(|line| !line.contains("while True")).take_while(|line| line.starts_with(' '));
    assert!(inner.count() <= 20 && bot.lines().count() <= 40);
    assert!(bot.lines().all(|line| line.len() <= 120));
}

#[needs(go_bot)]
#[test]
fn a_go_bot_plays_a_game_against_an_ai() {
    let bot = program(GO_BOT);
    let server = Server::start("go_against_an_ai");
    let mut bot = Bot::start(Command::new(bot).args([&server.address, "random"]));
    played_to_the_end(&bot.finish());
}

#[needs(node_bot)]
#[test]
fn a_node_bot_plays_a_game_against_an_ai() {
    let bot = program("REVERSI_NODE_BOT");
    let server = Server::start("node_against_an_ai");
    let mut bot = Bot::start(Command::new("node").arg(bot).args([&server.address, "random"]));
    played_to_the_end(&bot.finish());
}

/// Checks that a bot plays on in a pool after its first game, as a meeting is two games; and that it ends if the server has
/// no such pool.
fn plays_in_a_pool(name: &str, bot: impl Fn(&str, &str) -> Bot) {
    let server = Server::start(name);
    let mut lost = bot(&server.address, "61+1");
    lost.0.read(|mut output| output.read_to_string(&mut String::new()).map(drop)).expect("the output is UTF-8");
    assert!(!lost.0.wait().success());
    let ended = bot(&server.address, "60+1").0.read(|output| {
        let lines = output.lines().map_while(Result::ok);
        lines.filter(|line| line.contains("GAME_END_REASON_DISCS")).take(2).count()
    });
    assert_eq!(ended, 2);
}

#[needs(python)]
#[test]
fn a_python_bot_plays_in_a_pool() {
    let python = program(PYTHON);
    plays_in_a_pool("python_in_a_pool", |server, pool| Bot::in_python(&python, &[server, pool]));
}

#[needs(go_bot)]
#[test]
fn a_go_bot_plays_in_a_pool() {
    let bot = program(GO_BOT);
    plays_in_a_pool("go_in_a_pool", |server, pool| Bot::start(Command::new(&bot).args([server, pool])));
}

#[needs(node_bot)]
#[test]
fn a_node_bot_plays_in_a_pool() {
    let bot = program("REVERSI_NODE_BOT");
    plays_in_a_pool("node_in_a_pool", |server, pool| Bot::start(Command::new("node").arg(&bot).args([server, pool])));
}

#[needs(python)]
#[test]
fn two_python_bots_play_each_other() {
    let python = program(PYTHON);
    let server = Server::start("meeting");
    let mut first = Bot::in_python(&python, &[&server.address]);
    let mut second = Bot::in_python(&python, &[&server.address]);
    let (first, second) = (first.finish(), second.finish());
    played_to_the_end(&first);
    assert_eq!(first, second, "both bots report the same outcome");
}

#[needs(python)]
#[test]
fn a_python_bot_plays_over_tls() {
    let python = program(PYTHON);
    let (server, certificate) = Server::with_tls("python_over_tls");
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/bot.py");
    let url = format!("https://{}", server.address);
    let mut command = Command::new(python);
    command.arg(bot).args([&url, "random"]).env("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", certificate);
    played_to_the_end(&Bot::start(&mut command).finish());
}

#[needs(go_bot)]
#[test]
fn a_go_bot_plays_over_tls() {
    let bot = program(GO_BOT);
    let (server, certificate) = Server::with_tls("go_over_tls");
    let url = format!("https://{}", server.address);
    let mut command = Command::new(bot);
    command.args([&url, "random"]).env("SSL_CERT_FILE", certificate);
    played_to_the_end(&Bot::start(&mut command).finish());
}

/// The program that an environment variable names.
pub(crate) fn program(variable: &str) -> PathBuf {
    env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set")).into()
}

/// Checks for an outcome by discs: then the bot has answered every turn in time.
fn played_to_the_end(outcome: &str) {
    assert!(outcome.contains("GAME_END_REASON_DISCS"), "the bot printed: {outcome}");
}

/// A process that is killed when this is dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        Self(child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }

    /// The first value that `read` returns for the output. Panics at the timeout.
    fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(BufReader<Box<dyn Read + Send>>) -> T + Send + 'static,
    ) -> T {
        let output: Box<dyn Read + Send> = Box::new(self.0.stdout.take().expect("the output is read once"));
        let (done, result) = sync_channel(1);
        thread::spawn(move || done.send(read(BufReader::new(output))));
        match result.recv_timeout(TIMEOUT) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => panic!("no result within {TIMEOUT:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the output can be read"),
        }
    }

    fn wait(&mut self) -> ExitStatus {
        self.0.wait().expect("the process exits")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if the process has exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Server {
    address: String,
    _process: Process,
}

impl Server {
    /// Starts the binary on a free port, in a new folder.
    fn start(name: &str) -> Self {
        Self::start_in(&empty_folder(name), &[])
    }

    /// As [`Server::start`], with a certificate that is its own authority. Returns its file as well.
    fn with_tls(name: &str) -> (Self, PathBuf) {
        let folder = empty_folder(name);
        let key = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        fs::write(folder.join("chain.pem"), key.cert.pem()).expect("writable");
        fs::write(folder.join("key.pem"), key.signing_key.serialize_pem()).expect("writable");
        let server = Self::start_in(&folder, &["--tls-cert", "chain.pem", "--tls-key", "key.pem"]);
        (server, folder.join("chain.pem"))
    }

    fn start_in(folder: &Path, options: &[&str]) -> Self {
        let mut process = Process::start(
            reversi(&[&["serve", "--ephemeral", "--listen", "127.0.0.1:0"], options].concat()).current_dir(folder),
        );
        let address = process.read(|output| {
            let mut lines = output.lines().map_while(Result::ok);
            let address = lines.find_map(|line| address_in(&line));
            // Keeps reading, since a full pipe would block the server.
            thread::spawn(move || lines.for_each(drop));
            address
        });
        Self { address: address.expect("the server prints its address"), _process: process }
    }
}

fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bots").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

/// The address in a line that contains `listening on 127.0.0.1:PORT`.
fn address_in(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(['.', ':']).to_owned())
}

struct Bot(Process);

impl Bot {
    fn start(command: &mut Command) -> Self {
        Self(Process::start(command))
    }

    fn in_python(python: &Path, arguments: &[&str]) -> Self {
        let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/bot.py");
        Self::start(Command::new(python).arg(bot).args(arguments))
    }

    /// The output of the process, which must succeed.
    fn finish(&mut self) -> String {
        let printed = self.0.read(|mut output| {
            let mut printed = String::new();
            output.read_to_string(&mut printed).map(|_| printed)
        });
        let status = self.0.wait();
        assert!(status.success(), "the bot ended with {status}");
        printed.expect("the output is UTF-8")
    }
}

#[test]
fn the_address_is_read_from_the_line() {
    assert_eq!(address_in("reversi 0.1.0 listening on 127.0.0.1:4711."), Some("127.0.0.1:4711".to_owned()));
    assert_eq!(address_in("listening on 127.0.0.1:4711 (plain text)"), Some("127.0.0.1:4711".to_owned()));
    assert_eq!(address_in("starting"), None);
}
