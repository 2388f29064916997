//! The typed client against the real services, over sockets.

use std::time::Duration;

use proptest::{
    strategy::{Strategy as _, ValueTree as _},
    test_runner::TestRunner,
};
use reversi::{
    client::{
        Ai, Client, EndReason, ExportFormat, GameFilter, GameResult, ListUpdate, NewRoom, Occupant, Offer, Phase,
        PlayEvent, PlayerKind, Room, RoomChange, RoomFilter, RoomId, RoomList, RoomUpdate, Session, Settings, SideWish,
        Visibility,
    },
    grpc,
    proto::convert,
    room,
    rules::{ByColor, Color},
    runtime::{Parts, Runtime},
    store::{MemoryStore, Store},
};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

/// Timeout of each wait; no test needs this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that stops when this is dropped.
struct Server {
    url: String,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start() -> Self {
        let parts = Parts { ai_threads: Some(1), ..Parts::new(Store::of(MemoryStore::default()), grpc::encode) };
        let runtime = Runtime::start(parts).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            grpc::serve(runtime, listener, CancellationToken::new()).await.unwrap();
        });
        Self { url, _tasks: tasks }
    }

    async fn client(&self) -> Client {
        Client::connect(&self.url).await.unwrap()
    }

    async fn human(&self, name: &str) -> Session {
        self.client().await.log_in(name, PlayerKind::Human).await.unwrap()
    }
}

async fn with_timeout<T>(work: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, work).await.expect("timed out")
}

/// Applies updates of the room until `enough` returns true.
async fn follow_until(session: &Session, id: &RoomId, enough: impl Fn(&Room) -> bool) -> Room {
    let mut updates = session.watch(id).await.unwrap();
    let mut room: Option<Room> = None;
    while !room.as_ref().is_some_and(&enough) {
        match updates.next().await.unwrap().unwrap() {
            RoomUpdate::Snapshot(snapshot) => room = Some(*snapshot),
            RoomUpdate::Event(event) => room.as_mut().unwrap().apply(&event).unwrap(),
            RoomUpdate::Heartbeat | RoomUpdate::Closing(_) => {}
        }
    }
    room.unwrap()
}

/// A room without the fields that depend on the time of the request.
fn without_times(mut room: Room) -> Room {
    room.watchers = 0;
    if let Some(game) = &mut room.game {
        game.clocks = Default::default();
    }
    room
}

#[tokio::test]
async fn a_bot_plays_on_a_play_stream_and_its_watcher_gets_the_same_room() {
    let server = Server::start().await;
    let me = server.client().await.log_in("ada", PlayerKind::Bot).await.unwrap();
    let watcher = server.human("eve").await;
    let room = me.quick_start(Some(Ai::new("greedy")), SideWish::Black).await.unwrap();
    let play = async {
        let mut stream = me.play_stream().await.unwrap();
        loop {
            match stream.next().await.unwrap().unwrap() {
                PlayEvent::Turn(turn) => stream.play(&turn, turn.legal.first().unwrap()).await.unwrap(),
                // The stream stays open: without it the bot would be absent.
                PlayEvent::GameEnded { outcome, .. } => return (outcome, stream),
                _ => {}
            }
        }
    };
    let over = |room: &Room| room.game.as_ref().is_some_and(|game| game.outcome.is_some());
    let ((outcome, _stream), seen) =
        with_timeout(async { tokio::join!(play, follow_until(&watcher, &room.id, over)) }).await;
    assert_eq!(outcome.reason, EndReason::Discs);

    let now = with_timeout(follow_until(&watcher, &room.id, |now| now.seq >= seen.seq)).await;
    assert_eq!(without_times(seen), without_times(now.clone()));

    let game = now.game.unwrap();
    let record = me.record(&game.id).await.unwrap();
    assert_eq!((record.outcome, record.plies), (outcome, game.plies));
    assert_eq!(record.transcript.position().board(), game.standing.board);
    let mine = GameFilter { player: Some(me.player().id.clone()), ..GameFilter::default() };
    assert_eq!(me.list_games(mine.clone(), 10, None).await.unwrap().items.len(), 1);
    let mut lines = me.export_games(mine, ExportFormat::Transcript).await.unwrap();
    assert_eq!(with_timeout(lines.next()).await.unwrap().unwrap(), (game.id, record.transcript.to_string()));
    assert_eq!(me.me().await.unwrap().stats.played, 1);
}

#[tokio::test]
async fn refusals_have_their_reasons() {
    let server = Server::start().await;
    let client = server.client().await;
    let ada = client.log_in("ada", PlayerKind::Human).await.unwrap();
    assert!(client.log_in("ada", PlayerKind::Human).await.unwrap_err().is("NAME_TAKEN"));
    assert!(client.log_in("", PlayerKind::Human).await.unwrap_err().is("BAD_NAME"));
    assert!(client.resume("nonsense").await.unwrap_err().is_session_lost());
    let nowhere = ada.room(&"000000000000".parse().unwrap()).await.unwrap_err();
    assert!(nowhere.is("ROOM_NOT_FOUND") && nowhere.is_unknown_or_malformed());

    let room = ada.quick_start(Some(Ai::new("random")), SideWish::Black).await.unwrap();
    let game = room.game.unwrap();
    let illegal = ada.play(&game.id, 0, "a1".parse().unwrap()).await.unwrap_err();
    assert!(illegal.is("ILLEGAL_MOVE"), "{illegal}");
    assert_eq!(illegal.refusal().unwrap().legal_moves, game.standing.legal);
}

#[tokio::test]
async fn a_token_resumes_a_session_and_log_out_frees_the_name() {
    let server = Server::start().await;
    let client = server.client().await;
    let ada = client.log_in("ada", PlayerKind::Human).await.unwrap();
    let again = client.resume(ada.token()).await.unwrap();
    assert_eq!(again.player(), ada.player());
    again.log_out().await.unwrap();
    assert!(ada.me().await.unwrap_err().is_session_lost());
    client.log_in("ada", PlayerKind::Human).await.unwrap();
}

#[tokio::test]
async fn the_room_list_is_updated() {
    let server = Server::start().await;
    let (ada, bob) = (server.human("ada").await, server.human("bob").await);
    let mut updates = bob.watch_rooms(RoomFilter::default()).await.unwrap();
    let mut list = RoomList::default();
    let room = ada.create_room(NewRoom::default()).await.unwrap();
    let mut seen = false;
    with_timeout(async {
        while !seen {
            list.apply(updates.next().await.unwrap().unwrap());
            seen = list.rows().iter().any(|row| row.id == room.id && row.has_open_seat() && row.owner == "ada");
        }
        ada.close_room(&room.id).await.unwrap();
        while !list.rows().is_empty() {
            let update = updates.next().await.unwrap().unwrap();
            assert!(!matches!(update, ListUpdate::Closing(_)));
            list.apply(update);
        }
    })
    .await;
}

#[tokio::test]
async fn two_players_play_in_a_private_room() {
    let server = Server::start().await;
    let (ann, bob) = (server.human("ann").await, server.human("bob").await);
    let settings = Settings { visibility: Visibility::Private, auto_start: true, ..Settings::default() };
    let seats = ByColor::new(Occupant::Player(ann.player().clone()), Occupant::Open);
    let new = NewRoom { settings, seats, password: "x".into(), ..NewRoom::default() };
    let room = ann.create_room(new).await.unwrap();
    let code = room.join_code.clone().unwrap();
    assert_eq!(room.side_of(&ann.player().id), Some(Color::Black));

    assert!(bob.join_by_code(&code, "y").await.unwrap_err().is("BAD_PASSWORD"));
    bob.join_by_code(&code, "x").await.unwrap();
    bob.take_seat(&room.id, Color::White).await.unwrap();
    ann.set_ready(&room.id, true).await.unwrap();
    bob.set_ready(&room.id, true).await.unwrap();
    bob.chat(&room.id, "good luck").await.unwrap();
    let game = ann.room(&room.id).await.unwrap().game.unwrap().id;
    ann.offer(&game, Offer::Draw).await.unwrap();
    bob.answer(&game, Offer::Draw, true).await.unwrap();

    let over = |room: &Room| room.phase == Phase::Lobby && room.game.is_some();
    let room = with_timeout(follow_until(&bob, &room.id, over)).await;
    let outcome = room.game.unwrap().outcome.unwrap();
    assert_eq!((outcome.result, outcome.reason), (GameResult::Draw, EndReason::Agreed));
    assert_eq!(room.chat[0].text, "good luck");
}

#[tokio::test]
async fn all_settings_come_back_as_they_were_sent() {
    let server = Server::start().await;
    let ada = server.human("ada").await;
    let id = ada.create_room(NewRoom::default()).await.unwrap().id;
    let mut runner = TestRunner::deterministic();
    for _ in 0..50 {
        let any = room::Settings::any().new_tree(&mut runner).unwrap().current();
        let settings = Settings::try_from(convert::room_settings(&any)).unwrap();
        ada.update_settings(&id, settings.clone(), &[]).await.unwrap();
        assert_eq!(ada.room(&id).await.unwrap().settings, settings);
    }
}

#[tokio::test]
async fn a_watcher_resumes_after_its_last_event() {
    let server = Server::start().await;
    let ada = server.human("ada").await;
    let room = ada.create_room(NewRoom::default()).await.unwrap();
    for text in ["one", "two"] {
        ada.chat(&room.id, text).await.unwrap();
    }
    let mut updates = ada.watch_with(&room.id, "", "", Some(room.seq)).await.unwrap();
    let mut said = Vec::new();
    with_timeout(async {
        while said.len() < 2 {
            match updates.next().await.unwrap().unwrap() {
                RoomUpdate::Event(event) => {
                    if let RoomChange::ChatPosted(line, _) = event.change {
                        said.push(line.text);
                    }
                }
                RoomUpdate::Snapshot(_) => panic!("missed events are sent as events"),
                RoomUpdate::Heartbeat | RoomUpdate::Closing(_) => {}
            }
        }
    })
    .await;
    assert_eq!(said, ["one", "two"]);
}
