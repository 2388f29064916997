//! A journal that lasts as long as the process.

use std::{
    collections::{HashMap, VecDeque},
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::journal::{AppendError, History, Journal, Pending, ReadError};
use crate::room::{Event, Fact, Room, RoomId, Seq};

/// Decides what goes wrong with an append to a room behind an event; for tests.
pub type FaultHook = Box<dyn Fn(RoomId, Seq) -> Option<AppendError> + Send + Sync>;

/// Keeps rooms in memory: a state and the latest events of each, so that a long-lived room does not grow.
#[derive(Default)]
pub struct MemoryJournal {
    rooms: Mutex<HashMap<RoomId, Kept>>,
    fault: Option<FaultHook>,
}

struct Kept {
    base: Box<Room>,
    events: VecDeque<Event>,
}

impl MemoryJournal {
    /// Events kept of a room: enough for a watcher's short absence, few enough for ten thousand rooms.
    pub const TAIL: usize = 16;

    /// An empty journal whose appends fail as `fault` says.
    #[must_use]
    pub fn with_faults(fault: FaultHook) -> Self {
        Self { rooms: Mutex::default(), fault: Some(fault) }
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<RoomId, Kept>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, room: RoomId, expected: Seq, events: &[Event]) -> Result<(), AppendError> {
        let fault = self.fault.as_ref().and_then(|fault| fault(room, expected));
        if let Some(error @ (AppendError::Unavailable(_) | AppendError::Conflict(_))) = fault {
            return Err(error);
        }
        keep(&mut self.rooms(), room, expected, events)?;
        // A write whose outcome nobody hears of has happened here: the harder case for the caller.
        fault.map_or(Ok(()), Err)
    }
}

fn keep(rooms: &mut HashMap<RoomId, Kept>, room: RoomId, expected: Seq, events: &[Event]) -> Result<(), AppendError> {
    let at = rooms.get(&room).map_or(Seq(0), Kept::seq);
    if at != expected {
        return Err(AppendError::Conflict(at));
    }
    if events.iter().any(|event| matches!(event.fact, Fact::Closed(_))) {
        rooms.remove(&room);
        return Ok(());
    }
    match rooms.get_mut(&room) {
        Some(kept) => kept.extend(events),
        None => {
            let begun = Room::replay(events)
                .ok_or_else(|| AppendError::Unavailable("a room must begin with its creation".into()))?;
            rooms.insert(room, Kept { base: Box::new(begun), events: VecDeque::new() });
        }
    }
    Ok(())
}

impl Kept {
    fn seq(&self) -> Seq {
        self.events.back().map_or(self.base.seq(), |event| event.seq)
    }

    fn extend(&mut self, events: &[Event]) {
        for event in events {
            if self.events.len() == MemoryJournal::TAIL
                && let Some(oldest) = self.events.pop_front()
            {
                self.base.apply(&oldest);
            }
            self.events.push_back(event.clone());
        }
    }
}

impl Journal for MemoryJournal {
    fn append<'a>(&'a self, room: RoomId, expected: Seq, events: &'a [Event]) -> Pending<'a, Result<(), AppendError>> {
        Box::pin(ready(self.write(room, expected, events)))
    }

    fn load(&self, room: RoomId) -> Pending<'_, Result<Option<History>, ReadError>> {
        let kept = self
            .rooms()
            .get(&room)
            .map(|kept| History { base: (*kept.base).clone(), events: kept.events.iter().cloned().collect() });
        Box::pin(ready(Ok(kept)))
    }

    fn open_rooms(&self) -> Pending<'_, Result<Vec<RoomId>, ReadError>> {
        let rooms = self.rooms().keys().copied().collect();
        Box::pin(ready(Ok(rooms)))
    }
}
