//! Ten thousand idle connections to the real server: a game continues at the same time.

use crate::harness::process::{Player, Server};
use reversi::proto::v1::{self, play_event::Event};
use tokio::{net::TcpStream, task::JoinSet};
use tonic::Streaming;

const HALF_OPEN: usize = 10_000;

/// Connections opened between two moves: as many as the kernel's queue holds.
const GROUP: usize = 500;

/// Maximum number of other open files of this process.
const OTHER_FILES: u64 = 1_000;

/// Answers the next turn request.
async fn play_a_move(bot: &Player, turns: &mut Streaming<v1::WatchTurnsResponse>) {
    loop {
        let event = turns.message().await.unwrap().expect("the stream is open").event.unwrap().event.unwrap();
        if let Event::TurnRequested(turn) = event {
            let square = &turn.position.unwrap().legal_moves[0];
            return bot.play(&turn.game_id, turn.ply, square).await.unwrap();
        }
    }
}

async fn connections(bot: &Player) -> usize {
    usize::try_from(bot.info().await.connections).unwrap()
}

#[tokio::test]
async fn ten_thousand_idle_connections_do_not_delay_a_game() {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap();
    let most = usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap().min(HALF_OPEN);
    let patient = ["--opening", "600", "--max-connections-per-address", "0"];
    // The bot plays as fast as possible.
    let fast = ["--rate", "1000000", "--burst", "100000000", "--rate-per-address", "0"];
    let server = Server::start(&[&["--log", "error"], &patient[..], &fast].concat());
    let bot = Player::bot(&server.url, "Bea", 1).await;
    let mut turns = bot.turns().await;
    let settings = v1::RoomSettings { name: "next door".into(), games: 1_000, ..Default::default() };
    let room = bot.create(settings, ["me", "random"]).await.room_id;
    bot.start(&room).await;
    let before = connections(&bot).await;

    let (address, mut silent) = (server.url.strip_prefix("http://").unwrap(), Vec::new());
    while silent.len() < most {
        let mut group = JoinSet::new();
        for _ in 0..GROUP.min(most - silent.len()) {
            group.spawn(TcpStream::connect(address.to_owned()));
        }
        silent.extend(group.join_all().await.into_iter().map(Result::unwrap));
        play_a_move(&bot, &mut turns).await;
    }
    while connections(&bot).await < before + most {}
    for _ in 0..5 {
        play_a_move(&bot, &mut turns).await;
    }
    drop(silent);
    while connections(&bot).await > before {}
    play_a_move(&bot, &mut turns).await;
}
