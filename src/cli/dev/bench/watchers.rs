//! Those who watch one room, and what they are told: each event is checked once, and compared for all others.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::{Buf as _, Bytes};
use prost::{Message as _, encoding::decode_varint};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{client::Grpc, codegen::http::uri::PathAndQuery};
use v1::watch_room_response::Message;

use super::{connection::Player, counters::Tally, raw_codec::Raw, violation::Fault, watcher_check::Replay};
use crate::proto::v1;

/// Events that are kept for those who are behind. Later they are not compared any more.
const KEPT: usize = 4_096;

/// The watchers of a room.
pub(super) struct Gallery {
    room: String,
    watchers: usize,
    /// Whether each move waits for all of them.
    in_step: bool,
    tally: Arc<Tally>,
    told: Mutex<Told>,
    /// How many moves all of them have.
    complete: watch::Sender<u64>,
    /// How many of them have begun.
    begun: watch::Sender<usize>,
}

/// What the room has told.
#[derive(Default)]
struct Told {
    replay: Replay,
    /// Moves that were sent to the server and not told yet: their plies.
    sent: VecDeque<(i32, Instant)>,
    /// What not all have been told yet.
    open: VecDeque<Entry>,
}

struct Entry {
    seq: u64,
    wire: Bytes,
    /// Watchers who have not been told.
    missing: usize,
    is_move: bool,
    /// When the move was sent.
    sent: Option<Instant>,
}

impl Gallery {
    pub(super) fn new(room: String, watchers: usize, in_step: bool, tally: Arc<Tally>) -> Self {
        Self {
            room,
            watchers,
            in_step,
            tally,
            told: Mutex::default(),
            complete: watch::Sender::new(0),
            begun: watch::Sender::new(0),
        }
    }

    /// Watches until `stop`, or until the server does what it may not.
    pub(super) async fn watch(&self, player: Player, stop: CancellationToken) -> anyhow::Result<()> {
        let mut grpc = Grpc::new(player.channel.clone());
        grpc.ready().await?;
        let request = v1::WatchRoomRequest { room_id: self.room.clone(), ..Default::default() };
        let request = player.request(Bytes::from(request.encode_to_vec()));
        let path = PathAndQuery::from_static("/reversi.v1.RoomService/WatchRoom");
        let mut stream = grpc.server_streaming(request, path, Raw).await?.into_inner();
        let mut last = None;
        loop {
            let wire = tokio::select! {
                wire = stream.message() => wire?.ok_or(Fault::Ended)?,
                () = stop.cancelled() => return Ok(()),
            };
            match event_number(&wire) {
                Some(seq) => {
                    let before = last.ok_or(Fault::Unreadable("an event before the room"))?;
                    if seq != before + 1 {
                        return Err(Fault::Gap { expected: before + 1, came: seq }.into());
                    }
                    last = Some(seq);
                    self.hear(seq, wire)?;
                }
                None => self.begin(wire, &mut last)?,
            }
        }
    }

    /// Waits until all watchers have begun.
    pub(super) async fn all_begun(&self) {
        // It lives as long as this.
        let _ = self.begun.subscribe().wait_for(|&begun| begun >= self.watchers).await;
    }

    /// Waits until it is time for a move, of which there were so many before, and notes it.
    pub(super) async fn before_move(&self, made: u64, ply: u16) {
        if self.in_step {
            let _ = self.complete.subscribe().wait_for(|&complete| complete >= made).await;
        }
        let mut told = self.lock();
        if told.sent.len() == KEPT {
            told.sent.pop_front();
        }
        told.sent.push_back((ply.into(), Instant::now()));
    }

    /// Whether every move was told to all.
    pub(super) fn is_settled(&self) -> bool {
        let told = self.lock();
        told.sent.is_empty() && told.open.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is no event.
    fn begin(&self, wire: Bytes, last: &mut Option<u64>) -> Result<(), Fault> {
        let message = v1::WatchRoomResponse::decode(wire).map_err(|_| Fault::Unreadable("what a watcher was told"))?;
        match message.message {
            Some(Message::Snapshot(room)) => {
                if last.is_none() {
                    self.begun.send_modify(|begun| *begun += 1);
                } else if self.in_step {
                    return Err(Fault::Overtaken);
                } else {
                    self.tally.count(|tally| &tally.snapshots);
                }
                *last = Some(room.seq);
                let mut told = self.lock();
                if room.seq > told.replay.seq {
                    // What lies between is not told to this one, and to others without a check.
                    told.open.clear();
                    told.sent.clear();
                    told.replay.begin(&room)?;
                }
                Ok(())
            }
            Some(Message::Heartbeat(_)) => Ok(()),
            Some(Message::Closing(closing)) => Err(Fault::Closed(closing.reason().as_str_name().to_owned())),
            Some(Message::Event(_)) | None => Err(Fault::Unreadable("what a watcher was told")),
        }
    }

    fn hear(&self, seq: u64, wire: Bytes) -> Result<(), Fault> {
        self.tally.count(|tally| &tally.deliveries);
        let mut told = self.lock();
        if seq == told.replay.seq + 1 {
            let entry = told.first(seq, wire.clone(), self.watchers)?;
            told.open.push_back(entry);
            if told.open.len() > KEPT {
                told.open.pop_front();
            }
        }
        let Some(first) = told.open.front().map(|entry| entry.seq).filter(|&first| first <= seq) else { return Ok(()) };
        let place = usize::try_from(seq - first).unwrap_or(usize::MAX);
        let Some(entry) = told.open.get_mut(place) else { return Ok(()) };
        if entry.wire != wire {
            return Err(Fault::Differs(seq));
        }
        entry.missing = entry.missing.saturating_sub(1);
        if entry.missing == 0 && entry.is_move {
            self.complete.send_modify(|complete| *complete += 1);
            if let Some(sent) = entry.sent {
                self.tally.note(|tally| &tally.last_watchers, sent.elapsed());
            }
        }
        while told.open.front().is_some_and(|entry| entry.missing == 0) {
            told.open.pop_front();
        }
        Ok(())
    }
}

impl Told {
    /// Checks an event that nobody has been told before.
    fn first(&mut self, seq: u64, wire: Bytes, missing: usize) -> Result<Entry, Fault> {
        let read = v1::WatchRoomResponse::decode(wire.clone()).ok().and_then(|message| message.message);
        let Some(Message::Event(event)) = read else { return Err(Fault::Unreadable("an event")) };
        let ply = self.replay.step(&event)?;
        let mut sent = None;
        if let Some(ply) = ply {
            while let Some((of, at)) = self.sent.pop_front() {
                if of == ply {
                    sent = Some(at);
                    break;
                }
            }
        }
        Ok(Entry { seq, wire, missing, is_move: ply.is_some(), sent })
    }
}

/// The number of an event, which stands at its beginning; nothing for other messages.
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
    use crate::cli::dev::bench::{fixed_game::Book, prepared_messages::Script};

    /// A gallery of two, and what they are told.
    fn two() -> (Gallery, Vec<Bytes>) {
        let script = Script::new(&Book::new()).unwrap();
        let steps = std::iter::once(&script.opening).chain(&script.steps);
        let told = (1..).zip(steps.flat_map(|step| &step.events)).map(|(seq, event)| event.numbered(seq)).collect();
        let gallery = Gallery::new(script.room, 2, true, Arc::new(Tally::new(None)));
        (gallery, told)
    }

    #[tokio::test]
    async fn a_move_is_complete_when_all_have_it() {
        let (gallery, told) = two();
        gallery.before_move(0, 0).await;
        for wire in told {
            let seq = event_number(&wire).unwrap();
            gallery.hear(seq, wire.clone()).unwrap();
            let complete = *gallery.complete.borrow();
            gallery.hear(seq, wire).unwrap();
            let now = *gallery.complete.borrow();
            assert!(now == complete || now == complete + 1 && gallery.is_settled());
        }
        assert_eq!(*gallery.complete.borrow(), Book::new().turns.len() as u64);
    }

    #[test]
    fn what_one_was_told_otherwise_is_seen() {
        let (gallery, told) = two();
        let mut other = told[0].to_vec();
        *other.last_mut().unwrap() ^= 1;
        gallery.hear(1, told[0].clone()).unwrap();
        assert_eq!(gallery.hear(1, other.into()), Err(Fault::Differs(1)));
    }

    #[test]
    fn what_is_missing_keeps_it_from_being_settled() {
        let (gallery, told) = two();
        gallery.hear(1, told[0].clone()).unwrap();
        assert!(!gallery.is_settled());
        gallery.hear(1, told[0].clone()).unwrap();
        assert!(gallery.is_settled());
    }

    #[test]
    fn nobody_is_left_behind_where_all_go_in_step() {
        let (gallery, _) = two();
        let room = |seq| {
            let message = Message::Snapshot(v1::Room { seq, ..Default::default() });
            Bytes::from(v1::WatchRoomResponse { message: Some(message) }.encode_to_vec())
        };
        let mut last = None;
        gallery.begin(room(3), &mut last).unwrap();
        assert_eq!(last, Some(3));
        assert_eq!(gallery.begin(room(9), &mut last), Err(Fault::Overtaken));
    }
}
