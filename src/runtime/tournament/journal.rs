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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{DisplayName, Issuer, PlayerKind, RoomName, Seq, Settings as RoomSettings},
        runtime::{Parts, Runtime},
        store::{MemoryStore, Store},
        tournament::{Command, Format, Settings},
    };

    #[tokio::test]
    async fn of_many_events_only_those_after_a_stored_state_are_read() {
        let store = Arc::new(MemoryStore::default());
        let runtime = Runtime::start(Parts::new(Store::shared(&store), |_, _| Bytes::new())).await.unwrap();
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.unwrap();
        let named = |number: u32| {
            let name = RoomName::parse(&format!("Cup {number}")).unwrap();
            Settings::new(name.clone(), Format::Swiss { rounds: 1 }, RoomSettings::named(name))
        };
        let mut live = runtime.tournaments.create(&ada, named(0)).await.unwrap();
        for number in 1..=100 {
            let configure = Command::Configure(Box::new(named(number)));
            live = runtime.tournaments.command(live.id(), Issuer::Player(ada.id()), configure).await.unwrap();
        }
        let stored = store.tournament(live.id()).await.unwrap().unwrap();
        let state = stored.snapshot.as_ref().map(|(seq, _)| *seq);
        assert_eq!((state, stored.events.len()), (Some(Seq(65)), 36));
        assert_eq!(read(&*store, live.id()).await.unwrap(), Some((*live).clone()));
    }
}
