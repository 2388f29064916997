//! The server under abuse below the level of calls, over real sockets: meanwhile a game goes on, move for move, and
//! afterwards nothing is left of it.

mod attack;
mod frame;
mod neighbour;

use std::time::Duration;

use reversi::{grpc::Access, runtime::Limits, web::page};
use tokio::{task::JoinSet, time::timeout};

use crate::harness::in_process::{Plan, Stage, within};
use attack::{Attack, VOICES};
use neighbour::Table;

/// No attack takes this long, which the server should end.
const LONGEST: Duration = Duration::from_secs(60);

/// Plays while the attack goes on, and to the end of the game; then waits until its connections are gone.
async fn endures(attack: Attack, change: impl FnOnce(&mut Limits)) {
    let access = Access { page: Some(page()), ..Access::default() };
    let mut plan = Plan { access, ..Plan::default() };
    // The players are as fast as they can.
    plan.limits.request_burst = 100_000_000;
    change(&mut plan.limits);
    let stage = Stage::with(plan).await;
    let mut table = Table::open(&stage).await;
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
async fn streams_that_are_opened_and_reset() {
    endures(Attack::RapidReset, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_who_say_nothing() {
    let opening = Duration::from_secs(3);
    endures(Attack::Silence(2_000), |limits| limits.opening = opening).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn noise() {
    endures(Attack::Noise, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_http_1_without_end() {
    endures(Attack::Requests, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_of_a_megabyte() {
    endures(Attack::LargeHeaders, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_a_byte_at_a_time() {
    endures(Attack::Dribble, |limits| limits.opening = Duration::from_secs(3)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_are_continued_for_ever() {
    endures(Attack::Continuation, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_on_every_stream_of_a_connection_at_once() {
    endures(Attack::Chorus, |limits| assert_eq!(limits.streams_per_connection as usize, VOICES)).await;
}
