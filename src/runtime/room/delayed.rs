//! A room as spectators with a delay see it: its games as they were that time ago.
//!
//! What happens while no game runs passes at once, unless it follows what still waits: a room must be found and entered.

use std::collections::VecDeque;

use super::{
    encoded_event::EncodedEvent,
    message::{Snapshot, Subscribed, WatchAccess, WatchError},
    watchers::Watchers,
};
use crate::{
    room::{Event, Fact, Phase, Room, Seq, Timestamp},
    store::History,
};

/// Maximum number of events that wait: of dozens of fast games. Beyond it they are shown as one new state.
const MOST_WAITING: usize = 4096;
/// Without the texts of chat, of which a minute has few.
const _: () = assert!(MOST_WAITING * size_of::<(Option<Timestamp>, Step)>() <= 1 << 20);

pub(super) struct Delayed {
    room: Room,
    watchers: Watchers,
    /// The steps after `room`, each with the time when it happened; without one if it waits only for those before it.
    waiting: VecDeque<(Option<Timestamp>, Step)>,
}

enum Step {
    Event(Event),
    /// The state after one or more events.
    State(Box<Room>),
}

impl Step {
    fn seq(&self) -> Seq {
        match self {
            Self::Event(event) => event.seq,
            Self::State(room) => room.seq(),
        }
    }
}

impl Delayed {
    /// Shows the room as it is, of which all is public.
    pub(super) fn new(room: Room) -> Self {
        Self { room, watchers: Watchers::default(), waiting: VecDeque::new() }
    }

    /// Shows no game until the first [`Delayed::advance`]. How the room was before `history` is unknown. Without a history,
    /// all up to `latest` waits as long as its last event.
    pub(super) fn restore(history: Option<History>, latest: &Room) -> Self {
        let History { base, events } = history.unwrap_or_else(|| History { base: latest.clone(), events: Vec::new() });
        let happened = base.game().map(|_| base.last_activity());
        let (mut restored, mut room) = (Self::new(base.clone().without_games()), base.clone());
        restored.waiting.push_back((happened, Step::State(Box::new(base))));
        for event in &events {
            let before = room.phase();
            room.apply(event);
            restored.add(event, before, &room);
        }
        restored
    }

    /// Adds an event, with the phase before it and the room after it.
    pub(super) fn add(&mut self, event: &Event, before: Phase, after: &Room) {
        let is_of_game = before == Phase::Playing || after.phase() == Phase::Playing;
        let happened = is_of_game.then_some(event.at);
        if let Fact::ChatRemoved(posted) = event.fact
            && (is_of_game || !self.waiting.is_empty())
        {
            self.remove_chat_line(posted);
        }
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back((happened, Step::Event(event.clone())));
            return;
        }
        match self.waiting.back_mut() {
            Some((last, Step::State(room))) => (*last, **room) = (happened.max(*last), after.clone()),
            _ => self.waiting.push_back((happened, Step::State(Box::new(after.clone())))),
        }
    }

    /// Removes a line of chat at once, before the event that says so is shown.
    fn remove_chat_line(&mut self, posted: Timestamp) {
        for (_, step) in &mut self.waiting {
            match step {
                // It keeps its number: events are numbered without gaps.
                Step::Event(Event { at, fact, .. }) if *at == posted && matches!(fact, Fact::ChatPosted { .. }) => {
                    *fact = Fact::ChatRemoved(posted);
                }
                Step::Event(_) => {}
                Step::State(room) => room.remove_chat_line(posted),
            }
        }
        if self.room.chat().any(|line| line.at == posted) {
            self.room.remove_chat_line(posted);
            // For a snapshot without it.
            self.watchers.roll_back();
        }
    }

    /// Goes on from another state: the store has other events than those that were added, up to now.
    pub(super) fn replace(&mut self, latest: &Room, now: Timestamp) {
        self.waiting.retain(|(_, step)| step.seq() <= latest.seq());
        self.waiting.push_back((Some(now), Step::State(Box::new(latest.clone()))));
        if self.room.seq() > latest.seq() {
            self.room = latest.clone();
            self.watchers.roll_back();
        }
    }

    /// Shows what happened until `until`. Returns whether anything was shown.
    pub(super) fn advance(&mut self, until: Timestamp, encode: impl Fn(&Event, &Room) -> EncodedEvent) -> bool {
        let mut has_advanced = false;
        while let Some((_, step)) = self.waiting.pop_front_if(|(happened, _)| happened.is_none_or(|at| at <= until)) {
            has_advanced = true;
            match step {
                Step::Event(event) => {
                    self.room.apply(&event);
                    self.watchers.outdate();
                    if !self.watchers.is_none() {
                        self.watchers.send(encode(&event, &self.room.with_delayed_clocks()));
                    }
                }
                Step::State(room) => {
                    self.room = *room;
                    self.watchers.restart();
                }
            }
        }
        has_advanced
    }

    /// When the next step happened; `None` if none waits.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.waiting.front().map(|(happened, _)| happened.unwrap_or_default())
    }

    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    pub(super) fn watchers(&mut self) -> &mut Watchers {
        &mut self.watchers
    }

    pub(super) fn is_watched(&self) -> bool {
        !self.watchers.is_none()
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        self.watchers.snapshot(&self.room)
    }

    pub(super) fn subscribe(&mut self, access: &WatchAccess, after: Option<Seq>) -> Result<Subscribed, WatchError> {
        self.watchers.subscribe(&self.room, access, after)
    }

    pub(super) fn last(&mut self, access: &WatchAccess) -> Result<Subscribed, WatchError> {
        self.watchers.last(&self.room, access)
    }
}
