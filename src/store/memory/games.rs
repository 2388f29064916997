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
use crate::room::{GameId, GameRecord, Participant, PlayerId, Profile, Timestamp};

#[derive(Default)]
pub(super) struct MemoryGames {
    games: BTreeMap<GameKey, Arc<GameRecord>>,
    ends: HashMap<GameId, Timestamp>,
    standings: HashMap<Contestant, PlayerStats>,
    /// Number of games kept of each player.
    played: HashMap<PlayerId, usize>,
    /// Players who have logged out and of whom a game is kept, with when they were last seen.
    former: HashMap<PlayerId, (Profile, Timestamp)>,
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
        for player in players(record) {
            *self.played.entry(player).or_default() += 1;
        }
        if self.games.len() > MemoryStore::GAMES
            && let Some(((_, oldest), record)) = self.games.pop_first()
        {
            self.ends.remove(&oldest);
            players(&record).for_each(|player| self.count_removed(player));
        }
    }

    /// Removes the statistics of a former player with the last of its games.
    fn count_removed(&mut self, player: PlayerId) {
        let Some(played) = self.played.get_mut(&player) else { return };
        *played -= 1;
        if *played == 0 {
            self.played.remove(&player);
            if self.former.remove(&player).is_some() {
                self.standings.remove(&Contestant::Player(player));
            }
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

    /// Notes that a player has logged out. Without a game nothing is kept.
    pub(super) fn note_former(&mut self, profile: Profile, seen: Timestamp) {
        if self.played.contains_key(&profile.id) {
            self.former.insert(profile.id, (profile, seen));
        } else {
            self.standings.remove(&Contestant::Player(profile.id));
        }
    }

    pub(super) fn former_players(&self) -> impl Iterator<Item = (&Profile, Timestamp)> {
        self.former.values().map(|(profile, seen)| (profile, *seen))
    }
}

fn players(record: &GameRecord) -> impl Iterator<Item = PlayerId> {
    record.players.iter().filter_map(|(_, participant)| match participant {
        Participant::Player(profile) => Some(profile.id),
        Participant::Ai(_) => None,
    })
}
