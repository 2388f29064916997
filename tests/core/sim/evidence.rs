//! The record of a finished world, for the invariants.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use reversi::{
    room::{Event, Fact, GameId, GameRecord, PlayerId, Room, RoomId, Seq},
    store::{Contestant, PlayerStats, Store},
};

use crate::sim::{
    moment::{Deed, Moment, Outcome, What},
    plan::Plan,
};

/// Longer than any world.
const FORGETFUL: Duration = Duration::from_secs(100_000);

pub(crate) struct Evidence {
    pub(crate) moments: Vec<Moment>,
    /// All events ever written, by room.
    pub(crate) pasts: BTreeMap<RoomId, Past>,
    pub(crate) store: Store,
    /// All players that ever logged in, with their seat limits.
    pub(crate) people: Vec<(PlayerId, usize)>,
    pub(crate) rooms_per_player: usize,
    /// Whether the server removes idle players during this world.
    pub(crate) forgetful: bool,
    /// The person and the request of each call, by call number.
    calls: BTreeMap<u64, (usize, Deed)>,
    identities: Vec<(usize, PlayerId)>,
}

/// All events of a room, and the room after each.
pub(crate) struct Past {
    pub(crate) events: Vec<Event>,
    pub(crate) rooms: Vec<Room>,
}

impl Evidence {
    pub(crate) fn new(plan: &Plan, moments: Vec<Moment>, store: Store) -> Self {
        let mut pasts = BTreeMap::new();
        let (mut calls, mut identities) = (BTreeMap::new(), Vec::new());
        for moment in &moments {
            match &moment.what {
                What::Wrote { room, events } => pasts.entry(*room).or_insert_with(Past::new).extend(events),
                What::Asked { call, who, deed } => {
                    calls.insert(*call, (*who, deed.clone()));
                }
                What::Answered { call, outcome: Outcome::In(player) } => identities.push((calls[call].0, *player)),
                _ => {}
            }
        }
        let people =
            identities.iter().map(|&(who, player)| (player, usize::from(plan.cast[who].seats.max(1)))).collect();
        let rooms_per_player = plan.limits.rooms_per_player;
        let forgetful = plan.limits.player_idle < FORGETFUL;
        Self { moments, pasts, store, people, rooms_per_player, forgetful, calls, identities }
    }

    /// The person and the request of a call.
    pub(crate) fn call(&self, number: u64) -> (usize, &Deed) {
        let (who, deed) = &self.calls[&number];
        (*who, deed)
    }

    /// Whether a person ever was this player. After a log-out a person returns as another player.
    pub(crate) fn was(&self, who: usize, player: PlayerId) -> bool {
        self.identities.contains(&(who, player))
    }

    pub(crate) fn past(&self, room: RoomId) -> Result<&Past, String> {
        self.pasts.get(&room).ok_or_else(|| format!("room {room} was never written"))
    }

    /// The archive's record of a game.
    pub(crate) fn archived(&self, game: GameId) -> Option<Arc<GameRecord>> {
        self.store.archive.game(game).now_or_never()?.ok()?
    }

    pub(crate) fn standing(&self, player: PlayerId) -> PlayerStats {
        let answer = self.store.archive.player_stats(Contestant::Player(player)).now_or_never();
        answer.and_then(Result::ok).unwrap_or_default()
    }
}

impl Past {
    fn new() -> Self {
        Self { events: Vec::new(), rooms: Vec::new() }
    }

    fn extend(&mut self, events: &[Event]) {
        for event in events {
            let room = match (&event.fact, self.rooms.last()) {
                (Fact::Created(creation), _) => Room::new((**creation).clone(), event.at),
                (_, Some(before)) => {
                    let mut room = before.clone();
                    room.apply(event);
                    room
                }
                (_, None) => panic!("a room that does not begin with its creation"),
            };
            self.events.push(event.clone());
            self.rooms.push(room);
        }
    }

    /// The room after an event.
    pub(crate) fn at(&self, seq: Seq) -> Option<&Room> {
        self.rooms.get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    pub(crate) fn event(&self, seq: Seq) -> Option<&Event> {
        self.events.get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    /// Each event with the room before it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&Room, &Event)> {
        self.rooms.iter().zip(&self.events[1..])
    }
}
