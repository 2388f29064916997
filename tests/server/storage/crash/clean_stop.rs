//! A server that is asked to stop does so, whether clients read or not, and while AIs search.

use std::time::Duration;

use reversi::proto::v1;
use tokio::time::Instant;
use tonic::transport::Endpoint;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::harness::process::{self, Server};

const DRAIN: Duration = Duration::from_secs(6);

#[tokio::test]
async fn a_server_stops_cleanly_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&["--data", folder.path().to_str().unwrap(), "--drain", "6"]);
    let reader = server.log_in("Reader", 1 << 20).await;
    let deaf = server.log_in("Deaf", 1 << 10).await;
    let settings = v1::RoomSettings { games: 1_000, ..Default::default() };
    let busy = reader.create(settings, ["random", "random"]).await.room_id;
    let thinking = deaf.create(v1::RoomSettings::default(), ["mcts", "mcts-roxanne"]).await.room_id;
    let (mut turns, mut watch) = (reader.turns().await, reader.watch(&busy).await);
    // Much more than fits into the buffers of a client that does not read.
    let unread = (deaf.turns().await, deaf.watch(&busy).await);
    let health = HealthClient::new(Endpoint::from_shared(server.url.clone()).unwrap().connect().await.unwrap())
        .watch(HealthCheckRequest::default())
        .await;
    reader.start(&busy).await;
    deaf.start(&thinking).await;
    process::read_until(&mut watch, 2_000).await;

    let began = Instant::now();
    let (stopped, said) = tokio::join!(server.stop(), process::close_reason(&mut turns));
    let (clean, log) = stopped;
    assert!(clean && log.contains("stopped: clean"), "{log}");
    assert!(began.elapsed() < DRAIN, "stopped before the deadline: {log}");
    assert_eq!(said, v1::CloseReason::Draining);
    drop((unread, health, watch));
}
