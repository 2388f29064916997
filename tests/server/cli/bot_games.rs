//! The games of `reversi bot`: as many as it is to play, and none is lost because it leaves.

use std::{
    io::{self, Read as _},
    process::{Child, Stdio},
    time::Duration,
};

use reversi::client::{
    Client, EndReason, GameFilter, NewRoom, Occupant, Offer, PlayerKind, Room, RoomFilter, RoomId, RoomList,
    RoomUpdate, Session, Settings, SideWish,
};
use tokio::{
    task::{JoinSet, spawn_blocking},
    time::timeout,
};

use super::command::{file, reversi};
use crate::harness::{cable::Cable, in_process::TestServer};

/// Timeout of each wait; no test needs this long.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn within<T>(work: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, work).await.expect("timed out")
}

async fn log_in(server: &TestServer, name: &str, kind: PlayerKind) -> Session {
    Client::connect(&url(server)).await.unwrap().log_in(name, kind).await.unwrap()
}

fn url(server: &TestServer) -> String {
    format!("http://{}", server.address)
}

/// A bot, killed when this is dropped.
struct Bot(Child);

impl Bot {
    fn start(server: &TestServer, arguments: &[&str]) -> Self {
        let mut command = reversi(&[&["bot"], arguments].concat());
        command.env("REVERSI_SERVER", url(server)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Waits until the bot ends by itself; returns what it has printed.
    async fn ended(self) -> String {
        self.ended_with(0).await
    }

    async fn ended_with(mut self, status: i32) -> String {
        let output = self.0.stdout.take().unwrap().chain(self.0.stderr.take().unwrap());
        let output = within(spawn_blocking(|| io::read_to_string(output))).await.unwrap().unwrap();
        assert_eq!(self.0.wait().unwrap().code(), Some(status), "{output}");
        output
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A room that starts by itself.
async fn new_room(owner: &Session, games: u32) -> RoomId {
    let settings = Settings { auto_start: true, rated: true, games, ..Settings::default() };
    owner.create_room(NewRoom { settings, ..NewRoom::default() }).await.unwrap().id
}

/// Waits for a state of the room.
async fn wait_for(session: &Session, id: &RoomId, wanted: impl Fn(&Room) -> bool) -> Room {
    let mut updates = session.watch(id).await.unwrap();
    let mut room: Option<Room> = None;
    let reached = async {
        loop {
            match updates.next().await.unwrap().unwrap() {
                RoomUpdate::Snapshot(snapshot) => room = Some(*snapshot),
                RoomUpdate::Event(event) => room.as_mut().unwrap().apply(&event).unwrap(),
                _ => {}
            }
            if let Some(room) = room.take_if(|room| wanted(room)) {
                return room;
            }
        }
    };
    within(reached).await
}

/// Waits for the game of this number, in which the other player has moved, and resigns it.
async fn resign(session: &Session, id: &RoomId, number: u32) {
    let me = &session.player().id;
    let has_begun = |room: &Room| {
        let other = room.side_of(me).map(|side| side.opposite());
        room.running().is_some_and(|game| {
            let moved = game.plies.iter().any(|ply| Some(ply.side) == other);
            game.number == number && (moved || game.standing.turn != other)
        })
    };
    let room = wait_for(session, id, has_begun).await;
    session.resign(&room.running().unwrap().id).await.unwrap();
}

async fn sit(session: &Session, room: &RoomId, side: reversi::rules::Color) {
    session.join(room, "").await.unwrap();
    session.take_seat(room, side).await.unwrap();
    session.set_ready(room, true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_bots_play_their_games_in_rooms_that_start_by_themselves() {
    let server = TestServer::open().await;
    let mut stories = JoinSet::new();
    // Games of a series, games of each bot, and games played: a series that has begun is played to its end.
    for (index, (series, games, played)) in
        [(2, 2, 2), (2, 2, 2), (1, 2, 2), (1, 1, 1), (3, 2, 3), (2, 3, 4)].into_iter().enumerate()
    {
        let owner = log_in(&server, &format!("owner {index}"), PlayerKind::Human).await;
        let room = new_room(&owner, series).await;
        let arguments = ["--room", &room.to_string(), "--games", &games.to_string(), "--ai", "greedy"];
        let bots = [(); 2].map(|()| Bot::start(&server, &arguments));
        stories.spawn(async move {
            for bot in bots {
                let said = bot.ended().await.contains("the series that has begun is played to its end");
                assert_eq!(said, played > usize::try_from(games).unwrap());
            }
            let filter = GameFilter { room: Some(room), ..GameFilter::default() };
            let records = owner.list_games(filter, 100, None).await.unwrap().items;
            let ends: Vec<_> = records.iter().map(|game| game.outcome.reason).collect();
            assert_eq!(ends, vec![EndReason::Discs; played], "{games} games of each, series of {series}");
        });
    }
    stories.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn games_that_began_before_a_bot_came_back_are_played_and_not_counted() {
    let server = TestServer::open().await;
    let ada = log_in(&server, "ada", PlayerKind::Human).await;
    let id = new_room(&ada, 1).await;
    sit(&ada, &id, reversi::rules::Color::Black).await;
    let earlier_run = log_in(&server, "bot", PlayerKind::Bot).await;
    sit(&earlier_run, &id, reversi::rules::Color::White).await;
    // Its end and the removal are sent to the next stream of the bot's turns.
    let first = wait_for(&ada, &id, |room| room.running().is_some()).await;
    ada.resign(&first.game.unwrap().id).await.unwrap();
    ada.kick(&id, &earlier_run.player().id, false).await.unwrap();
    sit(&earlier_run, &id, reversi::rules::Color::White).await;
    ada.set_ready(&id, true).await.unwrap();
    let keep = file("bot-came-back");
    std::fs::write(&keep, earlier_run.token()).unwrap();
    let bot = Bot::start(&server, &["--room", &id.to_string(), "--games", "1", "--keep", &keep]);
    ada.play(&wait_for(&ada, &id, |room| room.running().is_some()).await.game.unwrap().id, 0, "d3".parse().unwrap())
        .await
        .unwrap();
    resign(&ada, &id, 2).await;
    wait_for(&ada, &id, |room| room.running().is_none() && room.seats.white.ready).await;
    ada.set_ready(&id, true).await.unwrap();
    resign(&ada, &id, 3).await;
    bot.ended().await;
    let room = ada.room(&id).await.unwrap();
    assert_eq!(room.game.unwrap().number, 3);
    std::fs::remove_file(keep).unwrap();
}

/// The server has begun a game of which the bot does not hear.
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_plays_the_game_whose_start_it_was_not_told() {
    let server = TestServer::open().await;
    let cable = Cable::to(server.address.to_string()).await;
    cable.hold_answers_to(b"roxanne");
    let mut bot = reversi(&["bot", "--ai", "random", "--vs", "roxanne", "--games", "1", "--name", "bob"]);
    bot.env("REVERSI_SERVER", format!("http://{},{}", cable.address, url(&server)));
    bot.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let bot = Bot(bot.spawn().unwrap());
    let ada = log_in(&server, "ada", PlayerKind::Human).await;
    let mut rooms = ada.watch_rooms(RoomFilter::default()).await.unwrap();
    let mut list = RoomList::default();
    while list.rows().is_empty() {
        list.apply(within(rooms.next()).await.unwrap().unwrap());
    }
    cable.cut();
    let printed = bot.ended().await;
    assert!(printed.contains("back in room") && printed.contains("game "), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_waits_for_a_person_who_wants_a_rematch() {
    let server = TestServer::open().await;
    let ada = log_in(&server, "ada", PlayerKind::Human).await;
    let id = ada.quick_start(None, SideWish::White).await.unwrap().id;
    let bot = Bot::start(&server, &["--quick", "--games", "2"]);
    resign(&ada, &id, 1).await;
    let game = ada.room(&id).await.unwrap().game.unwrap().id;
    ada.offer(&game, Offer::Rematch).await.unwrap();
    resign(&ada, &id, 2).await;
    // It has played its games, and waits no longer.
    wait_for(&ada, &id, |room| room.members.len() == 1).await;
    bot.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_that_is_kept_from_its_games_fails_and_says_why() {
    let server = TestServer::open().await;
    let ada = log_in(&server, "ada", PlayerKind::Human).await;
    let bot = |room: &RoomId| Bot::start(&server, &["--room", &room.to_string(), "--games", "2", "--name", "bot"]);
    let is_ready = |room: &Room| room.running().is_none() && room.seats.white.ready;

    let id = new_room(&ada, 1).await;
    sit(&ada, &id, reversi::rules::Color::Black).await;
    let removed = bot(&id);
    resign(&ada, &id, 1).await;
    let white = wait_for(&ada, &id, is_ready).await.seats.white;
    let Occupant::Player(player) = white.occupant else { panic!("{white:?}") };
    ada.kick(&id, &player.id, false).await.unwrap();
    let printed = removed.ended_with(1).await;
    assert!(printed.contains("1 of 2 games were played: room ") && printed.contains("it was removed"), "{printed}");

    let closed = bot(&id);
    wait_for(&ada, &id, is_ready).await;
    ada.close_room(&id).await.unwrap();
    let printed = closed.ended_with(1).await;
    assert!(printed.contains("0 of 2 games were played: "), "{printed}");

    let id = new_room(&ada, 1).await;
    let black = log_in(&server, "black", PlayerKind::Human).await;
    sit(&black, &id, reversi::rules::Color::Black).await;
    ada.take_seat(&id, reversi::rules::Color::White).await.unwrap();
    let printed = bot(&id).ended_with(1).await;
    assert!(printed.contains("0 of 2 games were played: ") && printed.contains("no seat is free"), "{printed}");
}
