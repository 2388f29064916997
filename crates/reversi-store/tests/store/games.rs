//! Finished games, and the statistics of their players.

use std::sync::Arc;

use reversi_engine::rules::{ByColor, Color};
use reversi_room::{
    AiSeat, EndReason, GameEnd, GameId, GameRecord, Participant, PlayerId, RatingChange, RoomId, Seq, Thought,
    UnratedReason,
};
use reversi_store::{
    Append, Contestant, EndedGame, GameFilter, GamePage, PlayerStats, Rating, RatingWeight, Results, Store,
};

use crate::{
    archive, at, creation_of,
    fixtures::test_room::{TestRoom, default_settings, id, profile, square},
    on_each, room_id, settle,
};

/// A finished game between these two; names with a level are AIs.
pub(crate) fn game(room: RoomId, number: u32, ended: i64, [black, white]: [&str; 2]) -> GameRecord {
    let mut test = TestRoom::two_players(default_settings());
    test.play_out();
    let record = test.room.record(test.now).expect("a finished game");
    let players = ByColor::new(participant(black), participant(white));
    let thoughts = vec![(2, thought(Some(-250))), (59, thought(None))];
    let rating_changes = ByColor::from_fn(|_| Some(RatingChange::Unrated(UnratedReason::Unrated)));
    let (id, started, ended) = (GameId { room, number }, at(ended - 1), at(ended));
    GameRecord { id, started, ended, players, rating_changes, thoughts, ..record }
}

fn thought(evaluation: Option<i16>) -> Thought {
    Thought { evaluation, depth: 9, nodes: 1 << 40, line: [square("d3"), square("c5")].into(), cut_short: false }
}

fn participant(who: &str) -> Participant {
    match who.parse() {
        Ok(Contestant::Ai { kind, level }) => Participant::Ai(AiSeat { kind: Arc::clone(&kind), level, seed: 0 }),
        _ => Participant::Player(profile(who)),
    }
}

fn won_by(winner: Color, game: GameRecord) -> GameRecord {
    GameRecord { end: GameEnd { winner: Some(winner), reason: EndReason::Resignation }, ..game }
}

fn everything(viewer: &str) -> GameFilter {
    GameFilter::visible_to(id(viewer))
}

async fn found(store: &Store, filter: GameFilter) -> Vec<u32> {
    let page = store.archive.games(filter, None, 100).await.unwrap();
    assert_eq!(page.next, None);
    page.games.iter().map(|game| game.id.number).collect()
}

async fn player_stats(store: &Store, who: &str) -> PlayerStats {
    let who = who.parse().unwrap_or(Contestant::Player(id(who)));
    store.archive.player_stats(who).await.unwrap()
}

on_each!(games_are_listed_newest_first_if_the_viewer_may_see_them, async |store| {
    let (one, two) = (room_id(1), room_id(2));
    let secret = GameRecord { private: true, ..game(one, 3, 30, ["cy", "bob"]) };
    let games = [game(one, 1, 10, ["ada", "bob"]), game(one, 2, 20, ["roxanne:2", "ada"]), secret];
    archive(store, one, &games).await;
    archive(store, two, &[game(two, 4, 15, ["bot-d", "cy"])]).await;

    assert_eq!(found(store, everything("ada")).await, [2, 4, 1], "not other people's private games");
    assert_eq!(found(store, everything("bob")).await, [3, 2, 4, 1]);
    let of = |player: &str| GameFilter { player: Some(id(player)), ..everything("cy") };
    assert_eq!(found(store, of("cy")).await, [3, 4]);
    assert_eq!(found(store, of("bob")).await, [3, 1]);
    assert_eq!(found(store, of("eve")).await, [0_u32; 0]);
    let room = GameFilter { room: Some(one), ..of("bob") };
    assert_eq!(found(store, GameFilter { player: None, ..room }).await, [3, 2, 1]);
    assert_eq!(found(store, GameFilter { player: Some(id("ada")), ..room }).await, [2, 1]);
    assert_eq!(found(store, GameFilter { viewer: PlayerId::from_random(1), ..room }).await, [1]);
    for game in &games {
        // Any viewer with the id may read it.
        assert_eq!(store.archive.game(game.id).await.unwrap().as_deref(), Some(game));
    }
    assert_eq!(store.archive.game(GameId { room: one, number: 9 }).await.unwrap(), None);
});

on_each!(pages_are_contiguous_among_games_with_equal_end_times, async |store| {
    for room in (1..=7).map(room_id) {
        archive(store, room, &[game(room, 1, 10 + i64::from(room == room_id(4)), ["ada", "bob"])]).await;
    }
    for player in [None, Some(id("bob"))] {
        let filter = GameFilter { player, ..everything("eve") };
        let (mut seen, mut after) = (Vec::new(), Some(None));
        while let Some(begin) = after {
            let page = store.archive.games(filter, begin, 2).await.unwrap();
            after = page.next.map(Some);
            seen.extend(page.games.iter().map(|game| game.id.room));
        }
        assert_eq!(seen, [4, 7, 6, 5, 3, 2, 1].map(room_id));
    }
});

on_each!(a_page_skips_a_bounded_number_of_games, async |store| {
    let secret =
        |number: u32| GameRecord { private: true, ..game(room_id(1), number, i64::from(number), ["cy", "bob"]) };
    let many = u32::try_from(GamePage::PASSED_OVER).unwrap() + 10;
    let games: Vec<_> = (2..=many).map(secret).collect();
    archive(store, room_id(2), &[game(room_id(2), 1, 1, ["ada", "cy"])]).await;
    archive(store, room_id(1), &games).await;
    let of_cy = GameFilter { player: Some(id("cy")), ..everything("eve") };
    for filter in [everything("eve"), of_cy] {
        let first = store.archive.games(filter, None, 1).await.unwrap();
        assert!(first.games.is_empty() && first.next.is_some(), "{first:?}");
        let second = store.archive.games(filter, first.next, 1).await.unwrap();
        assert_eq!(second.games.iter().map(|game| game.id.room).collect::<Vec<_>>(), [room_id(2)]);
    }
});

on_each!(results_are_counted_by_the_kind_of_opponent, async |store| {
    let room = room_id(1);
    let draw = GameEnd { winner: None, reason: EndReason::Agreed };
    let aborted = GameEnd { winner: None, reason: EndReason::Aborted };
    let games = [
        won_by(Color::Black, game(room, 1, 1, ["ada", "bob"])),
        won_by(Color::Black, game(room, 2, 2, ["bot-d", "ada"])),
        GameRecord { end: draw, ..game(room, 3, 3, ["ada", "roxanne:2"]) },
        GameRecord { end: aborted, ..game(room, 4, 4, ["ada", "bob"]) },
        won_by(Color::White, game(room, 5, 5, ["roxanne:2", "roxanne:2"])),
    ];
    archive(store, room, &games).await;
    let ada = player_stats(store, "ada").await;
    assert_eq!(ada.humans, Results { won: 1, ..Results::default() });
    assert_eq!(ada.bots, Results { lost: 1, ..Results::default() });
    assert_eq!(ada.ais, Results { drawn: 1, ..Results::default() });
    let roxanne = player_stats(store, "roxanne:2").await;
    assert_eq!((roxanne.humans.drawn, roxanne.ais), (1, Results { won: 1, drawn: 0, lost: 1 }));
    assert_eq!(player_stats(store, "roxanne:1").await, PlayerStats::default());
    assert_eq!(player_stats(store, "eve").await, PlayerStats::default());
});

on_each!(a_game_written_twice_counts_once, async |store| {
    let game = GameRecord { rated: true, ..won_by(Color::Black, game(room_id(1), 1, 1, ["ada", "bob"])) };
    archive(store, room_id(1), std::slice::from_ref(&game)).await;
    let before = player_stats(store, "ada").await;
    assert_eq!((before.humans.won, before.rating.map(|rating| rating.games)), (1, Some(1)));
    archive(store, room_id(2), &[game]).await;
    assert_eq!(player_stats(store, "ada").await, before);
    assert_eq!(found(store, everything("ada")).await, [1]);
});

on_each!(a_game_changes_ratings_by_its_weight, async |store| {
    let rated = |room, players| GameRecord { rated: true, ..won_by(Color::Black, game(room, 1, 1, players)) };
    let (full, half) = (RatingWeight::FULL, RatingWeight::after(10));
    let given_up = |record: GameRecord| GameRecord { opening: record.plies.len() as u16 - 9, ..record };
    let games = [
        EndedGame { record: rated(room_id(1), ["ada", "bob"]), weight: full },
        EndedGame { record: rated(room_id(2), ["cy", "dee"]), weight: half },
        EndedGame { record: rated(room_id(3), ["eve", "fay"]), weight: RatingWeight::NONE },
        EndedGame { record: given_up(rated(room_id(4), ["gus", "hal"])), weight: full },
    ];
    for game in &games {
        let (room, events) = (game.record.id.room, creation_of(game.record.id.room));
        let append = Append { room, expected: Seq(0), events: &events, games: std::slice::from_ref(game) };
        store.journal.append(append).await.unwrap();
    }
    settle(store).await;
    let unrated = |reason| Some(RatingChange::Unrated(reason));
    let rated = |after, deviation, weight| Some(RatingChange::Rated { after, deviation, weight, limited: false });
    for (game, black, white) in [
        (&games[0], rated(1662, 290, 16), rated(1338, 290, 16)),
        (&games[1], rated(1581, 320, 8), rated(1419, 320, 8)),
        (&games[2], unrated(UnratedReason::SameAddress), unrated(UnratedReason::SameAddress)),
        (&games[3], unrated(UnratedReason::TooShort), rated(1338, 290, 16)),
    ] {
        let kept = store.archive.game(game.record.id).await.unwrap().unwrap();
        assert_eq!((kept.rating_changes.black, kept.rating_changes.white), (black, white));
        assert_eq!(kept.ratings, ByColor::default());
    }
    let change = async |who| {
        let PlayerStats { humans, rating, .. } = player_stats(store, who).await;
        assert_eq!(humans.played(), 1, "{who}");
        rating.map(|rating| rating.value - 1500.0)
    };
    for (whole, part) in [("ada", "cy"), ("bob", "dee")] {
        let (whole, part) = (change(whole).await.unwrap(), change(part).await.unwrap());
        assert!((whole - 2.0 * part).abs() < 1e-9 && whole.abs() > 100.0, "{whole} {part}");
    }
    for who in ["eve", "fay", "gus"] {
        assert_eq!(change(who).await, None, "{who}");
    }
    assert_eq!(change("hal").await, change("bob").await, "who gives up at once loses in full");
});

// What is bounded by the archive is so after a restart and on every node.
on_each!(the_archive_bounds_how_fast_a_rating_rises, async |store| {
    const MINUTE: i64 = 60;
    let names = ["bob", "cy", "dee", "eve", "fay", "gus", "hal", "ida", "joe", "kay", "lea", "max", "ned"];
    let mut number = 0;
    let mut win = async |loser, at| {
        number += 1;
        let record = GameRecord { rated: true, ..won_by(Color::Black, game(room_id(number), 1, at, ["ada", loser])) };
        archive(store, room_id(number), &[record]).await;
        player_stats(store, "ada").await.rating.unwrap()
    };
    let mut last = win(names[0], MINUTE).await;
    assert_eq!(last.value.round(), 1662.0);
    for (loser, at) in names[1..10].iter().zip(2..) {
        last = win(loser, MINUTE + at).await;
    }
    assert_eq!((last.value.round(), last.games), (1700.0, 10), "at most 200 points a day");
    let eleventh = win(names[10], 2 * MINUTE).await;
    assert_eq!((eleventh.value, eleventh.deviation), (last.value, last.deviation), "ten games in ten minutes");
    let deviation = last.deviation;
    last = win(names[11], 12 * MINUTE).await;
    assert_eq!((last.value.round(), last.games, last.deviation), (1700.0, 12, deviation), "the day is not over");
    last = win(names[12], 26 * 60 * MINUTE).await;
    assert!((1701.0..1900.0).contains(&last.value), "a day later: {last:?}");
    assert_eq!(player_stats(store, "ned").await.rating.unwrap().games, 1, "the others lose in full");
});

// So neither by a restart nor on another node.
on_each!(a_player_in_a_hurry_loses_in_full_and_only_wins_back, async |store| {
    let names = ["bob", "cy", "dee", "eve", "fay", "gus", "hal", "ida", "joe", "kay"];
    let mut number = 0;
    let mut after = async |winner, opponent, at| {
        number += 1;
        let record = GameRecord { rated: true, ..won_by(winner, game(room_id(number), 1, at, ["ada", opponent])) };
        archive(store, room_id(number), &[record]).await;
        player_stats(store, "ada").await.rating.unwrap().value
    };
    let mut last = 1500.0;
    for at in 1..=15_i64 {
        let value = after(Color::White, names[at as usize % 10], at).await;
        assert!(value < last - 1.0, "loss {at} counts: {last} {value}");
        last = value;
    }
    for at in 16..=45_i64 {
        last = after(Color::Black, names[at as usize % 10], at).await;
    }
    assert_eq!(last, 1500.0, "a win in a hurry does not raise the rating above the earlier one");
    assert!(after(Color::Black, "max", 600).await > 1505.0, "in the next ten minutes it does");
});

on_each!(the_archive_counts_the_games_of_two_players_and_those_against_all_ais, async |store| {
    let mut number = 0;
    let mut deviation_after = async |who: &'static str, opponents: [&'static str; 2]| {
        for hour in 0..22 {
            number += 1;
            let winner = if hour % 2 == 0 { Color::Black } else { Color::White };
            let players = [who, opponents[usize::from(hour % 4 > 1)]];
            let played = game(room_id(number), 1, 3_600 * hour + 1, players);
            archive(store, room_id(number), &[GameRecord { rated: true, ..won_by(winner, played) }]).await;
        }
        player_stats(store, who).await.rating.unwrap().deviation
    };
    let many = deviation_after("ada", ["cy", "dee"]).await;
    let one = deviation_after("bob", ["roxanne:1", "greedy:2"]).await;
    assert!(one > many, "games against AIs count as those against one player: {one} {many}");
});

on_each!(the_rating_of_a_new_engine_is_provisional, async |store| {
    let rated = |number: u32| GameRecord { rated: true, ..game(room_id(1), number, number.into(), ["ada", "bob"]) };
    archive(store, room_id(1), &(1..=10).map(rated).collect::<Vec<_>>()).await;
    let who = Contestant::Player(id("ada"));
    let rating = async || store.archive.player_stats(who.clone()).await.unwrap().rating.unwrap();
    let before = rating().await;
    assert!(before.deviation < 190.0, "{before:?}");
    for _ in 0..2 {
        store.archive.make_provisional(id("ada")).await.unwrap();
        assert_eq!(rating().await, Rating { deviation: 200.0, ..before });
    }
    store.archive.make_provisional(id("eve")).await.unwrap();
});
