//! Samples of each version of the stored form, written when it was current, so that later servers can read them.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use reversi_engine::{
    match_statistics::Sprt,
    rules::{ByColor, Color},
};
use reversi_room::{
    AiSeat, ChatText, CloseReason, Command, Creation, DeclineReason, EndReason, Event, Fact, GameEnd, Invitation,
    InvitationEnd, JoinCode, LeaveReason, Occupant, Offer, Opening, Request, Room, RoomId, RoomName, SeatSetting, Seq,
    Settings, Thought, TimeControl, Timestamp, Visibility, Watching,
    stored::{StoredError, decode_event, decode_room, encode_event, encode_room},
};

use crate::fixtures::test_room::{self, TestRoom, chat, default_settings, id, password, profile, secs, square, total};

/// 2026-01-02 10:00:00.123456 UTC.
const AT: Timestamp = Timestamp(1_767_348_000_123_456);

/// A line of the sample: a name, a tab, and the bytes in hexadecimal.
fn line(name: &str, bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name}\t{digits}\n")
}

/// The newest version.
const NEWEST: u8 = 2;

fn sample_path(version: u8) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/stored-v{version}.txt"))
}

/// The bytes of each line of the checked-in sample of a version.
fn sample(version: u8) -> Vec<(String, Vec<u8>)> {
    let text = fs::read_to_string(sample_path(version)).expect("the sample");
    let read = |line: &str| {
        let (name, digits) = line.split_once('\t').expect("a name and bytes");
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal");
        (name.to_owned(), (0..digits.len()).step_by(2).map(byte).collect())
    };
    text.lines().map(read).collect()
}

/// Settings with all fields of version 1 set, with a resolution of nanoseconds where possible.
fn rich_settings() -> Settings {
    Settings {
        name: RoomName::parse("Sunday Cup №1").expect("a name"),
        visibility: Visibility::Private,
        watching: Watching::Members,
        password: Some(password()),
        time: TimeControl {
            per_move: Some(Duration::new(30, 5)),
            total: Some(secs(300)),
            increment: Duration::from_millis(1500),
        },
        ai_pause: Duration::from_millis(250),
        games: 10,
        swap_sides: false,
        opening: Opening::Moves("f5d6c3".parse().expect("moves")),
        auto_start: true,
        rated: true,
        ..default_settings()
    }
}

const REQUEST: Request = Request { key: u64::MAX - 1, digest: 1 << 40 };

fn creation() -> Creation {
    Creation {
        id: RoomId::from_random(7),
        code: JoinCode::from_random(test_room::CODE),
        owner: profile("ada"),
        settings: rich_settings(),
        policy: test_room::POLICY,
        seats: ByColor::new(
            Occupant::Player(profile("ada")),
            Occupant::Ai(AiSeat { kind: Arc::from("mcts-roxanne"), level: 3, seed: u64::MAX }),
        ),
        request: None,
        meeting: None,
    }
}

/// One of each kind of fact, and some variants.
fn facts() -> Vec<Fact> {
    let random = Settings { opening: Opening::Random { plies: 8, seed: 11 }, ..default_settings() };
    let spent = Duration::from_micros(2_345_678);
    vec![
        Fact::Created(Box::new(creation())),
        Fact::MemberJoined(profile("bot-d")),
        Fact::MemberLeft { player: id("bob"), reason: LeaveReason::Banned },
        Fact::PresenceChanged { player: id("bob"), present: true },
        Fact::OwnerChanged { owner: id("cy"), stands_in_for: None },
        Fact::SeatChanged { seat: Color::White, occupant: Occupant::Reserved(profile("bob")) },
        Fact::SeatChanged { seat: Color::Black, occupant: Occupant::Open },
        Fact::SeatsSwapped,
        Fact::ReadyChanged { seat: Color::Black, ready: true, request: None },
        Fact::SettingsChanged(Box::new(random)),
        Fact::GameStarted { number: 3, index: 2, opening: vec![square("f5"), square("d6")], request: None },
        Fact::Played { square: square("h8"), spent, thought: None },
        Fact::Passed,
        Fact::Struck,
        Fact::OfferMade { offer: Offer::Rematch, by: Color::White },
        Fact::OfferClosed { offer: Offer::Draw, accepted: false },
        Fact::SeriesEnded,
        Fact::GameEnded(GameEnd { winner: Some(Color::White), reason: EndReason::Timeout }),
        Fact::GameEnded(GameEnd { winner: None, reason: EndReason::Agreed }),
        Fact::ClockCredited { micros: -1_500_000 },
        Fact::ChatPosted { from: profile("ada"), text: ChatText::parse("good luck ☺").expect("a line") },
        Fact::Closed(CloseReason::Idle),
        Fact::Played { square: square("c4"), spent, thought: Some(Box::new(thought())) },
        Fact::SettingsChanged(Box::new(paired_settings())),
        Fact::ChatRemoved(AT),
        Fact::Created(Box::new(Creation { request: Some(REQUEST), ..creation() })),
        Fact::GameStarted { number: 1, index: 0, opening: vec![], request: Some(REQUEST) },
        Fact::ReadyChanged { seat: Color::Black, ready: true, request: Some(REQUEST) },
        Fact::OwnerChanged { owner: id("cy"), stands_in_for: Some(id("ada")) },
        Fact::CoOwnerChanged { player: id("cy"), named: true },
        Fact::SeatChanged { seat: Color::White, occupant: Occupant::Invited(invitation()) },
        Fact::InvitationEnded { seat: Color::White, guest: profile("bob"), end: InvitationEnd::Expired },
        Fact::InvitationEnded {
            seat: Color::White,
            guest: profile("bob"),
            end: InvitationEnd::Declined(DeclineReason::parse("no time").ok()),
        },
        Fact::OfferMade { offer: Offer::TakeBack, by: Color::Black },
        Fact::GameEnded(GameEnd { winner: None, reason: EndReason::TakenBack }),
        Fact::Created(Box::new(Creation {
            seats: ByColor::new("ada", "bob").map(|who| Occupant::Player(profile(who))),
            meeting: Some(test_room::MEETING),
            ..creation()
        })),
    ]
}

fn invitation() -> Invitation {
    Invitation { guest: profile("bob"), by: id("ada"), by_rating: Some(1_612), until: AT.after(Invitation::DEFAULT) }
}

/// A series in pairs, with a test.
fn paired_settings() -> Settings {
    let sprt = Sprt::new(-2.5, 10.0, 0.05, 0.1).ok();
    Settings { games: 4, opening: Opening::Balanced { seed: u64::MAX }, sprt, ..default_settings() }
}

fn thought() -> Thought {
    let line = ["c4", "e3", "f4"].map(square).into();
    Thought { evaluation: Some(-250), depth: 9, nodes: 1_000_000, line, cut_short: false }
}

/// The name of a fact in the sample. A new kind of fact does not compile until it has a name here.
fn name(fact: &Fact) -> &'static str {
    match fact {
        Fact::Created(_) => "created",
        Fact::MemberJoined(_) => "member joined",
        Fact::MemberLeft { .. } => "member left",
        Fact::PresenceChanged { .. } => "presence changed",
        Fact::CoOwnerChanged { .. } => "co-owner changed",
        Fact::OwnerChanged { .. } => "owner changed",
        Fact::SeatChanged { .. } => "seat changed",
        Fact::InvitationEnded { .. } => "invitation ended",
        Fact::SeatsSwapped => "seats swapped",
        Fact::ReadyChanged { .. } => "ready changed",
        Fact::SettingsChanged(_) => "settings changed",
        Fact::GameStarted { .. } => "game started",
        Fact::Played { .. } => "played",
        Fact::Passed => "passed",
        Fact::Struck => "struck",
        Fact::OfferMade { .. } => "offer made",
        Fact::OfferClosed { .. } => "offer closed",
        Fact::SeriesEnded => "series ended",
        Fact::GameEnded(_) => "game ended",
        Fact::ClockCredited { .. } => "clock credited",
        Fact::ChatPosted { .. } => "chat posted",
        Fact::ChatRemoved(_) => "chat removed",
        Fact::Closed(_) => "closed",
    }
}

fn events() -> Vec<(String, Event)> {
    let event = |(index, fact): (u64, Fact)| {
        let seq = if matches!(fact, Fact::Created(_)) { Seq(1) } else { Seq(1000 + index) };
        (name(&fact).to_owned(), Event { seq, at: AT.after(Duration::from_millis(index)), fact })
    };
    (0..).zip(facts()).map(event).collect()
}

/// Rooms in every phase.
fn rooms() -> Vec<(String, Room)> {
    let mut lobby = TestRoom::with_watchers();
    lobby.ok("ada", chat("who plays?"));
    lobby.ok("ada", test_room::ban("eve"));
    lobby.ok("server", Command::SetPresence(id("wim"), false));

    let settings = Settings { time: total(secs(300), secs(2)), games: 3, ..default_settings() };
    let mut playing = TestRoom::two_players(settings.clone()).join("cy");
    playing.wait(secs(10));
    playing.play("d3c3c4");
    playing.ok("ada", Command::Offer(Offer::Draw, None));

    let mut awaiting = TestRoom::two_players(settings);
    awaiting.play_out();

    let mut closed = TestRoom::against_ai(Settings { ai_pause: secs(1), ..default_settings() });
    closed.ok("ada", Command::Leave);

    let named = [("lobby", lobby), ("playing", playing), ("awaiting a game", awaiting), ("closed room", closed)];
    let made = Room::new(creation(), AT);

    let mut thoughtful = TestRoom::against_ai(default_settings());
    thoughtful.play("d3");
    let game = thoughtful.room.running().map(|game| (game.number, game.ply(), game.position.legal_moves()));
    let (game, ply, legal) = game.expect("a game");
    let square = legal.into_iter().next().expect("a legal move");
    thoughtful.ok("server", Command::Play { game, ply, square, thought: Some(Box::new(thought())) });
    let mut scored = TestRoom::two_players(paired_settings());
    for number in 1..=3 {
        scored.ok(if number < 3 { "bob" } else { "ada" }, Command::Resign { game: number });
        scored.wait(Room::PEOPLE_GAP);
    }
    let mut stood_in = TestRoom::two_players(default_settings()).join("cy").join("wim");
    stood_in.ok("ada", Command::SetCoOwner(id("cy"), true));
    stood_in.ok("ada", Command::Offer(Offer::Draw, Some(1)));
    stood_in.play("d3c3");
    stood_in.ok("ada", Command::Leave);
    let mut invited = TestRoom::lobby();
    let invite = SeatSetting::Invited { guest: profile("bob"), lasts: secs(30), by_rating: None };
    invited.ok("ada", Command::SetSeat(Color::White, invite));
    let mut asked_back = TestRoom::two_players(default_settings());
    asked_back.play("d3c3");
    asked_back.ok("ada", Command::Offer(Offer::TakeBack, None));
    asked_back.ok("bob", Command::Answer(Offer::TakeBack, None, false));
    asked_back.play("c4");
    asked_back.ok("bob", Command::Offer(Offer::TakeBack, None));
    let worlds = named.into_iter().map(|(name, test)| (name.to_owned(), test.room));
    worlds
        .chain([
            ("made".to_owned(), made),
            ("thoughtful".to_owned(), thoughtful.room),
            ("scored".to_owned(), scored.room),
            ("stood in".to_owned(), stood_in.room),
            ("invited".to_owned(), invited.room),
            ("asked back".to_owned(), asked_back.room),
        ])
        .collect()
}

#[test]
fn samples_of_every_version_are_readable() {
    let (events, rooms) = (events(), rooms());
    // Values that only later versions have are at the end.
    for (version, of_events, of_rooms) in [(1, 22, 5), (NEWEST, events.len(), rooms.len())] {
        let sample = sample(version);
        assert_eq!(sample.len(), of_events + of_rooms);
        let (stored_events, stored_rooms) = sample.split_at(of_events);
        for ((named, bytes), (name, event)) in stored_events.iter().zip(&events) {
            assert_eq!(named, name);
            assert_eq!(decode_event(bytes).as_ref(), Ok(event), "{name}");
        }
        for ((named, bytes), (name, room)) in stored_rooms.iter().zip(&rooms) {
            assert_eq!(named, name);
            let read = decode_room(bytes);
            if version < NEWEST && name == "closed room" {
                // Its player has left the seat, and version 1 has the players who sit now.
                let player = read.as_ref().ok().and_then(Room::game).map(|game| &game.players.black);
                assert_eq!(player, Some(&Occupant::Open));
            } else {
                assert_eq!(read.as_ref(), Ok(room), "{name}");
            }
        }
    }
}

#[test]
fn the_newest_version_is_written_like_its_sample() {
    let events = events().into_iter().map(|(name, event)| (name, encode_event(&event)));
    let rooms = rooms().into_iter().map(|(name, room)| (name, encode_room(&room)));
    for ((name, written), (_, stored)) in events.chain(rooms).zip(sample(NEWEST)) {
        assert_eq!(line(&name, &written), line(&name, &stored));
    }
}

/// Without the checksum, nearly half of these changes would decode as another value.
#[test]
fn every_flipped_bit_is_detected() {
    for (name, bytes) in sample(NEWEST) {
        for bit in 8..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let read = (decode_event(&bytes).err(), decode_room(&bytes).err());
            assert_eq!(read, (Some(StoredError::BadChecksum), Some(StoredError::BadChecksum)), "{name}, bit {bit}");
        }
    }
}

/// Run by hand, and only to add lines: `cargo test -p reversi-room stored_samples -- --ignored`. If it changes an
/// existing line, stored data of that form can no longer be read; then increase `VERSION`.
#[test]
#[ignore = "writes the sample that the other tests read"]
fn write_the_sample() {
    let events = events().into_iter().map(|(name, event)| line(&name, &encode_event(&event)));
    let rooms = rooms().into_iter().map(|(name, room)| line(&name, &encode_room(&room)));
    let text: String = events.chain(rooms).collect();
    fs::write(sample_path(NEWEST), text).expect("written");
}

#[test]
fn bytes_of_a_newer_server_are_reported_as_newer() {
    let (_, mut bytes) = sample(NEWEST).swap_remove(1);
    bytes[0] = NEWEST + 1;
    assert_eq!(decode_event(&bytes), Err(StoredError::Newer(NEWEST + 1)));
    assert_eq!(decode_event(&[NEWEST, 0]), Err(StoredError::BadChecksum));
    assert_eq!(decode_room(&[255, 0]), Err(StoredError::Newer(255)));
    assert_eq!(decode_room(&[0]), Err(StoredError::Malformed("version")));
    assert_eq!(decode_event(&[]), Err(StoredError::Malformed("version")));
}

/// Found by fuzzing: the end of such a game was rejected as one that no room decides.
#[test]
fn a_room_stored_before_the_end_of_a_full_board_can_continue() {
    let mut test = TestRoom::two_players(default_settings());
    test.play_out();
    let (last, before) = test.history.split_last().expect("a history");
    assert!(matches!(last.fact, Fact::GameEnded(_)));
    let stored = Room::replay(before).map(|room| encode_room(&room)).expect("a creation");
    let mut room = decode_room(&stored).expect("what was encoded");
    for event in room.decide(test.now, test_room::actor("ada"), Command::Leave).expect("ada may leave") {
        assert_eq!(room.check_next(&event), Ok(()), "{event:?}");
        room.apply(&event);
    }
    assert_eq!(decode_room(&encode_room(&room)), Ok(room));
}

#[test]
fn events_that_no_room_decides_do_not_fit() {
    let test = TestRoom::two_players(default_settings());
    let room = &test.room;
    let fits = |fact: Fact| room.check_next(&Event { seq: room.seq().next(), at: test.now, fact });
    let misfit = Err(StoredError::OutOfOrder(room.seq().next()));
    let played = |name| Fact::Played { square: square(name), spent: Duration::ZERO, thought: None };
    assert_eq!(fits(played("d3")), Ok(()));
    assert_eq!(fits(Fact::ClockCredited { micros: 1 }), Ok(()));
    for fact in [
        played("a1"),
        Fact::Passed,
        Fact::GameStarted { number: 2, index: 0, opening: vec![], request: None },
        Fact::GameEnded(GameEnd { winner: None, reason: EndReason::Discs }),
        Fact::Created(Box::new(creation())),
        Fact::MemberJoined(profile("ada")),
        Fact::OwnerChanged { owner: id("eve"), stands_in_for: None },
        Fact::Closed(CloseReason::Closed),
        Fact::SeatsSwapped,
    ] {
        assert_eq!(fits(fact.clone()), misfit, "{fact:?}");
    }
    let late = Event { seq: room.seq().plus(2), at: test.now, fact: Fact::Struck };
    assert_eq!(room.check_next(&late), Err(StoredError::OutOfOrder(late.seq)));

    let lobby = TestRoom::seated(default_settings()).room;
    let start = |opening: &[&str]| {
        let opening = opening.iter().map(|name| square(name)).collect();
        lobby.check_next(&Event {
            seq: lobby.seq().next(),
            at: AT,
            fact: Fact::GameStarted { number: 1, index: 0, opening, request: None },
        })
    };
    assert_eq!(start(&["f5", "d6"]), Ok(()));
    assert_eq!(start(&["f5", "f5"]), Err(StoredError::OutOfOrder(lobby.seq().next())));
}
