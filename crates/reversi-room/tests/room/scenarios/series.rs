//! Series: rematches, openings and scores.

use reversi_engine::{
    match_statistics::{Points, Score, Verdict},
    rules::{
        Color::{Black, White},
        Square,
    },
};
use reversi_room::{
    Command, EndReason, Fact, GameEnd, Occupant, Offer, Opening, Phase, Rejection, Room, SeatSetting, Settings,
};

use crate::fixtures::test_room::{TestRoom, ai, default_settings, id, secs, square};

fn after_a_game(settings: Settings) -> TestRoom {
    let mut test = TestRoom::two_players(settings);
    test.ok("bob", Command::Resign { game: 1 });
    test
}

fn series(games: u16) -> Settings {
    Settings { games, ..default_settings() }
}

fn opening(test: &TestRoom) -> Vec<Square> {
    test.game().squares().take(usize::from(test.game().opening)).collect()
}

#[test]
fn the_same_players_start_another_game() {
    let mut test = after_a_game(default_settings());
    test.ok("bob", Command::SetReady(true));
    test.ok("ada", Command::Start(None));
    assert_eq!((test.game().number, test.room.seat_of(id("ada"))), (2, Some(Black)));
    test.ok("bob", Command::Resign { game: 2 });
    assert_eq!(test.wins(), (2, 0));
}

#[test]
fn a_rematch_swaps_sides() {
    let mut test = after_a_game(default_settings());
    test.ok("bob", Command::Offer(Offer::Rematch, None));
    assert_eq!(test.room.rematch_offer(), Some(White));
    let own = Rejection::WrongPhase("only the other side can accept this offer");
    assert_eq!(test.refused("bob", Command::Answer(Offer::Rematch, None, true)), own);
    assert_eq!(
        test.ok("ada", Command::Answer(Offer::Rematch, None, true)),
        [
            Fact::OfferClosed { offer: Offer::Rematch, accepted: true },
            Fact::SeatsSwapped,
            Fact::GameStarted { number: 2, index: 0, opening: vec![], request: None },
        ]
    );
    assert_eq!(test.room.seat_of(id("ada")), Some(White));
    assert_eq!(test.wins(), (0, 1), "the players changed sides with their scores");
    assert_eq!(test.room.rematch_offer(), None);
}

#[test]
fn a_rematch_keeps_sides_if_the_settings_say_so() {
    let mut test = after_a_game(Settings { swap_sides: false, ..default_settings() });
    test.ok("ada", Command::Offer(Offer::Rematch, None));
    let facts = test.ok("bob", Command::Offer(Offer::Rematch, None));
    assert!(matches!(facts[..], [Fact::OfferClosed { accepted: true, .. }, Fact::GameStarted { .. }]));
}

#[test]
fn a_rematch_is_refused_or_withdrawn() {
    let mut test = after_a_game(default_settings());
    for who in ["bob", "ada"] {
        test.ok("ada", Command::Offer(Offer::Rematch, None));
        let closed = Fact::OfferClosed { offer: Offer::Rematch, accepted: false };
        assert_eq!(test.ok(who, Command::Answer(Offer::Rematch, None, false)), [closed]);
        assert_eq!(test.room.rematch_offer(), None);
    }
    let none = Rejection::WrongPhase("there is no such offer");
    assert_eq!(test.refused("bob", Command::Answer(Offer::Rematch, None, true)), none);
}

#[test]
fn a_rematch_offer_does_not_outlive_its_pairing() {
    let mut test = after_a_game(default_settings()).join("cy");
    test.ok("ada", Command::Offer(Offer::Rematch, None));
    test.ok("bob", Command::Leave);
    assert_eq!(test.refused("ada", Command::Offer(Offer::Rematch, None)), Rejection::SeatsNotReady);
    test.ok("cy", Command::TakeSeat(White));
    assert_eq!(test.room.rematch_offer(), None);
    assert_eq!(test.wins(), (0, 0), "a new pairing starts at 0");
}

#[test]
fn a_rematch_is_accepted_only_on_the_terms_of_its_offer() {
    let faster = Command::Configure(Box::new(Settings { rated: true, ..default_settings() }), None);
    for (who, change) in [("ada", faster.clone()), ("bob", faster), ("bob", Command::SwapSeats)] {
        let mut test = after_a_game(default_settings());
        test.ok(who, Command::Offer(Offer::Rematch, None));
        let closed = Fact::OfferClosed { offer: Offer::Rematch, accepted: false };
        assert_eq!(test.ok("ada", change)[0], closed);
        let none = Rejection::WrongPhase("there is no such offer");
        assert_eq!(
            test.refused(if who == "ada" { "bob" } else { "ada" }, Command::Answer(Offer::Rematch, None, true)),
            none
        );
    }
}

#[test]
fn an_ai_accepts_every_rematch_at_once() {
    let mut test = TestRoom::against_ai(default_settings());
    test.ok("ada", Command::Resign { game: 1 });
    test.ok("ada", Command::Offer(Offer::Rematch, None));
    assert_eq!((test.game().number, test.room.seat_of(id("ada"))), (2, Some(White)));
    assert!(test.room.ai_turn().is_some());
    assert_eq!(test.wins(), (1, 0), "the AI changed sides with its score");
}

#[test]
fn a_series_continues_by_itself_with_sides_swapped_and_a_running_score() {
    let mut test = TestRoom::two_players(series(3));
    test.ok("bob", Command::Resign { game: 1 });
    assert_eq!(test.room.phase(), Phase::Playing);
    assert_eq!(test.room.deadline(), Some(test.now.after(Room::PEOPLE_GAP)));
    let facts = test.wait(Room::PEOPLE_GAP);
    assert_eq!(facts, [Fact::SeatsSwapped, Fact::GameStarted { number: 2, index: 1, opening: vec![], request: None }]);
    test.ok("bob", Command::Resign { game: 2 });
    assert_eq!(test.wins(), (0, 2));
    test.wait(secs(3));
    test.ok("ada", Command::Resign { game: 3 });
    assert_eq!(test.wins(), (2, 1), "Ada is black again");
    assert_eq!(test.room.phase(), Phase::Lobby);
    assert_eq!(test.room.series(), None);
}

#[test]
fn a_series_of_ais_waits_for_the_ai_pause_only() {
    let mut test = TestRoom::ai_match(Settings { ai_pause: secs(0), ..series(4) });
    for number in 1..=4 {
        assert_eq!(test.game().number, number);
        test.play_out();
        test.wait(secs(0));
    }
    assert_eq!(test.room.phase(), Phase::Lobby);

    let mut test = TestRoom::ai_match(Settings { ai_pause: secs(1), ..series(2) });
    test.play_out();
    assert_eq!(test.room.deadline(), Some(test.now.after(secs(1))));
}

#[test]
fn between_the_games_of_a_series_no_seat_can_be_changed() {
    let mut test = TestRoom::two_players(series(2));
    test.ok("bob", Command::Resign { game: 1 });
    assert_eq!(test.refused("ada", Command::SwapSeats), Rejection::RoomInGame);
    assert_eq!(test.refused("ada", Command::SetSeat(White, ai())), Rejection::RoomInGame);
    assert_eq!(test.refused("ada", Command::Start(None)), Rejection::RoomInGame);
    assert_eq!(test.refused("bob", Command::LeaveSeat), Rejection::RoomInGame);
    assert_eq!(test.refused("ada", Command::Offer(Offer::Rematch, None)), Rejection::RoomInGame);
    assert_eq!(test.refused("ada", Command::Offer(Offer::Draw, None)), Rejection::GameOver);
    assert_eq!(test.refused("bob", Command::Resign { game: 1 }), Rejection::GameOver);
}

#[test]
fn a_series_ends_when_a_player_leaves() {
    for between in [false, true] {
        let mut test = TestRoom::two_players(series(5));
        if between {
            test.ok("ada", Command::Resign { game: 1 });
        }
        test.ok("bob", Command::Leave);
        assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));
        assert_eq!(test.room.seats().white.occupant, Occupant::Open);
    }
}

#[test]
fn the_owner_ends_a_series_during_or_between_games() {
    let mut test = TestRoom::two_players(series(200));
    assert_eq!(test.refused("bob", Command::EndSeries), Rejection::NotOwner);
    assert_eq!(test.ok("ada", Command::EndSeries), [Fact::SeriesEnded]);
    assert_eq!((test.room.phase(), test.room.series().unwrap().games), (Phase::Playing, 1));
    assert_eq!(test.ok("ada", Command::EndSeries), []);
    test.ok("bob", Command::Resign { game: 1 });
    assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));

    let mut test = TestRoom::two_players(series(200));
    test.ok("bob", Command::Resign { game: 1 });
    assert_eq!(test.ok("admin", Command::EndSeries), [Fact::SeriesEnded]);
    assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));
}

#[test]
fn a_series_ends_by_an_abort_in_a_game_or_between_two() {
    let mut test = TestRoom::ai_match(Settings { ai_pause: secs(1), ..series(5) });
    test.play_out();
    assert_eq!(test.ok("ada", Command::Abort { game: 1 }), [Fact::SeriesEnded]);
    assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));
    assert_eq!(test.refused("ada", Command::Abort { game: 1 }), Rejection::GameOver);

    let mut test = TestRoom::two_players(series(5));
    test.ok("ada", Command::Abort { game: 1 });
    assert_eq!(test.room.phase(), Phase::Lobby);
}

#[test]
fn a_series_continues_after_a_loss_on_time() {
    let mut test = TestRoom::two_players(series(2));
    let facts = test.wait(secs(63));
    assert_eq!(facts[0], Fact::GameEnded(GameEnd { winner: Some(White), reason: EndReason::Timeout }));
    assert!(matches!(facts[2], Fact::GameStarted { number: 2, index: 1, .. }));
}

#[test]
fn both_games_of_a_pair_get_the_same_random_opening() {
    let random = Opening::Random { plies: 8, seed: 5 };
    let openings = |swap_sides| {
        let settings = Settings { opening: random.clone(), swap_sides, ..series(4) };
        let mut test = TestRoom::ai_match(settings);
        (0..4)
            .map(|_| {
                let squares = opening(&test);
                test.play_out();
                test.wait(secs(0));
                squares
            })
            .collect::<Vec<_>>()
    };
    let paired = openings(true);
    assert_eq!((&paired[0], &paired[2]), (&paired[1], &paired[3]));
    assert_ne!(paired[0], paired[2]);
    assert!(paired.iter().all(|squares| squares.len() == 8));
    let unpaired = openings(false);
    assert_ne!(unpaired[0], unpaired[1]);
    assert_eq!(openings(true), paired, "the same seed gives the same openings");
}

fn paired(games: u16, sprt: Option<&str>) -> Settings {
    let sprt = sprt.map(|sprt| sprt.parse().expect("a test"));
    Settings { opening: Opening::Balanced { seed: 3 }, sprt, ..series(games) }
}

/// Resigns the running game. Returns all events until the next game starts or the series ends.
fn resign(test: &mut TestRoom, who: &str) -> Vec<Fact> {
    let game = test.game().number;
    test.ok(who, Command::Resign { game });
    test.wait(Room::PEOPLE_GAP)
}

#[test]
fn a_series_in_pairs_keeps_the_score_of_the_first_black_player() {
    let mut test = TestRoom::two_players(paired(5, None));
    let openings: Vec<_> = ["bob", "bob", "ada", "bob"]
        .into_iter()
        .map(|loser| {
            let squares = opening(&test);
            resign(&mut test, loser);
            squares
        })
        .collect();
    assert_eq!((&openings[0], &openings[2]), (&openings[1], &openings[3]));
    assert!(openings[0] != openings[2] && openings.iter().all(|squares| squares.len() == 8));
    let score = test.room.score().expect("a score");
    assert_eq!((score.first, test.room.seat_of(id("ada"))), (Black, Some(Black)));
    assert_eq!(score.score, Score { wins: 3, losses: 1, pairs: [0, 0, 1, 0, 1], ..Score::default() });
    test.play_out();
    assert_eq!(test.room.phase(), Phase::Lobby);
    let last = test.room.score().expect("the score stays after the series").score;
    assert!(last.games() == 5 && last.half.is_some() && last.pairs == score.score.pairs);
    test.ok("ada", Command::SwapSeats);
    assert_eq!(test.room.score().expect("a score").first, White, "the first player changed sides");
    test.ok("bob", Command::LeaveSeat);
    assert_eq!(test.room.score(), None, "a new pairing starts at 0");
}

#[test]
fn only_a_series_in_pairs_has_a_score() {
    let balanced = Opening::Balanced { seed: 3 };
    for settings in [
        series(4),
        Settings { opening: balanced.clone(), ..default_settings() },
        Settings { swap_sides: false, ..paired(4, None) },
    ] {
        let mut test = TestRoom::two_players(settings);
        resign(&mut test, "bob");
        assert_eq!(test.room.score(), None);
    }
    let mut test = TestRoom::two_players(paired(4, None));
    test.ok("bob", Command::Leave);
    assert_eq!(test.room.score(), None, "the pairing is over");
    let mut test = TestRoom::ai_match(paired(4, None));
    test.ok("ada", Command::Abort { game: 1 });
    assert_eq!(test.room.score().expect("a score").score, Score::default(), "an aborted game does not count");
}

#[test]
fn a_series_ends_as_soon_as_its_test_has_a_verdict() {
    let mut test = TestRoom::two_players(paired(100, Some("0,200")));
    for pair in 1.. {
        let facts = resign(&mut test, "bob");
        assert!(
            matches!(facts[..], [Fact::SeatsSwapped, Fact::GameStarted { .. }]),
            "a test counts pairs of games only"
        );
        assert_eq!(test.room.score().expect("a score").score.half, Some(Points::Win));
        let facts = resign(&mut test, "bob");
        if test.room.verdict().is_some() {
            assert_eq!(facts, [Fact::SeriesEnded]);
            assert!((2..20).contains(&pair), "{pair} pairs");
            break;
        }
    }
    assert_eq!(test.room.verdict(), Some(Verdict::Upper));
    assert_eq!((test.room.phase(), test.room.series()), (Phase::Lobby, None));
    test.ok("bob", Command::SetReady(true));
    test.ok("ada", Command::SetReady(true));
    test.ok("ada", Command::Start(None));
    assert_eq!((test.room.verdict(), test.room.score().expect("a score").score), (None, Score::default()));
}

#[test]
fn an_opening_of_given_moves_is_part_of_the_record_with_its_passes() {
    let moves = "c4c3c2b2e6c1a1a3".parse().expect("moves");
    let mut test = TestRoom::two_players(Settings { opening: Opening::Moves(moves), ..default_settings() });
    let game = test.game();
    assert_eq!((game.opening, game.ply(), game.turn()), (9, 9, Some(White)));
    assert!(game.plies.iter().all(|ply| ply.spent_ms == 0));
    let repeated = Command::Play { game: 1, ply: 0, square: square("c4"), thought: None };
    assert_eq!(test.refused("ada", repeated), Rejection::StalePly, "the opening has no player");
    test.place(test.game().position.legal_moves().first().expect("a move"));
}

#[test]
fn a_new_pairing_in_one_seat_clears_the_score() {
    let mut test = after_a_game(default_settings());
    assert_eq!(test.wins(), (1, 0));
    test.ok("ada", Command::SwapSeats);
    assert_eq!(test.wins(), (0, 1));
    test.ok("bob", Command::LeaveSeat);
    assert_eq!(test.wins(), (0, 0));
    test.ok("ada", Command::SetSeat(Black, SeatSetting::Open));
}

/// In one series a game was drawn before its first move: offers of both players for the game before came late.
#[test]
fn a_late_offer_or_answer_does_not_reach_the_next_game() {
    let next_game = |mut test: TestRoom| {
        test.ok("ada", Command::Resign { game: 1 });
        test.wait(Room::PEOPLE_GAP);
        assert_eq!(test.game().number, 2);
        test
    };
    let settings = Settings { games: 3, swap_sides: false, ..default_settings() };
    let mut test = next_game(TestRoom::two_players(settings));
    for who in ["ada", "bob"] {
        assert_eq!(test.refused(who, Command::Offer(Offer::Draw, Some(1))), Rejection::GameOver);
        let which = "until both sides have moved, an offer needs the id of the game for which it is meant";
        assert_eq!(test.refused(who, Command::Offer(Offer::Draw, None)), Rejection::WrongPhase(which));
        assert_eq!(test.refused(who, Command::Answer(Offer::Draw, None, true)), Rejection::WrongPhase(which));
    }
    assert_eq!(test.refused("ada", Command::Offer(Offer::Draw, Some(3))), Rejection::GameNotFound);
    test.ok("ada", Command::Offer(Offer::Draw, Some(2)));
    assert_eq!(test.refused("bob", Command::Answer(Offer::Draw, Some(1), true)), Rejection::GameOver);
    test.ok("bob", Command::Answer(Offer::Draw, Some(2), true));
}

#[test]
fn a_rematch_is_offered_after_a_named_game() {
    let mut test = TestRoom::two_players(default_settings());
    test.ok("ada", Command::Resign { game: 1 });
    test.ok("ada", Command::Offer(Offer::Rematch, Some(1)));
    assert_eq!(test.refused("bob", Command::Answer(Offer::Rematch, Some(2), true)), Rejection::GameNotFound);
    test.ok("bob", Command::Answer(Offer::Rematch, Some(1), true));
    test.ok("ada", Command::Resign { game: 2 });
    let since = Rejection::WrongPhase("another game has been played since");
    for who in ["ada", "bob"] {
        assert_eq!(test.refused(who, Command::Offer(Offer::Rematch, Some(1))), since);
    }
}
