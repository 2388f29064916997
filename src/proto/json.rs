//! Players, tournaments, standings and meetings as JSON, with the names of the API: one object for each, for scripts.

use std::time::Duration;

use reversi_client::{Ai, Participant, Player, PlayerKind};
use serde_json::{Value, json};

use super::v1::{self, opening::Opening, tournament_settings::Format};

pub(crate) fn player(player: &Player) -> Value {
    let kind = if player.kind == PlayerKind::Bot { "bot" } else { "human" };
    let engine_version = Some(&player.engine_version).filter(|version| !version.is_empty());
    json!({ "kind": kind, "player_id": player.id.to_string(), "name": player.name, "engine_version": engine_version })
}

pub(crate) fn ai(ai: &Ai) -> Value {
    json!({ "kind": "ai", "name": format!("{}:{}", ai.kind, ai.level) })
}

pub(crate) fn participant(participant: &Participant) -> Value {
    match participant {
        Participant::Player(seated) => player(seated),
        Participant::Ai(seated) => ai(seated),
    }
}

pub(crate) fn tournament(tournament: &v1::Tournament) -> Value {
    // Without `..`: the compiler reports a field that is not named here.
    #[rustfmt::skip]
    let v1::Tournament { tournament_id, organiser_id, settings: of, has_password, phase: _, created_at, started_at, entrants,
        round, rounds, meetings, finished, cancel_reason: _ } = tournament;
    let is_cancelled = tournament.phase() == v1::TournamentPhase::Cancelled;
    let reason = lower(tournament.cancel_reason().as_str_name(), "TOURNAMENT_CANCEL_REASON_");
    json!({
        "tournament_id": tournament_id,
        "organiser_id": organiser_id,
        "settings": of.as_ref().map(settings),
        "has_password": has_password,
        "phase": lower(tournament.phase().as_str_name(), "TOURNAMENT_PHASE_"),
        "created_at": time(*created_at),
        "started_at": time(*started_at),
        "entrants": entrants,
        "round": round,
        "rounds": rounds,
        "meetings": meetings,
        "finished": finished,
        "cancel_reason": is_cancelled.then_some(reason),
    })
}

fn settings(settings: &v1::TournamentSettings) -> Value {
    #[rustfmt::skip]
    let v1::TournamentSettings { name, format, playoff, game: of_game, admits, max_entrants, max_running, starts_at, no_show,
        fills_bye, sprt } = settings;
    let of_kind = |kind: &str| match (kind, format) {
        ("swiss", Some(Format::Swiss(v1::Swiss { rounds }))) => json!({ "rounds": rounds }),
        ("arena", Some(Format::Arena(v1::Arena { duration }))) => json!({ "duration": seconds(*duration) }),
        ("all_play_all", Some(Format::AllPlayAll(v1::AllPlayAll { cycles, challenger_ids }))) => {
            json!({ "cycles": cycles, "challenger_ids": challenger_ids })
        }
        _ => Value::Null,
    };
    let kinds = admits.iter().flat_map(v1::Opponents::kinds);
    json!({
        "name": name,
        "all_play_all": of_kind("all_play_all"),
        "swiss": of_kind("swiss"),
        "arena": of_kind("arena"),
        "playoff": playoff,
        "game": of_game.as_ref().map(game),
        "admits": {
            "kinds": kinds.map(|kind| lower(kind.as_str_name(), "PLAYER_KIND_")).collect::<Vec<_>>(),
            "min_rating": admits.as_ref().map(|admits| admits.min_rating),
            "max_rating": admits.as_ref().map(|admits| admits.max_rating),
        },
        "max_entrants": max_entrants,
        "max_running": max_running,
        "starts_at": time(*starts_at),
        "no_show": seconds(*no_show),
        "fills_bye": fills_bye.clone().and_then(|ai| Ai::try_from(ai).ok()).as_ref().map(ai),
        "sprt": sprt.map(|v1::Sprt { elo0, elo1, alpha, beta }| {
            json!({ "elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta })
        }),
    })
}

/// Of the room of a meeting; times in seconds. The rest of its settings is that of the tournament, or has no effect there.
fn game(game: &v1::RoomSettings) -> Value {
    #[rustfmt::skip]
    let v1::RoomSettings { name: _, visibility: _, watching: _, move_limit, total_time, increment, ai_pause, games, swap_sides,
        opening: of_opening, auto_start: _, rated, sprt: _, opponents: _, spectator_delay } = game;
    json!({
        "games": games,
        "rated": rated,
        "total_time": seconds(*total_time),
        "increment": seconds(*increment),
        "move_limit": seconds(*move_limit),
        "ai_pause": seconds(*ai_pause),
        "swap_sides": swap_sides,
        "opening": of_opening.as_ref().map(opening),
        "spectator_delay": seconds(*spectator_delay),
    })
}

/// Without the seed: each meeting has its own.
fn opening(opening: &v1::Opening) -> Value {
    match &opening.opening {
        None | Some(Opening::Standard(_)) => json!({ "standard": {} }),
        Some(Opening::Moves(moves)) => json!({ "moves": moves }),
        Some(Opening::Random(v1::RandomOpening { plies, .. })) => json!({ "random": { "plies": plies } }),
        Some(Opening::Balanced(_)) => json!({ "balanced": {} }),
    }
}

pub(crate) fn standing(row: &v1::Standing) -> Value {
    #[rustfmt::skip]
    let v1::Standing { rank, entrant, who, rating, state: _, put_aside_until, put_aside_for: _, meetings, half_points,
        brightwell, discs, wins, draws, losses, playoff_wins, elo, sprt } = row;
    let sprt = sprt.map(|state| {
        let verdict = match state.verdict() {
            v1::SprtVerdict::Unspecified => None,
            verdict => Some(lower(verdict.as_str_name(), "SPRT_VERDICT_")),
        };
        let v1::SprtState { llr, lower_bound, upper_bound, verdict: _ } = state;
        json!({ "llr": llr, "lower_bound": lower_bound, "upper_bound": upper_bound, "verdict": verdict })
    });
    let elo = elo.map(
        |v1::EntrantElo { elo, error, superiority }| json!({ "elo": elo, "error": error, "superiority": superiority }),
    );
    let put_aside_for = put_aside_until.map(|_| lower(row.put_aside_for().as_str_name(), "ENTRANT_FAULT_"));
    let who = who.clone().and_then(|who| Participant::try_from(who).ok());
    json!({
        "rank": rank,
        "entrant": entrant,
        "who": who.as_ref().map(participant),
        "rating": rating,
        "state": lower(row.state().as_str_name(), "ENTRANT_STATE_"),
        "put_aside_until": time(*put_aside_until),
        "put_aside_for": put_aside_for,
        "meetings": meetings,
        "half_points": half_points,
        "brightwell": brightwell,
        "discs": discs,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "playoff_wins": playoff_wins,
        "elo": elo,
        "sprt": sprt,
    })
}

pub(crate) fn meeting(meeting: &v1::Meeting) -> Value {
    #[rustfmt::skip]
    let v1::Meeting { number, round, playoff, state: _, first, second, room_id, first_half_points, second_half_points,
        first_discs, second_discs, decision } = meeting;
    let decision =
        decision.as_ref().map(|v1::MeetingDecision { player_id, why }| json!({ "player_id": player_id, "why": why }));
    json!({
        "number": number,
        "round": round,
        "playoff": playoff,
        "state": lower(meeting.state().as_str_name(), "MEETING_STATE_"),
        "first": first,
        "second": second,
        "room_id": room_id,
        "first_half_points": first_half_points,
        "second_half_points": second_half_points,
        "first_discs": first_discs,
        "second_discs": second_discs,
        "decision": decision,
    })
}

fn lower(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_lowercase()
}

fn time(time: Option<prost_types::Timestamp>) -> Option<String> {
    time.map(|time| time.to_string())
}

fn seconds(time: Option<prost_types::Duration>) -> Option<f64> {
    time.and_then(|time| Duration::try_from(time).ok()).map(|time| time.as_secs_f64())
}
