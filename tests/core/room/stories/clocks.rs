//! Clocks: which clock runs, losing on time, and the pause of AIs.

use std::time::Duration;

use reversi::{
    room::{Command, EndReason, Fact, GameEnd, LeaveReason, Rejection, Settings, TimeControl},
    rules::{
        ByColor,
        Color::{self, Black, White},
    },
};

use crate::room::test_room::{World, actor, id, secs, square, total, usual};

fn timed(time: TimeControl) -> Settings {
    Settings { time, ..usual() }
}

fn timeout(winner: Color) -> Fact {
    Fact::GameEnded(GameEnd { winner: Some(winner), reason: EndReason::Timeout })
}

#[test]
fn k8_no_answer_in_time_loses_the_game() {
    let mut world = World::duel(usual());
    assert_eq!(world.wait(secs(59)), []);
    world.play("d3");
    assert_eq!(world.wait(Duration::from_millis(59_999)), []);
    assert_eq!(world.wait(Duration::from_millis(1)), [timeout(Black)], "60 s a move by default");
    assert_eq!(world.wins(), (1, 0));
}

#[test]
fn b16_a_late_answer_is_refused() {
    let mut world = World::duel(usual());
    let answer = world.move_to(square("d3"));
    world.now = world.now.after(secs(60));
    let late = world.room.decide(world.now, world.mover(), answer.clone());
    assert_eq!(late, Err(Rejection::GameOver), "even before the driver has ticked");
    assert_eq!(world.refused("ada", answer.clone()), Rejection::GameOver);
    world.ok("ada", Command::SetReady(true));
    world.ok("bob", Command::SetReady(true));
    world.ok("ada", Command::Start);
    assert_eq!(world.refused("ada", answer), Rejection::GameOver, "the next game is not the one it was meant for");
    assert_eq!(world.game().ply(), 0);
}

#[test]
fn a_total_clock_runs_only_in_its_sides_turn_and_gains_the_increment() {
    let mut world = World::duel(timed(total(secs(100), secs(5))));
    world.wait(secs(10));
    world.play("d3");
    assert_eq!(world.game().clocks.black, Some(secs(95)));
    world.wait(secs(30));
    world.play("c3");
    let game = world.game();
    assert_eq!((game.clocks.black, game.clocks.white), (Some(secs(95)), Some(secs(75))));
    assert_eq!(game.plies[1].spent_ms, 30_000);
    assert_eq!(world.wait(secs(94)), []);
    assert_eq!(world.wait(secs(1)), [timeout(White)]);
}

#[test]
fn the_clock_that_runs_out_first_decides() {
    let both = TimeControl { per_move: Some(secs(10)), total: Some(secs(15)), increment: Duration::ZERO };
    let mut world = World::duel(timed(both));
    assert_eq!(world.wait(secs(10)), [timeout(White)]);

    let mut world = World::duel(timed(both));
    world.wait(secs(9));
    world.play("d3c3");
    assert_eq!(world.game().clocks.black, Some(secs(6)));
    assert_eq!(world.wait(secs(6)), [timeout(White)]);
}

#[test]
fn b18_both_clocks_are_visible() {
    let mut world = World::duel(timed(total(secs(100), secs(0))));
    world.wait(secs(10));
    world.play("d3");
    assert_eq!(world.game().clocks, ByColor::new(Some(secs(90)), Some(secs(100))));
    assert_eq!(world.room.flag_falls(), Some(world.now.after(secs(100))));
    assert_eq!(world.game().turn_began, world.now);
}

#[test]
fn b19_an_ai_has_a_clock_too() {
    let mut world = World::against_ai(usual());
    world.play("d3");
    assert!(world.room.ai_turn().is_some());
    assert_eq!(world.wait(secs(60)), [timeout(Black)]);
    assert_eq!(world.room.ai_turn(), None);
}

#[test]
fn an_ais_budget_lasts_to_the_end_of_the_game() {
    let mut world = World::ai_match(timed(total(secs(62), secs(0))));
    let turn = world.room.ai_turn().expect("black thinks");
    assert_eq!((turn.game, turn.ply), (1, 0));
    assert_eq!(turn.budget, secs(2), "60 empties are 30 moves and a spare one");
    while let Some(turn) = world.room.ai_turn() {
        world.now = turn.begins.after(turn.budget);
        let first = turn.position.legal_moves().first().expect("a move");
        world.place(first);
    }
    assert_eq!(world.end().map(|end| end.reason), Some(EndReason::Discs), "nobody's flag fell");
}

#[test]
fn k10_an_ai_and_its_clock_wait_for_the_pause() {
    let mut world = World::against_ai(Settings { ai_pause: secs(2), ..usual() });
    assert_eq!(world.room.flag_falls(), Some(world.now.after(secs(60))), "a person is not held up");
    world.wait(secs(1));
    world.play("d3");
    let turn = world.room.ai_turn().expect("the AI is to move");
    assert_eq!((turn.begins, turn.budget), (world.now.after(secs(2)), secs(60)));
    assert_eq!(world.room.flag_falls(), Some(world.now.after(secs(62))));
    world.wait(secs(3));
    world.play("c3");
    assert_eq!(world.game().plies[1].spent_ms, 1_000);
    assert_eq!(world.game().turn_began, world.now);
}

#[test]
fn k10_the_pause_also_applies_to_the_first_move_and_after_a_pass() {
    let world = World::ai_match(Settings { ai_pause: secs(2), ..usual() });
    assert_eq!(world.room.ai_turn().map(|turn| turn.begins), Some(world.now.after(secs(2))));

    let mut world = World::lobby().sit("ada", Black).ai(White);
    world.ok("ada", Command::Configure(Box::new(Settings { ai_pause: secs(2), ..usual() })));
    world.ok("ada", Command::Start);
    world.play("c4c3c2b2e6c1a1a3");
    assert_eq!(world.game().plies.last().map(|ply| ply.square), Some(None), "Ada had to pass");
    assert_eq!(world.room.ai_turn().map(|turn| turn.begins), Some(world.now.after(secs(2))));
}

#[test]
fn b22_the_clock_of_a_finished_game_does_not_end_a_later_one() {
    let mut world = World::duel(usual());
    let old_flag = world.room.flag_falls().expect("a clock");
    world.wait(secs(50));
    world.ok("ada", Command::Resign { game: 1 });
    assert_eq!(world.room.flag_falls(), None);
    world.ok("bob", Command::SetReady(true));
    world.ok("ada", Command::Start);
    assert!(world.room.deadline() > Some(old_flag));
    assert_eq!(world.wait(secs(59)), []);
    assert_eq!(world.room.flag_falls(), Some(world.now.after(secs(1))));
}

#[test]
fn the_downtime_of_the_server_is_not_counted() {
    let mut world = World::duel(timed(total(secs(100), secs(0)))).join("cy");
    world.wait(secs(10));
    world.ok("server", Command::SetPresence(id("cy"), false));
    world.wait(secs(20));
    world.now = world.now.after(secs(3600));
    let micros = 3_600_000_000;
    let judged = world.room.decide(world.now, actor("server"), Command::Credit { micros }).expect("the server may");
    assert_eq!(world.accept(judged), [Fact::ClockCredited { micros }]);
    assert_eq!(world.room.turn_request(world.now).map(|request| request.clocks.left), Some(secs(70)));
    assert_eq!(world.wait(secs(39)), []);
    let absent = Fact::MemberLeft { player: id("cy"), reason: LeaveReason::Absent };
    assert_eq!(world.wait(secs(1)), [absent], "20 of 60 s of grace were gone before");
    world.play("d3");
    assert_eq!(world.game().clocks.black, Some(secs(30)), "30 s before and 40 s after");
}

#[test]
fn a_clock_set_back_shifts_start_times_back() {
    let mut world = World::duel(usual());
    world.wait(secs(10));
    world.now = world.now.shifted(-3_600_000_000);
    world.ok("server", Command::Credit { micros: -3_600_000_000 });
    assert_eq!(world.room.flag_falls(), Some(world.now.after(secs(50))));
}

#[test]
fn no_absence_starts_in_the_future() {
    let mut world = World::lobby();
    world.ok("server", Command::SetPresence(id("ada"), false));
    // The server's last note of its running time was long before her connection was lost.
    world.ok("server", Command::Credit { micros: 3_600_000_000 });
    let since = world.room.member(id("ada")).and_then(|ada| ada.absent_since);
    assert_eq!(since, Some(world.now));
}

#[test]
fn a_credit_delays_the_next_game_of_a_series() {
    let mut world = World::duel(Settings { games: 2, ..usual() });
    world.ok("ada", Command::Resign { game: 1 });
    let due = world.room.deadline().expect("the next game");
    world.ok("server", Command::Credit { micros: 5_000_000 });
    assert_eq!(world.room.deadline(), Some(due.after(secs(5))));
}

#[test]
fn a_credit_does_nothing_when_no_clock_runs() {
    let mut world = World::lobby();
    assert_eq!(world.ok("server", Command::Credit { micros: 1 }), []);
    let mut duel = World::duel(usual());
    assert_eq!(duel.ok("server", Command::Credit { micros: 0 }), []);
    for who in ["ada", "admin"] {
        assert_eq!(duel.refused(who, Command::Credit { micros: 1 }), Rejection::NotAdmin);
    }
    world.ok("ada", Command::Leave);
    assert_eq!(world.ok("server", Command::Credit { micros: 1 }), [], "a closed room");
}
