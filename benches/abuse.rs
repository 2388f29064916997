//! How long a turn takes next door to an abuse: `cargo bench --bench abuse`. The goal is twice as long as undisturbed.
//!
//! Those who attack are threads of this process at the lowest priority, since their work is other machines' elsewhere;
//! what they make the server do is done at its own.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and stops at a fault"
)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use thread_priority::{ThreadPriority, set_current_thread_priority};
use tokio_util::sync::CancellationToken;

#[path = "../tests/abuse/attack.rs"]
#[allow(dead_code, reason = "what the server says to it is for the tests")]
mod attack;
#[path = "../tests/abuse/frame.rs"]
#[allow(dead_code, reason = "what the server says to it is for the tests")]
mod frame;
#[path = "../tests/abuse/neighbour.rs"]
#[allow(dead_code, reason = "what is right is for the tests")]
mod neighbour;
#[path = "../tests/api/stage.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod stage;

use attack::Attack;
use neighbour::Table;
use stage::Stage;

/// How long each abuse is measured.
const SPAN: Duration = Duration::from_secs(5);
/// How long it goes on before, so that it is at its height.
const BEFORE: Duration = Duration::from_millis(500);

fn main() {
    let attacks: [(&str, Option<Attack>); 8] = [
        ("undisturbed", None),
        ("streams opened and reset", Some(Attack::RapidReset)),
        ("2,000 silent connections", Some(Attack::Silence(2_000))),
        ("noise", Some(Attack::Noise)),
        ("HTTP/1.1 requests", Some(Attack::Requests)),
        ("large headers", Some(Attack::LargeHeaders)),
        ("headers a byte at a time", Some(Attack::Dribble)),
        ("headers without end", Some(Attack::Continuation)),
    ];
    println!(
        "{:<26} {:>7} {:>9} {:>9} {:>7} {:>7} {:>8}",
        "abuse", "turns", "median", "p99", "ratio", "ratio", "attacks"
    );
    let mut undisturbed = None;
    for (name, attack) in attacks {
        let (mut samples, times) = measure(attack);
        samples.sort_unstable();
        let at = |percent: usize| samples[(samples.len() - 1) * percent / 100];
        let (median, late) = *undisturbed.get_or_insert((at(50), at(99)));
        let ratio = |now: Duration, then: Duration| now.as_secs_f64() / then.as_secs_f64();
        println!(
            "{name:<26} {:>7} {:>6} us {:>6} us {:>7.2} {:>7.2} {times:>8}",
            samples.len(),
            at(50).as_micros(),
            at(99).as_micros(),
            ratio(at(50), median),
            ratio(at(99), late),
        );
    }
}

/// What each turn took, and how many attacks the server put an end to meanwhile.
fn measure(attack: Option<Attack>) -> (Vec<Duration>, u64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let stage = runtime.block_on(Stage::limited(|limits| limits.request_burst = 100_000_000));
    let mut table = runtime.block_on(Table::open(&stage));
    let (over, attacks) = (CancellationToken::new(), Arc::new(AtomicU64::new(0)));
    let attacker = attack.map(|attack| {
        let (over, attacks, address) = (over.clone(), Arc::clone(&attacks), stage.address.clone());
        let attacker = std::thread::spawn(move || attack_until(&over, attack, &address, &attacks));
        std::thread::sleep(BEFORE);
        attacker
    });
    let samples = runtime.block_on(async {
        let (began, mut samples) = (Instant::now(), Vec::new());
        while began.elapsed() < SPAN {
            if table.is_over() {
                table.begin_anew().await;
            }
            let asked = Instant::now();
            table.answer_the_turn().await;
            samples.push(asked.elapsed());
        }
        samples
    });
    over.cancel();
    attacker.map_or(Ok(()), std::thread::JoinHandle::join).unwrap();
    runtime.shutdown_background();
    (samples, attacks.load(Relaxed))
}

fn attack_until(over: &CancellationToken, attack: Attack, address: &str, attacks: &AtomicU64) {
    set_current_thread_priority(ThreadPriority::Min).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let attacking = async {
        loop {
            attack.once(address).await;
            attacks.fetch_add(1, Relaxed);
        }
    };
    runtime.block_on(over.run_until_cancelled(attacking));
}
