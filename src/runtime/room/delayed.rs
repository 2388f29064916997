//! A room as spectators with a delay see it: its games as they were that time ago.
//!
//! What happens while no game runs passes at once, unless it follows what still waits: a room must be found and entered. A
//! line of chat is removed at once.

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{
            AiSeat, ChatText, Command, Creation, DisplayName, Issuer, JoinCode, Occupant, PlayerId, PlayerKind, Policy,
            Profile, RoomId, Settings,
        },
        rules::ByColor,
        runtime::room::encoded_event::Effect,
    };

    const DELAY: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Timestamp {
        Timestamp(0).after(Duration::from_secs(seconds))
    }

    /// A room with a delay, in which Ada has begun a game against an AI, and what spectators see of it.
    struct Trial {
        room: Room,
        delayed: Delayed,
    }

    impl Trial {
        fn new() -> Self {
            let name = DisplayName::parse("Ada").unwrap();
            let ada = Profile { id: PlayerId::from_random(1), name, kind: PlayerKind::Human, engine_version: None };
            let ai = AiSeat { kind: "random".into(), level: 1, seed: 1 };
            let creation = Creation {
                id: RoomId::from_random(1),
                code: JoinCode::from_random(1),
                settings: Settings { spectator_delay: DELAY, ..Settings::named((&ada.name).into()) },
                policy: Policy { grace: DELAY, idle_close: DELAY, members: 8 },
                seats: ByColor::new(Occupant::Player(ada.clone()), Occupant::Ai(ai)),
                owner: ada,
                request: None,
                meeting: None,
            };
            let room = Room::new(creation, at(0));
            let mut trial = Self { delayed: Delayed::new(room.clone()), room };
            trial.act(at(0), Command::Start(None));
            trial
        }

        fn act(&mut self, now: Timestamp, command: Command) {
            for event in self.room.decide(now, Issuer::Player(PlayerId::from_random(1)), command).unwrap() {
                let before = self.room.phase();
                self.room.apply(&event);
                self.delayed.add(&event, before, &self.room);
            }
        }

        fn chat(&mut self, now: Timestamp) {
            self.act(now, Command::Chat(ChatText::parse("a word").unwrap()));
        }

        /// Shows what happened until then, as events with the end of the running turn.
        fn advance(&mut self, until: Timestamp) {
            let encode = |_: &Event, room: &Room| format!("{:?}", room.flag_falls()).into();
            self.delayed.advance(until, |event, room| EncodedEvent::new(encode, event, room));
        }
    }

    #[test]
    fn what_is_too_much_to_wait_as_events_is_shown_as_one_state_with_the_last_of_them() {
        let mut trial = Trial::new();
        for _ in 0..MOST_WAITING {
            trial.chat(at(1));
        }
        trial.chat(at(2));
        trial.chat(at(3));
        assert_eq!(trial.delayed.waiting.len(), MOST_WAITING + 1);
        trial.advance(at(2));
        assert_eq!(trial.delayed.next(), Some(at(3)), "the state waits for the last event");
        let removed = trial.room.chat().next().unwrap().at;
        trial.delayed.remove_chat_line(removed);
        trial.advance(at(3));
        trial.room.remove_chat_line(removed);
        assert_eq!((trial.delayed.room(), trial.delayed.next()), (&trial.room, None));
    }

    #[test]
    fn clocks_of_events_run_with_the_delay() {
        let mut trial = Trial::new();
        let mut events = trial.delayed.subscribe(&WatchAccess::Delayed, None).unwrap().events;
        trial.advance(at(0));
        let start: Vec<_> = std::iter::from_fn(|| events.try_recv().ok()).collect();
        let flag = trial.room.flag_falls().map(|flag| flag.after(DELAY));
        let bytes = start.last().cloned().unwrap().bytes_for(PlayerId::from_random(2));
        assert_eq!(bytes, Bytes::from(format!("{flag:?}")));
    }

    /// As after a failover to a database that lacks the last events.
    #[test]
    fn a_room_that_goes_back_is_shown_as_it_is_when_that_is_old_enough() {
        let mut trial = Trial::new();
        trial.chat(at(1));
        let earlier = trial.room.clone();
        trial.chat(at(2));
        trial.chat(at(3));
        trial.advance(at(0));
        let shown = trial.delayed.room().clone();
        trial.delayed.replace(&earlier, at(5));
        assert_eq!(trial.delayed.room(), &shown, "nothing was shown of what is lost");
        trial.advance(at(4));
        assert_eq!(trial.delayed.room(), &earlier);
        assert_eq!(trial.delayed.next(), Some(at(5)), "what else the database has was written at some time until now");
        trial.advance(at(5));

        trial.room = earlier.clone();
        trial.chat(at(6));
        trial.advance(at(6));
        let mut events = trial.delayed.subscribe(&WatchAccess::Delayed, None).unwrap().events;
        trial.delayed.replace(&earlier, at(7));
        assert_eq!(trial.delayed.room(), &earlier, "what was shown is lost");
        assert_eq!(events.try_recv().unwrap().effect, Effect::RolledBack);
    }
}
