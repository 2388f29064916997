//! A store that lives as long as the process.

mod done_requests;
mod games;
mod rooms;
mod tournaments;

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, hash_map::Entry},
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use done_requests::MemoryRequests;
use games::MemoryGames;
use reversi_engine::rules::Position;
use reversi_room::{
    AiSeat, DisplayName, GameId, GameRecord, Participant, PlayerId, Profile, Room, RoomId, Seq, Timestamp, TournamentId,
};
use rooms::MemoryRooms;
use tournaments::MemoryTournaments;

use super::{
    archive::{
        Archive, ArchiveSize, GameFilter, GameKey, GamePage, RankedContestant, RankingFilter, RankingKey, RankingPage,
        Retention, ranking_start,
    },
    ban::Ban,
    contestant::Contestant,
    explorer::{Exploration, ExplorerFilter},
    journal::{
        Append, AppendError, AppendFuture, BoxFuture, DoneRequest, EndedGame, FaultHook, History, Journal, StoreFuture,
    },
    player_stats::{OpponentKind, PlayerStats},
    player_store::{PlayerKey, PlayerStore, StoredPlayer},
    shard::Shard,
    tournament::{StoredTournament, TournamentAppend, TournamentJournal, TournamentKey},
};

/// Stores rooms, players, tournaments and the latest games in memory.
#[derive(Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
    fault: Option<FaultHook>,
}

#[derive(Default)]
struct Inner {
    rooms: MemoryRooms,
    requests: MemoryRequests,
    games: MemoryGames,
    tournaments: MemoryTournaments,
    players: HashMap<PlayerId, StoredPlayer>,
    /// The players and former players by the keys of their names.
    names: HashMap<String, BTreeSet<PlayerId>>,
    bans: HashMap<String, Ban>,
    alive: Option<Timestamp>,
}

impl Inner {
    /// A player, or a former player with a kept game, and when it was last seen.
    fn profile(&self, player: PlayerId) -> Option<(&Profile, Timestamp)> {
        let logged_in = self.players.get(&player).map(|player| (&player.profile, player.seen));
        logged_in.or_else(|| self.games.player(player))
    }

    fn remove(&mut self, player: PlayerId) {
        if let Some(StoredPlayer { profile, seen, .. }) = self.players.remove(&player) {
            self.games.note_seen(&profile, seen);
            self.forget_if_unknown(&profile);
        }
    }

    /// A player with a valid token, as it is read.
    fn enrolled(&self, player: &StoredPlayer) -> StoredPlayer {
        let results = self.games.standing(&Contestant::Player(player.profile.id));
        StoredPlayer { played: results.total().played() > 0, ..player.clone() }
    }

    fn keep(&mut self, game: &EndedGame) {
        for (_, participant) in game.record.players.iter() {
            if let Participant::Player(profile) = participant {
                self.add_name(profile);
            }
        }
        for profile in self.games.keep(game) {
            self.forget_if_unknown(&profile);
        }
    }

    fn add_name(&mut self, profile: &Profile) {
        self.names.entry(profile.name.key()).or_default().insert(profile.id);
    }

    /// Forgets the name and the statistics of a player who is neither logged in nor in a kept game.
    fn forget_if_unknown(&mut self, profile: &Profile) {
        if self.profile(profile.id).is_some() {
            return;
        }
        self.games.forget_standing(profile.id);
        if let Entry::Occupied(mut named) = self.names.entry(profile.name.key()) {
            named.get_mut().remove(&profile.id);
            if named.get().is_empty() {
                named.remove();
            }
        }
    }
}

impl MemoryStore {
    /// An empty store whose appends fail as `fault` returns.
    #[must_use]
    pub fn with_faults(fault: FaultHook) -> Self {
        Self { inner: Mutex::default(), fault: Some(fault) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, append: &Append<'_>) -> Result<(), AppendError> {
        let fault = self.fault.as_ref().and_then(|fault| fault(append.room, append.expected));
        if let Some(error) = fault.as_ref().filter(|error| !matches!(error, AppendError::Unknown(_))) {
            return Err(error.clone());
        }
        let mut inner = self.inner();
        let request = append.done_request();
        if request.is_some_and(|(request, done)| inner.requests.get(request.key, done.at).is_some()) {
            return Err(AppendError::Repeated);
        }
        inner.rooms.append(append)?;
        request.into_iter().for_each(|(request, done)| inner.requests.add(request.key, done));
        append.games.iter().for_each(|game| inner.keep(game));
        // An append of unknown outcome is written here: the harder case for the caller.
        fault.map_or(Ok(()), Err)
    }

    fn answer<T: Send + 'static>(&self, work: impl FnOnce(&mut Inner) -> T) -> StoreFuture<'_, T> {
        Box::pin(ready(Ok(work(&mut self.inner()))))
    }
}

impl Journal for MemoryStore {
    fn append<'a>(&'a self, append: Append<'a>) -> AppendFuture<'a> {
        self.write(&append).into()
    }

    fn load(&self, room: RoomId) -> StoreFuture<'_, Option<History>> {
        self.answer(|inner| inner.rooms.load(room))
    }

    fn done_request(&self, key: u64, now: Timestamp) -> StoreFuture<'_, Option<DoneRequest>> {
        self.answer(|inner| inner.requests.get(key, now))
    }

    fn open_rooms(&self, after: Option<RoomId>, limit: usize) -> StoreFuture<'_, Vec<Room>> {
        self.answer(|inner| inner.rooms.page(after, limit))
    }

    fn mark_alive(&self, now: Timestamp) -> StoreFuture<'_, ()> {
        self.answer(|inner| inner.alive = Some(now))
    }

    fn last_alive(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.answer(|inner| inner.alive)
    }
}

impl Archive for MemoryStore {
    fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, GamePage> {
        self.answer(|inner| inner.games.page(&filter, after, limit))
    }

    fn game(&self, id: GameId) -> StoreFuture<'_, Option<Arc<GameRecord>>> {
        self.answer(|inner| inner.games.get(id))
    }

    fn player_stats(&self, who: Contestant) -> StoreFuture<'_, PlayerStats> {
        self.answer(|inner| inner.games.standing(&who))
    }

    fn size(&self) -> StoreFuture<'_, ArchiveSize> {
        self.answer(|inner| ArchiveSize { games: inner.games.count() as u64, bytes: 0 })
    }

    fn ranking(&self, filter: RankingFilter, after: Option<RankingKey>, limit: usize) -> StoreFuture<'_, RankingPage> {
        self.answer(|inner| {
            let (from, after) = ranking_start(after.as_ref());
            let is_later = |(who, stats): &(&Contestant, PlayerStats)| {
                let value = stats.rating.map_or(0.0, |rating| rating.value);
                value < from || (value == from && who.to_string() > after)
            };
            let participant = |who: &Contestant| match who {
                Contestant::Ai { kind, level } => {
                    Some(Participant::Ai(AiSeat { kind: Arc::clone(kind), level: *level, seed: 0 }))
                }
                Contestant::Player(id) => inner.players.get(id).map(|known| Participant::Player(known.profile.clone())),
            };
            let rated = inner.games.rated(filter.provisional).into_iter().filter(is_later);
            let ranked = rated.filter_map(|(who, stats)| {
                let participant = participant(who)?;
                let is_shown = filter.kind.is_none_or(|kind| kind == OpponentKind::from(&participant));
                is_shown.then_some(RankedContestant { participant, stats })
            });
            let ranked: Vec<_> = ranked.take(limit).collect();
            let is_full = ranked.len() == limit;
            RankingPage::new(ranked, is_full)
        })
    }

    fn explore(&self, position: Position, filter: ExplorerFilter) -> StoreFuture<'_, Exploration> {
        self.answer(|inner| inner.games.explore(position, &filter))
    }

    /// Public games are counted when they are kept.
    fn count_openings(&self, skip: usize, limit: usize, now: Timestamp) -> StoreFuture<'_, usize> {
        self.answer(|inner| inner.games.count_public(skip, limit, now))
    }

    fn import(&self, games: Vec<GameRecord>) -> StoreFuture<'_, usize> {
        self.answer(|inner| {
            let mut new = 0;
            for game in &games {
                if inner.games.has(game.id) {
                    continue;
                }
                new += 1;
                for profile in inner.games.enter(game) {
                    inner.forget_if_unknown(&profile);
                }
            }
            new
        })
    }

    fn make_provisional(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.answer(move |inner| inner.games.make_provisional(player))
    }

    fn trim(&self, retention: Retention, now: Timestamp, limit: usize) -> StoreFuture<'_, usize> {
        self.answer(|inner| {
            let games = inner.games.beyond(retention, now, limit);
            for game in &games {
                for profile in inner.games.remove(*game) {
                    inner.forget_if_unknown(&profile);
                }
            }
            games.len()
        })
    }
}

impl PlayerStore for MemoryStore {
    fn players(&self) -> StoreFuture<'_, Vec<StoredPlayer>> {
        self.answer(|inner| inner.players.values().map(|player| inner.enrolled(player)).collect())
    }

    fn find(&self, player: PlayerKey) -> StoreFuture<'_, Option<StoredPlayer>> {
        self.answer(|inner| {
            let found = match player {
                PlayerKey::Id(id) => inner.players.get(&id),
                PlayerKey::Token(token) => inner.players.values().find(|player| player.token == token),
            };
            found.map(|player| inner.enrolled(player))
        })
    }

    fn profile(&self, player: PlayerId) -> StoreFuture<'_, Option<Profile>> {
        self.answer(|inner| inner.profile(player).map(|(profile, _)| profile.clone()))
    }

    fn named(&self, name: DisplayName, limit: usize) -> StoreFuture<'_, Vec<Profile>> {
        self.answer(|inner| {
            let ids = inner.names.get(&name.key()).into_iter().flatten();
            let mut named: Vec<_> = ids.filter_map(|id| inner.profile(*id)).collect();
            named.sort_by_key(|(profile, seen)| (Reverse(*seen), profile.id));
            named.into_iter().take(limit).map(|(profile, _)| profile.clone()).collect()
        })
    }

    fn put_player(&self, player: StoredPlayer) -> StoreFuture<'_, bool> {
        self.answer(|inner| {
            let mut namesakes = inner.names.get(&player.profile.name.key()).into_iter().flatten();
            if namesakes.any(|id| *id != player.profile.id && inner.players.contains_key(id)) {
                return false;
            }
            inner.add_name(&player.profile);
            inner.players.insert(player.profile.id, player);
            true
        })
    }

    fn change_account(&self, player: StoredPlayer, before: StoredPlayer) -> StoreFuture<'_, bool> {
        self.answer(|inner| {
            let Some(known) = inner.players.get_mut(&player.profile.id) else { return false };
            let is_current = [before.token, player.token].contains(&known.token);
            if is_current {
                (known.token, known.claimed) = (player.token, known.claimed || player.claimed);
                if player.availability != before.availability {
                    known.availability = player.availability;
                }
                if player.profile.engine_version != before.profile.engine_version {
                    known.profile.engine_version = player.profile.engine_version;
                }
            }
            is_current
        })
    }

    fn remove_player(&self, player: PlayerId) -> StoreFuture<'_, ()> {
        self.answer(|inner| inner.remove(player))
    }

    fn idle_players(
        &self,
        others: Timestamp,
        claimed: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(PlayerId, Timestamp)>> {
        self.answer(|inner| {
            let is_idle = |player: &&StoredPlayer| player.seen < if player.claimed { claimed } else { others };
            let idle = inner.players.values().filter(is_idle).take(limit);
            idle.map(|player| (player.profile.id, player.seen)).collect()
        })
    }

    fn remove_idle(&self, player: PlayerId, seen: Timestamp) -> StoreFuture<'_, bool> {
        self.answer(|inner| {
            let is_idle = inner.players.get(&player).is_some_and(|known| known.seen <= seen);
            if is_idle {
                inner.remove(player);
            }
            is_idle
        })
    }

    fn bans(&self) -> StoreFuture<'_, Vec<Ban>> {
        self.answer(|inner| inner.bans.values().cloned().collect())
    }

    fn put_ban(&self, ban: Ban, now: Timestamp) -> StoreFuture<'_, ()> {
        self.answer(|inner| {
            inner.bans.insert(ban.subject.to_string(), ban);
            inner.bans.retain(|_, ban| ban.is_in_force(now));
        })
    }

    fn record_seen(&self, seen: Vec<(PlayerId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.answer(|inner| {
            for (player, seen) in seen {
                inner.players.entry(player).and_modify(|enrolled| enrolled.seen = enrolled.seen.max(seen));
            }
        })
    }
}

impl TournamentJournal for MemoryStore {
    fn append_tournament(&self, append: TournamentAppend) -> BoxFuture<'_, Result<(), AppendError>> {
        let expected = append.expected;
        Box::pin(ready(self.inner().tournaments.append(expected, append.into())))
    }

    fn tournament(&self, id: TournamentId) -> StoreFuture<'_, Option<StoredTournament>> {
        self.answer(|inner| inner.tournaments.load(id))
    }

    fn tournament_seq(&self, id: TournamentId) -> StoreFuture<'_, Option<Seq>> {
        self.answer(|inner| inner.tournaments.seq(id))
    }

    fn running_tournaments(&self, shards: BTreeSet<Shard>) -> StoreFuture<'_, Vec<TournamentId>> {
        self.answer(|inner| inner.tournaments.running(&shards))
    }

    fn tournament_page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<TournamentKey>> {
        self.answer(|inner| inner.tournaments.page(unfinished, before, limit))
    }
}
