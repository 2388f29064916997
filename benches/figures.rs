//! Latency, capacity and memory of the server with two worker threads: `cargo bench --bench figures` (two minutes), or
//! `cargo bench --bench figures memory` for one figure.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and stops at a fault"
)]

use std::{
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use reversi::{
    grpc,
    proto::v1,
    room::{AiSpec, Command, Credentials, DisplayName, EndReason, PlayerKind, Room, RoomName, SeatSpec, Settings},
    rules::ByColor,
    runtime::{GameFilter, Limits, NewRoom, Notice, Parts, Player, Runtime, Snapshot, TurnEnd, Update, WatchStart},
    store::{MemoryStore, Store},
};

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let measure = |name: &str, figure: fn() -> Pin<Box<dyn Future<Output = ()>>>| {
        if name.contains(&wanted) {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(figure());
        }
    };
    // First, before other measurements have allocated and freed memory.
    measure("memory", || Box::pin(memory_of_a_room()));
    measure("game", || Box::pin(a_game_of_random_ais()));
    measure("thousand", || Box::pin(a_thousand_rooms()));
    measure("busy", || Box::pin(answers_while_every_ai_thread_is_busy()));
    measure("capacity", || Box::pin(overload()));
}

/// Limits for many rooms of one player, and all players at one address.
fn limits() -> Limits {
    Limits {
        rooms_per_player: 100_000,
        rooms_per_address: 0,
        seats_per_address: 0,
        streams_per_address: 0,
        requests_per_second_per_address: 0,
        streams_per_player: 100_000,
        requests_per_second: 1_000_000,
        request_burst: 1_000_000,
        games_per_minute: 0,
        games_per_minute_per_address: 0,
        rooms: 100_000,
        ..Limits::default()
    }
}

async fn runtime() -> Runtime {
    let parts = Parts { limits: limits(), ..Parts::new(Store::of(MemoryStore::default()), grpc::encode) };
    Runtime::start(parts).await.unwrap()
}

async fn log_in(runtime: &Runtime, name: &str, kind: PlayerKind) -> Arc<Player> {
    runtime.sessions.log_in(DisplayName::parse(name).unwrap(), kind, 1, None, None).await.unwrap().0
}

fn settings() -> Settings {
    Settings::named(RoomName::parse("figures").unwrap())
}

fn ai(kind: &str, level: u8) -> SeatSpec {
    SeatSpec::Ai(AiSpec { kind: kind.into(), level: Some(level), seed: None })
}

async fn ai_room(runtime: &Runtime, owner: &Arc<Player>, settings: Settings, kind: &str, level: u8) -> Snapshot {
    let seats = ByColor::new(ai(kind, level), ai(kind, level));
    runtime.rooms.create(owner, NewRoom { settings, seats }, None).await.unwrap()
}

async fn start(runtime: &Runtime, owner: &Arc<Player>, room: &Room) {
    runtime.rooms.command(owner, room.id(), Command::Start(None)).await.unwrap();
}

/// Waits for the end of the running game. Returns the room at that time.
async fn finish(runtime: &Runtime, owner: &Arc<Player>, room: &Room) -> Arc<Room> {
    let mut watch = runtime.streams.room(owner, room.id(), Credentials::default(), WatchStart::Snapshot).await.unwrap();
    loop {
        let snapshot = runtime.rooms.snapshot(owner, room.id(), &Credentials::default()).await.unwrap();
        if snapshot.room.running().is_none() {
            return snapshot.room;
        }
        let Ok(Update::Event(_) | Update::Snapshot(_)) = watch.next().await else { panic!("the room closed") };
    }
}

/// The longest time of a move in milliseconds: the delays of the timer, the AI threads and the room together.
fn slowest(room: &Room) -> u32 {
    room.game().unwrap().plies.iter().map(|ply| ply.spent_ms).max().unwrap()
}

fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn distribution(mut samples: Vec<Duration>) -> String {
    samples.sort();
    let at = |share: usize| samples[(samples.len() - 1) * share / 100];
    format!("min {:?}, median {:?}, p99 {:?}, max {:?}", at(0), at(50), at(99), at(100))
}

/// A game of two random AIs without a pause; the goal is a slowest move under 5 ms.
async fn a_game_of_random_ais() {
    let runtime = runtime().await;
    let owner = log_in(&runtime, "owner", PlayerKind::Human).await;
    let mut samples = Vec::new();
    for _ in 0..200 {
        let room = ai_room(&runtime, &owner, settings(), "random", 1).await.room;
        let began = Instant::now();
        start(&runtime, &owner, &room).await;
        finish(&runtime, &owner, &room).await;
        samples.push(began.elapsed());
        runtime.rooms.command(&owner, room.id(), Command::Leave).await.unwrap();
    }
    println!("a whole game of two random AIs, watched: {}", distribution(samples));
    assert!(runtime.shut_down(Duration::from_secs(5)).await);
}

/// A thousand such games at the same time; measures how late their timers are.
async fn a_thousand_rooms() {
    let runtime = runtime().await;
    let owner = log_in(&runtime, "owner", PlayerKind::Human).await;
    for pause in [Duration::ZERO, Duration::from_millis(100)] {
        let mut rooms = Vec::new();
        for _ in 0..1_000 {
            let settings = Settings { ai_pause: pause, ..settings() };
            rooms.push(ai_room(&runtime, &owner, settings, "random", 1).await.room);
        }
        let began = Instant::now();
        for room in &rooms {
            start(&runtime, &owner, room).await;
        }
        let (mut latest, mut plies) = (Vec::new(), 0);
        for room in &rooms {
            let room = finish(&runtime, &owner, room).await;
            plies += room.game().unwrap().plies.len();
            latest.push(slowest(&room));
            runtime.rooms.command(&owner, room.id(), Command::Leave).await.unwrap();
        }
        let seconds = began.elapsed().as_secs_f64();
        latest.sort_unstable();
        println!(
            "1,000 rooms of random AIs, pause {pause:?}: {plies} plies in {seconds:.2} s ({:.0} a second); latest move of a room: median {} ms, max {} ms",
            f64::from(u32::try_from(plies).unwrap()) / seconds,
            latest[500],
            latest[999]
        );
    }
    assert!(runtime.shut_down(Duration::from_secs(5)).await);
}

/// Creates rooms that keep every AI thread busy.
async fn keep_ai_threads_busy(runtime: &Runtime, owner: &Arc<Player>, rooms: usize, limit: Duration) -> Vec<Arc<Room>> {
    let mut busy = Vec::new();
    for _ in 0..rooms {
        let mut settings = Settings { games: 1_000, ..settings() };
        settings.time.per_move = Some(limit);
        let room = ai_room(runtime, owner, settings, "mcts", 12).await.room;
        start(runtime, owner, &room).await;
        busy.push(room);
    }
    busy
}

/// Latency while all AI threads are busy. The goals are under 10 ms for an answer, and under 50 ms for a clock.
async fn answers_while_every_ai_thread_is_busy() {
    let runtime = runtime().await;
    let owner = log_in(&runtime, "owner", PlayerKind::Human).await;
    keep_ai_threads_busy(&runtime, &owner, 20, Duration::from_secs(60)).await;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let stop = tokio_util::sync::CancellationToken::new();
    let mut serving = tokio::task::JoinSet::new();
    serving.spawn(grpc::serve(runtime.clone(), listener, stop.clone()));
    let mut sessions = v1::session_service_client::SessionServiceClient::connect(url.clone()).await.unwrap();
    let log_in_request = v1::LogInRequest { display_name: "asker".into(), ..Default::default() };
    let token = sessions.log_in(log_in_request).await.unwrap().into_inner().token;
    let mut lobby = v1::lobby_service_client::LobbyServiceClient::connect(url).await.unwrap();
    let mut samples = Vec::new();
    for _ in 0..500 {
        let mut request = tonic::Request::new(v1::GetServerInfoRequest {});
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let began = Instant::now();
        lobby.get_server_info(request).await.unwrap();
        samples.push(began.elapsed());
    }
    println!("GetServerInfo with every AI thread busy: {}", distribution(samples));

    let errors = flag_errors(&runtime, 50).await;
    println!("error of a human's flag with every AI thread busy: {}", distribution(errors));
    stop.cancel();
    assert!(serving.join_next().await.unwrap().unwrap().unwrap());
}

/// How far from 300 ms after the turn request the players received their loss on time.
async fn flag_errors(runtime: &Runtime, players: usize) -> Vec<Duration> {
    const LIMIT: Duration = Duration::from_millis(300);
    let mut errors = Vec::new();
    for number in 0..players {
        let person = log_in(runtime, &format!("person {number}"), PlayerKind::Human).await;
        let mut settings = settings();
        settings.time.per_move = Some(LIMIT);
        let seats = ByColor::new(SeatSpec::Me, ai("random", 1));
        let room = runtime.rooms.create(&person, NewRoom { settings, seats }, None).await.unwrap().room;
        let mut turns = runtime.streams.turns(&person).await.unwrap();
        start(runtime, &person, &room).await;
        let mut asked = None;
        loop {
            match turns.next().await.unwrap() {
                Notice::TurnRequested(_) => asked = Some(Instant::now()),
                Notice::TurnClosed { end: TurnEnd::TimedOut, .. } => break,
                _ => {}
            }
        }
        errors.push(asked.unwrap().elapsed().abs_diff(LIMIT));
    }
    errors
}

/// Two hundred rooms at 1 s a move, with more to search than there is time for: no player should lose on time.
async fn overload() {
    const ROOMS: usize = 200;
    let runtime = runtime().await;
    let owner = log_in(&runtime, "owner", PlayerKind::Human).await;
    let alone = Instant::now();
    let choice = reversi::ai::AiPlayer::new(reversi::ai::AiKind::Mcts, 12).unwrap().choose(
        reversi::rules::Position::START,
        1,
        &reversi::search::Stop::new(),
    );
    let (alone, threads) = (alone.elapsed(), runtime.census().ai.threads);
    assert!(choice.unwrap().complete);
    let load =
        alone.as_secs_f64() * f64::from(u32::try_from(ROOMS).unwrap()) / f64::from(u32::try_from(threads).unwrap());
    println!("one mcts:12 move takes {alone:?} alone: 200 rooms at 1 s a move are {load:.0} times the capacity");

    let rooms = keep_ai_threads_busy(&runtime, &owner, ROOMS, Duration::from_secs(1)).await;
    let mut watch =
        runtime.streams.room(&owner, rooms[0].id(), Credentials::default(), WatchStart::Snapshot).await.unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        watch.next().await.unwrap();
    }
    let mut slow = 0;
    for room in &rooms {
        let room = runtime.rooms.snapshot(&owner, room.id(), &Credentials::default()).await.unwrap().room;
        slow = slow.max(slowest(&room));
    }
    let everything = GameFilter::visible_to(owner.id());
    let ended = runtime.games.page(everything, None, usize::MAX).await.unwrap().games;
    for game in &ended {
        slow = slow.max(game.plies.iter().map(|ply| ply.spent_ms).max().unwrap());
    }
    let late = ended.iter().filter(|game| game.end.reason != EndReason::Discs).count();
    let ai = runtime.census().ai;
    println!(
        "30 s at that load: {} moves, {} of them cheaper, {late} of {} games lost on time, slowest move {slow} ms",
        ai.moves,
        ai.cheaper_moves,
        ended.len()
    );
    assert!(runtime.shut_down(Duration::from_secs(5)).await);
}

/// Memory of a room; the goal is under 8 KiB.
async fn memory_of_a_room() {
    const ROOMS: usize = 5_000;
    let runtime = runtime().await;
    let owner = log_in(&runtime, "owner", PlayerKind::Human).await;
    let before = resident();
    let mut rooms = Vec::new();
    for _ in 0..ROOMS {
        let settings = Settings { ai_pause: Duration::from_secs(10), ..settings() };
        rooms.push(ai_room(&runtime, &owner, settings, "random", 1).await.room.id());
    }
    let idle = resident();
    for &room in &rooms {
        runtime.rooms.command(&owner, room, Command::Start(None)).await.unwrap();
    }
    let playing = resident();
    println!(
        "memory of a room with two AI seats and no watcher: {} bytes idle, {} bytes with a game",
        (idle - before) / ROOMS,
        (playing - before) / ROOMS
    );
    for room in rooms {
        runtime.rooms.command(&owner, room, Command::Leave).await.unwrap();
    }
    // Freed pages are used again, so the increase is what a played game adds to a room.
    for _ in 0..ROOMS {
        let room = ai_room(&runtime, &owner, settings(), "random", 1).await.room;
        start(&runtime, &owner, &room).await;
    }
    while runtime.census().games > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!(
        "the same after a whole game: {} bytes, its record in the archive not counted",
        (resident() - before) / ROOMS
    );
    assert!(runtime.shut_down(Duration::from_secs(20)).await);
}
