//! Applying events. Nothing here fails or decides.

use std::time::Duration;

use reversi_room::{LeaveReason, Participant, Timestamp};

use super::{
    entrant::{Entrant, EntrantId},
    event::{Event, Fact},
    meeting::{Meeting, Outcome, Pairing, Stage},
    settings::Format,
    state::{Phase, Tournament},
};

impl Tournament {
    /// Applies the next event of the tournament, as returned by [`Tournament::decide`].
    pub fn apply(&mut self, event: &Event) {
        debug_assert_eq!(event.seq, self.seq.next());
        let at = event.at;
        (self.seq, self.changed) = (event.seq, at);
        match &event.fact {
            Fact::Created(_) => debug_assert!(false, "a tournament is created once"),
            Fact::Configured(settings) => self.settings = (**settings).clone(),
            Fact::Joined { entrant, who, rating } => self.add_entrant(at, *entrant, who, *rating),
            Fact::Left { entrant, reason } => {
                self.with_entrant(*entrant, |left| left.left = Some(*reason));
                self.forget(*entrant);
            }
            Fact::PresenceChanged { entrant, present } => self.change_presence(at, *entrant, *present),
            Fact::PutAside { entrant, put_aside, .. } => self.with_entrant(*entrant, |entrant| {
                entrant.put_aside = Some(*put_aside);
                entrant.conduct.begin_anew();
            }),
            Fact::Started => {
                self.phase = Phase::Running;
                self.started = Some(at);
                self.order = self.active().map(|(id, _)| id).collect();
                self.entrants.values_mut().for_each(|entrant| entrant.waits_since = at);
            }
            Fact::Paired { stage, round, meetings } => self.add_meetings(at, *stage, *round, meetings),
            Fact::Finished { number, outcome } => self.end_meeting(at, *number, outcome, true),
            Fact::Adjudicated { number, outcome, adjudication } => {
                self.with_meeting(*number, |meeting| meeting.adjudication = Some(adjudication.clone()));
                self.end_meeting(at, *number, outcome, false);
            }
            Fact::Paused => self.phase = Phase::Paused,
            Fact::Resumed => {
                self.phase = if self.in_playoff() { Phase::Playoff } else { Phase::Running };
                self.open_rooms(at);
            }
            Fact::ClockCredited { micros } => self.credit(*micros),
            Fact::Ended(ending) => self.phase = Phase::Ended(*ending),
        }
    }

    fn credit(&mut self, micros: i64) {
        self.with_unfinished(|meeting| meeting.opened = meeting.opened.map(|opened| opened.shifted(micros)));
        if micros < 0 {
            // The clock was set back: deadlines, and what a delay hides, would come later by that time.
            self.paired = self.paired.shifted(micros);
            for meeting in &mut self.meetings {
                meeting.paired = meeting.paired.shifted(micros);
                meeting.finished = meeting.finished.map(|finished| finished.shifted(micros));
            }
            self.started = self.started.map(|started| started.shifted(micros));
            for entrant in self.entrants.values_mut() {
                entrant.waits_since = entrant.waits_since.shifted(micros);
                if let Some(put_aside) = &mut entrant.put_aside {
                    put_aside.until = put_aside.until.shifted(micros);
                }
            }
        }
    }

    /// The tournament after all of its events; `None` unless the first is [`Fact::Created`].
    #[must_use]
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let first = events.next()?;
        let Fact::Created(creation) = &first.fact else { return None };
        let mut tournament = Self::new((**creation).clone(), first.at);
        events.for_each(|event| tournament.apply(event));
        Some(tournament)
    }

    fn add_entrant(&mut self, at: Timestamp, id: EntrantId, who: &Participant, rating: u16) {
        let new = Entrant::new(who.clone(), rating, at);
        let entrant = self.entrants.entry(id).or_insert_with(|| new.clone());
        // An entrant who joins again keeps its put-aside, its faults and its waiting time.
        let waits_since = new.waits_since.max(entrant.waits_since);
        *entrant = Entrant { put_aside: entrant.put_aside, conduct: entrant.conduct.clone(), waits_since, ..new };
        self.last_entrant = self.last_entrant.max(id);
    }

    fn change_presence(&mut self, at: Timestamp, id: EntrantId, present: bool) {
        self.with_entrant(id, |entrant| {
            (entrant.present, entrant.waits_since) = (present, entrant.waits_since.max(at));
        });
        let meeting = self.entrants.get(&id).and_then(|entrant| entrant.meeting);
        if present && let Some(number) = meeting {
            self.with_meeting(number, |meeting| {
                if let (Some(_), Some(side)) = (meeting.opened, meeting.side_of(id)) {
                    meeting.appeared[side] = true;
                }
            });
        }
    }

    fn add_meetings(&mut self, at: Timestamp, stage: Stage, round: u32, pairings: &[Pairing]) {
        if stage == Stage::Playoff {
            self.phase = Phase::Playoff;
        }
        for pairing in pairings {
            let meeting = Meeting {
                pairing: *pairing,
                stage,
                round,
                paired: at,
                opened: None,
                appeared: [false; 2],
                outcome: None,
                finished: None,
                adjudication: None,
            };
            if !meeting.is_finished() {
                self.unfinished.insert(pairing.number);
                meeting
                    .sides()
                    .for_each(|side| self.with_entrant(side, |entrant| entrant.meeting = Some(pairing.number)));
            }
            self.meetings.push_back(meeting);
        }
        self.paired = at;
        self.open_rooms(at);
        self.forget_oldest();
    }

    fn end_meeting(&mut self, at: Timestamp, number: u32, outcome: &Outcome, counts_for_conduct: bool) {
        let Some(meeting) = self.index_of(number).and_then(|index| self.meetings.get_mut(index)) else { return };
        meeting.outcome = Some(*outcome);
        // Another decision about a finished meeting is no result.
        meeting.finished.get_or_insert(at);
        let meeting = meeting.clone();
        if !self.unfinished.remove(&number) {
            return;
        }
        let pace = match self.settings.format {
            Format::Arena { .. } if self.settings.is_pool() => Self::POOL_PACE,
            Format::Arena { .. } => Self::ARENA_PACE,
            Format::AllPlayAll { .. } | Format::Swiss { .. } => Duration::ZERO,
        };
        let free_from = meeting.opened.map_or(at, |opened| at.max(opened.after(pace)));
        for (side, fault) in meeting.sides().zip(outcome.conduct()) {
            self.with_entrant(side, |entrant| {
                (entrant.meeting, entrant.waits_since) = (None, free_from);
                if let Some(fault) = fault.filter(|_| counts_for_conduct) {
                    entrant.conduct.count(number, fault);
                }
            });
        }
        if let (Some(opened), Outcome::Played { .. }) = (meeting.opened, outcome) {
            self.play_time.count(at.since(opened));
        }
        self.open_rooms(at);
        self.forget_oldest();
    }

    /// Opens the rooms of the first unfinished meetings, as many as may run.
    fn open_rooms(&mut self, at: Timestamp) {
        if self.phase == Phase::Paused {
            return;
        }
        let more = usize::from(self.settings.max_running).saturating_sub(self.running().count());
        let wanted = self.unfinished().filter(|meeting| meeting.opened.is_none()).take(more);
        let numbers: Vec<u32> = wanted.map(|meeting| meeting.pairing.number).collect();
        for number in numbers {
            let Some(Pairing { first, second, .. }) = self.meeting(number).map(|meeting| meeting.pairing) else {
                continue;
            };
            let present = |id| self.entrants.get(&id).is_some_and(|entrant| entrant.present);
            let appeared = [present(first), second.is_some_and(present)];
            self.with_meeting(number, |meeting| (meeting.opened, meeting.appeared) = (Some(at), appeared));
        }
    }

    /// A pool keeps only its last meetings.
    fn forget_oldest(&mut self) {
        while self.settings.is_pool()
            && self.meetings.len() > Self::POOL_MEETINGS
            && let Some(oldest) = self.meetings.pop_front_if(|oldest| oldest.is_finished())
        {
            oldest.sides().for_each(|side| self.forget(side));
        }
    }

    /// Removes an entrant who has left and of whom nothing need be kept.
    pub(super) fn forget(&mut self, id: EntrantId) {
        let Some(entrant) = self.entrants.get(&id) else { return };
        let excluded = entrant.left == Some(LeaveReason::Banned);
        let met = || self.meetings.iter().any(|meeting| meeting.side_of(id).is_some());
        let is_ordered = || self.order.contains(&id) && !self.settings.is_pool();
        if entrant.left.is_some() && !excluded && !is_ordered() && !met() {
            self.entrants.remove(&id);
        }
    }

    fn with_entrant(&mut self, id: EntrantId, change: impl FnOnce(&mut Entrant)) {
        if let Some(entrant) = self.entrants.get_mut(&id) {
            change(entrant);
        }
    }

    fn with_meeting(&mut self, number: u32, change: impl FnOnce(&mut Meeting)) {
        if let Some(meeting) = self.index_of(number).and_then(|index| self.meetings.get_mut(index)) {
            change(meeting);
        }
    }

    fn with_unfinished(&mut self, change: impl Fn(&mut Meeting)) {
        for number in self.unfinished.clone() {
            self.with_meeting(number, &change);
        }
    }
}
