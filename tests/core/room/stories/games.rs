//! Games: moves, passes, ends, offers and strikes.

use reversi::{
    room::{Command, EndReason, Fact, GameEnd, Occupant, Offer, Phase, Rejection, Room, Settings, Viewer},
    rules::{
        Bitboard, ByColor,
        Color::{self, Black, White},
        Outcome, Position, Transcript,
    },
};

use crate::room::test_room::{World, id, secs, square, usual};

/// A game that ends when neither side can move, with 31 discs each.
const DRAWN: &str = "f5f6c4g5g6h6h5c3h7b4f7d6e6g7e7e8b2c2d7f4d2c6b6g8f3a6a4c1c8f8b7a1\
    b5d8c7c5d3h4h3a3h8a7b8f2b1d1f1g3b3e3e1a8a2a5h2g1g4e2";
const WIPE_OUT: &str = "e6f4e3f6g5d6e7f5c5";
const BLOCKED: &str = "d3c5e6f5g6f7b5h5g8e8h7c4b3";
/// Moves after which black must pass.
const PASSED: &str = "c4c3c2b2e6c1a1a3";

fn ended(winner: Option<Color>, reason: EndReason) -> Fact {
    Fact::GameEnded(GameEnd { winner, reason })
}

fn outcome(world: &World) -> Outcome {
    world.game().position.outcome().expect("the game is over")
}

#[test]
fn a_game_without_moves_left_ends_by_discs() {
    let mut world = World::duel(usual());
    let end = world.play_out();
    let outcome = outcome(&world);
    assert_eq!(end, GameEnd { winner: outcome.winner, reason: EndReason::Discs });
    assert_eq!(outcome.official().black + outcome.official().white, 64);
    assert_eq!(world.wins().0 + world.wins().1, 1);
    let record = Transcript::from_squares(world.game().squares()).expect("a record");
    assert_eq!(record.position(), world.game().position);
    assert_eq!(world.room.phase(), Phase::Lobby);
}

#[test]
fn a_game_ends_when_a_color_is_wiped_out() {
    let mut world = World::duel(usual());
    let facts = world.play(WIPE_OUT);
    assert_eq!(facts.last(), Some(&ended(Some(Black), EndReason::Discs)));
    assert_eq!(outcome(&world).discs, ByColor::new(13, 0));
    assert_eq!(outcome(&world).official(), ByColor::new(64, 0));
}

#[test]
fn a_game_ends_when_neither_side_can_move_and_the_winner_gets_the_empties() {
    let mut world = World::duel(usual());
    let facts = world.play(BLOCKED);
    assert_eq!(facts.last(), Some(&ended(Some(Black), EndReason::Discs)));
    assert_eq!(outcome(&world).discs, ByColor::new(15, 2));
    assert_eq!(outcome(&world).official(), ByColor::new(62, 2));
}

#[test]
fn b21_equal_discs_are_a_draw() {
    let mut world = World::duel(usual());
    let facts = world.play(DRAWN);
    assert_eq!(facts.last(), Some(&ended(None, EndReason::Discs)));
    assert_eq!(outcome(&world).official(), ByColor::new(32, 32));
    assert_eq!(world.wins(), (0, 0));
    assert!(world.room.seats().iter().all(|(_, seat)| seat.draws == 1));
}

#[test]
fn b33_a_forced_pass_is_an_event_in_the_record() {
    let mut world = World::duel(usual());
    let facts = world.play(PASSED);
    assert!(matches!(facts[facts.len() - 2..], [Fact::Played { .. }, Fact::Passed]));
    let game = world.game();
    assert_eq!((game.ply(), game.turn()), (9, Some(White)));
    assert_eq!(game.last_move(), Some(square("a3")));
    assert_eq!(game.squares().count(), 8);
    let first = game.position.legal_moves().first().expect("white can move");
    let forged = Command::Play { game: 1, ply: 8, square: first, thought: None };
    assert_eq!(world.refused("ada", forged), Rejection::StalePly, "black cannot take back the pass");
    world.place(first);
}

#[test]
fn b15_an_illegal_move_is_refused_with_the_legal_ones_and_the_clock_keeps_running() {
    let mut world = World::duel(usual());
    let legal = Position::START.legal_moves();
    let flag = world.room.flag_falls();
    world.wait(secs(5));
    for name in ["a1", "d4", "h8", "f4"] {
        assert_eq!(world.refused("ada", world.move_to(square(name))), Rejection::IllegalMove(legal));
    }
    assert_eq!((world.room.flag_falls(), world.game().strikes), (flag, 0));
}

#[test]
fn b16_a_move_is_accepted_only_for_its_game_and_ply() {
    let mut world = World::duel(usual());
    let play = |game, ply, name| Command::Play { game, ply, square: square(name), thought: None };
    assert_eq!(world.refused("bob", play(1, 0, "d3")), Rejection::NotYourTurn);
    world.play("d3");
    assert_eq!(world.ok("ada", play(1, 0, "d3")), [], "the same move again is no error");
    assert_eq!(world.refused("ada", play(1, 0, "c4")), Rejection::StalePly);
    assert_eq!(world.refused("bob", play(1, 0, "d3")), Rejection::StalePly, "that was not Bob's move");
    assert_eq!(world.refused("ada", play(1, 2, "c4")), Rejection::NotYourTurn);
    assert_eq!(world.refused("bob", play(1, 3, "c3")), Rejection::NotYourTurn, "not yet");
    assert_eq!(world.refused("bob", play(2, 1, "c3")), Rejection::GameNotFound);
    assert_eq!(world.refused("bob", play(0, 1, "c3")), Rejection::GameNotFound);
    world.ok("bob", play(1, 1, "c3"));
    assert_eq!(world.ok("ada", play(1, 0, "d3")), [], "however late");
}

#[test]
fn repeating_the_last_move_of_a_game_is_not_an_error() {
    let mut world = World::duel(usual());
    world.play(&WIPE_OUT[..16]);
    let last = world.move_to(square("c5"));
    world.ok("ada", last.clone());
    assert_eq!(world.ok("ada", last), []);
}

#[test]
fn before_the_first_game_moves_are_refused() {
    let mut world = World::seated(usual());
    let play = Command::Play { game: 1, ply: 0, square: square("d3"), thought: None };
    assert_eq!(world.refused("ada", play), Rejection::GameNotFound);
    assert_eq!(world.refused("ada", Command::Resign { game: 1 }), Rejection::GameNotFound);
    assert_eq!(world.refused("ada", Command::Abort { game: 1 }), Rejection::GameNotFound);
    let none = Rejection::WrongPhase("no game has been played in this room");
    assert_eq!(world.refused("ada", Command::Offer(Offer::Rematch)), none);
    assert_eq!(world.refused("ada", Command::Offer(Offer::Draw)), Rejection::GameOver);
}

#[test]
fn a_player_may_resign_in_either_sides_turn() {
    for (who, winner) in [("ada", White), ("bob", Black)] {
        let mut world = World::duel(usual());
        assert_eq!(world.ok(who, Command::Resign { game: 1 }), [ended(Some(winner), EndReason::Resignation)]);
        assert_eq!(world.refused(who, Command::Resign { game: 1 }), Rejection::GameOver);
    }
}

#[test]
fn b20_an_aborted_game_has_no_winner_and_is_not_counted() {
    let mut world = World::duel(usual());
    world.play("d3");
    assert_eq!(world.ok("bob", Command::Abort { game: 1 }), [ended(None, EndReason::Aborted)]);
    assert_eq!(world.wins(), (0, 0));
    assert!(world.room.seats().iter().all(|(_, seat)| seat.draws == 0));
    assert_eq!(world.room.phase(), Phase::Lobby);
}

#[test]
fn a_player_may_abort_until_both_have_moved() {
    let opening = "d3c3c4".parse().expect("moves");
    let settings = reversi::room::Settings { opening: reversi::room::Opening::Moves(opening), ..usual() };
    let mut world = World::duel(settings);
    assert_eq!((world.game().opening, world.game().turn()), (3, Some(White)));
    world.play("c5");
    world.clone().ok("ada", Command::Abort { game: 1 });
    world.place(world.game().position.legal_moves().first().expect("a move"));
    assert_eq!(world.refused("bob", Command::Abort { game: 1 }), Rejection::NotOwner);
    assert_eq!(world.refused("ada", Command::Abort { game: 1 }), Rejection::RoomInGame);
}

#[test]
fn b24_the_owner_ends_a_game_of_ais() {
    let mut world = World::ai_match(usual());
    world.play("d3c3c4");
    assert_eq!(world.ok("ada", Command::Abort { game: 1 }), [ended(None, EndReason::Aborted)]);
    assert_eq!(world.room.ai_turn(), None);
}

#[test]
fn b31_only_players_make_their_moves_and_only_the_server_those_of_an_ai() {
    let mut world = World::against_ai(usual()).join("bob");
    let play = world.move_to(square("d3"));
    for who in ["bob", "xia", "admin"] {
        assert_eq!(world.refused(who, play.clone()), Rejection::NotSeated);
    }
    assert_eq!(world.refused("server", play), Rejection::NotYourTurn);
    world.play("d3");
    assert_eq!(world.refused("ada", world.move_to(square("c3"))), Rejection::NotYourTurn);
    world.ok("server", world.move_to(square("c3")));
}

#[test]
fn b36_an_illegal_ai_move_is_refused_and_the_ai_is_asked_again() {
    let mut world = World::ai_match(usual());
    let asked = world.room.ai_turn();
    assert!(matches!(world.refused("server", world.move_to(square("a1"))), Rejection::IllegalMove(_)));
    assert_eq!(world.room.ai_turn(), asked);
    assert_eq!(world.ok("server", Command::Strike { game: 1, ply: 0 }), [], "an AI is not a bot");
    world.play("d3");
}

#[test]
fn the_third_illegal_move_in_one_turn_forfeits_a_bots_game() {
    let mut world = World::lobby().join("bot-1").sit("ada", Black).sit("bot-1", White).started();
    assert_eq!(world.ok("server", Command::Strike { game: 1, ply: 0 }), [], "people may err");
    world.play("d3");
    let strike = |ply| Command::Strike { game: 1, ply };
    assert_eq!(world.refused("server", strike(0)), Rejection::StalePly);
    assert_eq!(world.ok("server", strike(1)), [Fact::Struck]);
    assert_eq!(world.ok("server", strike(1)), [Fact::Struck]);
    world.play("c3c4");
    assert_eq!(world.game().strikes, 0, "a move clears them");
    for _ in 1..Room::STRIKES {
        assert_eq!(world.ok("server", strike(3)), [Fact::Struck]);
    }
    assert_eq!(world.ok("server", strike(3)), [Fact::Struck, ended(Some(Black), EndReason::Kicked)]);
    assert_eq!(world.refused("server", strike(3)), Rejection::GameOver);
}

#[test]
fn a_draw_is_offered_and_agreed() {
    let mut world = World::duel(usual());
    let offered = Fact::OfferMade { offer: Offer::Draw, by: Black };
    assert_eq!(world.ok("ada", Command::Offer(Offer::Draw)), [offered]);
    assert_eq!(world.ok("ada", Command::Offer(Offer::Draw)), [], "an offer can be repeated");
    assert_eq!(world.game().draw_offer, Some(Black));
    let own = Rejection::WrongPhase("only the other side can accept this offer");
    assert_eq!(world.refused("ada", Command::Answer(Offer::Draw, true)), own);
    let closed = Fact::OfferClosed { offer: Offer::Draw, accepted: true };
    let drawn = ended(None, EndReason::Agreed);
    assert_eq!(world.clone().ok("bob", Command::Answer(Offer::Draw, true)), [closed.clone(), drawn.clone()]);
    assert_eq!(world.ok("bob", Command::Offer(Offer::Draw)), [closed, drawn], "two offers are an agreement");
    assert!(world.room.seats().iter().all(|(_, seat)| seat.draws == 1));
}

#[test]
fn a_draw_offer_is_declined_withdrawn_or_answered_by_a_move() {
    let mut world = World::duel(usual());
    let closed = Fact::OfferClosed { offer: Offer::Draw, accepted: false };
    for who in ["bob", "ada"] {
        world.ok("ada", Command::Offer(Offer::Draw));
        assert_eq!(world.ok(who, Command::Answer(Offer::Draw, false)), std::slice::from_ref(&closed));
        assert_eq!(world.game().draw_offer, None);
    }
    world.ok("ada", Command::Offer(Offer::Draw));
    world.play("d3");
    assert_eq!(world.game().draw_offer, Some(Black), "the offerer's move lets it stand");
    world.play("c3");
    assert_eq!(world.game().draw_offer, None);
    let none = Rejection::WrongPhase("there is no such offer");
    assert_eq!(world.refused("bob", Command::Answer(Offer::Draw, true)), none);
}

#[test]
fn an_ai_declines_every_draw() {
    let mut world = World::against_ai(usual());
    let facts = world.ok("ada", Command::Offer(Offer::Draw));
    assert_eq!(facts[1], Fact::OfferClosed { offer: Offer::Draw, accepted: false });
    assert!(world.room.running().is_some());
}

#[test]
fn k7_b28_a_watcher_sees_players_clocks_record_and_result() {
    let mut world = World::duel(usual());
    world.play("d3c3");
    world.ok("ada", Command::Resign { game: 1 });
    let view = world.room.view(Viewer::Public);
    let names: Vec<_> = view
        .room
        .seats()
        .iter()
        .map(|(_, seat)| match &seat.occupant {
            Occupant::Player(profile) => profile.name.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    let game = view.room.game().expect("b32: the last game stays to be seen");
    assert_eq!(names, ["ada", "bob"]);
    assert_eq!(game.squares().collect::<Vec<_>>(), [square("d3"), square("c3")]);
    assert_eq!(game.end, Some(GameEnd { winner: Some(White), reason: EndReason::Resignation }));
}

#[test]
fn k11_legal_moves_flips_and_disc_counts_are_in_every_position() {
    let world = World::duel(usual());
    let position = world.game().position;
    assert_eq!(position.legal_moves().count(), 4);
    assert_eq!(position.board().flips(Black, square("d3")), Bitboard::of(square("d4")));
    assert_eq!((position.board().count(Black), position.board().count(White)), (2, 2));
}

#[test]
fn b34_a_game_number_is_never_used_again() {
    let mut world = World::duel(usual());
    world.ok("ada", Command::Abort { game: 1 });
    world.ok("bob", Command::SetReady(true));
    world.ok("ada", Command::Start);
    assert_eq!(world.game().number, 2);
    assert_eq!(world.refused("ada", Command::Resign { game: 1 }), Rejection::GameOver);
    assert_eq!(world.refused("ada", Command::Abort { game: 1 }), Rejection::GameOver);
    assert_eq!(world.room.seat_of(id("ada")), Some(Black));
}

#[test]
fn k2_a_list_row_has_the_name_the_taken_seats_and_whether_a_game_runs() {
    let row = |world: &World| {
        let taken = world.room.seats().iter().filter(|(_, seat)| seat.occupant.can_play()).count();
        (world.room.settings().name.to_string(), taken, world.room.running().is_some())
    };
    assert_eq!(row(&World::lobby()), ("Ada's room".to_string(), 0, false));
    assert_eq!(row(&World::lobby().ai(White)), ("Ada's room".to_string(), 1, false));
    assert_eq!(row(&World::duel(usual())), ("Ada's room".to_string(), 2, true));
}

#[test]
fn a_game_is_rated_by_the_settings_at_its_start() {
    let rated = Settings { rated: true, ..usual() };
    let mut world = World::duel(rated.clone());
    assert_eq!(world.refused("ada", Command::Configure(Box::new(usual()))), Rejection::RoomInGame);
    world.ok("bob", Command::Resign { game: 1 });
    assert_eq!(world.room.record(world.now).map(|record| record.rated), Some(true));

    let mut friendly = World::duel(usual());
    assert_eq!(friendly.refused("ada", Command::Configure(Box::new(rated))), Rejection::RoomInGame);
    friendly.play_out();
    assert_eq!(friendly.room.record(friendly.now).map(|record| record.rated), Some(false));
}
