//! The tournaments of this node that have not ended, and what their rooms tell them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering::Acquire},
    },
};

use dashmap::DashMap;
use tokio::sync::{
    Notify,
    mpsc::{self, error::TrySendError},
    oneshot, watch,
};
use tokio_util::sync::CancellationToken;

use crate::{
    room::{Issuer, MeetingRef, PlayerId, TournamentId},
    runtime::{
        limit::client_address::{AddressPermit, ClientAddress, Resource},
        outcome::RoomError,
        player::player::Player,
    },
    tournament::{Command, Tournament},
};

/// Maximum number of tournaments of one organiser that have not ended.
const PER_ORGANISER: usize = 4;

/// Maximum number of tournaments of one node that have not ended.
const PER_NODE: usize = 500;

/// Commands that wait for one tournament.
pub(super) const MAILBOX: usize = 256;

/// A command with the place for the answer: the state after it.
pub(super) struct TournamentCall {
    pub(super) issuer: Issuer,
    pub(super) command: Command,
    pub(super) reply: oneshot::Sender<Result<Arc<Tournament>, RoomError>>,
}

/// The way to the actor of a tournament.
#[derive(Clone)]
pub(crate) struct TournamentHandle {
    pub(super) mailbox: mpsc::Sender<TournamentCall>,
    pub(super) state: watch::Receiver<Arc<Tournament>>,
    pub(super) ended_rooms: Arc<EndedRooms>,
    /// The lost time with which its meetings are credited.
    pub(super) credited: Arc<AtomicI64>,
    /// Ends the actor, for another node to go on.
    pub(super) stop: CancellationToken,
}

/// The meetings whose rooms have ended a series or have closed.
#[derive(Default)]
pub(super) struct EndedRooms {
    /// Their numbers; at most one for each running meeting.
    numbers: Mutex<BTreeSet<u32>>,
    pub(super) notify: Notify,
}

impl EndedRooms {
    pub(super) fn take(&self) -> BTreeSet<u32> {
        std::mem::take(&mut self.numbers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The tournaments that have an actor here.
#[derive(Default)]
pub(crate) struct TournamentRegistry {
    live: DashMap<TournamentId, TournamentHandle>,
    /// Those that were created here, from before they are written until their actors end.
    organised: Mutex<BTreeMap<TournamentId, Organised>>,
}

/// What a tournament counts for.
struct Organised {
    organiser: PlayerId,
    _of_address: Option<AddressPermit>,
}

/// A place for a tournament that is being created. It is given back when this is dropped, unless the tournament has an
/// actor by then.
pub(super) struct ReservedPlace {
    registry: Arc<TournamentRegistry>,
    id: TournamentId,
}

impl Drop for ReservedPlace {
    fn drop(&mut self) {
        if !self.registry.live.contains_key(&self.id) {
            self.registry.organised().remove(&self.id);
        }
    }
}

impl TournamentRegistry {
    fn organised(&self) -> MutexGuard<'_, BTreeMap<TournamentId, Organised>> {
        self.organised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a place for a tournament that is to be created here.
    ///
    /// # Errors
    /// [`RoomError::QuotaTournaments`] when a limit is reached.
    pub(super) fn reserve(self: &Arc<Self>, id: TournamentId, organiser: &Player) -> Result<ReservedPlace, RoomError> {
        let mut organised = self.organised();
        let mut all = organised.len();
        let mut own = organised.values().filter(|one| one.organiser == organiser.id()).count();
        // One that has just been created is in both.
        for live in self.live.iter().filter(|live| !organised.contains_key(live.key())) {
            all += 1;
            own += usize::from(live.state.borrow().organiser() == organiser.id());
        }
        if own >= PER_ORGANISER {
            return Err(RoomError::QuotaTournaments("you organise 4 that are not over; end or cancel one"));
        }
        if all >= PER_NODE {
            return Err(RoomError::QuotaTournaments("the server has as many as it can"));
        }
        let acquire = |home: &Arc<ClientAddress>| {
            let full = RoomError::QuotaTournaments("the players of your address organise as many as they can");
            home.acquire(Resource::Tournaments).ok_or(full)
        };
        let of_address = organiser.quota.home().map(acquire).transpose()?;
        organised.insert(id, Organised { organiser: organiser.id(), _of_address: of_address });
        Ok(ReservedPlace { registry: Arc::clone(self), id })
    }

    pub(super) fn get(&self, id: TournamentId) -> Option<TournamentHandle> {
        self.live.get(&id).map(|handle| handle.clone())
    }

    /// Executes a command in a tournament of this node. Returns the state after it.
    ///
    /// # Errors
    /// Why it was refused, or [`RoomError::Moved`] if the tournament has no actor here.
    pub(crate) async fn command(
        &self,
        id: TournamentId,
        issuer: Issuer,
        command: Command,
    ) -> Result<Arc<Tournament>, RoomError> {
        let live = self.get(id).ok_or(RoomError::Moved)?;
        let (reply, answer) = oneshot::channel();
        match live.mailbox.try_send(TournamentCall { issuer, command, reply }) {
            Ok(()) => answer.await.unwrap_or(Err(RoomError::Moved)),
            Err(TrySendError::Full(_)) => Err(RoomError::Busy),
            Err(TrySendError::Closed(_)) => Err(RoomError::Moved),
        }
    }

    /// Adds a tournament unless it is there.
    pub(super) fn add(&self, id: TournamentId, handle: impl FnOnce() -> TournamentHandle) -> bool {
        match self.live.entry(id) {
            dashmap::Entry::Occupied(_) => false,
            dashmap::Entry::Vacant(entry) => {
                entry.insert(handle());
                true
            }
        }
    }

    /// Removes a tournament whose actor has ended.
    pub(super) fn remove(&self, id: TournamentId, ended: &mpsc::Sender<TournamentCall>) {
        if self.live.remove_if(&id, |_, handle| handle.mailbox.same_channel(ended)).is_some() {
            self.organised().remove(&id);
        }
    }

    /// Tells a tournament that a room of it has ended its series or has closed.
    pub(crate) fn room_ended(&self, meeting: MeetingRef) {
        if let Some(handle) = self.live.get(&meeting.tournament) {
            handle.ended_rooms.numbers.lock().unwrap_or_else(PoisonError::into_inner).insert(meeting.number);
            handle.ended_rooms.notify.notify_one();
        }
    }

    /// The lost time with which the meetings of all tournaments are credited.
    pub(crate) fn credited(&self) -> i64 {
        self.live.iter().map(|handle| handle.credited.load(Acquire)).min().unwrap_or(i64::MAX)
    }

    /// Ends the actors of tournaments that another node has now. True if any is still there.
    pub(crate) fn release(&self, has_moved: impl Fn(TournamentId) -> bool) -> bool {
        let mut any = false;
        for handle in self.live.iter().filter(|handle| has_moved(*handle.key())) {
            any = true;
            handle.stop.cancel();
        }
        any
    }
}
