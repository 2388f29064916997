//! Results and ratings follow the ends of games, by a queue.

use std::time::Duration;

use reversi_engine::rules::Color;
use reversi_needs::needs;
use reversi_room::{EndReason, GameEnd, GameId, GameRecord, RoomId, Seq, Timestamp};
use reversi_store::{
    Append, AppendError, Archive as _, Contestant, GameFilter, Journal as _, PostgresStore, Retention,
};
use tokio::{task::yield_now, time::timeout};

use super::{
    proxy::Proxy,
    server::{Database, database},
};
use crate::{
    creation_of, ended,
    fixtures::test_room::{TestRoom, chat, id},
    games::game,
    moved, room_id, write,
};

/// Long enough for any test.
const PATIENT: Duration = Duration::from_secs(60);

/// A rated game of a room, in which Ada wins against Bob.
fn won(room: RoomId) -> GameRecord {
    let end = GameEnd { winner: Some(Color::Black), reason: EndReason::Resignation };
    GameRecord { rated: true, end, ..game(room, 1, 10 + (room.bits() & 0xff) as i64, ["ada", "bob"]) }
}

/// Ends the game of a new room.
async fn end_game(store: &PostgresStore, room: RoomId) -> Result<(), AppendError> {
    let (events, games) = (creation_of(room), ended(&[won(room)]));
    store.append(Append { room, expected: Seq(0), events: &events, games: &games }).await
}

/// The games that Ada has won, those that her rating has, and those of the archive.
async fn counts(store: &PostgresStore, database: &Database) -> [u64; 3] {
    let stats = store.player_stats(Contestant::Player(id("ada"))).await.unwrap();
    let archived = database.sql("SELECT games FROM archive").parse().unwrap();
    [stats.humans.won.into(), stats.rating.map_or(0, |rating| rating.games).into(), archived]
}

#[needs(postgres)]
#[tokio::test]
async fn no_move_or_end_of_a_game_waits_for_a_lock_of_the_archive() {
    let database = database();
    let store = database.try_open().await.unwrap();
    end_game(&store, room_id(1)).await.unwrap();
    assert_eq!(store.settle(9).await, Ok(1));
    let before = store.game(won(room_id(1)).id).await.unwrap();
    end_game(&store, room_id(4)).await.unwrap();
    let lock = database.lock("SELECT FROM archive FOR UPDATE; SELECT FROM standings FOR UPDATE");
    // A try gives up after a second.
    let settle = async {
        loop {
            if let Ok(settled) = store.settle(9).await {
                return settled;
            }
        }
    };
    let play = async {
        while !lock.is_waited_for() {
            yield_now().await;
        }
        let mut test = TestRoom::lobby();
        test.ok("ada", chat("one"));
        let line = moved(test.history, room_id(1)).split_off(1);
        write(&store, room_id(1), Seq(1), &line).await.unwrap();
        let (events, room) = (creation_of(room_id(2)), room_id(2));
        write(&store, room, Seq(0), &events).await.unwrap();
        let games = ended(&[won(room)]);
        store.append(Append { room, expected: Seq(1), events: &line, games: &games }).await.unwrap();
        end_game(&store, room_id(3)).await.unwrap();
        assert_eq!(store.game(won(room).id).await.unwrap().as_deref(), Some(&won(room)));
        let of_ada = GameFilter { player: Some(id("ada")), ..GameFilter::visible_to(id("ada")) };
        assert_eq!(store.games(of_ada, None, 9).await.unwrap().games.len(), 4);
        assert_eq!(store.size().await.unwrap().games, 4);
        drop(lock);
    };
    let (settled, ()) = timeout(PATIENT, async { tokio::join!(settle, play) })
        .await
        .expect("neither waits for a lock that the other has");
    let rest = store.settle(9).await.unwrap();
    assert_eq!((settled + rest, counts(&store, &database).await), (3, [4, 4, 4]));
    let second = store.game(won(room_id(2)).id).await.unwrap().unwrap();
    assert_eq!(before.unwrap().ratings.black, None);
    assert!(second.ratings.black.is_some(), "the rating before the game is noted");
}

/// Also when it was settled and only the answer is lost.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_settled_once_whenever_the_connection_is_lost() {
    for is_committed in [false, true] {
        let database = database();
        let mut proxy = Proxy::of(&database);
        let store = proxy.open(&database, PATIENT).await;
        end_game(&store, room_id(1)).await.unwrap();
        if is_committed {
            proxy.hold_answers_with("COMMIT")
        } else {
            proxy.hold_only_requests_with("COMMIT")
        }
        let cut = async {
            proxy.stopped().await;
            let unsettled = database.sql("SELECT count(*) FROM games WHERE unsettled_weight IS NOT NULL");
            assert_eq!(unsettled, if is_committed { "0" } else { "1" });
            proxy.cut();
            proxy.release();
        };
        let (settled, ()) = tokio::join!(store.settle(9), cut);
        assert_eq!(settled, Ok(usize::from(!is_committed)));
        assert_eq!((store.settle(9).await, counts(&store, &database).await), (Ok(0), [1, 1, 1]));
    }
}

#[needs(postgres)]
#[tokio::test]
async fn a_game_whose_server_has_ended_is_settled_by_the_next_one() {
    let database = database();
    let store = database.try_open().await.unwrap();
    end_game(&store, room_id(1)).await.unwrap();
    drop(store);
    let store = database.try_open().await.unwrap();
    assert_eq!(store.trim(Retention::Games(0), Timestamp(0), 9).await, Ok(0), "it is not removed before");
    assert_eq!(store.count_openings(0, 9, Timestamp(i64::MAX)).await, Ok(0), "nor counted without the ratings");
    assert_eq!((store.settle(9).await, store.settle(9).await), (Ok(1), Ok(0)));
    assert_eq!(counts(&store, &database).await, [1, 1, 1]);
    assert_eq!(store.count_openings(0, 9, Timestamp(i64::MAX)).await, Ok(1));
    assert_eq!(store.trim(Retention::Games(0), Timestamp(0), 9).await, Ok(1));
    assert_eq!(store.game(GameId { room: room_id(1), number: 1 }).await, Ok(None));
}

/// Also at another node.
#[needs(postgres)]
#[tokio::test]
async fn a_game_that_has_just_ended_has_its_ratings_and_results() {
    let database = database();
    let nodes = [database.member("one").await, database.member("two").await];
    end_game(&nodes[0], room_id(1)).await.unwrap();
    assert_eq!(counts(&nodes[1], &database).await, [1, 1, 1]);
    end_game(&nodes[0], room_id(2)).await.unwrap();
    let second = nodes[1].game(won(room_id(2)).id).await.unwrap().unwrap();
    assert!(second.ratings.black.is_some(), "the rating before the game");
}

/// Otherwise nothing after it would be.
#[needs(postgres)]
#[tokio::test]
async fn a_damaged_game_is_passed_over() {
    let database = database();
    let store = database.try_open().await.unwrap();
    for room in [1, 2].map(room_id) {
        end_game(&store, room).await.unwrap();
    }
    database.sql("UPDATE games SET transcript = 'a1' WHERE number = 1");
    assert_eq!((store.settle(9).await, store.settle(9).await), (Ok(2), Ok(0)));
    assert_eq!(counts(&store, &database).await, [1, 1, 2]);
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_settle_at_once_count_each_game_once() {
    const GAMES: u64 = 40;
    let database = database();
    let nodes = [database.member("one").await, database.member("two").await];
    let owner = &nodes[0];
    for number in 0..GAMES {
        end_game(owner, room_id(number)).await.unwrap();
    }
    let settle = async |node: &PostgresStore| {
        let mut settled = 0;
        loop {
            let (some, counted, trimmed) = tokio::join!(
                node.settle(3),
                node.count_openings(0, 3, Timestamp(i64::MAX)),
                node.trim(Retention::Games(30), Timestamp(0), 3)
            );
            counted.unwrap();
            trimmed.unwrap();
            match some.unwrap() {
                0 => return settled,
                some => settled += some,
            }
        }
    };
    let (one, two) = tokio::join!(settle(&nodes[0]), settle(&nodes[1]));
    while owner.trim(Retention::Games(30), Timestamp(0), 9).await.unwrap() > 0 {}
    assert_eq!(((one + two) as u64, counts(owner, &database).await), (GAMES, [GAMES, GAMES, 30]));
    assert_eq!(database.sql("SELECT count(*), count(DISTINCT id) FROM games"), "30|30");
}
