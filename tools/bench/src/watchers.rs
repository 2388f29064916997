//! The watchers of one room: each event is checked for the first watcher and compared byte by byte for the others.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::{Buf as _, Bytes};
use prost::{Message as _, encoding::decode_varint};
use reversi::proto::{RawCodec, v1};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{client::Grpc, codegen::http::uri::PathAndQuery};
use v1::watch_room_response::Message;

use crate::{connection::BenchPlayer, counters::Counters, violation::Violation, watcher_check::WatcherCheck};

/// Number of events that are compared for slow watchers; older ones are not.
const KEPT_EVENTS: usize = 4_096;

pub(crate) struct WatchedRoom {
    room: String,
    watchers: usize,
    /// Whether each move waits until all watchers have the last one.
    in_step: bool,
    counters: Arc<Counters>,
    events: Mutex<RoomEvents>,
    /// Number of moves that all watchers have received.
    complete: watch::Sender<u64>,
    /// Number of watchers that have received the room.
    started: watch::Sender<usize>,
}

#[derive(Default)]
struct RoomEvents {
    check: WatcherCheck,
    /// Ply and time of the moves sent to the server and not received yet.
    sent: VecDeque<(i32, Instant)>,
    /// Events that not all watchers have received.
    open: VecDeque<PendingEvent>,
}

struct PendingEvent {
    seq: u64,
    wire: Bytes,
    /// Watchers that have not received it.
    missing: usize,
    is_move: bool,
    /// When the move was sent.
    sent: Option<Instant>,
}

impl WatchedRoom {
    pub(crate) fn new(room: String, watchers: usize, in_step: bool, counters: Arc<Counters>) -> Self {
        Self {
            room,
            watchers,
            in_step,
            counters,
            events: Mutex::default(),
            complete: watch::Sender::new(0),
            started: watch::Sender::new(0),
        }
    }

    /// Watches until `stop` or a violation.
    pub(crate) async fn watch(&self, player: BenchPlayer, stop: CancellationToken) -> anyhow::Result<()> {
        let mut grpc = Grpc::new(player.channel.clone());
        grpc.ready().await?;
        let request = v1::WatchRoomRequest { room_id: self.room.clone(), ..Default::default() };
        let request = player.request(Bytes::from(request.encode_to_vec()));
        let path = PathAndQuery::from_static("/reversi.v1.RoomService/WatchRoom");
        let mut stream = grpc.server_streaming(request, path, RawCodec).await?.into_inner();
        let mut last = None;
        while let Some(wire) = stop.run_until_cancelled(stream.message()).await {
            let wire = wire?.ok_or(Violation::Ended)?;
            match event_number(&wire) {
                Some(seq) => {
                    let before = last.ok_or(Violation::Unreadable("an event before the room"))?;
                    if seq != before + 1 {
                        return Err(Violation::Gap { expected: before + 1, came: seq }.into());
                    }
                    last = Some(seq);
                    self.receive(seq, wire)?;
                }
                None => self.on_other_message(wire, &mut last)?,
            }
        }
        Ok(())
    }

    pub(crate) async fn all_started(&self) {
        // Cannot fail: `self` holds the sender.
        let _ = self.started.subscribe().wait_for(|&started| started >= self.watchers).await;
    }

    /// Waits until the next move, after `made` others, may be sent, and records its time.
    pub(crate) async fn before_move(&self, made: u64, ply: u16) {
        if self.in_step {
            let _ = self.complete.subscribe().wait_for(|&complete| complete >= made).await;
        }
        let mut events = self.lock();
        if events.sent.len() == KEPT_EVENTS {
            events.sent.pop_front();
        }
        events.sent.push_back((ply.into(), Instant::now()));
    }

    /// Whether all watchers have received every move.
    pub(crate) fn is_complete(&self) -> bool {
        let events = self.lock();
        events.sent.is_empty() && events.open.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, RoomEvents> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn on_other_message(&self, wire: Bytes, last: &mut Option<u64>) -> Result<(), Violation> {
        let message =
            v1::WatchRoomResponse::decode(wire).map_err(|_| Violation::Unreadable("a message to a watcher"))?;
        match message.message {
            Some(Message::Snapshot(room)) => {
                if last.is_none() {
                    self.started.send_modify(|started| *started += 1);
                } else if self.in_step {
                    return Err(Violation::Overtaken);
                } else {
                    self.counters.count(|counters| &counters.snapshots);
                }
                *last = Some(room.seq);
                let mut events = self.lock();
                if room.seq > events.check.seq {
                    // The skipped events are not checked for other watchers.
                    events.open.clear();
                    events.sent.clear();
                    events.check.start_at(&room)?;
                }
                Ok(())
            }
            Some(Message::Heartbeat(_)) => Ok(()),
            Some(Message::Closing(closing)) => Err(Violation::Closed(closing.reason().as_str_name().to_owned())),
            Some(Message::Event(_)) | None => Err(Violation::Unreadable("a message to a watcher")),
        }
    }

    fn receive(&self, seq: u64, wire: Bytes) -> Result<(), Violation> {
        self.counters.count(|counters| &counters.deliveries);
        let mut events = self.lock();
        if seq == events.check.seq + 1 {
            let entry = events.first(seq, wire.clone(), self.watchers)?;
            events.open.push_back(entry);
            if events.open.len() > KEPT_EVENTS {
                events.open.pop_front();
            }
        }
        let Some(first) = events.open.front().map(|entry| entry.seq).filter(|&first| first <= seq) else {
            return Ok(());
        };
        let index = usize::try_from(seq - first).unwrap_or(usize::MAX);
        let Some(entry) = events.open.get_mut(index) else { return Ok(()) };
        if entry.wire != wire {
            return Err(Violation::Differs(seq));
        }
        entry.missing = entry.missing.saturating_sub(1);
        if entry.missing == 0 && entry.is_move {
            self.complete.send_modify(|complete| *complete += 1);
            if let Some(sent) = entry.sent {
                self.counters.record(|counters| &counters.last_watchers, sent.elapsed());
            }
        }
        while events.open.front().is_some_and(|entry| entry.missing == 0) {
            events.open.pop_front();
        }
        Ok(())
    }
}

impl RoomEvents {
    /// Checks an event that no watcher had before.
    fn first(&mut self, seq: u64, wire: Bytes, missing: usize) -> Result<PendingEvent, Violation> {
        let read = v1::WatchRoomResponse::decode(wire.clone()).ok().and_then(|message| message.message);
        let Some(Message::Event(event)) = read else { return Err(Violation::Unreadable("an event")) };
        let ply = self.check.step(&event)?;
        let mut sent = None;
        if let Some(ply) = ply {
            while let Some((of, at)) = self.sent.pop_front() {
                if of == ply {
                    sent = Some(at);
                    break;
                }
            }
        }
        Ok(PendingEvent { seq, wire, missing, is_move: ply.is_some(), sent })
    }
}

/// The number of an event, its first field; `None` for other messages.
fn event_number(wire: &Bytes) -> Option<u64> {
    const EVENT: u8 = 2 << 3 | 2;
    const SEQ: u8 = 1 << 3;
    let mut wire = wire.clone();
    (wire.try_get_u8().ok()? == EVENT).then_some(())?;
    decode_varint(&mut wire).ok()?;
    (wire.try_get_u8().ok()? == SEQ).then_some(())?;
    decode_varint(&mut wire).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixed_game::FixedGame, prepared_messages::PreparedMessages};

    /// A room with two watchers, and its messages.
    fn two() -> (WatchedRoom, Vec<Bytes>) {
        let prepared = PreparedMessages::new(&FixedGame::new()).unwrap();
        let steps = std::iter::once(&prepared.opening).chain(&prepared.steps);
        let events = (1..).zip(steps.flat_map(|step| &step.events)).map(|(seq, event)| event.numbered(seq)).collect();
        let watched_room = WatchedRoom::new(prepared.room, 2, true, Arc::new(Counters::new(None)));
        (watched_room, events)
    }

    #[tokio::test]
    async fn a_move_is_complete_when_all_watchers_have_it() {
        let (watched_room, events) = two();
        watched_room.before_move(0, 0).await;
        for wire in events {
            let seq = event_number(&wire).unwrap();
            watched_room.receive(seq, wire.clone()).unwrap();
            let complete = *watched_room.complete.borrow();
            watched_room.receive(seq, wire).unwrap();
            let now = *watched_room.complete.borrow();
            assert!(now == complete || now == complete + 1 && watched_room.is_complete());
        }
        assert_eq!(*watched_room.complete.borrow(), FixedGame::new().turns.len() as u64);
    }

    #[test]
    fn a_different_message_to_one_watcher_is_detected() {
        let (watched_room, events) = two();
        let mut other = events[0].to_vec();
        *other.last_mut().unwrap() ^= 1;
        watched_room.receive(1, events[0].clone()).unwrap();
        assert_eq!(watched_room.receive(1, other.into()), Err(Violation::Differs(1)));
    }

    #[test]
    fn a_move_is_not_complete_while_a_watcher_lacks_it() {
        let (watched_room, events) = two();
        watched_room.receive(1, events[0].clone()).unwrap();
        assert!(!watched_room.is_complete());
        watched_room.receive(1, events[0].clone()).unwrap();
        assert!(watched_room.is_complete());
    }

    #[test]
    fn a_watcher_that_skips_events_is_detected_in_step() {
        let (watched_room, _) = two();
        let room = |seq| {
            let message = Message::Snapshot(v1::Room { seq, ..Default::default() });
            Bytes::from(v1::WatchRoomResponse { message: Some(message) }.encode_to_vec())
        };
        let mut last = None;
        watched_room.on_other_message(room(3), &mut last).unwrap();
        assert_eq!(last, Some(3));
        assert_eq!(watched_room.on_other_message(room(9), &mut last), Err(Violation::Overtaken));
    }
}
