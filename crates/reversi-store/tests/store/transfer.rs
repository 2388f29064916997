//! Copies from one kind of store to another.

use std::sync::Arc;

use reversi_engine::rules::ByColor;
use reversi_needs::needs;
use reversi_room::{
    Availability, EngineVersion, Event, GameRecord, MeetingRef, Participant, Profile, Timestamp, TournamentId,
};
use reversi_store::{
    Contestant, PostgresStore, RankingFilter, SqliteStore, Store, StoredPlayer, Transfer, copy, is_empty,
};

use crate::{
    archive, at, ban, drive,
    fixtures::test_room::{TestRoom, chat, default_settings, id, profile},
    folder,
    games::game,
    load, moved,
    postgres::database,
    room_id, stored_player, tournaments, write,
};

/// A room with a running game.
fn history() -> Vec<Event> {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3c3");
    (0..400).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    moved(test.history, room_id(1))
}

/// Writes rooms, of which one lacks the last event of its history, games, players who are there and who are not, and
/// results.
async fn fill(store: &Store) {
    let history = history();
    drive(store, &history[..history.len() - 1], 20).await;
    let mut games: Vec<_> = (1..=30).map(|number| game(room_id(2), number, number.into(), ["ada", "mcts:5"])).collect();
    let engine_version = Some(EngineVersion::parse("edax 4.6").unwrap());
    let bot = Participant::Player(Profile { engine_version: engine_version.clone(), ..profile("bot-d") });
    let of_bot = game(room_id(2), 31, 31, ["cy", "bot-d"]);
    let meeting = Some(MeetingRef { tournament: TournamentId::from_random(5), number: 1, round: 1 });
    let (players, public_from) = (ByColor { white: bot, ..of_bot.players }, Some(at(40)));
    games.push(GameRecord { players, meeting, public_from, ..of_bot });
    games.iter_mut().for_each(|game| (game.rated, game.private) = (true, game.id.number % 2 == 0));
    archive(store, room_id(2), &games).await;
    for player in ["ada", "eve"] {
        let profile = Profile { engine_version: engine_version.clone(), ..profile(player) };
        let availability = Some(Availability { available: false, ..Availability::default() });
        let player = StoredPlayer { claimed: true, availability, ..stored_player(profile) };
        store.players.put_player(player).await.unwrap();
    }
    store.players.put_ban(ban("eve", Some(9)), at(1)).await.unwrap();
    while store.archive.count_openings(0, 50, Timestamp(i64::MAX)).await.unwrap() > 0 {}
    tournaments::fill(store).await;
    store.journal.mark_alive(at(9)).await.unwrap();
}

async fn check_equal(one: &Arc<impl Transfer>, other: &Arc<impl Transfer>) {
    assert_eq!(tournaments::all(&**one).await, tournaments::all(&**other).await);
    assert_eq!(one.stored_games(None, 100).await.unwrap(), other.stored_games(None, 100).await.unwrap());
    assert_eq!(one.standings(None, 100).await.unwrap(), other.standings(None, 100).await.unwrap());
    assert_eq!(one.players().await.unwrap(), other.players().await.unwrap());
    assert_eq!(one.former_players(None, 100).await.unwrap(), other.former_players(None, 100).await.unwrap());
    assert_eq!(one.bans().await.unwrap(), other.bans().await.unwrap());
    assert_eq!(one.open_rooms(None, 100).await.unwrap(), other.open_rooms(None, 100).await.unwrap());
    assert_eq!(one.last_alive().await.unwrap(), other.last_alive().await.unwrap());
    let filter = RankingFilter { kind: None, provisional: true };
    assert_eq!(one.ranking(filter, None, 9).await.unwrap(), other.ranking(filter, None, 9).await.unwrap());
}

#[needs(postgres)]
#[tokio::test]
async fn a_copy_has_everything_and_goes_on() {
    let database = database();
    let [first, second] = [folder(), folder()];
    let file = Arc::new(SqliteStore::open(first.path()).unwrap());
    assert_eq!(is_empty(&*file).await, Ok(true));
    fill(&Store::shared(&file)).await;
    let postgres: Arc<PostgresStore> = Arc::new(database.try_open().await.unwrap());
    let mut positions = Vec::new();
    let copied = copy(&*file, &*postgres, |games| positions.push(games)).await.unwrap();
    assert_eq!((copied.games, copied.players, copied.rooms, positions), (31, 4, 2, vec![31]));
    assert_eq!(copied.tournaments, 3);
    check_equal(&file, &postgres).await;
    assert_eq!(is_empty(&*postgres).await, Ok(false));

    let back = Arc::new(SqliteStore::open(second.path()).unwrap());
    assert_eq!(copy(&*postgres, &*back, drop).await, Ok(copied));
    check_equal(&file, &back).await;
    let last = history().pop().unwrap();
    for store in [Store::shared(&postgres), Store::shared(&back)] {
        let mut room = load(&store, room_id(1)).await.unwrap();
        assert_eq!(write(&*store.journal, room.id(), room.seq(), std::slice::from_ref(&last)).await, Ok(()));
        room.apply(&last);
        assert_eq!(load(&store, room_id(1)).await, Some(room));
        let ada = store.archive.player_stats(Contestant::Player(id("ada"))).await.unwrap();
        assert_eq!(ada.ais.played(), 30);
        assert_eq!(
            store.archive.count_openings(0, 50, Timestamp(i64::MAX)).await,
            Ok(31),
            "the explorer counts them again"
        );
    }
    drop((file, postgres, back));
    let store = super::open(&second);
    assert!(load(&store, room_id(1)).await.is_some());
    let ranked = store.archive.ranking(RankingFilter { kind: None, provisional: true }, None, 9).await.unwrap();
    assert!(ranked.ranked.iter().any(|ranked| matches!(ranked.participant, Participant::Ai(_))));
}
