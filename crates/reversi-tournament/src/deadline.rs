//! The deadlines of a tournament.

use std::time::Duration;

use reversi_room::Timestamp;

use super::{
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

/// An arena pairs at once when a sixteenth of the present players is free. Each meeting that ends frees two, so on
/// average about half of the needed number are idle: with a quarter of 100 players instead of a sixteenth 88 % are in games.
const ENOUGH_FREE: usize = 16;
/// The fewest free players for which an arena pairs at once: two of three have not just met each other.
const FEWEST_FREE: usize = 3;
/// Until then, two free players wait for the mean meeting, divided by this, for each present player. With fewer than 20
/// players 95 % in games takes a rematch now and then, as otherwise one of them is idle at any time. With 48 or more
/// the wait is so long that there are none.
const WAIT_PER_PLAYER: u32 = 200;
/// The longest wait of two free players, also before the first meeting has ended.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);
/// The longest wait of two free players of an arena with fewer present players than [`Tournament::SMALL_ARENA`].
const SMALL_ARENA_WAIT: Duration = Duration::from_secs(5);

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
            let tested = self.tested();
            let side = |challengers| {
                let side = self.side_of_gauntlet(challengers).filter(|(id, _)| !tested.contains(id));
                side.filter_map(|(_, entrant)| entrant.pairable_from()).min()
            };
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

    /// Once a sixteenth of the present players, at least 3, are free; or once one of two free players has waited long
    /// enough. An AI is only there for a player without an opponent.
    ///
    /// This keeps every player of a pool of 8 to 100 in games for 95 % of the time, if an odd one has an AI; and with 20
    /// or more players none plays an opponent in more than 10 % of its games.
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
        let longest = if present < Self::SMALL_ARENA { SMALL_ARENA_WAIT } else { LONGEST_WAIT };
        let factor = u32::try_from(present).unwrap_or(u32::MAX);
        let wait =
            self.play_time.mean().map_or(longest, |mean| mean.saturating_mul(factor) / WAIT_PER_PLAYER).min(longest);
        // An entrant whom the last pairing left over waits again, so that others come before a rematch.
        let since = players.first().map(|first| self.paired.max(*first));
        // A player does not wait for an opponent that is put aside if an AI is free.
        let second = players.get(1).copied();
        let is_soon = |at: &Timestamp| since.is_some_and(|since| at.since(since) <= Self::POOL_PACE);
        let opponent = second.filter(is_soon).or(ai).or(second);
        let waited = since.zip(opponent).map(|(since, opponent)| since.after(wait).max(opponent));
        let enough = players.get(FEWEST_FREE.max(present.div_ceil(ENOUGH_FREE)) - 1).copied();
        waited.into_iter().chain(enough).min()
    }
}
