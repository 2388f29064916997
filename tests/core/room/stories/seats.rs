//! Seats: occupants, readiness, and the start of a game.

use reversi::{
    room::{Command, Fact, Occupant, Phase, Rejection, SeatSetting, Settings, TimeControl, Visibility},
    rules::Color::{Black, White},
};

use crate::room::test_room::{World, ai, ai_seat, ban, id, kick, profile, secs, total, usual};

fn reserved(who: &str) -> SeatSetting {
    SeatSetting::Reserved(profile(who))
}

fn sitters(world: &World) -> [Option<reversi::room::PlayerId>; 2] {
    [Black, White].map(|seat| world.room.seats()[seat].occupant.player())
}

#[test]
fn k3_a_room_has_two_seats_and_black_is_seat_0_and_moves_first() {
    let world = World::duel(usual());
    assert_eq!(sitters(&world), [Some(id("ada")), Some(id("bob"))]);
    assert_eq!(world.game().turn(), Some(Black));
    assert_eq!(world.owner(), "ada");
}

#[test]
fn k4_the_owner_gives_a_seat_to_an_ai_with_a_level_and_opens_it_again() {
    let mut world = World::lobby();
    assert_eq!(
        world.ok("ada", Command::SetSeat(White, ai())),
        [Fact::SeatChanged { seat: White, occupant: Occupant::Ai(ai_seat()) }]
    );
    assert_eq!(world.ok("ada", Command::SetSeat(White, ai())), [], "an absolute setter can be repeated");
    let mut stronger = ai_seat();
    stronger.level = 5;
    world.ok("ada", Command::SetSeat(White, SeatSetting::Ai(stronger.clone())));
    assert_eq!(world.room.seats().white.occupant, Occupant::Ai(stronger));
    world.ok("ada", Command::SetSeat(White, SeatSetting::Open));
    assert_eq!(world.room.seats().white.occupant, Occupant::Open);
}

#[test]
fn k4_the_owner_can_give_both_seats_to_ais() {
    let mut world = World::lobby().sit("ada", Black).ai(White);
    world.ok("ada", Command::SetSeat(Black, ai()));
    world.ok("ada", Command::Start);
    assert!(world.room.ai_turn().is_some());
    assert_eq!((world.owner().as_str(), world.room.seat_of(id("ada"))), ("ada", None));
}

#[test]
fn k4_the_owner_swaps_the_seats_with_their_readiness() {
    let mut world = World::lobby().join("bob").sit("bob", Black);
    assert_eq!(world.ok("ada", Command::SwapSeats), [Fact::SeatsSwapped]);
    assert_eq!(sitters(&world), [None, Some(id("bob"))]);
    assert!(world.room.seats().white.ready() && !world.room.seats().black.ready());
}

#[test]
fn a_player_who_changes_seats_is_no_longer_ready() {
    let mut world = World::lobby().sit("ada", Black);
    assert_eq!(world.ok("ada", Command::TakeSeat(Black)), [], "it is theirs already");
    world.ok("ada", Command::TakeSeat(White));
    assert_eq!(sitters(&world), [None, Some(id("ada"))]);
    assert!(!world.room.seats().white.ready());
    world.ok("ada", Command::LeaveSeat);
    assert_eq!(world.ok("ada", Command::LeaveSeat), []);
    assert_eq!(sitters(&world), [None, None]);
}

#[test]
fn k5_a_start_needs_both_seats_filled_and_ready_and_marks_the_owner_ready() {
    let mut world = World::lobby().join("bob");
    world.ok("ada", Command::TakeSeat(Black));
    assert_eq!(world.refused("ada", Command::Start), Rejection::SeatsNotReady);
    assert!(!world.room.seats().black.ready(), "a refusal leaves no mark");
    world.ok("ada", Command::SetSeat(White, reserved("bob")));
    assert_eq!(world.refused("ada", Command::Start), Rejection::SeatsNotReady);
    world.ok("bob", Command::TakeSeat(White));
    assert_eq!(world.refused("ada", Command::Start), Rejection::SeatsNotReady);
    world.ok("bob", Command::SetReady(true));
    let facts = world.ok("ada", Command::Start);
    assert_eq!(facts[0], Fact::ReadyChanged { seat: Black, ready: true });
    assert_eq!(facts[1], Fact::GameStarted { number: 1, index: 0, opening: vec![] });
}

#[test]
fn k5_readiness_is_cleared_after_a_game_but_an_ai_is_always_ready() {
    let mut world = World::against_ai(usual());
    world.ok("ada", Command::Resign { game: 1 });
    assert!(!world.room.seats().black.ready());
    assert!(world.room.seats().white.ready());
    let mut world = World::duel(usual());
    world.ok("bob", Command::Resign { game: 1 });
    assert!(world.room.seats().iter().all(|(_, seat)| !seat.ready()));
}

#[test]
fn readiness_is_set_and_not_toggled() {
    let mut world = World::lobby().sit("ada", Black);
    assert_eq!(world.ok("ada", Command::SetReady(true)), []);
    assert_eq!(world.ok("ada", Command::SetReady(false)), [Fact::ReadyChanged { seat: Black, ready: false }]);
    assert_eq!(world.ok("ada", Command::SetReady(false)), []);
}

#[test]
fn b10_a_taken_seat_is_refused_and_no_player_is_replaced() {
    let mut world = World::table();
    assert_eq!(world.refused("wim", Command::TakeSeat(Black)), Rejection::SeatTaken);
    assert_eq!(world.refused("ada", Command::TakeSeat(Black)), Rejection::SeatTaken);
    for setting in [SeatSetting::Open, ai(), reserved("wim")] {
        assert_eq!(world.refused("ada", Command::SetSeat(Black, setting)), Rejection::SeatTaken);
    }
    let mut world = World::lobby().join("bob").ai(White);
    assert_eq!(world.refused("bob", Command::TakeSeat(White)), Rejection::SeatTaken);
}

#[test]
fn b13_seats_cannot_be_changed_during_a_game() {
    let mut world = World::duel(usual()).join("wim");
    let seats = world.room.seats().clone();
    for (who, command) in [
        ("ada", Command::SwapSeats),
        ("ada", Command::SetSeat(White, ai())),
        ("ada", Command::SetSeat(Black, SeatSetting::Open)),
        ("ada", Command::LeaveSeat),
        ("bob", Command::TakeSeat(Black)),
        ("wim", Command::TakeSeat(White)),
        ("bob", Command::SetReady(false)),
    ] {
        assert_eq!(world.refused(who, command), Rejection::RoomInGame);
    }
    assert_eq!(world.room.seats(), &seats);
}

#[test]
fn b29_a_refused_start_does_not_affect_the_running_game() {
    let mut world = World::duel(usual());
    world.play("d3");
    assert_eq!(world.refused("ada", Command::Start), Rejection::RoomInGame);
    assert_eq!((world.game().number, world.game().ply()), (1, 1));
}

#[test]
fn only_the_named_player_can_take_a_reserved_seat() {
    let private =
        Settings { visibility: Visibility::Private, password: Some(crate::room::test_room::password()), ..usual() };
    let mut world = World::of(private).join("bob");
    world.ok("ada", Command::SetSeat(White, reserved("cy")));
    assert_eq!(world.refused("bob", Command::TakeSeat(White)), Rejection::SeatTaken);
    world.ok("cy", Command::Join(profile("cy"), Default::default()));
    world.ok("cy", Command::TakeSeat(White));
    assert_eq!(world.room.seat_of(id("cy")), Some(White));
}

#[test]
fn a_ban_removes_the_reservation_and_prevents_new_ones() {
    let mut world = World::lobby();
    world.ok("ada", Command::SetSeat(White, reserved("cy")));
    assert_eq!(world.refused("ada", kick("cy")), Rejection::PlayerNotFound, "not here to be kicked");
    world.ok("ada", ban("cy"));
    assert_eq!(world.room.seats().white.occupant, Occupant::Open);
    assert_eq!(world.refused("ada", Command::SetSeat(White, reserved("cy"))), Rejection::Banned);
    assert_eq!(world.refused("cy", Command::Join(profile("cy"), Default::default())), Rejection::Banned);
}

#[test]
fn auto_start_starts_a_game_when_both_are_ready() {
    let settings = Settings { auto_start: true, ..usual() };
    let mut world = World::of(settings.clone()).join("bob").sit("ada", Black);
    world.ok("bob", Command::TakeSeat(White));
    let facts = world.ok("bob", Command::SetReady(true));
    assert!(matches!(facts[..], [Fact::ReadyChanged { .. }, Fact::GameStarted { .. }]));

    let mut world = World::of(settings.clone()).sit("ada", Black);
    world.ok("ada", Command::SetSeat(White, ai()));
    assert_eq!(world.room.phase(), Phase::Playing, "an AI is always ready");

    let mut world = World::seated(usual());
    let facts = world.ok("ada", Command::Configure(Box::new(settings)));
    assert!(matches!(facts[..], [Fact::SettingsChanged(_), Fact::GameStarted { .. }]));
}

#[test]
fn auto_start_does_not_start_a_game_when_a_seat_is_set_to_the_same_ai() {
    let mut world = World::of(Settings { auto_start: true, ..usual() }).ai(Black).ai(White);
    world.play_out();
    assert_eq!(world.ok("ada", Command::SetSeat(White, ai())), []);
    assert_eq!(world.room.phase(), Phase::Lobby);
    world.ok("ada", Command::Start);
    assert_eq!(world.game().number, 2);
}

#[test]
fn invalid_settings_are_refused_with_the_field_name() {
    let move_limit = |limit| TimeControl { per_move: Some(limit), ..usual().time };
    let none = TimeControl { per_move: None, ..usual().time };
    let over = "e6f4e3f6g5d6e7f5c5".parse().expect("a game");
    let bad = [
        ("move_limit", Settings { time: none, ..usual() }),
        ("move_limit", Settings { time: move_limit(secs(0)), ..usual() }),
        ("move_limit", Settings { time: move_limit(secs(90_000)), ..usual() }),
        ("total_time", Settings { time: total(secs(0), secs(0)), ..usual() }),
        ("increment", Settings { time: total(secs(60), secs(3601)), ..usual() }),
        ("increment", Settings { time: TimeControl { increment: secs(1), ..usual().time }, ..usual() }),
        ("ai_pause", Settings { ai_pause: secs(11), ..usual() }),
        ("games", Settings { games: 0, ..usual() }),
        ("games", Settings { games: 1001, ..usual() }),
        (
            "opening.random.plies",
            Settings { opening: reversi::room::Opening::Random { plies: 21, seed: 1 }, ..usual() },
        ),
        ("sprt", Settings { sprt: "0,10".parse().ok(), ..usual() }),
        ("opening.moves", Settings { opening: reversi::room::Opening::Moves(over), ..usual() }),
    ];
    let mut world = World::lobby();
    for (field, settings) in bad {
        match world.refused("ada", Command::Configure(Box::new(settings))) {
            Rejection::BadSettings(error) => assert_eq!(error.field, field),
            other => panic!("{field}: {other}"),
        }
    }
    assert_eq!(world.room.settings(), &usual());
    assert_eq!(world.ok("ada", Command::Configure(Box::new(usual()))), [], "no change, no event");
}
