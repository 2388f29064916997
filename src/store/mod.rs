//! What must not be lost: the journal of every open room, and the archive of finished games.
//!
//! Nothing above this layer knows what is behind it. [`Journal`] is a trait because a durable one follows the one in
//! memory; an append takes the sequence number it expects, so that two owners of one room can never both write.

mod archive;
mod journal;
mod memory;

pub use archive::{Archive, GameFilter, Stats};
pub use journal::{AppendError, History, Journal, Pending, ReadError};
pub use memory::{FaultHook, MemoryJournal};
