//! Answers without a body are one frame of headers that ends the stream, whatever layers they pass: some clients take
//! an empty message before the status for a broken stream.

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::client::SendRequest;
use http::{Method, Request, request, response};
use prost::Message as _;
use reversi::{grpc::Access, proto::v1, web::page};
use tokio::{net::TcpStream, task::JoinSet};
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;

use crate::harness::in_process::{ServerOptions, TestServer, within};

/// An HTTP/2 connection on which answers are read as frames.
pub(crate) struct Connection {
    client: SendRequest<Bytes>,
    address: String,
    _task: JoinSet<Result<(), h2::Error>>,
}

impl Connection {
    pub(crate) async fn open(server: &TestServer) -> Self {
        let socket = TcpStream::connect(&server.address).await.unwrap();
        let (client, connection) = h2::client::handshake(socket).await.unwrap();
        let mut task = JoinSet::new();
        task.spawn(connection);
        Self { client, address: server.address.clone(), _task: task }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> request::Builder {
        Request::builder().method(method).uri(format!("http://{}/{path}", self.address))
    }

    /// The head of an answer, and whether it ends the stream.
    pub(crate) async fn answer(&self, request: request::Builder, body: Bytes) -> (response::Parts, bool) {
        let mut client = within(self.client.clone().ready()).await.unwrap();
        let (response, mut stream) = client.send_request(request.body(()).unwrap(), false).unwrap();
        stream.send_data(body, true).unwrap();
        let (head, body) = within(response).await.unwrap().into_parts();
        (head, body.is_end_stream())
    }
}

/// A message with gRPC's prefix.
pub(crate) fn framed(compressed: bool, message: &[u8]) -> Bytes {
    let mut framed = BytesMut::new();
    framed.put_u8(compressed.into());
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.put_slice(message);
    framed.into()
}

async fn server_with_every_layer() -> TestServer {
    let allow_origins = vec!["https://example.org".parse().unwrap()];
    let access = Access { page: Some(page()), allow_origins, ..Access::default() };
    TestServer::with(ServerOptions { access, ..ServerOptions::default() }).await
}

#[tokio::test]
async fn an_error_without_messages_is_one_frame_of_headers() {
    for server in [TestServer::open().await, server_with_every_layer().await] {
        let bearer = format!("Bearer {}", server.human("Ada").await.token);
        let service = HealthCheckRequest { service: "reversi.v1.Nothing".into() }.encode_to_vec();
        let room = v1::GetRoomRequest { room_id: "nothing".into(), ..Default::default() }.encode_to_vec();
        let calls: [(&str, &str, &[u8], Code); 12] = [
            // Refused by the layers.
            ("reversi.v1.GameService/PlayMove", "", &[], Code::Unauthenticated),
            ("reversi.v1.GameService/Play", "", &[], Code::Unauthenticated),
            // Refused by services whose answers hold a permit.
            ("reversi.v1.SessionService/LogIn", "", &[], Code::InvalidArgument),
            ("reversi.v1.RoomService/GetRoom", &bearer, &room, Code::NotFound),
            ("reversi.v1.RoomService/WatchRoom", &bearer, &room, Code::NotFound),
            ("reversi.v1.RoomService/GetRoom", &bearer, &[0x0a, 0x7f], Code::InvalidArgument),
            ("reversi.v1.RoomService/Nothing", &bearer, &[], Code::Unimplemented),
            ("other.Nothing/Nothing", "", &[], Code::Unimplemented),
            // Refused by services whose streams also end when the server stops.
            ("grpc.health.v1.Health/Check", "", &service, Code::NotFound),
            ("grpc.health.v1.Health/Nothing", "", &[], Code::Unimplemented),
            ("grpc.reflection.v1.ServerReflection/Nothing", "", &[], Code::Unimplemented),
            ("grpc.reflection.v1alpha.ServerReflection/Nothing", "", &[], Code::Unimplemented),
        ];
        let connection = Connection::open(&server).await;
        for content in ["application/grpc", "application/grpc-web+proto"] {
            for (path, bearer, message, code) in calls {
                let request = connection.request(Method::POST, path).header("te", "trailers");
                let request = request.header("content-type", content).header("origin", "https://example.org");
                let request = request.header("authorization", bearer);
                let (head, ended) = connection.answer(request, framed(false, message)).await;
                let status = head.headers.get("grpc-status").map(|status| status.to_str().unwrap().to_owned());
                assert_eq!((status, ended), (Some((code as i32).to_string()), true), "{content} {path}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_of_the_page_without_content_is_one_frame_of_headers() {
    let server = server_with_every_layer().await;
    let connection = Connection::open(&server).await;
    let (head, ended) = connection.answer(connection.request(Method::GET, ""), Bytes::new()).await;
    assert_eq!((head.status.as_u16(), ended), (200, false));
    for (method, path, status) in [(Method::HEAD, "", 200), (Method::GET, "", 304), (Method::GET, "nothing", 404)] {
        let request = connection.request(method, path);
        let request = if status == 304 { request.header("if-none-match", &head.headers["etag"]) } else { request };
        let (head, ended) = connection.answer(request, Bytes::new()).await;
        assert_eq!((head.status.as_u16(), ended), (status, true));
    }
}
