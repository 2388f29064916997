//! The opening explorer, the ranking, and the filters of games.

use reversi_engine::rules::{Bitboard, Color, Square, Symmetry, Transcript, opening_names};
use reversi_room::{EndReason, GameEnd, GameRecord, MeetingRef, Ply, Timestamp, TournamentId};
use reversi_store::{
    Contestant, Exploration, ExplorerFilter, GameFilter, GameResult, OpponentKind, RankingFilter, RankingPage, Results,
    Retention, Store, StoredPlayer,
};

use crate::{
    archive, at, connection,
    fixtures::test_room::{id, profile},
    folder,
    games::game,
    on_each, on_each_place, open, room_id, stored_player,
};

/// A game of these moves, by its squares' images under a symmetry; black has won.
fn played(number: u32, moves: &str, symmetry: Symmetry, players: [&str; 2]) -> GameRecord {
    let transcript: Transcript = moves.parse().unwrap();
    let squares: Vec<Square> = transcript.squares().iter().map(|square| symmetry.square(*square)).collect();
    let plies = squares.iter().map(|square| Ply { square: Some(*square), spent_ms: 0 }).collect();
    let position = Transcript::from_squares(squares).unwrap().position();
    let record = game(room_id(u64::from(number)), number, i64::from(number), players);
    let end = GameEnd { winner: Some(Color::Black), reason: EndReason::Resignation };
    GameRecord { plies, position, opening: 0, end, thoughts: Vec::new(), ..record }
}

/// Stores games, each in a room of its own, and counts them.
async fn store_games(store: &Store, games: &[GameRecord]) {
    for game in games {
        archive(store, game.id.room, std::slice::from_ref(game)).await;
    }
    while store.archive.count_openings(0, 2, Timestamp(i64::MAX)).await.unwrap() > 0 {}
}

async fn explore(store: &Store, moves: &str, filter: ExplorerFilter) -> Exploration {
    let position = moves.parse::<Transcript>().unwrap().position();
    store.archive.explore(position, filter).await.unwrap()
}

fn squares(names: &str) -> Bitboard {
    names.split(' ').map(|name| name.parse::<Square>().unwrap()).collect()
}

fn results(won: u32, drawn: u32, lost: u32) -> Results {
    Results { won, drawn, lost }
}

const ALL: ExplorerFilter = ExplorerFilter { kind: None, min_rating: None, max_rating: None };

on_each!(equal_positions_are_counted_together, async |store| {
    let games = [
        played(1, "f5d6c3", Symmetry::Identity, ["ada", "bob"]),
        played(2, "f5d6c3", Symmetry::MainDiagonal, ["ada", "bob"]),
        played(3, "f5f6", Symmetry::HalfTurn, ["cy", "bot-d"]),
        GameRecord { private: true, ..played(4, "f5d6", Symmetry::Identity, ["ada", "bob"]) },
    ];
    store_games(store, &games).await;
    let start = explore(store, "", ALL).await;
    let first = start.moves[0];
    assert_eq!((first.squares, first.results), (squares("d3 c4 f5 e6"), results(3, 0, 0)));
    assert_eq!(start.moves.len(), 1, "all first moves are equal");
    let numbers = |games: &[std::sync::Arc<GameRecord>]| games.iter().map(|game| game.id.number).collect::<Vec<_>>();
    assert_eq!(numbers(&start.recent), [3, 2, 1], "newest first");

    let second = explore(store, "f5", ALL).await;
    let moves: Vec<_> = second.moves.iter().map(|explored| (explored.squares, explored.results)).collect();
    assert_eq!(moves, [(squares("d6"), results(0, 0, 2)), (squares("f6"), results(0, 0, 1))], "lost by white");
    assert_eq!(explore(store, "c4", ALL).await.moves[0].squares, squares("e3"), "in the image that was asked for");
    assert_eq!(explore(store, "f5f4", ALL).await, Exploration::default());
});

on_each!(moves_are_filtered_by_who_made_them, async |store| {
    // Ada wins, and is rated from her second game on.
    let games: Vec<_> =
        (1..=3).map(|number| played(number, "f5d6", Symmetry::Identity, ["ada", "bot-d"])).map(rated).collect();
    store_games(store, &games).await;
    let of = async |moves: &str, filter: ExplorerFilter| {
        let moves = explore(store, moves, filter).await.moves;
        moves.first().map_or(0, |explored| explored.results.played())
    };
    let kind = |kind| ExplorerFilter { kind: Some(kind), ..ALL };
    assert_eq!(of("", kind(OpponentKind::Human)).await, 3);
    assert_eq!(of("", kind(OpponentKind::Bot)).await, 0);
    assert_eq!(of("f5", kind(OpponentKind::Bot)).await, 3);
    assert_eq!(of("", ExplorerFilter { min_rating: Some(1500), ..ALL }).await, 2);
    assert_eq!(of("f5", ExplorerFilter { min_rating: Some(1500), ..ALL }).await, 0);
    assert_eq!(of("f5", ExplorerFilter { max_rating: Some(1500), ..ALL }).await, 2, "the first was unrated");
    assert_eq!(of("", ExplorerFilter { min_rating: Some(2500), ..ALL }).await, 0);
    let explored = explore(store, "", ALL).await;
    assert!(explored.moves[0].rating.unwrap() > 1600, "{explored:?}");
    assert_eq!(explored.best.len(), 2, "not the game of a player without a rating");
    assert_eq!(explored.best[0].id.number, 3);
    assert_eq!(explored.best[0].ratings.black, store.archive.game(games[2].id).await.unwrap().unwrap().ratings.black);
});

/// With enough plies to change ratings.
fn rated(game: GameRecord) -> GameRecord {
    let end = GameEnd { reason: EndReason::Discs, ..game.end };
    GameRecord { rated: true, end, ..game }
}

on_each!(a_removed_game_is_no_longer_counted, async |store| {
    let games = [
        played(1, "f5d6c3d3c4", Symmetry::Identity, ["ada", "bob"]),
        played(2, "f5d6c3d3c4", Symmetry::HalfTurn, ["ada", "bob"]),
    ];
    store_games(store, &games).await;
    assert_eq!(store.archive.trim(Retention::Games(1), at(9), 9).await.unwrap(), 1);
    let left = explore(store, "f5d6c3", ALL).await;
    assert_eq!(left.moves[0].results, results(0, 0, 1));
    assert_eq!(left.recent[0].id, games[1].id);
    assert_eq!(store.archive.trim(Retention::Games(0), at(9), 9).await.unwrap(), 1);
    assert_eq!(explore(store, "f5d6c3", ALL).await, Exploration::default());
});

on_each_place!(counts_survive_a_restart_and_removed_games_leave_no_rows, async |place| {
    let store = place.open().await;
    let games = [played(1, "f5d6c3d3c4", Symmetry::Identity, ["ada", "bob"])];
    archive(&store, games[0].id.room, &games).await;
    drop(store);
    let store = place.open().await;
    assert_eq!(explore(&store, "", ALL).await, Exploration::default(), "not counted yet");
    store_games(&store, &[]).await;
    assert_eq!(place.count("explored_moves"), 5);
    drop(store);
    let store = place.open().await;
    assert_eq!(explore(&store, "f5d6c3", ALL).await.moves[0].results, results(0, 0, 1));
    store.archive.trim(Retention::Games(0), at(9), 9).await.unwrap();
    assert_eq!(place.count("explored_moves"), 0);
});

on_each!(games_are_filtered, async |store| {
    let tiger = "f5d6c3d3c4";
    assert!(opening_names::of_position(tiger.parse::<Transcript>().unwrap().position()).is_some());
    let mut games = vec![
        rated(played(1, tiger, Symmetry::Identity, ["ada", "bob"])),
        rated(played(2, tiger, Symmetry::Identity, ["ada", "bot-d"])),
        played(3, "f5d6", Symmetry::Identity, ["roxanne:2", "bob"]),
    ];
    games[2].end = GameEnd { winner: None, reason: EndReason::Aborted };
    let [tournament, another] = [1, 2].map(TournamentId::from_random);
    games[1].meeting = Some(MeetingRef { tournament, number: 7, round: 2 });
    store_games(store, &games).await;
    let all = GameFilter::visible_to(id("eve"));
    let of = async |filter: GameFilter| {
        let page = store.archive.games(filter, None, 9).await.unwrap();
        page.games.iter().map(|game| game.id.number).collect::<Vec<_>>()
    };
    assert_eq!(of(all).await, [3, 2, 1]);
    assert_eq!(of(GameFilter { kind: Some(OpponentKind::Bot), ..all }).await, [2]);
    assert_eq!(of(GameFilter { kind: Some(OpponentKind::Ai), ..all }).await, [3]);
    assert_eq!(of(GameFilter { rated: Some(true), ..all }).await, [2, 1]);
    assert_eq!(of(GameFilter { rated: Some(false), ..all }).await, [3]);
    assert_eq!(of(GameFilter { result: Some(GameResult::Aborted), ..all }).await, [3]);
    assert_eq!(of(GameFilter { result: Some(GameResult::Won(Color::Black)), ..all }).await, [2, 1]);
    assert_eq!(of(GameFilter { result: Some(GameResult::Won(Color::White)), ..all }).await, [0_u32; 0]);
    assert_eq!(of(GameFilter { result: Some(GameResult::Drawn), ..all }).await, [0_u32; 0]);
    assert_eq!(of(GameFilter { min_rating: Some(1501), ..all }).await, [2], "Ada after her first");
    let of_tournament = GameFilter { tournament: Some(tournament), ..all };
    assert_eq!(of(of_tournament).await, [2]);
    assert_eq!(of(GameFilter { player: Some(id("ada")), ..of_tournament }).await, [2]);
    assert_eq!(of(GameFilter { player: Some(id("bob")), ..of_tournament }).await, [0_u32; 0]);
    assert_eq!(of(GameFilter { room: Some(games[0].id.room), ..of_tournament }).await, [0_u32; 0]);
    assert_eq!(of(GameFilter { tournament: Some(another), ..all }).await, [0_u32; 0]);
    let ended = |game: usize| games[game].ended;
    assert_eq!(of(GameFilter { ended_from: Some(ended(1)), ..all }).await, [3, 2]);
    assert_eq!(of(GameFilter { ended_before: Some(ended(1)), ..all }).await, [1]);
    let opening = opening_names::of_game(games[0].positions());
    assert_eq!(of(GameFilter { opening, ..all }).await, [2, 1]);
    assert_eq!(of(GameFilter { opening, player: Some(id("bob")), ..all }).await, [1]);
    assert_eq!(of(GameFilter { opening: Some("Rose"), ..all }).await, [0_u32; 0]);
    let page = store.archive.games(GameFilter { ended_before: Some(ended(2)), ..all }, None, 1).await.unwrap();
    let next = store.archive.games(GameFilter { ended_before: Some(ended(2)), ..all }, page.next, 1).await.unwrap();
    assert_eq!((page.games[0].id.number, next.games[0].id.number), (2, 1));
});

on_each!(the_ranking_has_rated_contestants_by_kind, async |store| {
    let games: Vec<_> = (1..=9)
        .map(|number| {
            let players = [["ada", "bot-d"], ["ada", "roxanne:2"], ["bot-d", "roxanne:2"]][number as usize % 3];
            rated(played(number, "f5d6", Symmetry::Identity, players))
        })
        .collect();
    put_players(store, ["ada", "bot-d"]).await;
    store_games(store, &games).await;
    let names = async |filter: RankingFilter| names(&store.archive.ranking(filter, None, 9).await.unwrap());
    let [ada, bot] = ["ada", "bot-d"].map(|name| id(name).to_string());
    let all = RankingFilter { kind: None, provisional: true };
    assert_eq!(names(all).await, [ada.clone(), bot.clone(), "roxanne:2".to_owned()]);
    assert_eq!(names(RankingFilter { provisional: false, ..all }).await, [""; 0], "after so few games");
    for (kind, expected) in
        [(OpponentKind::Human, ada), (OpponentKind::Bot, bot), (OpponentKind::Ai, "roxanne:2".to_owned())]
    {
        assert_eq!(names(RankingFilter { kind: Some(kind), ..all }).await, [expected]);
    }
});

on_each!(a_page_of_the_ranking_begins_after_the_last_contestant_whatever_the_ratings_are_now, async |store| {
    let players = ["ada", "bob", "cy", "dee", "eve", "fay"];
    put_players(store, players).await;
    // Three pairs of equal ratings.
    let pairs = [["ada", "bob"], ["cy", "dee"], ["eve", "fay"]];
    let games: Vec<_> =
        (1..).zip(pairs).map(|(number, pair)| rated(played(number, "f5d6", Symmetry::Identity, pair))).collect();
    store_games(store, &games).await;
    let all = RankingFilter { kind: None, provisional: true };
    let page = async |after, limit| store.archive.ranking(all, after, limit).await.unwrap();
    let whole = page(None, 9).await;
    assert_eq!((whole.ranked.len(), &whole.next), (6, &None));
    let mut paged = Vec::new();
    let mut next = None;
    for _ in 0..3 {
        let part = page(next, 2).await;
        paged.extend(names(&part));
        next = part.next;
    }
    assert_eq!((paged, page(next, 2).await), (names(&whole), RankingPage::default()));
    let first = page(None, 2).await;
    // The last one is now the first.
    let last = names(&whole).pop().unwrap();
    let last = players.into_iter().find(|name| id(name).to_string() == last).unwrap();
    for number in 4..14 {
        let beginner = format!("roxanne:{number}");
        store_games(store, &[rated(played(number, "f5d6", Symmetry::Identity, [last, &beginner]))]).await;
    }
    assert_eq!(names(&page(None, 1).await), [id(last).to_string()]);
    let mut rest = names(&page(first.next, 99).await);
    rest.retain(|name| !name.starts_with("roxanne"));
    assert_eq!(rest, names(&whole)[2..5], "no one is missed or shown twice");
});

on_each!(a_player_who_has_logged_out_without_the_name_is_not_in_the_ranking, async |store| {
    put_players(store, ["ada", "bob"]).await;
    store_games(store, &[rated(played(1, "f5d6", Symmetry::Identity, ["ada", "bob"]))]).await;
    store.players.remove_player(id("ada")).await.unwrap();
    let all = RankingFilter { kind: None, provisional: true };
    let ranked = store.archive.ranking(all, None, 9).await.unwrap();
    assert_eq!(names(&ranked), [id("bob").to_string()]);
    assert!(store.archive.player_stats(Contestant::Player(id("ada"))).await.unwrap().rating.is_some(), "stays");
});

on_each!(a_game_is_seen_by_others_than_its_players_once_it_is_public, async |store| {
    let later = played(2, "f5d6", Symmetry::Identity, ["ada", "bob"]);
    for game in
        [played(1, "f5d6", Symmetry::Identity, ["ada", "bob"]), GameRecord { public_from: Some(at(40)), ..later }]
    {
        archive(store, game.id.room, std::slice::from_ref(&game)).await;
    }
    for (now, of_stranger, counted) in [(at(39), &[1][..], 1), (at(40), &[2, 1], 2)] {
        for (viewer, expected) in [("eve", of_stranger), ("bob", &[2, 1])] {
            let all = GameFilter { now, ..GameFilter::visible_to(id(viewer)) };
            for filter in [all, GameFilter { player: Some(id("ada")), ..all }] {
                let games = store.archive.games(filter, None, 9).await.unwrap().games;
                assert_eq!(games.iter().map(|game| game.id.number).collect::<Vec<_>>(), expected, "{viewer} {now:?}");
            }
        }
        while store.archive.count_openings(0, 2, now).await.unwrap() > 0 {}
        let explored = explore(store, "", ALL).await;
        assert_eq!((explored.moves[0].results, explored.recent.len()), (results(counted, 0, 0), counted as usize));
    }
    let of_stranger = store.archive.games(GameFilter::visible_to(id("eve")), None, 9).await.unwrap().games;
    assert_eq!(of_stranger.len(), 1, "without a time");
});

on_each!(a_game_that_is_removed_before_it_is_public_was_not_counted, async |store| {
    let public = played(2, "f5d6", Symmetry::Identity, ["ada", "bob"]);
    let later = GameRecord { public_from: Some(at(40)), ..played(1, "f5d6", Symmetry::Identity, ["ada", "bob"]) };
    for game in [later, public] {
        archive(store, game.id.room, std::slice::from_ref(&game)).await;
    }
    while store.archive.count_openings(0, 2, at(39)).await.unwrap() > 0 {}
    assert_eq!(store.archive.trim(Retention::Games(1), at(39), 9).await, Ok(1));
    assert_eq!(store.archive.count_openings(0, 2, at(40)).await, Ok(0));
    assert_eq!(explore(store, "", ALL).await.moves[0].results, results(1, 0, 0));
});

/// Players who have logged in.
async fn put_players<const N: usize>(store: &Store, names: [&str; N]) {
    for (number, name) in (1..).zip(names) {
        let player = StoredPlayer { token: [number; 32], ..stored_player(profile(name)) };
        store.players.put_player(player).await.unwrap();
    }
}

fn names(page: &RankingPage) -> Vec<String> {
    page.ranked.iter().map(|ranked| Contestant::from(&ranked.participant).to_string()).collect()
}

#[tokio::test]
async fn a_damaged_game_is_passed_over_and_the_others_are_counted() {
    let folder = folder();
    let store = open(&folder);
    for number in 1..=3 {
        let game = played(number, "f5d6", Symmetry::Identity, ["ada", "bob"]);
        archive(&store, game.id.room, std::slice::from_ref(&game)).await;
    }
    connection(&folder).execute("UPDATE games SET transcript = 'f5f5' WHERE ended_us = ?", [at(2).0]).unwrap();
    assert_eq!(store.archive.count_openings(0, 9, Timestamp(i64::MAX)).await.unwrap(), 3);
    assert_eq!(store.archive.count_openings(0, 9, Timestamp(i64::MAX)).await.unwrap(), 0);
    let explored = explore(&store, "", ALL).await;
    assert_eq!((explored.moves[0].results, explored.recent.len()), (results(2, 0, 0), 2));
}
