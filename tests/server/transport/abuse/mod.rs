//! The server under attacks below the level of calls, over real sockets: a game continues meanwhile, and afterwards no
//! connection is left.

mod attack;
mod frame;
mod neighbour;

use std::time::Duration;

use reversi::{grpc::Access, runtime::Limits, web::page};
use tokio::{task::JoinSet, time::timeout};

use crate::harness::in_process::{ServerOptions, TestServer, within};
use attack::{Attack, VOICES};
use neighbour::Neighbour;

/// Timeout of an attack, which the server should end.
const LONGEST: Duration = Duration::from_secs(60);

/// Plays during the attack and to the end of the game; then waits until its connections are closed.
async fn endures(attack: Attack, change: impl FnOnce(&mut Limits)) {
    let access = Access { page: Some(page()), ..Access::default() };
    let mut plan = ServerOptions { access, ..ServerOptions::default() };
    // The players play as fast as possible.
    plan.limits.request_burst = 100_000_000;
    change(&mut plan.limits);
    let stage = TestServer::with(plan).await;
    let mut table = Neighbour::open(&stage).await;
    let before = table.connections().await;
    let (mut attacks, address) = (JoinSet::new(), stage.address.clone());
    attacks.spawn(async move { attack.once(&address).await });
    let said = timeout(LONGEST, async {
        loop {
            table.play_a_move().await;
            if let Some(said) = attacks.try_join_next() {
                return said.unwrap();
            }
        }
    });
    attack.check(said.await.expect("the server puts an end to it"));
    table.play_to_the_end().await;
    within(async { while table.connections().await > before {} }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rapid_stream_resets() {
    endures(Attack::RapidReset, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_idle_connections() {
    let opening = Duration::from_secs(3);
    endures(Attack::Silence(2_000), |limits| limits.opening = opening).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_bytes() {
    endures(Attack::Noise, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_http1_requests() {
    endures(Attack::Requests, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_of_a_megabyte() {
    endures(Attack::LargeHeaders, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_sent_a_byte_at_a_time() {
    endures(Attack::Dribble, |limits| limits.opening = Duration::from_secs(3)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_continuation_frames() {
    endures(Attack::Continuation, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simultaneous_messages_on_all_streams() {
    endures(Attack::Chorus, |limits| assert_eq!(limits.streams_per_connection as usize, VOICES)).await;
}
