//! Open rooms: a state and the latest events of each, so that a long-lived room does not grow.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
};

use super::{Append, AppendError, History, MemoryStore};
use crate::room::{Event, Fact, Room, RoomId, Seq};

#[derive(Default)]
pub(super) struct Rooms {
    rooms: BTreeMap<RoomId, Kept>,
}

struct Kept {
    base: Box<Room>,
    events: VecDeque<Event>,
}

impl Rooms {
    pub(super) fn append(&mut self, append: &Append<'_>) -> Result<(), AppendError> {
        let at = self.rooms.get(&append.room).map_or(Seq(0), Kept::seq);
        if at != append.expected {
            return Err(AppendError::Conflict(at));
        }
        if append.events.iter().any(|event| matches!(event.fact, Fact::Closed(_))) {
            self.rooms.remove(&append.room);
            return Ok(());
        }
        match self.rooms.get_mut(&append.room) {
            Some(kept) => kept.extend(append.events),
            None => {
                let begun = Room::replay(append.events)
                    .ok_or_else(|| AppendError::Unavailable("a room must begin with its creation".into()))?;
                self.rooms.insert(append.room, Kept { base: Box::new(begun), events: VecDeque::new() });
            }
        }
        Ok(())
    }

    pub(super) fn load(&self, room: RoomId) -> Option<History> {
        self.rooms.get(&room).map(Kept::history)
    }

    pub(super) fn page(&self, after: Option<RoomId>, limit: usize) -> Vec<Room> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.rooms.range((from, Bound::Unbounded)).take(limit).map(|(_, kept)| kept.history().latest()).collect()
    }
}

impl Kept {
    fn seq(&self) -> Seq {
        self.events.back().map_or(self.base.seq(), |event| event.seq)
    }

    fn history(&self) -> History {
        History { base: (*self.base).clone(), events: self.events.iter().cloned().collect() }
    }

    fn extend(&mut self, events: &[Event]) {
        for event in events {
            if self.events.len() == MemoryStore::TAIL
                && let Some(oldest) = self.events.pop_front()
            {
                self.base.apply(&oldest);
            }
            self.events.push_back(event.clone());
        }
    }
}
