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
}

/// Where rooms put a player's notices.
#[derive(Default)]
pub(super) struct Inbox {
    stream: Option<InboxSender>,
    /// What happened while no stream was open.
    missed: VecDeque<Notice>,
}

struct InboxSender {
    notices: mpsc::Sender<Notice>,
    end: Arc<OnceLock<StreamEnd>>,
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
    /// Gives the player's inbox a new reader, and first what was missed; an older reader ends at once.
    pub(super) fn open_inbox(&self) -> InboxReceiver {
        let (sender, notices) = mpsc::channel(INBOX);
        let end = Arc::new(OnceLock::new());
        let mut inbox = self.inbox();
        for notice in inbox.missed.drain(..) {
            // The channel is larger than what can be missed.
            let _ = sender.try_send(notice);
        }
        let old = inbox.stream.replace(InboxSender { notices: sender, end: Arc::clone(&end) });
        if let Some(old) = old {
            let _ = old.end.set(StreamEnd::Superseded);
        }
        InboxReceiver { notices, end }
    }

    /// Tells the player something. A stream that is not read ends: what lasts is kept for the next one.
    pub(super) fn tell(&self, notice: Notice) {
        let mut inbox = self.inbox();
        let unsent = match &inbox.stream {
            Some(stream) => stream.notices.try_send(notice).err().map(mpsc::error::TrySendError::into_inner),
            None => Some(notice),
        };
        let Some(unsent) = unsent else { return };
        inbox.stream = None;
        if unsent.lasts() {
            if inbox.missed.len() == MISSED {
                inbox.missed.pop_front();
            }
            inbox.missed.push_back(unsent);
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
