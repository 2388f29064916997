//! Metrics for the installed recorder; without one the cost is negligible.
//!
//! All names are defined here. Metrics for each move have static labels and do not allocate; [`measure`] sets gauges.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use super::ai::pool::AiLoad;
use crate::{
    room::{EndReason, Occupant, PlayerKind, Timestamp},
    store::{ArchiveSize, CLOCK_SKEW, COMMIT_WRITES, DAMAGED_ROWS, FENCED_APPENDS, LEASE_AGE, LOG_BYTES, OWNED_SHARDS},
};

/// The commit from which this program was built; empty if that is unknown.
pub const COMMIT: &str = env!("BUILD_COMMIT");

const PLAYERS: &str = "reversi_players";
const ROOMS: &str = "reversi_rooms";
const GAMES_RUNNING: &str = "reversi_games_running";
const GAMES_FINISHED: &str = "reversi_games_finished_total";
const MOVES: &str = "reversi_moves_total";
const TURN: &str = "reversi_turn_seconds";
const APPEND: &str = "reversi_journal_append_seconds";
const AI_WAITING: &str = "reversi_ai_waiting";
const AI_MOVES: &str = "reversi_ai_moves_total";
const AI_CHEAPER: &str = "reversi_ai_cheaper_moves_total";
const STREAMS: &str = "reversi_streams";
const LAGS: &str = "reversi_lag_recoveries_total";
const ROLLED_BACK: &str = "reversi_rooms_rolled_back_total";
const SLOW: &str = "reversi_slow_consumers_total";
const REFUSALS: &str = "reversi_refusals_total";
const CLOSED_CONNECTIONS: &str = "reversi_closed_connections_total";
const LOG_DROPPED: &str = "reversi_log_lines_dropped_total";
const WRITABLE: &str = "reversi_store_writable";
const LOST: &str = "reversi_lost_seconds_total";
const ARCHIVED_GAMES: &str = "reversi_archived_games";
const ARCHIVE_BYTES: &str = "reversi_archive_bytes";
const IN_SERVICE: &str = "reversi_cluster_in_service";
const PEERS: &str = "reversi_cluster_peers";
const LINKS: &str = "reversi_cluster_links";
const ASKS: &str = "reversi_cluster_asks_total";
const CERTIFICATE_EXPIRY: &str = "reversi_certificate_expiry_timestamp_seconds";
const CONNECTIONS: &str = "reversi_connections";
const BUILD: &str = "reversi_build_info";
// As all programs name them for Prometheus.
const CPU: &str = "process_cpu_seconds_total";
const RESIDENT: &str = "process_resident_memory_bytes";
const VIRTUAL: &str = "process_virtual_memory_bytes";
const OPEN_FILES: &str = "process_open_fds";
const MAX_FILES: &str = "process_max_fds";
const STARTED: &str = "process_start_time_seconds";

/// The histograms, with the upper bounds of their buckets; times are in seconds.
pub const BUCKETS: [(&str, &[f64]); 3] = [
    // From an AI that does not search to a human.
    (TURN, &[0.0001, 0.001, 0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0]),
    // From a store in memory to a failing disk.
    (APPEND, &[0.000_01, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5]),
    // From the writes of one room to those of all rooms.
    (COMMIT_WRITES, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0]),
];

/// Describes the metrics to the recorder, and starts counters without labels at zero.
pub fn describe() {
    describe_gauge!(PLAYERS, "Players who are logged in.");
    describe_gauge!(ROOMS, "Open rooms, by phase: playing while a game runs, otherwise lobby.");
    describe_gauge!(GAMES_RUNNING, "Running games.");
    describe_counter!(GAMES_FINISHED, "Finished games, by reason.");
    describe_counter!(MOVES, "Moves, by the kind of player: human, bot, or AI of the server.");
    describe_histogram!(TURN, Unit::Seconds, "Time from a turn request to its move, by the kind of player.");
    describe_histogram!(APPEND, Unit::Seconds, "Time until the events of a command were written, or the write failed.");
    describe_histogram!(COMMIT_WRITES, "Writes of rooms and players in one commit.");
    describe_gauge!(AI_WAITING, "AI moves waiting for a thread.");
    describe_counter!(AI_MOVES, "Moves made by AI threads.");
    describe_counter!(AI_CHEAPER, "AI moves with a smaller search than requested, for lack of time.");
    describe_gauge!(STREAMS, "Open streams, by kind: turns, room (its watchers), list (of rooms), export, analysis.");
    describe_counter!(LAGS, "Watchers that were too slow for the events of their room and got a new snapshot.");
    describe_counter!(SLOW, "Streams of turns that were closed because the client did not read them.");
    describe_counter!(REFUSALS, "Refused requests, by the reason in the response.");
    describe_counter!(
        CLOSED_CONNECTIONS,
        "Connections closed by the server, by reason: too_many (open at a time), control_frames, unanswered_ping, \
         long_request."
    );
    describe_counter!(LOG_DROPPED, "Lines of the log that were dropped, because standard error is read too slowly.");
    describe_gauge!(WRITABLE, "1 while the store can be written, otherwise 0.");
    describe_counter!(
        LOST,
        Unit::Seconds,
        "Time since the start in which no player could move: the process was stopped, or could not write. It is credited."
    );
    describe_gauge!(ARCHIVED_GAMES, "Stored games.");
    describe_gauge!(
        ARCHIVE_BYTES,
        Unit::Bytes,
        "Size of the database file, or of all tables and indexes in PostgreSQL; 0 in memory."
    );
    describe_gauge!(
        DAMAGED_ROWS,
        "Damaged rows that were read and skipped since the start, at most 1,000; the log names them."
    );
    describe_gauge!(
        CLOCK_SKEW,
        Unit::Seconds,
        "The clock of this server minus that of PostgreSQL; beyond 0.5 in either direction there is a warning."
    );
    describe_gauge!(
        LOG_BYTES,
        Unit::Bytes,
        "Size of SQLite's write-ahead log; it grows while another program reads the file for long."
    );
    describe_gauge!(LEASE_AGE, Unit::Seconds, "Time since the server last renewed its lease in PostgreSQL.");
    describe_gauge!(
        OWNED_SHARDS,
        "Shards of the rooms in PostgreSQL that this server has: all 4,096, its share, or 0 while it stands by or has no lease."
    );
    describe_counter!(FENCED_APPENDS, "Writes of rooms that were refused because another server had taken them over.");
    describe_gauge!(IN_SERVICE, "1 while this node of a cluster serves clients, otherwise 0.");
    describe_gauge!(PEERS, "Other nodes of the cluster, as the database has them.");
    describe_gauge!(LINKS, "Other nodes of the cluster to which there is a link.");
    describe_counter!(
        ASKS,
        "Requests that other nodes of the cluster were asked, by outcome: answered, late (no answer in 5 s), down (no link), full, lost."
    );
    describe_gauge!(
        CERTIFICATE_EXPIRY,
        Unit::Seconds,
        "When a certificate of this server expires, in seconds since 1970: public (for clients), or node (for other servers)."
    );
    gauge!(DAMAGED_ROWS).set(0.0);
    describe_counter!(ROLLED_BACK, "Rooms that went back, as the database had lost their last events.");
    for name in [LAGS, SLOW, ROLLED_BACK] {
        counter!(name).absolute(0);
    }
}

/// The state of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// Players logged in.
    pub players: usize,
    /// Open rooms.
    pub rooms: usize,
    /// Running games.
    pub games: usize,
    /// The load of the AI threads.
    pub ai: AiLoad,
    /// True if the server is shutting down.
    pub draining: bool,
    /// True if the store can be written.
    pub writable: bool,
    /// Time since the start in which no player could move.
    pub lost: Duration,
}

/// Sets the gauges.
pub fn measure(census: &Census) {
    let gauges = [
        (gauge!(PLAYERS), census.players),
        (gauge!(ROOMS, "phase" => "playing"), census.games),
        // Saturating, because the two counts are not read at the same moment.
        (gauge!(ROOMS, "phase" => "lobby"), census.rooms.saturating_sub(census.games)),
        (gauge!(GAMES_RUNNING), census.games),
        (gauge!(AI_WAITING), census.ai.waiting),
    ];
    for (gauge, count) in gauges {
        gauge.set(count as f64);
    }
    gauge!(WRITABLE).set(f64::from(census.writable));
    counter!(LOST).absolute(census.lost.as_secs());
    counter!(AI_MOVES).absolute(census.ai.moves);
    counter!(AI_CHEAPER).absolute(census.ai.cheaper_moves);
}

/// Sets the gauges of the archive.
pub fn measure_archive(size: ArchiveSize) {
    gauge!(ARCHIVED_GAMES).set(size.games as f64);
    gauge!(ARCHIVE_BYTES).set(size.bytes as f64);
}

/// Describes the metrics of the process and its connections, and sets those that do not change.
pub fn describe_process(started: Timestamp) {
    describe_gauge!(
        BUILD,
        "Always 1: the version of this program, and the commit from which it was built, if that is known."
    );
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION"), "commit" => COMMIT).set(1.0);
    describe_gauge!(CONNECTIONS, "Open connections of clients.");
    gauge!(CONNECTIONS).set(0.0);
    describe_counter!(CPU, Unit::Seconds, "CPU time of the process.");
    describe_gauge!(RESIDENT, Unit::Bytes, "Memory of the process that is in RAM.");
    describe_gauge!(VIRTUAL, Unit::Bytes, "Memory that the process has reserved.");
    describe_gauge!(OPEN_FILES, "Open files and connections of the process.");
    describe_gauge!(MAX_FILES, "The most files and connections that the process may have open.");
    describe_gauge!(STARTED, Unit::Seconds, "When the process started, in seconds since 1970.");
    gauge!(STARTED).set((started.0 / 1_000_000) as f64);
}

/// What a process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time, rounded down to seconds.
    pub cpu_seconds: u64,
    /// Memory in RAM.
    pub resident_bytes: u64,
    /// Reserved memory.
    pub virtual_bytes: u64,
    /// Open files and connections.
    pub open_files: usize,
    /// The most of them; none without a limit.
    pub max_files: Option<u64>,
}

/// Sets the metrics of the process.
pub fn measure_process(usage: &ProcessUsage) {
    counter!(CPU).absolute(usage.cpu_seconds);
    gauge!(RESIDENT).set(usage.resident_bytes as f64);
    gauge!(VIRTUAL).set(usage.virtual_bytes as f64);
    gauge!(OPEN_FILES).set(usage.open_files as f64);
    gauge!(MAX_FILES).set(usage.max_files.map_or(f64::INFINITY, |max| max as f64));
}

/// Counts opened (`change` 1) and closed (-1) connections.
pub(crate) fn connections(change: f64) {
    gauge!(CONNECTIONS).increment(change);
}

/// Sets when a certificate expires.
pub fn certificate_expires(certificate: &'static str, at: Timestamp) {
    gauge!(CERTIFICATE_EXPIRY, "certificate" => certificate).set((at.0 / 1_000_000) as f64);
}

/// Counts a refused request, by the reason in its status.
pub fn refused(reason: &'static str) {
    counter!(REFUSALS, "reason" => reason).increment(1);
}

/// Sets the number of log lines that were dropped.
pub fn dropped_log_lines(count: u64) {
    counter!(LOG_DROPPED).absolute(count);
}

/// Counts a connection that the server closed.
pub(crate) fn connection_closed(reason: &'static str) {
    counter!(CLOSED_CONNECTIONS, "reason" => reason).increment(1);
}

/// Counts a move, `spent` after its turn opened.
pub(crate) fn moved(occupant: &Occupant, spent: Duration) {
    let (moves, turn) = match occupant {
        Occupant::Ai(_) => (counter!(MOVES, "by" => "ai"), histogram!(TURN, "by" => "ai")),
        Occupant::Player(player) if player.kind == PlayerKind::Bot => {
            (counter!(MOVES, "by" => "bot"), histogram!(TURN, "by" => "bot"))
        }
        _ => (counter!(MOVES, "by" => "human"), histogram!(TURN, "by" => "human")),
    };
    moves.increment(1);
    turn.record(spent);
}

pub(crate) fn finished(reason: EndReason) {
    counter!(GAMES_FINISHED, "reason" => reason.name()).increment(1);
}

pub(crate) fn appended(took: Duration) {
    histogram!(APPEND).record(took);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    Turns,
    Room,
    List,
    Export,
    Analysis,
    Tournament,
}

/// Counts opened (`change` 1) and ended (-1) streams.
pub(crate) fn streams(kind: StreamKind, change: f64) {
    let gauge = match kind {
        StreamKind::Turns => gauge!(STREAMS, "kind" => "turns"),
        StreamKind::Room => gauge!(STREAMS, "kind" => "room"),
        StreamKind::List => gauge!(STREAMS, "kind" => "list"),
        StreamKind::Export => gauge!(STREAMS, "kind" => "export"),
        StreamKind::Analysis => gauge!(STREAMS, "kind" => "analysis"),
        StreamKind::Tournament => gauge!(STREAMS, "kind" => "tournament"),
    };
    gauge.increment(change);
}

pub(crate) fn lagged() {
    counter!(LAGS).increment(1);
}

pub(crate) fn rolled_back() {
    counter!(ROLLED_BACK).increment(1);
}

/// Sets whether this node of a cluster serves clients.
pub(crate) fn in_service(in_service: bool) {
    gauge!(IN_SERVICE).set(f64::from(in_service));
}

/// Sets the number of other nodes.
pub(crate) fn peers(count: usize) {
    gauge!(PEERS).set(count as f64);
}

/// Sets the number of nodes to which there is a link.
pub(crate) fn links(count: usize) {
    gauge!(LINKS).set(count as f64);
}

/// Counts a request that another node was asked.
pub(crate) fn asked(outcome: &'static str) {
    counter!(ASKS, "outcome" => outcome).increment(1);
}

pub(crate) fn cut_off() {
    counter!(SLOW).increment(1);
}
