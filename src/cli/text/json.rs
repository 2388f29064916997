//! Rooms, finished games and results as JSON: one object for each, for scripts. Documented in `docs/records.md`.

use serde_json::{Value, json};

use super::date;
pub(in crate::cli) use crate::proto::json::{ai, participant, player};
use crate::{
    cli::terminal::room_rows,
    client::{
        GameRecord, GameResult, MeetingRef, Occupant, OpponentStats, Phase, Rated, Rating, RatingChange, RoomRow, Stats,
    },
    rules::{ByColor, Color},
};

pub(in crate::cli) fn room(row: &RoomRow) -> Value {
    let phase = match row.phase {
        Phase::Lobby => "lobby",
        Phase::Playing => "playing",
        Phase::Closed => "closed",
    };
    json!({
        "room_id": row.id.to_string(),
        "room_name": row.name,
        "owner": row.owner,
        "black": occupant(&row.seats.black.occupant),
        "white": occupant(&row.seats.white.occupant),
        "phase": phase,
        "ply": row.ply,
        "discs": by_color(row.discs),
        "watchers": row.watchers,
        "has_password": row.has_password,
        "rated": row.rated,
        "finished": row.finished,
        "you_can": room_rows::action(row),
        "meeting": row.meeting.as_ref().map(meeting),
        "created": date::precise(row.created_at),
    })
}

/// With the names of `reversi games --export json`.
pub(in crate::cli) fn game(game: &GameRecord) -> Value {
    // Without `..`: the compiler reports a field that is not named here.
    #[rustfmt::skip]
    let GameRecord { id, room, room_name, players, started_at, ended_at, outcome, transcript, plies: _, board: _, rated,
        ratings, rating_changes, opening, meeting: of_meeting } = game;
    let result = match outcome.result {
        GameResult::Won(Color::Black) => "black_wins",
        GameResult::Won(Color::White) => "white_wins",
        GameResult::Draw => "draw",
        GameResult::Aborted => "aborted",
    };
    let reason = outcome.reason.as_str_name();
    json!({
        "game_id": id.to_string(),
        "room_id": room.to_string(),
        "room_name": room_name,
        "black": participant(&players.black),
        "white": participant(&players.white),
        "started": date::precise(*started_at),
        "ended": date::precise(*ended_at),
        "result": result,
        "reason": reason.strip_prefix("GAME_END_REASON_").unwrap_or(reason).to_lowercase(),
        "discs": by_color(outcome.discs),
        "rated": rated,
        "ratings": { "black": ratings.black, "white": ratings.white },
        "rating_changes": {
            "black": rating_changes.black.map(rating_change),
            "white": rating_changes.white.map(rating_change),
        },
        "meeting": of_meeting.as_ref().map(meeting),
        "opening": opening,
        "transcript": transcript.to_string(),
    })
}

fn meeting(MeetingRef { tournament, number, round }: &MeetingRef) -> Value {
    json!({ "tournament_id": tournament.to_string(), "number": number, "round": round })
}

fn rating_change(RatingChange { before, effect }: RatingChange) -> Value {
    match effect {
        Ok(Rated { after, deviation, weight, limited }) => {
            json!({ "before": before, "after": after, "deviation": deviation, "weight": weight, "limited": limited })
        }
        Err(reason) => {
            let name = reason.as_str_name();
            json!({ "unrated": name.strip_prefix("UNRATED_REASON_").unwrap_or(name).to_lowercase() })
        }
    }
}

/// With the names of `PlayerStats` in the API. `who` is what [`player`] or [`ai`] returns.
pub(in crate::cli) fn stats(who: Value, stats: &Stats) -> Value {
    let against = |OpponentStats { won, drawn, lost }| json!({ "won": won, "drawn": drawn, "lost": lost });
    let rating = stats.rating.map(|Rating { value, deviation, games, provisional }| {
        json!({ "value": value, "deviation": deviation, "games": games, "provisional": provisional })
    });
    json!({
        "player": who,
        "played": stats.played,
        "won": stats.won,
        "drawn": stats.drawn,
        "lost": stats.lost,
        "against_humans": against(stats.humans),
        "against_bots": against(stats.bots),
        "against_ais": against(stats.ais),
        "rating": rating,
    })
}

/// `null` for an open seat.
fn occupant(occupant: &Occupant) -> Value {
    match occupant {
        Occupant::Open => Value::Null,
        Occupant::Reserved(reserved) => json!({ "kind": "reserved", "for": player(reserved) }),
        Occupant::Player(seated) => player(seated),
        Occupant::Ai(seated) => ai(seated),
    }
}

fn by_color(discs: ByColor<u8>) -> Value {
    json!({ "black": discs.black, "white": discs.white })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_every_field_of_the_rating() {
        let rating = Some(Rating { value: 1662.5, deviation: 145.25, games: 3, provisional: true });
        let shown = stats(Value::Null, &Stats { rating, ..Stats::default() });
        let expected = json!({ "value": 1662.5, "deviation": 145.25, "games": 3, "provisional": true });
        assert_eq!(shown["rating"], expected);
    }
}
