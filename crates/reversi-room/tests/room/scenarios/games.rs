//! Games: moves, passes, ends, offers and strikes.

use reversi_engine::rules::{
    Bitboard, ByColor,
    Color::{self, Black, White},
    Outcome, Position, Transcript,
};
use reversi_room::{
    Command, EndReason, Fact, GameEnd, Occupant, Offer, Opening, Phase, Rejection, Room, Settings, Viewer,
    stored::{decode_room, encode_room},
};

use crate::fixtures::test_room::{TestRoom, default_settings, id, secs, square};

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

fn outcome(test: &TestRoom) -> Outcome {
    test.game().position.outcome().expect("the game is over")
}

#[test]
fn a_game_without_moves_left_ends_by_discs() {
    let mut test = TestRoom::two_players(default_settings());
    let end = test.play_out();
    let outcome = outcome(&test);
    assert_eq!(end, GameEnd { winner: outcome.winner, reason: EndReason::Discs });
    assert_eq!(outcome.official().black + outcome.official().white, 64);
    assert_eq!(test.wins().0 + test.wins().1, 1);
    let record = Transcript::from_squares(test.game().squares()).expect("a record");
    assert_eq!(record.position(), test.game().position);
    assert_eq!(test.room.phase(), Phase::Lobby);
}

#[test]
fn a_game_keeps_its_players_when_others_take_their_seats() {
    let mut test = TestRoom::two_players(default_settings());
    test.ok("bob", Command::Resign { game: test.game().number });
    test.ok("bob", Command::LeaveSeat);
    test.ok("ada", Command::SwapSeats);
    let players = test.game().players.clone().map(|player| player.player());
    assert_eq!(players, ByColor::new(Some(id("ada")), Some(id("bob"))));
    let stored = decode_room(&encode_room(&test.room)).expect("a room");
    assert_eq!(stored.game(), test.room.game());
}

#[test]
fn a_game_ends_when_a_color_is_wiped_out() {
    let mut test = TestRoom::two_players(default_settings());
    let facts = test.play(WIPE_OUT);
    assert_eq!(facts.last(), Some(&ended(Some(Black), EndReason::Discs)));
    assert_eq!(outcome(&test).discs, ByColor::new(13, 0));
    assert_eq!(outcome(&test).official(), ByColor::new(64, 0));
}

#[test]
fn a_game_ends_when_neither_side_can_move_and_the_winner_gets_the_empties() {
    let mut test = TestRoom::two_players(default_settings());
    let facts = test.play(BLOCKED);
    assert_eq!(facts.last(), Some(&ended(Some(Black), EndReason::Discs)));
    assert_eq!(outcome(&test).discs, ByColor::new(15, 2));
    assert_eq!(outcome(&test).official(), ByColor::new(62, 2));
}

#[test]
fn equal_discs_are_a_draw() {
    let mut test = TestRoom::two_players(default_settings());
    let facts = test.play(DRAWN);
    assert_eq!(facts.last(), Some(&ended(None, EndReason::Discs)));
    assert_eq!(outcome(&test).official(), ByColor::new(32, 32));
    assert_eq!(test.wins(), (0, 0));
    assert!(test.room.seats().iter().all(|(_, seat)| seat.draws == 1));
}

#[test]
fn a_forced_pass_is_an_event_in_the_record() {
    let mut test = TestRoom::two_players(default_settings());
    let facts = test.play(PASSED);
    assert!(matches!(facts[facts.len() - 2..], [Fact::Played { .. }, Fact::Passed]));
    let game = test.game();
    assert_eq!((game.ply(), game.turn()), (9, Some(White)));
    assert_eq!(game.last_move(), Some(square("a3")));
    assert_eq!(game.squares().count(), 8);
    let first = game.position.legal_moves().first().expect("white can move");
    let forged = Command::Play { game: 1, ply: 8, square: first, thought: None };
    assert_eq!(test.refused("ada", forged), Rejection::StalePly, "black cannot take back the pass");
    test.place(first);
}

#[test]
fn an_illegal_move_is_refused_with_the_legal_ones_and_the_clock_keeps_running() {
    let mut test = TestRoom::two_players(default_settings());
    let legal = Position::START.legal_moves();
    let flag = test.room.flag_falls();
    test.wait(secs(5));
    for name in ["a1", "d4", "h8", "f4"] {
        assert_eq!(test.refused("ada", test.move_to(square(name))), Rejection::IllegalMove(legal));
    }
    assert_eq!((test.room.flag_falls(), test.game().strikes), (flag, 0));
}

#[test]
fn a_move_is_accepted_only_for_its_game_and_ply() {
    let mut test = TestRoom::two_players(default_settings());
    let play = |game, ply, name| Command::Play { game, ply, square: square(name), thought: None };
    assert_eq!(test.refused("bob", play(1, 0, "d3")), Rejection::NotYourTurn);
    test.play("d3");
    assert_eq!(test.ok("ada", play(1, 0, "d3")), [], "the same move again is no error");
    assert_eq!(test.refused("ada", play(1, 0, "c4")), Rejection::StalePly);
    assert_eq!(test.refused("bob", play(1, 0, "d3")), Rejection::StalePly, "that was not Bob's move");
    assert_eq!(test.refused("ada", play(1, 2, "c4")), Rejection::NotYourTurn);
    assert_eq!(test.refused("bob", play(1, 3, "c3")), Rejection::NotYourTurn, "a ply in the future");
    assert_eq!(test.refused("bob", play(2, 1, "c3")), Rejection::GameNotFound);
    assert_eq!(test.refused("bob", play(0, 1, "c3")), Rejection::GameNotFound);
    test.ok("bob", play(1, 1, "c3"));
    assert_eq!(test.ok("ada", play(1, 0, "d3")), [], "also after more moves");
}

#[test]
fn repeating_the_last_move_of_a_game_is_not_an_error() {
    let mut test = TestRoom::two_players(default_settings());
    test.play(&WIPE_OUT[..16]);
    let last = test.move_to(square("c5"));
    test.ok("ada", last.clone());
    assert_eq!(test.ok("ada", last), []);
}

#[test]
fn before_the_first_game_moves_are_refused() {
    let mut test = TestRoom::seated(default_settings());
    let play = Command::Play { game: 1, ply: 0, square: square("d3"), thought: None };
    assert_eq!(test.refused("ada", play), Rejection::GameNotFound);
    assert_eq!(test.refused("ada", Command::Resign { game: 1 }), Rejection::GameNotFound);
    assert_eq!(test.refused("ada", Command::Abort { game: 1 }), Rejection::GameNotFound);
    let none = Rejection::WrongPhase("no game has been played in this room");
    assert_eq!(test.refused("ada", Command::Offer(Offer::Rematch, None)), none);
    assert_eq!(test.refused("ada", Command::Offer(Offer::Draw, None)), Rejection::GameOver);
}

#[test]
fn a_player_may_resign_in_either_sides_turn() {
    for (who, winner) in [("ada", White), ("bob", Black)] {
        let mut test = TestRoom::two_players(default_settings());
        assert_eq!(test.ok(who, Command::Resign { game: 1 }), [ended(Some(winner), EndReason::Resignation)]);
        assert_eq!(test.refused(who, Command::Resign { game: 1 }), Rejection::GameOver);
    }
}

#[test]
fn an_aborted_game_has_no_winner_and_is_not_counted() {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3");
    assert_eq!(test.ok("bob", Command::Abort { game: 1 }), [ended(None, EndReason::AbortedByWhite)]);
    assert_eq!(test.wins(), (0, 0));
    assert!(test.room.seats().iter().all(|(_, seat)| seat.draws == 0));
    assert_eq!(test.room.phase(), Phase::Lobby);
}

#[test]
fn a_player_may_abort_until_both_have_moved() {
    let opening = "d3c3c4".parse().expect("moves");
    let settings = reversi_room::Settings { opening: reversi_room::Opening::Moves(opening), ..default_settings() };
    let mut test = TestRoom::two_players(settings);
    assert_eq!((test.game().opening, test.game().turn()), (3, Some(White)));
    test.play("c5");
    test.clone().ok("ada", Command::Abort { game: 1 });
    test.place(test.game().position.legal_moves().first().expect("a move"));
    assert_eq!(test.refused("bob", Command::Abort { game: 1 }), Rejection::NotOwner);
    assert_eq!(test.refused("ada", Command::Abort { game: 1 }), Rejection::RoomInGame);
}

#[test]
fn the_owner_ends_a_game_of_ais() {
    let mut test = TestRoom::ai_match(default_settings());
    test.play("d3c3c4");
    assert_eq!(test.ok("ada", Command::Abort { game: 1 }), [ended(None, EndReason::AbortedByOwner)]);
    assert_eq!(test.room.ai_turn(), None);
}

/// Two bots in a room of Ada's, where both have moved in a game that `owner` has started.
fn bots(rated: bool, owner: &str) -> TestRoom {
    let settings = reversi_room::Settings { rated, ..default_settings() };
    let mut test = TestRoom::of(settings).join("bot-1").join("bot-2").join("wim");
    test = test.sit("bot-1", Black).sit("bot-2", White);
    test.ok("ada", Command::Transfer(id(owner)));
    test.ok(owner, Command::Start(None));
    test.play("d3c3");
    test
}

#[test]
fn who_plays_a_rated_game_can_end_it_only_by_playing_or_losing() {
    let mut test = bots(true, "bot-1");
    for escape in [
        Command::Abort { game: 1 },
        Command::Close,
        Command::Transfer(id("wim")),
        Command::Vacate,
        Command::LeaveSeat,
        crate::fixtures::test_room::kick("bot-2"),
        crate::fixtures::test_room::ban("bot-2"),
    ] {
        assert_eq!(test.refused("bot-1", escape), Rejection::RoomInGame);
    }
    // The room keeps its owner while that one plays, even unreachable: another could end the game.
    test.ok("server", Command::SetPresence(id("bot-1"), false));
    for _ in 0..3 {
        assert_eq!(test.wait(secs(30)), []);
        test.place(test.game().position.legal_moves().first().expect("a move"));
    }
    assert_eq!(test.owner(), "bot-1");
    assert_eq!(test.ok("bot-1", Command::Leave)[0], ended(Some(White), EndReason::Left));
}

#[test]
fn the_end_of_an_aborted_game_says_who_ended_it() {
    let end_of = |mut test: TestRoom, who, command| test.ok(who, command)[0].clone();
    let by = |reason| ended(None, reason);
    for command in [Command::Abort { game: 1 }, Command::Close] {
        assert_eq!(end_of(bots(true, "wim"), "wim", command.clone()), by(EndReason::AbortedByOwner));
        assert_eq!(end_of(bots(true, "bot-1"), "admin", command.clone()), by(EndReason::AbortedByAdmin));
        assert_eq!(end_of(bots(false, "bot-1"), "bot-1", command), by(EndReason::AbortedByBlack));
    }
}

#[test]
fn only_players_make_their_moves_and_only_the_server_those_of_an_ai() {
    let mut test = TestRoom::against_ai(default_settings()).join("bob");
    let play = test.move_to(square("d3"));
    for who in ["bob", "xia", "admin"] {
        assert_eq!(test.refused(who, play.clone()), Rejection::NotSeated);
    }
    assert_eq!(test.refused("server", play), Rejection::NotYourTurn);
    test.play("d3");
    assert_eq!(test.refused("ada", test.move_to(square("c3"))), Rejection::NotYourTurn);
    test.ok("server", test.move_to(square("c3")));
}

#[test]
fn an_illegal_ai_move_is_refused_and_the_ai_is_asked_again() {
    let mut test = TestRoom::ai_match(default_settings());
    let asked = test.room.ai_turn();
    assert!(matches!(test.refused("server", test.move_to(square("a1"))), Rejection::IllegalMove(_)));
    assert_eq!(test.room.ai_turn(), asked);
    assert_eq!(test.ok("server", Command::Strike { game: 1, ply: 0 }), [], "an AI is not a bot");
    test.play("d3");
}

#[test]
fn the_third_illegal_move_in_one_turn_forfeits_a_bots_game() {
    let mut test = TestRoom::lobby().join("bot-1").sit("ada", Black).sit("bot-1", White).started();
    assert_eq!(test.ok("server", Command::Strike { game: 1, ply: 0 }), [], "humans get no strikes");
    test.play("d3");
    let strike = |ply| Command::Strike { game: 1, ply };
    assert_eq!(test.refused("server", strike(0)), Rejection::StalePly);
    assert_eq!(test.ok("server", strike(1)), [Fact::Struck]);
    assert_eq!(test.ok("server", strike(1)), [Fact::Struck]);
    test.play("c3c4");
    assert_eq!(test.game().strikes, 0, "a move clears the strikes");
    for _ in 1..Room::STRIKES {
        assert_eq!(test.ok("server", strike(3)), [Fact::Struck]);
    }
    assert_eq!(test.ok("server", strike(3)), [Fact::Struck, ended(Some(Black), EndReason::Kicked)]);
    assert_eq!(test.refused("server", strike(3)), Rejection::GameOver);
}

#[test]
fn a_draw_is_offered_and_agreed() {
    let mut test = TestRoom::two_players(default_settings());
    let offered = Fact::OfferMade { offer: Offer::Draw, by: Black };
    assert_eq!(test.ok("ada", Command::Offer(Offer::Draw, None)), [offered]);
    assert_eq!(test.ok("ada", Command::Offer(Offer::Draw, None)), [], "an offer can be repeated");
    assert_eq!(test.game().draw_offer, Some(Black));
    let own = Rejection::WrongPhase("only the other side can accept this offer");
    assert_eq!(test.refused("ada", Command::Answer(Offer::Draw, None, true)), own);
    let closed = Fact::OfferClosed { offer: Offer::Draw, accepted: true };
    let drawn = ended(None, EndReason::Agreed);
    assert_eq!(test.clone().ok("bob", Command::Answer(Offer::Draw, None, true)), [closed.clone(), drawn.clone()]);
    assert_eq!(test.ok("bob", Command::Offer(Offer::Draw, None)), [closed, drawn], "an offer in reply accepts");
    assert!(test.room.seats().iter().all(|(_, seat)| seat.draws == 1));
}

#[test]
fn a_draw_offer_is_declined_withdrawn_or_answered_by_a_move() {
    let start = TestRoom::two_players(default_settings());
    let closed = Fact::OfferClosed { offer: Offer::Draw, accepted: false };
    for who in ["bob", "ada"] {
        let mut test = start.clone();
        test.ok("ada", Command::Offer(Offer::Draw, None));
        assert_eq!(test.ok(who, Command::Answer(Offer::Draw, None, false)), std::slice::from_ref(&closed));
        assert_eq!(test.game().draw_offer, None);
    }
    let mut test = start;
    test.ok("ada", Command::Offer(Offer::Draw, None));
    test.play("d3");
    assert_eq!(test.game().draw_offer, Some(Black), "a move of the offering side keeps the offer");
    test.play("c3");
    assert_eq!(test.game().draw_offer, None);
    let none = Rejection::WrongPhase("there is no such offer");
    assert_eq!(test.refused("bob", Command::Answer(Offer::Draw, None, true)), none);
}

#[test]
fn a_side_offers_a_draw_once_each_ten_plies() {
    let mut test = TestRoom::two_players(default_settings());
    test.ok("ada", Command::Offer(Offer::Draw, Some(1)));
    test.ok("bob", Command::Answer(Offer::Draw, Some(1), false));
    for _ in 0..10 {
        assert_eq!(test.refused("ada", Command::Offer(Offer::Draw, Some(1))), Rejection::OfferTooSoon(10));
        test.place(test.game().position.legal_moves().first().expect("a move"));
    }
    test.ok("ada", Command::Offer(Offer::Draw, Some(1)));
    test.ok("ada", Command::Answer(Offer::Draw, Some(1), false));
    assert_eq!(test.refused("ada", Command::Offer(Offer::Draw, Some(1))), Rejection::OfferTooSoon(20));
    // The other side has not offered one, and may always accept one.
    test.ok("bob", Command::Offer(Offer::Draw, Some(1)));
    test.ok("ada", Command::Offer(Offer::Draw, Some(1)));
    assert_eq!(test.end().map(|end| end.reason), Some(EndReason::Agreed));
}

#[test]
fn an_ai_declines_every_draw() {
    let mut test = TestRoom::against_ai(default_settings());
    let facts = test.ok("ada", Command::Offer(Offer::Draw, None));
    assert_eq!(facts[1], Fact::OfferClosed { offer: Offer::Draw, accepted: false });
    assert!(test.room.running().is_some());
}

#[test]
fn an_ai_lets_a_player_take_moves_back_at_once() {
    let mut test = TestRoom::against_ai(default_settings());
    let nothing = Rejection::WrongPhase("you have made no move in this game");
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, None)), nothing);
    test.play("d3c3c4e3");
    let facts = test.ok("ada", Command::Offer(Offer::TakeBack, Some(1)));
    assert_eq!(
        facts,
        [
            Fact::OfferMade { offer: Offer::TakeBack, by: Black },
            Fact::OfferClosed { offer: Offer::TakeBack, accepted: true },
            ended(None, EndReason::TakenBack),
            Fact::GameStarted { number: 2, index: 0, opening: vec![square("d3"), square("c3")], request: None },
        ]
    );
    assert_eq!(test.game().turn(), Some(Black), "it moves again");
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, Some(1))), Rejection::GameOver, "a late repeat");
    test.ok("ada", Command::Offer(Offer::TakeBack, Some(2)));
    assert_eq!(test.game().ply(), 0, "also a move before the opening");
    assert!(test.room.seats().iter().all(|(_, seat)| (seat.wins, seat.draws) == (0, 0)));
}

#[test]
fn a_person_is_asked_whether_a_move_may_be_taken_back() {
    let mut test = TestRoom::two_players(Settings { games: 2, ..default_settings() });
    test.play("d3c3");
    let closed = Fact::OfferClosed { offer: Offer::TakeBack, accepted: false };
    test.ok("ada", Command::Offer(Offer::TakeBack, Some(1)));
    assert_eq!(test.ok("bob", Command::Answer(Offer::TakeBack, Some(1), false)), std::slice::from_ref(&closed));
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, Some(1))), Rejection::OfferTooSoon(3), "once a ply");
    test.play("c4");
    test.ok("ada", Command::Offer(Offer::TakeBack, Some(1)));
    assert_eq!(test.play("e3").first(), Some(&closed), "a move of either side declines it");
    test.ok("ada", Command::Offer(Offer::TakeBack, Some(1)));
    test.ok("bob", Command::Answer(Offer::TakeBack, Some(1), true));
    assert_eq!((test.game().number, test.game().ply(), test.game().turn()), (2, 2, Some(Black)));
    let series = test.room.series().expect("a series");
    assert_eq!((series.index, series.games), (0, 2), "the new game is the same one of the series");
}

#[test]
fn a_game_after_a_take_back_is_as_far_as_its_moves() {
    let settings =
        Settings { games: 3, opening: "f5d6".parse().map(Opening::Moves).expect("moves"), ..default_settings() };
    let mut test = TestRoom::two_players(settings);
    let nothing = Rejection::WrongPhase("you have made no move in this game");
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, Some(1))), nothing, "the opening is not its own");
    for _ in 0..4 {
        test.place(test.game().position.legal_moves().first().expect("a move"));
    }
    test.ok("ada", Command::EndSeries);
    test.ok("ada", Command::Offer(Offer::Draw, Some(1)));
    test.ok("bob", Command::Answer(Offer::Draw, Some(1), false));
    test.ok("ada", Command::Offer(Offer::TakeBack, Some(1)));
    let answer_first = Rejection::WrongPhase("your opponent asks to take a move back; answer that first");
    assert_eq!(test.refused("bob", Command::Offer(Offer::TakeBack, Some(1))), answer_first);
    test.ok("bob", Command::Answer(Offer::TakeBack, Some(1), true));
    assert_eq!((test.game().ply(), test.game().given), (4, 2));
    assert_eq!(test.room.series().map(|series| series.games), Some(1), "an ended series stays ended");
    assert_eq!(test.refused("ada", Command::Offer(Offer::Draw, Some(2))), Rejection::OfferTooSoon(16));
    assert_eq!(test.refused("bob", Command::Abort { game: 2 }), Rejection::NotOwner, "both have moved");
    test.ok("ada", Command::Offer(Offer::TakeBack, Some(2)));
    test.ok("bob", Command::Answer(Offer::TakeBack, Some(2), true));
    assert_eq!(test.game().ply(), 2);
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, Some(3))), nothing);
}

#[test]
fn no_move_of_a_rated_game_is_taken_back() {
    let mut test = TestRoom::two_players(Settings { rated: true, ..default_settings() });
    test.play("d3c3");
    let rated = Rejection::WrongPhase("in a rated game no move is taken back");
    assert_eq!(test.refused("ada", Command::Offer(Offer::TakeBack, Some(1))), rated);
}

#[test]
fn a_watcher_sees_players_clocks_record_and_result() {
    let mut test = TestRoom::two_players(default_settings());
    test.play("d3c3");
    test.ok("ada", Command::Resign { game: 1 });
    let view = test.room.view(Viewer::Public);
    let names: Vec<_> = view
        .room
        .seats()
        .iter()
        .map(|(_, seat)| match &seat.occupant {
            Occupant::Player(profile) => profile.name.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    let game = view.room.game().expect("b32: the last game stays visible");
    assert_eq!(names, ["ada", "bob"]);
    assert_eq!(game.squares().collect::<Vec<_>>(), [square("d3"), square("c3")]);
    assert_eq!(game.end, Some(GameEnd { winner: Some(White), reason: EndReason::Resignation }));
}

#[test]
fn legal_moves_flips_and_disc_counts_are_in_every_position() {
    let test = TestRoom::two_players(default_settings());
    let position = test.game().position;
    assert_eq!(position.legal_moves().count(), 4);
    assert_eq!(position.board().flips(Black, square("d3")), Bitboard::of(square("d4")));
    assert_eq!((position.board().count(Black), position.board().count(White)), (2, 2));
}

#[test]
fn a_game_number_is_never_used_again() {
    let mut test = TestRoom::two_players(default_settings());
    test.ok("ada", Command::Abort { game: 1 });
    test.ok("bob", Command::SetReady(true));
    test.ok("ada", Command::Start(None));
    assert_eq!(test.game().number, 2);
    assert_eq!(test.refused("ada", Command::Resign { game: 1 }), Rejection::GameOver);
    assert_eq!(test.refused("ada", Command::Abort { game: 1 }), Rejection::GameOver);
    assert_eq!(test.room.seat_of(id("ada")), Some(Black));
}

#[test]
fn a_list_row_has_the_name_the_taken_seats_and_whether_a_game_runs() {
    let row = |test: &TestRoom| {
        let taken = test.room.seats().iter().filter(|(_, seat)| seat.occupant.can_play()).count();
        (test.room.settings().name.to_string(), taken, test.room.running().is_some())
    };
    assert_eq!(row(&TestRoom::lobby()), ("Ada's room".to_string(), 0, false));
    assert_eq!(row(&TestRoom::lobby().ai(White)), ("Ada's room".to_string(), 1, false));
    assert_eq!(row(&TestRoom::two_players(default_settings())), ("Ada's room".to_string(), 2, true));
}

#[test]
fn a_game_is_rated_by_the_settings_at_its_start() {
    let rated = Settings { rated: true, ..default_settings() };
    let mut test = TestRoom::two_players(rated.clone());
    assert_eq!(test.refused("ada", Command::Configure(Box::new(default_settings()), None)), Rejection::RoomInGame);
    test.ok("bob", Command::Resign { game: 1 });
    assert_eq!(test.room.record(test.now).map(|record| record.rated), Some(true));

    let mut friendly = TestRoom::two_players(default_settings());
    assert_eq!(friendly.refused("ada", Command::Configure(Box::new(rated), None)), Rejection::RoomInGame);
    friendly.play_out();
    assert_eq!(friendly.room.record(friendly.now).map(|record| record.rated), Some(false));
}
