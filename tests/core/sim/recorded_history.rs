//! The record of a finished simulation, for the invariants.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use reversi::{
    room::{Event, Fact, GameId, GameRecord, PlayerId, Room, RoomId, Seq},
    store::{Contestant, PlayerStats, Store, StoredPlayer},
};

use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    plan::Plan,
};

/// Longer than any simulation.
const NEVER: Duration = Duration::from_secs(100_000);

/// A node whose clock is ahead or behind by more microseconds serves no clients.
const MAX_AHEAD: u64 = 5_000_000;

pub(crate) struct RecordedHistory {
    pub(crate) entries: Vec<LogEntry>,
    /// All events ever written, by room.
    pub(crate) rooms: BTreeMap<RoomId, RoomHistory>,
    pub(crate) store: Store,
    /// How far the clocks of the nodes of a cluster are apart.
    pub(crate) clocks_apart: Duration,
    /// All players that ever logged in, with their seat limits.
    pub(crate) players: Vec<(PlayerId, usize)>,
    pub(crate) rooms_per_player: usize,
    /// Whether the server removes idle players during this simulation.
    pub(crate) removes_idle_players: bool,
    /// The client and the request of each call, by call number.
    calls: BTreeMap<u64, (usize, Action)>,
    identities: Vec<(usize, PlayerId)>,
}

/// All events of a room, and the room after each.
pub(crate) struct RoomHistory {
    pub(crate) events: Vec<Event>,
    pub(crate) states: Vec<Room>,
    /// Whether the disk has lost events, which `recovered` reports. Later events do not belong to these.
    has_gap: bool,
}

impl RecordedHistory {
    pub(crate) fn new(plan: &Plan, entries: Vec<LogEntry>, store: Store) -> Self {
        let mut rooms = BTreeMap::new();
        let (mut calls, mut identities, mut clocks) = (BTreeMap::new(), Vec::new(), Vec::new());
        for entry in &entries {
            match &entry.what {
                SimEvent::Written { room, events } => {
                    rooms.entry(*room).or_insert_with(RoomHistory::new).extend(events)
                }
                SimEvent::NodeJoined { ahead, .. } if ahead.unsigned_abs() <= MAX_AHEAD => clocks.push(*ahead),
                SimEvent::Requested { call, client, action } => {
                    calls.insert(*call, (*client, action.clone()));
                }
                SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                    identities.push((calls[call].0, *player))
                }
                _ => {}
            }
        }
        let players = identities
            .iter()
            .map(|&(client, player)| (player, usize::from(plan.clients[client].seats.max(1))))
            .collect();
        let apart = clocks.iter().max().zip(clocks.iter().min()).map_or(0, |(most, least)| most - least);
        let clocks_apart = Duration::from_micros(apart.unsigned_abs());
        let rooms_per_player = plan.limits.rooms_per_player;
        let removes_idle_players = plan.limits.player_idle < NEVER;
        Self { entries, rooms, store, clocks_apart, players, rooms_per_player, removes_idle_players, calls, identities }
    }

    /// The client and the request of a call.
    pub(crate) fn call(&self, number: u64) -> (usize, &Action) {
        let (client, action) = &self.calls[&number];
        (*client, action)
    }

    /// Whether a client ever was this player. After a log-out a client returns as another player.
    pub(crate) fn was_player(&self, client: usize, player: PlayerId) -> bool {
        self.identities.contains(&(client, player))
    }

    pub(crate) fn room(&self, room: RoomId) -> Result<&RoomHistory, String> {
        self.rooms.get(&room).ok_or_else(|| format!("room {room} was never written"))
    }

    /// The archive's record of a game.
    pub(crate) fn archived(&self, game: GameId) -> Option<Arc<GameRecord>> {
        self.store.archive.game(game).now_or_never()?.ok()?
    }

    /// The players who are stored at the end.
    pub(crate) fn players_at_the_end(&self) -> Vec<StoredPlayer> {
        // A disk of the simulation takes time.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(self.store.players.players()).unwrap_or_default()
    }

    pub(crate) fn player_stats(&self, player: PlayerId) -> PlayerStats {
        let answer = self.store.archive.player_stats(Contestant::Player(player)).now_or_never();
        answer.and_then(Result::ok).unwrap_or_default()
    }
}

impl RoomHistory {
    fn new() -> Self {
        Self { events: Vec::new(), states: Vec::new(), has_gap: false }
    }

    fn extend(&mut self, events: &[Event]) {
        for event in events {
            self.has_gap |= self.states.last().is_some_and(|before| before.seq().next() != event.seq);
            if self.has_gap {
                return;
            }
            let room = match (&event.fact, self.states.last()) {
                (Fact::Created(creation), _) => Room::new((**creation).clone(), event.at),
                (_, Some(before)) => {
                    let mut room = before.clone();
                    room.apply(event);
                    room
                }
                (_, None) => panic!("a room that does not begin with its creation"),
            };
            self.events.push(event.clone());
            self.states.push(room);
        }
    }

    /// The room after an event.
    pub(crate) fn at(&self, seq: Seq) -> Option<&Room> {
        self.states.get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    pub(crate) fn event(&self, seq: Seq) -> Option<&Event> {
        self.events.get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    /// Each event with the room before it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&Room, &Event)> {
        self.states.iter().zip(&self.events[1..])
    }
}
