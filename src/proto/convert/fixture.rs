//! Rooms for the tests of this folder: black is a person, white an AI.

use std::time::Duration;

use crate::{
    room::{
        AiSeat, Command, Creation, DisplayName, Event, Issuer, JoinCode, Occupant, PlayerId, PlayerKind, Policy,
        Profile, Room, RoomId, RoomName, Settings, Timestamp,
    },
    rules::ByColor,
};

pub(super) const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

pub(super) fn profile(number: u64, name: &str) -> Profile {
    Profile {
        id: PlayerId::from_random(number),
        name: DisplayName::parse(name).unwrap(),
        kind: PlayerKind::Human,
        engine_version: None,
    }
}

pub(super) fn owner() -> Profile {
    profile(1, "Ada")
}

pub(super) fn settings() -> Settings {
    Settings::named(RoomName::parse("Tea").unwrap())
}

pub(super) fn creation(settings: Settings) -> Creation {
    let ai = AiSeat { kind: "roxanne".into(), level: 1, seed: 7 };
    Creation {
        id: RoomId::from_random(5),
        code: JoinCode::from_random(6),
        owner: owner(),
        settings,
        policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(600), members: 8 },
        seats: ByColor::new(Occupant::Player(owner()), Occupant::Ai(ai)),
        request: None,
        meeting: None,
    }
}

pub(super) fn lobby(settings: Settings) -> Room {
    Room::new(creation(settings), NOW)
}

pub(super) fn playing(settings: Settings) -> Room {
    let mut room = lobby(settings);
    run(&mut room, NOW, Issuer::Player(owner().id), Command::Start(None));
    room
}

/// Decides and applies a command; returns each event with the room after it.
pub(super) fn run(room: &mut Room, now: Timestamp, actor: Issuer, command: Command) -> Vec<(Event, Room)> {
    let events = room.decide(now, actor, command).unwrap();
    let step = |event: Event| {
        room.apply(&event);
        (event, room.clone())
    };
    events.into_iter().map(step).collect()
}

/// Plays one of the legal moves.
pub(super) fn play(room: &mut Room, now: Timestamp, choice: usize) -> Vec<(Event, Room)> {
    let game = room.running().unwrap();
    let moves: Vec<_> = game.position.legal_moves().iter().collect();
    let square = moves[choice % moves.len()];
    let actor = match &room.seats()[game.position.turn()].occupant {
        Occupant::Player(profile) => Issuer::Player(profile.id),
        _ => Issuer::Server,
    };
    let command = Command::Play { game: game.number, ply: game.ply(), square, thought: None };
    run(room, now, actor, command)
}
