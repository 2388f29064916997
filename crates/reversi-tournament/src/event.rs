//! The events of a tournament: its complete history, in order.

use reversi_room::{LeaveReason, Participant, PlayerId, Seq, Timestamp, TournamentId};

use super::{
    entrant::{EntrantId, PutAside},
    meeting::{Adjudication, Outcome, Pairing, Stage},
    settings::Settings,
};

/// A fact with its place in the tournament's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Sequence number: from 1, without gaps.
    pub seq: Seq,
    /// Time by the server's clock.
    pub at: Timestamp,
    /// The change.
    pub fact: Fact,
}

/// The initial state of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The tournament's id.
    pub id: TournamentId,
    /// The player who may change and control it.
    pub organiser: PlayerId,
    /// Settings that have passed [`Settings::check`].
    pub settings: Settings,
}

/// How a tournament ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// All was played.
    Completed,
    /// Ended early; the standings count.
    Stopped,
    /// Called off.
    Cancelled,
    /// Cancelled, as at [`Settings::starts_at`] there were too few entrants.
    TooFewEntrants,
    /// Cancelled by the server, after 90 days before the start or in a pause without a change.
    Stale,
}

/// One change of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The tournament was created: the first fact, and only the first.
    Created(Box<Creation>),
    /// The settings changed, before the start or by it.
    Configured(Box<Settings>),
    /// An entrant has joined, for the first time or again.
    Joined {
        /// The entrant's number.
        entrant: EntrantId,
        /// Who it is.
        who: Participant,
        /// Its rating, in Elo.
        rating: u16,
    },
    /// An entrant takes part no more.
    Left {
        /// The entrant.
        entrant: EntrantId,
        /// [`LeaveReason::Left`], or [`LeaveReason::Banned`] if the organiser excluded it. The first after the second
        /// if it may join again.
        reason: LeaveReason,
    },
    /// An entrant's last connection was lost, or it is back.
    PresenceChanged {
        /// The entrant.
        entrant: EntrantId,
        /// Whether it is connected.
        present: bool,
    },
    /// An entrant is not paired for some time, because of its faults.
    PutAside {
        /// The entrant.
        entrant: EntrantId,
        /// Until when, and the last fault.
        put_aside: PutAside,
        /// The numbers of the meetings with faults.
        meetings: Vec<u32>,
    },
    /// The first round may be paired.
    Started,
    /// New meetings.
    Paired {
        /// The part of the tournament.
        stage: Stage,
        /// The round in that part, from 1.
        round: u32,
        /// The meetings, by number.
        meetings: Vec<Pairing>,
    },
    /// A meeting ended. Once for each meeting.
    Finished {
        /// The meeting's number.
        number: u32,
        /// How.
        outcome: Outcome,
    },
    /// The organiser set another outcome for a meeting.
    Adjudicated {
        /// The meeting's number.
        number: u32,
        /// The outcome that now counts.
        outcome: Outcome,
        /// Who decided, and why.
        adjudication: Adjudication,
    },
    /// No meetings are paired and none begin until it is resumed.
    Paused,
    /// Meetings are paired and begin again.
    Resumed,
    /// Compensation for time in which no entrant could come: shifts the times at which meetings were opened.
    ClockCredited {
        /// The shift in microseconds; negative after the system clock was set back, and then of all times that matter.
        micros: i64,
    },
    /// The tournament is over. Always the last fact.
    Ended(Ending),
}
