//! HTTP/2 below the level of calls: pings, honest control frames, and frames that the specification forbids.

use std::time::Duration;

use reversi::runtime::Limits;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::frame::{
    ACK, CANCEL, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST_STREAM, call, client_preface, frame, frames, goaway,
    goaway_frame, header,
};
use crate::harness::in_process::{TestServer, within};

/// A connection to a server, and what it has received.
struct RawClient {
    socket: TcpStream,
    received: Vec<u8>,
}

impl RawClient {
    async fn connect(server: &TestServer) -> Self {
        let mut socket = TcpStream::connect(&server.address).await.unwrap();
        socket.write_all(&client_preface()).await.unwrap();
        Self { socket, received: Vec::new() }
    }

    async fn send(&mut self, frame: Vec<u8>) {
        self.socket.write_all(&frame).await.unwrap();
    }

    /// Reads until this number of frames of a type has come, or the end. Returns the payloads of that type.
    async fn read(&mut self, kind: u8, count: usize) -> Vec<Vec<u8>> {
        loop {
            let all = frames(&self.received).filter(|(found, _)| *found == kind);
            let payloads: Vec<_> = all.map(|(_, payload)| payload.to_vec()).collect();
            if payloads.len() >= count || within(self.socket.read_buf(&mut self.received)).await.unwrap_or(0) == 0 {
                return payloads;
            }
        }
    }
}

fn quick_pings(limits: &mut Limits) {
    limits.keepalive = Duration::from_millis(50);
    limits.keepalive_answer = Duration::from_millis(200);
}

#[tokio::test]
async fn a_client_that_answers_pings_stays_connected() {
    let server = TestServer::limited(quick_pings).await;
    let mut client = RawClient::connect(&server).await;
    for count in 1..=10 {
        let pings = client.read(PING, count).await;
        assert_eq!(pings.len(), count, "still connected");
        client.send(frame(PING, ACK, 0, &pings[count - 1])).await;
    }
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_disconnected() {
    let server = TestServer::limited(quick_pings).await;
    let mut client = RawClient::connect(&server).await;
    assert_eq!(client.read(PING, usize::MAX).await.len(), 1, "a ping, then the end");
    assert_eq!(goaway(&client.received), None, "it has done nothing wrong");
    // Continued headers are no answer.
    let mut client = RawClient::connect(&server).await;
    client.send(frame(HEADERS, 0, 1, &call("/"))).await;
    assert_eq!(client.read(PING, usize::MAX).await.len(), 1);
}

#[tokio::test]
async fn a_client_that_reads_fast_with_a_small_window_stays_connected() {
    let server = TestServer::limited(|limits| limits.request_burst = 100_000).await;
    let ada = server.human("Ada").await;
    // Each answer takes several window updates, in all far more than the rate of control frames.
    let ada = server.with_window(&ada, 64).await;
    for _ in 0..100 {
        assert!(ada.info().await.limits.is_some());
    }
}

const LOG_IN: &str = "/reversi.v1.SessionService/LogIn";

const PROTOCOL_ERROR: u32 = 1;
const STREAM_CLOSED: u32 = 5;

/// The error code with which the server resets the client's only stream.
fn reset(received: &[u8]) -> Option<u32> {
    let (_, payload) = frames(received).find(|(kind, _)| *kind == RST_STREAM)?;
    Some(u32::from_be_bytes(payload.try_into().unwrap()))
}

/// Sends the frames, and reads until the server has answered them and closes the connection.
async fn answer(sent: &[Vec<u8>]) -> Vec<u8> {
    let server = TestServer::open().await;
    let mut client = RawClient::connect(&server).await;
    client.send([&sent.concat()[..], &goaway_frame()].concat()).await;
    client.read(PING, usize::MAX).await;
    client.received
}

#[tokio::test]
async fn data_after_a_reset_is_refused() {
    let head = frame(HEADERS, END_HEADERS, 1, &call(LOG_IN));
    let received = answer(&[head, frame(RST_STREAM, 0, 1, &CANCEL), frame(DATA, END_STREAM, 1, b"data")]).await;
    // The second if the call is still being cancelled.
    let (reset, goaway) = (reset(&received), goaway(&received));
    assert!(reset == Some(STREAM_CLOSED) || goaway == Some(PROTOCOL_ERROR), "{reset:?}, {goaway:?}");
}

#[tokio::test]
async fn a_request_of_another_length_than_its_headers_say_is_refused() {
    for length in ["3", "5"] {
        let headers = [call(LOG_IN), header("content-length", length)].concat();
        let head = frame(HEADERS, END_HEADERS, 1, &headers);
        let received = answer(&[head, frame(DATA, END_STREAM, 1, b"data")]).await;
        assert_eq!(reset(&received), Some(PROTOCOL_ERROR), "{length}");
    }
}

#[tokio::test]
async fn a_pseudo_header_in_trailers_has_no_effect() {
    let head = frame(HEADERS, END_HEADERS, 1, &call(LOG_IN));
    let mut answers = Vec::new();
    for trailer in [header("more", "x"), header(":path", "/")] {
        let trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &trailer);
        let received = answer(&[head.clone(), trailers]).await;
        let headers = frames(&received).filter(|(kind, _)| *kind == HEADERS).count();
        answers.push((headers, reset(&received), goaway(&received)));
    }
    assert_eq!(answers, [(1, None, Some(0)); 2]);
}
