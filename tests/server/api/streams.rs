//! Streams: their first messages, resuming, and their ends.

use reversi::proto::v1::{self, CloseReason, play_event::Event, room_event, watch_room_response::Message};
use tokio_stream::wrappers::ReceiverStream;

use crate::api::games::MovesReplay;
use crate::harness::in_process::{TestServer, named, private, within};

#[tokio::test]
async fn a_resumed_watch_gets_exactly_the_missed_events() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let eve = server.human("Eve").await;
    let mut watcher = eve.watch(&seated.room).await;
    let mut replay = MovesReplay::from_room(&watcher.snapshot().await);
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    replay.apply(&watcher.event().await);
    drop(watcher);
    let first = replay.seq;
    seated.white.play(&seated.game, 1, "c3").await.unwrap();
    seated.black.chat(&seated.room, "hm").await.unwrap();
    let mut watcher = eve.watch_after(&seated.room, first).await;
    seated.black.play(&seated.game, 2, "c4").await.unwrap();
    for missed in 1..=3 {
        replay.apply(&watcher.event().await);
        assert_eq!(replay.seq, first + missed);
    }
    replay.assert_equals(&eve.room(&seated.room).await);

    // Nothing missed, nothing sent again.
    let mut watcher = eve.watch_after(&seated.room, replay.seq).await;
    seated.black.chat(&seated.room, "your move").await.unwrap();
    replay.apply(&watcher.event().await);
}

#[tokio::test]
async fn a_watcher_of_snapshots_gets_no_events() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let eve = server.human("Eve").await;
    let request = v1::WatchRoomRequest { room_id: seated.room.clone(), snapshots_only: true, ..Default::default() };
    let mut watcher = eve.watch_with(request).await.unwrap();
    assert_eq!(watcher.snapshot().await.game.unwrap().ply, 0);
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    let moved = watcher.snapshot().await;
    assert_eq!(moved.game.as_ref().unwrap().ply, 1);
    for line in 0..50 {
        seated.white.chat(&seated.room, &format!("line {line}")).await.unwrap();
    }
    // Changes in quick succession may share a snapshot.
    let mut last = moved;
    while last.seq < eve.room(&seated.room).await.seq {
        let next = watcher.snapshot().await;
        assert!(next.seq > last.seq);
        last = next;
    }
    assert_eq!(last.chat.last().unwrap().text, "line 49");
    seated.black.resign(&seated.game).await.unwrap();
    while watcher.snapshot().await.phase() == v1::RoomPhase::Playing {}
    seated.black.close(&seated.room).await.unwrap();
    assert_eq!(watcher.close_reason().await, CloseReason::RoomClosed);
}

#[tokio::test]
async fn a_watcher_of_snapshots_is_removed_like_others() {
    let server = TestServer::open().await;
    let (owner, eve, gus) = (server.human("Owner").await, server.human("Eve").await, server.human("Gus").await);
    let room = owner.create(named("talk")).await.room_id;
    eve.join(&room).await.unwrap();
    let request = || v1::WatchRoomRequest { room_id: room.clone(), snapshots_only: true, ..Default::default() };
    let (mut member, mut stranger) =
        (eve.watch_with(request()).await.unwrap(), gus.watch_with(request()).await.unwrap());
    member.snapshot().await;
    stranger.snapshot().await;
    owner.kick(&room, &eve.id, true).await.unwrap();
    assert_eq!(member.close_reason().await, CloseReason::Kicked);
    let closed = v1::RoomSettings { watching: v1::Watching::Members.into(), ..Default::default() };
    owner.update_settings(&room, "watching", closed).await.unwrap();
    assert_eq!(stranger.close_reason().await, CloseReason::Kicked);
}

#[tokio::test]
async fn a_watcher_that_missed_too_many_events_gets_a_snapshot() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let room = owner.create(named("talk")).await.room_id;
    let first = owner.room(&room).await.seq;
    for number in 0..40 {
        owner.chat(&room, &format!("line {number}")).await.unwrap();
    }
    let now = owner.room(&room).await.seq;
    for after in [first, 0, now + 1, u64::MAX] {
        assert_eq!(owner.watch_after(&room, after).await.snapshot().await.seq, now, "after {after}");
    }
    assert_eq!(owner.watch_after(&room, now - 1).await.event().await.seq, now);
}

#[tokio::test]
async fn a_slow_watcher_blocks_no_other_and_gets_the_end() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let sleeper = server.with_small_window(&server.human("Sleeper").await).await;
    let mut asleep = sleeper.watch(&seated.room).await;
    let (line, mut seq) = ("x".repeat(300), 0);
    // More than the windows of the connection and the queue of the room hold together.
    for _ in 0..1_000 {
        seq = seated.white.chat(&seated.room, &line).await.unwrap();
    }
    seated.play_to_end().await;
    let mut replay = MovesReplay::from_room(&asleep.snapshot().await);
    let mut snapshots = 0;
    while replay.outcome.is_none() {
        match asleep.next().await.unwrap() {
            Message::Event(event) => replay.apply(&event),
            Message::Snapshot(room) => {
                snapshots += 1;
                replay = MovesReplay::from_room(&room);
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    assert!(snapshots > 0 && replay.seq > seq);
    replay.assert_equals(&sleeper.room(&seated.room).await);
}

#[tokio::test]
async fn watching_starts_with_the_whole_game() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(named("seated")).await;
    seated.black.chat(&seated.room, "good luck").await.unwrap();
    for (player, ply, square) in [(&seated.black, 0, "d3"), (&seated.white, 1, "c3")] {
        player.play(&seated.game, ply, square).await.unwrap();
    }
    // The whole state at once, and the result at the end.
    let mut watcher = server.human("Eve").await.watch(&seated.room).await;
    let room = watcher.snapshot().await;
    let game = room.game.unwrap();
    assert_eq!((room.members.len(), room.seats.len(), room.chat.len(), room.watchers), (2, 2, 1, 1));
    assert_eq!(game.plies.iter().map(|ply| ply.square.as_str()).collect::<Vec<_>>(), ["d3", "c3"]);
    assert!(game.clocks.is_some() && !game.position.unwrap().legal_moves.is_empty());
    assert_eq!(room.join_code, "", "which is for members");
    seated.black.resign(&seated.game).await.unwrap();
    assert_eq!(watcher.game_ended().await.outcome.unwrap().result(), v1::GameResult::WhiteWins);
}

#[tokio::test]
async fn watchers_are_counted_while_they_watch() {
    let server = TestServer::open().await;
    let (owner, eve) = (server.human("Owner").await, server.human("Eve").await);
    let room = owner.create(named("watched")).await.room_id;
    let mut list = owner.lobby().watch_rooms(v1::WatchRoomsRequest::default()).await.unwrap().into_inner();
    within(list.message()).await.unwrap().unwrap();
    let mut watchers = async |want: i32| loop {
        let update = within(list.message()).await.unwrap().unwrap().message.unwrap();
        if matches!(update, v1::watch_rooms_response::Message::Upserted(row) if row.watchers == want) {
            return;
        }
    };
    // Watchers are not members, and are no longer counted once gone.
    let first = eve.watch(&room).await;
    watchers(1).await;
    let second = eve.watch(&room).await;
    watchers(2).await;
    drop(first);
    watchers(1).await;
    drop(second);
    watchers(0).await;
    let room = owner.room(&room).await;
    assert_eq!((room.watchers, room.members.len()), (0, 1));
}

#[tokio::test]
async fn a_newer_stream_of_turns_ends_the_older_one() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut first = seated.black.turns().await;
    let asked = first.turn_request().await;
    let mut second = seated.black.turns().await;
    assert_eq!(first.close_reason().await, CloseReason::Superseded);
    let again = second.turn_request().await;
    assert_eq!((asked.game_id, asked.ply), (again.game_id, again.ply), "the open turn is requested again");
    // A `Play` stream does the same.
    let (moves, requests) = tokio::sync::mpsc::channel(1);
    let mut play_stream = within(seated.black.games().play(ReceiverStream::new(requests))).await.unwrap().into_inner();
    assert_eq!(second.close_reason().await, CloseReason::Superseded);
    // Game ids are accepted in capitals, and answered in the server's spelling.
    for square in ["z9", "a1"] {
        let wrong = v1::PlayRequest { game_id: seated.game.to_uppercase(), ply: 0, square: square.into() };
        moves.send(wrong).await.unwrap();
    }
    let mut unread = 0;
    loop {
        match within(play_stream.message()).await.unwrap().unwrap().event.unwrap().event.unwrap() {
            Event::TurnRequested(turn) => assert_eq!(turn.ply, 0),
            Event::MoveRejected(rejected) if rejected.reason == "BAD_SQUARE" => {
                assert_eq!(rejected.game_id, seated.game);
                unread += 1;
            }
            Event::MoveRejected(rejected) => {
                assert_eq!(unread, 1);
                assert_eq!((rejected.reason.as_str(), rejected.ply), ("ILLEGAL_MOVE", 0));
                assert_eq!(rejected.game_id, seated.game);
                assert_eq!(rejected.legal_moves, ["d3", "c4", "f5", "e6"]);
                return;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_play_stream_reports_a_move_before_the_result_of_the_next() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let (moves, requests) = tokio::sync::mpsc::channel(2);
    // Both are sent before any answer is read, and the second is out of turn.
    for (ply, square) in [(0, "d3"), (2, "c4")] {
        let request = v1::PlayRequest { game_id: seated.game.clone(), ply, square: square.into() };
        moves.send(request).await.unwrap();
    }
    let mut play_stream = within(seated.black.games().play(ReceiverStream::new(requests))).await.unwrap().into_inner();
    let mut closed = None;
    loop {
        match within(play_stream.message()).await.unwrap().unwrap().event.unwrap().event.unwrap() {
            Event::TurnClosed(turn) => closed = Some(turn.square),
            Event::MoveRejected(rejected) => {
                assert_eq!((closed.as_deref(), rejected.ply), (Some("d3"), 2));
                return;
            }
            Event::TurnRequested(_) | Event::GameStarted(_) => {}
            other => panic!("unexpected {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_new_stream_asks_every_open_turn() {
    let server = TestServer::open().await;
    let bot = server.log_in("Bot", v1::PlayerKind::Bot, 8).await;
    let mut games = std::collections::BTreeSet::new();
    for _ in 0..8 {
        let room = bot.create_with(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
        games.insert(bot.start(&room).await.unwrap().game_id);
    }
    assert_eq!(bot.me().await.game_ids.into_iter().collect::<std::collections::BTreeSet<_>>(), games);
    let mut turns = bot.turns().await;
    let mut asked = std::collections::BTreeSet::new();
    while asked.len() < 8 {
        asked.insert(turns.turn_request().await.game_id);
    }
    assert_eq!(asked, games);
}

#[tokio::test]
async fn a_stream_starts_with_open_turns_and_then_missed_notices() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut turns = seated.black.turns().await;
    let received = [turns.next().await, turns.next().await];
    let [Some(Event::TurnRequested(turn)), Some(Event::GameStarted(started))] = received else {
        panic!("{received:?}")
    };
    assert_eq!((&turn.game_id, &started.game_id), (&seated.game, &seated.game));
    assert!(turn.repeat, "it was requested when the game began");
    seated.white.resign(&seated.game).await.unwrap();
    seated.black.kick(&seated.room, &seated.white.id, true).await.unwrap();
    // Of a room that he does not know he is told nothing.
    let unknown = seated.black.create(private()).await.room_id;
    seated.black.kick(&unknown, &seated.white.id, true).await.unwrap();
    let other = seated.black.create(private()).await.room_id;
    let guest = v1::set_seat_request::Occupant::ReservedFor(seated.white.id.clone());
    seated.black.set_seat(&other, 0, guest).await.unwrap();
    let mut turns = seated.white.turns().await;
    let received = [turns.next().await, turns.next().await, turns.next().await, turns.next().await];
    let [
        Some(Event::GameStarted(started)),
        Some(Event::GameEnded(ended)),
        Some(Event::Kicked(kicked)),
        Some(Event::Invited(invited)),
    ] = received
    else {
        panic!("{received:?}");
    };
    assert_eq!((started.game_id, ended.game_id), (seated.game.clone(), seated.game));
    assert!(kicked.banned && kicked.room_id == seated.room && invited.room_id == other);
}

#[tokio::test]
async fn a_turn_is_closed_with_its_reason() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let mut turns = seated.black.turns().await;
    let closed = |event| match event {
        Event::TurnClosed(closed) => Some(closed),
        _ => None,
    };
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    let played = turns.until(closed).await;
    assert_eq!((played.ply, played.reason(), played.square.as_str()), (0, v1::TurnCloseReason::Played, "d3"));
    seated.white.play(&seated.game, 1, "c3").await.unwrap();
    assert!(!turns.turn_request().await.repeat);
    seated.white.resign(&seated.game).await.unwrap();
    let ended = turns.until(closed).await;
    assert_eq!((ended.ply, ended.reason()), (2, v1::TurnCloseReason::GameEnded));
}

#[tokio::test]
async fn closing_a_room_ends_its_streams() {
    let server = TestServer::open().await;
    let (owner, eve) = (server.human("Owner").await, server.human("Eve").await);
    let room = owner.create(named("short")).await.room_id;
    let mut watcher = eve.watch(&room).await;
    let mut turns = owner.turns().await;
    watcher.snapshot().await;
    owner.close(&room).await.unwrap();
    watcher.until(|event| matches!(event, room_event::Event::RoomClosed(_)).then_some(())).await;
    assert_eq!(watcher.close_reason().await, CloseReason::RoomClosed);
    turns.until(|event| matches!(event, Event::RoomClosed(_)).then_some(())).await;
}

#[tokio::test]
async fn a_kick_or_ban_ends_the_players_streams() {
    let server = TestServer::open().await;
    let (owner, member, stranger) =
        (server.human("Owner").await, server.human("Member").await, server.human("Stranger").await);
    let room = owner.create(named("hers")).await.room_id;
    member.join(&room).await.unwrap();
    let (mut members, mut strangers) = (member.watch(&room).await, stranger.watch(&room).await);
    owner.kick(&room, &member.id, false).await.unwrap();
    assert_eq!(members.close_reason().await, CloseReason::Kicked);
    let before = owner.room(&room).await.seq - 2;
    // A kicked player is not banned and may read the missed events, including the kick.
    let mut back = member.watch_after(&room, before).await;
    back.event().await;
    owner.kick(&room, &stranger.id, true).await.unwrap();
    assert_eq!(strangers.close_reason().await, CloseReason::Kicked);
    let seen = back.until(|event| match event {
        room_event::Event::MemberLeft(left) if left.player_id == stranger.id => Some(left.reason()),
        _ => None,
    });
    assert_eq!(seen.await, v1::LeaveReason::Banned);
}

#[tokio::test]
async fn streams_of_non_members_end_when_the_room_is_for_members_only() {
    let server = TestServer::open().await;
    let owner = server.human("Owner").await;
    let settings = [
        ("watching", v1::RoomSettings { watching: v1::Watching::Members.into(), ..Default::default() }),
        ("visibility", private()),
    ];
    for (path, closed) in settings {
        let (member, stranger) = (server.human(&format!("M {path}")).await, server.human(&format!("S {path}")).await);
        let room = owner.create(named("open")).await.room_id;
        member.join(&room).await.unwrap();
        let (mut inside, mut outside) = (member.watch(&room).await, stranger.watch(&room).await);
        inside.snapshot().await;
        let seq = owner.update_settings(&room, path, closed).await.unwrap();
        assert_eq!(outside.close_reason().await, CloseReason::Kicked, "{path}");
        assert_eq!(inside.event().await.seq, seq, "a member gets every event");
        // A member who has left is treated like a non-member.
        member.leave(&room).await.unwrap();
        assert_eq!(inside.close_reason().await, CloseReason::Kicked, "{path}");
        assert!(stranger.try_watch(&room, Some(seq)).await.is_err());
    }
}

#[tokio::test]
async fn a_fetched_room_equals_the_pushed_snapshot() {
    let server = TestServer::open().await;
    let seated = server.two_player_game(v1::RoomSettings::default()).await;
    let eve = server.human("Eve").await;
    let mut watcher = eve.watch(&seated.room).await;
    let pushed = watcher.snapshot().await;
    // Only the running clock differs.
    let mut fetched = eve.room(&seated.room).await;
    fetched.game.as_mut().unwrap().clocks = pushed.game.as_ref().unwrap().clocks;
    assert_eq!(v1::Room { watchers: 1, ..fetched }, pushed);
    assert_eq!(eve.list_rooms().await[0].room_id, seated.room);
}

#[tokio::test]
async fn an_unread_stream_of_turns_is_closed_and_loses_no_turn() {
    let server = TestServer::limited(|limits| limits.request_burst = 100_000).await;
    let bot = server.with_small_window(&server.bot("Bot").await).await;
    let mut asleep = bot.turns().await;
    let settings = v1::RoomSettings { games: 1_000, ..named("series") };
    let room = bot.create_with(settings, ["me", "random"]).await.room_id;
    let mut watcher = bot.watch(&room).await;
    bot.start(&room).await.unwrap();
    // More notices than the window of the stream and the inbox hold together.
    let mut plies = 0;
    while plies < 600 {
        let game = match watcher.next().await.unwrap() {
            Message::Snapshot(room) => room.game,
            Message::Event(_) => bot.room(&room).await.game,
            other => panic!("unexpected {other:?}"),
        };
        let Some(game) = game.filter(|game| game.outcome.is_none()) else { continue };
        let position = game.position.unwrap();
        for square in &position.legal_moves {
            if bot.play(&game.game_id, game.ply, square).await.is_ok() {
                plies += 1;
                break;
            }
        }
    }
    let mut received = 0;
    let reason = loop {
        match asleep.next().await.expect("the stream ends with a reason") {
            Event::Closing(closing) => break closing.reason(),
            _ => received += 1,
        }
    };
    assert_eq!(reason, CloseReason::SlowConsumer);
    assert!(received < 2 * plies, "expected dropped notices, got {received}");
    // After reopening, every open turn is asked, and the last games are reported.
    let mut turns = bot.turns().await;
    turns.game_ended().await;
}
