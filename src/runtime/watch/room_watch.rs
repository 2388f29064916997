//! The stream of one room's events, for one watcher.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep_until},
};

use super::{
    feed::{Feed, subscribe},
    open_stream::OpenStream,
};
use crate::{
    room::{Rejection, RoomId, Seq},
    runtime::{
        outcome::{RoomError, StreamEnd},
        player::player::Player,
        reusable_wait::Cancelled,
        room::{
            encoded_event::{Effect, EncodedEvent},
            host::RoomHost,
            message::{Audience, Snapshot, WatchAccess, WatchError},
        },
        server_metrics::{self, StreamKind},
    },
};

/// Minimum time between two snapshots with [`WatchStart::SnapshotsOnly`]. A snapshot costs the room and the watcher's
/// task as much as many events.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(250);

/// The first update of a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchStart {
    /// A snapshot, then events.
    Snapshot,
    /// The events after this one. A snapshot if they are no longer stored, or a line of chat among them was removed.
    After(Seq),
    /// A snapshot, then another one after each change.
    SnapshotsOnly,
}

/// An update of a watched room.
#[derive(Clone, Debug)]
pub enum Update {
    /// The current state of the room.
    Snapshot(Snapshot),
    /// The next event, encoded.
    Event(Bytes),
}

/// One watcher of a room.
pub struct Watch {
    open: OpenStream,
    streams_end: Cancelled,
    room: RoomId,
    access: WatchAccess,
    /// True if a snapshot is sent instead of each event.
    snapshots_only: bool,
    /// True if an event was received and its snapshot is not sent yet.
    outdated: bool,
    /// The earliest time of the next snapshot.
    next_snapshot: Option<Instant>,
    feed: Feed,
    /// An event that may have ended the player's access. Access is checked before the event is sent.
    unchecked: Option<EncodedEvent>,
    /// Why the stream ends after the last event. `None` while it goes on.
    ended: Option<StreamEnd>,
}

impl Watch {
    pub(crate) async fn open(
        host: &RoomHost,
        player: &Arc<Player>,
        room: RoomId,
        access: WatchAccess,
        start: WatchStart,
    ) -> Result<Self, RoomError> {
        let open = OpenStream::new(host, player, StreamKind::Room)?;
        let (after, snapshots_only) = match start {
            WatchStart::Snapshot => (None, false),
            WatchStart::After(seq) => (Some(seq), false),
            WatchStart::SnapshotsOnly => (None, true),
        };
        let feed = subscribe(host, room, &access, after).await?;
        let streams_end = Cancelled::new(player.streams_end.clone());
        Ok(Self {
            open,
            streams_end,
            room,
            access,
            snapshots_only,
            outdated: false,
            next_snapshot: None,
            feed,
            unchecked: None,
            ended: None,
        })
    }

    /// The next update. Cancel safe.
    ///
    /// # Errors
    /// Why the stream has ended.
    pub async fn next(&mut self) -> Result<Update, StreamEnd> {
        if !self.outdated {
            let update = self.next_update().await?;
            self.outdated = self.snapshots_only && matches!(update, Update::Event(_));
            if !self.outdated {
                return Ok(update);
            }
        }
        if let Some(end) = self.ended {
            return Err(end);
        }
        if let Some(next) = self.next_snapshot {
            tokio::select! {
                biased;
                () = sleep_until(next) => {}
                () = self.streams_end.wait() => return Err(self.open.why_ended()),
            }
        }
        let (snapshot, _) = self.check_access().await?;
        self.outdated = false;
        self.next_snapshot = Some(Instant::now() + SNAPSHOT_INTERVAL);
        // The snapshot includes all events until now.
        self.feed.missed.clear();
        self.feed.seq = snapshot.room.seq();
        Ok(Update::Snapshot(snapshot))
    }

    async fn next_update(&mut self) -> Result<Update, StreamEnd> {
        loop {
            if let Some(snapshot) = self.feed.snapshot.take() {
                return Ok(Update::Snapshot(snapshot));
            }
            if let Some(end) = self.ended {
                return Err(end);
            }
            if let Some(event) = self.feed.missed.pop_front() {
                // Access was checked after this event, so only the closing of the room can end the stream.
                self.feed.seq = event.seq;
                self.ended = (event.effect == Effect::Closed).then_some(StreamEnd::RoomClosed);
                return Ok(Update::Event(event.bytes_for(self.open.player.id())));
            }
            if let Some(event) = self.unchecked.clone() {
                let (_, audience) = self.check_access().await?;
                self.unchecked = None;
                if audience == self.audience() {
                    return Ok(self.pass_on(event));
                }
                self.catch_up(Some(self.feed.seq)).await?;
                continue;
            }
            let received = tokio::select! {
                biased;
                received = self.feed.events.recv() => received,
                live = next_live(&mut self.feed.live) => {
                    self.follow_live(live).await?;
                    continue;
                }
                () = self.streams_end.wait() => return Err(self.open.why_ended()),
            };
            match received {
                Ok(event) if event.effect == Effect::RolledBack => self.feed.seq = Seq(0),
                Ok(event) if event.seq <= self.feed.seq => {}
                // Events are missing: an earlier call of `next` was cancelled while it caught up.
                Ok(event) if event.seq != self.feed.seq.next() => self.catch_up(Some(self.feed.seq)).await?,
                Ok(event) => {
                    if !self.affects_access(event.effect) {
                        return Ok(self.pass_on(event));
                    }
                    self.unchecked = Some(event);
                }
                Err(RecvError::Lagged(_)) => {
                    server_metrics::lagged();
                    self.catch_up(None).await?;
                }
                // The actor has ended.
                Err(RecvError::Closed) => match self.open.player.stream_end() {
                    Some(end) => return Err(end),
                    None => self.catch_up(Some(self.feed.seq)).await?,
                },
            }
        }
    }

    /// Ends the stream, or goes on as the room as it is demands, without a delay.
    async fn follow_live(&mut self, live: Result<EncodedEvent, RecvError>) -> Result<(), StreamEnd> {
        match live {
            Ok(event) if event.effect == Effect::Removed(self.open.player.id()) => Err(StreamEnd::Kicked),
            Ok(event) if event.effect != Effect::RolledBack && !self.affects_access(event.effect) => Ok(()),
            Ok(_) | Err(_) => self.catch_up(Some(self.feed.seq)).await,
        }
    }

    fn audience(&self) -> Audience {
        if self.feed.live.is_some() { Audience::Delayed } else { Audience::Live }
    }

    fn pass_on(&mut self, event: EncodedEvent) -> Update {
        self.feed.seq = event.seq;
        self.ended = match event.effect {
            Effect::Removed(player) if player == self.open.player.id() => Some(StreamEnd::Kicked),
            Effect::Closed => Some(StreamEnd::RoomClosed),
            Effect::None | Effect::Access | Effect::Removed(_) | Effect::Left(_) | Effect::RolledBack => None,
        };
        Update::Event(event.bytes_for(self.open.player.id()))
    }

    fn affects_access(&self, effect: Effect) -> bool {
        match effect {
            Effect::Access => true,
            Effect::Left(player) => player == self.open.player.id(),
            Effect::None | Effect::Removed(_) | Effect::Closed | Effect::RolledBack => false,
        }
    }

    /// The current snapshot, if the player may still watch the room, and whether it is delayed.
    async fn check_access(&mut self) -> Result<(Snapshot, Audience), StreamEnd> {
        tokio::select! {
            biased;
            may = self.open.host.watched(self.room, &self.access) => may.map_err(end_of),
            () = self.streams_end.wait() => Err(self.open.why_ended()),
        }
    }

    async fn catch_up(&mut self, after: Option<Seq>) -> Result<(), StreamEnd> {
        self.feed = tokio::select! {
            biased;
            feed = subscribe(&self.open.host, self.room, &self.access, after) => feed.map_err(end_of)?,
            () = self.streams_end.wait() => return Err(self.open.why_ended()),
        };
        Ok(())
    }
}

async fn next_live(live: &mut Option<broadcast::Receiver<EncodedEvent>>) -> Result<EncodedEvent, RecvError> {
    match live {
        Some(live) => live.recv().await,
        None => std::future::pending().await,
    }
}

/// Why a stream ends after this error.
fn end_of(error: WatchError) -> StreamEnd {
    match error {
        WatchError::Access(Rejection::RoomClosed) => StreamEnd::RoomClosed,
        // A room that was made private is hidden from strangers, but still open.
        WatchError::Access(_) => StreamEnd::Kicked,
        WatchError::Room(RoomError::Draining) => StreamEnd::Draining,
        WatchError::Room(RoomError::Rejected(_)) => StreamEnd::RoomClosed,
        WatchError::Outdated | WatchError::Room(_) => StreamEnd::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_reason() {
        let room = |error: RoomError| end_of(error.into());
        assert_eq!(room(RoomError::Unreachable), StreamEnd::Unavailable);
        assert_eq!(room(RoomError::StoreUnavailable), StreamEnd::Unavailable);
        assert_eq!(room(RoomError::Draining), StreamEnd::Draining);
        assert_eq!(room(Rejection::RoomNotFound.into()), StreamEnd::RoomClosed);
        assert_eq!(end_of(WatchError::Outdated), StreamEnd::Unavailable);
        assert_eq!(end_of(WatchError::Access(Rejection::RoomNotFound)), StreamEnd::Kicked);
    }
}
