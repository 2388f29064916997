//! The open rooms: live ones with an actor, and dormant ones.
//!
//! A room without a game, watchers and requests becomes dormant after `Limits::room_sleep`: its actor ends, and memory
//! keeps only its listing, its join code and its next deadline. The next request, or the deadline, loads it from the
//! journal. Otherwise every open room would keep its state, its mailbox and a task until it closes, and the server
//! would start an actor for each when it starts.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use dashmap::{DashMap, DashSet, Entry};
use foldhash::fast::RandomState;
use tokio::{
    sync::{
        mpsc::{
            self,
            error::{SendTimeoutError, TrySendError},
        },
        oneshot,
    },
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    actor_cell::ActorCell,
    mailbox::Mailbox,
    message::{Audience, Message, Snapshot, Subscribed, WatchAccess, WatchError},
};
use crate::{
    room::{Command, Issuer, JoinCode, Rejection, Room, RoomId, Seq, Timestamp},
    runtime::{
        lobby::listing::Listing,
        outcome::{Accepted, RoomError},
    },
};

/// Maximum number of messages that wait for one room. If the mailbox is full, callers wait, then fail with `BUSY`.
const MAILBOX_CAPACITY: usize = 32;

/// Maximum time that a caller waits for space in a mailbox.
pub(crate) const MAILBOX_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct RoomHandle {
    mailbox: mpsc::Sender<Box<Message>>,
    /// Owned by the actor's task, so that the actor ends with it.
    cell: Weak<ActorCell>,
}

impl RoomHandle {
    pub(crate) async fn command(&self, issuer: Issuer, command: Command) -> Result<Accepted, RoomError> {
        self.ask(|reply| Message::Command(issuer, command, Instant::now(), reply)).await?
    }

    /// As [`RoomHandle::command`], run inline if the actor is idle. None when the mailbox is full or closed.
    pub(crate) fn command_inline(
        &self,
        issuer: Issuer,
        command: Command,
    ) -> Option<oneshot::Receiver<Result<Accepted, RoomError>>> {
        let (reply, answer) = oneshot::channel();
        let message = Box::new(Message::Command(issuer, command, Instant::now(), reply));
        self.cell.upgrade()?.send(&self.mailbox, message).ok()?;
        Some(answer)
    }

    pub(crate) async fn snapshot(&self, audience: Audience) -> Result<Snapshot, RoomError> {
        self.ask(|reply| Message::Snapshot(audience, reply)).await
    }

    pub(crate) async fn subscribe(&self, access: WatchAccess, after: Option<Seq>) -> Result<Subscribed, WatchError> {
        self.ask(|reply| Message::Subscribe(access, after, reply)).await?
    }

    /// Sends a message, waiting up to [`MAILBOX_TIMEOUT`] for space in the mailbox.
    pub(crate) async fn send(&self, message: Message) -> Result<(), RoomError> {
        // Boxed, so that the common case stays small.
        let sent = match self.try_send(message) {
            Err(TrySendError::Full(message)) => Box::pin(self.mailbox.send_timeout(message, MAILBOX_TIMEOUT)).await,
            Err(TrySendError::Closed(message)) => Err(SendTimeoutError::Closed(message)),
            Ok(()) => Ok(()),
        };
        sent.map_err(|error| match error {
            SendTimeoutError::Timeout(_) => RoomError::Busy,
            SendTimeoutError::Closed(_) => RoomError::Rejected(Rejection::RoomClosed),
        })
    }

    pub(crate) fn try_send(&self, message: Message) -> Result<(), TrySendError<Box<Message>>> {
        self.mailbox.try_send(Box::new(message))
    }

    /// Waits for space in the mailbox without a time limit; none when the actor has ended.
    pub(crate) async fn reserve(&self) -> Option<mpsc::Permit<'_, Box<Message>>> {
        self.mailbox.reserve().await.ok()
    }

    async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Result<T, RoomError> {
        let (reply, answer) = oneshot::channel();
        self.send(message(reply)).await?;
        // An actor answers every message unless it panics; the next call then loads the room again.
        answer.await.map_err(|_| RoomError::StoreUnavailable)
    }
}

/// The parts of a new actor.
pub(crate) struct NewActor {
    pub(super) listing: Listing,
    pub(super) was_dormant: bool,
    pub(super) registration: Registration,
    pub(super) cell: Arc<ActorCell>,
    pub(super) mailbox: Mailbox,
}

enum Slot {
    /// The room has an actor.
    Live {
        generation: u64,
        handle: RoomHandle,
        /// Ends the actor when the room moves to another node.
        stop: CancellationToken,
    },
    /// In the journal, with only the listing in memory.
    Dormant {
        listing: Listing,
        /// Its next deadline.
        due: Option<Timestamp>,
    },
}

/// The open rooms.
#[derive(Default)]
pub(crate) struct Registry {
    slots: DashMap<RoomId, Slot, RandomState>,
    codes: DashMap<JoinCode, RoomId>,
    /// Rooms whose first events are being written. Only their creation starts their actors. Otherwise a room that was
    /// loaded and closed meanwhile would be open again.
    creating: DashSet<RoomId, RandomState>,
    /// The mirrors of rooms of other nodes.
    mirrors: DashMap<(RoomId, Audience), (u64, RoomHandle), RandomState>,
    generations: AtomicU64,
    games: AtomicUsize,
    /// Rooms and tournaments that are not yet credited with the server's downtime.
    pub(crate) uncredited: AtomicUsize,
}

impl Registry {
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// The number of running games in live rooms.
    pub(crate) fn games(&self) -> usize {
        self.games.load(Relaxed)
    }

    /// The live rooms.
    pub(crate) fn all_live(&self, is_asked: impl Fn(RoomId) -> bool) -> Vec<RoomHandle> {
        let live = |slot: &Slot| match slot {
            Slot::Live { handle, .. } => Some(handle.clone()),
            Slot::Dormant { .. } => None,
        };
        let asked = self.slots.iter().filter(|slot| is_asked(*slot.key()));
        let found = asked.filter_map(|slot| Some((*slot.key(), live(slot.value())?)));
        let mut found: Vec<_> = found.collect();
        // The map's order differs between processes.
        found.sort_unstable_by_key(|(room, _)| *room);
        found.into_iter().map(|(_, handle)| handle).collect()
    }

    /// Notes that a room is being created, until the result is dropped; none if it is noted already.
    pub(super) fn create(self: &Arc<Self>, room: RoomId) -> Option<CreatedRoom> {
        self.creating.insert(room).then(|| CreatedRoom { registry: Arc::clone(self), room })
    }

    pub(super) fn is_being_created(&self, room: RoomId) -> bool {
        self.creating.contains(&room)
    }

    pub(crate) fn by_code(&self, code: JoinCode) -> Option<RoomId> {
        self.codes.get(&code).map(|room| *room)
    }

    pub(crate) fn live(&self, room: RoomId) -> Option<RoomHandle> {
        match &*self.slots.get(&room)? {
            Slot::Live { handle, .. } => Some(handle.clone()),
            Slot::Dormant { .. } => None,
        }
    }

    /// The handle of a room and, unless it has an actor, the parts of a new one, which the caller must start. `list`
    /// creates the listing of a room that is not dormant.
    pub(crate) fn register(
        self: &Arc<Self>,
        room: &Room,
        stop: CancellationToken,
        list: impl FnOnce() -> Listing,
    ) -> (RoomHandle, Option<NewActor>) {
        let entry = self.slots.entry(room.id());
        if let Entry::Occupied(slot) = &entry
            && let Slot::Live { handle, .. } = slot.get()
        {
            return (handle.clone(), None);
        }
        let generation = self.generations.fetch_add(1, Relaxed);
        let (sender, messages) = mpsc::channel(MAILBOX_CAPACITY);
        let mailbox = Mailbox::new(messages, stop.clone());
        let cell = Arc::new(ActorCell::new(Arc::clone(mailbox.gate.signal())));
        let handle = RoomHandle { mailbox: sender, cell: Arc::downgrade(&cell) };
        let live = Slot::Live { generation, handle: handle.clone(), stop };
        let dormant = match entry {
            Entry::Occupied(mut slot) => match slot.insert(live) {
                Slot::Dormant { listing, .. } => Some(listing),
                Slot::Live { .. } => None,
            },
            Entry::Vacant(slot) => {
                self.codes.insert(room.code(), room.id());
                slot.insert(live);
                None
            }
        };
        let was_dormant = dormant.is_some();
        let listing = dormant.unwrap_or_else(list);
        let registration =
            Registration { registry: Arc::clone(self), room: room.id(), generation, counted_as_game: false };
        (handle, Some(NewActor { listing, was_dormant, registration, cell, mailbox }))
    }

    pub(crate) fn register_dormant(&self, room: &Room, listing: Listing) {
        self.codes.insert(room.code(), room.id());
        self.slots.insert(room.id(), Slot::Dormant { listing, due: room.deadline() });
    }

    /// Dormant rooms whose deadline has passed.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<RoomId> {
        let is_due = |slot: &Slot| matches!(slot, Slot::Dormant { due, .. } if due.is_some_and(|due| due <= now));
        let mut found: Vec<_> = self.slots.iter().filter(|slot| is_due(slot.value())).map(|slot| *slot.key()).collect();
        // The map's order differs between processes.
        found.sort_unstable();
        found
    }

    /// Ends the actors of rooms that have moved to other nodes, and forgets the dormant ones.
    pub(crate) fn release(&self, has_moved: impl Fn(RoomId) -> bool) {
        let mut live = Vec::new();
        self.slots.retain(|room, slot| match slot {
            Slot::Live { stop, .. } => {
                live.extend(has_moved(*room).then(|| (*room, stop.clone())));
                true
            }
            Slot::Dormant { .. } => !has_moved(*room),
        });
        // The map's order differs between processes.
        live.sort_unstable_by_key(|(room, _)| *room);
        live.iter().for_each(|(_, stop)| stop.cancel());
        self.codes.retain(|_, room| !has_moved(*room));
    }

    /// Ends the actor of a room that has moved to another node.
    pub(crate) fn release_one(&self, room: RoomId) {
        if let Some(slot) = self.slots.get(&room)
            && let Slot::Live { stop, .. } = slot.value()
        {
            stop.cancel();
        }
    }

    /// True if any of these rooms has an actor.
    pub(crate) fn any_live(&self, is_asked: impl Fn(RoomId) -> bool) -> bool {
        self.slots.iter().any(|slot| is_asked(*slot.key()) && matches!(slot.value(), Slot::Live { .. }))
    }

    /// The room, or its mirror.
    pub(crate) fn watched(&self, room: RoomId) -> Option<RoomHandle> {
        self.live(room).or_else(|| self.mirror(room, Audience::Live))
    }

    pub(crate) fn mirror(&self, room: RoomId, audience: Audience) -> Option<RoomHandle> {
        self.mirrors.get(&(room, audience)).map(|mirror| mirror.1.clone())
    }

    /// The handle of a mirror and, unless there was one, the parts of a new one, which the caller must start.
    pub(super) fn register_mirror(
        self: &Arc<Self>,
        mirrored: (RoomId, Audience),
        stop: CancellationToken,
    ) -> (RoomHandle, Option<NewMirror>) {
        let slot = match self.mirrors.entry(mirrored) {
            Entry::Occupied(mirror) => return (mirror.get().1.clone(), None),
            Entry::Vacant(slot) => slot,
        };
        let generation = self.generations.fetch_add(1, Relaxed);
        let (sender, messages) = mpsc::channel(MAILBOX_CAPACITY);
        // It is never run by callers.
        let handle = RoomHandle { mailbox: sender, cell: Weak::new() };
        slot.insert((generation, handle.clone()));
        let registration = MirrorRegistration { registry: Arc::clone(self), mirrored, generation };
        (handle, Some(NewMirror { registration, mailbox: Mailbox::new(messages, stop) }))
    }

    pub(crate) fn remove_code(&self, code: JoinCode) {
        self.codes.remove(&code);
    }
}

/// A room that is being created.
pub(super) struct CreatedRoom {
    registry: Arc<Registry>,
    room: RoomId,
}

impl Drop for CreatedRoom {
    fn drop(&mut self) {
        self.registry.creating.remove(&self.room);
    }
}

/// The parts of a new mirror.
pub(super) struct NewMirror {
    pub(super) registration: MirrorRegistration,
    pub(super) mailbox: Mailbox,
}

/// A mirror's entry, removed when it is dropped.
pub(super) struct MirrorRegistration {
    registry: Arc<Registry>,
    mirrored: (RoomId, Audience),
    generation: u64,
}

impl MirrorRegistration {
    /// Removes the entry unless a caller may be about to send a message, and returns whether it did.
    pub(super) fn remove_if_idle(&self, mailbox: &Mailbox) -> bool {
        // The slot is locked, so no caller can get a handle; the only one is the slot's own.
        let is_idle = |generation: u64| generation == self.generation && mailbox.is_idle();
        self.registry.mirrors.remove_if(&self.mirrored, |_, (generation, _)| is_idle(*generation)).is_some()
    }
}

impl Drop for MirrorRegistration {
    fn drop(&mut self) {
        self.registry.mirrors.remove_if(&self.mirrored, |_, (generation, _)| *generation == self.generation);
    }
}

/// A live actor's entry, removed when the actor ends or panics.
pub(crate) struct Registration {
    registry: Arc<Registry>,
    room: RoomId,
    generation: u64,
    counted_as_game: bool,
}

impl Registration {
    /// Counts the room's game while it runs.
    pub(crate) fn count_game(&mut self, is_running: bool) {
        if is_running != self.counted_as_game {
            self.counted_as_game = is_running;
            if is_running {
                self.registry.games.fetch_add(1, Relaxed);
            } else {
                self.registry.games.fetch_sub(1, Relaxed);
            }
        }
    }

    /// Makes the room dormant; false when a caller may be about to send a message.
    pub(super) fn make_dormant(&self, room: &Room, listing: &mut Listing, mailbox: &Mailbox) -> bool {
        let Entry::Occupied(mut slot) = self.registry.slots.entry(self.room) else { return false };
        let is_released = matches!(slot.get(), Slot::Live { stop, .. } if stop.is_cancelled());
        // The slot is locked, so no caller can get a handle; the only one is the slot's own.
        if !mailbox.is_idle() || !self.owns(slot.get()) || is_released {
            return false;
        }
        slot.insert(Slot::Dormant { listing: listing.hand_over(), due: room.deadline() });
        true
    }

    /// Removes the entry, unless a newer actor of the room has replaced it.
    pub(crate) fn remove(&mut self) {
        self.registry.slots.remove_if(&self.room, |_, slot| self.owns(slot));
        self.count_game(false);
    }

    fn owns(&self, slot: &Slot) -> bool {
        matches!(slot, Slot::Live { generation, .. } if *generation == self.generation)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.remove();
    }
}
