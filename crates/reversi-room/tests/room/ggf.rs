//! A game that was written in GGF can be read.

use std::cell::Cell;

use proptest::prelude::*;
use reversi_engine::rules::{ByColor, Color, Outcome, Position};
use reversi_room::{EndReason, Fact, GameRecord, Participant, ggf};

use crate::fixtures::random_history::{RandomHistory, for_random_histories};

#[test]
fn a_written_game_is_read_back() {
    let seen = Cell::new(0);
    for_random_histories(|random| {
        for record in records(random) {
            let record = GameRecord { ratings: ByColor::new(Some(1613), None), ..record };
            let line = ggf::write(&record);
            prop_assert!(line.contains("RB[1613]") && !line.contains("RW["), "{}", line);
            let game = ggf::read(&line).map_err(|error| TestCaseError::fail(format!("{error}: {line}")))?;
            prop_assert_eq!(&game.players, &ByColor::from_fn(|side| name(&record.players[side])));
            prop_assert_eq!(game.place.as_str(), record.room_name.as_str());
            prop_assert_eq!((game.start, game.position), (Position::START, record.position));
            prop_assert_eq!(game.plies.len(), record.plies.len());
            for (read, written) in game.plies.iter().zip(&record.plies) {
                prop_assert_eq!(read.square, written.square);
                prop_assert!(read.spent_ms.abs_diff(written.spent_ms) <= 5, "{} {}", read.spent_ms, written.spent_ms);
            }
            prop_assert_eq!(game.result, result(&record), "{}", line);
            seen.set(seen.get() + 1);
        }
        Ok(())
    });
    assert!(seen.get() > 100, "only {} games", seen.get());
}

fn records(random: &RandomHistory) -> impl Iterator<Item = GameRecord> {
    random.commands.iter().flat_map(|trace| {
        let mut room = trace.before.clone();
        let events = trace.result.iter().flatten();
        events.filter_map(move |event| {
            room.apply(event);
            matches!(event.fact, Fact::GameEnded(_)).then(|| room.record(event.at)).flatten()
        })
    })
}

fn name(participant: &Participant) -> String {
    match participant {
        Participant::Player(profile) => profile.name.to_string(),
        Participant::Ai(ai) => format!("{}-{}", ai.kind, ai.level),
    }
}

/// The expected result. The format has fewer reasons than a record.
fn result(record: &GameRecord) -> Option<ggf::GgfResult> {
    let decided = match record.end.winner {
        Some(Color::Black) => 64,
        Some(Color::White) => -64,
        None => 0,
    };
    let (margin, reason) = match record.end.reason {
        EndReason::Discs => (Outcome::of(record.position.board()).difference(), EndReason::Discs),
        EndReason::Resignation | EndReason::Left | EndReason::Kicked => (decided, EndReason::Resignation),
        reason @ (EndReason::Timeout | EndReason::Agreed) => (decided, reason),
        aborted => {
            assert!(!aborted.counts());
            return None;
        }
    };
    Some(ggf::GgfResult { margin, reason })
}
