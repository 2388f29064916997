//! A room and a complete game for the benchmarks.

use std::time::Duration;

use reversi::{
    room::{
        Command, Creation, DisplayName, Event, Fact, Issuer, JoinCode, Occupant, PlayerId, PlayerKind, Policy, Profile,
        Room, RoomId, RoomName, Seq, Settings, Timestamp,
    },
    rules::{ByColor, Color, Transcript},
};

/// The moves of the game.
const GAME: &str = "f5d6c3d3c4f4f6f3e6e7d7c5b6d8c6c7d2b5a5a6a7g5e3b4c8g6g4c2e8d1f7e2g3h4f1e1f2g1b1f8g8b3h3b2h5b7a3a4a1a2c1h2h1g2b8a8g7h8h7h6";

fn profile(number: u64, name: &str) -> Profile {
    Profile {
        id: PlayerId::from_random(number),
        name: DisplayName::parse(name).unwrap(),
        kind: PlayerKind::Bot,
        engine_version: None,
    }
}

/// The events of a room from its creation to the start of a game.
pub(crate) fn beginning() -> Vec<Event> {
    let (black, white) = (profile(1, "black"), profile(2, "white"));
    let creation = Creation {
        id: RoomId::from_random(3),
        code: JoinCode::from_random(4),
        owner: black.clone(),
        settings: Settings::named(RoomName::parse("bench").unwrap()),
        policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(3600), members: 64 },
        seats: ByColor::new(Occupant::Player(black.clone()), Occupant::Open),
        meeting: None,
        request: None,
    };
    let mut events = vec![Event { seq: Seq(1), at: Timestamp(0), fact: Fact::Created(Box::new(creation)) }];
    let mut room = Room::replay(&events).unwrap();
    for (player, command) in [
        (&white, Command::Join(white.clone(), Default::default())),
        (&white, Command::TakeSeat(Color::White)),
        (&white, Command::SetReady(true)),
        (&black, Command::Start(None)),
    ] {
        events.extend(execute(&mut room, player.id, command));
    }
    events
}

/// A room with a game that has just started.
pub(crate) fn playing() -> Room {
    Room::replay(&beginning()).unwrap()
}

/// Decides and applies a command. Returns its events.
pub(crate) fn execute(room: &mut Room, player: PlayerId, command: Command) -> Vec<Event> {
    let events = room.decide(Timestamp(0), Issuer::Player(player), command).unwrap();
    events.iter().for_each(|event| room.apply(event));
    events
}

/// The moves of the game.
pub(crate) fn game() -> Transcript {
    GAME.parse().unwrap()
}

/// Plays the game. Calls `each` with each event and the room after it.
pub(crate) fn play(room: &mut Room, game: &Transcript, mut each: impl FnMut(&Event, &Room)) {
    for &square in game.squares() {
        let current = room.running().unwrap();
        let mover = room.seats()[current.turn().unwrap()].occupant.player().unwrap();
        let play = Command::Play { game: 1, ply: current.ply(), square, thought: None };
        for event in room.decide(Timestamp(0), Issuer::Player(mover), play).unwrap() {
            room.apply(&event);
            each(&event, room);
        }
    }
}
