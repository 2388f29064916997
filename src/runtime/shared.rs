//! What every part of a running server shares.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize},
};

use bytes::Bytes;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    analyst::Analysts,
    entropy::{Chance, Clock},
    limits::Limits,
    lobby::Lobby,
    matchmaker::Matchmaker,
    players::{Players, TokenHash},
    pool::Pool,
    registry::Registry,
};
use crate::{
    room::{Event, Room},
    store::Store,
};

/// Makes an event, with the room as it is behind it, into what watchers are sent.
pub type Encode = fn(&Event, &Room) -> Bytes;

pub(super) struct Shared {
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) chance: Chance,
    pub(super) store: Store,
    pub(super) admin: Option<TokenHash>,
    pub(super) players: Players,
    pub(super) registry: Registry,
    pub(super) lobby: Arc<Lobby>,
    pub(super) matchmaker: Matchmaker,
    pub(super) pool: Pool,
    pub(super) analysts: Analysts,
    pub(super) encode: Encode,
    pub(super) games: AtomicUsize,
    /// Rooms to which the time that the server was away is not given back yet.
    pub(super) uncredited: AtomicUsize,
    pub(super) draining: AtomicBool,
    /// Cancelled when the streams were told to end: rooms finish the command in hand.
    pub(super) rooms_end: CancellationToken,
    pub(super) tasks: TaskTracker,
}
