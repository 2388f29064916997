//! Copies everything from one store into another, of any kind.

use std::collections::HashSet;

use reversi_room::{GameRecord, PlayerId, Profile, Room, Timestamp};

use super::{
    archive::{Archive, GameKey},
    contestant::Contestant,
    journal::{Journal, StoreError, StoreFuture},
    player_stats::PlayerStats,
    player_store::{PlayerStore, StoredPlayer},
    shard::Shard,
    tournament::{TournamentJournal, TournamentRows},
};

/// Rows that are read and written at a time.
const STEP: usize = 500;

/// The results and rating of a contestant, with its latest name.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The player or AI.
    pub contestant: Contestant,
    /// Its latest name.
    pub name: String,
    /// Its results and rating.
    pub stats: PlayerStats,
}

/// A player without a token, who is known because of games or results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerPlayer {
    /// Id, name and kind.
    pub profile: Profile,
    /// When it was last seen.
    pub seen: Timestamp,
}

/// Rows to write as they were in another store.
#[derive(Clone, Debug)]
pub enum Restored {
    /// Open rooms.
    Rooms(Vec<Room>),
    /// Players with a token.
    Players(Vec<StoredPlayer>),
    /// Players without one.
    FormerPlayers(Vec<FormerPlayer>),
    /// Results and ratings.
    Standings(Vec<Standing>),
    /// A tournament.
    Tournament(TournamentRows),
}

/// Reads and writes what the other traits of a store do not, by ascending keys.
pub trait Transfer: Journal + Archive + PlayerStore + TournamentJournal {
    /// At most `limit` players without a token, after `after`.
    fn former_players(&self, after: Option<PlayerId>, limit: usize) -> StoreFuture<'_, Vec<FormerPlayer>>;

    /// At most `limit` games, also private ones, after `after`.
    fn stored_games(&self, after: Option<GameKey>, limit: usize) -> StoreFuture<'_, Vec<GameRecord>>;

    /// At most `limit` results and ratings, after `after`.
    fn standings(&self, after: Option<Contestant>, limit: usize) -> StoreFuture<'_, Vec<Standing>>;

    /// Writes all of these, or none.
    fn restore(&self, restored: Restored) -> StoreFuture<'_, ()>;
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Finished games.
    pub games: usize,
    /// Players and former players.
    pub players: usize,
    /// Open rooms, without the events before their latest states.
    pub rooms: usize,
    /// Tournaments, without those that are damaged.
    pub tournaments: usize,
}

/// Returns true if a store has no data yet.
///
/// # Errors
/// If the store cannot be read.
pub async fn is_empty(store: &dyn Transfer) -> Result<bool, StoreError> {
    Ok(store.size().await?.games == 0
        && store.open_rooms(None, 1).await?.is_empty()
        && store.players().await?.is_empty()
        && store.former_players(None, 1).await?.is_empty()
        && store.bans().await?.is_empty()
        && store.standings(None, 1).await?.is_empty()
        && store.tournament_page(false, None, 1).await?.is_empty())
}

/// Copies everything into an empty store. The explorer counts the games again. Reports the games so far to `copied`.
///
/// # Errors
/// If something cannot be read or written; a part may be written then.
pub async fn copy(from: &dyn Transfer, to: &dyn Transfer, mut copied: impl FnMut(usize)) -> Result<Copied, StoreError> {
    // So that the standings have all games.
    while from.settle(STEP).await? > 0 {}
    let mut done = Copied::default();
    let mut after = None;
    loop {
        let games = from.stored_games(after, STEP).await?;
        let Some(last) = games.last() else { break };
        after = Some((last.ended, last.id));
        done.games += games.len();
        to.import(games).await?;
        copied(done.games);
    }
    let mut after = None;
    loop {
        let standings = from.standings(after, STEP).await?;
        let Some(last) = standings.last() else { break };
        after = Some(last.contestant.clone());
        to.restore(Restored::Standings(standings)).await?;
    }
    done.players = copy_players(from, to).await?;
    for ban in from.bans().await? {
        to.put_ban(ban, Timestamp(i64::MIN)).await?;
    }
    let mut after = None;
    loop {
        let rooms = from.open_rooms(after, STEP).await?;
        let Some(last) = rooms.last() else { break };
        after = Some(last.id());
        done.rooms += rooms.len();
        to.restore(Restored::Rooms(rooms)).await?;
    }
    done.tournaments = copy_tournaments(from, to).await?;
    // Last, so that clocks are credited only in a whole copy.
    if let Some(alive) = from.last_alive().await? {
        to.mark_alive(alive).await?;
    }
    Ok(done)
}

async fn copy_players(from: &dyn Transfer, to: &dyn Transfer) -> Result<usize, StoreError> {
    let players = from.players().await?;
    let mut count = players.len();
    to.restore(Restored::Players(players)).await?;
    let mut after = None;
    loop {
        let former = from.former_players(after, STEP).await?;
        let Some(last) = former.last() else { break };
        after = Some(last.profile.id);
        count += former.len();
        to.restore(Restored::FormerPlayers(former)).await?;
    }
    Ok(count)
}

async fn copy_tournaments(from: &dyn Transfer, to: &dyn Transfer) -> Result<usize, StoreError> {
    let running: HashSet<_> = from.running_tournaments(Shard::all().collect()).await?.into_iter().collect();
    let (mut count, mut before) = (0, None);
    loop {
        let page = from.tournament_page(false, before, STEP).await?;
        let Some(last) = page.last() else { return Ok(count) };
        before = Some(*last);
        for (created, id) in page {
            let stored = match from.tournament(id).await {
                Ok(Some(stored)) => stored,
                // The store has logged the damage.
                Ok(None) | Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            let rows = TournamentRows { id, created, last: stored.last(), ended: !running.contains(&id), stored };
            to.restore(Restored::Tournament(rows)).await?;
            count += 1;
        }
    }
}
