//! Live rooms: the actor of each room, how it is reached, and what players may ask of it.

pub(crate) mod actor;
pub(crate) mod actor_cell;
pub(crate) mod ai_turn;
pub(crate) mod message;
pub(crate) mod notifier;
pub(crate) mod recovery;
pub(crate) mod registry;
pub(crate) mod requests;
