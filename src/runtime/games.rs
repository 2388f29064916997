//! Finished games and the statistics over them.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};

use super::{
    lifecycle::{Lifecycle, ticks},
    limit::request_cost::RequestCost,
    outcome::{Accepted, RoomError},
    player::{directory::Players, notice::Notice, player::Player},
    room::rooms::Rooms,
    server_clock::Clock,
};
use crate::{
    room::{
        Command, Credentials, DisplayName, EndReason, GameId, GameRecord, Participant, PlayerId, Profile, Rejection,
        Seq,
    },
    rules::{ByColor, Color, Position, Square},
    store::{
        Archive, ArchiveSize, Contestant, Exploration, ExplorerFilter, GameFilter, GameKey, GamePage, GameResult,
        OpponentKind, PlayerStats, PlayerStore, RankedContestant, RankingFilter, RankingKey, RankingPage, Rating,
        Retention, StoreError, anchor,
    },
};

/// The archive of finished games, as players may see it.
#[derive(Clone)]
pub struct Games {
    pub(super) archive: Arc<dyn Archive>,
    pub(super) players: Arc<Players>,
    pub(super) player_store: Arc<dyn PlayerStore>,
    pub(super) rooms: Rooms,
}

/// Maximum number of rated games that a player may abort within 24 hours.
const RATED_ABORTS: usize = 3;
const ABORTED_OFTEN: &str = "you have aborted three rated games within 24 hours; play this one, or resign";
/// Maximum number of a player's aborted games that are read. Some of them were aborted by opponents.
const ABORTS_READ: usize = 50;

/// Maximum number of players found by one name.
const NAMED: usize = 21;

/// The age at which a rating for the list of rooms is read again.
const LISTED_RATING_AGE: Duration = Duration::from_secs(60);

impl Games {
    /// A page of at most `limit` finished games that match, starting after `after`.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn page(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> Result<GamePage, RoomError> {
        Ok(self.archive.games(filter, after, limit).await?)
    }

    /// One finished game. A private one is visible to its players and, while its room is open, to all who may see the
    /// room; one of a room with a delay for spectators at first only to its players.
    ///
    /// # Errors
    /// When the store is unavailable, or the game does not exist or may not be seen by the player.
    pub async fn get(&self, player: &Player, id: GameId) -> Result<Arc<GameRecord>, RoomError> {
        let game = self.archive.game(id).await?.ok_or(Rejection::GameNotFound)?;
        let played = game.players.iter().any(|(_, participant)| participant.is(player.id()));
        if game.is_delayed_for(player.id(), self.rooms.host.context.clock.now()) {
            return Err(Rejection::GameNotFound.into());
        }
        if game.private && !played && self.rooms.current(player, id.room, &Credentials::default()).await.is_err() {
            return Err(Rejection::GameNotFound.into());
        }
        Ok(game)
    }

    /// A logged-in player, or a former player with a stored game; `None` for an unknown id.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn player(&self, id: PlayerId) -> Result<Option<Profile>, RoomError> {
        match self.players.get(id) {
            Some(player) => Ok(Some(player.profile())),
            None => Ok(self.player_store.profile(id).await?),
        }
    }

    /// The current holder of a name, then former holders with stored games, the last seen first; at most 21.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn players_named(&self, name: &DisplayName) -> Result<Vec<Profile>, RoomError> {
        let now = self.players.named(name).map(|player| player.profile());
        let known = self.player_store.named(name.clone(), NAMED).await?;
        let holder = now.as_ref().map(|profile| profile.id);
        let earlier = known.into_iter().filter(|profile| Some(profile.id) != holder);
        Ok(now.into_iter().chain(earlier).take(NAMED).collect())
    }

    /// The results and rating of a contestant over all games.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn player_stats(&self, contestant: Contestant) -> Result<PlayerStats, RoomError> {
        let stats = self.archive.player_stats(contestant.clone()).await?;
        Ok(with_constant_rating(&contestant, stats))
    }

    /// The rating of a logged-in player for the list of rooms, rounded, at most a minute old. `None` without a rating,
    /// or while the store is unavailable.
    pub async fn listed_rating(&self, id: PlayerId) -> Option<u16> {
        let player = self.players.get(id).filter(|player| player.has_played())?;
        if let Some(rating) = player.listed_rating(LISTED_RATING_AGE) {
            return rating;
        }
        let stats = self.archive.player_stats(Contestant::Player(id)).await.ok();
        let rating = stats.and_then(|stats| stats.rating).map(|rating| rating.rounded());
        player.set_listed_rating(rating);
        rating
    }

    /// Aborts a game. A player may abort three rated games within 24 hours, because an abort costs no rating points.
    ///
    /// # Errors
    /// When the room rejects it, the player has aborted too many rated games, or the store is unavailable.
    pub async fn abort(&self, player: &Arc<Player>, game: GameId) -> Result<Accepted, RoomError> {
        let room = self.rooms.snapshot_as_admin(game.room).await?.room;
        if room.settings().rated && room.seat_of(player.id()).is_some() {
            let now = self.rooms.host.context.clock.now();
            let filter = GameFilter {
                player: Some(player.id()),
                rated: Some(true),
                result: Some(GameResult::Aborted),
                ended_from: Some(now.before(Duration::from_secs(24 * 60 * 60))),
                ..GameFilter::visible_to(player.id())
            };
            let by_player = |game: &&Arc<GameRecord>| {
                let aborts = |side| game.end.reason == EndReason::aborted_by(side);
                Color::ALL.into_iter().any(|side| game.players[side].is(player.id()) && aborts(side))
            };
            let aborted = self.archive.games(filter, None, ABORTS_READ).await?.games;
            if aborted.iter().filter(by_player).count() >= RATED_ABORTS {
                return Err(Rejection::WrongPhase(ABORTED_OFTEN).into());
            }
        }
        self.rooms.command(player, game.room, Command::Abort { game: game.number }).await
    }

    /// Accepts a refused move if the player has made it in a game that has ended since, whatever its room does now.
    ///
    /// # Errors
    /// `refusal` if it is no such move; when the store is unavailable.
    pub async fn accept_repeat(
        &self,
        player: &Player,
        (game, ply, square): (GameId, u16, Square),
        refusal: RoomError,
    ) -> Result<Accepted, RoomError> {
        if !refusal.may_be_of_ended_game() || player.charge(RequestCost::Games(1)).is_err() {
            return Err(refusal);
        }
        match self.archive.game(game).await? {
            Some(record) if record.has_move_of(player.id(), ply, square) => {
                Ok(Accepted { seq: Seq(0), changed: false, game: Some(game) })
            }
            _ => Err(refusal),
        }
    }

    /// The moves played in a position in public games, with their results.
    ///
    /// # Errors
    /// When the store is unavailable, or the player plays a rated game.
    pub async fn explore(
        &self,
        player: &Player,
        position: Position,
        filter: ExplorerFilter,
    ) -> Result<Exploration, RoomError> {
        self.rooms.require_no_rated_game(player).await?;
        Ok(self.archive.explore(position, filter).await?)
    }

    /// A page of at most `limit` players and AIs with a rating, the highest first, starting after `after`.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn ranking(
        &self,
        filter: RankingFilter,
        after: Option<RankingKey>,
        limit: usize,
    ) -> Result<RankingPage, RoomError> {
        let mut page = self.archive.ranking(filter, after.clone(), limit).await?;
        if filter.kind.is_none_or(|kind| kind == OpponentKind::Ai) {
            self.add_anchors(&mut page, after.as_ref(), limit).await?;
        }
        Ok(page)
    }

    /// Adds the anchors that belong to a page: the archive has those only that have played, perhaps under a rating of an
    /// earlier version.
    async fn add_anchors(
        &self,
        page: &mut RankingPage,
        after: Option<&RankingKey>,
        limit: usize,
    ) -> Result<(), RoomError> {
        page.ranked.retain(|ranked| anchor::rating_of(&Contestant::from(&ranked.participant)).is_none());
        for (who, rating) in anchor::all() {
            let key = (rating.value, who);
            let is_later = after.is_none_or(|after| ranks(after, &key).is_lt());
            if is_later && page.next.as_ref().is_none_or(|next| ranks(next, &key).is_ge()) {
                let stats = with_constant_rating(&key.1, self.archive.player_stats(key.1.clone()).await?);
                page.ranked.extend(key.1.ai().map(|ai| RankedContestant { participant: Participant::Ai(ai), stats }));
            }
        }
        let key = |ranked: &RankedContestant| {
            (ranked.stats.rating.map_or(0.0, |rating| rating.value), Contestant::from(&ranked.participant))
        };
        page.ranked.sort_by(|one, other| ranks(&key(one), &key(other)));
        if page.ranked.len() > limit {
            page.ranked.truncate(limit);
            page.next = page.ranked.last().map(key);
        }
        Ok(())
    }

    /// The number of stored games, and their size in bytes.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn archive_size(&self) -> Result<ArchiveSize, RoomError> {
        Ok(self.archive.size().await?)
    }
}

/// The statistics of a contestant. The archive has the rating of an anchor only after its first game, perhaps another one
/// of an earlier version.
fn with_constant_rating(contestant: &Contestant, stats: PlayerStats) -> PlayerStats {
    let Some(constant) = anchor::rating_of(contestant) else { return stats };
    let games = stats.rating.map_or(0, |rating| rating.games);
    PlayerStats { rating: Some(Rating { games, ..constant }), ..stats }
}

/// The order of the ranking.
fn ranks((rating, contestant): &RankingKey, (other_rating, other): &RankingKey) -> Ordering {
    other_rating.total_cmp(rating).then_with(|| contestant.to_string().cmp(&other.to_string()))
}

/// The interval at which the archive is trimmed. Until then it exceeds its bound by the games that have ended since.
const TRIM: Duration = Duration::from_secs(10);

/// Maximum number of games removed by one write, so that the moves of the same commit wait only for milliseconds.
const TRIMMED_AT_ONCE: usize = 100;

/// Removes the games that the retention does not keep, regularly until the server stops.
pub(super) async fn trim_regularly(
    archive: Arc<dyn Archive>,
    retention: Retention,
    clock: Clock,
    lifecycle: Lifecycle,
) {
    let mut ticks = ticks(TRIM);
    while lifecycle.next_tick(&mut ticks).await {
        while !lifecycle.stop.is_cancelled() {
            match archive.trim(retention, clock.now(), TRIMMED_AT_ONCE).await {
                Ok(TRIMMED_AT_ONCE) => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "old games could not be removed");
                    break;
                }
            }
        }
    }
}

/// The interval at which ended games are settled.
const SETTLE: Duration = Duration::from_secs(1);

/// Maximum number of games settled by one transaction.
const SETTLED_AT_ONCE: usize = 256;

/// Settles ended games, regularly until the server stops.
pub(super) async fn settle_regularly(archive: Arc<dyn Archive>, lifecycle: Lifecycle) {
    let (mut ticks, mut is_failing) = (ticks(SETTLE), false);
    while lifecycle.next_tick(&mut ticks).await {
        while !lifecycle.stop.is_cancelled() {
            match archive.settle(SETTLED_AT_ONCE).await {
                Ok(SETTLED_AT_ONCE) => {}
                Ok(_) => {
                    is_failing = false;
                    break;
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(%error, "results and ratings wait for games that have ended");
                    }
                    break;
                }
            }
        }
    }
}

/// Maximum number of rated games that have ended, and whose players are not told yet what they did to the ratings.
pub(super) const ENDED: usize = 4096;

/// The pause before a game is read again while the archive is unavailable.
const TELL_RETRY: Duration = Duration::from_secs(1);

/// Tells the players of rated games that have ended what these did to their ratings, until the server stops.
pub(super) async fn tell_rating_changes(
    archive: Arc<dyn Archive>,
    players: Arc<Players>,
    mut ended: mpsc::Receiver<GameId>,
    lifecycle: Lifecycle,
) {
    let tell = async {
        while let Some(id) = ended.recv().await {
            let game = loop {
                match archive.game(id).await {
                    Ok(game) => break game,
                    // Each game that is damaged is logged by the archive.
                    Err(StoreError::Damaged(_)) => break None,
                    Err(_) => tokio::time::sleep(TELL_RETRY).await,
                }
            };
            let Some(game) = game else { continue };
            let (Some(black), Some(white)) = (game.rating_changes.black, game.rating_changes.white) else { continue };
            for (side, participant) in game.players.iter() {
                if let Some(player) = participant.id() {
                    let (before, changes) = (game.ratings, ByColor::new(black, white));
                    players.send(player, Notice::RatingChanged { game: id, side, before, changes });
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = lifecycle.stop.cancelled() => {}
        () = tell => {}
    }
}

/// The interval at which ended games are counted for the explorer.
const COUNT: Duration = Duration::from_secs(1);

/// Maximum number of games counted by one write, so that the moves of the same commit wait only a few milliseconds.
const COUNTED_AT_ONCE: usize = 5;

/// The pause after each write while there are more games, as a multiple of the time of the write. So counting takes at
/// most a fifth of the writer's time. A busy server, or one with an archive of an earlier version, takes longer.
const COUNT_PAUSE: u32 = 4;

/// Counts ended games for the explorer, regularly until the server stops. Skips damaged ones until the next start.
pub(super) async fn count_openings_regularly(archive: Arc<dyn Archive>, clock: Clock, lifecycle: Lifecycle) {
    let (mut damaged, mut limit) = (0, COUNTED_AT_ONCE);
    loop {
        let began = Instant::now();
        let counted = tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            counted = archive.count_openings(damaged, limit, clock.now()) => counted,
        };
        let mut pause = COUNT;
        match counted {
            Ok(counted) if counted == limit => {
                limit = COUNTED_AT_ONCE;
                pause = COUNT_PAUSE * began.elapsed();
            }
            Ok(_) => {}
            // One of them is damaged.
            Err(StoreError::Damaged(_)) if limit > 1 => (limit, pause) = (1, Duration::ZERO),
            Err(StoreError::Damaged(error)) => {
                if damaged == 0 {
                    tracing::error!(error, "damaged games are not counted for the explorer before the next start");
                }
                (damaged, limit) = (damaged + 1, COUNTED_AT_ONCE);
                // If the damage is not in a game, all games may fail.
                pause = COUNT * u32::try_from(damaged).unwrap_or(u32::MAX);
            }
            Err(error) => tracing::warn!(%error, "games could not be counted for the explorer"),
        }
        tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
