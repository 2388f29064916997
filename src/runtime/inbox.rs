//! What one player is told of all rooms: turns, games, kicks, invitations.

use std::{
    collections::VecDeque,
    sync::{Arc, MutexGuard, OnceLock, PoisonError},
};

use tokio::sync::mpsc;

use super::{
    limits::{INBOX, MISSED},
    players::Player,
};
use crate::{
    room::{GameEnd, GameId, JoinCode, Profile, RoomId, Seat, TurnSheet},
    rules::{Color, Position, Square},
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
    TurnRequested(Box<TurnSheet>),
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
pub(super) struct Inbox {
    stream: Option<InboxSender>,
    /// What happened while no stream was open, or before one had been told of the open turns.
    missed: VecDeque<Notice>,
}

struct InboxSender {
    notices: mpsc::Sender<Notice>,
    end: Arc<OnceLock<StreamEnd>>,
    /// Nothing was passed on yet of what was missed.
    opening: bool,
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
}

/// The end from which a stream takes them.
pub(super) struct InboxReceiver {
    notices: mpsc::Receiver<Notice>,
    end: Arc<OnceLock<StreamEnd>>,
}

impl InboxReceiver {
    /// Closes it, and takes out what nobody has read.
    pub(super) fn unread(&mut self) -> impl Iterator<Item = Notice> {
        self.notices.close();
        std::iter::from_fn(|| self.notices.try_recv().ok())
    }

    /// The next notice, or why there are no more.
    pub(super) async fn next(&mut self) -> Result<Notice, StreamEnd> {
        match self.notices.recv().await {
            Some(notice) => Ok(notice),
            None => Err(self.end.get().copied().unwrap_or(StreamEnd::SlowConsumer)),
        }
    }
}

impl Player {
    /// Gives the player's inbox a new reader; an older one ends at once. Until [`Player::pass_missed`] it hears of turns
    /// only: the open ones come first.
    pub(super) fn open_inbox(&self) -> InboxReceiver {
        let (sender, notices) = mpsc::channel(INBOX);
        let end = Arc::new(OnceLock::new());
        let stream = InboxSender { notices: sender, end: Arc::clone(&end), opening: true };
        if let Some(old) = self.inbox().stream.replace(stream) {
            let _ = old.end.set(StreamEnd::Superseded);
        }
        InboxReceiver { notices, end }
    }

    /// Gives a new reader what was missed, unless a newer one has come.
    pub(super) fn pass_missed(&self, reader: &InboxReceiver) {
        let mut inbox = self.inbox();
        let Inbox { stream, missed } = &mut *inbox;
        let Some(stream) = stream.as_mut().filter(|stream| Arc::ptr_eq(&stream.end, &reader.end)) else { return };
        stream.opening = false;
        while let Some(notice) = missed.pop_front() {
            if let Err(unsent) = stream.notices.try_send(notice) {
                missed.push_front(unsent.into_inner());
                inbox.stream = None;
                return;
            }
        }
    }

    /// Tells the player something. A stream that is not read ends: what lasts is kept for the next one.
    pub(super) fn tell(&self, notice: Notice) {
        let mut inbox = self.inbox();
        let unsent = match &inbox.stream {
            Some(stream) if stream.opening && notice.lasts() => return inbox.keep(notice),
            // Others decide how often they invite, so that must not cost anybody a stream.
            Some(stream) if notice.is_invitation() && stream.notices.capacity() < INBOX / 2 => return,
            Some(stream) => stream.notices.try_send(notice).err().map(mpsc::error::TrySendError::into_inner),
            None => Some(notice),
        };
        let Some(unsent) = unsent else { return };
        inbox.stream = None;
        if unsent.lasts() {
            inbox.keep(unsent);
        }
    }

    /// Tells what a stream that has ended had no time to: nothing that is asked again anyway.
    pub(super) fn tell_later(&self, notice: Notice) {
        if notice.lasts() {
            self.tell(notice);
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{Limits, players::Players},
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
        let mut reader = ada.open_inbox();
        ada.pass_missed(&reader);
        (0..1_000).for_each(|_| ada.tell(invited(1)));
        ada.tell(closed(1));
        let heard: Vec<_> = reader.unread().collect();
        assert!(heard.len() <= INBOX / 2 + 2 && heard.last() == Some(&closed(1)));
    }

    #[test]
    fn what_was_missed_outlives_a_stream_that_never_opened() {
        let ada = ada();
        ada.tell(closed(1));
        let unopened = ada.open_inbox();
        ada.tell(closed(2));
        let mut reader = ada.open_inbox();
        ada.pass_missed(&unopened);
        ada.pass_missed(&reader);
        assert_eq!(reader.unread().collect::<Vec<_>>(), [closed(1), closed(2)]);
    }
}
