//! The entrants of a tournament.

use std::{collections::VecDeque, fmt, time::Duration};

use reversi_room::{LeaveReason, Participant, Timestamp};

/// The number of an entrant in its tournament, from 1, in the order of joining; never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntrantId(pub u32);

impl fmt::Display for EntrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A player or AI who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// Who it is.
    pub who: Participant,
    /// The rating at joining, in Elo.
    pub rating: u16,
    /// When it joined.
    pub joined: Timestamp,
    /// Whether it is connected; an AI always is.
    pub present: bool,
    /// Why it takes part no more; `None` while it does.
    pub left: Option<LeaveReason>,
    /// When it was last put aside, and why.
    pub put_aside: Option<PutAside>,
    /// The unfinished meeting that it plays.
    pub meeting: Option<u32>,
    pub(crate) conduct: Conduct,
    /// Since when it has waited for a meeting.
    pub(crate) waits_since: Timestamp,
}

/// What an entrant is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrantState {
    /// Takes part.
    In,
    /// Takes part, and is not connected.
    Away,
    /// Is not paired until this time.
    PutAside(PutAside),
    /// Takes part no more.
    Left(LeaveReason),
}

impl Entrant {
    pub(crate) fn new(who: Participant, rating: u16, joined: Timestamp) -> Self {
        Self {
            who,
            rating,
            joined,
            present: true,
            left: None,
            put_aside: None,
            meeting: None,
            conduct: Conduct::default(),
            waits_since: joined,
        }
    }

    /// What it is doing at a time.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> EntrantState {
        match (self.left, self.put_aside) {
            (Some(reason), _) => EntrantState::Left(reason),
            (None, Some(put_aside)) if put_aside.until > now => EntrantState::PutAside(put_aside),
            (None, _) if self.present => EntrantState::In,
            (None, _) => EntrantState::Away,
        }
    }

    /// From when on it may be paired; `None` if it has left.
    pub(crate) fn pairable_from(&self) -> Option<Timestamp> {
        let until = self.put_aside.map_or(self.waits_since, |put_aside| put_aside.until);
        self.left.is_none().then(|| self.waits_since.max(until))
    }

    /// Since when it is not connected, or waits for nothing else; none while it is there.
    #[must_use]
    pub fn away_since(&self) -> Option<Timestamp> {
        (!self.present && self.left.is_none()).then_some(self.waits_since)
    }

    pub(crate) fn is_ai(&self) -> bool {
        self.who.id().is_none()
    }
}

/// A fault by which a side lost a game, or was not there for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Illegal moves lost a game.
    IllegalMoves,
    /// A game was lost on time.
    Timeout,
    /// It did not come, or did not come back.
    Absence,
}

/// An entrant with too many faults is not paired for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PutAside {
    /// When it ends.
    pub until: Timestamp,
    /// The last fault.
    pub reason: Fault,
}

/// The faults of an entrant in its last meetings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conduct {
    /// The last meetings since it was put aside, by number; at most [`Self::MEETINGS`].
    pub(crate) recent: VecDeque<(u32, Option<Fault>)>,
    /// How often it was put aside since the last meeting without a fault.
    pub(crate) put_asides: u8,
}

impl Conduct {
    pub(crate) const MEETINGS: usize = 10;
    const FAULTS: usize = 3;
    const FIRST: Duration = Duration::from_secs(10 * 60);
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    /// Counts a meeting that was played, or to which the entrant did not come.
    pub(crate) fn count(&mut self, meeting: u32, fault: Option<Fault>) {
        if self.recent.len() == Self::MEETINGS {
            self.recent.pop_front();
        }
        self.recent.push_back((meeting, fault));
        if fault.is_none() {
            self.put_asides = 0;
        }
    }

    /// Until when it is put aside now, and the meetings with faults. After three faults in ten meetings it is for 10
    /// minutes; each time without a good meeting since the last time for twice as long, at most a day.
    pub(crate) fn put_aside(&self, now: Timestamp) -> Option<(PutAside, Vec<u32>)> {
        let faults = || self.recent.iter().filter_map(|&(meeting, fault)| Some((meeting, fault?)));
        let (_, reason) = faults().next_back()?;
        let lasts = Self::FIRST.saturating_mul(1 << self.put_asides.min(8)).min(Self::LONGEST);
        let meetings = faults().map(|(meeting, _)| meeting).collect();
        (faults().count() >= Self::FAULTS).then(|| (PutAside { until: now.after(lasts), reason }, meetings))
    }

    /// It has been put aside: earlier faults count no more.
    pub(crate) fn begin_anew(&mut self) {
        self.recent.clear();
        self.put_asides = self.put_asides.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_doubles_until_a_meeting_without_a_fault() {
        let mut conduct = Conduct::default();
        let mut minutes = Vec::new();
        let mut number = 0;
        let mut fault = |conduct: &mut Conduct, fault| {
            number += 1;
            conduct.count(number, fault);
            if let Some((put_aside, meetings)) = conduct.put_aside(Timestamp(0)) {
                assert_eq!(meetings.len(), 3);
                minutes.push(put_aside.until.0 / 60_000_000);
                conduct.begin_anew();
            }
        };
        (0..3 * 9).for_each(|_| fault(&mut conduct, Some(Fault::Timeout)));
        fault(&mut conduct, None);
        (0..3).for_each(|_| fault(&mut conduct, Some(Fault::Absence)));
        assert_eq!(minutes, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 10]);
    }

    #[test]
    fn faults_older_than_ten_meetings_do_not_count() {
        let mut conduct = Conduct::default();
        (0..60).for_each(|number| {
            conduct.count(number, (number % 5 == 0).then_some(Fault::IllegalMoves));
            assert_eq!(conduct.put_aside(Timestamp(0)), None);
        });
    }
}
