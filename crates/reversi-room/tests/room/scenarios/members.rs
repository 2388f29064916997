//! Members: joining, leaving, ownership, lost connections, and removal.

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{
    CloseReason, Command, Credentials, EndReason, Fact, GameEnd, JoinCode, LeaveReason, Occupant, Phase, PlayerId,
    Rejection, Room, Settings, Viewer, Visibility, Watching,
};

use crate::fixtures::test_room::{
    CODE, POLICY, TestRoom, ban, chat, default_settings, id, kick, password, profile, secs, valid_credentials,
};

fn lost(who: &str) -> Command {
    Command::SetPresence(id(who), false)
}

fn back(who: &str) -> Command {
    Command::SetPresence(id(who), true)
}

fn left(who: &str, reason: LeaveReason) -> Fact {
    Fact::MemberLeft { player: id(who), reason }
}

/// For Ada.
fn stands_in(who: &str) -> Fact {
    Fact::OwnerChanged { owner: id(who), stands_in_for: Some(id("ada")) }
}

fn enter(who: &str, code: Option<u64>, right_password: bool) -> Command {
    let credentials = Credentials { code: code.map(JoinCode::from_random), password: right_password.then(password) };
    Command::Join(profile(who), credentials)
}

#[test]
fn a_private_room_is_not_found_without_its_code() {
    let mut test = TestRoom::of(Settings { visibility: Visibility::Private, ..default_settings() });
    assert_eq!(test.refused("bob", enter("bob", None, false)), Rejection::RoomNotFound);
    assert_eq!(test.refused("bob", enter("bob", Some(CODE + 1), false)), Rejection::RoomNotFound);
    test.ok("ada", ban("bob"));
    assert_eq!(
        test.refused("bob", enter("bob", None, false)),
        Rejection::RoomNotFound,
        "without the code, a banned player gets the same answer"
    );
    assert_eq!(test.refused("bob", enter("bob", Some(CODE), false)), Rejection::Banned);
    test.ok("cy", enter("cy", Some(CODE), false));
    let strangers = Credentials::default();
    assert_eq!(test.room.may_watch(id("xia"), &strangers), Err(Rejection::RoomNotFound));
    assert_eq!(test.room.may_watch(id("xia"), &valid_credentials()), Ok(()));
}

#[test]
fn joining_and_watching_need_the_password() {
    let mut test = TestRoom::of(Settings { password: Some(password()), ..default_settings() });
    assert_eq!(test.refused("bob", enter("bob", Some(CODE), false)), Rejection::BadPassword);
    assert_eq!(test.room.may_watch(id("bob"), &Credentials::default()), Err(Rejection::BadPassword));
    test.ok("bob", enter("bob", None, true));
    assert_eq!(test.room.may_watch(id("bob"), &Credentials::default()), Ok(()));
    assert!(!format!("{:?}", test.room.settings()).contains("167"), "a hash is never shown");
}

#[test]
fn only_members_see_the_join_code() {
    let test = TestRoom::lobby().join("bob");
    let code = Some(JoinCode::from_random(CODE));
    assert_eq!(test.room.view(Viewer::Player(id("bob"))).code(), code);
    assert_eq!(test.room.view(Viewer::Player(id("xia"))).code(), None);
    assert_eq!(test.room.view(Viewer::Public).code(), None);
}

#[test]
fn a_full_room_refuses_members_until_one_leaves() {
    let mut test = ["b", "c", "d", "e", "f", "g", "h"].into_iter().fold(TestRoom::lobby(), TestRoom::join);
    assert_eq!(test.room.members().len(), usize::from(POLICY.members));
    assert_eq!(test.refused("i", enter("i", None, false)), Rejection::RoomFull);
    assert_eq!(test.ok("h", enter("h", None, false)), [], "a member may join again");
    test.ok("h", Command::Leave);
    test.ok("i", enter("i", None, false));
}

#[test]
fn joining_twice_makes_no_duplicate_and_leaving_removes_the_member() {
    let mut test = TestRoom::lobby().join("bob");
    assert_eq!(test.ok("bob", enter("bob", None, false)), []);
    assert_eq!(test.room.members().len(), 2);
    assert_eq!(test.ok("bob", Command::Leave), [left("bob", LeaveReason::Left)]);
    assert_eq!(test.ok("bob", Command::Leave), [], "leaving can be repeated");
    assert!(test.room.member(id("bob")).is_none());
}

#[test]
fn an_owner_who_leaves_is_succeeded_by_the_longest_present_seated_person() {
    let mut test =
        TestRoom::lobby().join("wim").join("bot-1").join("cy").join("bob").sit("bot-1", Black).sit("bob", White);
    assert_eq!(
        test.ok("ada", Command::Leave),
        [left("ada", LeaveReason::Left), stands_in("bob")],
        "before watchers, bots and earlier members"
    );
    test.ok("bob", Command::Leave);
    assert_eq!(test.owner(), "wim", "then the member who is present longest");
}

#[test]
fn the_room_closes_when_the_last_member_leaves() {
    let mut test = TestRoom::lobby().sit("ada", Black);
    let facts = test.ok("ada", Command::Leave);
    assert_eq!(facts.last(), Some(&Fact::Closed(CloseReason::Empty)));
    assert_eq!(facts[0], Fact::SeatChanged { seat: Black, occupant: Occupant::Open });
    assert_eq!(test.room.phase(), Phase::Closed);
}

#[test]
fn a_room_of_ais_without_members_stops_computing() {
    let mut test = TestRoom::ai_match(default_settings());
    assert!(test.room.ai_turn().is_some());
    let facts = test.ok("ada", Command::Leave);
    let aborted = GameEnd { winner: None, reason: EndReason::Aborted };
    assert_eq!(facts, [left("ada", LeaveReason::Left), Fact::GameEnded(aborted), Fact::Closed(CloseReason::Empty)]);
    assert_eq!((test.room.ai_turn(), test.room.deadline()), (None, None));
}

#[test]
fn leaving_during_a_game_ends_it_at_once() {
    for (leaver, winner) in [("ada", White), ("bob", Black)] {
        let mut test = TestRoom::two_players(default_settings());
        let facts = test.ok(leaver, Command::Leave);
        assert_eq!(facts[0], Fact::GameEnded(GameEnd { winner: Some(winner), reason: EndReason::Left }));
        assert_eq!(test.room.phase(), Phase::Lobby);
        assert_eq!(test.room.seats()[winner.opposite()].occupant, Occupant::Open);
    }
}

#[test]
fn a_watcher_who_leaves_does_not_affect_the_game() {
    let mut test = TestRoom::with_watchers().started();
    assert_eq!(test.ok("wim", Command::Leave), [left("wim", LeaveReason::Left)]);
    assert!(test.room.running().is_some());
}

#[test]
fn the_game_continues_when_a_watching_owner_leaves() {
    let mut test = TestRoom::with_watchers().started();
    test.ok("ada", Command::Leave);
    assert_eq!(test.owner(), "wim", "not a player of the game");
    assert!(test.room.running().is_some());
}

#[test]
fn ownership_can_be_transferred_only_to_a_member() {
    let mut test = TestRoom::lobby().join("bob");
    assert_eq!(test.refused("ada", Command::Transfer(id("xia"))), Rejection::PlayerNotFound);
    assert_eq!(test.ok("ada", Command::Transfer(id("ada"))), []);
    assert_eq!(
        test.ok("ada", Command::Transfer(id("bob"))),
        [Fact::OwnerChanged { owner: id("bob"), stands_in_for: None }]
    );
    assert_eq!(test.refused("ada", Command::SwapSeats), Rejection::NotOwner);
    test.ok("bob", Command::SwapSeats);
}

#[test]
fn a_kicked_player_may_join_again_but_a_banned_one_may_not() {
    let mut test = TestRoom::lobby().join("bob").sit("bob", Black);
    let opened = Fact::SeatChanged { seat: Black, occupant: Occupant::Open };
    assert_eq!(test.ok("ada", kick("bob")), [opened, left("bob", LeaveReason::Kicked)]);
    test = test.join("bob");
    test.ok("ada", ban("bob"));
    assert_eq!(test.refused("bob", enter("bob", Some(CODE), true)), Rejection::Banned);
    assert_eq!(test.ok("ada", ban("bob")), [], "a ban can be repeated");
    assert_eq!(test.room.may_watch(id("bob"), &valid_credentials()), Err(Rejection::Banned));
    assert_eq!(test.refused("ada", kick("xia")), Rejection::PlayerNotFound);
    assert_eq!(
        test.refused("ada", kick("ada")),
        Rejection::WrongPhase("the owner cannot be removed; leave the room instead")
    );
}

#[test]
fn a_player_kicked_by_an_administrator_loses_the_running_game() {
    let mut test = TestRoom::two_players(default_settings());
    let facts = test.ok("admin", ban("ada"));
    assert_eq!(facts[0], Fact::GameEnded(GameEnd { winner: Some(White), reason: EndReason::Kicked }));
    assert_eq!(test.owner(), "bob");
    assert_eq!(test.wins(), (0, 0), "a new pairing");
}

#[test]
fn the_ban_list_is_bounded() {
    let mut test = TestRoom::lobby().join("bob");
    for stranger in 0..Room::MAX_BANS as u64 {
        let player = PlayerId::from_random(1_000_000 + stranger);
        test.ok("ada", Command::Kick { player, ban: true });
    }
    assert_eq!(test.refused("ada", ban("bob")), Rejection::WrongPhase("the ban list is full"));
    assert_eq!(test.ok("ada", kick("bob")), [left("bob", LeaveReason::Kicked)]);
}

#[test]
fn chat_keeps_only_the_last_lines() {
    let mut test = TestRoom::lobby();
    for line in 0..=Room::CHAT_LINES {
        test.ok("ada", chat(&format!("line {line}")));
    }
    let lines: Vec<_> = test.room.chat().map(|line| line.text.to_string()).collect();
    assert_eq!((lines.len(), lines[0].as_str()), (Room::CHAT_LINES, "line 1"));
}

#[test]
fn an_absent_member_stays_for_the_grace_period() {
    let mut test = TestRoom::lobby().join("bob").sit("bob", White);
    test.ok("server", lost("bob"));
    assert_eq!(test.ok("server", lost("bob")), [], "a repeated loss has no effect");
    assert_eq!(test.wait(secs(59)), []);
    assert_eq!(test.ok("server", back("bob")), [Fact::PresenceChanged { player: id("bob"), present: true }]);
    assert_eq!(test.wait(secs(500)), []);
    test.ok("server", lost("bob"));
    let opened = Fact::SeatChanged { seat: White, occupant: Occupant::Open };
    assert_eq!(test.wait(secs(60)), [opened, left("bob", LeaveReason::Absent)]);
}

#[test]
fn ownership_of_an_absent_owner_moves_after_the_grace_period() {
    let mut test = TestRoom::lobby().join("wim").join("cy").sit("cy", Black);
    test.ok("server", lost("ada"));
    assert_eq!(test.wait(secs(60)), [left("ada", LeaveReason::Absent), stands_in("cy")]);
}

#[test]
fn a_watcher_stands_in_for_an_owner_who_is_absent_from_a_game() {
    let mut test = TestRoom::two_players(default_settings()).join("wim");
    test.play("d3c3");
    test.ok("server", lost("ada"));
    test.wait(secs(30));
    test.ok("ada", test.move_to(crate::fixtures::test_room::square("c4")));
    assert_eq!(test.wait(secs(30)), [stands_in("wim")]);
    assert_eq!(test.room.seat_of(id("ada")), Some(Black));
    let returned = Fact::OwnerChanged { owner: id("ada"), stands_in_for: None };
    assert_eq!(test.ok("server", back("ada"))[1..], [returned]);
    assert!(test.room.running().is_some());
}

#[test]
fn an_absent_player_loses_on_time_and_then_the_seat() {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3");
    test.ok("server", lost("bob"));
    let facts = test.wait(secs(60));
    assert_eq!(facts[0], Fact::GameEnded(GameEnd { winner: Some(Black), reason: EndReason::Timeout }));
    assert_eq!(facts.last(), Some(&left("bob", LeaveReason::Absent)));
}

#[test]
fn a_player_who_returns_in_time_can_still_move() {
    let mut test = TestRoom::two_players(default_settings());
    test.ok("server", lost("ada"));
    let flag = test.room.flag_falls();
    test.wait(secs(50));
    test.ok("server", back("ada"));
    assert_eq!(test.room.flag_falls(), flag);
    test.play("d3");
}

#[test]
fn a_room_closes_when_all_members_are_absent() {
    let mut test = TestRoom::lobby().join("bob").sit("bob", White);
    test.ok("server", lost("bob"));
    test.ok("server", lost("ada"));
    let facts = test.wait(secs(60));
    assert_eq!(facts.last(), Some(&Fact::Closed(CloseReason::Empty)));
}

#[test]
fn an_absent_player_does_not_delay_a_series() {
    let mut test = TestRoom::two_players(Settings { games: 1000, ..default_settings() });
    test.ok("server", lost("ada"));
    let facts = test.wait(secs(60));
    assert_eq!(facts[0], Fact::GameEnded(GameEnd { winner: Some(White), reason: EndReason::Timeout }));
    assert!(facts.contains(&left("ada", LeaveReason::Absent)), "{facts:?}");
    assert_eq!(test.room.phase(), Phase::Lobby);
}

#[test]
fn an_idle_room_closes_unless_a_game_runs() {
    let mut test = TestRoom::lobby();
    test.wait(secs(899));
    test.ok("ada", chat("still here"));
    assert_eq!(test.wait(secs(899)), []);
    assert_eq!(test.wait(secs(1)), [Fact::Closed(CloseReason::Idle)]);

    let slow = reversi_room::TimeControl { per_move: Some(secs(3600)), ..default_settings().time };
    let mut test = TestRoom::two_players(Settings { time: slow, ..default_settings() });
    assert_eq!(test.wait(secs(3599)), []);
}

#[test]
fn closing_a_room_ends_its_game_and_gives_the_reason() {
    for (who, close, end) in
        [("admin", CloseReason::Closed, EndReason::AbortedByAdmin), ("server", CloseReason::Server, EndReason::Server)]
    {
        let mut test = TestRoom::two_players(default_settings());
        let ended = Fact::GameEnded(GameEnd { winner: None, reason: end });
        assert_eq!(test.ok(who, Command::Close), [ended, Fact::Closed(close)]);
    }
    assert_eq!(TestRoom::lobby().ok("ada", Command::Close), [Fact::Closed(CloseReason::Closed)]);
}

#[test]
fn settings_that_do_not_affect_games_may_change_during_one() {
    let mut test = TestRoom::two_players(default_settings());
    let hidden = Settings { visibility: Visibility::Private, watching: Watching::Members, ..default_settings() };
    assert_eq!(
        test.ok("ada", Command::Configure(Box::new(hidden.clone()), None)),
        [Fact::SettingsChanged(Box::new(hidden.clone()))]
    );
    for settings in [
        Settings { password: Some(password()), ..hidden.clone() },
        Settings { games: 3, ..hidden.clone() },
        Settings { swap_sides: false, ..hidden.clone() },
        Settings { auto_start: true, ..hidden },
    ] {
        assert_eq!(test.refused("ada", Command::Configure(Box::new(settings), None)), Rejection::RoomInGame);
    }
}
