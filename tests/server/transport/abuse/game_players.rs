//! Two players who play by the rules and check every move during an attack.

use reversi::{
    proto::v1,
    rules::{Color, Position},
};

use crate::harness::in_process::{Player, SeatedRoom, TestServer, within};

/// Two players in an endless series of games.
pub(crate) struct GamePlayers {
    players: [Player; 2],
    room: String,
    game: String,
    ply: i32,
    position: Position,
}

impl GamePlayers {
    pub(crate) async fn start(server: &TestServer) -> Self {
        let SeatedRoom { black, white, room, game } = server.two_player_game(v1::RoomSettings::default()).await;
        Self { players: [black, white], room, game, ply: 0, position: Position::START }
    }

    /// Makes a move, and checks the room's position.
    pub(crate) async fn play_checked_move(&mut self) {
        if self.position.is_over() {
            self.start_next_game().await;
        }
        self.play_move().await;
        let seen = within(self.players[0].room(&self.room)).await.game.unwrap();
        let position = seen.position.unwrap();
        let board = self.position.board();
        let (black, white) = (board.discs(Color::Black).0, board.discs(Color::White).0);
        assert_eq!((seen.ply, position.black, position.white), (self.ply, black, white));
    }

    /// Makes a move.
    pub(crate) async fn play_move(&mut self) {
        let square = self.position.legal_moves().iter().next().unwrap();
        let player = &self.players[usize::from(self.position.turn() == Color::White)];
        let played = within(player.play(&self.game, self.ply, &square.to_string())).await.unwrap();
        assert!(!played.already_applied);
        let (next, passed) = self.position.play(square).unwrap().after_forced_pass();
        self.position = next;
        self.ply += if passed.is_some() { 2 } else { 1 };
    }

    /// Whether the game is over.
    pub(crate) fn is_over(&self) -> bool {
        self.position.is_over()
    }

    pub(crate) async fn play_to_end(&mut self) {
        while !self.is_over() {
            self.play_checked_move().await;
        }
        let game = within(self.players[0].room(&self.room)).await.game.unwrap();
        assert_eq!(game.outcome.unwrap().reason(), v1::GameEndReason::Discs);
    }

    pub(crate) async fn start_next_game(&mut self) {
        self.players[1].ready(&self.room).await.unwrap();
        self.game = self.players[0].start(&self.room).await.unwrap().game_id;
        (self.ply, self.position) = (0, Position::START);
    }

    /// The number of open connections of the server.
    pub(crate) async fn connections(&self) -> i32 {
        within(self.players[0].info()).await.connections
    }
}
