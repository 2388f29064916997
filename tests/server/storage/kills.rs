//! Of three real servers that share rooms, one after the other is killed during games of its rooms. The players are at
//! the two others. Also measures how long the rooms pause: `REVERSI_KILLS=100 cargo test --test server kills --
//! --nocapture`.

use futures_util::future::join_all;
use reversi_needs::needs;
use tokio::{
    sync::mpsc::{Receiver, channel},
    time::timeout,
};

use super::{
    kills,
    shared_rooms::{TIMEOUT, balanced, start},
    tables::{print_pauses, tables, wait_for_moves},
};
use crate::harness::{postgres::database, process::Server};

/// Rooms at the server that is killed.
const ROOMS: u8 = 4;

/// Moves of each game. The server is killed during the first half of them.
const MOVES: usize = 30;

/// Kills a server during the games of its rooms.
async fn kill(server: &mut Server, mut acknowledged: Receiver<()>) {
    wait_for_moves(&mut acknowledged, usize::from(ROOMS) * MOVES / 4).await;
    server.kill();
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_move_is_lost_in_many_kills() {
    let database = database();
    let kills = kills();
    let mut servers = [(); 3].map(|()| start(&database));
    let mut games = Vec::new();
    for number in 0..kills {
        balanced(&database, 3).await;
        servers.rotate_left(1);
        let tables = tables([&servers[0], &servers[1], &servers[2]], &number.to_string(), ROOMS).await;
        let (sender, receiver) = channel(usize::from(ROOMS) * MOVES);
        let play = join_all(tables.iter().map(|table| table.play(MOVES, &sender)));
        let played = async { tokio::join!(play, kill(&mut servers[0], receiver)).0 };
        let played = timeout(TIMEOUT, played).await.expect("the games go on at the other servers");
        for (table, made) in tables.iter().zip(&played) {
            table.assert_kept(made).await;
        }
        games.extend(played);
        servers[0] = start(&database);
    }
    print_pauses(&format!("{kills} kills"), &games);
}
