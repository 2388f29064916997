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
struct RestartableServer {
    store: Arc<MemoryStore>,
    server: TestServer,
}

impl RestartableServer {
    async fn start() -> Self {
        Self::start_with(MemoryStore::default()).await
    }

    async fn start_with(store: MemoryStore) -> Self {
        let store = Arc::new(store);
        let server = TestServer::with(ServerOptions { store: Store::shared(&store), ..ServerOptions::default() }).await;
        Self { store, server }
    }

    /// Starts the next server; its clock has advanced by this time.
    async fn restart_after(&mut self, later: Duration) {
        let now = self.server.runtime.clock().now();
        self.server.stop();
        assert!(self.server.stopped().await);
        let clock = Clock::starting(now.after(later));
        self.server =
            TestServer::with(ServerOptions { store: Store::shared(&self.store), clock, ..ServerOptions::default() })
                .await;
    }

    /// The same player, over a connection to the current server.
    async fn reconnect(&self, player: &Player) -> Player {
        Player::new(self.server.channel().await, player.profile.clone(), &player.token)
    }
}

#[tokio::test]
async fn a_game_continues_after_a_restart() {
    let mut restartable = RestartableServer::start().await;
    let settings = v1::RoomSettings { games: 3, move_limit: millis(60_000), ..named("match") };
    let SeatedRoom { black, white, room, game } = restartable.server.two_player_game(settings).await;
    black.play(&game, 0, "d3").await.unwrap();
    white.chat(&room, "wait").await.unwrap();
    let before = black.room(&room).await;

    restartable.restart_after(Duration::from_secs(24 * 60 * 60)).await;
    let (black, white) = (restartable.reconnect(&black).await, restartable.reconnect(&white).await);
    let mut turns = white.turns().await;
    let asked = turns.turn_request().await;
    assert_eq!((asked.game_id.as_str(), asked.ply), (game.as_str(), 1), "the open turn is requested again");
    assert!(asked.clocks.unwrap().time_left.unwrap().seconds > 50, "a day of downtime does not count");
    let after = black.room(&room).await;
    assert_eq!((&after.members, &after.seats, &after.settings), (&before.members, &before.seats, &before.settings));
    assert_eq!((&after.chat, after.series), (&before.chat, before.series));
    assert_eq!(after.game.unwrap().plies, before.game.unwrap().plies);
    let mut watcher = restartable.server.human("Eve").await.watch_after(&room, before.seq).await;
    let credit = watcher.until(|event| match event {
        room_event::Event::ClockCredited(credited) => credited.credit,
        _ => None,
    });
    let difference = credit.await.seconds.abs_diff(24 * 3_600);
    assert!(difference < 60, "{difference} s: only the times to stop and to start differ");
    white.play(&game, 1, "c3").await.unwrap();
    assert!(black.play(&game, 0, "d3").await.unwrap().already_applied, "the move stays acknowledged");
    black.resign(&game).await.unwrap();
    assert_eq!(white.me().await.stats.unwrap().won, 1);
}

#[tokio::test]
async fn a_disk_that_fails_at_the_start_costs_no_time() {
    let fails = Arc::new(AtomicBool::new(false));
    let hook = Arc::clone(&fails);
    let refuse = move |_, _| hook.load(SeqCst).then(|| AppendError::Unavailable("injected by the test".into()));
    let mut restartable = RestartableServer::start_with(MemoryStore::with_faults(Box::new(refuse))).await;
    let SeatedRoom { black, room, game, .. } = restartable.server.two_player_game(named("waiting")).await;
    black.play(&game, 0, "d3").await.unwrap();
    fails.store(true, SeqCst);
    // The downtime cannot be credited yet; until then no moves are accepted.
    restartable.restart_after(Duration::from_secs(3_600)).await;
    let black = restartable.reconnect(&black).await;
    refused(black.resign(&game).await, Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!(black.room(&room).await.game.unwrap().ply, 1, "the open turn is sent");
    let mut watcher = black.watch(&room).await;
    watcher.snapshot().await;
    fails.store(false, SeqCst);
    watcher.until(|event| matches!(event, room_event::Event::ClockCredited(_)).then_some(())).await;
    black.resign(&game).await.unwrap();
}

#[tokio::test]
async fn after_a_restart_ais_move_and_idle_rooms_stay() {
    let mut restartable = RestartableServer::start().await;
    let ada = restartable.server.human("Ada").await;
    let slow = v1::RoomSettings { ai_pause: millis(300), ..named("machines") };
    let machines = ada.create_with(slow, ["random", "random"]).await.room_id;
    let bea = restartable.server.human("Bea").await;
    let quiet = bea.create(named("quiet")).await.room_id;
    ada.start(&machines).await.unwrap();

    // Long after the inactive room would have been closed as idle.
    restartable.restart_after(Duration::from_secs(10 * 60 * 60)).await;
    let (ada, bea) = (restartable.reconnect(&ada).await, restartable.reconnect(&bea).await);
    let listed: Vec<_> = ada.list_rooms().await.into_iter().map(|row| row.room_id).collect();
    assert!(listed.contains(&machines) && listed.contains(&quiet));
    assert_eq!((ada.me().await.room_ids, bea.me().await.room_ids), (vec![machines.clone()], vec![quiet.clone()]));
    assert_eq!(bea.room(&quiet).await.owner_id, bea.id);
    let mut watcher = ada.watch(&machines).await;
    watcher.snapshot().await;
    watcher.until(|event| matches!(event, room_event::Event::MovePlayed(_)).then_some(())).await;
}

#[tokio::test]
async fn tokens_stay_valid_until_log_out() {
    let mut restartable = RestartableServer::start().await;
    let (ada, bea) = (restartable.server.human("Ada").await, restartable.server.human("Bea").await);
    bea.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    restartable.restart_after(Duration::ZERO).await;
    assert_eq!(restartable.reconnect(&ada).await.me().await.player.unwrap().display_name, "Ada");
    let gone = restartable.reconnect(&bea).await.sessions().get_me(v1::GetMeRequest {}).await;
    refused(gone, Code::Unauthenticated, "TOKEN_INVALID");
    let mut sessions = v1::session_service_client::SessionServiceClient::new(restartable.server.channel().await);
    let again = v1::LogInRequest { display_name: "ADA".into(), ..Default::default() };
    refused(sessions.log_in(again).await, Code::AlreadyExists, "NAME_TAKEN");
    restartable.server.human("Bea").await;
}

#[tokio::test]
async fn what_a_player_has_set_survives_a_restart() {
    let mut restartable = RestartableServer::start().await;
    let bot = restartable.server.bot("Bot").await;
    let availability = Some(v1::Availability { games_at_once: 2, ..Default::default() });
    let request = v1::SetAvailabilityRequest { availability: availability.clone() };
    bot.lobby().set_availability(request).await.unwrap();
    let request = v1::SetEngineVersionRequest { engine_version: "edax 4.6".into() };
    bot.sessions().set_engine_version(request).await.unwrap();
    restartable.restart_after(Duration::ZERO).await;
    let bot = restartable.reconnect(&bot).await;
    let _turns = bot.turns().await;
    let listed = bot.lobby().list_players(v1::ListPlayersRequest::default()).await.unwrap().into_inner().players;
    assert_eq!(listed[0].availability, availability);
    assert_eq!(listed[0].player.as_ref().unwrap().engine_version, "edax 4.6");
}

#[tokio::test]
async fn a_claimed_name_survives_a_restart_and_a_log_out() {
    let mut restartable = RestartableServer::start().await;
    let SeatedRoom { black, white, game, .. } = restartable.server.two_player_game(named("first")).await;
    black.resign(&game).await.unwrap();
    black.sessions().claim_name(v1::ClaimNameRequest {}).await.unwrap();
    for player in [&black, &white] {
        player.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    }
    restartable.restart_after(Duration::from_secs(10 * 24 * 60 * 60)).await;
    let me = restartable.reconnect(&black).await.me().await;
    assert!(me.claimed && me.stats.unwrap().lost == 1);
    refused(
        restartable.reconnect(&white).await.sessions().get_me(v1::GetMeRequest {}).await,
        Code::Unauthenticated,
        "TOKEN_INVALID",
    );
}

#[tokio::test]
async fn a_waiting_quick_start_is_found_after_a_restart() {
    let mut restartable = RestartableServer::start().await;
    let ada = restartable.server.human("Ada").await;
    let room = ada.quick_start_with_anyone().await.unwrap().room_id;
    restartable.restart_after(Duration::ZERO).await;
    let ada = restartable.reconnect(&ada).await;
    let mut turns = ada.turns().await;
    let bea = restartable.server.human("Bea").await;
    assert_eq!(bea.quick_start_with_anyone().await.unwrap().room_id, room);
    within(turns.until(|event| matches!(event, Event::GameStarted(_)).then_some(()))).await;
}
