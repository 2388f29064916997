//! A running server: tasks, rooms, players, AI threads. It knows nothing of wires.
//!
//! ```text
//!   edges ──▶ Runtime ──▶ Registry ──▶ RoomActor ──▶ Journal
//!                │                        │  │
//!             Players ◀── Teller ─────────┘  ├──▶ watchers (encoded once, shared)
//!                                            ├──▶ Lobby (a row a room)
//!                                            └──▶ Pool (AI threads) ──▶ back as a move
//!   Analysis (what the engine thinks of a position or game) ──▶ Analysts (few threads that yield to all others)
//! ```
//!
//! One actor owns one room. It has a task, and runs within that of a mover where it is at rest (`visit`). Every queue has
//! a bound in `limits`, every task belongs to the tracker in `shared`, and shutting down joins them all.

mod ai;
mod clock;
mod error;
mod limit;
mod lobby;
pub mod metrics;
mod player;
mod poll;
mod random;
mod room;
mod server_state;
mod watch;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use ai::analysis::{Analysis, AnalysisEnd, AnalysisPlan};
pub use ai::pool::{AiLoad, Think};
pub use clock::Clock;
pub use error::RoomError;
pub use limit::client_address::{Address, Addresses, Share, Taken, Turn};
pub(crate) use limit::limits::limits_table;
pub use limit::limits::{Limit, Limits};
pub use limit::rate_limiter::TooFast;
pub use limit::request_cost::Work;
pub use lobby::listing::{LobbyUpdate, LobbyWatch, Row, RowFilter, RowKey};
pub use player::directory::{Call, LogInError, ParseTokenError, Player, Token, hash_password};
pub use player::inbox::{Notice, StreamEnd, TurnEnd};
pub use poll::{Alarm, Bell};
pub use random::Chance;
pub use room::message::{Accepted, Snapshot};
pub use room::requests::{NewRoom, Opponent, Play};
pub use server_state::Encode;
pub use watch::subscription::{Turns, Update, Watch};

pub use crate::store::{Contestant, GameFilter, GameKey, GamePage, PlayerStats, Rating, Results};
use crate::{
    ai::engine::Engines,
    room::{Command, Credentials, DisplayName, GameId, GameRecord, Issuer, PlayerId, PlayerKind, Rejection},
    store::Store,
};
use ai::pool::Pool;
use server_state::Shared;

/// What a runtime is made of.
pub struct Parts {
    /// Its bounds.
    pub limits: Limits,
    /// Its time.
    pub clock: Clock,
    /// Where its ids and secrets come from.
    pub chance: Chance,
    /// What keeps its rooms, games and players.
    pub store: Store,
    /// Makes events into what watchers are sent.
    pub encode: Encode,
    /// How AIs choose, when they are not to do it themselves.
    pub think: Option<Arc<Think>>,
    /// Threads for AI seats; one for each core unless given. With 0 an AI thinks where its room runs, which is for
    /// tests that must run the same way twice.
    pub ai_threads: Option<usize>,
    /// Whether AI threads that have nothing to do search what an `expert` will probably be asked next.
    pub ponder: bool,
    /// The secret that makes its bearer an administrator; without it nobody is one.
    pub admin: Option<Token>,
}

impl Parts {
    /// The usual parts over a store.
    #[must_use]
    pub fn new(store: Store, encode: Encode) -> Self {
        Self {
            limits: Limits::default(),
            clock: Clock::default(),
            chance: Chance::default(),
            store,
            encode,
            think: None,
            ai_threads: None,
            ponder: false,
            admin: None,
        }
    }
}

fn megabytes(count: u32) -> usize {
    usize::try_from(u64::from(count) << 20).unwrap_or(usize::MAX)
}

/// A running server. Clones are handles to the same one.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

/// What the server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// Players known.
    pub players: usize,
    /// Rooms that live.
    pub rooms: usize,
    /// Games that run.
    pub games: usize,
    /// How busy the AI threads are.
    pub ai: AiLoad,
    /// Whether it is stopping.
    pub draining: bool,
}

impl Runtime {
    /// Starts the AI threads, brings back the open rooms of the journal, and begins to look after idle players.
    ///
    /// # Errors
    /// When there are no threads to be had, or the journal cannot be read.
    pub async fn start(parts: Parts) -> std::io::Result<Self> {
        let threads = match parts.ai_threads {
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let searches = threads.saturating_add(parts.limits.analysis_threads.max(1));
        let engines = Arc::new(Engines::new(searches, megabytes(parts.limits.ai_memory_mib)));
        let analysts = ai::analysis_pool::Analysts::new(&parts.limits, Arc::clone(&engines));
        let think = parts.think.unwrap_or_else(|| {
            Arc::new(move |player, position, seed, stop| player.choose_with(&engines, position, seed, stop))
        });
        let pool = Pool::start(threads, parts.limits.ai_queue, think)?.pondering(parts.ponder);
        let shared = Arc::new(Shared {
            limits: parts.limits,
            store: parts.store,
            admin: parts.admin.map(|token| token.hash()),
            players: player::directory::Players::new(parts.clock, parts.chance.clone()),
            clock: parts.clock,
            chance: parts.chance,
            registry: room::registry::Registry::default(),
            lobby: Arc::default(),
            matchmaker: lobby::matchmaker::Matchmaker::default(),
            pool,
            analysts,
            encode: parts.encode,
            games: AtomicUsize::new(0),
            uncredited: AtomicUsize::new(0),
            draining: AtomicBool::new(false),
            rooms_end: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        if let Err(unavailable) = room::recovery::revive(&shared).await {
            // Rooms that came back already must not write while the next attempt reads.
            shared.rooms_end.cancel();
            shared.tasks.close();
            shared.tasks.wait().await;
            return Err(std::io::Error::other(unavailable));
        }
        shared.tasks.spawn(player::presence::look_after_players(Arc::clone(&shared)));
        shared.tasks.spawn(room::recovery::stay_alive(Arc::clone(&shared)));
        shared.tasks.spawn(player::presence::look_after_readers(Arc::clone(&shared)));
        Ok(Self { shared })
    }

    /// The bounds in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The time by which everything here happens.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// Random bits that nobody can guess.
    #[must_use]
    pub fn random(&self) -> u64 {
        self.shared.chance.bits()
    }

    /// What the server is doing.
    #[must_use]
    pub fn census(&self) -> Census {
        Census {
            players: self.shared.players.count(),
            rooms: self.shared.registry.count(),
            games: self.shared.games.load(Relaxed),
            ai: self.shared.pool.load(),
            draining: self.shared.draining.load(Relaxed),
        }
    }

    /// At most `limit` finished games that match, beginning behind `after`.
    ///
    /// # Errors
    /// When storage is unavailable.
    pub async fn games(&self, filter: GameFilter, after: Option<GameKey>, limit: usize) -> Result<GamePage, RoomError> {
        Ok(self.shared.store.archive.games(filter, after, limit).await?)
    }

    /// One finished game. A private one is shown to those who played, and while its room is open to those who are in it.
    ///
    /// # Errors
    /// When storage is unavailable, or there is none for that player.
    pub async fn game(&self, player: &Player, id: GameId) -> Result<Arc<GameRecord>, RoomError> {
        let game = self.shared.store.archive.game(id).await?.ok_or(Rejection::GameNotFound)?;
        let played = game.players.iter().any(|(_, participant)| participant.is(player.id()));
        if game.private && !played && self.look(player, id.room, &Credentials::default()).await.is_err() {
            return Err(Rejection::GameNotFound.into());
        }
        Ok(game)
    }

    /// What a contestant made of all games.
    ///
    /// # Errors
    /// When storage is unavailable.
    pub async fn player_stats(&self, who: Contestant) -> Result<PlayerStats, RoomError> {
        Ok(self.shared.store.archive.player_stats(who).await?)
    }

    /// Makes a player of a free name.
    ///
    /// # Errors
    /// When the name is taken, the server is full or stops, or storage is unavailable.
    pub async fn log_in(
        &self,
        name: DisplayName,
        kind: PlayerKind,
        seats: u16,
    ) -> Result<(Arc<Player>, Token), LogInError> {
        self.require_running()?;
        let shared = Arc::clone(&self.shared);
        self.finish(async move {
            let (player, token) = shared.players.log_in(name, kind, seats, &shared.limits)?;
            if let Err(unavailable) = shared.store.players.insert_player(player.enrolled()).await {
                shared.players.forget(&player);
                // It may have been written all the same.
                shared.tasks.spawn(room::recovery::undo_enrolment(Arc::clone(&shared), player.id()));
                return Err(RoomError::from(unavailable).into());
            }
            Ok((player, token))
        })
        .await
    }

    /// The player of a token, if it is still good.
    #[must_use]
    pub fn bearer(&self, token: &Token) -> Option<Arc<Player>> {
        self.shared.players.bearer(token)
    }

    /// Whether it is an administrator's token.
    #[must_use]
    pub fn is_admin(&self, token: &Token) -> bool {
        self.shared.admin.is_some_and(|admin| admin.is_of(token))
    }

    /// A player by name, whatever its case.
    #[must_use]
    pub fn player_named(&self, name: &DisplayName) -> Option<Arc<Player>> {
        self.shared.players.named(name)
    }

    /// A player by id.
    #[must_use]
    pub fn player(&self, id: PlayerId) -> Option<Arc<Player>> {
        self.shared.players.get(id)
    }

    /// Revokes the token, leaves every room, ends the streams and frees the name.
    ///
    /// # Errors
    /// When storage is unavailable, and nothing has changed; or a room could not be left, which is then left to its grace.
    pub async fn log_out(&self, player: &Arc<Player>) -> Result<(), RoomError> {
        let (this, player) = (self.clone(), Arc::clone(player));
        self.finish(async move { this.see_off(&player).await }).await
    }

    async fn see_off(&self, player: &Arc<Player>) -> Result<(), RoomError> {
        self.shared.store.players.remove_player(player.id()).await?;
        self.shared.players.revoke(player);
        let mut outcome = Ok(());
        for room in player.rooms() {
            let left = match self.shared.room(room).await {
                Ok(handle) => handle.command(Issuer::Player(player.id()), Command::Leave).await.map(|_| ()),
                Err(RoomError::Rejected(_)) => Ok(()),
                Err(error) => Err(error),
            };
            outcome = outcome.and(left);
        }
        // Only now, so that the others are not told of a lost connection first.
        player.end_streams(StreamEnd::LoggedOut);
        self.shared.players.forget(player);
        // Where leaving failed, the grace begins.
        self.shared.check_presence(player, player.rooms());
        outcome
    }

    /// Opens a player's stream of turns, and ends an older one.
    ///
    /// # Errors
    /// When the player has too many streams.
    pub async fn turns(&self, player: &Arc<Player>) -> Result<Turns, RoomError> {
        Turns::open(&self.shared, player).await
    }

    /// A page of the room list: at most `limit` rows behind `after`.
    #[must_use]
    pub fn rooms(&self, filter: &RowFilter, after: Option<RowKey>, limit: usize) -> Vec<Row> {
        self.shared.lobby.page(filter, after, limit)
    }

    /// Follows the room list.
    ///
    /// # Errors
    /// When the player has too many streams.
    pub fn watch_rooms(&self, player: &Arc<Player>, filter: RowFilter) -> Result<WatchedRooms, RoomError> {
        Ok(WatchedRooms {
            open: watch::subscription::OpenStream::new(&self.shared, player, metrics::StreamKind::List)?,
            watch: self.shared.lobby.watch(filter),
        })
    }

    /// Counts a stream that ends by itself, such as an export.
    ///
    /// # Errors
    /// When the player has too many streams.
    pub fn open_stream(&self, player: &Arc<Player>) -> Result<CountedStream, RoomError> {
        Ok(CountedStream {
            open: watch::subscription::OpenStream::new(&self.shared, player, metrics::StreamKind::Export)?,
        })
    }

    /// Games that a player plays now.
    pub async fn games_of(&self, player: &Player) -> Vec<GameId> {
        let mut games = Vec::new();
        for room in player.seats() {
            let Ok(handle) = self.shared.room(room).await else { continue };
            let Ok(snapshot) = handle.snapshot().await else { continue };
            if let Some(game) = snapshot.room.running() {
                games.push(GameId { room, number: game.number });
            }
        }
        games
    }

    /// Refuses what is new, and ends every stream with its reason.
    pub fn drain(&self) {
        self.shared.draining.store(true, Relaxed);
        self.shared.players.end_streams();
    }

    /// Lets rooms finish the command in hand, stops AI jobs, and waits for every task; false when the time ran out.
    pub async fn shut_down(&self, deadline: Duration) -> bool {
        self.drain();
        self.shared.rooms_end.cancel();
        self.shared.tasks.close();
        let end = tokio::time::Instant::now() + deadline;
        let joined = tokio::time::timeout_at(end, self.shared.tasks.wait()).await.is_ok();
        let noted = tokio::time::timeout_at(end, room::recovery::note_the_end(&self.shared)).await.unwrap_or(false);
        let stopped = self.shared.pool.shut_down(end.saturating_duration_since(tokio::time::Instant::now())).await;
        joined && noted && stopped
    }

    fn require_running(&self) -> Result<(), RoomError> {
        if self.shared.draining.load(Relaxed) { Err(RoomError::Draining) } else { Ok(()) }
    }
}

/// A stream of something that does not change, counted as every other while it lives.
pub struct CountedStream {
    open: watch::subscription::OpenStream,
}

impl CountedStream {
    /// Waits until the server or the player ends every stream.
    pub async fn ended(&self) -> StreamEnd {
        self.open.ended().await
    }
}

/// The room list as one player follows it.
pub struct WatchedRooms {
    open: watch::subscription::OpenStream,
    watch: LobbyWatch,
}

impl WatchedRooms {
    /// The next update, or why the stream ends. Nothing is lost when the wait is dropped.
    ///
    /// # Errors
    /// The end of the stream.
    pub async fn next(&mut self) -> Result<LobbyUpdate, StreamEnd> {
        tokio::select! {
            biased;
            end = self.open.ended() => Err(end),
            update = self.watch.next() => Ok(update),
        }
    }
}
