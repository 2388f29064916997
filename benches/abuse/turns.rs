//! The measured players.

use std::time::{Duration, Instant};

use reversi::{
    proto::v1,
    rules::{Color, Position},
};

use crate::{
    SPAN,
    process::{Player, Server},
};

/// The pause between two turns: all turns together stay below the limits of one address.
const PAUSE: Duration = Duration::from_millis(1);

/// Two players that play one game after another.
pub(crate) struct GamePlayers {
    players: [Player; 2],
    room: String,
    game: String,
    ply: i32,
    position: Position,
}

impl GamePlayers {
    /// New players, with this number in their names.
    pub(crate) async fn start(server: &Server, number: usize) -> Self {
        let log_in = async |name: &str| Player::bot(&server.url, &format!("{name} {number}"), 1).await;
        let players = [log_in("Black").await, log_in("White").await];
        let room = players[0].create(v1::RoomSettings::default(), ["me", "open"]).await.room_id;
        players[1].join_and_sit(&room, 1).await;
        let game = players[0].start(&room).await;
        Self { players, room, game, ply: 0, position: Position::START }
    }

    /// Plays for [`SPAN`]. Returns the median and the 99th percentile of the latency of turns, in microseconds.
    pub(crate) async fn measure(&mut self) -> [f64; 2] {
        let (began, mut turns) = (Instant::now(), Vec::new());
        while began.elapsed() < SPAN {
            if self.position.is_over() {
                self.start_next_game().await;
            }
            let started = Instant::now();
            self.play_move().await;
            turns.push(started.elapsed());
            tokio::time::sleep(PAUSE).await;
        }
        turns.sort_unstable();
        [50, 99].map(|percent| turns[(turns.len() - 1) * percent / 100].as_secs_f64() * 1e6)
    }

    async fn play_move(&mut self) {
        let square = self.position.legal_moves().iter().next().unwrap();
        let player = &self.players[usize::from(self.position.turn() == Color::White)];
        player.play(&self.game, self.ply, &square.to_string()).await.unwrap();
        let (next, passed) = self.position.play(square).unwrap().after_forced_pass();
        self.position = next;
        self.ply += if passed.is_some() { 2 } else { 1 };
    }

    async fn start_next_game(&mut self) {
        let ready = v1::SetReadyRequest { room_id: self.room.clone(), ready: true };
        self.players[1].rooms().set_ready(ready).await.unwrap();
        self.game = self.players[0].start(&self.room).await;
        (self.ply, self.position) = (0, Position::START);
    }
}
