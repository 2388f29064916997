//! The latest finished games, and the statistics of their players.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, btree_map::Entry},
    convert::Infallible,
    ops::Bound,
    sync::Arc,
};

use reversi_engine::rules::{Color, Position, Square};
use reversi_room::{GameId, GameRecord, Participant, PlayerId, Profile, RoomId, Timestamp};

use super::{
    super::contestant::Contestant,
    super::explorer::{
        CountedMove, Exploration, ExplorerFilter, MoveCount, Mover, PositionKey, REMEMBERED_GAMES, counted_moves,
        explored_moves, shown_games,
    },
    super::journal::EndedGame,
    super::player_stats::glicko::Rating,
    super::player_stats::recent_games::{RecentGame, RecentGames},
    super::player_stats::{PlayerStats, Results, Settlement, settlement},
    GameFilter, GameKey, GamePage, Retention,
};

/// Finished games kept; beyond this the oldest is removed.
const GAMES: usize = 10_000;

#[derive(Default)]
pub(super) struct MemoryGames {
    games: BTreeMap<GameKey, Arc<GameRecord>>,
    ends: HashMap<GameId, Timestamp>,
    standings: HashMap<Contestant, PlayerStats>,
    /// The players of the kept games.
    players: HashMap<PlayerId, KnownPlayer>,
    /// The moves of the kept games in each position.
    explored: HashMap<PositionKey, MoveCounts>,
    /// The kept games whose moves are counted later, by the time from which they are public.
    delayed: BTreeSet<(Timestamp, GameKey)>,
}

/// The moves made in a position, by squares and movers: their results, and the latest games, newest last.
type MoveCounts = BTreeMap<(u8, Mover), (Results, Vec<GameKey>)>;

/// A player of kept games, who may have logged out.
struct KnownPlayer {
    profile: Profile,
    seen: Timestamp,
    /// Number of kept games.
    games: usize,
}

impl MemoryGames {
    /// Stores a finished game, unless it is known. Returns the players whose last game was removed to make room.
    pub(super) fn keep(&mut self, game: &EndedGame) -> Vec<Profile> {
        let record = &game.record;
        if self.has(record.id) {
            return Vec::new();
        }
        let recent = |who: &Contestant| Ok(self.recent_games(who, record.ended));
        let Ok(Settlement { record, stats }) = settlement(game, |who| Ok::<_, Infallible>(self.standing(who)), recent);
        self.standings.extend(stats);
        self.enter(&record)
    }

    fn recent_games(&self, who: &Contestant, at: Timestamp) -> RecentGames {
        let mut recent = RecentGames::default();
        let from = (
            Timestamp(at.0.saturating_sub(RecentGames::PERIOD) + 1),
            GameId { room: RoomId::from_random(0), number: 0 },
        );
        for record in self.games.range(from..).map(|(_, record)| record) {
            for side in Color::ALL.into_iter().filter(|&side| Contestant::from(&record.players[side]) == *who) {
                recent.add(who, RecentGame::of(record, side));
            }
        }
        recent
    }

    pub(super) fn has(&self, game: GameId) -> bool {
        self.ends.contains_key(&game)
    }

    /// Stores a game without effect on statistics. Returns as [`Self::keep`].
    pub(super) fn enter(&mut self, record: &GameRecord) -> Vec<Profile> {
        self.ends.insert(record.id, record.ended);
        self.games.insert((record.ended, record.id), Arc::new(record.clone()));
        match record.public_from {
            Some(from) => drop(self.delayed.insert((from, (record.ended, record.id)))),
            None => self.count_moves(record),
        }
        for profile in profiles(record) {
            let new = || KnownPlayer { profile: profile.clone(), seen: record.ended, games: 0 };
            self.players.entry(profile.id).or_insert_with(new).games += 1;
        }
        match self.games.first_key_value() {
            Some((oldest, _)) if self.games.len() > GAMES => self.remove(*oldest),
            _ => Vec::new(),
        }
    }

    fn count_moves(&mut self, record: &GameRecord) {
        for CountedMove { position, square, mover, results } in counted_moves(record) {
            let counts = self.explored.entry(position).or_default();
            let (sum, latest) = counts.entry((square.index(), mover)).or_default();
            sum.add(results);
            latest.push((record.ended, record.id));
            if latest.len() > REMEMBERED_GAMES {
                latest.remove(0);
            }
        }
    }

    /// Counts the moves of at most `limit` games that have become public, after `skip` others. Returns how many.
    pub(super) fn count_public(&mut self, skip: usize, limit: usize, now: Timestamp) -> usize {
        let public = self.delayed.iter().take_while(|(from, _)| *from <= now);
        let public: Vec<_> = public.skip(skip).take(limit).copied().collect();
        for delayed in &public {
            self.delayed.remove(delayed);
            if let Some(record) = self.games.get(&delayed.1).cloned() {
                self.count_moves(&record);
            }
        }
        public.len()
    }

    /// Removes a game. Returns the players whose last game it was.
    pub(super) fn remove(&mut self, key: GameKey) -> Vec<Profile> {
        let Some(record) = self.games.remove(&key) else { return Vec::new() };
        self.ends.remove(&key.1);
        if !record.public_from.is_some_and(|from| self.delayed.remove(&(from, key))) {
            counted_moves(&record).iter().for_each(|counted| self.uncount(counted));
        }
        profiles(&record).filter(|profile| self.is_last_game(profile.id)).cloned().collect()
    }

    fn uncount(&mut self, CountedMove { position, square, mover, results }: &CountedMove) {
        let Some(counts) = self.explored.get_mut(position) else { return };
        if let Entry::Occupied(mut count) = counts.entry((square.index(), *mover)) {
            count.get_mut().0.subtract(*results);
            if count.get().0.played() == 0 {
                count.remove();
            }
        }
        if counts.is_empty() {
            self.explored.remove(position);
        }
    }

    pub(super) fn explore(&self, position: Position, filter: &ExplorerFilter) -> Exploration {
        let counts = self.explored.get(&PositionKey::of(position).0).into_iter().flatten();
        let counts: Vec<_> = counts
            .filter_map(|((square, mover), (results, latest))| {
                Some(MoveCount {
                    square: Square::new(*square)?,
                    mover: *mover,
                    results: *results,
                    latest: latest.clone(),
                })
            })
            .collect();
        let read = |key| Ok::<_, Infallible>(self.games.get(&key).cloned());
        let Ok([recent, best]) = shown_games(position, &counts, filter, read);
        Exploration { moves: explored_moves(position, &counts, filter), recent, best }
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

    pub(super) fn make_provisional(&mut self, player: PlayerId) {
        let standing = self.standings.get_mut(&Contestant::Player(player));
        if let Some(rating) = standing.and_then(|stats| stats.rating.as_mut()) {
            rating.deviation = rating.deviation.max(Rating::OF_NEW_ENGINE);
        }
    }

    /// The contestants with a rating, the highest first.
    pub(super) fn rated(&self, provisional: bool) -> Vec<(&Contestant, PlayerStats)> {
        let is_shown = |stats: &PlayerStats| stats.rating.is_some_and(|rating| provisional || !rating.is_provisional());
        let rated = self.standings.iter().filter(|(_, stats)| is_shown(stats));
        let mut rated: Vec<_> = rated.map(|(who, stats)| (who, *stats)).collect();
        let value = |stats: &PlayerStats| stats.rating.map_or(0.0, |rating| rating.value);
        rated.sort_by(|(one, stats), (other, others)| {
            value(others).total_cmp(&value(stats)).then_with(|| one.to_string().cmp(&other.to_string()))
        });
        rated
    }

    /// A player of a kept game, and when it was last seen.
    pub(super) fn player(&self, player: PlayerId) -> Option<(&Profile, Timestamp)> {
        self.players.get(&player).map(|known| (&known.profile, known.seen))
    }

    /// Records when a player who logs out was last seen.
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
