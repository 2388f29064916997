//! Shutdown: every stream gets the reason, and the server stops quickly.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use reversi::{
    proto::v1::{self, set_seat_request::Occupant},
    runtime::Limits,
};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest,
};

use crate::harness::in_process::{ServerOptions, TestServer, millis, named, refused, within};

#[tokio::test]
async fn every_stream_ends_with_the_reason_draining() {
    let mut server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let idle = server.human("Idle").await;
    let thinker = server.human("Thinker").await;
    thinker.quick_start_with_ai("mcts", v1::SidePreference::White).await.unwrap();
    let mut turns = [seated.black.turns().await, seated.white.turns().await, idle.turns().await, thinker.turns().await];
    let mut watcher = idle.watch(&seated.room).await;
    let mut list = idle.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
    watcher.snapshot().await;
    server.stop();
    for turns in &mut turns {
        assert_eq!(turns.close_reason().await, v1::CloseReason::Draining);
    }
    assert_eq!(watcher.close_reason().await, v1::CloseReason::Draining);
    loop {
        let message = within(list.message()).await.unwrap().expect("the stream ends with a reason").message.unwrap();
        if let v1::watch_rooms_response::Message::Closing(closing) = message {
            assert_eq!(closing.reason(), v1::CloseReason::Draining);
            assert!(closing.retry_after.unwrap().seconds > 0);
            break;
        }
    }
    assert!(server.stopped().await, "the server stopped cleanly");
}

#[tokio::test]
async fn a_stopping_server_starts_no_rooms_or_games() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let ada = server.human("Ada").await;
    let mut health = HealthClient::new(server.channel().await);
    let status = health.check(HealthCheckRequest::default()).await.unwrap().into_inner().status();
    assert_eq!(status, ServingStatus::Serving);
    // Stops only the runtime, so that the socket stays open for these calls.
    server.runtime.drain();
    let (draining, unavailable) = ("DRAINING", Code::Unavailable);
    refused(ada.try_create(v1::CreateRoomRequest::default()).await, unavailable, draining);
    refused(ada.quick_start_with_ai("random", v1::SidePreference::Black).await, unavailable, draining);
    refused(ada.join(&seated.room).await, unavailable, draining);
    let mut sessions = v1::session_service_client::SessionServiceClient::new(server.channel().await);
    let request = v1::LogInRequest { display_name: "Late".into(), ..Default::default() };
    refused(sessions.log_in(request).await, unavailable, draining);
    // No other way starts a game either.
    let room = &seated.room;
    refused(seated.white.ready(room).await, unavailable, draining);
    refused(seated.black.set_seat(room, 1, Occupant::Open(v1::OpenSeat {})).await, unavailable, draining);
    let rematch = v1::Offer::Rematch.into();
    let offer = v1::MakeOfferRequest { room_id: room.clone(), offer: rematch, ..Default::default() };
    refused(seated.black.games().make_offer(offer).await, unavailable, draining);
    let room_id = room.clone();
    let answer = v1::AnswerOfferRequest { room_id, offer: rematch, accept: true, ..Default::default() };
    refused(seated.black.games().answer_offer(answer).await, unavailable, draining);
    assert!(ada.info().await.draining);
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
}

#[tokio::test]
async fn health_reports_a_stopping_server() {
    let mut server = TestServer::open().await;
    let mut health = HealthClient::new(server.channel().await);
    let mut watch = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    let first = within(watch.message()).await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    server.stop();
    let second = within(watch.message()).await.unwrap().unwrap();
    assert_eq!(second.status(), ServingStatus::NotServing);
    // The stream ends by itself, and so does not delay the shutdown.
    refused(within(watch.message()).await, Code::Unavailable, "DRAINING");
    assert!(server.stopped().await, "the server stopped cleanly");
}

#[tokio::test]
async fn a_stream_of_reflection_does_not_delay_the_shutdown() {
    let mut server = TestServer::open().await;
    let mut reflection = ServerReflectionClient::new(server.channel().await);
    let (questions, asked) = tokio::sync::mpsc::channel(1);
    let question = MessageRequest::ListServices(String::new());
    questions.send(ServerReflectionRequest { host: String::new(), message_request: Some(question) }).await.unwrap();
    let mut answers = reflection.server_reflection_info(ReceiverStream::new(asked)).await.unwrap().into_inner();
    within(answers.message()).await.unwrap().unwrap();
    server.stop();
    // Either end of the stream may stop first.
    assert!(!matches!(within(answers.message()).await, Ok(Some(_))));
    assert!(server.stopped().await, "clean, with an open reflection stream");
    drop(questions);
}

/// Blocks threads until it is opened.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(crate) fn wait(&self) {
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
    }

    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

#[tokio::test]
async fn blocked_ais_and_streams_do_not_delay_the_shutdown() {
    let gate = Arc::new(Gate::default());
    let (held, begun) = (Arc::clone(&gate), Arc::new(tokio::sync::Notify::new()));
    let tell = Arc::clone(&begun);
    let limits = Limits { drain: Duration::from_secs(2), ..Limits::default() };
    let think = move |_: &reversi::ai::AiPlayer, _, _, _: &reversi::search::Stop| {
        tell.notify_one();
        held.wait();
        None
    };
    let mut server =
        TestServer::with(ServerOptions { limits, think: Some(Arc::new(think)), ..ServerOptions::default() }).await;
    let ada = server.human("Ada").await;
    let settings = v1::RoomSettings { move_limit: millis(60_000), ..named("stuck") };
    let room = ada.create_with(settings, ["mcts", "me"]).await.room_id;
    ada.start(&room).await.unwrap();
    within(begun.notified()).await;
    // A stream whose client reads nothing, not even its end.
    let _asleep = server.with_window(&ada, 1).await.watch(&room).await;
    let began = Instant::now();
    server.stop();
    assert!(!server.stopped().await, "stopped, but not cleanly");
    assert!(began.elapsed() < Duration::from_millis(3_500), "streams and rooms share one deadline");
    gate.open();
}
