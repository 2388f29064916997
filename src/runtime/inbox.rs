//! What one player is told of all rooms: turns, games, kicks, invitations.

use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;

use super::{limits::INBOX, players::Player};
use crate::{
    room::{GameEnd, GameId, JoinCode, Occupant, Profile, RoomId, TurnSheet},
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
        /// Who sits opposite.
        opponent: Occupant,
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

/// The end into which rooms put notices.
pub(super) struct InboxSender {
    notices: mpsc::Sender<Notice>,
    end: Arc<OnceLock<StreamEnd>>,
}

/// The end from which a stream takes them.
pub(super) struct InboxReceiver {
    notices: mpsc::Receiver<Notice>,
    end: Arc<OnceLock<StreamEnd>>,
}

impl InboxReceiver {
    /// The next notice, or why there are no more.
    pub(super) async fn next(&mut self) -> Result<Notice, StreamEnd> {
        match self.notices.recv().await {
            Some(notice) => Ok(notice),
            None => Err(self.end.get().copied().unwrap_or(StreamEnd::SlowConsumer)),
        }
    }
}

impl Player {
    /// Gives the player a new inbox; an older one ends at once.
    pub(super) fn open_inbox(&self) -> InboxReceiver {
        let (sender, notices) = mpsc::channel(INBOX);
        let end = Arc::new(OnceLock::new());
        let new = InboxSender { notices: sender, end: Arc::clone(&end) };
        let old = self.inbox().replace(new);
        if let Some(old) = old {
            let _ = old.end.set(StreamEnd::Superseded);
        }
        InboxReceiver { notices, end }
    }

    /// Tells the player something, if a stream is open. One that is not read ends: what matters is sent again to the next.
    pub(super) fn tell(&self, notice: Notice) {
        let mut inbox = self.inbox();
        let Some(sender) = &*inbox else { return };
        if sender.notices.try_send(notice).is_err() {
            *inbox = None;
        }
    }

    fn inbox(&self) -> std::sync::MutexGuard<'_, Option<InboxSender>> {
        self.inbox.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
