//! The laws of a room hold after any commands in any order.
#![no_main]

#[path = "../../tests/core/room/test_room.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod test_room;

use std::time::Duration;

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use reversi::{
    room::{
        Issuer, Command, Occupant, Offer, Opening, Phase, Profile, Room, SeatSetting, Settings, TimeControl, Timestamp,
        Visibility,
        stored::{decode_event, decode_room, encode_event, encode_room},
    },
    rules::{ByColor, Color, Square},
};
use test_room::{POLICY, World};

const PEOPLE: [&str; 6] = ["ada", "bob", "cy", "bot-d", "bot-e", "eve"];

/// Maximum number of steps; more only take longer.
const MOST_STEPS: usize = 200;

/// The latest time of a test. After it, times saturate, and deadlines are no longer later than now.
const FAR_FUTURE: Timestamp = Timestamp(1 << 62);

#[derive(Arbitrary, Debug)]
struct Plot {
    settings: Choices,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
struct Choices {
    per_move_ms: Option<u16>,
    total_s: Option<u8>,
    increment_ms: u16,
    pause_ms: u16,
    games: u8,
    random_plies: u8,
    flags: [bool; 5],
}

#[derive(Arbitrary, Debug)]
struct Step {
    wait: Wait,
    actor: u8,
    deed: Deed,
}

#[derive(Arbitrary, Debug)]
enum Wait {
    Nothing,
    Millis(u16),
    Deadline,
}

#[derive(Arbitrary, Debug)]
enum Deed {
    Join(u8),
    Leave,
    TakeSeat(bool),
    LeaveSeat,
    SwapSeats,
    Open(bool),
    Reserve(bool, u8),
    Ai(bool),
    Ready(bool),
    Kick(u8, bool),
    Transfer(u8),
    Configure(Choices),
    Start,
    Close,
    Chat,
    Move(u8),
    Stray(u8, u8, u8),
    Strike,
    Resign,
    Abort,
    Offer(bool),
    Answer(bool, bool),
    Presence(u8, bool),
    Tick,
    Credit(i64),
}

fuzz_target!(|plot: Plot| {
    let settings = settings(&plot.settings);
    if settings.check().is_err() {
        return;
    }
    let mut world = World::new(settings, ByColor::new(Occupant::Open, Occupant::Open), POLICY);
    for step in plot.steps.into_iter().take(MOST_STEPS) {
        world.now = match step.wait {
            Wait::Nothing => world.now,
            Wait::Millis(millis) => world.now.after(Duration::from_millis(millis.into())),
            Wait::Deadline => {
                let due = world.room.deadline().filter(|&due| due < FAR_FUTURE);
                due.unwrap_or(world.now).max(world.now)
            }
        };
        perform(&mut world, Issuer::Server, Command::Tick);
        assert!(world.room.deadline().is_none_or(|due| due > world.now), "still due");
        let actor = match step.actor % 8 {
            6 => Issuer::Admin,
            7 => Issuer::Server,
            who => Issuer::Player(person(who).id),
        };
        let command = command(&world, step.deed);
        perform(&mut world, actor, command);
    }
    assert_eq!(Room::replay(&world.history).as_ref(), Some(&world.room));
});

/// Decides, checks and applies a command. A refused command cannot change the room, since deciding only reads it.
fn perform(world: &mut World, actor: Issuer, command: Command) {
    let Ok(events) = world.room.decide(world.now, actor, command) else {
        return;
    };
    for event in events {
        assert_eq!(world.room.check_next(&event), Ok(()));
        assert_eq!(decode_event(&encode_event(&event)).as_ref(), Ok(&event));
        world.room.apply(&event);
        world.history.push(event);
    }
    assert_eq!(decode_room(&encode_room(&world.room)).as_ref(), Ok(&world.room));
    assert_eq!(world.room.deadline().is_none(), world.room.phase() == Phase::Closed);
    if let Some(game) = world.room.running() {
        assert!(!game.position.legal_moves().is_empty() && world.room.flag_falls().is_some());
    }
}

fn person(who: u8) -> Profile {
    test_room::profile(PEOPLE[usize::from(who) % PEOPLE.len()])
}

fn side(white: bool) -> Color {
    if white { Color::White } else { Color::Black }
}

fn offer(rematch: bool) -> Offer {
    if rematch { Offer::Rematch } else { Offer::Draw }
}

fn settings(choices: &Choices) -> Settings {
    let [private, password, swap_sides, auto_start, rated] = choices.flags;
    let millis = |millis: u16| Duration::from_millis(millis.into());
    Settings {
        visibility: if private { Visibility::Private } else { Visibility::Public },
        password: password.then(test_room::password),
        time: TimeControl {
            per_move: choices.per_move_ms.map(millis),
            total: choices.total_s.map(|seconds| Duration::from_secs(seconds.into())),
            increment: millis(choices.increment_ms),
        },
        ai_pause: millis(choices.pause_ms),
        games: choices.games.into(),
        swap_sides,
        opening: match choices.random_plies {
            0 => Opening::Standard,
            plies => Opening::Random { plies, seed: 5 },
        },
        auto_start,
        rated,
        ..test_room::usual()
    }
}

fn command(world: &World, deed: Deed) -> Command {
    let (game, ply) = world.room.game().map_or((1, 0), |game| (game.number, game.ply()));
    match deed {
        Deed::Join(who) => Command::Join(person(who), test_room::member_card()),
        Deed::Leave => Command::Leave,
        Deed::TakeSeat(white) => Command::TakeSeat(side(white)),
        Deed::LeaveSeat => Command::LeaveSeat,
        Deed::SwapSeats => Command::SwapSeats,
        Deed::Open(white) => Command::SetSeat(side(white), SeatSetting::Open),
        Deed::Reserve(white, who) => Command::SetSeat(side(white), SeatSetting::Reserved(person(who))),
        Deed::Ai(white) => Command::SetSeat(side(white), test_room::ai()),
        Deed::Ready(ready) => Command::SetReady(ready),
        Deed::Kick(who, ban) => Command::Kick { player: person(who).id, ban },
        Deed::Transfer(who) => Command::Transfer(person(who).id),
        Deed::Configure(choices) => Command::Configure(Box::new(settings(&choices))),
        Deed::Start => Command::Start,
        Deed::Close => Command::Close,
        Deed::Chat => test_room::chat("hello"),
        Deed::Move(choice) => {
            let moves: Vec<Square> =
                world.room.game().map(|game| game.position.legal_moves().iter().collect()).unwrap_or_default();
            let square = moves.get(usize::from(choice) % moves.len().max(1)).copied();
            Command::Play { game, ply, square: square.unwrap_or(Square::ALL[0]), thought: None }
        }
        Deed::Stray(game, ply, square) => {
            Command::Play { game: game.into(), ply: ply.into(), square: Square::ALL[usize::from(square % 64)], thought: None }
        }
        Deed::Strike => Command::Strike { game, ply },
        Deed::Resign => Command::Resign { game },
        Deed::Abort => Command::Abort { game },
        Deed::Offer(rematch) => Command::Offer(offer(rematch)),
        Deed::Answer(rematch, accept) => Command::Answer(offer(rematch), accept),
        Deed::Presence(who, present) => Command::SetPresence(person(who).id, present),
        Deed::Tick => Command::Tick,
        Deed::Credit(micros) => Command::Credit { micros },
    }
}
