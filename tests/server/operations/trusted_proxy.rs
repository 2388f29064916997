//! The addresses of clients behind a proxy.

use reversi::{
    grpc::Access,
    proto::v1::{LogInRequest, session_service_client::SessionServiceClient},
    runtime::Limits,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tonic::{Code, Request, Status};

use crate::harness::in_process::{ServerOptions, TestServer, within};

/// A server with one log-in and one connection for each address, that trusts proxies at this address.
async fn server(trusted: &str) -> TestServer {
    let limits = Limits {
        log_in_burst: 1,
        log_ins_per_minute: 1,
        connections_per_address: 1,
        ..ServerOptions::default().limits
    };
    let access = Access { trusted_proxies: vec![trusted.parse().unwrap()], ..Access::default() };
    TestServer::with(ServerOptions { limits, access, ..ServerOptions::default() }).await
}

/// Logs in through a proxy that forwards for these addresses.
async fn log_in(server: &TestServer, name: &str, forwarded_for: &str) -> Result<(), Status> {
    let mut request = Request::new(LogInRequest { display_name: name.into(), ..Default::default() });
    request.metadata_mut().insert("x-forwarded-for", forwarded_for.parse().unwrap());
    SessionServiceClient::new(server.channel().await).log_in(request).await.map(|_| ())
}

/// A header of the PROXY protocol, version 2, for a connection from this IPv4 address.
fn proxy_header(client: [u8; 4]) -> Vec<u8> {
    let addresses = [&client[..], &[127, 0, 0, 1], &[0x12, 0x34], &[0xC3, 0x83]].concat();
    [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c", &addresses[..]].concat()
}

/// A connection that begins with `header`, and what the server answers to a request on it.
async fn ask(server: &TestServer, header: &[u8]) -> (TcpStream, String) {
    let mut socket = TcpStream::connect(&server.address).await.unwrap();
    let request = b"POST /reversi.v1.SessionService/GetMe HTTP/1.1\r\nhost: x\r\n\
                    content-type: application/grpc-web+proto\r\ncontent-length: 5\r\n\r\n\0\0\0\0\0";
    socket.write_all(&[header, request].concat()).await.unwrap();
    let mut answer = vec![0; 4096];
    // A refused connection may be reset.
    let length = within(socket.read(&mut answer)).await.unwrap_or(0);
    (socket, String::from_utf8_lossy(&answer[..length]).into_owned())
}

#[tokio::test]
async fn a_trusted_proxy_names_its_clients_in_a_header_of_each_request() {
    let server = server("127.0.0.0/8").await;
    log_in(&server, "Ada", "203.0.113.1").await.unwrap();
    assert_eq!(log_in(&server, "Bob", "203.0.113.1").await.unwrap_err().code(), Code::ResourceExhausted);
    // What a client wrote itself comes first.
    let forged = log_in(&server, "Bob", "203.0.113.2, 203.0.113.1").await;
    assert_eq!(forged.unwrap_err().code(), Code::ResourceExhausted);
    log_in(&server, "Bob", "203.0.113.2, 127.0.0.2").await.unwrap();
}

#[tokio::test]
async fn the_header_of_another_peer_is_ignored() {
    let server = server("192.0.2.1").await;
    log_in(&server, "Ada", "203.0.113.1").await.unwrap();
    assert_eq!(log_in(&server, "Bob", "203.0.113.2").await.unwrap_err().code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn a_trusted_proxy_names_its_client_in_a_header_of_the_connection() {
    let server = server("127.0.0.1").await;
    let (_ada, answer) = ask(&server, &proxy_header([203, 0, 113, 1])).await;
    assert!(answer.contains("TOKEN_MISSING"), "{answer}");
    let (_, answer) = ask(&server, &proxy_header([203, 0, 113, 1])).await;
    assert_eq!(answer, "", "the address has a connection");
    let (_bob, answer) = ask(&server, &proxy_header([203, 0, 113, 2])).await;
    assert!(answer.contains("TOKEN_MISSING"), "{answer}");
    // Of the proxy itself, such as a check of the server's health.
    let local = b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00";
    let (_one, answer) = ask(&server, local).await;
    let (_other, also) = ask(&server, local).await;
    assert!(answer.contains("TOKEN_MISSING") && also.contains("TOKEN_MISSING"), "{answer}\n{also}");
    // Of a client without an IP address, which counts at the proxy's.
    let unknown = b"\r\n\r\n\0\r\nQUIT\n\x21\x00\x00\x00";
    let (_one, answer) = ask(&server, unknown).await;
    assert!(answer.contains("TOKEN_MISSING"), "{answer}");
    assert_eq!(ask(&server, unknown).await.1, "");
}

#[tokio::test]
async fn a_wrong_header_of_a_connection_closes_it() {
    let trusting = server("127.0.0.1").await;
    let long = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff";
    let cut = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x04\x7f\x00\x00\x01";
    for bad in [&long[..], cut, b"\r\n", b"\r\n\r\n\0\r\nQUIT\n\x31\x11\x00\x00"] {
        assert_eq!(ask(&trusting, bad).await.1, "", "{bad:?}");
    }
    let other = server("192.0.2.1").await;
    assert_eq!(ask(&other, &proxy_header([203, 0, 113, 1])).await.1, "", "from a peer that is not trusted");
}
