//! The observable events of a simulation, in order.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use reversi::{
    client,
    proto::v1::play_event::Event as PlayEvent,
    room::{
        Availability, Command, Event, GameId, JoinCode, PlayerId, Room, RoomId, SeatSpec, Seq, Settings, Timestamp,
        stored,
    },
    rules::{Color, Square},
    runtime::{LogInError, NewRoom, NodeId, Notice, Opponent, RoomError, Row, Shard, StreamEnd},
};
use tokio::time::Instant;

use crate::sim::grpc::{Failure, TurnNews};

/// One observable event of a simulation.
pub(crate) struct LogEntry {
    /// The total running time of all servers before it.
    pub(crate) at: Duration,
    pub(crate) what: SimEvent,
}

#[derive(Debug)]
#[expect(dead_code, reason = "the trace shows more than the invariants need")]
pub(crate) enum SimEvent {
    /// A server starts, at this time by its own clock.
    ServerBegan { wall: Timestamp },
    /// Whether the start succeeded.
    ServerStarted(bool),
    /// A gRPC server was asked to stop.
    ServerStopping,
    /// The server ended; `clean` if it was asked to stop and did.
    ServerEnded { clean: bool },
    /// The disk starts to fail (true) or works again.
    DiskFaulty(bool),
    /// The disk failed in this way.
    DiskFailed(&'static str),
    /// Something happens to a node of a cluster, or its end.
    Incident(String),
    /// The first process of each pair does not reach the second one from now on, or no longer for this reason.
    Apart { ways: Vec<(usize, usize)>, is_over: bool },
    /// A client is at this process of a cluster from now on.
    ClientAt { client: usize, process: usize },
    /// A process joined a cluster as this node. `ahead` is its clock minus the right time, in microseconds.
    NodeJoined { node: NodeId, process: usize, ahead: i64 },
    /// A node of a cluster was declared dead, whose lease or mark was last renewed at this time.
    NodeDead(NodeId, Duration),
    /// A node of a cluster took these shards.
    ShardsTaken(NodeId, Shards),
    /// A node of a cluster gave up these shards.
    ShardsFreed(Shards),
    /// A node of a cluster wrote to this room.
    WrittenBy(NodeId, RoomId),
    /// The disk wrote these events.
    Written { room: RoomId, events: Vec<Event> },
    /// A token was used after a restart; `valid` if the server knew it.
    TokenUsed { client: usize, valid: bool },
    /// A client made a request.
    Requested { call: u64, client: usize, action: Action },
    /// The answer to a request.
    Answered { call: u64, outcome: Outcome },
    /// A stream of turns was opened.
    TurnsOpened { stream: u64, client: usize },
    /// A stream of turns had this notice.
    NoticeReceived { stream: u64, notice: Notice },
    /// A stream of turns over gRPC had this event.
    PlayEventReceived { stream: u64, event: Box<PlayEvent> },
    /// A client sent a move on a `Play` stream.
    MoveSent { stream: u64, game: GameId, ply: u16, square: Square },
    /// A gRPC stream failed; `stream` is none if it could not be opened.
    StreamFailed { client: usize, stream: Option<u64>, failure: Failure },
    /// A client's connection was cut.
    ConnectionCut { client: usize },
    /// A stream of turns ended; `end` is none if its reader dropped it.
    TurnsClosed { stream: u64, end: Option<StreamEnd> },
    /// A client started to watch a room, after an event if given.
    WatchStarted { watcher: u64, client: usize, room: RoomId, after: Option<Seq> },
    /// The watcher received this.
    UpdateReceived { watcher: u64, update: WatchUpdate },
    /// A watch ended; `end` is none if the watcher dropped it.
    WatchEnded { watcher: u64, end: Option<StreamEnd> },
    /// The state of a server after all games have ended, and again after all rooms are closed.
    Audited(Box<Audit>),
    /// The open rooms in the file after a power cut.
    Recovered(OpenRooms),
    /// The file could not be opened after a power cut.
    NotRecovered(String),
}

/// A request to a server.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    LogIn,
    LogOut,
    Create(Box<NewRoom>, Option<String>),
    Quick(Opponent, Option<Color>, Box<Settings>, Option<String>),
    Command(RoomId, Command),
    SetSeat(RoomId, Color, SeatSpec),
    Start(RoomId, Option<String>),
    JoinByCode(JoinCode),
    Play(GameId, u16, Square),
    SetAvailability(Availability),
}

impl SimEvent {
    /// Which client's stream or call, or else which client, it belongs to; none if it is the server's.
    fn of_client(&self) -> Option<(bool, u64)> {
        match self {
            Self::Answered { call: number, .. }
            | Self::NoticeReceived { stream: number, .. }
            | Self::PlayEventReceived { stream: number, .. }
            | Self::TurnsClosed { stream: number, .. }
            | Self::UpdateReceived { watcher: number, .. }
            | Self::WatchEnded { watcher: number, .. } => Some((true, *number)),
            Self::StreamFailed { client, .. } => Some((false, *client as u64)),
            _ => None,
        }
    }

    /// What a stream of turns says with it, and which stream.
    pub(crate) fn turn_news(&self) -> Option<(u64, TurnNews)> {
        match self {
            Self::NoticeReceived { stream, notice } => Some((*stream, TurnNews::of_notice(notice)?)),
            Self::PlayEventReceived { stream, event } => Some((*stream, TurnNews::of_event(event)?)),
            _ => None,
        }
    }
}

impl Action {
    /// The room of the request; none for requests that create or look for a room.
    pub(crate) fn room(&self) -> Option<RoomId> {
        match self {
            Self::Command(room, _) | Self::SetSeat(room, ..) | Self::Start(room, _) => Some(*room),
            Self::Play(game, ..) => Some(game.room),
            Self::LogIn
            | Self::LogOut
            | Self::Create(..)
            | Self::Quick(..)
            | Self::JoinByCode(_)
            | Self::SetAvailability(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Outcome {
    LoggedIn(PlayerId),
    LogInFailed(LogInError),
    LoggedOut,
    RoomCreated(RoomId, Seq),
    /// The room of the code, which was at this event.
    Joined(RoomId, Seq),
    /// Accepted; the room was at this event.
    Done(Seq),
    /// The player joined, and was removed before the answer.
    Removed,
    /// What the player accepts is stored.
    AvailabilitySet,
    Refused(RoomError),
    /// A gRPC call failed.
    Failed(Failure),
    /// The caller did not wait for the answer.
    Dropped,
}

pub(crate) enum WatchUpdate {
    Snapshot(Arc<Room>),
    Event(Event),
    /// As [`Self::Snapshot`], over gRPC.
    WireSnapshot(Box<client::Room>),
    /// As [`Self::Event`], over gRPC.
    WireEvent(Box<client::RoomEvent>),
}

impl WatchUpdate {
    /// The last event that it shows.
    pub(crate) fn seq(&self) -> Seq {
        match self {
            Self::Snapshot(room) => room.seq(),
            Self::Event(event) => event.seq,
            Self::WireSnapshot(room) => Seq(room.seq),
            Self::WireEvent(event) => Seq(event.seq),
        }
    }
}

impl fmt::Debug for WatchUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(room) => write!(f, "snapshot {} {:x}", room.seq(), hash(&stored::encode_room(room))),
            Self::Event(event) => event.fmt(f),
            Self::WireSnapshot(room) => write!(f, "snapshot {} {:x}", room.seq, hash(format!("{room:?}").as_bytes())),
            Self::WireEvent(event) => event.fmt(f),
        }
    }
}

/// Shown by their number only.
pub(crate) struct Shards(pub(crate) Vec<Shard>);

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shards", self.0.len())
    }
}

pub(crate) struct OpenRooms(pub(crate) BTreeMap<RoomId, Room>);

impl fmt::Debug for OpenRooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(id, room)| (id, room.seq()))).finish()
    }
}

/// The state of a server without running games.
#[derive(Debug)]
pub(crate) struct Audit {
    /// Whether all players left long ago.
    pub(crate) players_gone: bool,
    pub(crate) wall: Timestamp,
    pub(crate) rooms: usize,
    pub(crate) games: usize,
    /// The room list, as each process has it.
    pub(crate) lists: Vec<Vec<Row>>,
    /// The room list as built from its updates; none if no stream was open.
    pub(crate) updated_list: Option<Vec<Row>>,
    /// The rooms and the seats of each player whose token is valid.
    pub(crate) holdings: Vec<(PlayerId, Vec<RoomId>, Vec<RoomId>)>,
}

/// The record of a simulation.
pub(crate) struct Log {
    state: Mutex<LogState>,
    numbers: AtomicU64,
}

#[derive(Default)]
struct LogState {
    entries: Vec<LogEntry>,
    /// The total running time of earlier servers.
    before: Duration,
    began: Option<Instant>,
    /// The number of entries when the last server began to stop.
    stopping: usize,
    /// The number of entries when the last server ended.
    ended: usize,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), numbers: AtomicU64::new(0) }
    }

    /// A unique number for a call, a stream or a watcher.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Relaxed)
    }

    pub(crate) fn note(&self, what: SimEvent) {
        let mut state = self.state();
        let at = state.at();
        state.entries.push(LogEntry { at, what });
    }

    /// Starts the time of a server. Call within its own tokio runtime.
    pub(crate) fn begin(&self) {
        self.state().began = Some(Instant::now());
    }

    /// Ends the time of a server, before its tasks are dropped.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.before = state.at();
        state.began = None;
        state.ended = state.entries.len();
    }

    /// Sorts the entries noted while the tasks of a server were dropped: tokio drops them in an order that depends on
    /// the other runtimes of the process.
    pub(crate) fn sort_drops(&self) {
        let mut state = self.state();
        let ended = state.ended;
        state.entries[ended..].sort_by_cached_key(|entry| format!("{:?}", entry.what));
    }

    /// Notes that a gRPC server begins to stop.
    pub(crate) fn begin_stop(&self) {
        self.note(SimEvent::ServerStopping);
        let mut state = self.state();
        state.stopping = state.entries.len();
    }

    /// Sorts the entries of each moment since the server began to stop by client: tonic tells its connections to end
    /// through a channel of tokio that wakes them in a random order.
    pub(crate) fn sort_stop(&self) {
        let mut state = self.state();
        let stopping = state.stopping;
        state.entries[stopping..].sort_by_key(|entry| (entry.at, entry.what.of_client()));
    }

    pub(crate) fn take(&self) -> Vec<LogEntry> {
        std::mem::take(&mut self.state().entries)
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogState {
    fn at(&self) -> Duration {
        self.before + self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }
}

/// The entries as text, one a line.
pub(crate) fn trace(entries: &[LogEntry]) -> String {
    let mut text = String::new();
    for LogEntry { at, what } in entries {
        let _ = writeln!(text, "{:>10.3} {what:?}", at.as_secs_f64());
    }
    text
}

/// FNV-1a.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
