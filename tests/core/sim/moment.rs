//! What can be observed of a world, in order.

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

/// One thing that could be observed.
pub(crate) struct Moment {
    /// For how long a server had run by then, in all lives.
    pub(crate) at: Duration,
    pub(crate) what: What,
}

#[derive(Debug)]
#[expect(dead_code, reason = "the trace shows what no law needs")]
pub(crate) enum What {
    /// A server starts, at this time by its own clock.
    Began { wall: Timestamp },
    /// It came up, or could not.
    Started(bool),
    /// It is over: `clean` when it was asked to stop and did.
    Ended { clean: bool },
    /// The disk begins or ceases to fail.
    Storm(bool),
    /// The disk failed in this way.
    Failed(&'static str),
    /// The disk has these events.
    Wrote { room: RoomId, events: Vec<Event> },
    /// A token was shown again.
    Returned { who: usize, good: bool },
    /// Somebody asks for something.
    Asked { call: u64, who: usize, deed: Deed },
    /// It was answered.
    Answered { call: u64, outcome: Outcome },
    /// A stream of turns is open.
    Opened { stream: u64, who: usize },
    /// It said this.
    Told { stream: u64, notice: Notice },
    /// It is over; none when its reader went.
    Closed { stream: u64, end: Option<StreamEnd> },
    /// Somebody watches a room, from behind an event.
    Watched { watcher: u64, who: usize, room: RoomId, after: Option<Seq> },
    /// The watcher was shown this.
    Saw { watcher: u64, seen: Seen },
    /// It sees no more; none when it went.
    Unwatched { watcher: u64, end: Option<StreamEnd> },
    /// Nothing moves any more: this is what there is.
    Audited(Box<Audit>),
}

/// What somebody may ask of a server.
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
    /// The room that it is about; none for what makes one.
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
    /// Nobody waited for the answer.
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

/// A server at rest.
#[derive(Debug)]
pub(crate) struct Audit {
    /// Everybody has gone for long.
    pub(crate) deserted: bool,
    pub(crate) wall: Timestamp,
    pub(crate) rooms: usize,
    pub(crate) games: usize,
    pub(crate) list: Vec<Row>,
    /// The list as one has it who was told of every change; none when nobody was.
    pub(crate) followed: Option<Vec<Row>>,
    /// Of each player whose token is good: the rooms and the seats in their books.
    pub(crate) books: Vec<(PlayerId, Vec<RoomId>, Vec<RoomId>)>,
}

/// Where moments are noted.
pub(crate) struct Log {
    pages: Mutex<Pages>,
    numbers: AtomicU64,
}

#[derive(Default)]
struct Pages {
    moments: Vec<Moment>,
    /// How long earlier servers ran.
    before: Duration,
    began: Option<Instant>,
    /// How many moments there were when the last server ended.
    ended: usize,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { pages: Mutex::default(), numbers: AtomicU64::new(0) }
    }

    /// A number that nothing else has: of a call, a stream, a watcher.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Relaxed)
    }

    pub(crate) fn note(&self, what: What) {
        let mut pages = self.pages();
        let at = pages.at();
        pages.moments.push(Moment { at, what });
    }

    /// The time of a server begins; within its own tokio runtime.
    pub(crate) fn begin(&self) {
        self.pages().began = Some(Instant::now());
    }

    /// The time of a server is over, and its tasks are about to be dropped.
    pub(crate) fn end(&self) {
        let mut pages = self.pages();
        pages.before = pages.at();
        pages.began = None;
        pages.ended = pages.moments.len();
    }

    /// Its tasks were dropped. Tokio drops them in an order that depends on every other runtime of the process, so what they
    /// noted is given one of its own.
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

/// The moments as text, a line each.
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
