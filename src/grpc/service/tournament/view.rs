//! Tournaments, standings and meetings on the wire.

use super::settings::settings;
use crate::{
    grpc::service::game_record::participant,
    proto::{
        convert::{count, sprt_state, timestamp},
        v1,
    },
    room::{LeaveReason, Timestamp},
    tournament::{Ending, EntrantState, Fault, Format, Meeting, Outcome, Phase, Stage, Standing, Strength, Tournament},
};

/// A number of entrants, meetings or rounds.
fn number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

pub(super) fn tournament(tournament: &Tournament) -> v1::Tournament {
    let has_started = tournament.started().is_some();
    let last = tournament.meetings().next_back().map_or(0, |last| last.round);
    let (round, rounds) = match &tournament.settings().format {
        Format::Arena { .. } => (0, 0),
        Format::AllPlayAll { .. } | Format::Swiss { .. } => (last, tournament.rounds()),
    };
    let finished = tournament.meetings().filter(|meeting| meeting.is_finished()).count();
    v1::Tournament {
        tournament_id: tournament.id().to_string(),
        organiser_id: tournament.organiser().to_string(),
        settings: Some(settings(tournament.settings())),
        has_password: tournament.settings().password.is_some(),
        phase: phase(tournament.phase()).into(),
        created_at: Some(timestamp(tournament.created())),
        started_at: tournament.started().map(timestamp),
        entrants: count(tournament.contenders().count()),
        round: number(round),
        rounds: if has_started { number(rounds) } else { 0 },
        meetings: count(tournament.meetings().len()),
        finished: count(finished),
        cancel_reason: match tournament.phase() {
            Phase::Ended(ending) => cancel_reason(ending).into(),
            Phase::Open | Phase::Running | Phase::Paused | Phase::Playoff => 0,
        },
    }
}

fn phase(phase: Phase) -> v1::TournamentPhase {
    match phase {
        Phase::Open => v1::TournamentPhase::Open,
        Phase::Running => v1::TournamentPhase::Running,
        Phase::Paused => v1::TournamentPhase::Paused,
        Phase::Playoff => v1::TournamentPhase::Playoff,
        Phase::Ended(ending) => end_phase(ending),
    }
}

pub(in crate::grpc::service) fn end_phase(ending: Ending) -> v1::TournamentPhase {
    match ending {
        Ending::Completed => v1::TournamentPhase::Completed,
        Ending::Stopped => v1::TournamentPhase::Stopped,
        Ending::Cancelled | Ending::TooFewEntrants | Ending::Stale => v1::TournamentPhase::Cancelled,
    }
}

pub(in crate::grpc::service) fn cancel_reason(ending: Ending) -> v1::TournamentCancelReason {
    match ending {
        Ending::Completed | Ending::Stopped => v1::TournamentCancelReason::Unspecified,
        Ending::Cancelled => v1::TournamentCancelReason::CalledOff,
        Ending::TooFewEntrants => v1::TournamentCancelReason::TooFewEntrants,
        Ending::Stale => v1::TournamentCancelReason::Stale,
    }
}

pub(in crate::grpc::service) fn fault(fault: Fault) -> v1::EntrantFault {
    match fault {
        Fault::IllegalMoves => v1::EntrantFault::IllegalMoves,
        Fault::Timeout => v1::EntrantFault::Timeout,
        Fault::Absence => v1::EntrantFault::Absence,
    }
}

/// The standings, best first.
pub(super) fn standing_rows(
    tournament: &Tournament,
    standings: &[(Standing, Option<Strength>)],
    now: Timestamp,
) -> Vec<v1::Standing> {
    let settings = tournament.settings();
    let sprt = settings.sprt;
    let row = |(row, strength): &(Standing, Option<Strength>)| {
        let entrant = tournament.entrants().get(&row.entrant)?;
        let (state, aside) = match entrant.state(now) {
            EntrantState::In => (v1::EntrantState::In, None),
            EntrantState::Away => (v1::EntrantState::Away, None),
            EntrantState::PutAside(aside) => (v1::EntrantState::PutAside, Some(aside)),
            EntrantState::Left(LeaveReason::Banned) => (v1::EntrantState::Excluded, None),
            EntrantState::Left(_) => (v1::EntrantState::Left, None),
        };
        let elo = strength.map(|Strength { elo, superiority }| v1::EntrantElo {
            elo: rounded(elo.elo),
            error: rounded((elo.high - elo.low) / 2.0),
            superiority: superiority.map_or(0, |probability| rounded(probability * 100.0)),
        });
        Some(v1::Standing {
            rank: number(row.rank),
            entrant: number(row.entrant.0),
            who: Some(participant(&entrant.who)),
            rating: entrant.rating.into(),
            state: state.into(),
            put_aside_until: aside.map(|aside| timestamp(aside.until)),
            put_aside_for: aside.map_or(0, |aside| fault(aside.reason).into()),
            meetings: number(row.meetings),
            half_points: number(row.points.0),
            brightwell: number(row.brightwell),
            discs: number(row.discs),
            wins: number(row.score.wins),
            draws: number(row.score.draws),
            losses: number(row.score.losses),
            playoff_wins: number(row.playoff_wins),
            elo,
            sprt: sprt.filter(|_| settings.is_challenger(&entrant.who)).map(|sprt| sprt_state(&sprt, &row.score)),
        })
    };
    standings.iter().filter_map(row).collect()
}

/// To a whole number; what is not finite becomes the nearest bound.
#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
fn rounded(value: f64) -> i32 {
    value.round() as i32
}

pub(super) fn meeting(tournament: &Tournament, meeting: &Meeting) -> v1::Meeting {
    let pairing = meeting.pairing;
    let state = match meeting.outcome {
        None if pairing.second.is_none() => v1::MeetingState::Bye,
        None if meeting.opened.is_some() => v1::MeetingState::Running,
        None => v1::MeetingState::Waiting,
        Some(Outcome::Played { .. }) => v1::MeetingState::Played,
        Some(Outcome::Forfeit { .. }) => v1::MeetingState::Forfeited,
        Some(Outcome::Void) => v1::MeetingState::Void,
    };
    let discs = match meeting.outcome {
        Some(Outcome::Played { discs, .. }) => discs,
        Some(Outcome::Forfeit { .. } | Outcome::Void) | None => [0; 2],
    };
    let [first, second] = meeting.points(tournament.settings().game.games.into());
    v1::Meeting {
        number: number(pairing.number),
        round: number(meeting.round),
        playoff: meeting.stage == Stage::Playoff,
        state: state.into(),
        first: number(pairing.first.0),
        second: pairing.second.map_or(0, |second| number(second.0)),
        room_id: pairing.second.map(|_| pairing.room.to_string()).unwrap_or_default(),
        first_half_points: number(first.0),
        second_half_points: number(second.0),
        first_discs: number(discs[0]),
        second_discs: number(discs[1]),
        decision: meeting.adjudication.as_ref().map(|decision| v1::MeetingDecision {
            player_id: decision.by.map(|player| player.to_string()).unwrap_or_default(),
            why: decision.why.to_string(),
        }),
    }
}

/// A tournament with its standings, the meetings of the last round, and all that run.
pub(super) fn view(of: &Tournament, standings: &[(Standing, Option<Strength>)], now: Timestamp) -> v1::TournamentView {
    let last = of.meetings().next_back().map(|last| (last.stage, last.round));
    let shown = |one: &&Meeting| Some((one.stage, one.round)) == last || !one.is_finished();
    v1::TournamentView {
        tournament: Some(tournament(of)),
        standings: standing_rows(of, standings, now),
        meetings: of.meetings().filter(shown).map(|one| meeting(of, one)).collect(),
    }
}
