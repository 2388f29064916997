//! Every bound of the server in one place, each with its reason.

use std::time::Duration;

/// What one client may use of the server, and how long things may take.
///
/// A client is a player, and all who come from one address: without the second, whoever logs in a hundred times has a
/// hundred times as much. A limit by address of 0 is none, for a server behind a proxy, to which all come from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Players known at a time. An entry is under 1 KiB, so a full house is 100 MiB.
    pub players: usize,
    /// Rooms open at a time. A room is under 8 KiB beside its watchers.
    pub rooms: usize,
    /// Rooms of which one player is a member. Enough for a bot that tends a tournament.
    pub rooms_per_player: usize,
    /// Rooms of which the players of one address are members, each counted for itself: a room for each bot of a farm that
    /// logs in at once, and a tenth of the server's.
    pub rooms_per_address: usize,
    /// A person plays one game at a time.
    pub seats_per_human: u16,
    /// The most seats a bot may declare.
    pub seats_per_bot: u16,
    /// Seats that the players of one address hold: one for each bot of that farm.
    pub seats_per_address: usize,
    /// Streams of one player: one for turns, the rest to watch.
    pub streams_per_player: usize,
    /// Streams of the players of one address: two for each bot of that farm. One costs under 64 KiB.
    pub streams_per_address: usize,
    /// Calls of one player whose answers are not read yet, streams among them: as many as one connection has.
    pub calls_per_player: usize,
    /// Calls of one address whose answers are not read yet, streams among them, and requests for the page: the farm that logs
    /// in at once, beside its streams. With a message of the largest size in each that waits for its last byte, one took 41
    /// KiB; an answer that is not read takes 8 KiB.
    pub calls_per_address: usize,
    /// Requests a second of one player, on average; a flat-out bot on the same machine stays below it.
    pub requests_per_second: u32,
    /// Requests at once, above the average.
    pub request_burst: u32,
    /// Requests a second of one address, on average: four flat-out bots, or thousands that think. Those without a good
    /// token are among them.
    pub requests_per_second_per_address: u32,
    /// Requests at once of one address, above the average.
    pub request_burst_per_address: u32,
    /// Lines of chat a second of one player, on average: faster than anybody types. Every line goes to all who watch, and
    /// one player must not be able to overrun them.
    pub chats_per_second: u32,
    /// Lines of chat at once, above the average; few beside what a watcher may lag behind.
    pub chat_burst: u32,
    /// Lines of chat a second of one address, on average: a class that talks, and less than a store writes beside games.
    pub chats_per_second_per_address: u32,
    /// Lines of chat at once of one address, above the average: a full room in which everybody greets.
    pub chat_burst_per_address: u32,
    /// Connections open at a time. One costs under 100 KiB, and a file descriptor.
    pub connections: usize,
    /// Connections from one address: one machine may hold thousands of bots, but not the whole server.
    pub connections_per_address: usize,
    /// How long a connection may take to agree on TLS and to begin its first request; slower than any network, and short
    /// enough that those who only connect do not gather.
    pub opening: Duration,
    /// Calls and streams of one connection; a proxy may carry many players over one.
    pub streams_per_connection: u32,
    /// Bytes of one request. Every field has a bound of its own far below it.
    pub message_bytes: usize,
    /// Bytes of the names and values of one request's headers. A token and what libraries add are under 1 KiB.
    pub header_bytes: u32,
    /// Bytes of one frame of HTTP/2, of which the least that it allows is enough. Messages are small, and a large frame
    /// keeps others waiting.
    pub frame_bytes: u32,
    /// Bytes that one stream may send unread: several requests of the largest size.
    pub stream_window: u32,
    /// Bytes that one connection may send unread, and what it can make the server hold where its streams together are allowed
    /// more. The transport counts what each unread frame lacks of 256 bytes, and closes the connection when that comes to more
    /// than half of this: a kibibyte for each stream allows two small ones on each.
    pub connection_window: u32,
    /// Streams of one connection that were reset before a service saw them. Beyond it the connection ends: opening and
    /// resetting streams costs a client nothing, and is how servers are worn down (CVE-2023-44487). A client that gives
    /// up everything at once has its 64 streams.
    pub resets_unseen: usize,
    /// Streams of one connection that the transport itself has reset because of what the client did. Beyond it the
    /// connection ends: as many as it may have are no accident any more.
    pub resets_for_faults: usize,
    /// Connections a second of one address that begin to speak, on average: each costs as much as several calls, and with
    /// TLS as many. What comes faster waits, but not so long that, of all that an address may have, begun at once, the last
    /// is late.
    pub openings_per_second: u32,
    /// As many at once, above the average: the bots of one machine that all begin together, and too few to be felt by others.
    pub opening_burst: u32,
    /// Requests of HTTP/1.1 a second from one address, on average: above what the pages of a hundred players ask. What
    /// comes faster waits, so that one who sends thousands at once has little of the server.
    pub http1_requests_per_second: u32,
    /// Requests of HTTP/1.1 at once, above the average: a few pages that are loaded.
    pub http1_request_burst: u32,
    /// How long a request may take to come in and be answered; the length of a stream is not meant. Every call is answered
    /// in seconds, so this ends the requests that are sent a byte at a time.
    pub call_time: Duration,
    /// How often a silent connection is asked whether it lives: a vanished client is noticed within half a minute. One
    /// that sends a header for ever cannot answer in between, and ends as well.
    pub keepalive: Duration,
    /// How long it may take to answer.
    pub keepalive_answer: Duration,
    /// Addresses that are remembered for what they did of late. Those in use are known besides. One costs under 512 bytes,
    /// so all of them 50 MiB.
    pub addresses: usize,
    /// Log-ins at once from one address: a farm of bots that starts, which cannot wait in line.
    pub log_in_burst: u32,
    /// Log-ins a second from one address, on average. Each makes a player that is kept for a day: one address cannot fill
    /// the server with them.
    pub log_ins_per_second: u32,
    /// Passwords and join codes that one player may get wrong in a minute. A person types fewer. With 40 bits in a join
    /// code, and every room of a full server to be hit, a player needs three and a half years for one, and an address that
    /// logs in anew for every few guesses, as often as it may, more than a week.
    pub wrong_guesses_per_minute: u32,
    /// Members of one room. Watchers need not be members.
    pub members_per_room: u16,
    /// How long a lost connection keeps its place: longer than a reboot of a router, shorter than patience.
    pub presence_grace: Duration,
    /// A room without a game in which nothing happens closes after this.
    pub idle_close: Duration,
    /// A room in which nobody plays or watches, and nobody asks for anything, leaves memory after this.
    pub room_sleep: Duration,
    /// A player without rooms and streams who asks nothing for this long is forgotten: the token is good no more, and the
    /// name is free. Short enough that a name taken by one who never came again is soon free.
    pub player_idle: Duration,
    /// A stream of turns on which something has waited unread for this long is cut off: its player is not here. A client
    /// that lives reads within milliseconds, and one that hangs for half a minute begins anew anyway.
    pub reader_patience: Duration,
    /// How long shutting down may take.
    pub drain: Duration,
    /// AI moves that may wait, of quick kinds and of searches each. Beyond it they are answered by the cheap move at once.
    pub ai_queue: usize,
    /// The most MiB that all searches of the engine remember at a time, in equal parts: those of AI seats and of analyses,
    /// one for each thread. Each takes 16 when it is first needed, which 64 threads have with this; with less the highest
    /// levels play worse than they were measured.
    pub ai_memory_mib: u32,
    /// Analyses under way, of which few search and the others wait for their turn. One costs what a stream does.
    pub analyses: usize,
    /// Analyses of one player: the one that is looked at, and the one that takes its place.
    pub analyses_per_player: usize,
    /// Analyses of the players of one address: a few who look back together, and not all that there may be.
    pub analyses_per_address: usize,
    /// Threads that search for analyses, beside those of AI seats, of which they can take little. They share the memory
    /// of those.
    pub analysis_threads: usize,
    /// The longest that one position may be searched: deep enough to learn from, and no longer than others wait for.
    pub analysis_time: Duration,
    /// The longest that all positions of a game may be searched together: two seconds for each.
    pub game_analysis_time: Duration,
    /// Positions that the search of one position may visit: more than a core does in `analysis_time`.
    pub analysis_nodes: u64,
    /// Lines told of one position. Each costs a search of its own.
    pub analysis_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            players: 100_000,
            rooms: 20_000,
            rooms_per_player: 64,
            rooms_per_address: 2_000,
            seats_per_human: 1,
            seats_per_bot: 64,
            seats_per_address: 2_000,
            streams_per_player: 64,
            streams_per_address: 4_000,
            calls_per_player: 1_024,
            calls_per_address: 6_000,
            requests_per_second: 5_000,
            request_burst: 10_000,
            requests_per_second_per_address: 20_000,
            request_burst_per_address: 40_000,
            chats_per_second: 2,
            chat_burst: 10,
            chats_per_second_per_address: 20,
            chat_burst_per_address: 200,
            connections: 16_384,
            connections_per_address: 4_096,
            opening: Duration::from_secs(10),
            streams_per_connection: 1_024,
            message_bytes: 16 * 1024,
            header_bytes: 16 * 1024,
            frame_bytes: 16 * 1024,
            stream_window: 64 * 1024,
            connection_window: 1024 * 1024,
            resets_unseen: 64,
            resets_for_faults: 1_024,
            openings_per_second: 600,
            opening_burst: 256,
            http1_requests_per_second: 1_000,
            http1_request_burst: 200,
            call_time: Duration::from_secs(60),
            keepalive: Duration::from_secs(20),
            keepalive_answer: Duration::from_secs(10),
            addresses: 100_000,
            log_in_burst: 2_000,
            log_ins_per_second: 1,
            wrong_guesses_per_minute: 30,
            members_per_room: 64,
            presence_grace: Duration::from_secs(60),
            idle_close: Duration::from_secs(2 * 60 * 60),
            room_sleep: Duration::from_secs(5 * 60),
            player_idle: Duration::from_secs(24 * 60 * 60),
            reader_patience: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            ai_queue: 4_096,
            ai_memory_mib: 1_024,
            analyses: 64,
            analyses_per_player: 2,
            analyses_per_address: 8,
            analysis_threads: 1,
            analysis_time: Duration::from_secs(30),
            game_analysis_time: Duration::from_secs(120),
            analysis_nodes: 1_000_000_000,
            analysis_lines: 10,
        }
    }
}

/// Messages that wait for one room. A full mailbox makes callers wait, then says BUSY.
pub(crate) const MAILBOX: usize = 32;

/// How long a caller waits for a place in a mailbox.
pub(crate) const MAILBOX_PATIENCE: Duration = Duration::from_secs(2);

/// Events a watcher may be behind before it gets a fresh snapshot.
pub(crate) const WATCHER_LAG: usize = 64;

/// Notices that wait for one player. Who reads fewer is cut off, and finds every open turn again on return.
pub(crate) const INBOX: usize = 256;

/// Notices that are kept for a player who is away: the last games, not a history.
pub(crate) const MISSED: usize = 16;

/// Changes of the room list a lobby watcher may be behind.
pub(crate) const LOBBY_LAG: usize = 1_024;

/// Rows of the room list that are read for one watcher at a time, and sent in one message: far below the 4 MiB that
/// clients take in unless told otherwise, however long the names. Who does not read makes the server hold no more.
pub(crate) const SNAPSHOT_ROWS: usize = 500;

/// How often a lobby watcher is told of changes: what changes more often is told once.
pub(crate) const LOBBY_BEAT: Duration = Duration::from_millis(200);

/// Request ids that are remembered for one player.
pub(crate) const REQUESTS_REMEMBERED: usize = 32;

/// Rooms in which somebody waits for anybody.
pub(crate) const WAITING_ROOMS: usize = 1_024;

/// How long a room waits after its storage failed at a deadline.
pub(crate) const STORE_RETRY: Duration = Duration::from_millis(500);

/// What is kept back of an AI's time for the way of its move to the clock: the greater of this and a tenth.
pub(crate) const AI_MARGIN: Duration = Duration::from_millis(20);

/// Rooms of the list that are looked through for the price of one request: their names are compared in as much time as a
/// move takes.
pub(crate) const ROOMS_SOUGHT: usize = 200;

/// Rooms of the list that are told for the price of one request. Each is copied and written out.
pub(crate) const ROOMS_TOLD: usize = 20;

/// What it costs to ask the archive about one contestant, in requests: it may come from the disk.
pub(crate) const LOOKUP: usize = 2;

/// What a search among the games of all costs, in requests: it may pass over many that are private.
pub(crate) const SEARCH: usize = 20;

/// Games that are read and told for the price of one request. Each is read from the disk, and played through.
pub(crate) const GAMES_TOLD: usize = 5;

/// How long an AI ponders about one position: longer than the highest level takes on a slow core.
pub(crate) const PONDERED: Duration = Duration::from_secs(60);

/// What it costs to have one position analysed, in requests: a game is analysed for the price of a second's requests. How
/// many are searched at a time is bounded besides.
pub(crate) const ANALYSIS: usize = 50;

/// How long the search of an analysis lets AI moves go first: on a server on which some always wait, it has to begin one day.
pub(crate) const SEATS_FIRST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_of_an_address_may_begin_at_once() {
        let limits = Limits::default();
        let waiting = u32::try_from(limits.connections_per_address).unwrap() - limits.opening_burst;
        let last = Duration::from_secs(waiting.into()) / limits.openings_per_second;
        assert!(last * 4 / 3 < limits.opening, "the last one's turn comes after {last:?}");
    }

    #[test]
    fn each_stream_of_a_connection_may_send_two_small_messages_at_once() {
        let limits = Limits::default();
        assert!(limits.connection_window / limits.streams_per_connection >= 2 * 2 * 256);
    }
}
