//! A server in this process, and a player who calls it with any bytes.

use std::{cell::OnceCell, io};

use hyper_util::rt::TokioIo;
use reversi::{
    client::v1::{LogInRequest, session_service_client::SessionServiceClient},
    grpc,
    proto::RawCodec,
    runtime::{Limits, Parts, Runtime},
    store::{MemoryStore, Store},
};
use tokio::io::duplex;
use tokio_util::{bytes::Bytes, sync::CancellationToken};
use tonic::{
    Request, Status,
    client::Grpc,
    codegen::http::uri::PathAndQuery,
    transport::{Channel, Endpoint},
};
use tower::service_fn;

pub(crate) struct Server {
    tokio: tokio::runtime::Runtime,
    channel: Channel,
    authorization: String,
}

/// How a method answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    One,
    #[allow(dead_code, reason = "not every target calls such methods")]
    Stream,
}

impl Server {
    /// Calls the server of this thread.
    pub(crate) fn call(method: &str, message: Bytes, answer: Answer) -> Result<(), Status> {
        thread_local! {
            static SERVER: OnceCell<Server> = const { OnceCell::new() };
        }
        SERVER.with(|server| server.get_or_init(Server::start).send(method, message, answer))
    }

    fn start() -> Self {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let (channel, authorization) = tokio.block_on(async {
            // No rate is limited, and all calls are made by one player.
            let limits = Limits {
                requests_per_second: 1_000_000,
                request_burst: 1_000_000,
                requests_per_second_per_address: 0,
                chats_per_second: 1_000_000,
                chat_burst: 1_000_000,
                chats_per_second_per_address: 0,
                ..Limits::default()
            };
            let parts =
                Parts { limits, ai_threads: Some(1), ..Parts::new(Store::of(MemoryStore::default()), grpc::encode) };
            let runtime = Runtime::start(parts).await.expect("a server");
            let (near, far) = duplex(64 * 1024);
            tokio::spawn(grpc::serve_streams(runtime, tokio_stream::once(far), CancellationToken::new()));
            let mut near = Some(TokioIo::new(near));
            let connector = service_fn(move |_| {
                let stream = near.take().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected));
                async { stream }
            });
            let channel = Endpoint::from_static("http://fuzz").connect_with_connector(connector).await;
            let channel = channel.expect("a connection");
            let request = LogInRequest { display_name: "fuzz".into(), ..Default::default() };
            let token =
                SessionServiceClient::new(channel.clone()).log_in(request).await.expect("a player").into_inner().token;
            (channel, format!("Bearer {token}"))
        });
        Self { tokio, channel, authorization }
    }

    fn send(&self, method: &str, message: Bytes, answer: Answer) -> Result<(), Status> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.authorization.parse().expect("ASCII"));
        let path: PathAndQuery = method.parse().expect("a path");
        self.tokio.block_on(async {
            let mut grpc = Grpc::new(self.channel.clone());
            grpc.ready().await.expect("the server runs");
            match answer {
                Answer::One => grpc.unary(request, path, RawCodec).await.map(drop),
                Answer::Stream => grpc.server_streaming(request, path, RawCodec).await.map(drop),
            }
        })
    }
}
