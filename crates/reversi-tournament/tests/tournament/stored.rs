//! The stored form of tournaments: nothing is lost, and damage is noticed.

use std::time::Duration;

use proptest::{prelude::*, test_runner::RngSeed};
use reversi_room::{
    ChatText, Opening, Opponents, Participant, PasswordHash, Timestamp,
    stored::{StoredError, encode_message, v1},
};
use reversi_tournament::{
    Command, Control, EntrantId, Fact, Format, Outcome, Playoff, Tournament,
    stored::{decode_event, decode_tournament, encode_command, encode_event, encode_tournament, read_command},
};

use crate::{
    properties::{any_history, perform_all},
    trial::{ORGANISER, Trial, ai, player, profile, settings},
};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100, rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_event_and_every_tournament_round_trips(history in any_history()) {
        let trial = perform_all(history);
        let mut replayed: Option<Tournament> = None;
        for event in &trial.history {
            prop_assert_eq!(decode_event(&encode_event(event)), Ok(event.clone()));
            match &mut replayed {
                Some(tournament) => {
                    prop_assert_eq!(tournament.check_next(event), Ok(()));
                    tournament.apply(event);
                    prop_assert_eq!(tournament.check_next(event), Err(StoredError::OutOfOrder(event.seq)));
                }
                None => replayed = Tournament::replay([event]),
            }
        }
        let tournament = replayed.expect("a creation");
        prop_assert_eq!(decode_tournament(&encode_tournament(&tournament)), Ok(tournament));
    }

    #[test]
    fn a_changed_bit_is_noticed(history in any_history(), event: prop::sample::Index, bit: prop::sample::Index) {
        let trial = perform_all(history);
        for mut bytes in [encode_event(event.get(&trial.history)), encode_tournament(&trial.tournament)] {
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode_event(&bytes).is_err() && decode_tournament(&bytes).is_err());
        }
    }
}

/// Nodes send each other those of players and administrators only.
#[test]
fn every_command_of_a_player_is_read_as_it_was_sent() {
    let who = || Participant::Player(profile(3));
    let why = ChatText::parse("It had to be.").expect("a text");
    let sent = [
        Command::Configure(Box::new(settings(Format::Swiss { rounds: 3 }))),
        Command::Join { who: who(), rating: 1600, password: Some(PasswordHash(vec![1, 2].into())) },
        Command::Join { who: Participant::Ai(ai()), rating: 0, password: None },
        Command::Leave,
        Command::Exclude(EntrantId(2)),
        Command::Admit(EntrantId(2)),
        Command::Control(Control::Resume),
        Command::Adjudicate { number: 7, outcome: Outcome::Void, why },
    ];
    for command in sent {
        let encoded = encode_command(&command).expect("of a player");
        assert_eq!(read_command(encoded), Ok(command));
    }
    let of_server = [Command::Tick { random: 1 }, Command::Credit { micros: 1 }, Command::SetPresence(player(1), true)];
    assert!(of_server.iter().all(|command| encode_command(command).is_none()));
}

/// With every setting that the random histories leave as it is.
#[test]
fn every_setting_round_trips() {
    let mut settings = settings(Format::AllPlayAll { cycles: 2, challengers: vec![player(1), player(2)] });
    settings.admits = Opponents { people: false, bots: true, min_rating: Some(1200), max_rating: Some(1900) };
    settings.password = Some(PasswordHash(vec![1, 2, 3].into()));
    settings.starts_at = Some(Timestamp(5));
    settings.no_show = Duration::from_millis(10_500);
    settings.game.spectator_delay = Duration::from_secs(90);
    settings.playoff = Some(Playoff::Eight);
    settings.game.opening = Opening::Balanced { seed: 0 };
    settings.sprt = "-5,10,0.1,0.2".parse().ok();
    let mut trial = Trial::new(settings.clone(), 0);
    settings.max_entrants = 16;
    trial.issue(ORGANISER, Command::Configure(Box::new(settings))).expect("configured");
    assert!(matches!(trial.history.last().expect("an event").fact, Fact::Configured(_)));
    for event in &trial.history {
        assert_eq!(decode_event(&encode_event(event)), Ok(event.clone()));
    }
    assert_eq!(decode_tournament(&encode_tournament(&trial.tournament)), Ok(trial.tournament));
}

/// Each would make a state that no event leads to.
#[test]
fn a_tournament_that_contradicts_itself_is_refused() {
    let trial = perform_all((settings(Format::Swiss { rounds: 3 }), 6, Vec::new()));
    let Some(Fact::Paired { .. }) = trial.history.last().map(|event| &event.fact) else { panic!("no round") };
    let stored = v1::Tournament::from(&trial.tournament);
    let refusal = |change: fn(&mut v1::Tournament)| {
        let mut changed = stored.clone();
        change(&mut changed);
        decode_tournament(&encode_message(&changed)).expect_err("refused")
    };
    assert_eq!(refusal(|stored| drop(stored.meetings.remove(1))), StoredError::Malformed("number of a meeting"));
    assert_eq!(refusal(|stored| drop(stored.entrants.remove(0))), StoredError::Malformed("side of a meeting"));
    let two_at_a_time = |stored: &mut v1::Tournament| {
        let first = stored.meetings[0].pairing.expect("a pairing").first;
        stored.meetings[1].pairing.as_mut().expect("a pairing").first = first;
    };
    assert_eq!(refusal(two_at_a_time), StoredError::Malformed("side of a meeting"));
    let over = |stored: &mut v1::Tournament| {
        stored.phase = v1::TournamentPhase::Ended.into();
        stored.ending = v1::TournamentEnding::Completed.into();
    };
    assert_eq!(refusal(over), StoredError::Malformed("phase"));
    assert_eq!(refusal(|stored| stored.last_entrant = 5), StoredError::Malformed("last entrant"));
}
