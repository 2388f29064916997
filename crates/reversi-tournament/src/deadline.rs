//! The deadlines of a tournament.

use std::time::Duration;

use reversi_room::Timestamp;

use super::{
    entrant::Entrant,
    meeting::Stage,
    round::is_free,
    settings::Format,
    state::{Phase, Tournament},
};

/// The action at a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DueAction {
    /// The tournament starts.
    Start,
    /// A side has not come to this meeting.
    NoShow(u32),
    /// The next round is paired, or all is played.
    Pair,
    /// The arena ends.
    End,
}

/// An arena with fewer present players than this does not let two wait for long.
const SMALL_ARENA: usize = 8;
/// The longest wait of two free players in a small arena.
const SMALL_ARENA_WAIT: Duration = Duration::from_secs(5);
/// The fewest free players for which an arena pairs at once.
const ENOUGH_FREE: usize = 4;
/// The bounds of the wait of a free player; the upper one holds before the first game too.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5 * 60));

impl Tournament {
    /// When the tournament next needs a [`Command::Tick`](super::Command::Tick).
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.due().map(|(at, _)| at)
    }

    /// The earliest deadline and what happens then.
    pub(super) fn due(&self) -> Option<(Timestamp, DueAction)> {
        let next = match self.phase {
            Phase::Ended(_) => return None,
            Phase::Open => self.settings.starts_at.map(|at| (at, DueAction::Start)),
            Phase::Paused => None,
            Phase::Running | Phase::Playoff => match self.settings.format {
                Format::Arena { duration } => self.arena_due(duration),
                Format::AllPlayAll { .. } | Format::Swiss { .. } => self.round_due().map(|at| (at, DueAction::Pair)),
            },
        };
        next.into_iter().chain(self.no_show_due()).min_by_key(|(at, _)| *at)
    }

    fn no_show_due(&self) -> Option<(Timestamp, DueAction)> {
        let missed = self.running().filter(|meeting| meeting.appeared != [true; 2]);
        let due = missed.filter_map(|meeting| {
            Some((meeting.opened?.after(self.settings.no_show), DueAction::NoShow(meeting.pairing.number)))
        });
        due.min_by_key(|(at, _)| *at)
    }

    /// Once all meetings are finished and at least two entrants, of a gauntlet one of each side, are not put aside.
    fn round_due(&self) -> Option<Timestamp> {
        if !self.unfinished.is_empty() {
            return None;
        }
        let from = if self.settings.is_gauntlet() {
            let side = |challengers| self.side_of_gauntlet(challengers).filter_map(Entrant::pairable_from).min();
            side(true).zip(side(false)).map(|(one, other)| one.max(other))
        } else {
            let mut all: Vec<Timestamp> = self.contenders().filter_map(|(_, one)| one.pairable_from()).collect();
            all.sort_unstable();
            all.get(1).copied()
        };
        let waits = !self.in_playoff() && self.round(Stage::Main) < self.main_rounds();
        Some(from.filter(|_| waits).unwrap_or(self.changed))
    }

    fn arena_due(&self, duration: Duration) -> Option<(Timestamp, DueAction)> {
        let ends = if self.meetings.len() >= Self::MAX_MEETINGS as usize {
            Some(self.changed)
        } else {
            self.started.filter(|_| !duration.is_zero()).map(|started| started.after(duration))
        };
        let pairing = self.arena_pairing_due().filter(|at| ends.is_none_or(|ends| *at < ends));
        let end = ends.filter(|_| self.unfinished.is_empty());
        pairing.map(|at| (at, DueAction::Pair)).or(end.map(|at| (at, DueAction::End)))
    }

    /// Once a quarter of the present players are free, at least 4; or once one of two free players has waited for two
    /// games, or in a small arena for 5 s. An AI is only there for a player without an opponent.
    fn arena_pairing_due(&self) -> Option<Timestamp> {
        let (mut players, mut ai, mut present) = (Vec::new(), None::<Timestamp>, 0);
        for (_, entrant) in self.active() {
            present += usize::from(entrant.present && !entrant.is_ai());
            match entrant.pairable_from().filter(|_| is_free(entrant)) {
                Some(from) if entrant.is_ai() => ai = Some(ai.map_or(from, |ai| ai.min(from))),
                from => players.extend(from),
            }
        }
        players.sort_unstable();
        let wait = self.play_time.mean().map_or(WAIT.1, |mean| (2 * mean).clamp(WAIT.0, WAIT.1));
        let wait = if present < SMALL_ARENA { wait.min(SMALL_ARENA_WAIT) } else { wait };
        let opponent = players.get(1).copied().or(ai);
        // Who found no opponent waits anew, so that others come before a rematch.
        let since = players.first().map(|first| self.paired.max(*first));
        let waited = since.zip(opponent).map(|(since, opponent)| since.after(wait).max(opponent));
        let enough = players.get(ENOUGH_FREE.max(present.div_ceil(4)) - 1).copied();
        waited.into_iter().chain(enough).min()
    }
}
