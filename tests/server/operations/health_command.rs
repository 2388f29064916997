//! `reversi health`.

use tokio::task::JoinSet;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;

use crate::cli::command::{Server, reversi, text};

#[test]
fn a_server_that_works_is_serving() {
    let server = Server::start();
    assert_eq!(server.output_of(&["health"], ""), "SERVING\n");
    assert_eq!(server.output_of(&["health", "--service", "reversi.v1.GameService"], ""), "SERVING\n");
    let error = server.error_of(&["health", "--service", "reversi.v1.Nothing"]);
    assert!(error.contains("no such service"), "{error}");
}

#[test]
fn without_a_server_the_command_fails() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let output = reversi(&["health", "--server", &url]).output().unwrap();
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("no server at"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_serve_is_an_error() {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_service_status("", ServingStatus::NotServing).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(
        tonic::transport::Server::builder().add_service(health).serve_with_incoming(TcpIncoming::from(listener)),
    );
    let output = tokio::task::block_in_place(|| reversi(&["health", "--server", &url]).output().unwrap());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("the server answers NOT_SERVING"), "{output:?}");
}
