//! The health service, older reflection, and answers that are a status only.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, Request};
use prost::Message as _;
use tokio::{net::TcpStream, task::JoinSet};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};
use tonic_reflection::pb::v1alpha::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

use crate::harness::in_process::{TestServer, within};

const SERVICES: [&str; 10] = [
    "",
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
async fn a_watch_of_an_unknown_service_gets_its_status_and_stays_open() {
    let mut server = TestServer::open().await;
    let mut health = HealthClient::new(server.channel().await);
    let mut watch = health.watch(of("reversi.v1.Nothing")).await.unwrap().into_inner();
    assert_eq!(within(watch.message()).await.unwrap().unwrap().status(), ServingStatus::ServiceUnknown);
    server.stop();
    assert_eq!(within(watch.message()).await.unwrap_err().code(), Code::Unavailable);
    assert!(server.stopped().await);
}

/// The headers of the answer to a unary call without a token, and whether they end the stream.
async fn headers(server: &TestServer, path: &str, message: &[u8]) -> (HeaderMap, bool) {
    let socket = TcpStream::connect(&server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(socket).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let request = Request::post(format!("http://{}/{path}", server.address));
    let request = request.header("content-type", "application/grpc").header("te", "trailers").body(()).unwrap();
    let (response, mut body) = client.ready().await.unwrap().send_request(request, false).unwrap();
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.put_slice(message);
    body.send_data(Bytes::from(framed), true).unwrap();
    let (parts, body) = within(response).await.unwrap().into_parts();
    (parts.headers, body.is_end_stream())
}

#[tokio::test]
async fn an_error_without_messages_is_one_frame_of_headers() {
    let server = TestServer::open().await;
    let unknown = of("reversi.v1.Nothing").encode_to_vec();
    let calls: [(&str, &[u8], Code); 6] = [
        ("grpc.health.v1.Health/Check", &unknown, Code::NotFound),
        ("grpc.health.v1.Health/Nothing", &[], Code::Unimplemented),
        ("grpc.reflection.v1.ServerReflection/Nothing", &[], Code::Unimplemented),
        ("other.Nothing/Nothing", &[], Code::Unimplemented),
        ("reversi.v1.GameService/PlayMove", &[], Code::Unauthenticated),
        ("reversi.v1.SessionService/LogIn", &[], Code::InvalidArgument),
    ];
    for (path, message, code) in calls {
        let (headers, ended) = headers(&server, path, message).await;
        let status = headers.get("grpc-status").map(|status| status.to_str().unwrap().to_owned());
        assert_eq!((status, ended), (Some((code as i32).to_string()), true), "{path}");
    }
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
