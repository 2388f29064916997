//! The words for tournaments.

use crate::client::{
    Participant, PlayerId, TournamentPhase,
    v1::{self, EntrantFault, TournamentCancelReason},
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_halves() {
        assert_eq!([0, 1, 2, 3, 15].map(points), ["0", "½", "1", "1½", "7½"]);
    }
}
