//! Durable storage: the events of every open room, finished games, and players.
//!
//! | trait | keeps | written |
//! |---|---|---|
//! | [`Journal`] | open rooms, as events | by the room's actor, before an event is applied |
//! | [`Archive`] | finished games, statistics, ratings | with the event that ends the game |
//! | [`PlayerStore`] | players, by the hashes of their tokens, and bans | at log-in and log-out |
//! | [`TournamentJournal`] | tournaments, as bytes | by their owner, before an event is applied |
//!
//! [`SqliteStore`] stores them in one file, `PostgresStore` (the feature `postgres`) in a database, [`MemoryStore`] in
//! memory. An append names the sequence number that it expects, so of two owners of a room only one can write.

pub mod anchor;
mod archive;
mod ban;
mod clock_check;
mod cluster_store;
mod column;
mod contestant;
mod damage;
mod explorer;
pub mod files;
mod game_row;
mod journal;
mod memory;
mod player_stats;
mod player_store;
#[cfg(feature = "postgres")]
mod postgres;
mod quorum;
mod shard;
mod sqlite;
mod tournament;
mod transfer;

use std::sync::Arc;

pub use archive::{
    Archive, ArchiveSize, GameFilter, GameKey, GamePage, GameResult, RankedContestant, RankingFilter, RankingKey,
    RankingPage, Retention,
};
pub use ban::{BadNetwork, Ban, BanSubject};
pub use clock_check::{ClockCheck, ClockReading};
pub use cluster_store::{ClusterStore, ClusterView, Lease, NodeInfo, Obstacle};
pub use contestant::{Contestant, ParseContestantError};
pub use damage::DAMAGED_ROWS;
pub use explorer::{Exploration, ExploredMove, ExplorerFilter};
pub use journal::{
    Append, AppendError, AppendFuture, BoxFuture, CLOCK_SKEW, COMMIT_WRITES, DoneRequest, EndedGame, FENCED_APPENDS,
    FaultHook, History, Journal, LEASE_AGE, LOG_BYTES, OWNED_SHARDS, REQUEST_LIFETIME, StoreError, StoreFuture,
};
pub use memory::MemoryStore;
pub use player_stats::{
    OpponentKind, PlayerStats, Results,
    glicko::{Rating, RatingWeight},
};
pub use player_store::{PlaceRequest, PlayerKey, PlayerStore, RoomPlace, StoredPlayer};
#[cfg(feature = "postgres")]
pub use postgres::{Membership, NodeRow, NodeStatus, NodeTable, PostgresError, PostgresStore, Sharing, Standby};
pub use quorum::{QuorumNode, Unreached, may_serve};
pub use shard::{Assignment, NodeId, Shard, share, surplus};
pub use sqlite::{
    OpenError, SqliteStore,
    backup::{BackupError, NewStore, Pages, backup, restore},
    doctor::{Diagnosis, Doctor, Observer},
};
pub use tournament::{StoredTournament, TournamentAppend, TournamentJournal, TournamentKey, TournamentRows};
pub use transfer::{Copied, FormerPlayer, Restored, Standing, Transfer, copy, is_empty};

/// The storage of a server.
#[derive(Clone)]
pub struct Store {
    /// Open rooms.
    pub journal: Arc<dyn Journal>,
    /// Finished games.
    pub archive: Arc<dyn Archive>,
    /// Players.
    pub players: Arc<dyn PlayerStore>,
    /// Tournaments.
    pub tournaments: Arc<dyn TournamentJournal>,
}

impl Store {
    /// One store for everything.
    pub fn of<S: Journal + Archive + PlayerStore + TournamentJournal>(store: S) -> Self {
        Self::shared(&Arc::new(store))
    }

    /// As [`Store::of`], for a shared store.
    pub fn shared<S: Journal + Archive + PlayerStore + TournamentJournal>(store: &Arc<S>) -> Self {
        Self {
            journal: Arc::clone(store) as Arc<dyn Journal>,
            archive: Arc::clone(store) as Arc<dyn Archive>,
            players: Arc::clone(store) as Arc<dyn PlayerStore>,
            tournaments: Arc::clone(store) as Arc<dyn TournamentJournal>,
        }
    }
}
