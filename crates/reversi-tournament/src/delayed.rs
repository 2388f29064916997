//! A tournament as spectators with a delay see it.

use std::collections::BTreeSet;

use reversi_room::Timestamp;

use super::{
    entrant::EntrantId,
    meeting::Meeting,
    state::{Phase, Tournament},
};

impl Tournament {
    /// The tournament without the pairings and results of meetings since `until`, what follows from these, and its end.
    ///
    /// All else is as it is now: settings, entrants and their presence, start, pause and resumption, and decisions about
    /// meetings whose results are shown. What the phase was before a hidden end is not known; it is shown as running.
    #[must_use]
    pub fn delayed(&self, until: Timestamp) -> Self {
        let mut shown = self.clone();
        let mut hidden = BTreeSet::<EntrantId>::new();
        while let Some(last) = shown.meetings.pop_back_if(|last| last.paired > until) {
            hidden.extend(last.sides());
        }
        for meeting in shown.meetings.iter_mut().filter(|meeting| meeting.finished.is_some_and(|at| at > until)) {
            hidden.extend(meeting.sides());
            (meeting.finished, meeting.outcome, meeting.adjudication) = (None, None, None);
        }
        // One that begins tells that another has ended.
        for meeting in &mut shown.meetings {
            meeting.opened = meeting.opened.filter(|at| *at <= until);
        }
        let unfinished = shown.meetings.iter().filter(|meeting| !meeting.is_finished());
        let playing: Vec<_> = unfinished.map(|meeting| (meeting.pairing.number, meeting.clone())).collect();
        shown.unfinished = playing.iter().map(|(number, _)| *number).collect();
        // An entrant who has left is kept for its meetings only, and they may be hidden.
        hidden.iter().for_each(|id| shown.forget(*id));
        for (id, entrant) in &mut shown.entrants {
            entrant.meeting = None;
            // It would show that a hidden meeting had a fault. An earlier one is hidden too, if the play-off follows.
            entrant.put_aside = entrant.put_aside.filter(|_| !hidden.contains(id));
        }
        for (number, meeting) in playing {
            for side in meeting.sides() {
                if let Some(entrant) = shown.entrants.get_mut(&side) {
                    entrant.meeting = Some(number);
                }
            }
        }
        let has_ended = matches!(self.phase, Phase::Ended(_)) && self.started.is_some() && self.changed > until;
        if has_ended || self.phase == Phase::Playoff {
            shown.phase = if shown.in_playoff() { Phase::Playoff } else { Phase::Running };
        }
        shown
    }

    /// The earliest time after `until` for which [`Self::delayed`] may show more; `None` if it will not.
    #[must_use]
    pub fn hidden_until(&self, until: Timestamp) -> Option<Timestamp> {
        let of = |meeting: &Meeting| [Some(meeting.paired), meeting.opened, meeting.finished];
        let times = self.meetings.iter().flat_map(of).flatten().chain([self.changed]);
        times.filter(|at| *at > until).min()
    }
}
