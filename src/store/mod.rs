//! What must not be lost: the events of every open room, finished games, and players.
//!
//! Nothing above this layer knows what is behind it:
//!
//! | seam | keeps | written |
//! |---|---|---|
//! | [`Journal`] | open rooms, as events | by the room's actor, before anything is true |
//! | [`Archive`] | finished games, statistics, ratings | with the event that ends the game |
//! | [`Register`] | players, by the hashes of their tokens | at log-in and log-out |
//!
//! [`SqliteStore`] keeps them in one file, [`MemoryStore`] for as long as the process lasts. An append takes the sequence
//! number it expects, so that two owners of one room can never both write.

mod archive;
mod journal;
mod memory;
mod register;
mod sqlite;
mod standing;

use std::sync::Arc;

pub use archive::{Archive, GameFilter, GameKey, GamePage};
pub use journal::{Append, AppendError, Appending, FaultHook, History, Journal, Pending, Unavailable};
pub use memory::MemoryStore;
pub use register::{Enrolled, Register};
pub use sqlite::{COMMIT_WRITES, OpenError, SqliteStore};
pub use standing::{Contestant, OpponentKind, ParseContestantError, Rating, Standing, Stats};

/// All that a server keeps.
#[derive(Clone)]
pub struct Store {
    /// Open rooms.
    pub journal: Arc<dyn Journal>,
    /// Finished games.
    pub archive: Arc<dyn Archive>,
    /// Players.
    pub register: Arc<dyn Register>,
}

impl Store {
    /// Everything in one place.
    pub fn of<S: Journal + Archive + Register>(store: S) -> Self {
        Self::shared(&Arc::new(store))
    }

    /// Everything in one place that others hold too.
    pub fn shared<S: Journal + Archive + Register>(store: &Arc<S>) -> Self {
        Self {
            journal: Arc::clone(store) as Arc<dyn Journal>,
            archive: Arc::clone(store) as Arc<dyn Archive>,
            register: Arc::clone(store) as Arc<dyn Register>,
        }
    }
}
