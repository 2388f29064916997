//! Storage of tournaments, as bytes whose form this crate does not know.

use std::collections::BTreeSet;

use reversi_room::{Seq, Timestamp, TournamentId};

use super::{
    damage::ReadError,
    journal::{AppendError, BoxFuture, StoreFuture},
    shard::Shard,
};

/// The key of a tournament in the list of all: the time of its first event, and its id. Pages stay valid while
/// tournaments are added.
pub type TournamentKey = (Timestamp, TournamentId);

/// A write to one tournament: all or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentAppend {
    /// The tournament.
    pub id: TournamentId,
    /// The last event that the caller knows; 0 for a new tournament.
    pub expected: Seq,
    /// One event for each number after `expected`; at least one for a new tournament.
    pub events: Vec<Vec<u8>>,
    /// The state after the last of these events. It replaces them and all events before.
    pub snapshot: Option<Vec<u8>>,
    /// True if the tournament has ended.
    pub ended: bool,
    /// The time of the first of these events. That of a new tournament is kept.
    pub at: Timestamp,
}

/// What is stored of a tournament: a state and all later events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTournament {
    /// The number of the last event in the state, and the state; none if all events are stored.
    pub snapshot: Option<(Seq, Vec<u8>)>,
    /// The events after the snapshot with their numbers, without gaps.
    pub events: Vec<(Seq, Vec<u8>)>,
}

impl StoredTournament {
    /// The last stored event.
    #[must_use]
    pub fn last(&self) -> Seq {
        let of_snapshot = self.snapshot.as_ref().map_or(Seq(0), |(seq, _)| *seq);
        self.events.last().map_or(of_snapshot, |(seq, _)| *seq)
    }

    /// What was read of a tournament whose last event is `last`; a snapshot of event 0 is none.
    ///
    /// # Errors
    /// If an event is missing.
    pub(crate) fn of_rows(last: Seq, snapshot: (Seq, Vec<u8>), events: Vec<(Seq, Vec<u8>)>) -> Result<Self, ReadError> {
        let follows = |at: Seq, seq: Seq| (seq.0.checked_sub(1) == Some(at.0)).then_some(seq);
        if events.iter().try_fold(snapshot.0, |at, (seq, _)| follows(at, *seq)) != Some(last) {
            return Err(format!("events before {last} are missing").into());
        }
        Ok(Self { snapshot: Some(snapshot).filter(|(seq, _)| seq.0 > 0), events })
    }
}

/// The rows that a write to a tournament adds or replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentRows {
    /// The tournament.
    pub id: TournamentId,
    /// The time of its first event, for a new tournament.
    pub created: Timestamp,
    /// Its last event after the write.
    pub last: Seq,
    /// True if it has ended.
    pub ended: bool,
    /// A new snapshot, which replaces all stored events, and new events after it.
    pub stored: StoredTournament,
}

impl From<TournamentAppend> for TournamentRows {
    fn from(append: TournamentAppend) -> Self {
        let TournamentAppend { id, expected, events, snapshot, ended, at } = append;
        let last = expected.plus(events.len() as u64);
        let stored = match snapshot {
            Some(snapshot) => StoredTournament { snapshot: Some((last, snapshot)), events: Vec::new() },
            None => StoredTournament { snapshot: None, events: (expected.0 + 1..).map(Seq).zip(events).collect() },
        };
        Self { id, created: at, last, ended, stored }
    }
}

/// Stores the events of tournaments. Only the owner of a tournament's shard writes to it.
pub trait TournamentJournal: Send + Sync + 'static {
    /// Writes all of the append or nothing; durable after `Ok`. It fails as that of a room does: with
    /// [`AppendError::Conflict`] if the tournament is not at the expected event, [`AppendError::Fenced`] if another
    /// node owns its shard. Dropping the future leaves its outcome unknown.
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>>;

    /// What is stored of a tournament; none if it is unknown. Fails as damaged if an event is missing.
    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>>;

    /// The last stored event of a tournament; none if it is unknown. A reader that knows this event has no need to read
    /// the tournament.
    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>>;

    /// The tournaments of these shards that have not ended, in any order. Damaged ones are left out.
    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>>;

    /// At most `limit` of all tournaments, or of those that have not ended, before `before`, the newest first. Damaged
    /// ones are left out, so only an empty page is the last.
    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>>;
}
