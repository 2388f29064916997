//! Latency of turns during an attack on the server, on Linux: `cargo bench --bench abuse [-- PART OF A NAME]`. The goal
//! is at most twice the latency without an attack.
//!
//! The server runs on the first processor. The measured players and the attackers share the second, where attackers run
//! only while the players are idle, as if on another machine, and have another address, as the limits by address
//! expect. Attackers still cost the players some time there.
//! Therefore each round has three parts: no attack, an attack on a dummy server, and an attack on the server. In each,
//! new players log in and play. The cost for the server is the ratio of the third part to the second. The processor
//! time of the server, above that of the second part, should not be much more than that of the attacker.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and fails at the first error"
)]

mod ai_seats;
#[path = "../../tests/server/transport/abuse/attack.rs"]
#[allow(dead_code, reason = "only the tests check the server's answers")]
mod attack;
mod attacker;
#[path = "../../tests/server/transport/abuse/frame.rs"]
#[allow(dead_code, reason = "only the tests check the server's answers")]
mod frame;
#[path = "../../tests/server/harness/process.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod process;
mod turns;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use attack::{Attack, Flood, PROXY};
use attacker::{Attacker, DUMMY, attack_until_input_ends, processor_time};
use process::Server;
use turns::GamePlayers;

const ROUNDS: usize = 5;
/// Measured duration of each part of a round.
const SPAN: Duration = Duration::from_secs(1);
/// Maximum time from connecting to the first request, for the server and the dummy.
const OPENING: Duration = Duration::from_secs(2);

const ATTACKS: [(&str, Attack); 22] = [
    ("streams opened and reset", Attack::RapidReset),
    ("2,000 idle connections", Attack::IdleConnections(2_000)),
    ("random bytes", Attack::RandomBytes),
    ("HTTP/1.1 requests", Attack::Http1Requests),
    ("large headers", Attack::LargeHeaders),
    ("headers a byte at a time", Attack::SlowHeaders),
    ("1,000 unfinished heads", Attack::UnfinishedHeads),
    (TO_METRICS, Attack::UnfinishedHeads),
    ("endless headers", Attack::EndlessContinuation),
    ("settings", Attack::Flood(Flood::Settings)),
    ("windows of 1,000 streams", Attack::Flood(Flood::InitialWindow)),
    ("pings", Attack::Flood(Flood::Ping)),
    ("window updates", Attack::Flood(Flood::WindowUpdate)),
    ("unknown frames", Attack::Flood(Flood::Unknown)),
    ("resets of a stream", Attack::Flood(Flood::Reset)),
    ("empty data", Attack::Flood(Flood::EmptyData)),
    ("log-ins", Attack::LogIns),
    ("guesses of join codes", Attack::Guesses),
    ("rooms with passwords", Attack::Passwords),
    ("administrator's secrets", Attack::Secrets),
    ("invitations", Attack::Invitations),
    ("guests of two networks", Attack::Guests),
];

/// The attack on the port of the metrics.
const TO_METRICS: &str = "heads to the metrics";

/// The places for players: fewer than the guests of the last attack.
const PLACES: usize = 500;

const PAIR: &str = "p50    p99";
const MEDIAN: &str = "median (range)";
/// The shares of a processor that the server used, with the dummy attacked and attacked itself, and the attacker.
const SHARES: &str = "before/srv/att %";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match &arguments[..] {
        [role, number, address] if role == "attack" => {
            runtime.block_on(attack_until_input_ends(ATTACKS[number.parse::<usize>().unwrap()].1, address));
        }
        names => {
            // First, because the attacks bind this process to one processor.
            if names.iter().all(|part| ai_seats::NAME.contains(part.as_str())) {
                runtime.block_on(ai_seats::measure());
            }
            runtime.block_on(measure_all(names));
        }
    }
}

async fn measure_all(names: &[String]) {
    let pinned = Command::new("taskset").args(["-a", "-c", "-p", "1", &std::process::id().to_string()]).output();
    assert!(pinned.unwrap().status.success());
    let heads = ["undisturbed", "dummy attacked", "server attacked", "ratio of p50", "ratio of p99", "CPU", "attacks"];
    let [undisturbed, dummy, server, median, late, shares, attacks] = heads;
    println!("{:26} {undisturbed:>15} {dummy:>15} {server:>15}  {median:>18} {late:>18} {shares:>15} {attacks:>8}", "");
    println!("{:26} {PAIR:>15} {PAIR:>15} {PAIR:>15}  {MEDIAN:>18} {MEDIAN:>18} {SHARES:>15}", "(microseconds)");
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
    /// The shares of a processor that the server and the attacker used, in percent.
    shares: [f64; 2],
    /// Number of attacks during the measurement.
    attacks: f64,
}

async fn round(number: usize) -> [Part; 3] {
    // The players start more games than the default rate permits.
    let options = format!(
        "--log error --game-rate 0 --game-rate-per-address 0 --rate 1000000 --burst 100000000 --opening {} \
         --max-players {PLACES} --trusted-proxy {PROXY} --metrics 127.0.0.1:0",
        OPENING.as_secs()
    );
    let options: Vec<&str> = options.split_whitespace().collect();
    let mut server = Server::start_by(&["taskset", "-c", "0"], &options);
    let metrics = server.wait_for_line("metrics: http://");
    let attacked = match ATTACKS[number].0 {
        TO_METRICS => metrics.strip_suffix("/metrics").unwrap(),
        _ => server.url.strip_prefix("http://").unwrap(),
    };
    let turns = GamePlayers::start(&server, 0).await.measure().await;
    let undisturbed = Part { turns, shares: [0.0; 2], attacks: 0.0 };
    let during_attack = async |part: usize, address: &str| {
        let attacker = Attacker::start(number, address);
        let mut players = GamePlayers::start(&server, part).await;
        let times = || [server.id(), attacker.id()].map(processor_time);
        let (began, before) = (Instant::now(), times());
        let turns = players.measure().await;
        let (spent, after) = (began.elapsed(), times());
        let shares = [0, 1].map(|of| 100.0 * (after[of] - before[of]).div_duration_f64(spent));
        Part { turns, shares, attacks: attacker.stop() }
    };
    [undisturbed, during_attack(1, DUMMY).await, during_attack(2, attacked).await]
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
    let median = |value: fn(&[Part; 3]) -> f64| min_median_max(rounds.iter().map(value))[1];
    let (idle, server) = (median(|round| round[1].shares[0]), median(|round| round[2].shares[0]));
    let (attacker, attacks) = (median(|round| round[2].shares[1]), median(|round| round[2].attacks));
    println!(
        "{name:26} {:>15} {:>15} {:>15}  {:>18} {:>18} {:>15} {attacks:8.0}",
        turns(0),
        turns(1),
        turns(2),
        ratio(0),
        ratio(1),
        format!("{idle:.0}/{server:.0}/{attacker:.0}")
    );
}

/// The minimum, the median and the maximum.
fn min_median_max(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2], values[values.len() - 1]]
}
