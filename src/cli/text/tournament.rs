//! The words for tournaments.

use super::date::date;
use crate::client::{
    Participant, PlayerId, TournamentPhase,
    v1::{self, EntrantFault, TournamentCancelReason, player_tournament::News},
};

/// Points that the API gives in halves, as `7½`.
pub(in crate::cli) fn points(half_points: i32) -> String {
    match (half_points / 2, half_points % 2) {
        (whole, 0) => whole.to_string(),
        (0, _) => "½".to_owned(),
        (whole, _) => format!("{whole}½"),
    }
}

pub(in crate::cli) fn phase(phase: TournamentPhase) -> &'static str {
    match phase {
        TournamentPhase::Open => "open",
        TournamentPhase::Running => "running",
        TournamentPhase::Paused => "paused",
        TournamentPhase::Playoff => "play-off",
        TournamentPhase::Completed => "completed",
        TournamentPhase::Stopped => "stopped",
        TournamentPhase::Cancelled => "cancelled",
        TournamentPhase::Unspecified => "unknown",
    }
}

pub(in crate::cli) fn has_ended(phase: TournamentPhase) -> bool {
    matches!(phase, TournamentPhase::Completed | TournamentPhase::Stopped | TournamentPhase::Cancelled)
}

pub(in crate::cli) fn fault(fault: EntrantFault) -> &'static str {
    match fault {
        EntrantFault::IllegalMoves => "illegal moves",
        EntrantFault::Timeout => "timeouts",
        EntrantFault::Absence => "absence",
        EntrantFault::Unspecified => "faults",
    }
}

/// The name of an entrant; `?` if the server's text is malformed.
pub(in crate::cli) fn name(who: Option<&v1::Participant>) -> String {
    let who = who.and_then(|who| Participant::try_from(who.clone()).ok());
    who.map_or_else(|| "?".to_owned(), |who| who.to_string())
}

/// Whether the entrant is this player.
pub(in crate::cli) fn is_player(row: &v1::Standing, player: &PlayerId) -> bool {
    let who = row.who.as_ref().and_then(|who| who.participant.as_ref());
    matches!(who, Some(v1::participant::Participant::Player(one)) if one.player_id == player.to_string())
}

/// That a tournament is cancelled, and why.
pub(in crate::cli) fn cancelled(why: TournamentCancelReason) -> &'static str {
    match why {
        TournamentCancelReason::CalledOff => "cancelled by the organiser",
        TournamentCancelReason::TooFewEntrants => "cancelled: there were too few entrants at its start",
        TournamentCancelReason::Stale => "cancelled: it was not started, or not resumed, for too long",
        TournamentCancelReason::Unspecified => "cancelled",
    }
}

/// The rank of an entrant in a tournament that has ended, in a sentence.
pub(in crate::cli) fn ending(
    phase_at_end: TournamentPhase,
    why: TournamentCancelReason,
    rank: i32,
    entrants: i32,
) -> String {
    match phase_at_end {
        TournamentPhase::Cancelled => format!("the tournament is {}", cancelled(why)),
        _ => format!("the tournament is {}: rank {rank} of {entrants}", phase(phase_at_end)),
    }
}

/// What an entrant is told that is no longer paired.
pub(in crate::cli) fn left_line(is_excluded: bool) -> &'static str {
    match is_excluded {
        true => "excluded from the tournament by the organiser",
        false => "no longer an entrant of the tournament",
    }
}

/// What an entrant is told.
pub(in crate::cli) fn news(news: &News) -> String {
    match news {
        News::Paired(v1::TournamentPaired { round, meeting, opponent, room_id, playoff }) => {
            let stage = if *playoff { "play-off, " } else { "" };
            match opponent {
                None => format!("{stage}round {round}: a bye"),
                opponent => {
                    let name = name(opponent.as_ref());
                    format!("{stage}round {round}, meeting {meeting}: against {name}, in room {room_id}")
                }
            }
        }
        News::Forfeit(forfeit) if forfeit.lost => {
            format!("meeting {} is lost by forfeit: not there in time, or no longer an entrant", forfeit.meeting)
        }
        News::Forfeit(forfeit) => {
            format!(
                "meeting {} is won by forfeit: the opponent was not there in time, or is no longer an entrant",
                forfeit.meeting
            )
        }
        News::PutAside(aside) => {
            let meetings: Vec<_> = aside.meetings.iter().map(ToString::to_string).collect();
            let until = date(aside.until.and_then(|until| until.try_into().ok()));
            format!("put aside until {until}, for {} in meetings {}", fault(aside.fault()), meetings.join(", "))
        }
        News::Decided(v1::TournamentDecided { meeting, won, why }) => {
            let outcome = match won {
                Some(true) => "won",
                Some(false) => "lost",
                None => "void",
            };
            format!("meeting {meeting} is {outcome}, as the organiser has decided: {why}")
        }
        News::Left(left) => left_line(left.excluded).to_owned(),
        News::Ended(ended) => ending(ended.phase(), ended.cancel_reason(), ended.rank, ended.entrants),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn points_have_halves() {
        assert_eq!([0, 1, 2, 3, 15].map(points), ["0", "½", "1", "1½", "7½"]);
    }

    #[test]
    fn news_are_described() {
        let fault = v1::EntrantFault::Timeout.into();
        let until = Some(v1_time(1_767_348_000));
        for (news, line) in [
            (News::Paired(v1::TournamentPaired { round: 2, meeting: 5, ..Default::default() }), "round 2: a bye"),
            (
                News::Paired(v1::TournamentPaired { round: 1, playoff: true, ..Default::default() }),
                "play-off, round 1: a bye",
            ),
            (
                News::Forfeit(v1::TournamentForfeit { meeting: 5, lost: true }),
                "meeting 5 is lost by forfeit: not there in time, or no longer an entrant",
            ),
            (
                News::Forfeit(v1::TournamentForfeit { meeting: 5, lost: false }),
                "meeting 5 is won by forfeit: the opponent was not there in time, or is no longer an entrant",
            ),
            (
                News::PutAside(v1::TournamentPutAside { until, fault, meetings: vec![1, 3, 4] }),
                "put aside until 2026-01-02T10:00:00Z, for timeouts in meetings 1, 3, 4",
            ),
            (
                News::Decided(v1::TournamentDecided { meeting: 5, won: Some(false), why: "two engines".into() }),
                "meeting 5 is lost, as the organiser has decided: two engines",
            ),
            (
                News::Decided(v1::TournamentDecided { meeting: 5, won: None, why: "a power cut".into() }),
                "meeting 5 is void, as the organiser has decided: a power cut",
            ),
            (News::Left(v1::TournamentLeft { excluded: true }), "excluded from the tournament by the organiser"),
            (
                News::Ended(v1::TournamentEnded {
                    phase: v1::TournamentPhase::Stopped.into(),
                    rank: 2,
                    entrants: 5,
                    cancel_reason: 0,
                }),
                "the tournament is stopped: rank 2 of 5",
            ),
            (
                News::Ended(v1::TournamentEnded {
                    phase: v1::TournamentPhase::Cancelled.into(),
                    cancel_reason: v1::TournamentCancelReason::TooFewEntrants.into(),
                    ..Default::default()
                }),
                "the tournament is cancelled: there were too few entrants at its start",
            ),
        ] {
            assert_eq!(super::news(&news), line);
        }
    }

    fn v1_time(seconds: u64) -> prost_types::Timestamp {
        (UNIX_EPOCH + Duration::from_secs(seconds)).into()
    }
}
