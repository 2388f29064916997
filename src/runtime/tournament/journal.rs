//! Reads tournaments from their journal.

use crate::{
    room::{TournamentId, stored::StoredError},
    store::{StoreError, TournamentJournal},
    tournament::{
        Tournament,
        stored::{decode_event, decode_tournament},
    },
};

/// The stored state of a tournament; none if it is unknown.
pub(super) async fn read(journal: &dyn TournamentJournal, id: TournamentId) -> Result<Option<Tournament>, StoreError> {
    let Some(stored) = journal.tournament(id).await? else { return Ok(None) };
    let damaged = |error: StoredError| StoreError::Damaged(format!("tournament {id}: {error}"));
    let mut events = Vec::with_capacity(stored.events.len());
    for (_, bytes) in &stored.events {
        events.push(decode_event(bytes).map_err(damaged)?);
    }
    let snapshot = stored.snapshot.map(|(_, bytes)| decode_tournament(&bytes)).transpose().map_err(damaged)?;
    let Some(mut tournament) = snapshot else { return Ok(Tournament::replay(&events)) };
    for event in &events {
        tournament.check_next(event).map_err(damaged)?;
        tournament.apply(event);
    }
    Ok(Some(tournament))
}
