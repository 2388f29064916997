//! Seats: occupants, readiness, and the start of a game.

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{
    Command, Fact, Occupant, Phase, Rejection, Request, SeatSetting, Settings, TimeControl, Visibility,
};

use crate::fixtures::test_room::{
    TestRoom, ai, ai_seat, ban, default_settings, id, kick, password, profile, secs, total,
};

fn reserved(who: &str) -> SeatSetting {
    SeatSetting::Reserved(profile(who))
}

fn seated_players(test: &TestRoom) -> [Option<reversi_room::PlayerId>; 2] {
    [Black, White].map(|seat| test.room.seats()[seat].occupant.player())
}

#[test]
fn a_room_has_two_seats_and_black_is_seat_0_and_moves_first() {
    let test = TestRoom::two_players(default_settings());
    assert_eq!(seated_players(&test), [Some(id("ada")), Some(id("bob"))]);
    assert_eq!(test.game().turn(), Some(Black));
    assert_eq!(test.owner(), "ada");
}

#[test]
fn the_owner_gives_a_seat_to_an_ai_with_a_level_and_opens_it_again() {
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
fn the_owner_can_give_both_seats_to_ais() {
    let mut test = TestRoom::lobby().sit("ada", Black).ai(White);
    test.ok("ada", Command::SetSeat(Black, ai()));
    test.ok("ada", Command::Start(None));
    assert!(test.room.ai_turn().is_some());
    assert_eq!((test.owner().as_str(), test.room.seat_of(id("ada"))), ("ada", None));
}

#[test]
fn the_owner_swaps_the_seats() {
    let mut test = TestRoom::lobby().join("bob").sit("bob", Black);
    test.ok("ada", Command::SwapSeats);
    assert_eq!(seated_players(&test), [None, Some(id("bob"))]);
    assert_eq!(test.ok("ada", Command::SwapSeats).last(), Some(&Fact::SeatsSwapped), "nobody was ready");
}

/// Ada, who has black and is the caller, has changed the terms of a room in which both were ready.
fn assert_only_ada_is_ready(mut test: TestRoom, change: &Command) {
    assert!(test.room.seats().iter().all(|(_, seat)| seat.ready()), "before");
    let facts = test.ok("ada", change.clone());
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::GameStarted { .. })), "{change:?}: {facts:?}");
    let is_ready = |who| test.room.seat_of(id(who)).map(|seat| test.room.seats()[seat].ready());
    assert_eq!((is_ready("ada"), is_ready("bob")), (Some(true), Some(false)), "{change:?}");
    assert_eq!(test.refused("ada", Command::Start(None)), Rejection::SeatsNotReady, "{change:?}");
    test.ok("bob", Command::SetReady(true));
    if test.room.running().is_none() {
        test.ok("ada", Command::Start(None));
    }
}

#[test]
fn a_change_of_terms_clears_the_readiness_of_all_but_the_caller() {
    let usual = default_settings();
    let random = reversi_room::Opening::Random { plies: 4, seed: 1 };
    let moves = reversi_room::Opening::Moves("f5d6c3".parse().expect("moves"));
    let fast = TimeControl { per_move: Some(std::time::Duration::from_millis(100)), ..usual.time };
    for terms in [
        Settings { rated: true, ..usual.clone() },
        Settings { time: fast, ..usual.clone() },
        Settings { time: total(secs(60), secs(1)), ..usual.clone() },
        Settings { opening: moves, ..usual.clone() },
        Settings { opening: random.clone(), ..usual.clone() },
        Settings { games: 3, ..usual.clone() },
        Settings { swap_sides: false, ..usual.clone() },
        Settings { ai_pause: secs(1), ..usual.clone() },
        Settings { games: 10, opening: random, sprt: "0,10".parse().ok(), ..usual.clone() },
        Settings { rated: true, auto_start: true, ..usual.clone() },
    ] {
        let change = Command::Configure(Box::new(terms.clone()), None);
        assert_only_ada_is_ready(TestRoom::seated(usual.clone()), &change);
    }
    assert_only_ada_is_ready(TestRoom::seated(usual.clone()), &Command::SwapSeats);
    let waiting = Settings { auto_start: true, ..usual.clone() };
    let renamed = Settings { visibility: Visibility::Private, password: Some(password()), ..usual };
    let mut test = TestRoom::seated(default_settings());
    for settings in [renamed, waiting] {
        assert!(matches!(test.ok("ada", Command::Configure(Box::new(settings), None))[0], Fact::SettingsChanged(_)));
    }
    assert_eq!(test.room.phase(), Phase::Playing, "none of it was a term");
}

#[test]
fn a_new_opponent_of_the_owners_choice_clears_readiness() {
    for auto_start in [false, true] {
        let settings = Settings { auto_start, ..default_settings() };
        let mut test = TestRoom::of(settings).join("bob").sit("bob", White);
        assert_eq!(
            test.ok("ada", Command::SetSeat(Black, ai()))[0],
            Fact::ReadyChanged { seat: White, ready: false, request: None }
        );
        assert_eq!(test.refused("ada", Command::Start(None)), Rejection::SeatsNotReady);
        test.ok("bob", Command::SetReady(true));
        assert_eq!(test.room.running().is_some(), auto_start);
    }
}

#[test]
fn an_opponent_who_leaves_clears_readiness_unless_the_room_starts_by_itself() {
    for auto_start in [false, true] {
        let settings = Settings { auto_start, ..default_settings() };
        for leave in [Command::LeaveSeat, Command::Leave] {
            let mut test = TestRoom::of(settings.clone()).join("bob").join("cy").sit("bob", White);
            test.ok("cy", Command::TakeSeat(Black));
            test.ok("cy", leave);
            assert_eq!(test.room.seats().white.ready(), auto_start, "who waits for anyone stays ready");
        }
    }
    let mut test = TestRoom::seated(default_settings());
    test.ok("ada", kick("bob"));
    assert!(test.room.seats().black.ready(), "the caller");
}

#[test]
fn rated_games_begin_where_no_player_chose() {
    let rated = Settings { rated: true, ..default_settings() };
    let given = reversi_room::Opening::Moves("f5d6c3".parse().expect("moves"));
    let with_moves = Settings { opening: given.clone(), ..default_settings() };
    let both = Command::Configure(Box::new(Settings { opening: given, ..rated.clone() }), None);
    for settings in [rated.clone(), with_moves.clone(), default_settings()] {
        match TestRoom::of(settings).refused("ada", both.clone()) {
            Rejection::BadSettings(error) => assert_eq!(error.field, "opening.moves"),
            other => panic!("{other}"),
        }
    }
    // A room of an earlier version.
    let mut old = TestRoom::two_players(Settings { rated: true, ..with_moves });
    old.ok("ada", Command::Resign { game: 1 });
    assert_eq!(old.room.record(old.now).map(|record| record.rated), Some(false));

    let opening = reversi_room::Opening::Random { plies: 8, seed: 7 };
    let random = Settings { opening, games: 4, ..rated };
    let start = |wait| {
        let mut test = TestRoom::seated(random.clone());
        test.wait(wait);
        test.ok("ada", Command::Start(None));
        test
    };
    let drawn = |test: &TestRoom| test.game().squares().collect::<Vec<_>>();
    let mut test = start(secs(1));
    let first = drawn(&test);
    assert_ne!(first, drawn(&start(secs(2))), "not from the owner's seed");
    let mut next = || {
        test.ok("bob", Command::Resign { game: test.game().number });
        test.wait(secs(3));
        drawn(&test)
    };
    assert_eq!(next(), first, "the same in both games of a pair");
    assert_ne!(next(), first);
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
fn a_start_needs_both_seats_filled_and_ready_and_marks_the_owner_ready() {
    let mut test = TestRoom::lobby().join("bob");
    test.ok("ada", Command::TakeSeat(Black));
    assert_eq!(test.refused("ada", Command::Start(None)), Rejection::SeatsNotReady);
    assert!(!test.room.seats().black.ready(), "a refusal changes nothing");
    test.ok("ada", Command::SetSeat(White, reserved("bob")));
    assert_eq!(test.refused("ada", Command::Start(None)), Rejection::SeatsNotReady);
    test.ok("bob", Command::TakeSeat(White));
    assert_eq!(test.refused("ada", Command::Start(None)), Rejection::SeatsNotReady);
    test.ok("bob", Command::SetReady(true));
    let facts = test.ok("ada", Command::Start(None));
    assert_eq!(facts[0], Fact::ReadyChanged { seat: Black, ready: true, request: None });
    assert_eq!(facts[1], Fact::GameStarted { number: 1, index: 0, opening: vec![], request: None });
}

#[test]
fn readiness_is_cleared_after_a_game_but_an_ai_is_always_ready() {
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
    assert_eq!(
        test.ok("ada", Command::SetReady(false)),
        [Fact::ReadyChanged { seat: Black, ready: false, request: None }]
    );
    assert_eq!(test.ok("ada", Command::SetReady(false)), []);
}

#[test]
fn a_taken_seat_is_refused_and_no_player_is_replaced() {
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
fn seats_cannot_be_changed_during_a_game() {
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
fn a_refused_start_does_not_affect_the_running_game() {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3");
    assert_eq!(test.refused("ada", Command::Start(None)), Rejection::RoomInGame);
    assert_eq!((test.game().number, test.game().ply()), (1, 1));
}

#[test]
fn only_the_named_player_can_take_a_reserved_seat() {
    let private = Settings { visibility: Visibility::Private, password: Some(password()), ..default_settings() };
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
fn a_game_is_joined_at_once_or_not_at_all() {
    let request = Some(Request { key: 1, digest: 2 });
    let join = |who: &str| Command::JoinGame(profile(who), White, request);
    let settings = Settings { auto_start: true, ..default_settings() };
    let mut test = TestRoom::of(settings.clone());
    test.ok("ada", Command::TakeSeat(Black));
    assert_eq!(test.refused("bob", join("bob")), Rejection::SeatsNotReady);
    assert_eq!(test.refused("bob", join("cy")), Rejection::NotAdmin);
    assert!(test.room.member(id("bob")).is_none());
    let waits = test.ok("ada", Command::JoinGame(profile("ada"), White, request));
    assert_eq!(waits, [Fact::ReadyChanged { seat: Black, ready: true, request }]);
    let facts = test.ok("bob", join("bob"));
    let started = Fact::GameStarted { number: 1, index: 0, opening: vec![], request };
    assert_eq!((facts.len(), facts.last()), (4, Some(&started)));
    assert_eq!(test.refused("cy", join("cy")), Rejection::RoomInGame);
    assert_eq!(test.refused("cy", join("ada")), Rejection::RoomInGame);
    let noted = test.ok("ada", join("ada"));
    assert_eq!(
        noted,
        [Fact::ReadyChanged { seat: Black, ready: true, request }],
        "a game has begun since it was found"
    );

    let mut test = TestRoom::of(default_settings()).sit("ada", Black);
    assert_eq!(test.refused("bob", join("bob")), Rejection::SeatsNotReady, "the owner starts");
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
    test.ok("ada", Command::Start(None));
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
            Settings { opening: reversi_room::Opening::Random { plies: 21, seed: 1 }, ..default_settings() },
        ),
        ("sprt", Settings { sprt: "0,10".parse().ok(), ..default_settings() }),
        ("spectator_delay", Settings { spectator_delay: secs(901), ..default_settings() }),
        ("opening.moves", Settings { opening: reversi_room::Opening::Moves(over), ..default_settings() }),
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
