//! Property for clients: assigning the fields of events gives the same room as a fresh snapshot, after every event.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use prost::Message as _;
use reversi::{
    client,
    proto::{convert, v1},
    room::{Command, Event, Fact, Room, Timestamp, Viewer},
};

use crate::fixtures::{
    random_history::{RandomHistory, for_random_histories},
    script::scripts,
    test_room::{TestRoom, chat, secs},
};

/// The input of the page's test of `apply` (`web/src/room/apply.test.ts`): one `WatchRoomResponse` a line, in
/// hexadecimal. A snapshot after an event is the expected room; a snapshot after a snapshot starts the next history.
const HISTORIES: &str = "web/src/room/histories.txt";
/// Minimum number of occurrences of each kind of event in the recorded histories.
const EACH: usize = 2;
/// Maximum number of events in a recorded history.
const MAX_EVENTS: usize = 120;

/// An event as sent to clients, and the room after it.
struct Step {
    event: v1::RoomEvent,
    after: Room,
    /// When clocks were last sent. In a snapshot clocks run; applying events changes them only with the next event.
    clocks_at: Timestamp,
}

impl Step {
    /// The room as it is sent. None between a move and the pass or end that it causes: these are one change.
    fn snapshot(&self) -> Option<v1::Room> {
        let complete = self.after.running().is_none_or(|game| !game.position.legal_moves().is_empty());
        complete.then(|| snapshot(&self.after, self.clocks_at))
    }
}

fn snapshot(room: &Room, at: Timestamp) -> v1::Room {
    convert::room(room.view(Viewer::Public), at, 0)
}

/// The room after its creation, and all later events.
fn steps(history: &[Event]) -> (v1::Room, Vec<Step>) {
    let mut room = Room::replay(&history[..1]).expect("a creation");
    let mut clocks_at = history[0].at;
    let first = snapshot(&room, clocks_at);
    let steps = history[1..].iter().map(|event| {
        room.apply(event);
        if let Fact::GameStarted { .. } | Fact::Played { .. } | Fact::Passed | Fact::ClockCredited { .. } = event.fact {
            clocks_at = event.at;
        }
        Step { event: convert::room_event(event, &room), after: room.clone(), clocks_at }
    });
    (first, steps.collect())
}

#[test]
fn applying_events_gives_the_same_room_as_a_fresh_snapshot() {
    for_random_histories(|random| {
        let (first, steps) = steps(&random.test.history);
        let mut followed = client::Room::try_from(first).expect("a snapshot");
        for step in steps {
            let event = client::RoomEvent::try_from(step.event.clone()).expect("an event");
            followed.apply(&event).expect("the next event");
            if let Some(fresh) = step.snapshot() {
                let fresh = client::Room::try_from(fresh).expect("a snapshot");
                prop_assert_eq!(&followed, &fresh, "after {:?}", step.event);
            }
        }
        Ok(())
    });
}

#[test]
fn the_recorded_histories_are_what_this_server_sends() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(HISTORIES);
    let recorded = recorded();
    if std::env::var_os("REVERSI_RECORD").is_some() {
        fs::write(&path, &recorded).expect("the file can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == recorded, "{HISTORIES} is not what this server sends: run this test with REVERSI_RECORD=1");
}

/// Short histories in which all kinds of events occur.
fn recorded() -> String {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(8), ..Config::default() });
    let mut lines = String::new();
    let mut occurred = BTreeMap::new();
    for _ in 0..2_000 {
        let script = scripts().new_tree(&mut runner).expect("a script").current();
        let history = RandomHistory::run(script).test.history;
        let kind = |event: &Event| format!("{:?}", std::mem::discriminant(&event.fact));
        let mut kinds: Vec<_> = history[1..].iter().map(kind).collect();
        let chat_lines = history.iter().filter(|event| matches!(event.fact, Fact::ChatPosted { .. })).count();
        kinds.extend((chat_lines > Room::CHAT_LINES).then(|| "a chat line that replaces another".to_owned()));
        let mut after_a_game = history.iter().skip_while(|event| !matches!(event.fact, Fact::GameEnded(_)));
        let seat_changed = after_a_game.any(|event| matches!(event.fact, Fact::SeatChanged { .. }));
        kinds.extend(seat_changed.then(|| "a seat that changes after a game".to_owned()));
        let is_new = kinds.iter().any(|kind| occurred.get(kind).copied().unwrap_or(0) < EACH);
        if history.len() > MAX_EVENTS || !is_new {
            continue;
        }
        kinds.into_iter().for_each(|kind| *occurred.entry(kind).or_default() += 1);
        record(&history, &mut lines);
    }
    lines
}

fn record(history: &[Event], lines: &mut String) {
    use v1::watch_room_response::Message;
    let (first, steps) = steps(history);
    let mut line = |message| {
        for byte in (v1::WatchRoomResponse { message: Some(message) }).encode_to_vec() {
            write!(lines, "{byte:02x}").expect("writing to a string succeeds");
        }
        lines.push('\n');
    };
    line(Message::Snapshot(first));
    for step in steps {
        let snapshot = step.snapshot();
        line(Message::Event(step.event));
        snapshot.into_iter().for_each(|room| line(Message::Snapshot(room)));
    }
}

#[test]
fn a_removed_line_of_chat_is_gone_from_the_room_and_from_its_followers() {
    let mut test = TestRoom::with_watchers();
    for text in ["hello", "spam", "well"] {
        test.wait(secs(1));
        test.ok("ada", chat(text));
    }
    let posted = test.room.chat().nth(1).expect("a line").at;
    assert_eq!(test.ok("admin", Command::RemoveChat(posted)), [Fact::ChatRemoved(posted)]);
    assert_eq!(test.ok("admin", Command::RemoveChat(posted)), []);
    let (first, steps) = steps(&test.history);
    let mut followed = client::Room::try_from(first).expect("a snapshot");
    for step in steps {
        followed.apply(&step.event.try_into().expect("an event")).expect("the next event");
    }
    let left: Vec<_> = followed.chat.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(left, ["hello", "well"]);
    assert_eq!(test.room.chat().map(|line| line.text.to_string()).collect::<Vec<_>>(), left);
}
