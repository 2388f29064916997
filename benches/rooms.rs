//! The speed of a room: `cargo bench --bench rooms`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up is to stop")]
use divan::{Bencher, counter::ItemsCount};
use reversi::{
    grpc,
    room::{
        Actor, Command, Creation, DisplayName, JoinCode, Occupant, PlayerId, PlayerKind, Policy, Profile, Room, RoomId,
        RoomName, Settings, Timestamp,
    },
    rules::{ByColor, Transcript},
};

fn main() {
    divan::main();
}

/// A whole game of 60 moves.
const GAME: &str = "f5d6c3d3c4f4f6f3e6e7d7c5b6d8c6c7d2b5a5a6a7g5e3b4c8g6g4c2e8d1f7e2g3h4f1e1f2g1b1f8g8b3h3b2h5b7a3a4a1a2c1h2h1g2b8a8g7h8h7h6";

fn profile(number: u64, name: &str) -> Profile {
    Profile { id: PlayerId::from_random(number), name: DisplayName::parse(name).unwrap(), kind: PlayerKind::Bot }
}

fn playing() -> Room {
    let (black, white) = (profile(1, "black"), profile(2, "white"));
    let creation = Creation {
        id: RoomId::from_random(3),
        code: JoinCode::from_random(4),
        owner: black.clone(),
        settings: Settings::named(RoomName::parse("bench").unwrap()),
        policy: Policy {
            grace: std::time::Duration::from_secs(60),
            idle_close: std::time::Duration::from_secs(3600),
            members: 64,
        },
        seats: ByColor::new(Occupant::Player(black.clone()), Occupant::Open),
    };
    let mut room = Room::new(creation, Timestamp(0));
    let join = Command::Join(white.clone(), Default::default());
    for (player, command) in [
        (&white, join),
        (&white, Command::TakeSeat(reversi::rules::Color::White)),
        (&white, Command::SetReady(true)),
        (&black, Command::Start),
    ] {
        obey(&mut room, player.id, command);
    }
    room
}

fn obey(room: &mut Room, player: PlayerId, command: Command) {
    let events = room.decide(Timestamp(0), Actor::Player(player), command).unwrap();
    events.iter().for_each(|event| room.apply(event));
}

/// One move of a game in progress, judged and made true.
#[divan::bench]
fn turn(bencher: Bencher) {
    let (start, first) = (playing(), "f5".parse().unwrap());
    let mover = PlayerId::from_random(1);
    bencher.with_inputs(|| start.clone()).bench_local_values(|mut room| {
        obey(&mut room, mover, Command::Play { game: 1, ply: 0, square: first, thought: None });
        room
    });
}

/// A whole game, move by move, and the same with every event encoded for watchers.
#[divan::bench(args = [false, true])]
fn game(bencher: Bencher, watched: bool) {
    let start = playing();
    let game: Transcript = GAME.parse().unwrap();
    let moves = game.squares().len();
    bencher.counter(ItemsCount::new(moves)).with_inputs(|| start.clone()).bench_local_values(|mut room| {
        for &square in game.squares() {
            let current = room.running().unwrap();
            let side = current.turn().unwrap();
            let mover = room.seats()[side].occupant.player().unwrap();
            let play = Command::Play { game: 1, ply: current.ply(), square, thought: None };
            for event in room.decide(Timestamp(0), Actor::Player(mover), play).unwrap() {
                room.apply(&event);
                if watched {
                    divan::black_box(grpc::encode(&event, &room));
                }
            }
        }
        room
    });
}
