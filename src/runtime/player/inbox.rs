//! The queue of notices between the rooms and one player's stream of turns.
//!
//! It belongs to the player, not to the stream. Notices that arrive while no stream is open wait for the next one, a
//! new stream replaces the old one, and a stream that is not read is ended. A channel would end with its stream and
//! lose its notices, could not drop invitations before other notices, and does not know the age of the oldest notice.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Poll, Waker},
};

use tokio::time::Instant;

use super::notice::Notice;
use crate::runtime::{outcome::StreamEnd, server_metrics};

/// Unread notices of one player. Beyond this the stream is closed; the next one starts with all open turns.
const INBOX_CAPACITY: usize = 256;

/// Notices kept for a player without a stream: the latest games, not a history.
const MISSED_NOTICES: usize = 16;

#[derive(Default)]
pub(crate) struct Inbox(Mutex<InboxState>);

#[derive(Default)]
struct InboxState {
    reader: Option<Reader>,
    /// Notices sent while no stream was open, or before the stream was sent the open turns.
    missed: VecDeque<Notice>,
}

/// Counts a stream until it is dropped. Owned by the inbox, because a closed stream may never be polled again.
pub(crate) type StreamGuard = Box<dyn Send>;

/// The inbox's side of an open stream.
struct Reader {
    unread: VecDeque<(Instant, Notice)>,
    ended: Ended,
    waker: Option<Waker>,
    stream: StreamGuard,
    /// Whether the missed notices are still to be delivered.
    opening: bool,
    /// Why the stream ends once all is read.
    closing: Option<StreamEnd>,
}

/// Why a reader was detached. Identifies the reader by its address.
type Ended = Arc<OnceLock<StreamEnd>>;

/// The stream's side of an inbox. Notices unread when it is dropped are kept for the next stream.
pub(crate) struct InboxReader {
    inbox: Arc<Inbox>,
    ended: Ended,
}

impl Inbox {
    /// Attaches a reader, and ends an older one, whose stream is returned. It gets only turns until
    /// [`Inbox::deliver_missed`], so they come first.
    pub(crate) fn open(self: &Arc<Self>, stream: StreamGuard) -> (InboxReader, Option<StreamGuard>) {
        let ended = Ended::default();
        let reader = Reader {
            unread: VecDeque::new(),
            ended: Arc::clone(&ended),
            waker: None,
            stream,
            opening: true,
            closing: None,
        };
        let mut state = self.state();
        let superseded = state.end(StreamEnd::Superseded);
        state.reader = Some(reader);
        (InboxReader { inbox: Arc::clone(self), ended }, superseded.map(|reader| reader.stream))
    }

    /// Ends the stream after its unread notices.
    pub(crate) fn close(&self, reason: StreamEnd) {
        if let Some(reader) = &mut self.state().reader {
            reader.closing = Some(reason);
            reader.wake();
        }
    }

    /// Gives a new reader the missed notices, unless a newer one is attached.
    pub(crate) fn deliver_missed(&self, reader: &InboxReader) {
        let mut state = self.state();
        let missed = std::mem::take(&mut state.missed);
        let Some(reader) = state.reader_of(&reader.ended) else {
            state.missed = missed;
            return;
        };
        reader.opening = false;
        missed.into_iter().for_each(|notice| reader.push(notice));
    }

    /// Ends the stream, because the player has a newer one on another node.
    pub(crate) fn supersede(&self) {
        let superseded = self.state().end(StreamEnd::Superseded);
        drop(superseded);
    }

    /// Takes the missed notices, for a stream on another node.
    pub(crate) fn take_missed(&self) -> VecDeque<Notice> {
        std::mem::take(&mut self.state().missed)
    }

    /// Sends a notice. A stream whose queue is full ends, and its notices are kept ([`Notice::is_kept`]) for the next.
    pub(crate) fn send(&self, notice: Notice) {
        let mut state = self.state();
        let cut = match &mut state.reader {
            Some(reader) if reader.opening && notice.is_kept() => return state.keep(notice),
            // Other players decide how often they invite and offer, which must not end a stream.
            Some(reader) if notice.is_droppable() && reader.unread.len() > INBOX_CAPACITY / 2 => return,
            Some(reader) if reader.unread.len() < INBOX_CAPACITY => return reader.push(notice),
            Some(_) => state.cut_off(),
            None => None,
        };
        if notice.is_kept() {
            state.keep(notice);
        }
        drop(state);
        drop(cut);
    }

    /// Ends a stream whose oldest unread notice was sent at `before` or earlier.
    pub(crate) fn cut_unread(&self, before: Instant) {
        let mut state = self.state();
        let oldest = state.reader.as_ref().and_then(|reader| reader.unread.front());
        if oldest.is_some_and(|(sent, _)| *sent <= before) {
            let cut = state.cut_off();
            drop(state);
            drop(cut);
        }
    }

    fn state(&self) -> MutexGuard<'_, InboxState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InboxReader {
    /// The next notice, or why there are no more.
    pub(crate) fn poll_next(&self, waker: &Waker) -> Poll<Result<Notice, StreamEnd>> {
        let mut state = self.inbox.state();
        let Some(reader) = state.reader_of(&self.ended) else {
            return self.ended.get().map_or(Poll::Pending, |end| Poll::Ready(Err(*end)));
        };
        match (reader.unread.pop_front(), reader.closing) {
            (Some((_, notice)), _) => {
                if reader.unread.is_empty() {
                    // Reuses the front of the ring, which is in the cache.
                    reader.unread.clear();
                }
                Poll::Ready(Ok(notice))
            }
            (None, Some(end)) => Poll::Ready(Err(end)),
            (None, None) => {
                match &mut reader.waker {
                    Some(known) => known.clone_from(waker),
                    None => reader.waker = Some(waker.clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for InboxReader {
    fn drop(&mut self) {
        let mut state = self.inbox.state();
        if state.reader_of(&self.ended).is_some() {
            let reader = state.detach();
            drop(state);
            drop(reader);
        }
    }
}

impl Reader {
    fn push(&mut self, notice: Notice) {
        self.unread.push_back((Instant::now(), notice));
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A detached reader is dropped after the lock is released, because its drop may send messages to rooms.
impl InboxState {
    /// Keeps a notice, and drops those that it [replaces](Notice::replaces). At most [`MISSED_NOTICES`] are kept;
    /// [droppable](Notice::is_droppable) ones are dropped first.
    fn keep(&mut self, notice: Notice) {
        self.missed.retain(|kept| !notice.replaces(kept));
        if self.missed.len() == MISSED_NOTICES {
            match self.missed.iter().position(Notice::is_droppable) {
                Some(oldest) => drop(self.missed.remove(oldest)),
                None if notice.is_droppable() => return,
                None => drop(self.missed.pop_front()),
            }
        }
        self.missed.push_back(notice);
    }

    fn reader_of(&mut self, ended: &Ended) -> Option<&mut Reader> {
        self.reader.as_mut().filter(|reader| Arc::ptr_eq(&reader.ended, ended))
    }

    fn cut_off(&mut self) -> Option<Reader> {
        server_metrics::cut_off();
        self.end(StreamEnd::SlowConsumer)
    }

    fn end(&mut self, reason: StreamEnd) -> Option<Reader> {
        let mut reader = self.detach()?;
        let _ = reader.ended.set(reason);
        reader.wake();
        Some(reader)
    }

    /// Detaches the reader, and keeps its unread notices.
    fn detach(&mut self) -> Option<Reader> {
        let mut reader = self.reader.take()?;
        for (_, notice) in std::mem::take(&mut reader.unread) {
            if notice.is_kept() {
                self.keep(notice);
            }
        }
        Some(reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{JoinCode, RoomId, RoomName, Settings},
        rules::Color,
    };

    fn stream() -> StreamGuard {
        Box::new(())
    }

    fn invited(room: u64) -> Notice {
        let (room, code) = (RoomId::from_random(room), JoinCode::from_random(room));
        let settings = Box::new(Settings::named(RoomName::parse("room").unwrap()));
        Notice::Invited { room, seat: Color::Black, code, by: None, by_rating: None, until: None, settings }
    }

    fn closed(room: u64) -> Notice {
        Notice::RoomClosed(RoomId::from_random(room))
    }

    fn unread(reader: &InboxReader) -> Vec<Notice> {
        let take = || match reader.poll_next(Waker::noop()) {
            Poll::Ready(notice) => Some(notice.unwrap()),
            Poll::Pending => None,
        };
        std::iter::from_fn(take).collect()
    }

    #[test]
    fn invitations_displace_no_other_notice() {
        let inbox = Arc::new(Inbox::default());
        inbox.send(closed(0));
        (0..100).for_each(|_| inbox.send(invited(1)));
        assert_eq!(inbox.state().missed, [closed(0), invited(1)]);
        (1..100).for_each(|room| inbox.send(invited(room)));
        let missed = inbox.state().missed.clone();
        assert_eq!((missed.len(), &missed[0]), (MISSED_NOTICES, &closed(0)));
        (1..16).for_each(|room| inbox.send(closed(room)));
        assert!(!inbox.state().missed.iter().any(Notice::is_droppable));
    }

    #[test]
    fn invitations_cut_off_no_stream() {
        let inbox = Arc::new(Inbox::default());
        let reader = inbox.open(stream()).0;
        inbox.deliver_missed(&reader);
        (0..1_000).for_each(|_| inbox.send(invited(1)));
        inbox.send(closed(1));
        let received = unread(&reader);
        assert!(received.len() <= INBOX_CAPACITY / 2 + 2 && received.last() == Some(&closed(1)));
    }

    #[test]
    fn a_closed_stream_is_read_to_its_end() {
        let inbox = Arc::new(Inbox::default());
        let reader = inbox.open(stream()).0;
        inbox.deliver_missed(&reader);
        inbox.send(closed(1));
        inbox.close(StreamEnd::LoggedOut);
        let next = || reader.poll_next(Waker::noop());
        assert_eq!(next(), Poll::Ready(Ok(closed(1))));
        assert_eq!(next(), Poll::Ready(Err(StreamEnd::LoggedOut)));
        drop(inbox.open(stream()));
        assert_eq!(next(), Poll::Ready(Err(StreamEnd::Superseded)));
    }

    #[test]
    fn missed_notices_outlive_a_stream_that_never_opened() {
        let inbox = Arc::new(Inbox::default());
        inbox.send(closed(1));
        let superseded = inbox.open(stream()).0;
        inbox.send(closed(2));
        let reader = inbox.open(stream()).0;
        inbox.deliver_missed(&superseded);
        inbox.deliver_missed(&reader);
        assert_eq!(unread(&reader), [closed(1), closed(2)]);
    }
}
