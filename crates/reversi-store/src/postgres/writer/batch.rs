//! The writes of a batch, in one transaction.
//!
//! ```text
//!   moves and ends of games only:  one statement, with the fence
//!   otherwise:                     BEGIN, fence, rooms ──▶ members ──▶ other changes ──▶ folds ──▶ COMMIT
//! ```
//!
//! Statements of a step are sent without waiting for the answers of those before.

use std::collections::{HashMap, HashSet};

use reversi_room::Seq;
use tokio_postgres::Error;

use super::change::Change;
use crate::{
    damage::DamagedRows,
    journal::AppendError,
    postgres::{
        cluster::fence::{Fence, FenceError},
        done_requests, members,
        rooms::{self, RoomWrite},
        session::Session,
        tournaments,
    },
    tournament::TournamentRows,
};

/// A write of a batch.
pub(in crate::postgres) enum Write {
    Append(RoomWrite),
    Change(Change),
    /// An append to a tournament that is at this event.
    Tournament(Seq, TournamentRows),
}

/// The outcome of a write: for a change the number that it counts, for an append 0.
pub(in crate::postgres) type Outcome = Result<usize, AppendError>;

/// Why a batch is not executed.
pub(super) enum BatchError {
    /// The database refuses a statement: nothing is written and a transaction may be open. Or the connection is lost:
    /// all or nothing is written.
    Database(Error),
    /// One of the requests that appends carry was done before. A transaction is open.
    Repeated,
    /// The connection may not write. This batch wrote nothing, but an earlier try may have.
    Fence(FenceError),
}

impl From<Error> for BatchError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<FenceError> for BatchError {
    fn from(error: FenceError) -> Self {
        Self::Fence(error)
    }
}

/// Executes the writes, all or none, and folds rooms. Returns each outcome, and the rooms to fold next.
pub(super) async fn execute(
    session: &Session,
    fence: Fence,
    damaged: &DamagedRows,
    writes: &[&Write],
    folds: &[i64],
) -> Result<(Vec<Outcome>, Vec<i64>), BatchError> {
    let appends: Vec<&RoomWrite> = writes.iter().filter_map(|write| write.append()).collect();
    let is_simple = |write: &&Write| write.append().is_some_and(RoomWrite::is_simple);
    let in_transaction = !folds.is_empty() || !writes.iter().all(is_simple);
    let begin = async { if in_transaction { session.batch("BEGIN").await } else { Ok(()) } };
    // The lock of the fence lasts until the commit.
    let hold = async { if in_transaction { fence.hold(session).await } else { Ok(Ok(())) } };
    let (_, mut held, extended, begun) = tokio::try_join!(
        begin,
        hold,
        rooms::extend(session, fence, appends.iter().copied().filter(|append| append.beginning.is_none())),
        rooms::begin(session, fence, appends.iter().copied().filter(|append| append.beginning.is_some())),
    )?;
    let long: Vec<i64> = extended.iter().filter(|(_, bytes)| *bytes > rooms::FOLD).map(|(room, _)| *room).collect();
    let written: HashSet<i64> = extended.into_iter().map(|(room, _)| room).chain(begun).collect();
    // Without the fence a statement writes nothing.
    if held.is_ok() && !appends.iter().all(|append| written.contains(&append.key())) {
        held = fence.hold(session).await?;
    }
    if held.is_err() && in_transaction {
        session.batch("ROLLBACK").await?;
    }
    let mut refusals = match held {
        // The fence was deleted after the statement that wrote the others.
        Err(FenceError::NodeDead) if !in_transaction && !written.is_empty() => {
            appends.iter().map(|append| (append.key(), AppendError::Fenced)).collect()
        }
        held => {
            held?;
            refusals(session, fence, &appends, &written).await?
        }
    };
    let mut outcomes = Vec::new();
    if in_transaction {
        let right = || appends.iter().filter(|append| written.contains(&append.key()));
        let closed: Vec<i64> = right().filter(|append| append.closes).map(|append| append.key()).collect();
        if !closed.is_empty() {
            tokio::try_join!(rooms::remove(session, &closed), members::remove(session, &closed))?;
        }
        let changed: Vec<i64> =
            right().filter(|append| append.changes_members && !append.closes).map(|append| append.key()).collect();
        members::renew(session, damaged, &changed).await?;
        let done: Vec<_> = right().filter_map(|append| append.request).collect();
        if !done_requests::insert(session, &done).await? {
            return Err(BatchError::Repeated);
        }
        for write in writes {
            match write {
                Write::Append(_) => {}
                Write::Change(change) => outcomes.push(Ok(change.execute(session, fence).await?)),
                Write::Tournament(expected, rows) => {
                    outcomes.push(tournaments::append(session, fence, *expected, rows).await?);
                }
            }
        }
        if !folds.is_empty() {
            rooms::fold(session, damaged, folds).await?;
        }
        session.batch("COMMIT").await?;
    }
    let mut outcomes = outcomes.into_iter();
    let outcome = |write: &&Write| match write.append() {
        Some(append) if written.contains(&append.key()) => Ok(0),
        Some(append) => Err(refusals.remove(&append.key()).unwrap_or(AppendError::Conflict(Seq(0)))),
        None => outcomes.next().unwrap_or(Ok(0)),
    };
    Ok((writes.iter().map(outcome).collect(), long))
}

/// Why appends wrote nothing: another node has the room, or the room is not at the expected event.
async fn refusals(
    session: &Session,
    fence: Fence,
    appends: &[&RoomWrite],
    written: &HashSet<i64>,
) -> Result<HashMap<i64, AppendError>, Error> {
    let refused: Vec<i64> = appends.iter().map(|append| append.key()).filter(|room| !written.contains(room)).collect();
    if refused.is_empty() {
        return Ok(HashMap::new());
    }
    let of_others = rooms::of_others(session, fence, &refused).await?;
    let lasts = rooms::lasts(session, &refused).await?;
    let conflicts = lasts.into_iter().map(|(room, last)| (room, AppendError::Conflict(Seq(last.cast_unsigned()))));
    Ok(conflicts.chain(of_others.into_iter().map(|room| (room, AppendError::Fenced))).collect())
}

/// The outcome of writes whose connection was lost, as far as rooms and tournaments show it: `None` for a write that has
/// to be executed again, which changes nothing twice.
pub(super) async fn resolve(
    session: &Session,
    fence: Fence,
    writes: &[&Write],
) -> Result<Vec<Option<Outcome>>, BatchError> {
    let subjects: Vec<i64> = writes.iter().filter_map(|write| write.subject()).collect();
    let lasts = rooms::lasts(session, &subjects).await?;
    let lasts_of_tournaments = tournaments::lasts(session, &subjects).await?;
    // If the fence is held now, it was held when these were read: no other node can have written to them.
    fence.hold(session).await??;
    let outcome = |write: &&Write| {
        let is_written = match write {
            Write::Append(append) => match lasts.get(&append.key()) {
                Some(last) => !append.closes && *last == rooms::number(append.last),
                None => append.closes && append.expected > Seq(0),
            },
            Write::Change(_) => false,
            Write::Tournament(expected, rows) => {
                let last = lasts_of_tournaments.get(&tournaments::key(rows.id));
                rows.last > *expected && last == Some(&rooms::number(rows.last))
            }
        };
        is_written.then_some(Ok(0))
    };
    Ok(writes.iter().map(outcome).collect())
}

impl Write {
    pub(super) fn append(&self) -> Option<&RoomWrite> {
        match self {
            Self::Append(append) => Some(append),
            Self::Change(_) | Self::Tournament(..) => None,
        }
    }

    /// The room or the tournament of an append.
    pub(super) fn subject(&self) -> Option<i64> {
        match self {
            Self::Append(append) => Some(append.key()),
            Self::Change(_) => None,
            Self::Tournament(_, rows) => Some(tournaments::key(rows.id)),
        }
    }
}
