//! Seats: occupants, readiness, and the start of a game.

use reversi::{
    room::{Command, Fact, Occupant, Phase, Rejection, SeatSetting, Settings, TimeControl, Visibility},
    rules::Color::{Black, White},
};

use crate::room::test_room::{TestRoom, ai, ai_seat, ban, default_settings, id, kick, profile, secs, total};

fn reserved(who: &str) -> SeatSetting {
    SeatSetting::Reserved(profile(who))
}

fn seated_players(test: &TestRoom) -> [Option<reversi::room::PlayerId>; 2] {
    [Black, White].map(|seat| test.room.seats()[seat].occupant.player())
}

#[test]
fn k3_a_room_has_two_seats_and_black_is_seat_0_and_moves_first() {
    let test = TestRoom::two_players(default_settings());
    assert_eq!(seated_players(&test), [Some(id("ada")), Some(id("bob"))]);
    assert_eq!(test.game().turn(), Some(Black));
    assert_eq!(test.owner(), "ada");
}

#[test]
fn k4_the_owner_gives_a_seat_to_an_ai_with_a_level_and_opens_it_again() {
    let mut test = TestRoom::lobby();
    assert_eq!(
        test.ok("ada", Command::SetSeat(White, ai())),
        [Fact::SeatChanged { seat: White, occupant: Occupant::Ai(ai_seat()) }]
    );
    assert_eq!(test.ok("ada", Command::SetSeat(White, ai())), [], "an absolute setter can be repeated");
    let mut stronger = ai_seat();
    stronger.level = 5;
    test.ok("ada", Command::SetSeat(White, SeatSetting::Ai(stronger.clone())));
    assert_eq!(test.room.seats().white.occupant, Occupant::Ai(stronger));
    test.ok("ada", Command::SetSeat(White, SeatSetting::Open));
    assert_eq!(test.room.seats().white.occupant, Occupant::Open);
}

#[test]
fn k4_the_owner_can_give_both_seats_to_ais() {
    let mut test = TestRoom::lobby().sit("ada", Black).ai(White);
    test.ok("ada", Command::SetSeat(Black, ai()));
    test.ok("ada", Command::Start);
    assert!(test.room.ai_turn().is_some());
    assert_eq!((test.owner().as_str(), test.room.seat_of(id("ada"))), ("ada", None));
}

#[test]
fn k4_the_owner_swaps_the_seats_with_their_readiness() {
    let mut test = TestRoom::lobby().join("bob").sit("bob", Black);
    assert_eq!(test.ok("ada", Command::SwapSeats), [Fact::SeatsSwapped]);
    assert_eq!(seated_players(&test), [None, Some(id("bob"))]);
    assert!(test.room.seats().white.ready() && !test.room.seats().black.ready());
}

#[test]
fn a_player_who_changes_seats_is_no_longer_ready() {
    let mut test = TestRoom::lobby().sit("ada", Black);
    assert_eq!(test.ok("ada", Command::TakeSeat(Black)), [], "the player already has this seat");
    test.ok("ada", Command::TakeSeat(White));
    assert_eq!(seated_players(&test), [None, Some(id("ada"))]);
    assert!(!test.room.seats().white.ready());
    test.ok("ada", Command::LeaveSeat);
    assert_eq!(test.ok("ada", Command::LeaveSeat), []);
    assert_eq!(seated_players(&test), [None, None]);
}

#[test]
fn k5_a_start_needs_both_seats_filled_and_ready_and_marks_the_owner_ready() {
    let mut test = TestRoom::lobby().join("bob");
    test.ok("ada", Command::TakeSeat(Black));
    assert_eq!(test.refused("ada", Command::Start), Rejection::SeatsNotReady);
    assert!(!test.room.seats().black.ready(), "a refusal changes nothing");
    test.ok("ada", Command::SetSeat(White, reserved("bob")));
    assert_eq!(test.refused("ada", Command::Start), Rejection::SeatsNotReady);
    test.ok("bob", Command::TakeSeat(White));
    assert_eq!(test.refused("ada", Command::Start), Rejection::SeatsNotReady);
    test.ok("bob", Command::SetReady(true));
    let facts = test.ok("ada", Command::Start);
    assert_eq!(facts[0], Fact::ReadyChanged { seat: Black, ready: true });
    assert_eq!(facts[1], Fact::GameStarted { number: 1, index: 0, opening: vec![] });
}

#[test]
fn k5_readiness_is_cleared_after_a_game_but_an_ai_is_always_ready() {
    let mut test = TestRoom::against_ai(default_settings());
    test.ok("ada", Command::Resign { game: 1 });
    assert!(!test.room.seats().black.ready());
    assert!(test.room.seats().white.ready());
    let mut test = TestRoom::two_players(default_settings());
    test.ok("bob", Command::Resign { game: 1 });
    assert!(test.room.seats().iter().all(|(_, seat)| !seat.ready()));
}

#[test]
fn readiness_is_set_and_not_toggled() {
    let mut test = TestRoom::lobby().sit("ada", Black);
    assert_eq!(test.ok("ada", Command::SetReady(true)), []);
    assert_eq!(test.ok("ada", Command::SetReady(false)), [Fact::ReadyChanged { seat: Black, ready: false }]);
    assert_eq!(test.ok("ada", Command::SetReady(false)), []);
}

#[test]
fn b10_a_taken_seat_is_refused_and_no_player_is_replaced() {
    let mut test = TestRoom::with_watchers();
    assert_eq!(test.refused("wim", Command::TakeSeat(Black)), Rejection::SeatTaken);
    assert_eq!(test.refused("ada", Command::TakeSeat(Black)), Rejection::SeatTaken);
    for setting in [SeatSetting::Open, ai(), reserved("wim")] {
        assert_eq!(test.refused("ada", Command::SetSeat(Black, setting)), Rejection::SeatTaken);
    }
    let mut test = TestRoom::lobby().join("bob").ai(White);
    assert_eq!(test.refused("bob", Command::TakeSeat(White)), Rejection::SeatTaken);
}

#[test]
fn b13_seats_cannot_be_changed_during_a_game() {
    let mut test = TestRoom::two_players(default_settings()).join("wim");
    let seats = test.room.seats().clone();
    for (who, command) in [
        ("ada", Command::SwapSeats),
        ("ada", Command::SetSeat(White, ai())),
        ("ada", Command::SetSeat(Black, SeatSetting::Open)),
        ("ada", Command::LeaveSeat),
        ("bob", Command::TakeSeat(Black)),
        ("wim", Command::TakeSeat(White)),
        ("bob", Command::SetReady(false)),
    ] {
        assert_eq!(test.refused(who, command), Rejection::RoomInGame);
    }
    assert_eq!(test.room.seats(), &seats);
}

#[test]
fn b29_a_refused_start_does_not_affect_the_running_game() {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3");
    assert_eq!(test.refused("ada", Command::Start), Rejection::RoomInGame);
    assert_eq!((test.game().number, test.game().ply()), (1, 1));
}

#[test]
fn only_the_named_player_can_take_a_reserved_seat() {
    let private = Settings {
        visibility: Visibility::Private,
        password: Some(crate::room::test_room::password()),
        ..default_settings()
    };
    let mut test = TestRoom::of(private).join("bob");
    test.ok("ada", Command::SetSeat(White, reserved("cy")));
    assert_eq!(test.refused("bob", Command::TakeSeat(White)), Rejection::SeatTaken);
    test.ok("cy", Command::Join(profile("cy"), Default::default()));
    test.ok("cy", Command::TakeSeat(White));
    assert_eq!(test.room.seat_of(id("cy")), Some(White));
}

#[test]
fn a_ban_removes_the_reservation_and_prevents_new_ones() {
    let mut test = TestRoom::lobby();
    test.ok("ada", Command::SetSeat(White, reserved("cy")));
    assert_eq!(test.refused("ada", kick("cy")), Rejection::PlayerNotFound, "not a member");
    test.ok("ada", ban("cy"));
    assert_eq!(test.room.seats().white.occupant, Occupant::Open);
    assert_eq!(test.refused("ada", Command::SetSeat(White, reserved("cy"))), Rejection::Banned);
    assert_eq!(test.refused("cy", Command::Join(profile("cy"), Default::default())), Rejection::Banned);
}

#[test]
fn auto_start_starts_a_game_when_both_are_ready() {
    let settings = Settings { auto_start: true, ..default_settings() };
    let mut test = TestRoom::of(settings.clone()).join("bob").sit("ada", Black);
    test.ok("bob", Command::TakeSeat(White));
    let facts = test.ok("bob", Command::SetReady(true));
    assert!(matches!(facts[..], [Fact::ReadyChanged { .. }, Fact::GameStarted { .. }]));

    let mut test = TestRoom::of(settings.clone()).sit("ada", Black);
    test.ok("ada", Command::SetSeat(White, ai()));
    assert_eq!(test.room.phase(), Phase::Playing, "an AI is always ready");

    let mut test = TestRoom::seated(default_settings());
    let facts = test.ok("ada", Command::Configure(Box::new(settings), None));
    assert!(matches!(facts[..], [Fact::SettingsChanged(_), Fact::GameStarted { .. }]));
}

#[test]
fn auto_start_does_not_start_a_game_when_a_seat_is_set_to_the_same_ai() {
    let mut test = TestRoom::of(Settings { auto_start: true, ..default_settings() }).ai(Black).ai(White);
    test.play_out();
    assert_eq!(test.ok("ada", Command::SetSeat(White, ai())), []);
    assert_eq!(test.room.phase(), Phase::Lobby);
    test.ok("ada", Command::Start);
    assert_eq!(test.game().number, 2);
}

#[test]
fn invalid_settings_are_refused_with_the_field_name() {
    let move_limit = |limit| TimeControl { per_move: Some(limit), ..default_settings().time };
    let none = TimeControl { per_move: None, ..default_settings().time };
    let over = "e6f4e3f6g5d6e7f5c5".parse().expect("a game");
    let bad = [
        ("move_limit", Settings { time: none, ..default_settings() }),
        ("move_limit", Settings { time: move_limit(secs(0)), ..default_settings() }),
        ("move_limit", Settings { time: move_limit(secs(90_000)), ..default_settings() }),
        ("total_time", Settings { time: total(secs(0), secs(0)), ..default_settings() }),
        ("increment", Settings { time: total(secs(60), secs(3601)), ..default_settings() }),
        (
            "increment",
            Settings { time: TimeControl { increment: secs(1), ..default_settings().time }, ..default_settings() },
        ),
        ("ai_pause", Settings { ai_pause: secs(11), ..default_settings() }),
        ("games", Settings { games: 0, ..default_settings() }),
        ("games", Settings { games: 1001, ..default_settings() }),
        (
            "opening.random.plies",
            Settings { opening: reversi::room::Opening::Random { plies: 21, seed: 1 }, ..default_settings() },
        ),
        ("sprt", Settings { sprt: "0,10".parse().ok(), ..default_settings() }),
        ("opening.moves", Settings { opening: reversi::room::Opening::Moves(over), ..default_settings() }),
    ];
    let mut test = TestRoom::lobby();
    for (field, settings) in bad {
        match test.refused("ada", Command::Configure(Box::new(settings), None)) {
            Rejection::BadSettings(error) => assert_eq!(error.field, field),
            other => panic!("{field}: {other}"),
        }
    }
    assert_eq!(test.room.settings(), &default_settings());
    assert_eq!(test.ok("ada", Command::Configure(Box::new(default_settings()), None)), [], "no change, no event");
}
