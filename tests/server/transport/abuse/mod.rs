//! The server under attacks below the level of calls, over real sockets: a game continues meanwhile, and afterwards no
//! connection is left.

mod attack;
mod frame;
mod game_players;
mod http2;

use std::time::Duration;

use reversi::{grpc::Access, runtime::Limits, web::page};
use tokio::{task::JoinSet, time::timeout};

use crate::harness::in_process::{ServerOptions, TestServer, within};
use attack::{Attack, Flood, PROXY, STREAMS};
use game_players::GamePlayers;

/// Timeout of an attack, which the server should end.
const ATTACK_TIMEOUT: Duration = Duration::from_secs(60);

/// Plays during the attack and to the end of the game; then waits until its connections are closed.
async fn survives(attack: Attack, change: impl FnOnce(&mut Limits)) {
    let trusted_proxies = vec![PROXY.to_string().parse().unwrap()];
    let access = Access { page: Some(page()), trusted_proxies, ..Access::default() };
    let mut plan = ServerOptions { access, ..ServerOptions::default() };
    // The players play as fast as possible.
    (plan.limits.request_burst, plan.limits.games_per_minute) = (100_000_000, 0);
    change(&mut plan.limits);
    let server = TestServer::with(plan).await;
    let mut players = GamePlayers::start(&server).await;
    let before = players.connections().await;
    let (mut attacks, address) = (JoinSet::new(), server.address.clone());
    attacks.spawn(async move { attack.once(&address).await });
    let received = timeout(ATTACK_TIMEOUT, async {
        loop {
            players.play_checked_move().await;
            if let Some(received) = attacks.try_join_next() {
                return received.unwrap();
            }
        }
    });
    attack.check(received.await.expect("the server ends the attack"));
    players.play_to_end().await;
    within(async { while players.connections().await > before {} }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rapid_stream_resets() {
    survives(Attack::RapidReset, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_idle_connections() {
    let opening = Duration::from_secs(3);
    survives(Attack::IdleConnections(2_000), |limits| limits.opening = opening).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_bytes() {
    survives(Attack::RandomBytes, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_http1_requests() {
    survives(Attack::Http1Requests, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_of_a_megabyte() {
    survives(Attack::LargeHeaders, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_sent_a_byte_at_a_time() {
    survives(Attack::SlowHeaders, |limits| limits.opening = Duration::from_secs(3)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_unfinished_heads() {
    survives(Attack::UnfinishedHeads, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_continuation_frames() {
    survives(Attack::EndlessContinuation, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simultaneous_messages_on_all_streams() {
    survives(Attack::AllStreams, |limits| assert_eq!(limits.streams_per_connection as usize, STREAMS)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_control_frames() {
    use Flood::*;
    let settings = [Settings, SettingsAck, InitialWindow];
    let others = [Ping, PingAck, WindowUpdate, Unknown, Reset, EmptyData, PaddedData, Priority];
    for flood in settings.into_iter().chain(others) {
        survives(Attack::Flood(flood), |_| {}).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_ins_guesses_and_invitations_on_all_streams() {
    for attack in [Attack::LogIns, Attack::Guesses, Attack::Passwords, Attack::Secrets, Attack::Invitations] {
        // The attacker answers no pings, and hashing the passwords takes long on a busy machine. The first ping is sent at
        // a random time within the interval.
        survives(attack, |limits| limits.keepalive = 1_000 * ATTACK_TIMEOUT).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guests_of_two_networks_with_open_streams() {
    survives(Attack::Guests, |limits| limits.players = 200).await;
}
