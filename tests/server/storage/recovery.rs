//! Restarts: all tokens are valid, all rooms are as before, and no clock has lost time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use reversi::{
    proto::v1::{self, play_event::Event, room_event},
    runtime::Clock,
    store::{AppendError, MemoryStore, Store},
};
use tonic::Code;

use crate::harness::in_process::{Player, SeatedRoom, ServerOptions, TestServer, millis, named, refused, within};

/// Two servers, one after another, over one store.
struct Lives {
    store: Arc<MemoryStore>,
    stage: TestServer,
}

impl Lives {
    async fn first() -> Self {
        Self::over(MemoryStore::default()).await
    }

    async fn over(store: MemoryStore) -> Self {
        let store = Arc::new(store);
        let stage = TestServer::with(ServerOptions { store: Store::shared(&store), ..ServerOptions::default() }).await;
        Self { store, stage }
    }

    /// Starts the next server; its clock has advanced by this time.
    async fn next(&mut self, later: Duration) {
        let now = self.stage.runtime.clock().now();
        self.stage.stop();
        assert!(self.stage.stopped().await);
        let clock = Clock::starting(now.after(later));
        self.stage =
            TestServer::with(ServerOptions { store: Store::shared(&self.store), clock, ..ServerOptions::default() })
                .await;
    }

    /// The same player, over a connection to the current server.
    async fn again(&self, player: &Player) -> Player {
        Player::new(self.stage.channel().await, player.profile.clone(), &player.token)
    }
}

#[tokio::test]
async fn a_game_continues_after_a_restart() {
    let mut lives = Lives::first().await;
    let settings = v1::RoomSettings { games: 3, move_limit: millis(60_000), ..named("match") };
    let SeatedRoom { black, white, room, game } = lives.stage.table(settings).await;
    black.play(&game, 0, "d3").await.unwrap();
    white.chat(&room, "wait").await.unwrap();
    let before = black.room(&room).await;

    lives.next(Duration::from_secs(24 * 60 * 60)).await;
    let (black, white) = (lives.again(&black).await, lives.again(&white).await);
    let mut turns = white.turns().await;
    let asked = turns.asked().await;
    assert_eq!((asked.game_id.as_str(), asked.ply), (game.as_str(), 1), "the open turn is asked again");
    assert!(asked.clocks.unwrap().time_left.unwrap().seconds > 50, "a day away costs nothing");
    let after = black.room(&room).await;
    assert_eq!((&after.members, &after.seats, &after.settings), (&before.members, &before.seats, &before.settings));
    assert_eq!((&after.chat, after.series), (&before.chat, before.series));
    assert_eq!(after.game.unwrap().plies, before.game.unwrap().plies);
    let mut watcher = lives.stage.human("Eve").await.watch_after(&room, before.seq).await;
    let credit = watcher.until(|event| match event {
        room_event::Event::ClockCredited(credited) => credited.credit,
        _ => None,
    });
    assert_eq!(credit.await.seconds / 3_600, 23, "but for the moment of stopping");
    white.play(&game, 1, "c3").await.unwrap();
    assert!(black.play(&game, 0, "d3").await.unwrap().already_applied, "what was acknowledged stays so");
    black.resign(&game).await.unwrap();
    assert_eq!(white.me().await.stats.unwrap().won, 1);
}

#[tokio::test]
async fn a_disk_that_fails_at_the_start_costs_no_time() {
    let fails = Arc::new(AtomicBool::new(false));
    let hook = Arc::clone(&fails);
    let refuse = move |_, _| hook.load(SeqCst).then(|| AppendError::Unavailable("made by this test".into()));
    let mut lives = Lives::over(MemoryStore::with_faults(Box::new(refuse))).await;
    let SeatedRoom { black, room, game, .. } = lives.stage.table(named("waiting")).await;
    black.play(&game, 0, "d3").await.unwrap();
    fails.store(true, SeqCst);
    // The downtime cannot be credited yet; until then no moves are accepted.
    lives.next(Duration::from_secs(3_600)).await;
    let black = lives.again(&black).await;
    refused(black.resign(&game).await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!(black.room(&room).await.game.unwrap().ply, 1, "what is known is told");
    let mut watcher = black.watch(&room).await;
    watcher.snapshot().await;
    fails.store(false, SeqCst);
    watcher.until(|event| matches!(event, room_event::Event::ClockCredited(_)).then_some(())).await;
    black.resign(&game).await.unwrap();
}

#[tokio::test]
async fn after_a_restart_ais_move_and_idle_rooms_stay() {
    let mut lives = Lives::first().await;
    let ada = lives.stage.human("Ada").await;
    let slow = v1::RoomSettings { ai_pause: millis(300), ..named("machines") };
    let machines = ada.create_with(slow, ["random", "random"]).await.room_id;
    let bea = lives.stage.human("Bea").await;
    let quiet = bea.create(named("quiet")).await.room_id;
    ada.start(&machines).await.unwrap();

    // Long after the inactive room would have been closed as idle.
    lives.next(Duration::from_secs(10 * 60 * 60)).await;
    let (ada, bea) = (lives.again(&ada).await, lives.again(&bea).await);
    let listed: Vec<_> = ada.listed().await.into_iter().map(|row| row.room_id).collect();
    assert!(listed.contains(&machines) && listed.contains(&quiet));
    assert_eq!((ada.me().await.room_ids, bea.me().await.room_ids), (vec![machines.clone()], vec![quiet.clone()]));
    assert_eq!(bea.room(&quiet).await.owner_id, bea.id);
    let mut watcher = ada.watch(&machines).await;
    watcher.snapshot().await;
    watcher.until(|event| matches!(event, room_event::Event::MovePlayed(_)).then_some(())).await;
}

#[tokio::test]
async fn tokens_stay_valid_until_log_out() {
    let mut lives = Lives::first().await;
    let (ada, bea) = (lives.stage.human("Ada").await, lives.stage.human("Bea").await);
    bea.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    lives.next(Duration::ZERO).await;
    assert_eq!(lives.again(&ada).await.me().await.player.unwrap().display_name, "Ada");
    let gone = lives.again(&bea).await.sessions().get_me(v1::GetMeRequest {}).await;
    refused(gone, Code::Unauthenticated, "TOKEN_INVALID");
    let mut sessions = v1::session_service_client::SessionServiceClient::new(lives.stage.channel().await);
    let again = v1::LogInRequest { display_name: "ADA".into(), ..Default::default() };
    refused(sessions.log_in(again).await, Code::AlreadyExists, "NAME_TAKEN");
    lives.stage.human("Bea").await;
}

#[tokio::test]
async fn a_waiting_quick_start_is_found_after_a_restart() {
    let mut lives = Lives::first().await;
    let ada = lives.stage.human("Ada").await;
    let room = ada.meet().await.unwrap().room_id;
    lives.next(Duration::ZERO).await;
    let ada = lives.again(&ada).await;
    let mut turns = ada.turns().await;
    let bea = lives.stage.human("Bea").await;
    assert_eq!(bea.meet().await.unwrap().room_id, room);
    within(turns.until(|event| matches!(event, Event::GameStarted(_)).then_some(()))).await;
}
