//! What went wrong for a player lately, for the author of a bot.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::notice::Notice;
use crate::{
    room::{EndReason, GameId, Timestamp},
    runtime::server_clock::Clock,
};

/// Problems of one player. A bot seldom has more kinds at a time, and each has at most some 300 bytes.
const PROBLEMS: usize = 16;

/// Characters of a sentence. Those of the server have less, but some repeat what the client has sent.
const MESSAGE: usize = 200;

/// A refused call, a rejected move or a lost game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The time of the latest.
    pub at: Timestamp,
    /// What happened.
    pub kind: ProblemKind,
    /// The latest in words.
    pub message: String,
    /// The latest game, if it is about one.
    pub game: Option<GameId>,
    /// How often it happened.
    pub count: u32,
}

/// Problems that are counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A call was refused, or a move of a stream was rejected.
    Refused {
        /// The name of the reason.
        reason: &'static str,
        /// The service and the method.
        method: &'static str,
    },
    /// A game was lost by this.
    Lost(EndReason),
}

/// The problems of a player, the latest first. One that repeats is counted, so that a loop of refusals leaves the others.
#[derive(Default)]
pub(crate) struct Problems(Mutex<VecDeque<Problem>>);

impl Problems {
    pub(crate) fn note(&self, at: Timestamp, kind: ProblemKind, message: &str, game: Option<GameId>) {
        let mut problems = self.state();
        let known = problems.iter().position(|problem| problem.kind == kind).and_then(|index| problems.remove(index));
        let count = known.map_or(0, |problem| problem.count).saturating_add(1);
        problems.truncate(PROBLEMS - 1);
        problems.push_front(Problem { at, kind, message: message.chars().take(MESSAGE).collect(), game, count });
    }

    /// Notes a game that was lost on time, by absence or by illegal moves.
    pub(crate) fn note_notice(&self, clock: Clock, notice: &Notice) {
        let Notice::GameEnded { game, side, end, .. } = notice else { return };
        // Of a draw that was claimed because a player had gone it is not known who had.
        if end.winner != Some(side.opposite()) {
            return;
        }
        let message = match end.reason {
            EndReason::Timeout => "lost on time",
            EndReason::Left => "lost by leaving the room, or by absence",
            EndReason::Kicked => "lost by illegal moves, or by removal from the room",
            _ => return,
        };
        self.note(clock.now(), ProblemKind::Lost(end.reason), message, Some(*game));
    }

    pub(crate) fn all(&self) -> Vec<Problem> {
        self.state().iter().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, VecDeque<Problem>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{GameEnd, RoomId},
        rules::{Color, Position},
    };

    const REFUSED: ProblemKind = ProblemKind::Refused { reason: "ILLEGAL_MOVE", method: "GameService/Play" };

    fn game(number: u32) -> GameId {
        GameId { room: RoomId::from_random(1), number }
    }

    #[test]
    fn a_problem_that_repeats_is_counted_and_leaves_the_others() {
        let problems = Problems::default();
        problems.note(Timestamp(1), ProblemKind::Lost(EndReason::Timeout), "lost", Some(game(1)));
        (0..1_000).for_each(|time| problems.note(Timestamp(time), REFUSED, "é".repeat(300).as_str(), None));
        let noted = problems.all();
        assert_eq!(noted.iter().map(|problem| problem.count).collect::<Vec<_>>(), [1_000, 1]);
        assert_eq!((noted[0].at, noted[0].message.chars().count()), (Timestamp(999), MESSAGE));
        problems.note(Timestamp(2_000), ProblemKind::Lost(EndReason::Timeout), "lost", Some(game(2)));
        let noted = problems.all();
        assert_eq!((noted.len(), noted[0].count, noted[0].game), (2, 2, Some(game(2))));
    }

    #[test]
    fn the_oldest_of_too_many_problems_goes() {
        let problems = Problems::default();
        let reasons: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        for reason in reasons.leak() {
            problems.note(Timestamp(1), ProblemKind::Refused { reason, method: "" }, "", None);
        }
        let noted = problems.all();
        let reasons = noted.iter().map(|problem| match problem.kind {
            ProblemKind::Refused { reason, .. } => reason,
            ProblemKind::Lost(_) => "",
        });
        let wanted: Vec<_> = (4..20).rev().map(|number| number.to_string()).collect();
        assert_eq!(reasons.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn only_games_lost_on_time_by_absence_or_by_illegal_moves_are_problems() {
        for reason in EndReason::ALL {
            for winner in [None, Some(Color::Black), Some(Color::White)] {
                let (problems, end) = (Problems::default(), GameEnd { winner, reason });
                let (game, position) = (game(1), Position::START);
                problems.note_notice(
                    Clock::system(),
                    &Notice::GameEnded { game, side: Color::Black, end, position, series: None },
                );
                let is_bad = matches!(reason, EndReason::Timeout | EndReason::Left | EndReason::Kicked);
                let noted = problems.all();
                assert_eq!(noted.len(), usize::from(is_bad && winner == Some(Color::White)), "{reason:?} {winner:?}");
                assert!(noted.iter().all(|problem| problem.kind == ProblemKind::Lost(reason)));
            }
        }
    }
}
