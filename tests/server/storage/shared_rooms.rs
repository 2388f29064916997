//! Three real servers that share the rooms of one PostgreSQL database: two players and a watcher at different ones, and
//! what they notice when the server that has their room is killed, or asked to end; and one server that has no rooms.

use std::time::Duration;

use futures_util::future::join_all;
use reversi::proto::v1::{self, play_event, room_event::Event, watch_room_response::Message, watch_rooms_response};
use reversi_needs::needs;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tonic::{Code, Status, Streaming};

use super::{
    standby::{get, seconds, squares},
    tables::SeenEvents,
};
use crate::{
    cli::command::{reversi, text},
    harness::{
        postgres::{Database, database},
        process::{Player, Server, close_reason, read_until},
    },
};

/// Timeout of each wait; a pause lasts less than five seconds on a machine without other work.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// The interval of looks at the database, and of tries where a server is away.
pub(super) const AGAIN: Duration = Duration::from_millis(20);

/// Three servers; a room and one of its players are at the first, the other player at the second, a watcher at the
/// third.
struct SharedRooms {
    database: Database,
    servers: Vec<Server>,
    players: [Player; 2],
    watch: SeenEvents,
    room: String,
    game: String,
}

pub(super) fn start(database: &Database) -> Server {
    start_with(&database.url(), &["--node-listen", "127.0.0.1:0"])
}

/// Starts a server with a database and these further options.
pub(super) fn start_with(url: &str, options: &[&str]) -> Server {
    Server::start(&[&["--store", url, "--drain", "2"][..], options].concat())
}

/// Waits until a query has this answer.
pub(super) async fn until(database: &Database, sql: &str, answer: &str) {
    let reached = async {
        while database.sql(sql) != answer {
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, reached).await.unwrap_or_else(|_| panic!("{sql}: {} instead of {answer}", database.sql(sql)));
}

/// Waits until each server has its share.
pub(super) async fn balanced(database: &Database, servers: usize) {
    let share = 4_096_usize.div_ceil(servers);
    let sql = format!(
        "SELECT count(*) = {servers} AND sum(n) = 4096 AND max(n) <= {share} \
         FROM (SELECT count(*) AS n FROM shard WHERE node IS NOT NULL GROUP BY node) AS shares"
    );
    until(database, &sql, "t").await;
}

impl SharedRooms {
    async fn start() -> Self {
        let database = database();
        let servers = vec![start(&database), start(&database), start(&database)];
        balanced(&database, 3).await;
        let black = servers[0].log_in("Bea", 1 << 20).await;
        let white = Player::with_token(&servers[1].url, &servers[1].log_in("Wim", 1 << 20).await.token).await;
        let settings = v1::RoomSettings { move_limit: Some(seconds(600)), ..Default::default() };
        let room = black.create(settings, ["me", "open"]).await.room_id;
        white.join_and_sit(&room, 1).await;
        let game = black.start(&room).await;
        let watch = SeenEvents::of(servers[2].log_in("Wanda", 1 << 20).await.watch(&room).await);
        let this = Self { database, servers, players: [black, white], watch, room, game };
        assert_eq!(this.owner(), this.place(0), "a room is at the server where it was made");
        this
    }

    /// Where the server of the room listens.
    fn owner(&self) -> String {
        let sql = "SELECT listens FROM room JOIN shard ON shard.id = (room.id >> 48)::int \
            JOIN node ON node.id = shard.node";
        self.database.sql(sql)
    }

    fn place(&self, server: usize) -> &str {
        self.servers[server].url.strip_prefix("http://").unwrap()
    }

    /// Makes this many moves. A move whose server is away is made again at the other player's.
    async fn play(&self, moves: usize) {
        timeout(2 * TIMEOUT, self.make_moves(moves)).await.expect("moves are made");
    }

    async fn make_moves(&self, moves: usize) {
        let mut made = 0;
        while made < moves {
            let room = self.answered(async |player| get(player, &self.room).await).await;
            let game = room.game.unwrap();
            let position = game.position.unwrap();
            let mover = &self.players[usize::from(position.side_to_move() == v1::Side::White)];
            let played = mover.play(&self.game, game.ply, &position.legal_moves[0]).await;
            match played {
                Ok(()) => made += 1,
                Err(status) => {
                    assert!(matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled), "{status}");
                    sleep(AGAIN).await;
                }
            }
        }
    }

    /// The answer of the second player's server, which lives.
    async fn answered<T>(&self, ask: impl AsyncFn(&Player) -> Result<T, tonic::Status>) -> T {
        let answered = async {
            loop {
                match ask(&self.players[1]).await {
                    Ok(answer) => return answer,
                    Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
                }
                sleep(AGAIN).await;
            }
        };
        timeout(TIMEOUT, answered).await.expect("the room is served again")
    }

    /// Connects the first player to another server.
    async fn move_black(&mut self, server: usize) {
        self.players[0] = Player::with_token(&self.servers[server].url, &self.players[0].token).await;
    }

    /// Reads what the watcher sees until this many moves were made.
    async fn watched(&mut self, moves: usize) {
        let mut made = 0;
        while made < moves {
            made += usize::from(matches!(self.watch.next().await, Event::MovePlayed(_)));
        }
    }

    async fn moves(&self) -> usize {
        squares(&self.answered(async |player| get(player, &self.room).await).await).len()
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_room_is_played_and_watched_at_any_server() {
    let mut shared = SharedRooms::start().await;
    shared.play(10).await;
    shared.watched(10).await;
    // The token of a player is good at every server.
    shared.move_black(2).await;
    shared.play(4).await;
    shared.watched(4).await;
    assert_eq!(shared.moves().await, 14);
    assert_eq!(shared.owner(), shared.place(0));
}

/// A room with 4 moves whose database has just lost 3 more, as when a standby is promoted that lacks the last commits.
/// Also its watchers at these servers, who have seen all.
async fn with_lost_moves(servers: [usize; 2]) -> (SharedRooms, Vec<Streaming<v1::WatchRoomResponse>>) {
    let shared = SharedRooms::start().await;
    shared.play(4).await;
    let mut watches = Vec::new();
    for server in servers {
        let name = format!("watcher {server}");
        let mut watch = shared.servers[server].log_in(&name, 1).await.watch(&shared.room).await;
        assert_eq!(next_snapshot(&mut watch).await, 4);
        watches.push(watch);
    }
    shared.database.sql("CREATE TABLE kept AS SELECT * FROM room; CREATE TABLE kept_state AS SELECT * FROM room_state");
    shared.play(3).await;
    let last = get(&shared.players[1], &shared.room).await.unwrap().seq;
    for watch in &mut watches {
        timeout(TIMEOUT, read_until(watch, last)).await.expect("a watcher sees all moves");
    }
    shared.database.sql(
        "BEGIN; UPDATE room SET seq = kept.seq, tail = kept.tail FROM kept WHERE kept.id = room.id; \
         UPDATE room_state SET state = kept.state FROM kept_state AS kept WHERE kept.room = room_state.room; \
         COMMIT",
    );
    (shared, watches)
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_room_and_its_watchers_go_back_with_a_database_that_has_lost_moves() {
    let (shared, mut watches) = with_lost_moves([0, 2]).await;
    let mut turns = shared.players[0].turns().await;
    let found: i64 = shared.database.sql("SELECT floor(extract(epoch FROM now()) * 1000)").parse().unwrap();
    // The next one finds it.
    shared.play(1).await;
    assert_eq!(shared.moves().await, 5);
    let turn = async {
        loop {
            let event = turns.message().await.unwrap().expect("the stream goes on").event.unwrap().event;
            if let Some(play_event::Event::TurnRequested(turn)) = event {
                return turn;
            }
        }
    };
    let turn = timeout(TIMEOUT, turn).await.expect("the lost move is requested again");
    let deadline = turn.clocks.unwrap().deadline.unwrap();
    assert_eq!(turn.ply, 4);
    // Clocks of servers follow that of the database within a few milliseconds.
    let left = deadline.seconds * 1000 + i64::from(deadline.nanos) / 1_000_000 - found;
    assert!(left >= 599_950, "the time since the last move that is left is not the player's: {left}");
    for watch in &mut watches {
        let moves = next_snapshot(watch).await;
        assert!((4..=5).contains(&moves), "{moves}");
    }
}

/// One of the two watchers is at the next server of the room, the other at a server that follows it.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn watchers_go_back_though_the_room_is_at_another_server_after_a_loss() {
    let (mut shared, mut watches) = with_lost_moves([1, 2]).await;
    shared.servers[0].kill();
    for watch in &mut watches {
        assert_eq!(next_snapshot(watch).await, 4);
    }
}

/// Commits that are not on a synchronous standby would be lost with the database.
#[needs(postgres)]
#[tokio::test]
async fn the_log_says_what_the_database_promises_and_no_commit_is_only_local() {
    let url = format!("{}%20-csynchronous_commit%3Dlocal", database().url());
    let (is_clean, log) = start_with(&url, &[]).stop().await;
    assert!(is_clean && log.contains("fsync=\"on\"") && log.contains("synchronous_commit=\"on\""), "{log}");
}

/// The number of moves in the next snapshot of a room.
async fn next_snapshot(watch: &mut Streaming<v1::WatchRoomResponse>) -> i32 {
    let snapshot = async {
        loop {
            let message = watch.message().await.unwrap().expect("the stream goes on").message.unwrap();
            if let Message::Snapshot(room) = message {
                return room.game.unwrap().ply;
            }
        }
    };
    timeout(TIMEOUT, snapshot).await.expect("a snapshot")
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn names_and_join_codes_are_known_at_every_server() {
    let shared = SharedRooms::start().await;
    let code = get(&shared.players[0], &shared.room).await.unwrap().join_code;
    let taken = Player::try_bot(&shared.servers[2].url, "bea", 1).await.err().unwrap();
    assert_eq!(taken.code(), Code::AlreadyExists, "{taken}");
    let guest = Player::bot(&shared.servers[2].url, "Gus", 1).await;
    let by = v1::join_room_request::Room::JoinCode(code);
    let joined = guest.rooms().join_room(v1::JoinRoomRequest { room: Some(by), ..Default::default() }).await.unwrap();
    assert_eq!(joined.into_inner().room.unwrap().room_id, shared.room);
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_replaced_at_one_server_ends_at_all() {
    let shared = SharedRooms::start().await;
    let at = |server: usize, token: String| {
        let url = shared.servers[server].url.clone();
        async move { Player::with_token(&url, &token).await }
    };
    let old = shared.players[0].token.clone();
    let players = [at(0, old.clone()).await, at(1, old.clone()).await, at(2, old).await];
    let [mut first, mut second] = [players[1].watch(&shared.room).await, players[2].watch(&shared.room).await];
    let mut turns = players[2].turns().await;
    let replacements = players.iter().enumerate().map(async |(number, player)| {
        let new_token: String = (0..32).map(|byte| format!("{:02x}", 32 * number + byte)).collect();
        player.sessions().replace_token(v1::ReplaceTokenRequest { new_token: new_token.clone() }).await?;
        Ok::<_, Status>(new_token)
    });
    let mut won = Vec::new();
    for replaced in join_all(replacements).await {
        match replaced {
            Ok(token) => won.push(token),
            Err(refused) => assert_eq!(refused.code(), Code::Unauthenticated, "{refused}"),
        }
    }
    assert_eq!(won.len(), 1);
    let closing = |message: Option<Message>| match message {
        Some(Message::Closing(closing)) => Some(closing.reason()),
        _ => None,
    };
    for watch in [&mut first, &mut second] {
        let reason = async {
            loop {
                if let Some(reason) = closing(watch.message().await.unwrap().unwrap().message) {
                    return reason;
                }
            }
        };
        assert_eq!(timeout(TIMEOUT, reason).await.unwrap(), v1::CloseReason::LoggedOut);
    }
    assert_eq!(close_reason(&mut turns).await, v1::CloseReason::LoggedOut);
    for server in 0..3 {
        let next = at(server, won[0].clone()).await;
        assert_eq!(get(&next, &shared.room).await.unwrap().room_id, shared.room);
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn players_who_want_any_opponent_meet_from_different_servers() {
    let shared = SharedRooms::start().await;
    let players = [
        shared.servers[0].log_in("Ann", 1 << 20).await,
        shared.servers[1].log_in("Ben", 1 << 20).await,
        shared.servers[2].log_in("Cas", 1 << 20).await,
        shared.servers[0].log_in("Dot", 1 << 20).await,
    ];
    // A player without a stream is absent, and gets no opponent.
    let streams = players.iter().map(async |player| player.turns().await);
    let _streams = join_all(streams).await;
    let rooms = join_all(players.iter().map(async |player| player.quick_start_with_anyone().await.room_id)).await;
    let mut sizes: Vec<_> = rooms.iter().map(|room| rooms.iter().filter(|other| *other == room).count()).collect();
    sizes.dedup();
    assert_eq!(sizes, [2], "each has one opponent: {rooms:?}");
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn no_move_is_lost_when_the_server_of_a_room_is_killed() {
    let mut shared = SharedRooms::start().await;
    shared.play(6).await;
    shared.servers[0].kill();
    shared.move_black(2).await;
    shared.play(6).await;
    assert_eq!(shared.moves().await, 12, "each acknowledged move once");
    shared.watched(12).await;
    balanced(&shared.database, 2).await;
}

/// By another server than that of the game.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_has_ended_is_settled_without_a_question_about_it() {
    let mut shared = SharedRooms::start().await;
    shared.play(1).await;
    shared.players[1].games().resign(v1::ResignRequest { game_id: shared.game.clone() }).await.unwrap();
    shared.servers[0].kill();
    until(&shared.database, "SELECT sum(won), sum(lost) FROM standings", "1|1").await;
    assert_eq!(shared.database.sql("SELECT games FROM archive"), "1");
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_asked_to_end_gives_its_rooms_to_the_others() {
    let mut shared = SharedRooms::start().await;
    shared.play(4).await;
    let mut watch = shared.players[0].watch(&shared.room).await;
    let leaving = shared.servers.remove(0);
    let (mut ending, place) = (JoinSet::new(), leaving.url.strip_prefix("http://").unwrap().to_owned());
    ending.spawn(leaving.stop());
    let closing =
        async { while !matches!(watch.message().await.unwrap().unwrap().message, Some(Message::Closing(_))) {} };
    timeout(TIMEOUT, closing).await.expect("its streams end");
    let kept = format!("SELECT count(*) FROM shard JOIN node ON node.id = shard.node WHERE listens = '{place}'");
    assert_eq!(shared.database.sql(&kept), "0", "others have the rooms before the streams end");
    shared.move_black(1).await;
    shared.play(4).await;
    let (clean, log) = timeout(TIMEOUT, ending.join_next()).await.expect("it ends").unwrap().unwrap();
    assert!(clean, "{log}");
    assert!(!log.contains("have not taken all rooms over"), "{log}");
    assert_ne!(shared.owner(), place);
    shared.play(2).await;
    assert_eq!(shared.moves().await, 10);
    shared.watched(10).await;
    balanced(&shared.database, 2).await;
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_drained_by_a_command_exits_and_its_games_go_on() {
    let mut shared = SharedRooms::start().await;
    shared.play(4).await;
    let mut watch = shared.players[0].watch(&shared.room).await;
    let node = shared.database.sql(&format!("SELECT id FROM node WHERE listens = '{}'", shared.place(0)));
    let leaving = shared.servers.remove(0);
    let (mut draining, url) = (JoinSet::new(), shared.database.url());
    let drain = ["nodes", "drain", &node, "--store", &url].map(str::to_owned);
    let command = move || reversi(&drain.each_ref().map(String::as_str)).output().unwrap();
    draining.spawn_blocking(command.clone());
    shared.move_black(1).await;
    shared.play(4).await;
    let reason = async {
        loop {
            if let Some(Message::Closing(closing)) = watch.message().await.unwrap().unwrap().message {
                return closing.reason();
            }
        }
    };
    assert_eq!(timeout(TIMEOUT, reason).await.expect("its streams end"), v1::CloseReason::Draining);
    let drained = timeout(TIMEOUT, draining.join_next()).await.expect("the command ends").unwrap().unwrap();
    assert!(drained.status.success(), "{}", text(&drained.stderr));
    assert_eq!(text(&drained.stdout), format!("node {node} has ended\n"));
    let (clean, log) = timeout(TIMEOUT, leaving.ended()).await.expect("it exits");
    assert!(clean && !log.contains("have not taken all rooms over"), "{log}");
    shared.play(2).await;
    assert_eq!(shared.moves().await, 10, "each acknowledged move once");
    shared.watched(10).await;
    balanced(&shared.database, 2).await;
    let listed = text(&reversi(&["nodes", "--store", &url]).output().unwrap().stdout);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.starts_with("NODE  ADDRESS ") && listed.matches("  rooms  ").count() == 2, "{listed}");
    let again = command();
    assert!(!again.status.success() && text(&again.stderr).contains("there is no node"), "{}", text(&again.stderr));
}

#[needs(postgres)]
#[tokio::test]
async fn options_that_differ_between_servers_are_warned_of_once() {
    let database = database();
    let first = start(&database);
    let second = start_with(&database.url(), &["--node-listen", "127.0.0.1:0", "--lease", "9"]);
    let standby = start_with(&database.url(), &[]);
    until(&database, "SELECT count(*) FROM node WHERE until > renewed", "3").await;
    // Each looks at the others after it has renewed its lease.
    let known = database.sql("SELECT now()");
    let looked = format!("SELECT bool_and(renewed > timestamptz '{known}' + interval '0.6 s') FROM node");
    until(&database, &looked, "t").await;
    let (_, log) = standby.stop().await;
    assert_eq!(log.matches("this server has no --node-listen").count(), 2, "{log}");
    assert_eq!(log.matches("has another --lease").count(), 1, "{log}");
    let (_, log) = first.stop().await;
    assert_eq!(log.matches("has no --node-listen, and this server has").count(), 1, "{log}");
    assert_eq!(log.matches("has another --lease").count(), 1, "{log}");
    drop(second);
}

/// Reads updates of the list until the room's row has this ply.
async fn listed_with(updates: &mut Streaming<v1::WatchRoomsResponse>, room: &str, ply: i32) {
    use watch_rooms_response::Message;
    let listed = async {
        loop {
            let rows = match updates.message().await.unwrap().expect("the stream goes on").message.unwrap() {
                Message::Snapshot(list) => list.rooms,
                Message::Upserted(row) => vec![row],
                _ => Vec::new(),
            };
            if rows.iter().any(|row| row.room_id == room && row.ply == ply) {
                return;
            }
        }
    };
    timeout(TIMEOUT, listed).await.unwrap_or_else(|_| panic!("no row with ply {ply}"));
}

/// The rooms that the list has at each of these servers.
async fn lists(players: &[Player]) -> Vec<Vec<String>> {
    let mut lists = Vec::new();
    for player in players {
        let list = player.lobby().list_rooms(v1::ListRoomsRequest::default()).await.unwrap().into_inner();
        lists.push(list.rooms.into_iter().map(|row| row.room_id).collect());
    }
    lists
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn every_server_lists_the_rooms_of_all() {
    let mut shared = SharedRooms::start().await;
    let visitors = [shared.servers[1].log_in("Eve", 1 << 20).await, shared.servers[2].log_in("Ida", 1 << 20).await];
    let everywhere = [[shared.room.clone()], [shared.room.clone()]];
    let mut updates = Vec::new();
    for visitor in &visitors {
        let watched = visitor.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await;
        updates.push(watched.unwrap().into_inner());
    }
    shared.play(2).await;
    for updates in &mut updates {
        listed_with(updates, &shared.room, 2).await;
    }
    assert_eq!(lists(&visitors).await, everywhere);
    shared.servers[0].kill();
    shared.move_black(2).await;
    shared.play(2).await;
    for updates in &mut updates {
        listed_with(updates, &shared.room, 4).await;
    }
    assert_eq!(lists(&visitors).await, everywhere);
    balanced(&shared.database, 2).await;
    assert_eq!(lists(&visitors).await, everywhere);
}
