//! Of three real servers that share rooms, one after the other is killed during games of its rooms. The players are at the two
//! others. Also measures how long the rooms pause: `REVERSI_KILLS=100 cargo test --test server kills -- --nocapture`.

use std::time::Duration;

use futures_util::future::join_all;
use reversi::proto::v1;
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    time::{Instant, sleep, timeout},
};
use tonic::Code;

use super::{
    shared_rooms::{AGAIN, TIMEOUT, balanced, start},
    standby::{get, seconds},
};
use crate::harness::{
    postgres::database,
    process::{Player, Server},
};

/// Kills, unless the environment has another number.
const KILLS: usize = 20;

/// Rooms at the server that is killed.
const ROOMS: u8 = 4;

/// Moves of each game. The server is killed during the first half of them.
const MOVES: usize = 30;

/// Two players, at servers that live.
struct Table {
    players: [Player; 2],
    room: String,
    game: String,
}

/// An acknowledged move.
struct Acknowledged {
    ply: i32,
    square: String,
    at: Instant,
}

/// Seats two bots in rooms of the first server. They then play at the other two.
async fn tables([owner, black, white]: [&Server; 3], number: usize) -> Vec<Table> {
    let maker = Player::bot(&owner.url, &format!("maker {number}"), ROOMS.into()).await;
    let guest = Player::bot(&white.url, &format!("guest {number}"), ROOMS.into()).await;
    let players = [Player::with_token(&black.url, &maker.token).await, guest];
    let mut tables = Vec::new();
    for _ in 0..ROOMS {
        let settings = v1::RoomSettings { move_limit: Some(seconds(600)), ..Default::default() };
        let room = maker.create(settings, ["me", "open"]).await.room_id;
        players[1].join_and_sit(&room, 1).await;
        let game = maker.start(&room).await;
        tables.push(Table { players: players.clone(), room, game });
    }
    tables
}

impl Table {
    /// Makes [`MOVES`] moves, with a message for each acknowledged one. A move that gets `UNAVAILABLE` is made again.
    async fn play(&self, acknowledged: Sender<()>) -> Vec<Acknowledged> {
        let mut made = Vec::new();
        while made.len() < MOVES {
            let game = self.room().await.game.unwrap();
            let position = game.position.unwrap();
            let Some(square) = position.legal_moves.first() else { break };
            let mover = &self.players[usize::from(position.side_to_move() == v1::Side::White)];
            match mover.play(&self.game, game.ply, square).await {
                Ok(()) => {
                    made.push(Acknowledged { ply: game.ply, square: square.clone(), at: Instant::now() });
                    let _ = acknowledged.try_send(());
                }
                Err(status) => {
                    assert_eq!(status.code(), Code::Unavailable, "{status}");
                    sleep(AGAIN).await;
                }
            }
        }
        made
    }

    async fn room(&self) -> v1::Room {
        loop {
            match get(&self.players[0], &self.room).await {
                Ok(room) => return room,
                Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
            }
            sleep(AGAIN).await;
        }
    }
}

/// Kills a server during the games of its rooms.
async fn kill(server: &mut Server, mut acknowledged: Receiver<()>) {
    for _ in 0..usize::from(ROOMS) * MOVES / 4 {
        acknowledged.recv().await.expect("games go on");
    }
    server.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_move_is_lost_in_many_kills() {
    let Some(database) = database() else { return };
    let kills = std::env::var("REVERSI_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let mut servers = [(); 3].map(|()| start(&database));
    let mut pauses = Vec::new();
    for number in 0..kills {
        balanced(&database, 3).await;
        servers.rotate_left(1);
        let tables = tables([&servers[0], &servers[1], &servers[2]], number).await;
        let (sender, receiver) = channel(usize::from(ROOMS) * MOVES);
        let games = join_all(tables.iter().map(|table| table.play(sender.clone())));
        let played = async { tokio::join!(games, kill(&mut servers[0], receiver)).0 };
        let played = timeout(TIMEOUT, played).await.expect("the games go on at the other servers");
        for (table, made) in tables.iter().zip(&played) {
            let plies = table.room().await.game.unwrap().plies;
            for Acknowledged { ply, square, .. } in made {
                assert_eq!(plies[usize::try_from(*ply).unwrap()].square, *square, "kill {number}, ply {ply}");
            }
            let gaps = made.windows(2).map(|moves| moves[1].at - moves[0].at);
            pauses.push(gaps.max().unwrap_or(Duration::ZERO));
        }
        servers[0] = start(&database);
    }
    pauses.sort();
    println!(
        "{kills} kills: pause of a room median {:?}, longest {:?}",
        pauses[pauses.len() / 2],
        pauses[pauses.len() - 1]
    );
}
