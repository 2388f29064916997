//! A running server: rooms, players, streams and AI threads. Independent of any wire format.
//!
//! ```text
//!   edges ──▶ Runtime ─┬─ sessions ──▶ Players
//!                      ├─ rooms ─────▶ RoomHost ──▶ one actor for each open room ──▶ Journal
//!                      ├─ streams ◀── players' inboxes, watchers of rooms, Lobby
//!                      ├─ games ─────▶ Archive
//!                      └─ analyses ──▶ AnalysisPool
//! ```
//!
//! `RoomHost` finds the node of a room through `Cluster`, and [`Node`] is what other servers call here. No files import
//! each other in a circle (`tests/core/tidy`). Every queue has a bound: an option in `limit/limits.rs`, or a constant
//! beside the queue. Shutdown waits for every task, through the tracker in `lifecycle.rs`.

mod ai;
mod analysis;
mod cluster;
mod games;
mod lifecycle;
mod limit;
mod liveness;
mod lobby;
mod node;
mod outcome;
mod player;
mod random;
mod reusable_wait;
mod room;
mod server_clock;
pub mod server_metrics;
mod session;
mod stalls;
mod tournament;
mod watch;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Semaphore, mpsc, watch::Receiver},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use ai::pool::{AiLoad, Think};
pub use analysis::analyses::{Analyses, Analysis, AnalysisEnd, AnalysisPlan};
pub use cluster::peers::{Ask, FeedEnd, FeedItem, LinkError, MAX_STREAMS, News, Peers, PlayerStreams, Question, Reply};
pub use games::Games;
pub use limit::{
    client_address::{AddressPermit, ClientAddress, ClientAddresses, PacerSlot, Resource},
    in_force::LimitsInForce,
    limits::{Limit, Limits},
    rate_limiter::TooFast,
    request_cost::RequestCost,
};
pub(crate) use limit::{limits::limits_table, rate_limiter::RateLimiter};
pub use lobby::{
    listing::{Lobby, LobbyWatch},
    online_players::{OnlineFilter, OnlinePlayer},
    peer_rows::PeerList,
    row::{LobbyUpdate, Row, RowFilter, RowKey},
};
pub use node::Node;
pub use outcome::{Accepted, RoomError, StreamEnd};
pub use player::{
    bans::{BanCheck, Banned, Bans},
    directory::{LogInError, Players},
    notice::{InvitationOutcome, Notice, OfferStatus, TournamentNews, TurnEnd},
    player::{CallPermit, Player},
    problems::{Problem, ProblemKind},
    token::{BearerToken, ParseTokenError, PlayToken, Token},
};
pub use random::RandomSource;
pub use reusable_wait::{LazyTimer, WakeGate};
pub use room::{
    creation::{NewRoom, matchmaking::Opponent, repeated_requests::request_with_id},
    encoded_event::Encode,
    message::{Audience, Snapshot},
    rooms::{Play, Rooms},
};
pub use server_clock::Clock;
pub use server_metrics::Census;
pub use session::Sessions;
pub use tournament::{pool::Pool, shown::Shown, tournaments::Tournaments, watched::WatchedTournament};
pub use watch::{
    feed::FollowedRoom,
    open_stream::OpenStream,
    room_watch::{Update, Watch, WatchStart},
    streams::{Streams, WatchedLobby},
    turns::Turns,
};

pub use crate::store::{
    ArchiveSize, Assignment, BadNetwork, Ban, BanSubject, Contestant, Exploration, ExploredMove, ExplorerFilter,
    GameFilter, GameKey, GamePage, GameResult, NodeId, OpponentKind, PlayerStats, RankingFilter, RankingKey,
    RankingPage, Rating, Results, Shard,
};
use crate::{
    ai::engine::Engines,
    room::GameId,
    store::{Archive, Retention, Store, StoreError},
};
use ai::pool::MovePool;
use analysis::analysis_pool::AnalysisPool;
use cluster::cluster::Cluster;
use lifecycle::Lifecycle;
use limit::password_guesses::PasswordGuesses;
use lobby::peer_rows;
use room::{actor::ActorContext, host::RoomHost, password_hashing::Passwords, presence, recovery, registry::Registry};
use stalls::Stalls;

/// The parts of a runtime.
pub struct Parts {
    /// The limits.
    pub limits: Limits,
    /// The clock.
    pub clock: Clock,
    /// The source of ids and secrets.
    pub random: RandomSource,
    /// Storage for rooms, games and players.
    pub store: Store,
    /// Encodes events for watchers.
    pub encode: Encode,
    /// How AIs choose moves; by default their own search.
    pub think: Option<Arc<Think>>,
    /// AI threads, by default one for each core. With 0 an AI searches in its room's task, so that tests are
    /// deterministic.
    pub ai_threads: Option<usize>,
    /// True if idle AI threads are to search the position that an `expert` will probably get next.
    pub ponder: bool,
    /// Which finished games are kept; by default all.
    pub retention: Option<Retention>,
    /// The administrator's token, if there is an administrator.
    pub admin: Option<Token>,
    /// This node and its links, if it shares the rooms with other nodes. It then starts without rooms, and has those of
    /// the shards that [`Node`] is given.
    pub cluster: Option<(NodeId, Arc<dyn Peers>)>,
    /// The pools that the server keeps; the same at all nodes.
    pub pools: Vec<Pool>,
}

impl Parts {
    /// The default parts over a store.
    #[must_use]
    pub fn new(store: Store, encode: Encode) -> Self {
        Self {
            limits: Limits::default(),
            clock: Clock::default(),
            random: RandomSource::default(),
            store,
            encode,
            think: None,
            ai_threads: None,
            ponder: false,
            retention: None,
            admin: None,
            cluster: None,
            pools: Vec::new(),
        }
    }
}

/// A running server. Clones are handles to the same one.
#[derive(Clone)]
pub struct Runtime {
    /// Log-in and log-out.
    pub sessions: Sessions,
    /// The open rooms.
    pub rooms: Rooms,
    /// The list of public rooms.
    pub lobby: Arc<Lobby>,
    /// The streams of players.
    pub streams: Streams,
    /// The finished games.
    pub games: Games,
    /// Analyses.
    pub analyses: Analyses,
    /// The tournaments.
    pub tournaments: Tournaments,
}

/// Starts the background tasks of rooms and of finished games.
fn start_tasks(
    archive: &Arc<dyn Archive>,
    retention: Option<Retention>,
    ended: mpsc::Receiver<GameId>,
    host: &RoomHost,
) {
    let ActorContext { clock, lifecycle, players, player_store, limits, .. } = &*host.context;
    let limits = *limits.get();
    lifecycle.spawn(peer_rows::drop_left_regularly(Arc::clone(&host.lobby.peers), lifecycle.clone()));
    lifecycle.spawn(player::expiry::cut_unread_streams(Arc::clone(players), limits, lifecycle.clone()));
    lifecycle.spawn(player::expiry::remove_idle_players(Arc::clone(players), Arc::clone(player_store), *clock));
    lifecycle.spawn(presence::check_regularly(host.clone()));
    lifecycle.spawn(liveness::mark_alive_regularly(host.clone()));
    lifecycle.spawn(liveness::note_stalls(host.clone()));
    if let Some(retention) = retention {
        lifecycle.spawn(games::trim_regularly(Arc::clone(archive), retention, *clock, lifecycle.clone()));
    }
    let (told, while_running) = (Arc::clone(players), lifecycle.clone());
    lifecycle.spawn(games::tell_rating_changes(Arc::clone(archive), told, ended, while_running));
    lifecycle.spawn(games::settle_regularly(Arc::clone(archive), lifecycle.clone()));
    lifecycle.spawn(games::count_openings_regularly(Arc::clone(archive), *clock, lifecycle.clone()));
}

/// Reads what is needed before the first call: the bans, and, if there are no other nodes, all players and rooms.
async fn restore(node: &Node) -> Result<(), StoreError> {
    node.sessions.read_bans().await?;
    if node.cluster.shares_store() {
        return Ok(());
    }
    let alive = recovery::restore_players(&node.rooms.host.context).await?;
    node.take_all(alive).await
}

impl Runtime {
    /// Starts the AI threads, restores the stored players and rooms, and starts the background tasks.
    ///
    /// # Errors
    /// When a thread cannot be started, or the store cannot be read.
    pub async fn start(parts: Parts) -> std::io::Result<Self> {
        let Parts { limits, clock, random, store, .. } = parts;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = parts.ai_threads.unwrap_or(cores);
        let searches = threads.saturating_add(limits.analysis_threads.max(1));
        let memory = usize::try_from(u64::from(limits.ai_memory_mib) << 20).unwrap_or(usize::MAX);
        let engines = Arc::new(Engines::new(searches, memory));
        let analysis_pool = Arc::new(AnalysisPool::new(&limits, Arc::clone(&engines)));
        let think = parts.think.unwrap_or_else(|| {
            Arc::new(move |player, position, seed, stop| player.choose_with(&engines, position, seed, stop))
        });
        let pool = MovePool::start(threads, limits.ai_queue, think)?;
        let pool = Arc::new(pool.pondering(parts.ponder, Arc::clone(&analysis_pool.analyses)));

        let lifecycle = Lifecycle::default();
        let in_force = LimitsInForce::from(limits);
        let cluster = Arc::new(parts.cluster.map_or_else(Cluster::default, |(me, peers)| Cluster::new(me, peers)));
        let admin = parts.admin.as_ref();
        let players = Players::new(in_force.clone(), clock, random.clone(), admin, lifecycle.clone(), cluster.clone());
        let lobby = Arc::new(Lobby::new(cluster.clone()));
        let (ended_games, ended) = mpsc::channel(games::ENDED);
        let context = ActorContext {
            limits: in_force,
            clock,
            lifecycle: lifecycle.clone(),
            journal: store.journal,
            player_store: Arc::clone(&store.players),
            players: Arc::new(players),
            registry: Arc::<Registry>::default(),
            pool,
            encode: parts.encode,
            stalls: Stalls::new(clock),
            resumes: Semaphore::new((cores / 2).max(1)),
            cluster: Arc::clone(&cluster),
            tournaments: Arc::default(),
            ended_games,
        };
        let host = RoomHost { context: Arc::new(context), lobby: Arc::clone(&lobby) };
        let rooms = Rooms {
            host: host.clone(),
            waiting: Arc::default(),
            passwords: Arc::new(Passwords::new(lifecycle.clone(), random.clone())),
            guesses: Arc::new(PasswordGuesses::new(host.context.limits.clone())),
            random,
            archive: Arc::clone(&store.archive),
        };
        let (player_store, archive) = (Arc::clone(&store.players), Arc::clone(&store.archive));
        let sessions = Sessions { host: host.clone(), player_store, archive };
        let tournaments = Tournaments::new(rooms.clone(), store.tournaments, parts.pools);
        let node = Node { rooms: rooms.clone(), sessions: sessions.clone(), tournaments: tournaments.clone(), cluster };
        if let Err(unavailable) = restore(&node).await {
            // Rooms that are already in memory must not write while the next attempt reads.
            lifecycle.shut_down().await;
            return Err(std::io::Error::other(unavailable));
        }
        start_tasks(&store.archive, parts.retention, ended, &host);
        let (players, player_store) = (Arc::clone(&host.context.players), Arc::clone(&store.players));
        let runtime = Self {
            sessions,
            games: Games { archive: store.archive, players, player_store, rooms: rooms.clone() },
            analyses: Analyses { rooms: rooms.clone(), pool: analysis_pool },
            streams: Streams { host },
            lobby,
            rooms,
            tournaments,
        };
        if node.cluster.shares_store() {
            lifecycle.spawn(node.clone().send_heartbeats());
        }
        lifecycle.spawn(node.read_accounts_regularly());
        Ok(runtime)
    }

    /// What other nodes call.
    #[must_use]
    pub fn node(&self) -> Node {
        let cluster = Arc::clone(&self.context().cluster);
        let (rooms, sessions, tournaments) = (self.rooms.clone(), self.sessions.clone(), self.tournaments.clone());
        Node { rooms, sessions, tournaments, cluster }
    }

    fn context(&self) -> &ActorContext {
        &self.rooms.host.context
    }

    /// The players who are logged in.
    #[must_use]
    pub fn players(&self) -> &Players {
        &self.context().players
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> Arc<Limits> {
        self.context().limits.get()
    }

    /// A handle to the limits in force.
    #[must_use]
    pub fn limits_in_force(&self) -> &LimitsInForce {
        &self.context().limits
    }

    /// Replaces the limits. Those of one player or address apply only to players who log in, and addresses that appear,
    /// from now on. Returns the options of limits that are fixed at the start and differ.
    pub fn replace_limits(&self, limits: Limits) -> Vec<&'static str> {
        self.context().limits.replace(limits)
    }

    /// The server's clock.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.context().clock
    }

    /// The current state and load of the server.
    #[must_use]
    pub fn census(&self) -> Census {
        let context = self.context();
        Census {
            players: context.players.count(),
            rooms: context.registry.count(),
            games: context.registry.games(),
            ai: context.pool.load(),
            draining: context.lifecycle.is_draining(),
            writable: *context.stalls.writable().borrow(),
            lost: Duration::from_micros(u64::try_from(context.stalls.lost(context.clock.now())).unwrap_or(0)),
        }
    }

    /// True while the store can be written. A change is seen within seconds.
    #[must_use]
    pub fn writable(&self) -> Receiver<bool> {
        self.context().stalls.writable()
    }

    /// Cancelled when the server is about to stop, and load balancers should send clients to other servers.
    #[must_use]
    pub fn leaving(&self) -> CancellationToken {
        self.context().lifecycle.leaving.clone()
    }

    /// False while this server serves no clients: without a lease, without links to a majority, or with a wrong clock.
    /// The receiver is told of each change.
    #[must_use]
    pub fn in_service(&self) -> Receiver<bool> {
        self.context().lifecycle.in_service()
    }

    pub(crate) fn is_in_service(&self) -> bool {
        self.context().lifecycle.is_in_service()
    }

    /// Refuses new log-ins, rooms and games, and ends every stream.
    pub fn drain(&self) {
        let context = self.context();
        context.lifecycle.drain();
        context.players.end_streams(StreamEnd::Draining);
    }

    /// Finishes the rooms' current commands, stops AI searches and waits for every task. False if something fails or
    /// takes longer than `deadline`.
    pub async fn shut_down(&self, deadline: Duration) -> bool {
        self.drain();
        let context = self.context();
        let end = Instant::now() + deadline;
        let joined = tokio::time::timeout_at(end, context.lifecycle.shut_down()).await.is_ok();
        let written = liveness::write_shutdown(context);
        let written = tokio::time::timeout_at(end, written).await.unwrap_or(false);
        let stopped = context.pool.shut_down(end.saturating_duration_since(Instant::now())).await;
        joined && written && stopped
    }
}
