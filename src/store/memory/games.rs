//! The latest finished games, and the statistics of their players.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    ops::Bound,
    sync::Arc,
};

use super::{
    super::journal::EndedGame,
    super::player_stats::{Contestant, PlayerStats, stats_after},
    GameFilter, GameKey, GamePage, MemoryStore,
};
use crate::room::{GameId, GameRecord, PlayerId, Timestamp};

#[derive(Default)]
pub(super) struct MemoryGames {
    games: BTreeMap<GameKey, Arc<GameRecord>>,
    ends: HashMap<GameId, Timestamp>,
    standings: HashMap<Contestant, PlayerStats>,
}

impl MemoryGames {
    /// Stores a finished game; a known game changes nothing.
    pub(super) fn keep(&mut self, ended: &EndedGame) {
        let record = &ended.record;
        if self.ends.insert(record.id, record.ended).is_some() {
            return;
        }
        let Ok(stats) = stats_after(ended, |who| Ok::<_, Infallible>(self.standing(who)));
        self.standings.extend(stats);
        self.games.insert((record.ended, record.id), Arc::new(record.clone()));
        if self.games.len() > MemoryStore::GAMES
            && let Some(((_, oldest), _)) = self.games.pop_first()
        {
            self.ends.remove(&oldest);
        }
    }

    pub(super) fn page(&self, filter: &GameFilter, after: Option<GameKey>, limit: usize) -> GamePage {
        let until = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut page = GamePage::default();
        for (scanned, (key, record)) in (1..).zip(self.games.range((Bound::Unbounded, until)).rev()) {
            if filter.matches(record) {
                page.games.push(Arc::clone(record));
            }
            if page.games.len() == limit || scanned == limit.saturating_add(GamePage::PASSED_OVER) {
                page.next = Some(*key);
                break;
            }
        }
        page
    }

    pub(super) fn get(&self, id: GameId) -> Option<Arc<GameRecord>> {
        let ended = *self.ends.get(&id)?;
        self.games.get(&(ended, id)).cloned()
    }

    pub(super) fn standing(&self, who: &Contestant) -> PlayerStats {
        self.standings.get(who).copied().unwrap_or_default()
    }

    /// Statistics are kept only for players that the server knows.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.standings.remove(&Contestant::Player(player));
    }
}
