//! Three real servers that share the rooms of one PostgreSQL database: two players and a watcher at different ones, and what
//! they notice when the server that has their room is killed, frozen, or asked to end.

use std::time::Duration;

use reversi::proto::v1::{self, room_event, watch_room_response::Message, watch_rooms_response};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tonic::{Code, Streaming};

use super::standby::{get, seconds, squares};
use crate::harness::{
    postgres::{Database, database},
    process::{Player, Server},
};

/// Timeout of each wait; a pause lasts less than five seconds on a machine without other work.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The interval of looks at the database, and of tries where a server is away.
const AGAIN: Duration = Duration::from_millis(20);

/// Three servers; a room and one of its players are at the first, the other player at the second, a watcher at the third.
struct SharedRooms {
    database: Database,
    servers: Vec<Server>,
    players: [Player; 2],
    watch: Streaming<v1::WatchRoomResponse>,
    /// The last event that the watcher has seen.
    seen: Option<u64>,
    room: String,
    game: String,
}

fn start(database: &Database) -> Server {
    Server::start(&["--store", &database.url(), "--node-listen", "127.0.0.1:0", "--drain", "2"])
}

/// Waits until a query has this answer.
async fn until(database: &Database, sql: &str, answer: &str) {
    let reached = async {
        while database.sql(sql) != answer {
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, reached).await.unwrap_or_else(|_| panic!("{sql}: {} instead of {answer}", database.sql(sql)));
}

/// Waits until each server has its share.
async fn balanced(database: &Database, servers: usize) {
    let share = 4_096_usize.div_ceil(servers);
    let sql = format!(
        "SELECT count(*) = {servers} AND sum(n) = 4096 AND max(n) <= {share} \
         FROM (SELECT count(*) AS n FROM shard WHERE node IS NOT NULL GROUP BY node) AS shares"
    );
    until(database, &sql, "t").await;
}

impl SharedRooms {
    /// None without PostgreSQL.
    async fn start() -> Option<Self> {
        let database = database()?;
        let servers = vec![start(&database), start(&database), start(&database)];
        balanced(&database, 3).await;
        let black = servers[0].log_in("Bea", 1 << 20).await;
        let white = Player::with_token(&servers[1].url, &servers[1].log_in("Wim", 1 << 20).await.token).await;
        let settings = v1::RoomSettings { move_limit: Some(seconds(600)), ..Default::default() };
        let room = black.create(settings, ["me", "open"]).await.room_id;
        white.join_and_sit(&room, 1).await;
        let game = black.start(&room).await;
        let watch = servers[2].log_in("Wanda", 1 << 20).await.watch(&room).await;
        let this = Self { database, servers, players: [black, white], watch, seen: None, room, game };
        assert_eq!(this.owner(), this.place(0), "a room is at the server where it was made");
        Some(this)
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

    /// Reads what the watcher sees until this many moves were made. Each event is seen once, in order.
    async fn watched(&mut self, moves: usize) {
        let mut made = 0;
        while made < moves {
            let message = timeout(TIMEOUT, self.watch.message()).await.expect("the watcher is served");
            match message.unwrap().expect("the stream goes on").message.unwrap() {
                Message::Snapshot(room) => {
                    assert_eq!(self.seen, None, "a second snapshot");
                    self.seen = Some(room.seq);
                }
                Message::Event(event) => {
                    assert_eq!(event.seq, self.seen.unwrap() + 1);
                    self.seen = Some(event.seq);
                    made += usize::from(matches!(event.event, Some(room_event::Event::MovePlayed(_))));
                }
                Message::Closing(closing) => panic!("{closing:?}"),
                _ => {}
            }
        }
    }

    async fn moves(&self) -> usize {
        squares(&self.answered(async |player| get(player, &self.room).await).await).len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_is_played_and_watched_at_any_server() {
    let Some(mut shared) = SharedRooms::start().await else { return };
    shared.play(10).await;
    shared.watched(10).await;
    // The token of a player is good at every server.
    shared.move_black(2).await;
    shared.play(4).await;
    shared.watched(4).await;
    assert_eq!(shared.moves().await, 14);
    assert_eq!(shared.owner(), shared.place(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_move_is_lost_when_the_server_of_a_room_is_killed() {
    let Some(mut shared) = SharedRooms::start().await else { return };
    shared.play(6).await;
    shared.servers[0].kill();
    shared.move_black(2).await;
    shared.play(6).await;
    assert_eq!(shared.moves().await, 12, "each acknowledged move once");
    shared.watched(12).await;
    balanced(&shared.database, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_frozen_goes_on_as_another_without_its_rooms() {
    let Some(mut shared) = SharedRooms::start().await else { return };
    shared.play(4).await;
    let [black, _] = shared.players.clone();
    let position = get(&black, &shared.room).await.unwrap().game.unwrap().position.unwrap();
    let (game, square) = (shared.game.clone(), position.legal_moves[0].clone());
    shared.servers[0].signal("STOP");
    // It waits in the socket of the frozen server, which finds it when it goes on.
    let mut late = JoinSet::new();
    late.spawn(async move { black.play(&game, 4, &square).await });
    shared.move_black(2).await;
    shared.play(4).await;
    shared.servers[0].signal("CONT");
    let late = timeout(TIMEOUT, late.join_next()).await.expect("an answer").unwrap().unwrap();
    let refused = late.expect_err("that ply was played meanwhile, or its outcome is not known");
    assert!(matches!(refused.code(), Code::FailedPrecondition | Code::Unavailable | Code::Aborted), "{refused}");
    // It takes part again.
    balanced(&shared.database, 3).await;
    shared.move_black(0).await;
    shared.play(2).await;
    assert_eq!(shared.moves().await, 10);
    shared.watched(10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_asked_to_end_gives_its_rooms_to_the_others() {
    let Some(mut shared) = SharedRooms::start().await else { return };
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

#[tokio::test(flavor = "multi_thread")]
async fn every_server_lists_the_rooms_of_all() {
    let Some(mut shared) = SharedRooms::start().await else { return };
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
