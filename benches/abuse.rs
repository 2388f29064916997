//! Latency of turns during an attack on the server, on Linux: `cargo bench --bench abuse [-- PART OF A NAME]`. The goal
//! is at most twice the latency without an attack.
//!
//! The server runs on the first processor. The measured players and the attackers share the second, where attackers run
//! only while the players are idle, as if on another machine. Attackers still cost the players some time there.
//! Therefore each round has three parts: no attack, an attack on a dummy server, and an attack on the server. The cost
//! for the server is the ratio of the third part to the second.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and fails at the first error"
)]

#[path = "../tests/server/transport/abuse/attack.rs"]
#[allow(dead_code, reason = "only the tests check the server's answers")]
mod attack;
#[path = "../tests/server/transport/abuse/frame.rs"]
#[allow(dead_code, reason = "only the tests check the server's answers")]
mod frame;
#[path = "../tests/server/harness/process.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod process;

use std::{
    io::Read as _,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use attack::Attack;
use process::{Player, Server};
use reversi::{
    proto::v1,
    rules::{Color, Position},
};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

const ROUNDS: usize = 5;
/// Measured duration of each part of a round.
const SPAN: Duration = Duration::from_secs(1);
/// Duration of an attack before the measurement: long enough for the attack to start, short enough that its initial
/// burst is measured, too.
const BEFORE: Duration = Duration::from_millis(300);
/// Maximum time from connecting to the first request, for the server and the dummy.
const OPENING: Duration = Duration::from_secs(2);

const ATTACKS: [(&str, Attack); 7] = [
    ("streams opened and reset", Attack::RapidReset),
    ("2,000 idle connections", Attack::IdleConnections(2_000)),
    ("random bytes", Attack::RandomBytes),
    ("HTTP/1.1 requests", Attack::Http1Requests),
    ("large headers", Attack::LargeHeaders),
    ("headers a byte at a time", Attack::SlowHeaders),
    ("endless headers", Attack::EndlessContinuation),
];

const PAIR: &str = "p50    p99";
const MEDIAN: &str = "median (range)";

/// Given instead of a server's address: the attacker attacks a dummy server in its process.
const DUMMY: &str = "dummy";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match &arguments[..] {
        [role, number, address] if role == "attack" => {
            runtime.block_on(attack_until_input_ends(ATTACKS[number.parse::<usize>().unwrap()].1, address));
        }
        names => runtime.block_on(measure_all(names)),
    }
}

async fn measure_all(names: &[String]) {
    let pinned = Command::new("taskset").args(["-a", "-c", "-p", "1", &std::process::id().to_string()]).output();
    assert!(pinned.unwrap().status.success());
    let heads = ["undisturbed", "dummy attacked", "server attacked", "ratio of p50", "ratio of p99", "attacks"];
    let [undisturbed, dummy, server, median, late, attacks] = heads;
    println!("{:26} {undisturbed:>15} {dummy:>15} {server:>15}  {median:>18} {late:>18} {attacks:>8}", "");
    println!("{:26} {PAIR:>15} {PAIR:>15} {PAIR:>15}  {MEDIAN:>18} {MEDIAN:>18}", "(microseconds)");
    for (number, (name, _)) in ATTACKS.iter().enumerate() {
        if !names.iter().all(|part| name.contains(part.as_str())) {
            continue;
        }
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(number).await);
        }
        report(name, &rounds);
    }
}

/// The measurements of one part of a round.
#[derive(Clone, Copy)]
struct Part {
    /// The median and the 99th percentile of the latency of turns, in microseconds.
    turns: [f64; 2],
    /// Number of attacks during the measurement.
    attacks: f64,
}

async fn round(number: usize) -> [Part; 3] {
    let opening = OPENING.as_secs().to_string();
    let options = ["--log", "error", "--rate", "1000000", "--burst", "100000000", "--opening", &opening];
    let server = Server::start_by(&["taskset", "-c", "0"], &options);
    let mut players = GamePlayers::start(&server).await;
    let undisturbed = Part { turns: players.measure().await, attacks: 0.0 };
    let mut during_attack = async |address: &str| {
        let attacker = Attacker::start(number, address);
        Part { turns: players.measure().await, attacks: attacker.stop() }
    };
    [undisturbed, during_attack(DUMMY).await, during_attack(server.url.strip_prefix("http://").unwrap()).await]
}

fn report(name: &str, rounds: &[[Part; 3]]) {
    let turns = |part: usize| {
        let [median, late] = [0, 1].map(|rank| min_median_max(rounds.iter().map(|round| round[part].turns[rank]))[1]);
        format!("{median:.0} {late:6.0}")
    };
    let ratio = |rank: usize| {
        let [least, usual, most] =
            min_median_max(rounds.iter().map(|round| round[2].turns[rank] / round[1].turns[rank]));
        format!("{usual:.2} ({least:.2}-{most:.2})")
    };
    let [_, attacks, _] = min_median_max(rounds.iter().map(|round| round[2].attacks));
    println!(
        "{name:26} {:>15} {:>15} {:>15}  {:>18} {:>18} {attacks:8.0}",
        turns(0),
        turns(1),
        turns(2),
        ratio(0),
        ratio(1)
    );
}

/// The minimum, the median and the maximum.
fn min_median_max(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2], values[values.len() - 1]]
}

/// A process that attacks until it is stopped.
struct Attacker(Child);

impl Attacker {
    fn start(number: usize, address: &str) -> Self {
        let itself = std::env::current_exe().unwrap();
        let mut command = Command::new("chrt");
        command.args(["--idle", "0", "taskset", "-c", "1"]).arg(itself).args(["attack", &number.to_string(), address]);
        let attacker = Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        std::thread::sleep(BEFORE);
        attacker
    }

    /// Stops the process. Returns the number of its attacks.
    fn stop(mut self) -> f64 {
        drop(self.0.stdin.take());
        let mut attacks = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut attacks).unwrap();
        assert!(self.0.wait().unwrap().success());
        attacks.trim().parse().unwrap()
    }
}

/// Attacks until standard input ends, then prints the number of attacks.
async fn attack_until_input_ends(attack: Attack, address: &str) {
    let mut dummy = JoinSet::new();
    let address = match address {
        DUMMY => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            dummy.spawn(accept_connections(listener, matches!(attack, Attack::SlowHeaders)));
            address
        }
        address => address.to_owned(),
    };
    let mut attacks = 0;
    let attacking = async {
        loop {
            attack.once(&address).await;
            attacks += 1;
        }
    };
    let (mut input, mut byte) = (tokio::io::stdin(), [0]);
    tokio::select! {
        () = attacking => {}
        _ = input.read(&mut byte) => {}
    }
    println!("{attacks}");
}

/// The dummy server: accepts connections, and closes each after its first bytes (unless `patient`) or after
/// [`OPENING`].
async fn accept_connections(listener: TcpListener, patient: bool) {
    let mut all = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        all.spawn(timeout(OPENING, read_all(socket, patient)));
        while all.try_join_next().is_some() {}
    }
}

async fn read_all(mut socket: TcpStream, patient: bool) {
    let mut received = [0; 16_384];
    while socket.read(&mut received).await.is_ok_and(|length| length > 0) && patient {}
}

/// Two players that play one game after another.
struct GamePlayers {
    players: [Player; 2],
    room: String,
    game: String,
    ply: i32,
    position: Position,
}

impl GamePlayers {
    async fn start(server: &Server) -> Self {
        let players = [Player::bot(&server.url, "Black", 1).await, Player::bot(&server.url, "White", 1).await];
        let room = players[0].create(v1::RoomSettings::default(), ["me", "open"]).await.room_id;
        players[1].join_and_sit(&room, 1).await;
        let game = players[0].start(&room).await;
        Self { players, room, game, ply: 0, position: Position::START }
    }

    /// Plays for [`SPAN`]. Returns the median and the 99th percentile of the latency of turns, in microseconds.
    async fn measure(&mut self) -> [f64; 2] {
        let (began, mut turns) = (Instant::now(), Vec::new());
        while began.elapsed() < SPAN {
            if self.position.is_over() {
                self.start_next_game().await;
            }
            let started = Instant::now();
            self.play_move().await;
            turns.push(started.elapsed());
        }
        turns.sort_unstable();
        [50, 99].map(|percent| turns[(turns.len() - 1) * percent / 100].as_secs_f64() * 1e6)
    }

    async fn play_move(&mut self) {
        let square = self.position.legal_moves().iter().next().unwrap();
        let player = &self.players[usize::from(self.position.turn() == Color::White)];
        player.play(&self.game, self.ply, &square.to_string()).await.unwrap();
        let (next, passed) = self.position.play(square).unwrap().after_forced_pass();
        self.position = next;
        self.ply += if passed.is_some() { 2 } else { 1 };
    }

    async fn start_next_game(&mut self) {
        let ready = v1::SetReadyRequest { room_id: self.room.clone(), ready: true };
        self.players[1].rooms().set_ready(ready).await.unwrap();
        self.game = self.players[0].start(&self.room).await;
        (self.ply, self.position) = (0, Position::START);
    }
}
