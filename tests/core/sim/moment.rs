//! The observable events of a world, in order.

use std::{
    fmt::{self, Write as _},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use reversi::{
    room::{Command, Event, GameId, PlayerId, Room, RoomId, SeatSpec, Seq, Timestamp, stored},
    rules::{Color, Square},
    runtime::{Accepted, LogInError, NewRoom, Notice, Opponent, RoomError, Row, StreamEnd},
};
use tokio::time::Instant;

/// One observable event of a world.
pub(crate) struct Moment {
    /// The total running time of all servers before it.
    pub(crate) at: Duration,
    pub(crate) what: What,
}

#[derive(Debug)]
#[expect(dead_code, reason = "the trace shows what no law needs")]
pub(crate) enum What {
    /// A server starts, at this time by its own clock.
    Began { wall: Timestamp },
    /// Whether the start succeeded.
    Started(bool),
    /// The server ended; `clean` if it was asked to stop and did.
    Ended { clean: bool },
    /// The disk starts to fail (true) or works again.
    Storm(bool),
    /// The disk failed in this way.
    Failed(&'static str),
    /// The disk wrote these events.
    Wrote { room: RoomId, events: Vec<Event> },
    /// A token was used after a restart; `good` if it was valid.
    Returned { who: usize, good: bool },
    /// A person made a request.
    Asked { call: u64, who: usize, deed: Deed },
    /// The answer to a request.
    Answered { call: u64, outcome: Outcome },
    /// A stream of turns was opened.
    Opened { stream: u64, who: usize },
    /// A notice on a stream of turns.
    Told { stream: u64, notice: Notice },
    /// A stream of turns ended; `end` is none if its reader dropped it.
    Closed { stream: u64, end: Option<StreamEnd> },
    /// A person started to watch a room, after an event if given.
    Watched { watcher: u64, who: usize, room: RoomId, after: Option<Seq> },
    /// The watcher was shown this.
    Saw { watcher: u64, seen: Seen },
    /// A watch ended; `end` is none if the watcher dropped it.
    Unwatched { watcher: u64, end: Option<StreamEnd> },
    /// The state of a server at rest.
    Audited(Box<Audit>),
}

/// A request to a server.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    LogIn,
    LogOut,
    Create(Box<NewRoom>, Option<String>),
    Quick(Opponent, Option<Color>, Option<String>),
    Command(RoomId, Command),
    SetSeat(RoomId, Color, SeatSpec),
    Start(RoomId, Option<String>),
    Play(GameId, u16, Square),
}

impl Deed {
    /// The room of the request; none for requests that create a room.
    pub(crate) fn room(&self) -> Option<RoomId> {
        match self {
            Self::Command(room, _) | Self::SetSeat(room, ..) | Self::Start(room, _) => Some(*room),
            Self::Play(game, ..) => Some(game.room),
            Self::LogIn | Self::LogOut | Self::Create(..) | Self::Quick(..) => None,
        }
    }
}

#[derive(Debug)]
#[expect(dead_code, reason = "the trace shows what no law needs")]
pub(crate) enum Outcome {
    In(PlayerId),
    NotIn(LogInError),
    Out,
    Made(RoomId, Seq),
    Done(Accepted),
    Refused(RoomError),
    /// The caller did not wait for the answer.
    Abandoned,
}

pub(crate) enum Seen {
    Snapshot(Arc<Room>),
    Event(Event),
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(room) => write!(f, "snapshot {} {:x}", room.seq(), hash(&stored::encode_room(room))),
            Self::Event(event) => event.fmt(f),
        }
    }
}

/// The state of a server at rest.
#[derive(Debug)]
pub(crate) struct Audit {
    /// Whether all players have been gone for long.
    pub(crate) deserted: bool,
    pub(crate) wall: Timestamp,
    pub(crate) rooms: usize,
    pub(crate) games: usize,
    pub(crate) list: Vec<Row>,
    /// The room list as built from its updates; none if no stream was open.
    pub(crate) followed: Option<Vec<Row>>,
    /// The rooms and the seats of each player whose token is valid.
    pub(crate) books: Vec<(PlayerId, Vec<RoomId>, Vec<RoomId>)>,
}

/// The record of a world.
pub(crate) struct Log {
    pages: Mutex<Pages>,
    numbers: AtomicU64,
}

#[derive(Default)]
struct Pages {
    moments: Vec<Moment>,
    /// The total running time of earlier servers.
    before: Duration,
    began: Option<Instant>,
    /// The number of moments when the last server ended.
    ended: usize,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { pages: Mutex::default(), numbers: AtomicU64::new(0) }
    }

    /// A unique number for a call, a stream or a watcher.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Relaxed)
    }

    pub(crate) fn note(&self, what: What) {
        let mut pages = self.pages();
        let at = pages.at();
        pages.moments.push(Moment { at, what });
    }

    /// Starts the time of a server. Call within its own tokio runtime.
    pub(crate) fn begin(&self) {
        self.pages().began = Some(Instant::now());
    }

    /// Ends the time of a server, before its tasks are dropped.
    pub(crate) fn end(&self) {
        let mut pages = self.pages();
        pages.before = pages.at();
        pages.began = None;
        pages.ended = pages.moments.len();
    }

    /// Sorts the moments noted while the tasks of a server were dropped: tokio drops them in an order that depends on
    /// the other runtimes of the process.
    pub(crate) fn bury(&self) {
        let mut pages = self.pages();
        let ended = pages.ended;
        pages.moments[ended..].sort_by_cached_key(|moment| format!("{:?}", moment.what));
    }

    pub(crate) fn take(&self) -> Vec<Moment> {
        std::mem::take(&mut self.pages().moments)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn at(&self) -> Duration {
        self.before + self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }
}

/// The moments as text, one a line.
pub(crate) fn trace(moments: &[Moment]) -> String {
    let mut text = String::new();
    for Moment { at, what } in moments {
        let _ = writeln!(text, "{:>10.3} {what:?}", at.as_secs_f64());
    }
    text
}

/// FNV-1a.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
