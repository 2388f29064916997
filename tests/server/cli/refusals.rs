//! Refusals that another try cannot change end a client with a message and a status that is not 0.

use std::{
    io,
    path::Path,
    process::{Command, Stdio},
};

use reversi::proto::v1;
use reversi_needs::needs;
use tokio::{
    net::TcpListener,
    task::{JoinSet, spawn_blocking},
};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Code, Status, body::Body, service::Routes, transport::Server};

use super::{
    bots::{GO_BOT, PYTHON, program},
    command::{Running, reversi},
    hostile_server::{message, room},
};
use crate::harness::in_process::within;

const REASON: &str = "no, and that stays";

/// Starts a server that answers log-ins and `QuickStart` until the call `refused`, and refuses all others with this
/// code.
async fn serve(server: &mut JoinSet<Result<(), tonic::transport::Error>>, refused: &'static str, code: Code) -> String {
    let answer = async move |request: axum::extract::Request<axum::body::Body>| -> http::Response<Body> {
        match request.uri().path().rsplit('/').next().unwrap_or_default() {
            call if call == refused => Status::new(code, REASON).into_http(),
            "LogIn" => {
                let player = v1::Player { player_id: "p1".into(), display_name: "ada".into(), ..Default::default() };
                let player = v1::Player { kind: v1::PlayerKind::Bot.into(), ..player };
                message(&v1::LogInResponse { player: Some(player), token: "token".into(), ..Default::default() })
            }
            "QuickStart" => message(&v1::QuickStartResponse { room: Some(room()) }),
            _ => Status::new(code, REASON).into_http(),
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = Server::builder().add_routes(Routes::from(axum::Router::new().fallback(answer)));
    server.spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
    address
}

/// Checks that the client, to which the address is an argument or in the environment, ends by itself.
async fn check(client: impl Fn(&str) -> Command) {
    for refused in ["LogIn", "QuickStart", "streams"] {
        for code in [Code::Unauthenticated, Code::PermissionDenied, Code::NotFound, Code::InvalidArgument] {
            let mut server = JoinSet::new();
            let address = serve(&mut server, refused, code).await;
            let mut command = client(&address);
            command.stderr(Stdio::piped());
            let mut running = Running::spawn(command);
            let stderr = running.child.stderr.take().unwrap();
            let error = within(spawn_blocking(|| io::read_to_string(stderr))).await.unwrap().unwrap();
            assert_eq!(running.child.wait().unwrap().code(), Some(1), "{refused} {code:?}: {error}");
            assert!(error.contains(REASON) || error.contains("expired"), "{refused} {code:?}: {error}");
            assert!(!error.contains("Traceback"), "{error}");
        }
    }
}

fn command(arguments: &'static [&str]) -> impl Fn(&str) -> Command {
    |address| {
        let mut command = reversi(arguments);
        command.env("REVERSI_SERVER", format!("http://{address}"));
        command
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bot_and_the_player_of_the_command_line_end() {
    check(command(&["bot", "--quick"])).await;
    check(command(&["play", "--anyone"])).await;
}

#[needs(python)]
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_in_python_ends() {
    let python = program(PYTHON);
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/bot.py");
    check(|address| {
        let mut command = Command::new(&python);
        command.arg(&bot).arg(address);
        command
    })
    .await;
}

#[needs(go_bot)]
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_in_go_ends() {
    let bot = program(GO_BOT);
    check(|address| {
        let mut command = Command::new(&bot);
        command.arg(address);
        command
    })
    .await;
}
