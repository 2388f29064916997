//! Rooms of a tournament: two players, one series, no owner.

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{Claim, Command, EndReason, GameEnd, Occupant, Offer, Phase, Rejection, Settings};

use crate::fixtures::test_room::{TestRoom, ban, default_settings, id, profile, secs, valid_credentials};

const OVER: Rejection = Rejection::WrongPhase("the room is for one meeting of a tournament, which is over");

fn settings() -> Settings {
    Settings { games: 2, swap_sides: true, auto_start: true, ..default_settings() }
}

#[test]
fn both_players_are_seated_members_and_no_one_owns_the_room() {
    let test = TestRoom::meeting(settings()).join("cy");
    let members: Vec<_> = test.room.members().iter().map(|member| member.profile.id).collect();
    assert_eq!(members, [id("ada"), id("bob"), id("cy")]);
    assert_eq!((test.room.phase(), test.room.owner(), test.room.payer()), (Phase::Playing, None, Some(id("ada"))));
    assert_eq!(test.room.seats().white.occupant, Occupant::Player(profile("bob")));
}

#[test]
fn the_players_can_change_nothing_and_play_no_other_game() {
    let mut test = TestRoom::meeting(settings()).join("cy");
    for who in ["ada", "cy", "organiser"] {
        for command in [Command::Close, ban("bob"), Command::EndSeries, Command::Transfer(id(who))] {
            assert_eq!(test.refused(who, command), Rejection::NotOwner);
        }
    }
    let abort = Rejection::WrongPhase("a game of a tournament cannot be aborted; resign it");
    assert_eq!(test.refused("ada", Command::Abort { game: 1 }), abort);
    let take_back = Rejection::WrongPhase("in a tournament no move is taken back");
    test.play("d3c3");
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, None)), take_back);
    test.play_out();
    test.wait(secs(3));
    test.play_out();
    assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));
    test.wait(secs(30));
    let take = Command::TakeSeat(Black);
    for (who, command) in [
        ("ada", Command::SetReady(true)),
        ("ada", Command::Offer(Offer::Rematch, None)),
        ("cy", take),
        ("bob", Command::LeaveSeat),
    ] {
        assert_eq!(test.refused(who, command), OVER);
    }
    test.refused("organiser", Command::Start(None));
    // For the next meeting.
    test.ok("ada", Command::Vacate);
    test.ok("bob", Command::Leave);
    test.ok("cy", Command::Leave);
    assert_eq!(test.room.phase(), Phase::Closed);
}

#[test]
fn who_leaves_loses_the_game_and_ends_the_series() {
    let mut test = TestRoom::meeting(settings());
    test.ok("bob", Command::Leave);
    assert_eq!(test.end(), Some(GameEnd { winner: Some(Black), reason: EndReason::Left }));
    assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));
    assert_eq!(test.refused("bob", Command::JoinGame(profile("bob"), White, None)), OVER);
}

/// Elsewhere such a game can only be aborted.
#[test]
fn a_game_whose_opponent_has_gone_is_claimed_from_its_first_move_on() {
    let mut test = TestRoom::meeting(settings());
    test.ok("server", Command::SetPresence(id("ada"), false));
    let from = test.room.claim_from(Black).expect("a claim");
    test.now = from;
    test.ok("bob", Command::Claim { game: 1, claim: Claim::Win });
    assert_eq!(test.end(), Some(GameEnd { winner: Some(White), reason: EndReason::Left }));
}

#[test]
fn a_spectator_cannot_stand_in_for_an_owner() {
    let mut test = TestRoom::meeting(settings());
    test.ok("cy", Command::Join(profile("cy"), valid_credentials()));
    test.wait(secs(20));
    assert_eq!(test.room.owner(), None);
    test.refused("cy", Command::Close);
    test.ok("admin", Command::Close);
}
