//! The properties of a room hold after any commands in any order.
#![no_main]

#[path = "../../crates/reversi-room/tests/room/fixtures/test_room.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod test_room;

use std::time::Duration;

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use reversi_engine::rules::{ByColor, Color, Square};
use reversi_room::{
    Command, Issuer, Occupant, Offer, Opening, Phase, Profile, Room, SeatSetting, Settings, TimeControl, Timestamp,
    Visibility,
    stored::{decode_event, decode_room, encode_event, encode_room},
};
use test_room::{POLICY, TestRoom};

const PLAYERS: [&str; 6] = ["ada", "bob", "cy", "bot-d", "bot-e", "eve"];

/// Maximum number of steps; more only take longer.
const MAX_STEPS: usize = 200;

/// The latest time of a test. After it, times saturate, and deadlines are no longer later than now.
const FAR_FUTURE: Timestamp = Timestamp(1 << 62);

#[derive(Arbitrary, Debug)]
struct Script {
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
    action: Action,
}

#[derive(Arbitrary, Debug)]
enum Wait {
    Nothing,
    Millis(u16),
    Deadline,
}

#[derive(Arbitrary, Debug)]
enum Action {
    Join(u8),
    Leave,
    TakeSeat(bool),
    LeaveSeat,
    SwapSeats,
    Open(bool),
    Reserve(bool, u8),
    Invite(bool, u8, u8),
    Decline,
    Ai(bool),
    Ready(bool),
    Kick(u8, bool),
    Transfer(u8),
    Configure(Choices),
    Start,
    Close,
    Chat,
    Move(u8),
    NearbyMove(u8, u8, u8),
    Strike,
    Resign,
    Abort,
    Offer(bool),
    Answer(bool, bool),
    Presence(u8, bool),
    Tick,
    Credit(i64),
}

fuzz_target!(|script: Script| {
    let settings = settings(&script.settings);
    if settings.check_new().is_err() {
        return;
    }
    let mut test = TestRoom::new(settings, ByColor::new(Occupant::Open, Occupant::Open), POLICY);
    for step in script.steps.into_iter().take(MAX_STEPS) {
        test.now = match step.wait {
            Wait::Nothing => test.now,
            Wait::Millis(millis) => test.now.after(Duration::from_millis(millis.into())),
            Wait::Deadline => {
                let due = test.room.deadline().filter(|&due| due < FAR_FUTURE);
                due.unwrap_or(test.now).max(test.now)
            }
        };
        perform(&mut test, Issuer::Server, Command::Tick);
        assert!(test.room.deadline().is_none_or(|due| due > test.now), "still due");
        let actor = match step.actor % 8 {
            6 => Issuer::Admin,
            7 => Issuer::Server,
            who => Issuer::Player(profile(who).id),
        };
        let command = command(&test, step.action);
        perform(&mut test, actor, command);
    }
    assert_eq!(Room::replay(&test.history).as_ref(), Some(&test.room));
});

/// Decides, checks and applies a command. A refused command cannot change the room, since deciding only reads it.
fn perform(test: &mut TestRoom, actor: Issuer, command: Command) {
    let Ok(events) = test.room.decide(test.now, actor, command) else {
        return;
    };
    for event in events {
        assert_eq!(test.room.check_next(&event), Ok(()));
        assert_eq!(decode_event(&encode_event(&event)).as_ref(), Ok(&event));
        test.room.apply(&event);
        test.history.push(event);
    }
    assert_eq!(decode_room(&encode_room(&test.room)).as_ref(), Ok(&test.room));
    assert_eq!(test.room.deadline().is_none(), test.room.phase() == Phase::Closed);
    if let Some(game) = test.room.running() {
        assert!(!game.position.legal_moves().is_empty() && test.room.flag_falls().is_some());
    }
}

fn profile(who: u8) -> Profile {
    test_room::profile(PLAYERS[usize::from(who) % PLAYERS.len()])
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
        ..test_room::default_settings()
    }
}

fn command(test: &TestRoom, action: Action) -> Command {
    let (game, ply) = test.room.game().map_or((1, 0), |game| (game.number, game.ply()));
    match action {
        Action::Join(who) => Command::Join(profile(who), test_room::valid_credentials()),
        Action::Leave => Command::Leave,
        Action::TakeSeat(white) => Command::TakeSeat(side(white)),
        Action::LeaveSeat => Command::LeaveSeat,
        Action::SwapSeats => Command::SwapSeats,
        Action::Open(white) => Command::SetSeat(side(white), SeatSetting::Open),
        Action::Reserve(white, who) => Command::SetSeat(side(white), SeatSetting::Reserved(profile(who))),
        Action::Invite(white, who, seconds) => {
            let lasts = Duration::from_secs(seconds.into());
            Command::SetSeat(side(white), SeatSetting::Invited { guest: profile(who), lasts, by_rating: None })
        }
        Action::Decline => Command::DeclineInvitation(None),
        Action::Ai(white) => Command::SetSeat(side(white), test_room::ai()),
        Action::Ready(ready) => Command::SetReady(ready),
        Action::Kick(who, ban) => Command::Kick { player: profile(who).id, ban },
        Action::Transfer(who) => Command::Transfer(profile(who).id),
        Action::Configure(choices) => Command::Configure(Box::new(settings(&choices)), None),
        Action::Start => Command::Start(None),
        Action::Close => Command::Close,
        Action::Chat => test_room::chat("hello"),
        Action::Move(choice) => {
            let moves: Vec<Square> =
                test.room.game().map(|game| game.position.legal_moves().iter().collect()).unwrap_or_default();
            let square = moves.get(usize::from(choice) % moves.len().max(1)).copied();
            Command::Play { game, ply, square: square.unwrap_or(Square::ALL[0]), thought: None }
        }
        Action::NearbyMove(game, ply, square) => Command::Play {
            game: game.into(),
            ply: ply.into(),
            square: Square::ALL[usize::from(square % 64)],
            thought: None,
        },
        Action::Strike => Command::Strike { game, ply },
        Action::Resign => Command::Resign { game },
        Action::Abort => Command::Abort { game },
        Action::Offer(rematch) => Command::Offer(offer(rematch), None),
        Action::Answer(rematch, accept) => Command::Answer(offer(rematch), None, accept),
        Action::Presence(who, present) => Command::SetPresence(profile(who).id, present),
        Action::Tick => Command::Tick,
        Action::Credit(micros) => Command::Credit { micros },
    }
}
