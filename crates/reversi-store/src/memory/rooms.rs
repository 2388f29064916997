//! Open rooms: a state and the latest events of each, so that a long-lived room does not grow.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use reversi_room::{Event, Fact, Room, RoomId, Seq};

use super::{Append, AppendError, History};

/// Minimum events kept of a room; the maximum is twice that. Enough for a watcher's short absence.
const TAIL: usize = 16;

#[derive(Default)]
pub(super) struct MemoryRooms {
    rooms: HashMap<RoomId, MemoryRoom, RandomState>,
}

struct MemoryRoom {
    base: Box<Room>,
    events: Vec<Event>,
}

impl MemoryRooms {
    pub(super) fn append(&mut self, append: &Append<'_>) -> Result<(), AppendError> {
        let Some(room) = self.rooms.get_mut(&append.room) else { return self.begin(append) };
        if room.seq() != append.expected {
            return Err(AppendError::Conflict(room.seq()));
        }
        if is_last(append) {
            self.rooms.remove(&append.room);
        } else {
            room.extend(append.events);
        }
        Ok(())
    }

    fn begin(&mut self, append: &Append<'_>) -> Result<(), AppendError> {
        if append.expected != Seq(0) {
            return Err(AppendError::Conflict(Seq(0)));
        }
        if !is_last(append) {
            let begun = Room::replay(append.events)
                .ok_or_else(|| AppendError::Unavailable("a room must begin with its creation".into()))?;
            self.rooms.insert(append.room, MemoryRoom { base: Box::new(begun), events: Vec::new() });
        }
        Ok(())
    }

    pub(super) fn load(&self, room: RoomId) -> Option<History> {
        self.rooms.get(&room).map(MemoryRoom::history)
    }

    pub(super) fn page(&self, after: Option<RoomId>, limit: usize) -> Vec<Room> {
        let is_after = |room: &RoomId| after.is_none_or(|after| *room > after);
        let mut page: Vec<_> = self.rooms.iter().filter(|(room, _)| is_after(room)).collect();
        page.sort_unstable_by_key(|(room, _)| **room);
        page.into_iter().take(limit).map(|(_, room)| room.history().latest()).collect()
    }
}

fn is_last(append: &Append<'_>) -> bool {
    append.events.iter().any(|event| matches!(event.fact, Fact::Closed(_)))
}

impl MemoryRoom {
    fn seq(&self) -> Seq {
        self.events.last().map_or_else(|| self.base.seq(), |event| event.seq)
    }

    fn history(&self) -> History {
        History { base: (*self.base).clone(), events: self.events.clone() }
    }

    fn extend(&mut self, events: &[Event]) {
        self.events.extend_from_slice(events);
        // In batches, so that most appends leave the state alone.
        if self.events.len() >= 2 * TAIL {
            let older = self.events.len() - TAIL;
            self.events.drain(..older).for_each(|event| self.base.apply(&event));
        }
    }
}
