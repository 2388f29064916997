//! Finished games as messages and as lines of an export.

use serde_json::{Value, json};

use crate::{
    proto::{convert, v1},
    room::{EngineVersion, GameRecord, MeetingRef, Participant, PlayerKind, RatingChange, Thought, Timestamp},
    rules::{ByColor, Color, opening_names},
};

/// A game with its plies.
pub(super) fn record(game: &GameRecord) -> v1::GameRecord {
    // Without `..`: the compiler reports a field that is not named here.
    #[rustfmt::skip]
    let GameRecord { id, room_name, players: ByColor { black, white }, started, ended, end: _, margin: _, plies: _,
        opening: _, position, time: _, private, public_from: _, meeting, rated, ratings, rating_changes, thoughts: _ } = game;
    v1::GameRecord {
        game_id: id.to_string(),
        room_id: id.room.to_string(),
        room_name: room_name.to_string(),
        black: Some(participant(black)),
        white: Some(participant(white)),
        started_at: started.known().map(convert::timestamp),
        ended_at: ended.known().map(convert::timestamp),
        outcome: Some(convert::recorded_outcome(game)),
        transcript: transcript(game),
        plies: convert::record_plies(game),
        board: position.board().to_string(),
        rated: *rated,
        black_rating: ratings.black.unwrap_or_default().into(),
        white_rating: ratings.white.unwrap_or_default().into(),
        opening: opening_names::of_game(game.positions()).unwrap_or_default().to_owned(),
        private: *private,
        black_rating_change: rating_changes.black.map(|change| convert::rating_change(ratings.black, change)),
        white_rating_change: rating_changes.white.map(|change| convert::rating_change(ratings.white, change)),
        meeting: meeting.map(convert::room_meeting),
    }
}

/// A game without its plies.
pub(super) fn summary(game: &GameRecord) -> v1::GameRecord {
    v1::GameRecord { plies: Vec::new(), ..record(game) }
}

pub(super) fn participant(participant: &Participant) -> v1::Participant {
    use v1::participant::Participant as Wire;
    let wire = match participant {
        Participant::Player(profile) => Wire::Player(convert::player(profile)),
        Participant::Ai(ai) => Wire::Ai(convert::ai_seat(ai)),
    };
    v1::Participant { participant: Some(wire) }
}

/// The squares of a game, without passes.
pub(super) fn transcript(game: &GameRecord) -> String {
    game.plies.iter().filter_map(|ply| ply.square).map(|square| square.to_string()).collect()
}

/// A game as one line of JSON, without the line break. The format is documented at `ExportFormat` in `record.proto`.
pub(super) fn json_line(game: &GameRecord) -> String {
    let outcome = convert::recorded_outcome(game);
    let ms = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    json!({
        "game_id": game.id.to_string(),
        "room_id": game.id.room.to_string(),
        "room_name": game.room_name.as_str(),
        "black": json_participant(&game.players.black),
        "white": json_participant(&game.players.white),
        "started": time(game.started),
        "ended": time(game.ended),
        "result": word(outcome.result().as_str_name(), "GAME_RESULT_"),
        "reason": word(outcome.reason().as_str_name(), "GAME_END_REASON_"),
        "discs": { "black": outcome.black_discs, "white": outcome.white_discs },
        "rated": game.rated,
        "ratings": { "black": game.ratings.black, "white": game.ratings.white },
        "rating_changes": { "black": rating_change(game, Color::Black), "white": rating_change(game, Color::White) },
        "meeting": game.meeting.map(|MeetingRef { tournament, number, round }| {
            json!({ "tournament_id": tournament.to_string(), "number": number, "round": round })
        }),
        "opening": opening_names::of_game(game.positions()),
        "time": {
            "move_ms": game.time.per_move.map(ms),
            "total_ms": game.time.total.map(ms),
            "increment_ms": ms(game.time.increment),
        },
        "moves": moves(game),
    })
    .to_string()
}

/// `None` if unknown.
fn time(at: Timestamp) -> Option<String> {
    Some(convert::timestamp(at.known()?).to_string())
}

fn json_participant(participant: &Participant) -> Value {
    match participant {
        Participant::Player(player) => {
            let kind = match player.kind {
                PlayerKind::Human => "human",
                PlayerKind::Bot => "bot",
            };
            let engine_version = player.engine_version.as_ref().map(EngineVersion::as_str);
            json!({
                "kind": kind, "player_id": player.id.to_string(), "name": player.name.as_str(), "engine_version": engine_version
            })
        }
        Participant::Ai(ai) => json!({ "kind": "ai", "name": format!("{}:{}", ai.kind, ai.level) }),
    }
}

/// `None` if it is not known.
fn rating_change(game: &GameRecord, side: Color) -> Option<Value> {
    Some(match game.rating_changes[side]? {
        RatingChange::Rated { after, deviation, weight, limited } => {
            let before = game.ratings[side];
            json!({ "before": before, "after": after, "deviation": deviation, "weight": weight, "limited": limited })
        }
        RatingChange::Unrated(reason) => json!({ "unrated": reason.name() }),
    })
}

fn moves(game: &GameRecord) -> Vec<Value> {
    let moves = game.plies.iter().zip(Color::ALL.into_iter().cycle()).enumerate().map(|(index, (ply, side))| {
        let side = match side {
            Color::Black => "black",
            Color::White => "white",
        };
        let mut made =
            json!({ "side": side, "square": ply.square.map(|square| square.to_string()), "ms": ply.spent_ms });
        if index < usize::from(game.opening) {
            made["opening"] = true.into();
        }
        if let Some(report) = game.thought(index) {
            made["thought"] = thought(report);
        }
        made
    });
    moves.collect()
}

fn thought(thought: &Thought) -> Value {
    let line: Vec<String> = thought.line.iter().map(ToString::to_string).collect();
    json!({
        "evaluation": thought.evaluation.map(|hundredths| f64::from(hundredths) / 100.0),
        "depth": thought.depth,
        "nodes": thought.nodes,
        "line": line,
    })
}

/// The name of an enum value in lower case, without the prefix `of`.
fn word(name: &str, of: &str) -> String {
    name.strip_prefix(of).unwrap_or(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        room::{AiSeat, EndReason, GameEnd, GameId, Ply, RoomId, RoomName, TimeControl, Timestamp},
        rules::Position,
    };

    #[test]
    fn passes_have_no_square_and_moves_have_their_opening_and_search_report() {
        let ai = || Participant::Ai(AiSeat { kind: "mcts".into(), level: 3, seed: 9 });
        let line = ["d3", "c3"].map(|name| name.parse().unwrap()).into();
        let thought = Thought { evaluation: Some(-125), depth: 7, nodes: 900, line, cut_short: false };
        let placed = |name: &str| Ply { square: name.parse().ok(), spent_ms: 7 };
        let id = GameId { room: RoomId::from_random(1), number: 2 };
        let (name, players) = (RoomName::parse("a \"room\"").unwrap(), ByColor::new(ai(), ai()));
        let end = GameEnd { winner: None, reason: EndReason::Aborted };
        let plies = vec![placed("d3"), placed("c3"), Ply { square: None, spent_ms: 0 }, placed("b3")];
        let game = GameRecord {
            started: Timestamp(1_767_348_000_123_456),
            ended: Timestamp(1_767_348_001_000_000),
            opening: 1,
            time: TimeControl { per_move: None, total: Some(Duration::from_secs(300)), increment: Duration::ZERO },
            thoughts: vec![(0, thought)],
            ..GameRecord::of_moves(id, name, players, end, plies, Position::START)
        };
        let written: Value = serde_json::from_str(&json_line(&game)).unwrap();
        let moves = json!([
            {
                "side": "black", "square": "d3", "ms": 7, "opening": true,
                "thought": { "evaluation": -1.25, "depth": 7, "nodes": 900, "line": ["d3", "c3"] },
            },
            { "side": "white", "square": "c3", "ms": 7 },
            { "side": "black", "square": null, "ms": 0 },
            { "side": "white", "square": "b3", "ms": 7 },
        ]);
        assert_eq!(written["moves"], moves);
        assert_eq!((&written["result"], &written["reason"]), (&json!("aborted"), &json!("aborted")));
        assert_eq!(written["started"], "2026-01-02T10:00:00.123456Z");
        assert_eq!(written["time"], json!({ "move_ms": null, "total_ms": 300_000, "increment_ms": 0 }));
        assert_eq!(written["discs"], json!({ "black": 2, "white": 2 }));
        assert!(!json_line(&game).contains("seed"), "the seed of an AI is secret");
    }
}
