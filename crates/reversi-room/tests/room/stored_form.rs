//! Properties of the stored form: nothing is lost, everything decoded is safe, and the events that a room decides fit
//! it.

use proptest::prelude::*;
use prost::Message as _;
use reversi_room::{
    Fact, Room,
    stored::{StoredError, decode_event, decode_room, decode_thoughts, encode_event, encode_room, encode_thoughts, v1},
};

use crate::{
    exercise::exercise,
    fixtures::{
        random_history::{RandomHistory, for_every_command, for_random_histories},
        script::scripts,
    },
};

#[test]
fn every_event_round_trips() {
    for_random_histories(|random| {
        for event in &random.test.history {
            prop_assert_eq!(decode_event(&encode_event(event)), Ok(event.clone()));
        }
        Ok(())
    });
}

#[test]
fn every_room_round_trips_even_between_two_events_of_a_command() {
    for_every_command(|trace| {
        let mut room = trace.before.clone();
        for event in trace.result.as_deref().unwrap_or(&[]) {
            room.apply(event);
            prop_assert_eq!(decode_room(&encode_room(&room)), Ok(room.clone()));
        }
        Ok(())
    });
}

#[test]
fn every_command_and_every_rejection_round_trips() {
    for_every_command(|trace| {
        let sent = v1::Command::decode(&*v1::Command::from(&trace.command).encode_to_vec()).expect("a message");
        prop_assert_eq!(sent.read(), Ok(trace.command.clone()));
        if let Err(rejection) = trace.result {
            prop_assert_eq!(v1::Rejection::from(rejection).read(), Ok(rejection));
        }
        Ok(())
    });
}

#[test]
fn the_search_reports_of_a_game_round_trip_if_each_belongs_to_a_ply() {
    for_random_histories(|random| {
        for room in random.commands.iter().map(|command| &command.after) {
            let Some(game) = room.game() else { continue };
            let stored = encode_thoughts(&game.thoughts);
            prop_assert_eq!(decode_thoughts(&stored, game.plies.len()), Ok(game.thoughts.clone()));
            if let Some(&(ply, _)) = game.thoughts.last() {
                prop_assert_eq!(decode_thoughts(&stored, ply.into()), Err(StoredError::Malformed("thought")));
            }
        }
        Ok(())
    });
}

#[test]
fn every_event_of_a_history_fits_only_in_its_place() {
    for_random_histories(|random| {
        let mut room = Room::replay(&random.test.history[..1]).expect("a creation");
        let mut last = &random.test.history[0];
        for event in &random.test.history[1..] {
            prop_assert_eq!(room.check_next(last), Err(StoredError::OutOfOrder(last.seq)));
            prop_assert_eq!(room.check_next(event), Ok(()));
            room.apply(event);
            last = event;
        }
        Ok(())
    });
}

/// A history has hundreds of moves, so the size of a move matters.
#[test]
fn a_move_is_short() {
    for_random_histories(|random| {
        for event in &random.test.history {
            if let Fact::Played { spent, .. } = event.fact {
                // These tests run in 1970; until about 2200 a timestamp takes more bytes, so it is counted with 8.
                let time_bytes = 8 - encode_length(event.at.0.unsigned_abs());
                let length = encode_event(event).len() + time_bytes;
                prop_assert!(length <= 22 || spent.as_secs() > 15 || event.seq.0 > 16_000, "{length} for {event:?}");
            }
        }
        Ok(())
    });
}

/// Length of a varint in bytes, at most 8.
fn encode_length(value: u64) -> usize {
    usize::try_from((64 - value.leading_zeros()).div_ceil(7).clamp(1, 8)).expect("small")
}

/// Bytes in version 1, which has no checksum.
fn unchecked(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[0] = 1;
    bytes.truncate(bytes.len() - 4);
    bytes
}

#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        match self {
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Set(at, value) => bytes[at.index(length)] = *value,
            Self::Insert(at, value) => bytes.insert(at.index(length), *value),
            Self::Remove(at) => {
                bytes.remove(at.index(length));
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let at = any::<prop::sample::Index>;
    // Small numbers are tags, lengths and enum variants.
    let byte = || prop_oneof![any::<u8>(), 0_u8..24];
    let one = prop_oneof![
        1 => at().prop_map(Damage::Cut),
        6 => (at(), byte()).prop_map(|(at, value)| Damage::Set(at, value)),
        1 => (at(), byte()).prop_map(|(at, value)| Damage::Insert(at, value)),
        1 => at().prop_map(Damage::Remove),
    ];
    prop::collection::vec(one, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_bytes_give_an_error_or_a_valid_value(
        script in scripts(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 64),
    ) {
        let random = RandomHistory::run(script);
        for (which, damage) in damages {
            let event = &random.test.history[which.index(random.test.history.len())];
            let room = &random.commands[which.index(random.commands.len())].after;
            let command = &random.commands[which.index(random.commands.len())].command;
            // Without the checksum, which would detect all damage.
            let (mut event, mut room) = (unchecked(encode_event(event)), unchecked(encode_room(room)));
            let mut command = v1::Command::from(command).encode_to_vec();
            for one in damage {
                one.apply(&mut event);
                one.apply(&mut room);
                one.apply(&mut command);
            }
            if let Some(command) = v1::Command::decode(&*command).ok().and_then(|message| message.read().ok()) {
                prop_assert_eq!(v1::Command::from(&command).read(), Ok(command.clone()));
                let trace = &random.commands[which.index(random.commands.len())];
                let _ = trace.before.decide(trace.now, trace.actor, command);
            }
            if let Ok(event) = decode_event(&event) {
                prop_assert_eq!(decode_event(&encode_event(&event)), Ok(event));
            }
            if let Ok(room) = decode_room(&room) {
                prop_assert_eq!(decode_room(&encode_room(&room)), Ok(room.clone()));
                exercise(room);
            }
        }
    }

    #[test]
    fn any_bytes_are_decoded_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = bytes;
        for version in [None, Some(1)] {
            if let (Some(version), Some(first)) = (version, bytes.first_mut()) {
                *first = version;
            }
            let _ = decode_event(&bytes);
            let _ = decode_room(&bytes);
            let _ = v1::Command::decode(&*bytes).map(v1::Command::read);
            let _ = v1::Rejection::decode(&*bytes).map(v1::Rejection::read);
            let _ = decode_thoughts(&bytes, 60);
        }
    }
}
