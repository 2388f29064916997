//! Which rooms live, and how to reach their actors.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use dashmap::{DashMap, Entry};
use foldhash::fast::RandomState;
use tokio::sync::{
    mpsc::{
        self,
        error::{SendTimeoutError, TrySendError},
    },
    oneshot,
};

use super::{
    actor,
    actor_cell::{Den, Mail},
    message::{Accepted, Message, Snapshot, Subscribed},
    notifier::Teller,
};
use crate::{
    room::{Command, Issuer, JoinCode, Rejection, Room, RoomId, Seq, Timestamp},
    runtime::{
        error::RoomError,
        limit::limits::{MAILBOX, MAILBOX_PATIENCE},
        lobby::listing::Listing,
        server_state::Shared,
    },
};

/// How to talk to one room.
#[derive(Clone)]
pub(crate) struct RoomHandle {
    mailbox: mpsc::Sender<Box<Message>>,
    /// Its task holds it, so that the actor ends with that.
    den: Weak<Den>,
}

impl RoomHandle {
    pub(crate) async fn command(&self, actor: Issuer, command: Command) -> Result<Accepted, RoomError> {
        self.ask(|reply| Message::Command(actor, command, reply)).await?
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot, RoomError> {
        self.ask(Message::Snapshot).await
    }

    pub(crate) async fn subscribe(&self, after: Option<Seq>) -> Result<Subscribed, RoomError> {
        self.ask(|reply| Message::Subscribe(after, reply)).await
    }

    /// Tells without waiting for an answer.
    pub(crate) async fn tell(&self, message: Message) -> Result<(), RoomError> {
        // A timer is made only where there is something to wait for, and lies apart: everybody else's wait is small.
        let sent = match self.try_tell(message) {
            Err(TrySendError::Full(message)) => Box::pin(self.mailbox.send_timeout(message, MAILBOX_PATIENCE)).await,
            Err(TrySendError::Closed(message)) => Err(SendTimeoutError::Closed(message)),
            Ok(()) => Ok(()),
        };
        sent.map_err(|error| match error {
            SendTimeoutError::Timeout(_) => RoomError::Busy,
            SendTimeoutError::Closed(_) => RoomError::Rejected(Rejection::RoomClosed),
        })
    }

    /// Tells at once, or not.
    pub(crate) fn try_tell(&self, message: Message) -> Result<(), TrySendError<Box<Message>>> {
        self.mailbox.try_send(Box::new(message))
    }

    /// Waits for a place in the mailbox as long as it takes; none when the room's actor has ended.
    pub(crate) async fn place(&self) -> Option<mpsc::Permit<'_, Box<Message>>> {
        self.mailbox.reserve().await.ok()
    }

    async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Result<T, RoomError> {
        let (reply, answer) = oneshot::channel();
        self.tell(message(reply)).await?;
        // An actor answers all it has taken in, unless it panics: the next call finds the room read again.
        answer.await.map_err(|_| RoomError::StoreUnavailable)
    }
}

/// What an actor lives by.
pub(crate) struct Life {
    pub(crate) generation: u64,
    pub(crate) den: Arc<Den>,
    pub(crate) mail: Mail,
}

/// Where a room that begins to live comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It has just been made.
    New,
    /// It was read: an earlier actor of it may have ended before its work was done.
    Journal,
    /// It was asleep, and all was in order when it fell asleep.
    Sleep,
    /// It was read when the server started.
    Start {
        /// How long the server was away, in microseconds; negative when its clock was set back.
        away: i64,
    },
}

/// An open room.
enum Slot {
    /// It has an actor.
    Awake { generation: u64, handle: RoomHandle },
    /// It is in the journal, and nothing of it in memory but its line of the list.
    Asleep {
        listing: Listing,
        /// When it wants to be asked.
        wakes: Option<Timestamp>,
    },
}

/// The open rooms.
#[derive(Default)]
pub(crate) struct Registry {
    slots: DashMap<RoomId, Slot, RandomState>,
    codes: DashMap<JoinCode, RoomId>,
    generations: AtomicU64,
}

impl Registry {
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn by_code(&self, code: JoinCode) -> Option<RoomId> {
        self.codes.get(&code).map(|room| *room)
    }

    pub(crate) fn live(&self, room: RoomId) -> Option<RoomHandle> {
        match &*self.slots.get(&room)? {
            Slot::Awake { handle, .. } => Some(handle.clone()),
            Slot::Asleep { .. } => None,
        }
    }

    /// Gives a command to a room that lives and takes it in at once, or has a place for it; none otherwise.
    pub(crate) fn command_now(
        &self,
        room: RoomId,
        actor: Issuer,
        command: Command,
    ) -> Option<oneshot::Receiver<Result<Accepted, RoomError>>> {
        let slot = self.slots.get(&room)?;
        let Slot::Awake { handle, .. } = &*slot else { return None };
        let den = handle.den.upgrade()?;
        // The room may change it.
        drop(slot);
        let (reply, answer) = oneshot::channel();
        if let Err(message) = den.visit(Box::new(Message::Command(actor, command, reply))) {
            self.live(room)?.mailbox.try_send(message).ok()?;
        }
        Some(answer)
    }

    /// Rooms without an actor that want to be asked at this moment.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<RoomId> {
        let due = |slot: &Slot| matches!(slot, Slot::Asleep { wakes, .. } if wakes.is_some_and(|wakes| wakes <= now));
        let mut found: Vec<_> = self.slots.iter().filter(|slot| due(slot.value())).map(|slot| *slot.key()).collect();
        // The map has another order in every process.
        found.sort_unstable();
        found
    }

    /// Ends the life of a room's actor, and keeps the rest of the room; not when somebody could be talking to it.
    pub(crate) fn put_to_sleep(&self, room: &Room, awake: u64, listing: &mut Listing, mail: &Mail) -> bool {
        let Entry::Occupied(mut slot) = self.slots.entry(room.id()) else { return false };
        // The slot is locked, so that nobody else can get a handle now; the one that counts is its own.
        if !mail.is_idle() || !matches!(slot.get(), Slot::Awake { generation, .. } if *generation == awake) {
            return false;
        }
        slot.insert(Slot::Asleep { listing: listing.take(), wakes: room.deadline() });
        true
    }

    /// Takes an actor's entry out, unless a newer one of the same room has taken its place.
    pub(crate) fn remove(&self, room: RoomId, generation: u64) {
        self.slots
            .remove_if(&room, |_, slot| matches!(slot, Slot::Awake { generation: awake, .. } if *awake == generation));
    }

    pub(crate) fn forget_code(&self, code: JoinCode) {
        self.codes.remove(&code);
    }
}

impl Shared {
    /// The actor of a room, made from the journal when the room is open and none lives.
    pub(crate) async fn room(self: &Arc<Self>, id: RoomId) -> Result<RoomHandle, RoomError> {
        if let Some(handle) = self.registry.live(id) {
            return Ok(handle);
        }
        let history = self.store.journal.load(id).await.map_err(|error| {
            tracing::error!(room = %id, %error, "a room cannot be read");
            RoomError::StoreUnavailable
        })?;
        let room = history.ok_or(Rejection::RoomNotFound)?.latest();
        Ok(self.host(room, Origin::Journal))
    }

    /// Gives a room an actor, unless it has one.
    pub(crate) fn host(self: &Arc<Self>, room: Room, origin: Origin) -> RoomHandle {
        let id = room.id();
        match self.registry.slots.entry(id) {
            Entry::Occupied(mut slot) => {
                if let Slot::Awake { handle, .. } = slot.get() {
                    return handle.clone();
                }
                let (awake, handle, life) = self.awaken();
                let slept = slot.insert(awake);
                // Whoever looks up another room must not wait for this one.
                drop(slot);
                if let Slot::Asleep { listing, .. } = slept {
                    actor::spawn(Arc::clone(self), room, Origin::Sleep, listing, life);
                }
                handle
            }
            Entry::Vacant(place) => {
                let (awake, handle, life) = self.awaken();
                self.registry.codes.insert(room.code(), id);
                place.insert(awake);
                let listing = Listing::new(&self.lobby, &room);
                actor::spawn(Arc::clone(self), room, origin, listing, life);
                handle
            }
        }
    }

    /// Keeps a room at rest without an actor.
    pub(crate) fn lay_down(self: &Arc<Self>, room: &Room) {
        Teller::new(self, room).begin_books(Origin::Start { away: 0 });
        self.registry.codes.insert(room.code(), room.id());
        let listing = Listing::new(&self.lobby, room);
        self.registry.slots.insert(room.id(), Slot::Asleep { listing, wakes: room.deadline() });
    }

    fn awaken(&self) -> (Slot, RoomHandle, Life) {
        let generation = self.registry.generations.fetch_add(1, Relaxed);
        let (mailbox, messages) = mpsc::channel(MAILBOX);
        let den = Arc::new(Den::default());
        let handle = RoomHandle { mailbox, den: Arc::downgrade(&den) };
        // A stop of its own, so that rooms do not wait for each other when they ask.
        let mail = den.mail(messages, self.rooms_end.child_token());
        (Slot::Awake { generation, handle: handle.clone() }, handle, Life { generation, den, mail })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use tokio::time::sleep;

    use super::*;
    use crate::{
        room::{Credentials, DisplayName, PlayerKind, SeatSpec, Settings},
        rules::ByColor,
        runtime::{NewRoom, Parts, Player, RowFilter, Runtime},
        store::{MemoryStore, Store},
    };

    /// Ada with a room of her own.
    async fn ada() -> (Runtime, Arc<Player>, RoomId) {
        let parts = Parts { ai_threads: Some(0), ..Parts::new(Store::of(MemoryStore::default()), |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let (ada, _) = runtime.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).await.unwrap();
        let settings = Settings::named((&ada.profile().name).into());
        let seats = ByColor::new(SeatSpec::Me, SeatSpec::Open);
        let room = runtime.create_room(&ada, NewRoom { settings, seats }, None).await.unwrap().room.id();
        (runtime, ada, room)
    }

    async fn pass(runtime: &Runtime) {
        sleep(runtime.limits().room_sleep + Duration::from_secs(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_room_at_rest_leaves_memory_and_comes_back_when_it_is_asked_for() {
        let (runtime, ada, room) = ada().await;
        let open = runtime.turns(&ada).await.unwrap();
        let before = runtime.look(&ada, room, &Credentials::default()).await.unwrap();
        let registry = &runtime.shared.registry;
        assert!(registry.live(room).is_some());
        pass(&runtime).await;
        assert!(registry.live(room).is_none(), "it sleeps");
        assert_eq!((runtime.census().rooms, runtime.rooms(&RowFilter::default(), None, 9).len()), (1, 1));
        assert_eq!((ada.rooms(), runtime.room_by_code(before.room.code())), (vec![room], Some(room)));
        let after = runtime.look(&ada, room, &Credentials::default()).await.unwrap();
        assert_eq!(after.room, before.room);
        assert!(registry.live(room).is_some(), "it is awake");
        drop(open);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_watches_a_room_that_sleeps() {
        let (runtime, ada, room) = ada().await;
        let watch = runtime.watch(&ada, room, Credentials::default(), None).await.unwrap();
        pass(&runtime).await;
        assert!(runtime.shared.registry.live(room).is_some());
        drop(watch);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleeping_room_still_ends_when_its_time_has_come() {
        let (runtime, ada, room) = ada().await;
        let open = runtime.turns(&ada).await.unwrap();
        pass(&runtime).await;
        sleep(runtime.limits().idle_close + Duration::from_secs(60)).await;
        assert_eq!((runtime.census().rooms, ada.rooms()), (0, vec![]), "it was closed as idle");
        let gone = runtime.look(&ada, room, &Credentials::default()).await;
        assert!(matches!(gone, Err(RoomError::Rejected(Rejection::RoomNotFound))));
        drop(open);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleeping_room_loses_a_member_who_is_away_for_too_long() {
        let (runtime, ada, _) = ada().await;
        let open = runtime.turns(&ada).await.unwrap();
        pass(&runtime).await;
        drop(open);
        sleep(runtime.limits().presence_grace * 2).await;
        assert_eq!((runtime.census().rooms, ada.rooms()), (0, vec![]));
    }
}
