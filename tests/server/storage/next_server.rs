//! Clients that know several servers of one database, and go on at the next one when theirs ends.

use reversi::{
    client::{Client, PlayerKind},
    proto::v1::{self, play_event},
};
use reversi_needs::needs;
use tokio::time::{sleep, timeout};
use tonic::Streaming;

use super::shared_rooms::{AGAIN, TIMEOUT, balanced, start, start_with};
use crate::{
    cli::command::{Running, reversi},
    harness::{postgres::database, process::Player},
};

/// Answers this many turns, each of which must come long before the other side's time is up.
async fn play(player: &Player, turns: &mut Streaming<v1::WatchTurnsResponse>, moves: usize) {
    let mut made = 0;
    while made < moves {
        let message = timeout(TIMEOUT, turns.message()).await.expect("the other side has moved");
        match message.unwrap().unwrap().event.unwrap().event.unwrap() {
            play_event::Event::TurnRequested(turn) => {
                let square = &turn.position.as_ref().unwrap().legal_moves[0];
                player.play(&turn.game_id, turn.ply, square).await.unwrap();
                made += 1;
            }
            play_event::Event::GameEnded(ended) => panic!("{ended:?}"),
            _ => {}
        }
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_plays_on_when_its_server_is_killed_and_when_the_next_one_is_stopped() {
    let database = database();
    let mut servers = [(); 3].map(|()| start(&database));
    balanced(&database, 3).await;
    let urls = servers.each_ref().map(|server| server.url.clone());
    let opponent = Player::bot(&urls[2], "opponent", 1).await;
    let mut turns = opponent.turns().await;
    let room = opponent.quick_start_with_anyone().await.room_id;
    let bot = reversi(&["bot", "--quick", "--ai", "greedy", "--games", "1", "--server", &urls.join(",")]);
    let mut bot = Running::spawn(bot);
    play(&opponent, &mut turns, 3).await;
    servers[0].kill();
    play(&opponent, &mut turns, 3).await;
    bot.wait_for(&format!("(at {}, next {})", urls[0], urls[1]));
    servers[1].signal("TERM");
    play(&opponent, &mut turns, 3).await;
    let game = opponent.room(&room).await.game.unwrap();
    assert!(game.outcome.is_none(), "{game:?}");
    opponent.games().resign(v1::ResignRequest { game_id: game.game_id }).await.unwrap();
    bot.wait_for_exit();
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_passed_over_until_it_takes_over() {
    let database = database();
    let [active, standby] = [(); 2].map(|()| start_with(&database.url(), &[]));
    let client = Client::connect(&[standby.url.clone(), active.url.clone()].join(",")).await.unwrap();
    assert_eq!(client.url(), active.url);
    let ada = client.log_in("Ada", PlayerKind::Human).await.unwrap();
    active.signal("TERM");
    active.ended().await;
    let taken_over = async {
        while let Err(error) = ada.me().await {
            assert!(error.is_transient(), "{error}");
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, taken_over).await.expect("the standby takes over");
    assert_eq!(client.url(), standby.url);
}
