//! Engine analysis: hints in games that are not rated, and analysis of finished games.

use reversi::{
    proto::v1::{
        self, analyze_game_request::Subject as OfGame, analyze_game_response::Message as GameMessage,
        analyze_position_request::Subject as OfPosition, analyze_position_response::Message as PositionMessage,
    },
    rules::{Position, Transcript},
};
use tonic::{Code, Streaming};

use crate::harness::in_process::{
    Answer, Player, SeatedRoom, TestServer, check, field, named, private, refusal, refused, within,
};

const EXHAUSTED: Code = Code::ResourceExhausted;
const PRECONDITION: Code = Code::FailedPrecondition;

/// A budget with which a search ends quickly.
fn small() -> v1::AnalysisBudget {
    v1::AnalysisBudget { nodes: 20_000, ..Default::default() }
}

fn rated(name: &str) -> v1::RoomSettings {
    v1::RoomSettings { rated: true, ..named(name) }
}

fn moves(text: &str) -> OfPosition {
    OfPosition::Transcript(text.to_owned())
}

async fn analyze_position(
    player: &Player,
    subject: OfPosition,
    budget: v1::AnalysisBudget,
) -> Answer<Streaming<v1::AnalyzePositionResponse>> {
    let request = v1::AnalyzePositionRequest { subject: Some(subject), budget: Some(budget), lines: 1 };
    Ok(player.analyses().analyze_position(request).await?.into_inner())
}

async fn analyze_game(player: &Player, subject: OfGame) -> Answer<Streaming<v1::AnalyzeGameResponse>> {
    let request = v1::AnalyzeGameRequest { subject: Some(subject), budget: Some(small()) };
    Ok(player.analyses().analyze_game(request).await?.into_inner())
}

/// The next result; none at the end. Heartbeats do not extend the wait.
async fn next(stream: &mut Streaming<v1::AnalyzePositionResponse>) -> Answer<Option<v1::PositionAnalysis>> {
    within(async {
        while let Some(response) = stream.message().await? {
            match response.message.unwrap() {
                PositionMessage::Analysis(analysis) => return Ok(Some(analysis)),
                PositionMessage::Heartbeat(_) => {}
                PositionMessage::Closing(closing) => panic!("the stream ended early: {closing:?}"),
            }
        }
        Ok(None)
    })
    .await
}

async fn collect(mut stream: Streaming<v1::AnalyzePositionResponse>) -> Vec<v1::PositionAnalysis> {
    let mut results = Vec::new();
    while let Some(result) = next(&mut stream).await.unwrap() {
        results.push(result);
    }
    results
}

/// The analyses of the moves of a game, and their summary.
async fn game_analysis(mut stream: Streaming<v1::AnalyzeGameResponse>) -> (Vec<v1::MoveAnalysis>, v1::GameAnalysis) {
    let (mut moves, mut sum) = (Vec::new(), None);
    while let Some(response) = within(stream.message()).await.unwrap() {
        match response.message.unwrap() {
            GameMessage::Move(judged) => moves.push(judged),
            GameMessage::Summary(summary) => sum = Some(summary),
            GameMessage::Heartbeat(_) => {}
            GameMessage::Closing(closing) => panic!("the stream ended early: {closing:?}"),
        }
    }
    (moves, sum.expect("the stream ends with a summary"))
}

#[tokio::test]
async fn a_position_is_searched_with_increasing_depth() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let results = collect(analyze_position(&ada, moves("f5d6"), small()).await.unwrap()).await;
    let (last, before) = results.split_last().unwrap();
    assert!(last.r#final && before.iter().all(|result| !result.r#final));
    let depths: Vec<i32> = results.iter().map(|result| result.lines[0].depth).collect();
    assert!(depths.is_sorted() && last.lines[0].depth > 3, "{depths:?}");
    assert!(last.nodes >= 20_000 && !last.lines[0].exact);
    let position = "f5d6".parse::<reversi::rules::Transcript>().unwrap().position();
    let line = last.lines[0].moves.iter().map(|name| name.parse().unwrap());
    line.fold(position, |position: Position, square| position.play(square).unwrap().after_forced_pass().0);

    let lines = v1::AnalyzePositionRequest { subject: Some(moves("")), budget: Some(small()), lines: 99 };
    let results = collect(ada.analyses().analyze_position(lines).await.unwrap().into_inner()).await;
    assert_eq!(results.last().unwrap().lines.len(), 4, "one analysis for each move");
}

/// Plays a game of first legal moves, and of best moves from ten empty squares on.
async fn play_with_hints(black: &Player, white: &Player, room: &str, game_id: &str) {
    loop {
        let game = black.room(room).await.game.unwrap();
        let position = game.position.unwrap();
        let player = match position.side_to_move() {
            v1::Side::Black => black,
            v1::Side::White => white,
            v1::Side::Unspecified => return,
        };
        let square = if position.black_discs + position.white_discs < 54 {
            position.legal_moves[0].clone()
        } else {
            let hints =
                collect(analyze_position(player, OfPosition::GameId(game_id.into()), small()).await.unwrap()).await;
            let best = &hints.last().unwrap().lines[0];
            assert!(best.exact, "few squares are left: {best:?}");
            best.moves[0].clone()
        };
        player.play(game_id, game.ply, &square).await.unwrap();
    }
}

#[tokio::test]
async fn moves_that_follow_exact_hints_have_no_loss() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(named("lesson")).await;
    play_with_hints(&seated.black, &seated.white, &seated.room, &seated.game).await;
    let eve = server.human("Eve").await;
    let (moves, sum) = game_analysis(analyze_game(&eve, OfGame::GameId(seated.game.clone())).await.unwrap()).await;
    assert_eq!((moves[0].ply, moves[0].side(), moves[0].done), (0, v1::Side::Black, 1));
    assert_eq!((moves.len() as i32, moves.last().unwrap().done), (sum.moves, sum.moves));
    assert!(moves.is_sorted_by_key(|made| made.ply) && moves.len() > 50);
    let end = &moves[moves.len() - 10..];
    assert!(end.iter().all(|made| made.exact && made.loss == 0.0), "{end:?}");
    let lost = |side| moves.iter().filter(|made| made.side() == side).map(|made| made.loss).sum::<f64>();
    assert!((lost(v1::Side::Black) - sum.black_loss).abs() < 0.01 && sum.black_loss + sum.white_loss > 10.0);
    let game = eve.room(&seated.room).await.game.unwrap().position.unwrap();
    let difference = f64::from(game.black_discs - game.white_discs);
    let empties = f64::from(64 - game.black_discs - game.white_discs) * difference.signum();
    assert_eq!(moves.last().unwrap().evaluation, difference + empties);
}

#[tokio::test]
async fn players_of_a_running_rated_game_are_refused() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(rated("cup")).await;
    for player in [&seated.black, &seated.white] {
        refused(analyze_position(player, moves("f5"), small()).await, PRECONDITION, "WRONG_PHASE");
        refused(analyze_game(player, OfGame::Transcript("f5d6".into())).await, PRECONDITION, "WRONG_PHASE");
    }
    let eve = server.human("Eve").await;
    let hint = || OfPosition::GameId(seated.game.clone());
    refused(analyze_position(&eve, hint(), small()).await, PRECONDITION, "WRONG_PHASE");
    collect(analyze_position(&eve, moves("f5"), small()).await.unwrap()).await;
    refused(analyze_game(&eve, OfGame::GameId(seated.game.clone())).await, Code::NotFound, "GAME_NOT_FOUND");
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    seated.white.resign(&seated.game).await.unwrap();
    refused(analyze_position(&eve, hint(), small()).await, PRECONDITION, "GAME_OVER");
    let (moves, _) =
        game_analysis(analyze_game(&seated.black, OfGame::GameId(seated.game.clone())).await.unwrap()).await;
    assert_eq!(moves.len(), 1);
}

#[tokio::test]
async fn the_start_of_a_rated_game_ends_an_analysis() {
    let server = TestServer::limited(|limits| limits.analysis_time = std::time::Duration::from_secs(60)).await;
    let ada = server.human("Ada").await;
    let room = ada.create_with(rated("cup"), ["me", "roxanne"]).await.room_id;
    let mut analysis = analyze_position(&ada, moves("f5"), v1::AnalysisBudget::default()).await.unwrap();
    next(&mut analysis).await.unwrap().unwrap();
    ada.start(&room).await.unwrap();
    let end = loop {
        match next(&mut analysis).await {
            // Results from before the start of the game may still arrive.
            Ok(result) => assert!(!result.unwrap().r#final),
            Err(end) => break end,
        }
    };
    check("the rest", &end, PRECONDITION, "WRONG_PHASE");
}

/// Twelve plies, as long as an opening book.
const BOOK: &str = "e6f6g6f4e3g7g4h4f5d6e7f7";

#[tokio::test]
async fn the_position_of_a_running_rated_game_is_analysed_for_nobody() {
    let server = TestServer::limited(|limits| limits.analysis_time = std::time::Duration::from_secs(1)).await;
    let settings = v1::RoomSettings { visibility: v1::Visibility::Private.into(), ..rated("cup") };
    let seated = server.two_player_game(settings).await;
    play_book(&seated).await;
    let eve = server.human("Eve").await;
    collect(analyze_position(&eve, moves(BOOK), small()).await.unwrap()).await;

    let square = seated.black.room(&seated.room).await.game.unwrap().position.unwrap().legal_moves[0].clone();
    let line = format!("{BOOK}{square}");
    refused(analyze_position(&eve, moves(&line), small()).await, PRECONDITION, "WRONG_PHASE");
    let reply = line.parse::<Transcript>().unwrap().position().legal_moves().first().unwrap();
    let ahead = format!("{line}{reply}");
    refused(analyze_position(&eve, moves(&ahead), small()).await, PRECONDITION, "WRONG_PHASE");
    let next_reply = ahead.parse::<Transcript>().unwrap().position().legal_moves().first().unwrap();
    let ahead = format!("{ahead}{next_reply}");
    let mut early = analyze_position(&eve, moves(&ahead), v1::AnalysisBudget::default()).await.unwrap();
    next(&mut early).await.unwrap().unwrap();
    seated.black.play(&seated.game, 12, &square).await.unwrap();
    let end = loop {
        match next(&mut early).await {
            // Results from before the move may still arrive.
            Ok(result) => assert!(!result.unwrap().r#final),
            Err(end) => break end,
        }
    };
    check("the rest", &end, PRECONDITION, "WRONG_PHASE");
    drop(early);

    let position = seated.black.room(&seated.room).await.game.unwrap().position.unwrap();
    let flipped = position.board.replacen('X', "O", 1);
    for board in [position.board.clone(), position.board.chars().rev().collect(), flipped] {
        let same = v1::Position { board, side_to_move: v1::Side::Black.into(), ..Default::default() };
        refused(analyze_position(&eve, OfPosition::Position(same), small()).await, PRECONDITION, "WRONG_PHASE");
    }
    for position in [&line, &ahead] {
        refused(analyze_position(&eve, moves(position), small()).await, PRECONDITION, "WRONG_PHASE");
    }
    refused(analyze_game(&eve, OfGame::Transcript(ahead)).await, PRECONDITION, "WRONG_PHASE");
    seated.white.play(&seated.game, 13, reply.name()).await.unwrap();
    // Its best move may be that of the game.
    refused(analyze_position(&eve, moves(&line), small()).await, PRECONDITION, "WRONG_PHASE");

    seated.white.resign(&seated.game).await.unwrap();
    collect(analyze_position(&eve, moves(&line), small()).await.unwrap()).await;
}

/// Plays the moves of the book in a running game.
async fn play_book(seated: &SeatedRoom) {
    for (ply, square) in (0..).zip(BOOK.as_bytes().chunks(2)) {
        let player = if ply % 2 == 0 { &seated.black } else { &seated.white };
        player.play(&seated.game, ply, std::str::from_utf8(square).unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn ais_of_other_rooms_do_not_answer_for_a_running_rated_game() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(rated("cup")).await;
    play_book(&seated).await;
    let square = seated.black.room(&seated.room).await.game.unwrap().position.unwrap().legal_moves[0].clone();
    let eve = server.human("Eve").await;
    let with_opening = async |moves: String, seats| {
        let opening = Some(v1::Opening { opening: Some(v1::opening::Opening::Moves(moves)) });
        eve.create_with(v1::RoomSettings { opening, ..named("machines") }, seats).await.room_id
    };
    let machines = with_opening(format!("{BOOK}{square}"), ["random", "random"]).await;
    refused(eve.start(&machines).await, PRECONDITION, "WRONG_PHASE");

    let own = with_opening(BOOK.into(), ["me", "random"]).await;
    let game = eve.start(&own).await.unwrap().game_id;
    seated.black.play(&seated.game, 12, &square).await.unwrap();
    eve.play(&game, 12, &square).await.unwrap();
    let mut watcher = eve.watch(&own).await;
    assert_eq!(watcher.snapshot().await.game.unwrap().ply, 13);
    for _ in 0..20 {
        assert_eq!(eve.room(&own).await.game.unwrap().ply, 13, "the AI waits");
    }
    seated.white.resign(&seated.game).await.unwrap();
    watcher.until(|event| matches!(event, v1::room_event::Event::MovePlayed(_)).then_some(())).await;
    eve.start(&machines).await.unwrap();
}

#[tokio::test]
async fn the_number_of_analyses_of_a_player_is_limited() {
    let server = TestServer::limited(|limits| {
        (limits.analyses, limits.analyses_per_player, limits.analyses_per_address) = (3, 1, 2);
    })
    .await;
    let (ada, bea, cleo) = (server.human("Ada").await, server.human("Bea").await, server.human("Cleo").await);
    let long = async |player: &Player| analyze_position(player, moves(""), v1::AnalysisBudget::default()).await;
    let first = long(&ada).await.unwrap();
    check("of a player", &refusal(long(&ada).await), EXHAUSTED, "QUOTA_ANALYSES");
    check("a game", &refusal(analyze_game(&ada, OfGame::Transcript("f5".into())).await), EXHAUSTED, "QUOTA_ANALYSES");
    let _second = long(&bea).await.unwrap();
    check("of an address", &refusal(long(&cleo).await), EXHAUSTED, "QUOTA_ANALYSES");
    drop(first);
    let _third = within(async {
        loop {
            if let Ok(analysis) = long(&cleo).await {
                return analysis;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_number_of_analyses_of_a_server_is_limited() {
    let server = TestServer::limited(|limits| limits.analyses = 1).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let _first = analyze_position(&ada, moves(""), v1::AnalysisBudget::default()).await.unwrap();
    refused(analyze_position(&bea, moves(""), v1::AnalysisBudget::default()).await, EXHAUSTED, "QUOTA_ANALYSES");
}

#[tokio::test]
async fn an_analysis_stops_when_its_client_is_gone() {
    let server = TestServer::limited(|limits| limits.analysis_time = std::time::Duration::from_secs(3600)).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let mut endless = analyze_position(&ada, moves(""), v1::AnalysisBudget::default()).await.unwrap();
    next(&mut endless).await.unwrap().unwrap();
    let mut waiting = analyze_position(&bea, moves("f5"), small()).await.unwrap();
    drop(endless);
    // There is one thread, which the first analysis would use for an hour.
    next(&mut waiting).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_analysis_out_of_time_returns_its_results_so_far() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let at_once = v1::AnalysisBudget { time: Some(prost_types::Duration::default()), ..Default::default() };
    let results = collect(analyze_position(&ada, moves("f5"), at_once).await.unwrap()).await;
    assert!(results.last().unwrap().r#final);
    let request = v1::AnalyzeGameRequest { subject: Some(OfGame::Transcript("f5d6c3".into())), budget: Some(at_once) };
    let (moves, sum) = game_analysis(ada.analyses().analyze_game(request).await.unwrap().into_inner()).await;
    assert_eq!((moves.len(), sum.moves), (3, 3));
}

#[tokio::test]
async fn a_stopping_server_closes_analyses_with_the_reason() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut analysis = analyze_position(&ada, moves(""), v1::AnalysisBudget::default()).await.unwrap();
    next(&mut analysis).await.unwrap().unwrap();
    server.runtime.drain();
    let reason = loop {
        if let PositionMessage::Closing(closing) = within(analysis.message()).await.unwrap().unwrap().message.unwrap() {
            break closing.reason();
        }
    };
    assert_eq!(reason, v1::CloseReason::Draining);
    refused(analyze_position(&ada, moves(""), small()).await, Code::Unavailable, "DRAINING");
}

#[tokio::test]
async fn opening_moves_are_not_analysed_and_private_games_stay_private() {
    let server = TestServer::open().await;
    let opening = v1::Opening { opening: Some(v1::opening::Opening::Moves("f5d6c3".into())) };
    let seated = server.two_player_game(v1::RoomSettings { opening: Some(opening), ..private() }).await;
    let eve = server.human("Eve").await;
    let hint = analyze_position(&eve, OfPosition::GameId(seated.game.clone()), small()).await;
    refused(hint, Code::NotFound, "GAME_NOT_FOUND");
    seated.white.play(&seated.game, 3, "d3").await.unwrap();
    seated.black.resign(&seated.game).await.unwrap();
    refused(analyze_game(&eve, OfGame::GameId(seated.game.clone())).await, Code::NotFound, "GAME_NOT_FOUND");
    let (moves, sum) =
        game_analysis(analyze_game(&seated.white, OfGame::GameId(seated.game.clone())).await.unwrap()).await;
    assert_eq!((moves.len(), moves[0].ply, moves[0].square.as_str()), (1, 3, "d3"));
    assert_eq!((sum.black_loss, sum.moves), (0.0, 1));
}

#[tokio::test]
async fn invalid_analysis_requests_are_refused() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let board = |board: &str, side: v1::Side| {
        OfPosition::Position(v1::Position { board: board.into(), side_to_move: side.into(), ..Default::default() })
    };
    let start = Position::START.board().to_string();
    let wrong = [
        (board("", v1::Side::Black), "position.board"),
        (board(&"-".repeat(64), v1::Side::Black), "position.board"),
        (board(&"é".repeat(32), v1::Side::Black), "position.board"),
        (board(&start, v1::Side::Unspecified), "position.side_to_move"),
        (moves("a1"), "transcript"),
        (moves("f5d6c"), "transcript"),
        (moves(&" ".repeat(2_000)), "transcript"),
    ];
    for (subject, path) in wrong {
        let details = refused(analyze_position(&ada, subject, small()).await, Code::InvalidArgument, "BAD_ARGUMENT");
        assert_eq!(field(&details), path);
    }
    let over = board(&"X".repeat(64), v1::Side::White);
    refused(analyze_position(&ada, over, small()).await, PRECONDITION, "GAME_OVER");
    for game in ["", "nonsense", "000000000000-1"] {
        refused(
            analyze_position(&ada, OfPosition::GameId(game.into()), small()).await,
            Code::NotFound,
            "GAME_NOT_FOUND",
        );
        refused(analyze_game(&ada, OfGame::GameId(game.into())).await, Code::NotFound, "GAME_NOT_FOUND");
    }
    let ask = async |request| ada.analyses().analyze_position(request).await;
    let request = |budget, lines| v1::AnalyzePositionRequest { subject: Some(moves("")), budget: Some(budget), lines };
    let deep = v1::AnalysisBudget { depth: 61, ..Default::default() };
    let backward = Some(prost_types::Duration { seconds: -1, nanos: 0 });
    for (request, path) in [
        (v1::AnalyzePositionRequest::default(), "subject"),
        (request(deep, 1), "budget.depth"),
        (request(v1::AnalysisBudget { time: backward, ..deep }, 1), "budget.depth"),
        (request(v1::AnalysisBudget { depth: 1, time: backward, nodes: 1 }, 1), "budget.time"),
        (request(small(), -1), "lines"),
    ] {
        assert_eq!(field(&refused(ask(request).await, Code::InvalidArgument, "BAD_ARGUMENT")), path);
    }
    let nothing = ada.analyses().analyze_game(v1::AnalyzeGameRequest::default()).await;
    assert_eq!(field(&refused(nothing, Code::InvalidArgument, "BAD_ARGUMENT")), "subject");
    let (none, sum) = game_analysis(analyze_game(&ada, OfGame::Transcript(String::new())).await.unwrap()).await;
    assert!(none.is_empty() && sum == v1::GameAnalysis::default());
}
