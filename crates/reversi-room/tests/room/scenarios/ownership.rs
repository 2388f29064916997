//! Whose a room is: the owner who goes and comes back, who stands in, and co-owners.

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{
    Command, Credentials, Fact, LeaveReason, Phase, Rejection, Room, SeatSetting, Settings, Visibility, Watching,
};

use crate::fixtures::test_room::{TestRoom, ai, ban, default_settings, id, kick, password, profile, secs};

fn lost(who: &str) -> Command {
    Command::SetPresence(id(who), false)
}

fn named(who: &str) -> Command {
    Command::SetCoOwner(id(who), true)
}

fn is_back(who: &str) -> Fact {
    Fact::OwnerChanged { owner: id(who), stands_in_for: None }
}

fn series() -> Settings {
    Settings { games: 3, ..default_settings() }
}

#[test]
fn an_owner_who_was_away_too_long_gets_the_room_back_and_can_close_it() {
    let mut test = TestRoom::lobby().join("bob").sit("bob", White);
    test.ok("server", lost("ada"));
    test.wait(secs(60));
    assert_eq!(test.owner(), "bob", "who stands in");
    assert_eq!(test.ok("ada", Command::Join(profile("ada"), Credentials::default()))[1..], [is_back("ada")]);
    assert_eq!(test.refused("bob", Command::SwapSeats), Rejection::NotOwner);
    test.ok("ada", Command::Close);
    assert_eq!(test.room.phase(), Phase::Closed);
}

#[test]
fn players_of_a_running_series_do_not_inherit() {
    let mut test = TestRoom::of(series()).join("bob").join("cy").sit("bob", Black).sit("cy", White).started();
    test.ok("server", lost("ada"));
    test.play("d3");
    test.wait(secs(30));
    test.play("c3");
    assert_eq!(test.wait(secs(30)), [Fact::MemberLeft { player: id("ada"), reason: LeaveReason::Absent }]);
    assert_eq!(test.owner(), "", "the room has no other member");
    assert_eq!(test.room.payer(), Some(id("bob")), "but somebody answers for the games that begin");
    for who in ["bob", "cy", "ada"] {
        assert_eq!(test.refused(who, Command::EndSeries), Rejection::NotOwner, "{who}");
    }
    // The room is still Ada's, also between two games.
    test.ok("bob", Command::Resign { game: 1 });
    assert_eq!(test.owner(), "");
    let mut back = test.clone();
    back.ok("ada", Command::Join(profile("ada"), Credentials::default()));
    assert_eq!(back.owner(), "ada");
    back.ok("ada", Command::EndSeries);
    // Once no series runs, the room needs somebody.
    test.wait(Room::PEOPLE_GAP);
    test.ok("bob", Command::Abort { game: 2 });
    assert_eq!(test.wait(secs(0)), [Fact::OwnerChanged { owner: id("bob"), stands_in_for: Some(id("ada")) }]);
}

#[test]
fn a_co_owner_who_stands_in_cannot_give_the_room_away_or_lock_its_owner_out() {
    let private = Settings { visibility: Visibility::Private, ..default_settings() };
    let mut test = TestRoom::of(private.clone()).join("bob").join("cy");
    test.ok("ada", named("bob"));
    test.ok("ada", Command::Leave);
    let locked = Settings { password: Some(password()), ..private };
    test.ok("bob", Command::Configure(Box::new(locked), None));
    assert_eq!(test.refused("bob", Command::Transfer(id("cy"))), Rejection::NotOwner);
    assert_eq!(test.refused("bob", named("cy")), Rejection::NotOwner);
    let stays = Rejection::WrongPhase("the owner cannot be removed; leave the room instead");
    assert_eq!(test.refused("bob", ban("ada")), stays);
    // Ada knows neither the new password nor needs the code.
    test.ok("ada", Command::Join(profile("ada"), Credentials::default()));
    assert_eq!(test.owner(), "ada");
}

#[test]
fn who_only_stands_in_keeps_the_room_going_but_ends_nothing_and_shuts_nobody_out() {
    let mut test = TestRoom::lobby().join("bob").join("cy");
    test.ok("ada", Command::Leave);
    assert_eq!(test.owner(), "bob");
    let configure = |settings: Settings| Command::Configure(Box::new(settings), None);
    test.ok("bob", configure(Settings { games: 3, ..default_settings() }));
    for shut in [
        Settings { password: Some(password()), ..default_settings() },
        Settings { visibility: Visibility::Private, ..default_settings() },
        Settings { watching: Watching::Members, ..default_settings() },
    ] {
        assert_eq!(test.refused("bob", configure(Settings { games: 3, ..shut })), Rejection::NotOwner);
    }
    assert_eq!(test.refused("bob", Command::Close), Rejection::NotOwner);
    assert_eq!(test.refused("bob", ban("cy")), Rejection::NotOwner);
    test = test.sit("cy", Black);
    test.ok("bob", Command::SetSeat(White, ai()));
    test.ok("cy", Command::SetReady(true));
    test.ok("bob", Command::Start(None));
    assert_eq!(test.refused("bob", Command::EndSeries), Rejection::NotOwner);
    test = test.join("ada");
    test.ok("ada", Command::EndSeries);
}

#[test]
fn the_place_of_an_owner_who_is_away_is_kept() {
    let mut test = TestRoom::lobby().join("bob");
    test.ok("ada", Command::Leave);
    let join = |who: &str| Command::Join(profile(who), Credentials::default());
    // Of eight members.
    for who in ["cy", "dan", "eve", "fay", "gus", "hal"] {
        test.ok(who, join(who));
    }
    assert_eq!(test.refused("ian", join("ian")), Rejection::RoomFull);
    test.ok("ada", Command::Join(profile("ada"), Credentials::default()));
    assert_eq!(test.owner(), "ada");
}

#[test]
fn a_transferred_room_and_that_of_a_banned_owner_do_not_come_back() {
    let mut test = TestRoom::lobby().join("bob").join("cy");
    test.ok("ada", Command::Transfer(id("bob")));
    test = {
        test.ok("ada", Command::Leave);
        test.join("ada")
    };
    assert_eq!(test.owner(), "bob");
    test.ok("admin", ban("bob"));
    assert_eq!(test.owner(), "cy");
    test.ok("cy", Command::Transfer(id("ada")));

    let mut test = TestRoom::lobby().join("bob").join("cy");
    test.ok("ada", Command::Leave);
    assert_eq!(test.refused("bob", Command::Transfer(id("cy"))), Rejection::NotOwner);
    test.ok("admin", ban("ada"));
    test.ok("bob", Command::Transfer(id("cy")));
}

#[test]
fn an_owner_who_returns_to_a_rated_game_of_who_stands_in_waits_for_its_end() {
    let rated = Settings { rated: true, ..default_settings() };
    let mut test = TestRoom::of(rated).join("bot-1").join("bot-2");
    test.ok("ada", Command::Leave);
    test = test.sit("bot-1", Black).sit("bot-2", White);
    test.ok("bot-1", Command::Start(None));
    test = test.join("ada");
    // As the owner she could end the rated game of the bot that stood in.
    assert_eq!(test.owner(), "bot-1");
    test.ok("bot-2", Command::Resign { game: 1 });
    assert_eq!(test.wait(secs(0)), [is_back("ada")]);
}

#[test]
fn co_owners_manage_the_room() {
    let mut test = TestRoom::with_watchers();
    assert_eq!(test.ok("ada", named("wim")), [Fact::CoOwnerChanged { player: id("wim"), named: true }]);
    assert_eq!(test.ok("ada", named("wim")), [], "naming can be repeated");
    let shorter = Settings { ai_pause: secs(1), ..default_settings() };
    for command in [
        Command::SwapSeats,
        kick("bob"),
        ban("zoe"),
        Command::SetSeat(Black, ai()),
        Command::Configure(Box::new(shorter), None),
        Command::Start(None),
        Command::Close,
    ] {
        let mut test = test.clone();
        if command == Command::SetSeat(Black, ai()) {
            test.ok("bob", Command::LeaveSeat);
        }
        test.ok("wim", command);
    }
    let stays = Rejection::WrongPhase("the owner cannot be removed; leave the room instead");
    assert_eq!(test.refused("wim", kick("ada")), stays);
    assert_eq!(test.refused("wim", Command::Transfer(id("wim"))), Rejection::NotOwner);
    assert_eq!(test.refused("wim", named("bob")), Rejection::NotOwner);
    assert_eq!(test.refused("wim", Command::SetCoOwner(id("wim"), false)), Rejection::NotOwner);
    test.ok("ada", named("bob"));
    assert_eq!(test.refused("wim", kick("bob")), Rejection::NotOwner, "co-owners do not remove each other");
    test.ok("ada", kick("bob"));
    test = test.join("bob");
    assert!(!test.room.may_manage(id("bob")), "who was removed is named anew");
    test.ok("ada", Command::SetCoOwner(id("wim"), false));
    assert_eq!(test.refused("wim", Command::SwapSeats), Rejection::NotOwner);
}

#[test]
fn a_co_owner_is_the_first_to_stand_in_and_stays_one_while_away() {
    let mut test = TestRoom::with_watchers();
    test.ok("ada", named("wim"));
    test.ok("wim", Command::Leave);
    assert_eq!(test.refused("wim", Command::SwapSeats), Rejection::NotOwner, "no member");
    test = test.join("wim");
    test.ok("wim", Command::SwapSeats);
    test.ok("ada", Command::Leave);
    assert_eq!(test.owner(), "wim", "before the seated players");
}

#[test]
fn a_co_owner_cannot_take_the_owners_seat_or_end_the_owners_rated_game() {
    let mut test = TestRoom::seated(default_settings()).join("wim");
    test.ok("ada", named("wim"));
    let open = Command::SetSeat(Black, SeatSetting::Open);
    assert_eq!(test.refused("wim", open.clone()), Rejection::SeatTaken);
    test.ok("ada", open);

    let rated = Settings { rated: true, ..default_settings() };
    let mut test = TestRoom::of(rated).join("bot-1").join("bot-2").sit("bot-1", Black).sit("bot-2", White);
    test.ok("ada", named("bot-1"));
    test.ok("ada", Command::Start(None));
    test.play("d3c3");
    assert_eq!(test.refused("bot-1", Command::Abort { game: 1 }), Rejection::RoomInGame);
    assert_eq!(test.refused("ada", Command::Abort { game: 1 }), Rejection::RoomInGame);
}

#[test]
fn co_owners_are_bounded_members() {
    let who = |number: usize| format!("member {number}");
    let mut test = TestRoom::lobby();
    for number in 0..=Room::MAX_CO_OWNERS {
        test.ok(&who(number), Command::Join(profile(&who(number)), Credentials::default()));
        if number < Room::MAX_CO_OWNERS {
            test.ok("ada", named(&who(number)));
            test.ok(&who(number), Command::Leave);
        }
    }
    let full = Rejection::WrongPhase("the room has its maximum number of co-owners");
    assert_eq!(test.refused("ada", named(&who(Room::MAX_CO_OWNERS))), full);
    assert_eq!(test.refused("ada", named("zoe")), Rejection::PlayerNotFound);
    assert_eq!(test.ok("ada", named("ada")), [], "the owner needs no more rights");
    test.ok("ada", Command::SetCoOwner(id(&who(0)), false));
    test.ok("ada", named(&who(Room::MAX_CO_OWNERS)));
}
