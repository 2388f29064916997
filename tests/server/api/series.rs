//! Matches between bots: series in pairs, their score, and the test that ends them.

use reversi::proto::v1::{self, join_room_request::Room as By, room_event::Event};
use tonic::Code;

use crate::harness::in_process::{Player, TestServer, Watcher, named, refused};

/// Ada has black in the first game, Bob white.
struct Match {
    _server: TestServer,
    ada: Player,
    bob: Player,
    room: String,
    watcher: Watcher,
}

/// The facts of one game of the match.
struct Round {
    black: String,
    opening: Vec<String>,
    score: v1::SeriesScore,
}

fn balanced(seed: u64) -> Option<v1::Opening> {
    Some(v1::Opening { opening: Some(v1::opening::Opening::Balanced(v1::BalancedOpening { seed })) })
}

impl Match {
    async fn begin(games: i32, sprt: Option<v1::Sprt>) -> Self {
        Self::begin_on(TestServer::open().await, games, sprt).await
    }

    async fn begin_on(server: TestServer, games: i32, sprt: Option<v1::Sprt>) -> Self {
        let (ada, bob) = (server.bot("ada").await, server.bot("bob").await);
        let settings = v1::RoomSettings { games, opening: balanced(5), sprt, ..named("match") };
        let made = ada.create(settings).await;
        let room = made.room_id;
        bob.join_by(By::JoinCode(made.join_code), "").await.unwrap();
        ada.sit(&room, 0).await.unwrap();
        bob.sit(&room, 1).await.unwrap();
        bob.ready(&room).await.unwrap();
        let mut watcher = ada.watch(&room).await;
        watcher.snapshot().await;
        ada.start(&room).await.unwrap();
        Self { _server: server, ada, bob, room, watcher }
    }

    /// Waits for the next game, which the given player resigns.
    async fn round(&mut self, loser: &str) -> Round {
        let game = self.watcher.until(|event| match event {
            Event::GameStarted(started) => started.game,
            _ => None,
        });
        let game = game.await;
        let loser = if loser == "ada" { &self.ada } else { &self.bob };
        loser.resign(&game.game_id).await.unwrap();
        let ended = self.watcher.game_ended().await;
        let Some(v1::seat::Occupant::Player(black)) = &ended.seats[0].occupant else { panic!("black is a player") };
        Round {
            black: black.display_name.clone(),
            opening: game.plies.into_iter().map(|ply| ply.square).collect(),
            score: ended.score.unwrap(),
        }
    }
}

#[tokio::test]
async fn all_games_of_a_match_count_for_the_owner_of_its_room() {
    let server = TestServer::limited(|limits| (limits.games_per_minute, limits.game_burst) = (1, 2)).await;
    let mut the_match = Match::begin_on(server, 4, None).await;
    for _ in 0..2 {
        the_match.round("bob").await;
    }
    let other = the_match.ada.create_with(v1::RoomSettings::default(), ["random", "random"]).await.room_id;
    refused(the_match.ada.start(&other).await, Code::ResourceExhausted, "RATE");
}

#[tokio::test]
async fn a_match_is_played_in_pairs_and_has_a_score() {
    let mut the_match = Match::begin(4, None).await;
    let mut rounds = Vec::new();
    for loser in ["bob", "bob", "ada", "bob"] {
        rounds.push(the_match.round(loser).await);
    }
    assert!(rounds.iter().all(|round| round.opening.len() == 8));
    assert_eq!((&rounds[0].opening, &rounds[2].opening), (&rounds[1].opening, &rounds[3].opening));
    assert_ne!(rounds[0].opening, rounds[2].opening);
    let black: Vec<_> = rounds.iter().map(|round| round.black.as_str()).collect();
    assert_eq!(black, ["ada", "bob", "ada", "bob"]);

    let seats: Vec<_> = rounds.iter().map(|round| round.score.seat).collect();
    assert_eq!(seats, [0, 1, 0, 1], "the score is counted for Ada on either side");
    assert_eq!(rounds[0].score.elo, None, "half a pair gives no verdict");
    let last = &rounds[3].score;
    assert_eq!((last.wins, last.draws, last.losses, &last.pairs[..]), (3, 0, 1, &[0, 0, 1, 0, 1][..]));
    let elo = last.elo.unwrap();
    assert!((elo.elo - 190.85).abs() < 0.01 && elo.low < elo.elo && elo.elo < elo.high, "{elo:?}");
    let room = the_match.ada.room(&the_match.room).await;
    assert_eq!((room.phase(), room.score.as_ref()), (v1::RoomPhase::Lobby, Some(last)));
}

#[tokio::test]
async fn a_test_ends_a_match_early_with_a_verdict() {
    let sprt = v1::Sprt { elo0: 0.0, elo1: 200.0, ..Default::default() };
    let mut the_match = Match::begin(100, Some(sprt)).await;
    let mut games = 0;
    let verdict = loop {
        let state = the_match.round("ada").await.score.sprt.unwrap();
        games += 1;
        if state.verdict() != v1::SprtVerdict::Unspecified {
            assert!(state.llr <= state.lower_bound);
            break state.verdict();
        }
    };
    assert_eq!(verdict, v1::SprtVerdict::Elo0);
    assert!(games < 40 && games % 2 == 0, "{games} games");
    let score = the_match.watcher.until(|event| match event {
        Event::SeriesEnded(ended) => ended.score,
        Event::GameStarted(_) => panic!("the next game started"),
        _ => None,
    });
    assert_eq!(score.await.sprt.unwrap().verdict(), v1::SprtVerdict::Elo0);
    let room = the_match.ada.room(&the_match.room).await;
    assert_eq!((room.phase(), room.series), (v1::RoomPhase::Lobby, None));
    let settings = room.settings.unwrap();
    assert_eq!(settings.sprt.unwrap().alpha, 0.05, "the response has the default bounds");
}

#[tokio::test]
async fn a_test_needs_pairs_and_valid_bounds() {
    let server = TestServer::open().await;
    let ada = server.human("ada").await;
    let wish = |games, opening, elo1| v1::RoomSettings {
        games,
        opening,
        sprt: Some(v1::Sprt { elo1, ..Default::default() }),
        ..named("match")
    };
    for settings in
        [wish(1, balanced(1), 5.0), wish(4, None, 5.0), wish(4, balanced(1), 0.0), wish(4, balanced(1), f64::NAN)]
    {
        let request = v1::CreateRoomRequest { settings: Some(settings), ..Default::default() };
        refused(ada.try_create(request).await, Code::InvalidArgument, "BAD_SETTINGS");
    }
    ada.create(wish(4, balanced(1), 5.0)).await;
}
