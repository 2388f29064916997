//! What one player is told of all rooms: turns, games, kicks, invitations.

use std::{
    collections::VecDeque,
    sync::{Arc, MutexGuard, OnceLock, PoisonError, Weak},
    task::{Poll, Waker},
};

use tokio::time::Instant;

use super::directory::Player;
use crate::{
    room::{GameEnd, GameId, JoinCode, Profile, RoomId, Seat, TurnRequest},
    rules::{Color, Position, Square},
    runtime::{
        limit::limits::{INBOX, MISSED},
        metrics,
        watch::subscription::OpenStream,
    },
};

/// Why a turn is open no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The move was made.
    Played(Square),
    /// The flag fell.
    TimedOut,
    /// The game ended otherwise.
    GameEnded,
}

/// Something that concerns one player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is the player's turn.
    TurnRequested(Box<TurnRequest>),
    /// A turn is open no longer.
    TurnClosed {
        /// In which game.
        game: GameId,
        /// Which ply.
        ply: u16,
        /// How.
        end: TurnEnd,
    },
    /// A game of the player's began.
    GameStarted {
        /// Which.
        game: GameId,
        /// The player's side.
        side: Color,
        /// The seat opposite.
        opponent: Seat,
        /// Whether its occupant is here.
        present: bool,
    },
    /// A game of the player's ended.
    GameEnded {
        /// Which.
        game: GameId,
        /// The player's side.
        side: Color,
        /// How.
        end: GameEnd,
        /// The last position.
        position: Position,
    },
    /// The player was removed from a room.
    Kicked {
        /// Which.
        room: RoomId,
        /// For good.
        banned: bool,
    },
    /// A room of the player's is over.
    RoomClosed(RoomId),
    /// A seat is kept for the player.
    Invited {
        /// Where.
        room: RoomId,
        /// Which side.
        seat: Color,
        /// Lets the player in.
        code: JoinCode,
        /// The room's owner.
        by: Option<Profile>,
    },
}

/// Why the server ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The room is over.
    RoomClosed,
    /// The player may not watch any longer.
    Kicked,
    /// The same player opened a newer one.
    Superseded,
    /// The server stops.
    Draining,
    /// It was not read.
    SlowConsumer,
    /// The player logged out.
    LoggedOut,
}

impl Notice {
    /// Whether one who was away needs to be told. Open turns are asked again by their rooms.
    fn lasts(&self) -> bool {
        !matches!(self, Self::TurnRequested(_) | Self::TurnClosed { .. })
    }

    fn is_invitation(&self) -> bool {
        matches!(self, Self::Invited { .. })
    }

    fn invites_to(&self, to: RoomId) -> bool {
        matches!(self, Self::Invited { room, .. } if *room == to)
    }
}

/// Where rooms put a player's notices.
#[derive(Default)]
pub(crate) struct Inbox {
    reader: Option<Reader>,
    /// What happened while no stream was open, or before one had been told of the open turns.
    missed: VecDeque<Notice>,
}

/// A stream as its inbox knows it. What waits for it lies here, so that cutting it off frees that.
struct Reader {
    unread: VecDeque<(Instant, Notice)>,
    ended: Ended,
    /// Whom to wake when there is something.
    waker: Option<Waker>,
    /// Counted no longer once it is cut off: a stream that nobody reads may never be polled again.
    stream: Weak<OpenStream>,
    /// Nothing was passed on yet of what was missed.
    opening: bool,
    /// Why its stream ends when all is read.
    last: Option<StreamEnd>,
}

/// Why a reader was dismissed. No two readers share one.
type Ended = Arc<OnceLock<StreamEnd>>;

impl Reader {
    fn is_full(&self) -> bool {
        self.unread.len() >= INBOX
    }

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

impl Inbox {
    /// Keeps a notice for the next stream: one invitation a room, and no more than [`MISSED`], invitations least.
    fn keep(&mut self, notice: Notice) {
        if let Notice::Invited { room, .. } = notice {
            self.missed.retain(|kept| !kept.invites_to(room));
        }
        if self.missed.len() == MISSED {
            match self.missed.iter().position(Notice::is_invitation) {
                Some(oldest) => drop(self.missed.remove(oldest)),
                None if notice.is_invitation() => return,
                None => drop(self.missed.pop_front()),
            }
        }
        self.missed.push_back(notice);
    }

    fn reader_of(&mut self, ended: &Ended) -> Option<&mut Reader> {
        self.reader.as_mut().filter(|reader| Arc::ptr_eq(&reader.ended, ended))
    }

    /// Ends the reader's stream for a reason, and answers with it.
    fn end(&mut self, reason: StreamEnd) -> Option<Weak<OpenStream>> {
        let mut reader = self.dismiss()?;
        let _ = reader.ended.set(reason);
        reader.wake();
        Some(reader.stream)
    }

    /// Keeps what the reader has not read, but for what is asked again anyway.
    fn dismiss(&mut self) -> Option<Reader> {
        let mut reader = self.reader.take()?;
        for (_, notice) in std::mem::take(&mut reader.unread) {
            if notice.lasts() {
                self.keep(notice);
            }
        }
        Some(reader)
    }
}

/// The end from which a stream takes them.
pub(crate) struct InboxReceiver {
    player: Arc<Player>,
    ended: Ended,
}

impl InboxReceiver {
    /// The next notice, or why there are no more. Nothing is lost when the wait is dropped.
    pub(crate) fn poll_next(&self, waker: &Waker) -> Poll<Result<Notice, StreamEnd>> {
        let mut inbox = self.player.inbox();
        let Some(reader) = inbox.reader_of(&self.ended) else {
            return self.ended.get().map_or(Poll::Pending, |end| Poll::Ready(Err(*end)));
        };
        match (reader.unread.pop_front(), reader.last) {
            (Some((_, notice)), _) => {
                if reader.unread.is_empty() {
                    // The next one lies where this one lay, which is near, and not at the far end of the ring.
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

/// What nobody has read is kept for the next stream.
impl Drop for InboxReceiver {
    fn drop(&mut self) {
        let mut inbox = self.player.inbox();
        if inbox.reader_of(&self.ended).is_some() {
            inbox.dismiss();
        }
    }
}

impl Player {
    /// Gives the player's inbox a new reader; an older one ends at once. Until [`Player::pass_missed`] it hears of turns
    /// only: the open ones come first.
    pub(crate) fn open_inbox(self: &Arc<Self>, stream: Weak<OpenStream>) -> InboxReceiver {
        let ended = Ended::default();
        let unread = VecDeque::new();
        let reader = Reader { unread, ended: Arc::clone(&ended), waker: None, stream, opening: true, last: None };
        let mut inbox = self.inbox();
        inbox.end(StreamEnd::Superseded);
        inbox.reader = Some(reader);
        InboxReceiver { player: Arc::clone(self), ended }
    }

    /// Ends the reader's stream for a reason, behind what it has not read.
    pub(crate) fn close_inbox(&self, reason: StreamEnd) {
        if let Some(reader) = &mut self.inbox().reader {
            reader.last = Some(reason);
            reader.wake();
        }
    }

    /// Gives a new reader what was missed, unless a newer one has come.
    pub(crate) fn pass_missed(&self, receiver: &InboxReceiver) {
        let mut inbox = self.inbox();
        let missed = std::mem::take(&mut inbox.missed);
        let Some(reader) = inbox.reader_of(&receiver.ended) else {
            inbox.missed = missed;
            return;
        };
        reader.opening = false;
        missed.into_iter().for_each(|notice| reader.push(notice));
    }

    /// Tells the player something. A stream that is not read ends: what lasts is kept for the next one.
    pub(crate) fn tell(&self, notice: Notice) {
        let mut inbox = self.inbox();
        let cut = match &mut inbox.reader {
            Some(reader) if reader.opening && notice.lasts() => return inbox.keep(notice),
            // Others decide how often they invite, so that must not cost anybody a stream.
            Some(reader) if notice.is_invitation() && reader.unread.len() > INBOX / 2 => return,
            Some(reader) if !reader.is_full() => return reader.push(notice),
            Some(_) => inbox.end(StreamEnd::SlowConsumer),
            None => None,
        };
        if notice.lasts() {
            inbox.keep(notice);
        }
        drop(inbox);
        release(cut);
    }

    /// Ends a stream on which something has waited since `before`.
    pub(crate) fn cut_unread(&self, before: Instant) {
        let mut inbox = self.inbox();

        let oldest = inbox.reader.as_ref().and_then(|reader| reader.unread.front());
        if oldest.is_some_and(|(came, _)| *came <= before) {
            let cut = inbox.end(StreamEnd::SlowConsumer);
            drop(inbox);
            release(cut);
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that was cut off is no sign any more that its player is here.
fn release(cut: Option<Weak<OpenStream>>) {
    if cut.is_some() {
        metrics::cut_off();
    }
    if let Some(stream) = cut.and_then(|stream| stream.upgrade()) {
        stream.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{Limits, player::directory::Players},
    };

    fn ada() -> Arc<Player> {
        let name = DisplayName::parse("Ada").unwrap();
        Players::default().log_in(name, PlayerKind::Human, 0, &Limits::default()).unwrap().0
    }

    fn invited(room: u64) -> Notice {
        let (room, code) = (RoomId::from_random(room), JoinCode::from_random(room));
        Notice::Invited { room, seat: Color::Black, code, by: None }
    }

    fn closed(room: u64) -> Notice {
        Notice::RoomClosed(RoomId::from_random(room))
    }

    fn unread(reader: &InboxReceiver) -> Vec<Notice> {
        let take = || match reader.poll_next(Waker::noop()) {
            Poll::Ready(notice) => Some(notice.unwrap()),
            Poll::Pending => None,
        };
        std::iter::from_fn(take).collect()
    }

    #[test]
    fn invitations_push_nothing_out() {
        let ada = ada();
        ada.tell(closed(0));
        (0..100).for_each(|_| ada.tell(invited(1)));
        assert_eq!(ada.inbox().missed, [closed(0), invited(1)]);
        (1..100).for_each(|room| ada.tell(invited(room)));
        let missed = ada.inbox().missed.clone();
        assert_eq!((missed.len(), &missed[0]), (MISSED, &closed(0)));
        (1..16).for_each(|room| ada.tell(closed(room)));
        assert!(!ada.inbox().missed.iter().any(Notice::is_invitation));
    }

    #[test]
    fn invitations_cut_no_stream() {
        let ada = ada();
        let reader = ada.open_inbox(Weak::new());
        ada.pass_missed(&reader);
        (0..1_000).for_each(|_| ada.tell(invited(1)));
        ada.tell(closed(1));
        let heard = unread(&reader);
        assert!(heard.len() <= INBOX / 2 + 2 && heard.last() == Some(&closed(1)));
    }

    #[test]
    fn a_stream_that_is_closed_is_read_to_its_end() {
        let ada = ada();
        let reader = ada.open_inbox(Weak::new());
        ada.pass_missed(&reader);
        ada.tell(closed(1));
        ada.end_streams(StreamEnd::LoggedOut);
        ada.end_streams(StreamEnd::Draining);
        let next = || reader.poll_next(Waker::noop());
        assert_eq!(next(), Poll::Ready(Ok(closed(1))));
        assert_eq!(next(), Poll::Ready(Err(StreamEnd::LoggedOut)));
        ada.open_inbox(Weak::new());
        assert_eq!(next(), Poll::Ready(Err(StreamEnd::Superseded)));
    }

    #[test]
    fn what_was_missed_outlives_a_stream_that_never_opened() {
        let ada = ada();
        ada.tell(closed(1));
        let unopened = ada.open_inbox(Weak::new());
        ada.tell(closed(2));
        let reader = ada.open_inbox(Weak::new());
        ada.pass_missed(&unopened);
        ada.pass_missed(&reader);
        assert_eq!(unread(&reader), [closed(1), closed(2)]);
    }
}
