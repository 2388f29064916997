//! Tournaments.

use std::collections::{BTreeSet, HashMap};

use reversi_room::{Seq, TournamentId};

use super::AppendError;
use crate::{
    shard::Shard,
    tournament::{StoredTournament, TournamentKey, TournamentRows},
};

#[derive(Default)]
pub(super) struct MemoryTournaments(HashMap<TournamentId, TournamentRows>);

impl MemoryTournaments {
    pub(super) fn append(&mut self, expected: Seq, rows: TournamentRows) -> Result<(), AppendError> {
        let at = self.0.get(&rows.id).map_or(Seq(0), |known| known.last);
        if at != expected {
            return Err(AppendError::Conflict(at));
        }
        let Some(known) = self.0.get_mut(&rows.id) else {
            self.0.insert(rows.id, rows);
            return Ok(());
        };
        (known.last, known.ended) = (rows.last, rows.ended);
        match rows.stored {
            StoredTournament { snapshot: None, events } => known.stored.events.extend(events),
            stored => known.stored = stored,
        }
        Ok(())
    }

    pub(super) fn load(&self, id: TournamentId) -> Option<StoredTournament> {
        self.0.get(&id).map(|known| known.stored.clone())
    }

    pub(super) fn seq(&self, id: TournamentId) -> Option<Seq> {
        self.0.get(&id).map(|known| known.last)
    }

    pub(super) fn running(&self, shards: &BTreeSet<Shard>) -> Vec<TournamentId> {
        let is_running = |known: &&TournamentRows| !known.ended && shards.contains(&Shard::of_tournament(known.id));
        self.0.values().filter(is_running).map(|known| known.id).collect()
    }

    pub(super) fn page(&self, unfinished: bool, before: Option<TournamentKey>, limit: usize) -> Vec<TournamentKey> {
        let of = self.0.values().filter(|known| !(unfinished && known.ended));
        let keys = of.map(|known| (known.created, known.id));
        let mut page: Vec<_> = keys.filter(|key| before.is_none_or(|before| *key < before)).collect();
        page.sort_unstable_by(|one, other| other.cmp(one));
        page.truncate(limit);
        page
    }
}
