//! Refusals of calls and moves, among the problems of their player.

use tonic::{Code, Status};

use crate::{
    grpc::status,
    room::{GameId, Timestamp},
    runtime::{Player, ProblemKind},
};

/// Notes a refusal. Not UNAVAILABLE, after which a client tries again, and which is no fault of its author.
pub(crate) fn note(player: &Player, now: Timestamp, method: &'static str, refusal: &Status, game: Option<GameId>) {
    // Visitors have no account to show them in.
    let is_kept = refusal.code() != Code::Unavailable && !player.is_visitor();
    if let Some(reason) = status::reason(refusal).filter(|_| is_kept) {
        player.problems.note(now, ProblemKind::Refused { reason, method }, refusal.message(), game);
    }
}
