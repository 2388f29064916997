//! The tournaments of this node that have not ended, and what their rooms tell them.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
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
    runtime::outcome::RoomError,
    tournament::{Command, Tournament},
};

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
pub(crate) struct TournamentRegistry(DashMap<TournamentId, TournamentHandle>);

impl TournamentRegistry {
    pub(super) fn get(&self, id: TournamentId) -> Option<TournamentHandle> {
        self.0.get(&id).map(|handle| handle.clone())
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
        match self.0.entry(id) {
            dashmap::Entry::Occupied(_) => false,
            dashmap::Entry::Vacant(entry) => {
                entry.insert(handle());
                true
            }
        }
    }

    /// Removes a tournament whose actor has ended.
    pub(super) fn remove(&self, id: TournamentId, ended: &mpsc::Sender<TournamentCall>) {
        self.0.remove_if(&id, |_, handle| handle.mailbox.same_channel(ended));
    }

    /// Tells a tournament that a room of it has ended its series or has closed.
    pub(crate) fn room_ended(&self, meeting: MeetingRef) {
        if let Some(handle) = self.0.get(&meeting.tournament) {
            handle.ended_rooms.numbers.lock().unwrap_or_else(PoisonError::into_inner).insert(meeting.number);
            handle.ended_rooms.notify.notify_one();
        }
    }

    /// The number of tournaments, and how many of them a player organises.
    pub(super) fn count(&self, organiser: PlayerId) -> (usize, usize) {
        let own = self.0.iter().filter(|handle| handle.state.borrow().organiser() == organiser).count();
        (self.0.len(), own)
    }

    /// The lost time with which the meetings of all tournaments are credited.
    pub(crate) fn credited(&self) -> i64 {
        self.0.iter().map(|handle| handle.credited.load(Acquire)).min().unwrap_or(i64::MAX)
    }

    /// Ends the actors of tournaments that another node has now. True if any is still there.
    pub(crate) fn release(&self, has_moved: impl Fn(TournamentId) -> bool) -> bool {
        let mut any = false;
        for handle in self.0.iter().filter(|handle| has_moved(*handle.key())) {
            any = true;
            handle.stop.cancel();
        }
        any
    }
}
