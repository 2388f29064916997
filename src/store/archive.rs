//! Finished games and what players made of them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::room::{GameId, GameRecord, Participant, PlayerId, RoomId, Timestamp};
use crate::rules::Color;

/// Which games are asked for; a field that is none does not restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFilter {
    /// Who asks: a private room's games are shown to their players only.
    pub viewer: PlayerId,
    /// Played in this room.
    pub room: Option<RoomId>,
    /// Played by this player, on either side.
    pub player: Option<PlayerId>,
}

/// Results of finished games; aborted ones do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Won.
    pub won: u32,
    /// Drawn.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
}

/// The latest finished games, in memory.
pub struct Archive {
    capacity: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// By end and id, so that a page token stays valid while games come in.
    games: BTreeMap<(Timestamp, GameId), Arc<GameRecord>>,
    ends: HashMap<GameId, Timestamp>,
    stats: HashMap<PlayerId, Stats>,
}

impl Archive {
    /// An empty archive that forgets the oldest game when it has `capacity`.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), inner: Mutex::default() }
    }

    /// Keeps a finished game; the same one again changes nothing.
    pub fn keep(&self, record: GameRecord) {
        let mut inner = self.inner();
        if inner.ends.insert(record.id, record.ended).is_some() {
            return;
        }
        if record.end.counts() {
            inner.count(&record);
        }
        inner.games.insert((record.ended, record.id), Arc::new(record));
        if inner.games.len() > self.capacity
            && let Some(((_, oldest), _)) = inner.games.pop_first()
        {
            inner.ends.remove(&oldest);
        }
    }

    /// At most `limit` games that match, newest first, beginning behind `after`.
    #[must_use]
    pub fn games(&self, filter: &GameFilter, after: Option<(Timestamp, GameId)>, limit: usize) -> Vec<Arc<GameRecord>> {
        let inner = self.inner();
        let matching = |record: &&Arc<GameRecord>| filter.matches(record);
        match after {
            Some(key) => {
                inner.games.range(..key).rev().map(|(_, record)| record).filter(matching).take(limit).cloned().collect()
            }
            None => inner.games.values().rev().filter(matching).take(limit).cloned().collect(),
        }
    }

    /// One game.
    #[must_use]
    pub fn game(&self, id: GameId) -> Option<Arc<GameRecord>> {
        let inner = self.inner();
        let ended = *inner.ends.get(&id)?;
        inner.games.get(&(ended, id)).cloned()
    }

    /// What a player made of all games.
    #[must_use]
    pub fn stats(&self, player: PlayerId) -> Stats {
        self.inner().stats.get(&player).copied().unwrap_or_default()
    }

    /// Forgets the statistics of a player whom the server has forgotten.
    pub fn forget(&self, player: PlayerId) {
        self.inner().stats.remove(&player);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn count(&mut self, record: &GameRecord) {
        for (side, participant) in record.players.iter() {
            let Participant::Player(profile) = participant else { continue };
            self.stats.entry(profile.id).or_default().count(side, record.end.winner);
        }
    }
}

impl Stats {
    /// Games that counted.
    #[must_use]
    pub fn played(&self) -> u32 {
        self.won + self.drawn + self.lost
    }

    fn count(&mut self, side: Color, winner: Option<Color>) {
        match winner {
            Some(winner) if winner == side => self.won += 1,
            Some(_) => self.lost += 1,
            None => self.drawn += 1,
        }
    }
}

impl GameFilter {
    fn matches(&self, record: &GameRecord) -> bool {
        let played = |player| record.players.iter().any(|(_, participant)| participant.is(player));
        self.room.is_none_or(|room| room == record.id.room)
            && self.player.is_none_or(played)
            && (!record.private || played(self.viewer))
    }
}
