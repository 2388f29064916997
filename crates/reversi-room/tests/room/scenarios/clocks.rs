//! Clocks: which clock runs, losing on time, and the pause of AIs.

use std::time::Duration;

use reversi_engine::rules::{
    ByColor,
    Color::{self, Black, White},
};
use reversi_room::{Command, EndReason, Fact, GameEnd, LeaveReason, Rejection, Settings, TimeControl};

use crate::fixtures::test_room::{TestRoom, actor, default_settings, id, secs, square, total};

fn timed(time: TimeControl) -> Settings {
    Settings { time, ..default_settings() }
}

fn timeout(winner: Color) -> Fact {
    Fact::GameEnded(GameEnd { winner: Some(winner), reason: EndReason::Timeout })
}

#[test]
fn no_answer_in_time_loses_the_game() {
    let mut test = TestRoom::two_players(default_settings());
    assert_eq!(test.wait(secs(59)), []);
    test.play("d3");
    assert_eq!(test.wait(Duration::from_millis(59_999)), []);
    assert_eq!(test.wait(Duration::from_millis(1)), [timeout(Black)], "60 s a move by default");
    assert_eq!(test.wins(), (1, 0));
}

#[test]
fn a_late_answer_is_refused() {
    let mut test = TestRoom::two_players(default_settings());
    let answer = test.move_to(square("d3"));
    test.now = test.now.after(secs(60));
    let late = test.room.decide(test.now, test.mover(), answer.clone());
    assert_eq!(late, Err(Rejection::GameOver), "refused before the tick too");
    assert_eq!(test.refused("ada", answer.clone()), Rejection::GameOver);
    test.ok("ada", Command::SetReady(true));
    test.ok("bob", Command::SetReady(true));
    test.ok("ada", Command::Start(None));
    assert_eq!(test.refused("ada", answer), Rejection::GameOver, "the move was for the previous game");
    assert_eq!(test.game().ply(), 0);
}

#[test]
fn a_total_clock_runs_only_in_its_sides_turn_and_gains_the_increment() {
    let mut test = TestRoom::two_players(timed(total(secs(100), secs(5))));
    test.wait(secs(10));
    test.play("d3");
    assert_eq!(test.game().clocks.black, Some(secs(95)));
    test.wait(secs(30));
    test.play("c3");
    let game = test.game();
    assert_eq!((game.clocks.black, game.clocks.white), (Some(secs(95)), Some(secs(75))));
    assert_eq!(game.plies[1].spent_ms, 30_000);
    assert_eq!(test.wait(secs(94)), []);
    assert_eq!(test.wait(secs(1)), [timeout(White)]);
}

#[test]
fn the_clock_that_runs_out_first_decides() {
    let both = TimeControl { per_move: Some(secs(10)), total: Some(secs(15)), increment: Duration::ZERO };
    let mut test = TestRoom::two_players(timed(both));
    assert_eq!(test.wait(secs(10)), [timeout(White)]);

    let mut test = TestRoom::two_players(timed(both));
    test.wait(secs(9));
    test.play("d3c3");
    assert_eq!(test.game().clocks.black, Some(secs(6)));
    assert_eq!(test.wait(secs(6)), [timeout(White)]);
}

#[test]
fn both_clocks_are_visible() {
    let mut test = TestRoom::two_players(timed(total(secs(100), secs(0))));
    test.wait(secs(10));
    test.play("d3");
    assert_eq!(test.game().clocks, ByColor::new(Some(secs(90)), Some(secs(100))));
    assert_eq!(test.room.flag_falls(), Some(test.now.after(secs(100))));
    assert_eq!(test.game().turn_began, test.now);
}

#[test]
fn an_ai_has_a_clock_too() {
    let mut test = TestRoom::against_ai(default_settings());
    test.play("d3");
    assert!(test.room.ai_turn().is_some());
    assert_eq!(test.wait(secs(60)), [timeout(Black)]);
    assert_eq!(test.room.ai_turn(), None);
}

#[test]
fn an_ais_budget_lasts_to_the_end_of_the_game() {
    let mut test = TestRoom::ai_match(timed(total(secs(62), secs(0))));
    let turn = test.room.ai_turn().expect("an AI is to move");
    assert_eq!((turn.game, turn.ply), (1, 0));
    assert_eq!(turn.budget, secs(2), "60 empty squares: 30 moves, and one in reserve");
    while let Some(turn) = test.room.ai_turn() {
        test.now = turn.begins.after(turn.budget);
        let first = turn.position.legal_moves().first().expect("a move");
        test.place(first);
    }
    assert_eq!(test.end().map(|end| end.reason), Some(EndReason::Discs), "no side lost on time");
}

#[test]
fn an_ai_and_its_clock_wait_for_the_pause() {
    let mut test = TestRoom::against_ai(Settings { ai_pause: secs(2), ..default_settings() });
    assert_eq!(test.room.flag_falls(), Some(test.now.after(secs(60))), "a human does not wait for the pause");
    test.wait(secs(1));
    test.play("d3");
    let turn = test.room.ai_turn().expect("the AI is to move");
    assert_eq!((turn.begins, turn.budget), (test.now.after(secs(2)), secs(60)));
    assert_eq!(test.room.flag_falls(), Some(test.now.after(secs(62))));
    test.wait(secs(3));
    test.play("c3");
    assert_eq!(test.game().plies[1].spent_ms, 1_000);
    assert_eq!(test.game().turn_began, test.now);
}

#[test]
fn the_pause_also_applies_to_the_first_move_and_after_a_pass() {
    let test = TestRoom::ai_match(Settings { ai_pause: secs(2), ..default_settings() });
    assert_eq!(test.room.ai_turn().map(|turn| turn.begins), Some(test.now.after(secs(2))));

    let mut test = TestRoom::lobby().sit("ada", Black).ai(White);
    test.ok("ada", Command::Configure(Box::new(Settings { ai_pause: secs(2), ..default_settings() }), None));
    test.ok("ada", Command::Start(None));
    test.play("c4c3c2b2e6c1a1a3");
    assert_eq!(test.game().plies.last().map(|ply| ply.square), Some(None), "Ada had to pass");
    assert_eq!(test.room.ai_turn().map(|turn| turn.begins), Some(test.now.after(secs(2))));
}

#[test]
fn the_clock_of_a_finished_game_does_not_end_a_later_one() {
    let mut test = TestRoom::two_players(default_settings());
    let old_flag = test.room.flag_falls().expect("a clock");
    test.wait(secs(50));
    test.ok("ada", Command::Resign { game: 1 });
    assert_eq!(test.room.flag_falls(), None);
    test.ok("bob", Command::SetReady(true));
    test.ok("ada", Command::Start(None));
    assert!(test.room.deadline() > Some(old_flag));
    assert_eq!(test.wait(secs(59)), []);
    assert_eq!(test.room.flag_falls(), Some(test.now.after(secs(1))));
}

#[test]
fn the_downtime_of_the_server_is_not_counted() {
    let mut test = TestRoom::two_players(timed(total(secs(100), secs(0)))).join("cy");
    test.wait(secs(10));
    test.ok("server", Command::SetPresence(id("cy"), false));
    test.wait(secs(20));
    test.now = test.now.after(secs(3600));
    let micros = 3_600_000_000;
    let judged = test.room.decide(test.now, actor("server"), Command::Credit { micros }).expect("the server may");
    assert_eq!(test.accept(judged), [Fact::ClockCredited { micros }]);
    assert_eq!(test.room.turn_request(test.now).map(|request| request.clocks.left), Some(secs(70)));
    assert_eq!(test.wait(secs(39)), []);
    let absent = Fact::MemberLeft { player: id("cy"), reason: LeaveReason::Absent };
    assert_eq!(test.wait(secs(1)), [absent], "20 of the 60 s of grace had passed before");
    test.play("d3");
    assert_eq!(test.game().clocks.black, Some(secs(30)), "30 s before and 40 s after");
}

#[test]
fn a_move_that_waited_is_judged_by_its_arrival() {
    let mut test = TestRoom::two_players(timed(total(secs(10), secs(0))));
    let arrived = test.now.after(secs(9));
    test.now = test.now.after(secs(30));
    let play = Command::Play { game: 1, ply: 0, square: square("d3"), thought: None };
    let late = test.room.decide(test.now, actor("ada"), play.clone());
    assert_eq!(late, Err(Rejection::GameOver));
    let events = test.room.decide_arrived(test.now, arrived, actor("ada"), play).expect("in time");
    test.accept(events);
    assert_eq!(test.game().clocks, ByColor::new(Some(secs(1)), Some(secs(10))));
    assert_eq!(test.game().turn_began, test.now, "the opponent's time begins when the move is made");
}

#[test]
fn a_clock_set_back_shifts_start_times_back() {
    let mut test = TestRoom::two_players(default_settings());
    test.wait(secs(10));
    test.now = test.now.shifted(-3_600_000_000);
    test.ok("server", Command::Credit { micros: -3_600_000_000 });
    assert_eq!(test.room.flag_falls(), Some(test.now.after(secs(50))));
}

#[test]
fn no_absence_starts_in_the_future() {
    let mut test = TestRoom::lobby();
    test.ok("server", Command::SetPresence(id("ada"), false));
    // The server's last note of its running time was long before her connection was lost.
    test.ok("server", Command::Credit { micros: 3_600_000_000 });
    let since = test.room.member(id("ada")).and_then(|ada| ada.absent_since);
    assert_eq!(since, Some(test.now));
}

#[test]
fn a_credit_delays_the_next_game_of_a_series() {
    let mut test = TestRoom::two_players(Settings { games: 2, ..default_settings() });
    test.ok("ada", Command::Resign { game: 1 });
    let due = test.room.deadline().expect("the next game");
    test.ok("server", Command::Credit { micros: 5_000_000 });
    assert_eq!(test.room.deadline(), Some(due.after(secs(5))));
}

#[test]
fn a_credit_does_nothing_when_no_clock_runs() {
    let mut test = TestRoom::lobby();
    assert_eq!(test.ok("server", Command::Credit { micros: 1 }), []);
    let mut test = TestRoom::two_players(default_settings());
    assert_eq!(test.ok("server", Command::Credit { micros: 0 }), []);
    for who in ["ada", "admin"] {
        assert_eq!(test.refused(who, Command::Credit { micros: 1 }), Rejection::NotAdmin);
    }
    test.ok("ada", Command::Leave);
    assert_eq!(test.ok("server", Command::Credit { micros: 1 }), [], "a closed room");
}
