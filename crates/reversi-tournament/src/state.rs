//! The state of a tournament.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use reversi_room::{Opening, Participant, PlayerId, Seq, Settings as RoomSettings, Timestamp, TournamentId};

use super::{
    entrant::{Entrant, EntrantId},
    event::{Creation, Ending},
    meeting::{Meeting, Stage},
    settings::Settings,
};

/// The phase of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before the start.
    Open,
    /// Meetings are paired.
    Running,
    /// No meetings are paired and none begin; those that run go on.
    Paused,
    /// The play-off is played.
    Playoff,
    /// Over.
    Ended(Ending),
}

/// The state of a tournament. All of it is public but the password's hash, which must not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tournament {
    pub(super) id: TournamentId,
    pub(super) seq: Seq,
    pub(super) organiser: PlayerId,
    pub(super) settings: Settings,
    pub(super) phase: Phase,
    pub(super) created: Timestamp,
    /// The time of the last event.
    pub(super) changed: Timestamp,
    pub(super) started: Option<Timestamp>,
    pub(super) entrants: BTreeMap<EntrantId, Entrant>,
    /// The number of the last entrant.
    pub(super) last_entrant: EntrantId,
    /// The order of an all-play-all, from the start on.
    pub(super) order: Vec<EntrantId>,
    /// By number, without gaps.
    pub(super) meetings: VecDeque<Meeting>,
    /// The numbers of unfinished meetings.
    pub(super) unfinished: BTreeSet<u32>,
    /// When meetings were last paired.
    pub(super) paired: Timestamp,
    pub(super) play_time: PlayTime,
}

/// The time that meetings have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlayTime {
    pub(super) micros: u64,
    pub(super) meetings: u64,
}

impl PlayTime {
    /// Counts a meeting.
    pub(super) fn count(&mut self, lasted: Duration) {
        self.micros = self.micros.saturating_add(u64::try_from(lasted.as_micros()).unwrap_or(u64::MAX));
        self.meetings = self.meetings.saturating_add(1);
    }

    /// The mean time of a meeting; `None` before the first.
    pub(super) fn mean(&self) -> Option<Duration> {
        self.micros.checked_div(self.meetings).map(Duration::from_micros)
    }
}

impl Tournament {
    /// Maximum number of meetings. A pool forgets its oldest ones beyond [`Self::POOL_MEETINGS`]; an arena with so many
    /// ends; another tournament that would have more cannot start.
    pub const MAX_MEETINGS: u32 = 100_000;
    /// Number of meetings that a pool keeps.
    pub const POOL_MEETINGS: usize = 10_000;
    /// The least time from one meeting of an entrant to the next in a pool: programs that answer at once would otherwise
    /// play several games a second, day and night, and the server keeps each of them.
    pub const POOL_PACE: Duration = Duration::from_secs(20);
    /// As [`Self::POOL_PACE`], in an arena that ends.
    pub const ARENA_PACE: Duration = Duration::from_secs(2);
    /// With fewer present players an arena is small: two that are free meet after a short wait, or play AIs between their
    /// meetings.
    pub(crate) const SMALL_ARENA: usize = 8;
    /// Maximum number of excluded players.
    pub const MAX_EXCLUDED: usize = 200;

    /// The tournament after its first event.
    #[must_use]
    pub fn new(creation: Creation, at: Timestamp) -> Self {
        let Creation { id, organiser, settings } = creation;
        Self {
            id,
            seq: Seq(1),
            organiser,
            settings,
            phase: Phase::Open,
            created: at,
            changed: at,
            started: None,
            entrants: BTreeMap::new(),
            last_entrant: EntrantId::default(),
            order: Vec::new(),
            meetings: VecDeque::new(),
            unfinished: BTreeSet::new(),
            paired: at,
            play_time: PlayTime::default(),
        }
    }

    /// The tournament's id.
    #[must_use]
    pub fn id(&self) -> TournamentId {
        self.id
    }

    /// Sequence number of the last applied event.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The player who may change and control it.
    #[must_use]
    pub fn organiser(&self) -> PlayerId {
        self.organiser
    }

    /// The current settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When it was created.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// When its last event happened.
    #[must_use]
    pub fn changed(&self) -> Timestamp {
        self.changed
    }

    /// When it started.
    #[must_use]
    pub fn started(&self) -> Option<Timestamp> {
        self.started
    }

    /// The entrants by number, with those who have left but had a meeting.
    #[must_use]
    pub fn entrants(&self) -> &BTreeMap<EntrantId, Entrant> {
        &self.entrants
    }

    /// The number of a player or AI, also of one who has left. AIs are the same if kind and level are.
    #[must_use]
    pub fn entrant(&self, who: &Participant) -> Option<EntrantId> {
        self.entrants.iter().find(|(_, entrant)| entrant.who.is_same(who)).map(|(id, _)| *id)
    }

    /// The meetings that are kept, by number.
    pub fn meetings(&self) -> impl DoubleEndedIterator<Item = &Meeting> + ExactSizeIterator {
        self.meetings.iter()
    }

    /// The meeting with that number; `None` also for one that a pool has forgotten.
    #[must_use]
    pub fn meeting(&self, number: u32) -> Option<&Meeting> {
        self.meetings.get(self.index_of(number)?)
    }

    /// The meetings whose rooms are wanted now: at most [`Settings::max_running`] unfinished ones. During a pause no
    /// others follow those that end.
    pub fn running(&self) -> impl Iterator<Item = &Meeting> {
        self.unfinished().filter(|meeting| meeting.opened.is_some())
    }

    /// The unfinished meetings, by number.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Meeting> {
        self.unfinished.iter().filter_map(|number| self.meeting(*number))
    }

    /// The settings of the room of a meeting: those of all games, with its own openings. Random plies of rated games are
    /// the exception: a room draws them by itself.
    #[must_use]
    pub fn room_settings(&self, meeting: &Meeting) -> RoomSettings {
        let game = self.settings.game.clone();
        let seed = meeting.pairing.opening;
        let opening = match game.opening {
            Opening::Random { plies, .. } => Opening::Random { plies, seed },
            Opening::Balanced { .. } => Opening::Balanced { seed },
            given @ (Opening::Standard | Opening::Moves(_)) => given,
        };
        RoomSettings { opening, ..game }
    }

    /// The number of the next meeting.
    pub(super) fn next_number(&self) -> u32 {
        self.meetings.back().map_or(1, |last| last.pairing.number.saturating_add(1))
    }

    pub(super) fn index_of(&self, number: u32) -> Option<usize> {
        usize::try_from(number.checked_sub(self.meetings.front()?.pairing.number)?).ok()
    }

    /// The number of rounds before the play-off: of an all-play-all that of the present entrants, `u32::MAX` of an arena.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.main_rounds()
    }

    /// The last round of a stage, from 1; 0 before the first.
    pub(super) fn round(&self, stage: Stage) -> u32 {
        // All meetings of the play-off follow those of the format.
        self.meetings.iter().rev().find(|meeting| meeting.stage == stage).map_or(0, |meeting| meeting.round)
    }

    /// Whether the play-off has begun.
    pub(super) fn in_playoff(&self) -> bool {
        self.meetings.back().is_some_and(|last| last.stage == Stage::Playoff)
    }

    /// The entrants who have not left.
    pub(super) fn active(&self) -> impl Iterator<Item = (EntrantId, &Entrant)> {
        self.entrants.iter().filter(|(_, entrant)| entrant.left.is_none()).map(|(id, entrant)| (*id, entrant))
    }

    /// The entrants who have not left, without the AI that only fills byes.
    pub fn contenders(&self) -> impl Iterator<Item = (EntrantId, &Entrant)> {
        self.active().filter(|(_, entrant)| !self.settings.is_filler(&entrant.who))
    }

    /// The challengers of a gauntlet who have not left, or the others.
    pub(super) fn side_of_gauntlet(&self, challengers: bool) -> impl Iterator<Item = (EntrantId, &Entrant)> {
        self.active().filter(move |(_, entrant)| self.settings.is_challenger(&entrant.who) == challengers)
    }

    /// Whether there is still somebody to play: two entrants, and in a gauntlet one of each side.
    pub(super) fn has_opponents(&self) -> bool {
        let sides = || [true, false].iter().all(|side| self.side_of_gauntlet(*side).next().is_some());
        self.contenders().nth(1).is_some() && (!self.settings.is_gauntlet() || sides())
    }

    /// The games of a meeting.
    pub(super) fn games(&self) -> u32 {
        self.settings.game.games.into()
    }
}
