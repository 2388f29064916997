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
    GameFilter, GameKey, GamePage, MemoryStore, Retention,
};
use crate::room::{GameId, GameRecord, Participant, PlayerId, Profile, Timestamp};

#[derive(Default)]
pub(super) struct MemoryGames {
    games: BTreeMap<GameKey, Arc<GameRecord>>,
    ends: HashMap<GameId, Timestamp>,
    standings: HashMap<Contestant, PlayerStats>,
    /// The players of the kept games.
    players: HashMap<PlayerId, KnownPlayer>,
}

/// A player of kept games, who may have logged out.
struct KnownPlayer {
    profile: Profile,
    seen: Timestamp,
    /// Number of kept games.
    games: usize,
}

impl MemoryGames {
    /// Stores a finished game; a known game changes nothing. Returns the players whose last game had to be removed.
    pub(super) fn keep(&mut self, game: &EndedGame) -> Vec<Profile> {
        let record = &game.record;
        if self.ends.insert(record.id, record.ended).is_some() {
            return Vec::new();
        }
        let Ok(stats) = stats_after(game, |who| Ok::<_, Infallible>(self.standing(who)));
        self.standings.extend(stats);
        self.games.insert((record.ended, record.id), Arc::new(record.clone()));
        for profile in profiles(record) {
            let new = || KnownPlayer { profile: profile.clone(), seen: record.ended, games: 0 };
            self.players.entry(profile.id).or_insert_with(new).games += 1;
        }
        match self.games.first_key_value() {
            Some((oldest, _)) if self.games.len() > MemoryStore::GAMES => self.remove(*oldest),
            _ => Vec::new(),
        }
    }

    /// Removes a game. Returns the players whose last game it was.
    pub(super) fn remove(&mut self, key: GameKey) -> Vec<Profile> {
        let Some(record) = self.games.remove(&key) else { return Vec::new() };
        self.ends.remove(&key.1);
        profiles(&record).filter(|profile| self.is_last_game(profile.id)).cloned().collect()
    }

    /// At most `limit` games that the retention does not keep.
    pub(super) fn beyond(&self, retention: Retention, now: Timestamp, limit: usize) -> Vec<GameKey> {
        let unrated = self.games.iter().filter(|(_, record)| !record.rated).map(|(key, _)| *key);
        match retention {
            Retention::Age(age) => unrated.take_while(|(ended, _)| now.since(*ended) > age).take(limit).collect(),
            Retention::Games(most) => {
                let excess = self.games.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
                let rated = self.games.iter().filter(|(_, record)| record.rated).map(|(key, _)| *key);
                unrated.chain(rated).take(excess.min(limit)).collect()
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.games.len()
    }

    /// Counts a removed game of a player, and returns whether it was the last.
    fn is_last_game(&mut self, player: PlayerId) -> bool {
        let Some(known) = self.players.get_mut(&player) else { return false };
        known.games -= 1;
        let last = known.games == 0;
        if last {
            self.players.remove(&player);
        }
        last
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

    /// A player of a kept game, and when it was last seen.
    pub(super) fn player(&self, player: PlayerId) -> Option<(&Profile, Timestamp)> {
        self.players.get(&player).map(|known| (&known.profile, known.seen))
    }

    /// Notes when a player who logs out was last seen.
    pub(super) fn note_seen(&mut self, profile: &Profile, seen: Timestamp) {
        if let Some(known) = self.players.get_mut(&profile.id) {
            (known.profile, known.seen) = (profile.clone(), seen);
        }
    }

    pub(super) fn forget_standing(&mut self, player: PlayerId) {
        self.standings.remove(&Contestant::Player(player));
    }
}

fn profiles(record: &GameRecord) -> impl Iterator<Item = &Profile> {
    record.players.iter().filter_map(|(_, participant)| match participant {
        Participant::Player(profile) => Some(profile),
        Participant::Ai(_) => None,
    })
}
