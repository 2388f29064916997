//! Whole games, as seen by players and watchers.

use std::str::FromStr as _;

use reversi::{
    proto::v1::{self, play_event::Event, room_event, watch_room_response::Message},
    rules::{Color, Position, Square},
};
use tokio::task::JoinSet;
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};
use tonic::Code;

use crate::harness::in_process::{Player, TestServer, Turns, Watcher, millis, named, refused, within};

/// The game of a watcher, replayed from the moves alone.
pub(crate) struct MovesReplay {
    pub(crate) seq: u64,
    pub(crate) board: Vec<u8>,
    pub(crate) plies: Vec<String>,
    pub(crate) passes: usize,
    pub(crate) outcome: Option<v1::Outcome>,
}

impl MovesReplay {
    pub(crate) fn from_room(room: &v1::Room) -> Self {
        let mut replay = Self { seq: room.seq, board: Vec::new(), plies: Vec::new(), passes: 0, outcome: None };
        if let Some(game) = &room.game {
            replay.start_game(game);
        }
        replay
    }

    fn start_game(&mut self, game: &v1::Game) {
        self.board = game.position.as_ref().unwrap().board.clone().into_bytes();
        self.plies = game.plies.iter().map(|ply| ply.square.clone()).collect();
        self.passes = game.plies.iter().filter(|ply| ply.pass).count();
        self.outcome = game.outcome;
    }

    pub(crate) fn apply(&mut self, event: &v1::RoomEvent) {
        assert_eq!(event.seq, self.seq + 1, "sequence numbers have no gaps");
        self.seq = event.seq;
        match event.event.as_ref().unwrap() {
            room_event::Event::GameStarted(started) => self.start_game(started.game.as_ref().unwrap()),
            room_event::Event::MovePlayed(played) => {
                let ply = played.ply.as_ref().unwrap();
                let disc = if ply.side() == v1::Side::Black { b'X' } else { b'O' };
                for square in played.flipped.iter().chain([&ply.square]) {
                    self.board[usize::from(Square::from_str(square).unwrap().index())] = disc;
                }
                assert_eq!(played.position.as_ref().unwrap().board.as_bytes(), self.board);
                self.plies.push(ply.square.clone());
            }
            room_event::Event::TurnPassed(passed) => {
                assert!(passed.ply.as_ref().unwrap().pass);
                self.plies.push(String::new());
                self.passes += 1;
            }
            room_event::Event::GameEnded(ended) => self.outcome = ended.outcome,
            _ => {}
        }
    }

    /// Reads events until the game has ended.
    pub(crate) async fn read_to_end(&mut self, watcher: &mut Watcher) {
        while self.outcome.is_none() {
            match watcher.next().await.unwrap() {
                Message::Event(event) => self.apply(&event),
                Message::Snapshot(room) => *self = Self::from_room(&room),
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    pub(crate) fn assert_equals(&self, room: &v1::Room) {
        let game = room.game.as_ref().unwrap();
        assert_eq!(game.position.as_ref().unwrap().board.as_bytes(), self.board);
        assert_eq!(game.plies.iter().map(|ply| ply.square.clone()).collect::<Vec<_>>(), self.plies);
        assert_eq!(game.outcome, self.outcome);
    }
}

/// Answers every turn with the first legal move. Returns how the game ended.
async fn play_by_calls(player: &Player, turns: &mut Turns) -> v1::PlayerGameEnded {
    loop {
        match turns.next().await.unwrap() {
            Event::TurnRequested(turn) => {
                let square = &turn.position.as_ref().unwrap().legal_moves[0];
                let answer = player.play(&turn.game_id, turn.ply, square).await.unwrap();
                assert!(!answer.already_applied);
            }
            Event::GameEnded(ended) => return ended,
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_human_plays_an_ai_with_unary_calls() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut turns = ada.turns().await;
    let room = ada.quick_start_with_ai("alphabeta", v1::SidePreference::White).await.unwrap();
    assert_eq!(room.phase(), v1::RoomPhase::Playing);
    let ended = play_by_calls(&ada, &mut turns).await;
    let outcome = ended.outcome.unwrap();
    assert_eq!((ended.side(), outcome.reason()), (v1::Side::White, v1::GameEndReason::Discs));

    let after = ada.room(&room.room_id).await;
    assert_eq!(after.phase(), v1::RoomPhase::Lobby, "the room stays open after its game");
    let game = after.game.unwrap();
    assert_eq!((game.outcome, game.game_id.as_str()), (Some(outcome), ended.game_id.as_str()));
    assert!(game.plies.iter().any(|ply| ply.thought.is_some()), "the AI reports its searches");
    check_record(&ada, &game).await;
}

/// Checks that all four forms of the record agree with the room.
async fn check_record(player: &Player, game: &v1::Game) {
    let request = v1::GetGameRequest { game_id: game.game_id.clone() };
    let record = player.records().get_game(request).await.unwrap().into_inner().game.unwrap();
    assert_eq!((record.outcome, &record.plies), (game.outcome, &game.plies));
    assert_eq!(record.board, game.position.as_ref().unwrap().board);
    let moves: String = game.plies.iter().map(|ply| ply.square.as_str()).collect();
    assert_eq!(record.transcript, moves);
    for side in [&record.black, &record.white] {
        if let Some(v1::participant::Participant::Ai(ai)) = &side.as_ref().unwrap().participant {
            assert_eq!(ai.seed, 0, "the bot may continue");
        }
    }

    let listed = player.records().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!(listed, [v1::GameRecord { plies: Vec::new(), ..record.clone() }]);

    for (format, line) in [(1, moves.as_str()), (2, "(;GM[Othello]")] {
        let request = v1::ExportGamesRequest { format, ..Default::default() };
        let stream = player.records().export_games(request).await.unwrap().into_inner();
        let lines = within(stream.map(Result::unwrap).collect::<Vec<_>>()).await;
        assert!(lines.len() == 1 && lines[0].game_id == record.game_id && lines[0].line.starts_with(line), "{lines:?}");
    }

    let request = v1::GetPlayerStatsRequest { player_id: player.id.clone(), ..Default::default() };
    let stats = player.records().get_player_stats(request).await.unwrap().into_inner().stats.unwrap();
    assert_eq!((stats.played, stats.won + stats.drawn + stats.lost), (1, 1));
    assert_eq!(player.me().await.stats, Some(stats));
}

/// A bot on a `Play` stream: answers every turn until a game has ended.
async fn play_on_a_play_stream(bot: Player) -> v1::PlayerGameEnded {
    let (moves, requests) = tokio::sync::mpsc::channel(4);
    let mut stream = within(bot.games().play(ReceiverStream::new(requests))).await.unwrap().into_inner();
    loop {
        match within(stream.message()).await.unwrap().unwrap().event.unwrap().event.unwrap() {
            Event::TurnRequested(turn) => {
                let square = turn.position.unwrap().legal_moves.pop().unwrap();
                moves.send(v1::PlayRequest { game_id: turn.game_id, ply: turn.ply, square }).await.unwrap();
            }
            Event::GameEnded(ended) => return ended,
            Event::MoveRejected(rejected) => panic!("{rejected:?}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn two_bots_play_each_other_on_play_streams() {
    let server = TestServer::open().await;
    let (first, second) = (server.bot("First").await, server.bot("Second").await);
    let mut lanes = JoinSet::new();
    for bot in [first.clone(), second.clone()] {
        lanes.spawn(play_on_a_play_stream(bot));
    }
    let room = first.quick_start_with_anyone().await.unwrap().room_id;
    assert_eq!(second.quick_start_with_anyone().await.unwrap().room_id, room);
    let ends = within(lanes.join_all()).await;
    assert_eq!((&ends[0].outcome, &ends[0].game_id), (&ends[1].outcome, &ends[1].game_id));
    assert_ne!(ends[0].side(), ends[1].side());
}

#[tokio::test]
async fn a_watcher_of_two_ais_follows_every_event() {
    let server = TestServer::open().await;
    let (owner, guest) = (server.human("Owner").await, server.human("Guest").await);
    // Some games have forced passes; a few games together have some for certain.
    let settings = v1::RoomSettings { games: 12, ..named("machines") };
    let room = owner.create_with(settings, ["greedy", "random"]).await.room_id;
    let mut watcher = guest.watch(&room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    owner.start(&room).await.unwrap();
    let (mut passes, mut games) = (0, 0);
    while games < 12 {
        replay.read_to_end(&mut watcher).await;
        let outcome = replay.outcome.take().unwrap();
        assert_eq!(outcome.reason(), v1::GameEndReason::Discs);
        let count = |disc| i32::try_from(replay.board.iter().filter(|&&square| square == disc).count()).unwrap();
        assert_eq!((outcome.black_discs, outcome.white_discs), (count(b'X'), count(b'O')));
        (passes, games, replay.outcome) = (passes + replay.passes, games + 1, None);
        if games == 12 {
            replay.outcome = Some(outcome);
        }
    }
    assert!(passes > 0, "B33: a pass is an event");
    replay.assert_equals(&guest.room(&room).await);
    assert_eq!(owner.me().await.stats.unwrap().played, 0, "a player who only watches has no results");
}

#[tokio::test]
async fn the_record_can_be_replayed() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let game = seated.play_to_end().await;
    let mut position = Position::START;
    for (number, ply) in game.plies.iter().enumerate() {
        assert_eq!((ply.ply, ply.side()), (i32::try_from(number).unwrap(), side(position.turn())));
        position = match ply.pass {
            true => position.pass().expect("a pass is made only where it is forced"),
            false => position.play(ply.square.parse().unwrap()).expect("every move is legal"),
        };
    }
    assert!(position.is_over());
    assert_eq!(position.board().to_string(), game.position.unwrap().board);
}

fn side(color: Color) -> v1::Side {
    match color {
        Color::Black => v1::Side::Black,
        Color::White => v1::Side::White,
    }
}

#[tokio::test]
async fn players_and_watchers_get_the_clocks() {
    let server = TestServer::open().await;
    let settings = v1::RoomSettings {
        total_time: millis(300_000),
        increment: millis(2_000),
        move_limit: millis(30_000),
        ..Default::default()
    };
    let seated = server.two_player_game(settings).await;
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    let seen = watcher.snapshot().await;
    let mut turns = seated.black.turns().await;
    let asked = turns.turn_request().await;
    assert_eq!((asked.ply, asked.side(), asked.last_move.as_str()), (0, v1::Side::Black, ""));
    // The side that is not to move gets the clocks too.
    let idle = seated.white.room(&seated.room).await;
    for clocks in [asked.clocks, seen.game.unwrap().clocks, idle.game.unwrap().clocks] {
        let clocks = clocks.unwrap();
        let seconds = |duration: Option<prost_types::Duration>| duration.unwrap().seconds;
        assert_eq!(seconds(clocks.white_total), 300);
        assert!((280..=300).contains(&seconds(clocks.black_total)));
        assert!((10..=30).contains(&seconds(clocks.time_left)));
        assert!(clocks.deadline.is_some());
    }
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    let played = watcher.event().await;
    let Some(room_event::Event::MovePlayed(played)) = played.event else { panic!("{played:?}") };
    assert_eq!(played.flipped, ["d4"]);
    assert!(played.clocks.unwrap().black_total.unwrap().seconds >= 281, "with the increment");
    let asked = seated.white.turns().await.turn_request().await;
    assert_eq!((asked.ply, asked.side(), asked.last_move.as_str()), (1, v1::Side::White, "d3"));
}

#[tokio::test]
async fn the_clock_of_an_old_game_does_not_end_a_later_one() {
    let server = TestServer::open().await;
    let fast = v1::RoomSettings { move_limit: millis(500), swap_sides: Some(false), ..Default::default() };
    let seated = server.two_player_game(fast).await;
    let mut watcher = seated.white.watch(&seated.room).await;
    watcher.snapshot().await;
    // A game resigned with its clock running, and a slow game right after it.
    seated.black.resign(&seated.game).await.unwrap();
    let slow = v1::RoomSettings { move_limit: millis(60_000), ..Default::default() };
    seated.black.update_settings(&seated.room, "move_limit", slow).await.unwrap();
    seated.white.ready(&seated.room).await.unwrap();
    let second = seated.black.start(&seated.room).await.unwrap().game_id;
    assert_ne!(second, seated.game, "B34: ids are not reused");

    // Meanwhile several players in a fast room lose on time.
    let timer = server.human("Timer").await;
    let quick = v1::RoomSettings { move_limit: millis(200), ..Default::default() };
    let clock = timer.create_with(quick, ["me", "random"]).await.room_id;
    for _ in 0..3 {
        let mut flag = timer.watch(&clock).await;
        flag.snapshot().await;
        timer.start(&clock).await.unwrap();
        assert_eq!(flag.game_ended().await.outcome.unwrap().reason(), v1::GameEndReason::Timeout);
    }
    let game = seated.black.room(&seated.room).await.game.unwrap();
    assert_eq!((game.game_id.as_str(), game.outcome), (second.as_str(), None));
    seated.black.play(&second, 0, "d3").await.unwrap();
}

#[tokio::test]
async fn draws_and_rematches_are_offered_and_accepted() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = seated.white.watch(&seated.room).await;
    watcher.snapshot().await;
    let game_id = || seated.game.clone();
    let offer =
        |offer: v1::Offer| v1::MakeOfferRequest { game_id: game_id(), offer: offer.into(), ..Default::default() };
    let accept = |offer: v1::Offer| {
        let offer = offer.into();
        v1::AnswerOfferRequest { game_id: game_id(), offer, accept: true, ..Default::default() }
    };
    seated.black.games().make_offer(offer(v1::Offer::Draw)).await.unwrap();
    assert_eq!(seated.white.room(&seated.room).await.game.unwrap().draw_offered_by(), v1::Side::Black);
    seated.white.games().answer_offer(accept(v1::Offer::Draw)).await.unwrap();
    let outcome = watcher.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::Draw, v1::GameEndReason::Agreed));
    assert_eq!(seated.black.me().await.stats.unwrap().drawn, 1);

    seated.white.games().make_offer(offer(v1::Offer::Rematch)).await.unwrap();
    seated.black.games().answer_offer(accept(v1::Offer::Rematch)).await.unwrap();
    let room = seated.black.room(&seated.room).await;
    assert_eq!((room.phase(), room.game.unwrap().number), (v1::RoomPhase::Playing, 2));
    for side in [&seated.white, &seated.black] {
        refused(side.games().make_offer(offer(v1::Offer::Draw)).await, Code::FailedPrecondition, "GAME_OVER");
    }
}

#[tokio::test]
async fn a_move_against_an_ai_is_taken_back_and_the_game_goes_on_in_the_next_one() {
    let server = TestServer::open().await;
    let ada = server.human("Ada").await;
    let mut turns = ada.turns().await;
    ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    let first = turns.turn_request().await;
    ada.play(&first.game_id, 0, "d3").await.unwrap();
    let second = turns.turn_request().await;
    let take_back = async || {
        let request = v1::MakeOfferRequest {
            game_id: second.game_id.clone(),
            offer: v1::Offer::TakeBack.into(),
            ..Default::default()
        };
        ada.games().make_offer(request).await
    };
    take_back().await.unwrap();
    let outcome = turns.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::Aborted, v1::GameEndReason::TakenBack));
    let again = turns.turn_request().await;
    assert_eq!((again.ply, &again.position), (0, &first.position));
    assert_ne!(again.game_id, first.game_id);
    refused(take_back().await, Code::FailedPrecondition, "GAME_OVER");
    ada.play(&again.game_id, 0, "c4").await.unwrap();
    let stats = ada.me().await.stats.unwrap();
    assert_eq!((stats.won, stats.drawn, stats.lost), (0, 0, 0));
}

#[tokio::test]
async fn leaving_during_ones_turn_ends_the_game_at_once() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut opponent = seated.white.turns().await;
    seated.black.leave(&seated.room).await.unwrap();
    let outcome = opponent.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::WhiteWins, v1::GameEndReason::Left));
}

#[tokio::test]
async fn a_game_can_be_aborted_only_early_and_has_no_winner() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut watcher = seated.white.watch(&seated.room).await;
    watcher.snapshot().await;
    seated.black.abort(&seated.game).await.unwrap();
    let outcome = watcher.game_ended().await.outcome.unwrap();
    assert_eq!((outcome.result(), outcome.reason()), (v1::GameResult::Aborted, v1::GameEndReason::AbortedByBlack));
    assert_eq!(seated.white.me().await.stats.unwrap().played, 0);
}

#[tokio::test]
async fn a_player_aborts_three_rated_games_a_day() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings { rated: true, ..named("cup") }).await;
    let mut game = seated.game.clone();
    for _ in 0..3 {
        seated.black.abort(&game).await.unwrap();
        seated.white.ready(&seated.room).await.unwrap();
        game = seated.black.start(&seated.room).await.unwrap().game_id;
    }
    refused(seated.black.abort(&game).await, Code::FailedPrecondition, "WRONG_PHASE");
    seated.white.abort(&game).await.unwrap();

    seated.black.update_settings(&seated.room, "rated", v1::RoomSettings::default()).await.unwrap();
    seated.white.ready(&seated.room).await.unwrap();
    let friendly = seated.black.start(&seated.room).await.unwrap().game_id;
    seated.black.abort(&friendly).await.unwrap();
}
