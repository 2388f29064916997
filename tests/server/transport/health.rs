//! The health service, and older reflection.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use reversi::store::{AppendError, MemoryStore, Store};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};
use tonic_reflection::pb::v1alpha::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

use crate::harness::in_process::{ServerOptions, TestServer, named, refused, within};

const SERVICES: [&str; 11] = [
    "",
    "liveness",
    "reversi.v1.SessionService",
    "reversi.v1.LobbyService",
    "reversi.v1.RoomService",
    "reversi.v1.GameService",
    "reversi.v1.RecordService",
    "reversi.v1.AnalysisService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

fn of(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.into() }
}

#[tokio::test]
async fn every_service_has_a_health() {
    let server = TestServer::open().await;
    let mut health = HealthClient::new(server.channel().await);
    for service in SERVICES {
        let status = health.check(of(service)).await.unwrap().into_inner().status();
        assert_eq!(status, ServingStatus::Serving, "{service}");
    }
    assert_eq!(health.check(of("reversi.v1.Nothing")).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn a_server_that_cannot_write_is_alive_and_not_ready() {
    let fails = Arc::new(AtomicBool::new(false));
    let fault = Arc::clone(&fails);
    let error = || AppendError::Unavailable("injected by the test".into());
    let store = MemoryStore::with_faults(Box::new(move |_, _| fault.load(SeqCst).then(error)));
    let server = TestServer::with(ServerOptions { store: Store::of(store), ..ServerOptions::default() }).await;
    let mut health = HealthClient::new(server.channel().await);
    let ada = server.human("Ada").await;
    let room = ada.create(named("room")).await.room_id;
    let mut watch = health.watch(of("")).await.unwrap().into_inner();
    let mut next = async || within(watch.message()).await.unwrap().unwrap().status();
    assert_eq!(next().await, ServingStatus::Serving);

    fails.store(true, SeqCst);
    refused(ada.chat(&room, "hello").await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!(next().await, ServingStatus::NotServing);
    let mut status = async |service| health.check(of(service)).await.unwrap().into_inner().status();
    assert_eq!(status("reversi.v1.GameService").await, ServingStatus::NotServing);
    assert_eq!(status("liveness").await, ServingStatus::Serving);

    fails.store(false, SeqCst);
    ada.chat(&room, "hello").await.unwrap();
    assert_eq!(next().await, ServingStatus::Serving);
}

#[tokio::test]
async fn a_watch_of_an_unknown_service_gets_its_status_and_stays_open() {
    let mut server = TestServer::open().await;
    let mut health = HealthClient::new(server.channel().await);
    let mut watch = health.watch(of("reversi.v1.Nothing")).await.unwrap().into_inner();
    assert_eq!(within(watch.message()).await.unwrap().unwrap().status(), ServingStatus::ServiceUnknown);
    server.stop();
    assert_eq!(within(watch.message()).await.unwrap_err().code(), Code::Unavailable);
    assert!(server.stopped().await);
}

#[tokio::test]
async fn reflection_answers_in_its_older_version_as_well() {
    let server = TestServer::open().await;
    let mut reflection = ServerReflectionClient::new(server.channel().await);
    let question = Some(MessageRequest::ListServices(String::new()));
    let question = ServerReflectionRequest { host: String::new(), message_request: question };
    let mut answers = reflection.server_reflection_info(tokio_stream::iter([question])).await.unwrap().into_inner();
    let Some(MessageResponse::ListServicesResponse(listed)) =
        within(answers.message()).await.unwrap().unwrap().message_response
    else {
        panic!("a list of services");
    };
    assert!(listed.service.iter().any(|service| service.name == "reversi.v1.RoomService"));
}

#[tokio::test]
async fn a_server_that_hands_its_rooms_over_is_not_ready_and_still_serves() {
    let server = TestServer::open().await;
    let mut health = HealthClient::new(server.channel().await);
    let ada = server.human("Ada").await;
    let mut watch = health.watch(of("")).await.unwrap().into_inner();
    assert_eq!(within(watch.message()).await.unwrap().unwrap().status(), ServingStatus::Serving);
    server.runtime.leaving().cancel();
    assert_eq!(within(watch.message()).await.unwrap().unwrap().status(), ServingStatus::NotServing);
    ada.create(named("room")).await;
}
