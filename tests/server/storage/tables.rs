//! Games of bots in the rooms of one server of a cluster. Whatever happens to the server: each acknowledged move is
//! kept, and watchers see each event once, in order.

use std::time::Duration;

use reversi::proto::v1::{self, room_event::Event, watch_room_response::Message};
use tokio::{
    sync::mpsc::{Receiver, Sender},
    time::{Instant, sleep, timeout},
};
use tonic::{Code, Streaming};

use super::{
    shared_rooms::{AGAIN, TIMEOUT},
    standby::{get, seconds},
};
use crate::harness::process::{Player, Server};

/// Two players in a game.
pub(super) struct Table {
    pub(super) players: [Player; 2],
    pub(super) room: String,
    pub(super) game: String,
    /// The wait after each move.
    pub(super) think: Duration,
}

/// An acknowledged move.
pub(super) struct Acknowledged {
    ply: i32,
    pub(super) square: String,
    pub(super) at: Instant,
}

/// Seats two bots of this name in rooms of the first server. They then play at the other two.
pub(super) async fn tables([owner, black, white]: [&Server; 3], name: &str, rooms: u8) -> Vec<Table> {
    let maker = Player::bot(&owner.url, &format!("maker {name}"), rooms.into()).await;
    let guest = Player::bot(&white.url, &format!("guest {name}"), rooms.into()).await;
    let players = [Player::with_token(&black.url, &maker.token).await, guest];
    let mut tables = Vec::new();
    for _ in 0..rooms {
        let settings = v1::RoomSettings { move_limit: Some(seconds(600)), ..Default::default() };
        let room = maker.create(settings, ["me", "open"]).await.room_id;
        players[1].join_and_sit(&room, 1).await;
        let game = maker.start(&room).await;
        tables.push(Table { players: players.clone(), room, game, think: Duration::ZERO });
    }
    tables
}

impl Table {
    /// The same game, with the players at another server.
    pub(super) async fn at(&self, server: &Server) -> Self {
        let [black, white] = &self.players;
        let black = Player::with_token(&server.url, &black.token).await;
        let white = Player::with_token(&server.url, &white.token).await;
        Self { players: [black, white], room: self.room.clone(), game: self.game.clone(), think: self.think }
    }

    /// Makes this many moves, or those until the end of the game, with a message for each acknowledged one. A move that
    /// gets `UNAVAILABLE` is made again.
    pub(super) async fn play(&self, moves: usize, acknowledged: &Sender<()>) -> Vec<Acknowledged> {
        let mut made = Vec::new();
        while made.len() < moves {
            let game = self.room().await.game.unwrap();
            let position = game.position.unwrap();
            let Some(square) = position.legal_moves.first() else { break };
            let mover = &self.players[usize::from(position.side_to_move() == v1::Side::White)];
            match mover.play(&self.game, game.ply, square).await {
                Ok(()) => {
                    made.push(Acknowledged { ply: game.ply, square: square.clone(), at: Instant::now() });
                    let _ = acknowledged.try_send(());
                    sleep(self.think).await;
                }
                Err(status) => {
                    assert_eq!(status.code(), Code::Unavailable, "{status}");
                    sleep(AGAIN).await;
                }
            }
        }
        made
    }

    pub(super) async fn room(&self) -> v1::Room {
        loop {
            match get(&self.players[0], &self.room).await {
                Ok(room) => return room,
                Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
            }
            sleep(AGAIN).await;
        }
    }

    /// Checks that the game has these moves.
    pub(super) async fn assert_kept(&self, made: &[Acknowledged]) {
        let plies = self.room().await.game.unwrap().plies;
        for Acknowledged { ply, square, .. } in made {
            assert_eq!(plies[usize::try_from(*ply).unwrap()].square, *square, "ply {ply}");
        }
    }

    /// Watches the room as this player.
    pub(super) async fn watch(&self, player: &Player) -> SeenEvents {
        SeenEvents::of(player.watch(&self.room).await)
    }
}

/// Waits for this many acknowledged moves.
pub(super) async fn wait_for_moves(acknowledged: &mut Receiver<()>, moves: usize) {
    for _ in 0..moves {
        acknowledged.recv().await.expect("games go on");
    }
}

/// The longest pause of a game.
fn pause(made: &[Acknowledged]) -> Duration {
    made.windows(2).map(|moves| moves[1].at - moves[0].at).max().unwrap_or_default()
}

/// Prints the pauses of games during faults of a kind.
pub(super) fn print_pauses(fault: &str, games: &[Vec<Acknowledged>]) {
    let mut pauses: Vec<_> = games.iter().map(|made| pause(made)).collect();
    pauses.sort();
    let (median, longest) = (pauses[pauses.len() / 2], pauses[pauses.len() - 1]);
    println!("{fault}: pause of a room median {median:?}, longest {longest:?}, of {}", pauses.len());
}

/// The events of a room as a watcher sees them. Each comes once, in order.
pub(super) struct SeenEvents {
    stream: Streaming<v1::WatchRoomResponse>,
    /// The last one.
    seen: Option<u64>,
}

impl SeenEvents {
    pub(super) fn of(stream: Streaming<v1::WatchRoomResponse>) -> Self {
        Self { stream, seen: None }
    }

    pub(super) async fn next(&mut self) -> Event {
        loop {
            let message = timeout(TIMEOUT, self.stream.message()).await.expect("the watcher is served");
            match message.unwrap().expect("the stream goes on").message.unwrap() {
                Message::Snapshot(room) => {
                    assert_eq!(self.seen, None, "a second snapshot");
                    self.seen = Some(room.seq);
                }
                Message::Event(event) => {
                    assert_eq!(event.seq, self.seen.unwrap() + 1);
                    self.seen = Some(event.seq);
                    return event.event.unwrap();
                }
                Message::Closing(closing) => panic!("{closing:?}"),
                _ => {}
            }
        }
    }

    /// The moves until the end of a game.
    pub(super) async fn moves(mut self) -> Vec<String> {
        let mut squares = Vec::new();
        loop {
            match self.next().await {
                Event::MovePlayed(played) => squares.push(played.ply.unwrap().square),
                Event::GameEnded(_) => return squares,
                _ => {}
            }
        }
    }
}
