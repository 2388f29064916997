//! The journal of open rooms.

use std::cell::RefCell;

use proptest::test_runner::{Config, RngSeed, TestRunner};
use reversi_engine::rules::Color;
use reversi_room::{Command, Event, Fact, GameRecord, Participant, Phase, Request, Room, RoomId, Seq, Timestamp};
use reversi_store::{AppendError, Contestant, DoneRequest, GameFilter, MemoryStore, REQUEST_LIFETIME, Store};

use crate::{
    at, count, creation_of, drive,
    fixtures::{
        random_history::RandomHistory,
        script::{PLAYERS, scripts},
        test_room::{TestRoom, chat, default_settings, id},
    },
    folder, load, moved, on_each, on_each_place, open, open_rooms, open_with_log, room_id, write,
};

/// Number of random histories on each store: few, since each step waits for the disk.
const HISTORIES: u32 = 40;

on_each!(an_append_needs_the_expected_number, async |store| {
    let journal = &*store.journal;
    let test = TestRoom::two_players(default_settings());
    let (room, history) = (room_id(3), moved(test.history, room_id(3)));
    assert_eq!(load(store, room).await, None);
    assert_eq!(write(journal, room, Seq(1), &history[1..2]).await, Err(AppendError::Conflict(Seq(0))));
    assert!(matches!(write(journal, room, Seq(0), &history[1..2]).await, Err(AppendError::Unavailable(_))));
    assert_eq!(load(store, room).await, None, "a refused append leaves nothing");
    assert_eq!(write(journal, room, Seq(0), &history[..2]).await, Ok(()));
    for expected in [Seq(0), Seq(1), Seq(3)] {
        let events = if expected == Seq(0) { &history[..1] } else { &history[2..3] };
        assert_eq!(write(journal, room, expected, events).await, Err(AppendError::Conflict(Seq(2))));
    }
    assert_eq!(write(journal, room, Seq(2), &history[2..]).await, Ok(()));
    let kept = journal.load(room).await.unwrap().unwrap();
    let tail = &history[history.len() - kept.events.len()..];
    assert_eq!((kept.events.as_slice(), kept.base.id()), (tail, room));
    assert_eq!(Some(kept.latest()), Room::replay(&history));
});

on_each!(open_rooms_are_paged_and_removed_when_closed, async |store| {
    let journal = &*store.journal;
    for number in [5, 1, 9, 3, 7] {
        write(journal, room_id(number), Seq(0), &creation_of(room_id(number))).await.unwrap();
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = journal.open_rooms(after, 2).await.unwrap();
        assert!(page.len() <= 2);
        seen.extend(page.iter().map(Room::id));
        match page.last() {
            Some(last) => after = Some(last.id()),
            None => break,
        }
    }
    assert_eq!(seen, [1, 3, 5, 7, 9].map(room_id));
    assert_eq!(journal.open_rooms(Some(room_id(4)), 1).await.unwrap()[0].id(), room_id(5));

    let mut test = TestRoom::lobby();
    test.ok("ada", Command::Close);
    let history = moved(test.history, room_id(3));
    write(journal, room_id(3), Seq(1), &history[1..]).await.unwrap();
    assert_eq!(open_rooms(store).await, [1, 5, 7, 9].map(room_id));
    assert_eq!(load(store, room_id(3)).await, None);
    let late = write(journal, room_id(3), Seq(2), &history[1..]).await;
    assert_eq!(late, Err(AppendError::Conflict(Seq(0))), "a closed room has no journal");
});

/// The creation of a room by a request with the key 1, and this digest.
fn requested(room: RoomId, at: Timestamp, digest: u64) -> Vec<Event> {
    let mut events = creation_of(room);
    let Fact::Created(creation) = &mut events[0].fact else { panic!("a history begins with a creation") };
    creation.request = Some(Request { key: 1, digest });
    events[0].at = at;
    events
}

on_each!(what_a_request_did_is_known_for_a_day_also_after_its_room_has_closed, async |store| {
    let journal = &*store.journal;
    let (first, second, next_day) = (room_id(1), room_id(2), at(5).after(REQUEST_LIFETIME));
    let known = async |now| journal.done_request(1, now).await.unwrap();
    assert_eq!(known(at(5)).await, None);
    assert_eq!(write(journal, first, Seq(1), &requested(first, at(5), 8)).await, Err(AppendError::Conflict(Seq(0))));
    assert_eq!(known(at(5)).await, None, "nothing was written");
    write(journal, first, Seq(0), &requested(first, at(5), u64::MAX)).await.unwrap();
    let done = DoneRequest { digest: u64::MAX, room: first, seq: Seq(1), game: 0, at: at(5) };
    let mut test = TestRoom::lobby();
    test.ok("ada", Command::Close);
    write(journal, first, Seq(1), &moved(test.history, first)[1..]).await.unwrap();
    assert_eq!([known(at(5)).await, known(next_day.before(REQUEST_LIFETIME / 2)).await], [Some(done); 2]);
    assert_eq!(journal.done_request(2, at(5)).await.unwrap(), None, "another request");
    assert_eq!(write(journal, second, Seq(0), &requested(second, at(6), 8)).await, Err(AppendError::Repeated));
    assert_eq!((load(store, second).await, known(at(6)).await), (None, Some(done)));
    assert_eq!(known(next_day).await, None);
    write(journal, second, Seq(0), &requested(second, next_day, 8)).await.unwrap();
    assert_eq!(known(next_day).await, Some(DoneRequest { digest: 8, room: second, at: next_day, ..done }));
});

on_each!(a_started_game_is_known_by_its_request, async |store| {
    let journal = &*store.journal;
    let (room, request) = (room_id(3), Request { key: u64::MAX, digest: 0 });
    let mut history = moved(TestRoom::two_players(default_settings()).history, room);
    let start = history.iter().position(|event| matches!(event.fact, Fact::GameStarted { .. })).unwrap();
    let Fact::GameStarted { request: by, .. } = &mut history[start].fact else { panic!("the start of a game") };
    *by = Some(request);
    write(journal, room, Seq(0), &history).await.unwrap();
    let (game, at) = (1, history[start].at);
    let last = history.last().unwrap().seq;
    assert_eq!(
        journal.done_request(request.key, at).await.unwrap(),
        Some(DoneRequest { digest: 0, room, seq: last, game, at })
    );
});

on_each_place!(what_a_request_did_is_known_after_a_restart, async |place| {
    let (room, store) = (room_id(1), place.open().await);
    write(&*store.journal, room, Seq(0), &requested(room, at(5), 7)).await.unwrap();
    drop(store);
    let store = place.open().await;
    let done = DoneRequest { digest: 7, room, seq: Seq(1), game: 0, at: at(5) };
    assert_eq!(store.journal.done_request(1, at(5)).await.unwrap(), Some(done));
});

on_each!(the_last_alive_time_is_kept, async |store| {
    assert_eq!(store.journal.last_alive().await.unwrap(), None);
    for seconds in [10, 20, 15] {
        store.journal.mark_alive(at(seconds)).await.unwrap();
        assert_eq!(store.journal.last_alive().await.unwrap(), Some(at(seconds)));
    }
});

/// A room with many events does not grow, and loads as before.
#[tokio::test]
async fn a_long_room_keeps_its_latest_events_only() {
    let folder = folder();
    let store = open_with_log(&folder, 0);
    let mut test = TestRoom::two_players(default_settings());
    for line in 0..3_000 {
        test.ok("ada", chat(&format!("line {line}")));
    }
    let (room, _) = drive(&store, &test.history, 50).await;
    assert_eq!(load(&store, room.id()).await.as_ref(), Some(&room));
    store.journal.mark_alive(at(1)).await.unwrap();
    let kept = store.journal.load(room.id()).await.unwrap().unwrap().events.len();
    assert!((256..=2 * 256 + 50).contains(&kept), "{kept} events");
    let rows = count(&folder, "runs");
    assert!((256 / 50..=(2 * 256) / 50 + 1).contains(&rows), "{rows} rows");
    assert_eq!(count(&folder, "log"), 0, "the log is flushed");
    drop(store);
    assert_eq!(load(&open(&folder), room.id()).await, Some(room));
}

// All stores keep the same data of random histories, for every viewer.
on_each_place!(all_stores_keep_the_same_random_histories, async |place| {
    let (kept, memory) = (place.open().await, Store::of(MemoryStore::default()));
    for (number, history) in (0..).zip(random_histories()) {
        let room = room_id(number);
        let history = moved(history, room);
        let step = 1 + history.len() % 20;
        let (live, _) = drive(&kept, &history, step).await;
        assert_eq!(drive(&memory, &history, step).await.0, live);
        let open = (live.phase() != Phase::Closed).then_some(live);
        assert_eq!(load(&kept, room).await, open);
        assert_eq!(load(&memory, room).await, open);
    }
    check_equal(&kept, &memory).await;
    drop(kept);
    check_equal(&place.open().await, &memory).await;
});

/// The same ones each time.
fn random_histories() -> Vec<Vec<Event>> {
    let config =
        Config { failure_persistence: None, cases: HISTORIES, rng_seed: RngSeed::Fixed(3), ..Config::default() };
    let histories = RefCell::new(Vec::new());
    let collect = |script| {
        histories.borrow_mut().push(RandomHistory::run(script).test.history);
        Ok(())
    };
    TestRunner::new(config).run(&scripts(), collect).unwrap_or_else(|error| panic!("{error}"));
    histories.into_inner()
}

async fn check_equal(one: &Store, other: &Store) {
    assert_eq!(open_rooms(one).await, open_rooms(other).await);
    for viewer in PLAYERS {
        for player in [None, Some(id("ada")), Some(id("bot-d"))] {
            let filter = GameFilter { player, ..GameFilter::visible_to(id(viewer)) };
            let (games, others) = (all_games(one, filter).await, all_games(other, filter).await);
            assert_eq!(games, others);
        }
        let who = Contestant::Player(id(viewer));
        let player_stats = one.archive.player_stats(who.clone()).await.unwrap();
        assert_eq!(player_stats, other.archive.player_stats(who).await.unwrap());
    }
    let roxanne: Contestant = "roxanne:1".parse().unwrap();
    let player_stats = one.archive.player_stats(roxanne.clone()).await.unwrap();
    assert!(player_stats.total().played() > 0, "the histories had games");
    assert_eq!(player_stats, other.archive.player_stats(roxanne).await.unwrap());
}

/// In pages of three; without the seeds of AIs, which a file does not keep.
async fn all_games(store: &Store, filter: GameFilter) -> Vec<GameRecord> {
    let (mut games, mut after) = (Vec::new(), None);
    loop {
        let page = store.archive.games(filter, after, 3).await.unwrap();
        games.extend(page.games.iter().map(|game| {
            let mut game = GameRecord::clone(game);
            for side in Color::ALL {
                if let Participant::Ai(ai) = &mut game.players[side] {
                    ai.seed = 0;
                }
            }
            game
        }));
        if page.next.is_none() {
            return games;
        }
        after = page.next;
    }
}
