//! The latest finished games, and what they made of those who played them.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    ops::Bound,
    sync::Arc,
};

use super::{
    super::standing::{Contestant, Standing, settle},
    GameFilter, GameKey, MemoryStore,
};
use crate::room::{GameId, GameRecord, PlayerId, Timestamp};

#[derive(Default)]
pub(super) struct Games {
    games: BTreeMap<GameKey, Arc<GameRecord>>,
    ends: HashMap<GameId, Timestamp>,
    standings: HashMap<Contestant, Standing>,
}

impl Games {
    /// Keeps a finished game; the same one again changes nothing.
    pub(super) fn keep(&mut self, record: &GameRecord) {
        if self.ends.insert(record.id, record.ended).is_some() {
            return;
        }
        let Ok(settled) = settle(record, |who| Ok::<_, Infallible>(self.standing(who)));
        self.standings.extend(settled);
        self.games.insert((record.ended, record.id), Arc::new(record.clone()));
        if self.games.len() > MemoryStore::GAMES
            && let Some(((_, oldest), _)) = self.games.pop_first()
        {
            self.ends.remove(&oldest);
        }
    }

    pub(super) fn page(&self, filter: &GameFilter, after: Option<GameKey>, limit: usize) -> Vec<Arc<GameRecord>> {
        let until = after.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.games.range((Bound::Unbounded, until)).rev().map(|(_, record)| record);
        newest_first.filter(|record| filter.matches(record)).take(limit).cloned().collect()
    }

    pub(super) fn get(&self, id: GameId) -> Option<Arc<GameRecord>> {
        let ended = *self.ends.get(&id)?;
        self.games.get(&(ended, id)).cloned()
    }

    pub(super) fn standing(&self, who: &Contestant) -> Standing {
        self.standings.get(who).copied().unwrap_or_default()
    }

    /// Memory is for those whom the server knows.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.standings.remove(&Contestant::Player(player));
    }
}
