//! Opponents who have gone: the claim of the game.

use std::time::Duration;

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{Claim, Command, EndReason, Fact, GameEnd, Phase, Rejection, Settings, TimeControl};

use crate::fixtures::test_room::{TestRoom, default_settings, id, secs, total};

const WIN: Command = Command::Claim { game: 1, claim: Claim::Win };
const DRAW: Command = Command::Claim { game: 1, claim: Claim::Draw };
const NOT_GONE: Rejection =
    Rejection::WrongPhase("your opponent is there, or the game has too long a clock for claims");

fn lost(who: &str) -> Command {
    Command::SetPresence(id(who), false)
}

/// Ada and Bob have each moved in a game of `minutes` for each side, and Bob has gone.
fn bob_gone(minutes: u64) -> TestRoom {
    let time = total(secs(60 * minutes), Duration::ZERO);
    let mut test = TestRoom::two_players(Settings { time, ..default_settings() });
    test.play("d3c3");
    test.ok("server", lost("bob"));
    test
}

fn left(winner: Option<reversi_engine::rules::Color>) -> Fact {
    Fact::GameEnded(GameEnd { winner, reason: EndReason::Left })
}

#[test]
fn who_is_left_alone_claims_the_win_or_a_draw_after_a_while() {
    let mut test = bob_gone(2);
    let from = test.now.after(secs(30));
    assert_eq!((test.room.claim_from(White), test.room.claim_from(Black)), (Some(from), None));
    test.wait(Duration::from_millis(29_999));
    for claim in [WIN, DRAW] {
        assert_eq!(test.refused("ada", claim), Rejection::ClaimTooSoon(from));
    }
    test.wait(Duration::from_millis(1));
    assert_eq!(test.clone().ok("ada", DRAW), [left(None)]);
    assert_eq!(test.refused("bob", WIN), NOT_GONE, "the other one is there");
    assert_eq!(test.ok("ada", WIN), [left(Some(Black))]);
    assert_eq!((test.room.phase(), test.wins()), (Phase::Lobby, (1, 0)));
    assert_eq!(test.room.claim_from(White), None);
    assert_eq!(test.refused("ada", WIN), Rejection::GameOver);
}

#[test]
fn the_wait_is_a_quarter_of_the_longest_move_within_bounds() {
    let waits = |minutes| {
        let test = bob_gone(minutes);
        test.room.claim_from(White).map(|from| from.since(test.now))
    };
    assert_eq!(waits(1), Some(secs(20)));
    assert_eq!(waits(2), Some(secs(30)));
    assert_eq!(waits(60), Some(secs(45)), "less than the grace of 60 s");
    assert_eq!(waits(61), None, "in a long game players come and go");
    let mut test = bob_gone(61);
    test.wait(secs(600));
    assert_eq!(test.refused("ada", WIN), NOT_GONE);
    let time = TimeControl { per_move: Some(secs(8)), ..total(secs(300), Duration::ZERO) };
    let mut test = TestRoom::two_players(Settings { time, ..default_settings() });
    test.ok("server", lost("bob"));
    assert_eq!(test.room.claim_from(White), Some(test.now.after(secs(20))));
}

#[test]
fn an_opponent_who_is_back_in_time_plays_on() {
    let mut test = bob_gone(5);
    test.wait(secs(44));
    test.ok("server", Command::SetPresence(id("bob"), true));
    assert_eq!(test.room.claim_from(White), None);
    test.wait(secs(10));
    assert_eq!(test.refused("ada", WIN), NOT_GONE);
    test.ok("server", lost("bob"));
    assert_eq!(test.refused("ada", WIN), Rejection::ClaimTooSoon(test.now.after(secs(45))), "counted anew");
}

#[test]
fn an_outage_of_the_server_counts_for_nobody() {
    let mut test = bob_gone(2);
    let from = test.now.after(secs(30));
    test.now = test.now.after(secs(40));
    test.ok("server", Command::Credit { micros: 40_000_000 });
    assert_eq!(test.room.claim_from(White), Some(from.after(secs(40))));
    assert_eq!(test.refused("ada", WIN), Rejection::ClaimTooSoon(from.after(secs(40))));
}

#[test]
fn a_game_in_which_not_both_have_moved_is_only_aborted() {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3");
    test.ok("server", lost("bob"));
    test.wait(secs(30));
    let only_abort = Rejection::WrongPhase("until both sides have moved, a game can only be aborted");
    assert_eq!(test.refused("ada", WIN), only_abort);
    test.ok("ada", Command::Abort { game: 1 });
}

#[test]
fn only_a_player_of_the_game_claims_it_and_never_against_an_ai() {
    let mut test = bob_gone(2).join("wim");
    test.wait(secs(30));
    assert_eq!(test.refused("wim", WIN), Rejection::NotSeated);
    assert_eq!(test.refused("xia", WIN), Rejection::NotMember);
    assert_eq!(test.refused("server", WIN), Rejection::NotMember);
    assert_eq!(test.refused("ada", Command::Claim { game: 2, claim: Claim::Win }), Rejection::GameNotFound);
    let mut test = TestRoom::against_ai(default_settings());
    test.play("d3c3");
    assert_eq!(test.refused("ada", WIN), NOT_GONE);
}
