//! The shares of players in the time of the AI threads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use reversi::{
    ai::{AiKind, AiPlayer, Choice},
    proto::v1::{self, room_event::Event},
    rules::Position,
    runtime::Limits,
    search::Stop,
};
use tokio::sync::mpsc;

use crate::harness::in_process::{Player, ServerOptions, TestServer, millis, named, within};

/// A server with one AI thread, on which an `expert` searches until it is stopped or released. Others answer at once.
struct BusyServer {
    server: TestServer,
    /// Receives a message when a search of an `expert` begins.
    begun: mpsc::Receiver<()>,
    released: Arc<AtomicBool>,
}

impl BusyServer {
    async fn open(change: impl FnOnce(&mut Limits)) -> Self {
        let (sender, begun) = mpsc::channel(1_000);
        let released = Arc::new(AtomicBool::new(false));
        let is_released = Arc::clone(&released);
        let think = move |player: &AiPlayer, position: Position, _, stop: &Stop| {
            if player.kind() == AiKind::Expert {
                // Later messages are not needed.
                let _ = sender.try_send(());
                while !stop.is_stopped() && !is_released.load(SeqCst) {
                    thread::yield_now();
                }
            }
            let square = position.legal_moves().iter().next()?;
            let complete = !stop.is_stopped();
            Some(Choice { square, evaluation: None, depth: 0, nodes: 0, line: Vec::new(), complete })
        };
        let mut options = ServerOptions { think: Some(Arc::new(think)), ..ServerOptions::default() };
        change(&mut options.limits);
        Self { server: TestServer::with(options).await, begun, released }
    }

    /// Starts games of two experts in this many rooms, and returns once all moves but the searched one wait.
    async fn fill_rooms(&mut self, owner: &Player, rooms: usize) {
        for _ in 0..rooms {
            let room = owner.create_with(slow(), ["expert", "expert"]).await.room_id;
            owner.start(&room).await.unwrap();
        }
        self.search_begins().await;
        within(async { while waiting(owner).await < rooms - 1 {} }).await;
    }

    async fn search_begins(&mut self) {
        within(self.begun.recv()).await.unwrap();
    }

    /// Lets the experts move at once, so that the server can stop.
    fn release(&self) {
        self.released.store(true, SeqCst);
    }
}

/// With so much time for a move that none is played for lack of it.
fn slow() -> v1::RoomSettings {
    v1::RoomSettings { move_limit: millis(3_600_000), ..named("slow") }
}

async fn waiting(player: &Player) -> usize {
    player.info().await.ai_load.unwrap().waiting.try_into().unwrap()
}

/// Starts a game against an AI of a kind that is not `expert`, and waits for its first move.
async fn await_first_move(player: &Player) {
    let room = player.create_with(named("game"), ["mcts", "me"]).await.room_id;
    let mut watcher = player.watch(&room).await;
    watcher.snapshot().await;
    player.start(&room).await.unwrap();
    watcher.until(|event| matches!(event, Event::MovePlayed(_)).then_some(())).await;
}

/// Checks that a new player gets a move while so many rooms of another use the thread, and that it costs them no move.
async fn check_newcomer(busy: &mut BusyServer, owner: &Player, rooms: usize) {
    busy.fill_rooms(owner, rooms).await;
    let newcomer = busy.server.human("Newcomer").await;
    await_first_move(&newcomer).await;
    let load = newcomer.info().await.ai_load.unwrap();
    assert_eq!((load.moves, load.cheaper_moves), (1, 0));
    // The interrupted search, or another of the owner's, begins again.
    busy.search_begins().await;
    within(async { while waiting(owner).await < rooms - 1 {} }).await;
    busy.release();
}

/// Checks that a new player's move waits for the only search of another.
async fn check_newcomer_waits(busy: &BusyServer) {
    let newcomer = busy.server.human("Newcomer").await;
    let room = newcomer.create_with(slow(), ["mcts", "me"]).await.room_id;
    newcomer.start(&room).await.unwrap();
    within(async { while waiting(&newcomer).await < 1 {} }).await;
    assert_eq!(newcomer.info().await.ai_load.unwrap().moves, 0);
    busy.release();
}

#[tokio::test]
async fn a_room_of_ais_that_nobody_watches_yields() {
    let mut busy = BusyServer::open(|_| {}).await;
    let owner = busy.server.bot("Owner").await;
    check_newcomer(&mut busy, &owner, 1).await;
}

#[tokio::test]
async fn a_room_of_ais_that_somebody_watches_does_not_yield() {
    let mut busy = BusyServer::open(|_| {}).await;
    let owner = busy.server.bot("Owner").await;
    let room = owner.create_with(slow(), ["expert", "expert"]).await.room_id;
    let _watcher = owner.watch(&room).await;
    owner.start(&room).await.unwrap();
    busy.search_begins().await;
    check_newcomer_waits(&busy).await;
}

#[tokio::test]
async fn a_room_of_ais_with_a_connected_person_does_not_yield() {
    let mut busy = BusyServer::open(|_| {}).await;
    let owner = busy.server.human("Owner").await;
    busy.fill_rooms(&owner, 1).await;
    check_newcomer_waits(&busy).await;
}

#[tokio::test]
async fn a_new_player_does_not_wait_for_a_connected_player_with_many_rooms() {
    let mut busy = BusyServer::open(|_| {}).await;
    let owner = busy.server.human("Owner").await;
    check_newcomer(&mut busy, &owner, 64).await;
}

#[tokio::test]
async fn searches_beyond_the_limit_of_a_player_yield() {
    // Any use is beyond it.
    let mut busy = BusyServer::open(|limits| limits.ai_seconds_per_minute = 0).await;
    let (frequent, newcomer) = (busy.server.human("Frequent").await, busy.server.human("Newcomer").await);
    await_first_move(&frequent).await;
    busy.fill_rooms(&frequent, 1).await;
    await_first_move(&newcomer).await;
    busy.search_begins().await;
    busy.release();
}
