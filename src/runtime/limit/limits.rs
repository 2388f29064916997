//! The limits of a server in one table, each with its reason. A bound without an option stands beside what it bounds.

use std::{ops::RangeInclusive, time::Duration};

/// Calls `$then!` with the table of limits, in the order of `reversi serve --help`. [`Limits`], the options with their
/// environment variables, and the answer of `GetServerInfo` are generated from it.
///
/// A row: field, type, default; unit and range of the option (times in seconds); option; help; reason. A limit by
/// address may be 0 for no limit: behind a proxy all clients share one address.
#[rustfmt::skip]
macro_rules! limits_table {
    ($then:ident) => {
        $then! {
            connections: usize = 16_384, N from 1, "max-connections":
                "Connections open at a time; the system must permit as many open files and 256 more",
                "One costs under 100 KiB, and a file descriptor.";
            connections_per_address: usize = 4_096, N from 0, "max-connections-per-address":
                "Connections open at a time from one address; 0 for no limit",
                "One machine may run thousands of bots, but not use the whole server.";
            opening: Duration = Duration::from_secs(10), SECONDS from 0, "opening":
                "Time in which a connection must agree on TLS and begin its first request",
                "Slower than any network, and short enough that connections without requests do not pile up.";
            streams_per_connection: u32 = 1_024, N from 1, "max-streams-per-connection":
                "Calls and streams of one connection. See --connection-window",
                "A proxy may carry many players over one connection.";
            header_bytes: u32 = 16 * 1024, BYTES from 1, "max-header-bytes":
                "Size of the headers of one request",
                "A token and what libraries add are under 1 KiB.";
            message_bytes: usize = 16 * 1024, BYTES from 0, "max-message-bytes":
                "Size of one request",
                "Every field has a much lower limit of its own.";
            frame_bytes: u32 = 16 * 1024, BYTES from (1 << 14) to ((1 << 24) - 1), "max-frame-bytes":
                "Size of one frame of HTTP/2",
                "The least that HTTP/2 allows: messages are small, and a large frame delays other streams.";
            stream_window: u32 = 64 * 1024, BYTES from 1 to ((1 << 31) - 1), "stream-window":
                "Unread bytes that one stream may send",
                "Several requests of the largest size.";
            connection_window: u32 = 1024 * 1024, BYTES from ((1 << 16) - 1) to ((1 << 31) - 1), "connection-window":
                "Unread bytes that one connection may send. With less than 512 for each of its streams, a \
                    connection may be closed when all of them send a small message at once",
                "Also bounds the memory of all its streams together. The transport counts what each unread \
                    frame lacks of 256 bytes, and closes the connection when the sum exceeds half of this: 1 KiB for \
                    each stream allows two small frames on each. The minimum is the initial window of HTTP/2.";
            resets_unseen: usize = 64, N from 0, "max-resets-unseen":
                "Streams of one connection that may be reset before a service has seen them",
                "Beyond it the connection is closed: resets cost a client nothing and are used for attacks \
                    (CVE-2023-44487). A client that cancels everything at once has 64 streams.";
            resets_for_faults: usize = 1_024, N from 0, "max-resets-for-faults":
                "Streams of one connection that may be reset because of the client's errors",
                "Beyond it the connection is closed: one for each of its streams is no accident.";
            control_frames_per_second: u32 = 100, N from 1, "control-frame-rate":
                "Control frames of HTTP/2 a second on one connection, on average, and four more for each frame of an \
                    answer. A connection that sends more is closed",
                "Settings, pings, window updates, resets and empty frames cost a client almost nothing. A client sends \
                    a few at first, one in several seconds to stay connected, and up to four for each frame that it \
                    receives: two window updates, a ping to measure the connection, and settings.";
            control_frame_burst: u32 = 2_000, N from 1, "control-frame-burst":
                "Control frames at once of one connection that has sent few before",
                "A client may reset all its streams at once. A new connection begins with one second of the rate, so \
                    that an attacker gains nothing by connecting again.";
            openings_per_second: u32 = 600, N from 0, "opening-rate":
                "New connections a second from one address, on average; faster ones wait. 0 for no limit",
                "Each costs as much as several calls, more with TLS. High enough that of all connections of an \
                    address, opened at once, the last still meets `opening`.";
            opening_burst: u32 = 256, N from 1, "opening-burst":
                "New connections at once from one address, above the average",
                "The bots of one machine that start together, and too few to slow down other clients.";
            http1_requests_per_second: u32 = 1_000, N from 0, "http1-rate":
                "HTTP/1.1 requests, and further parts of requests, a second from one address, on average; faster ones wait. 0 \
                    for no limit",
                "More than the pages of a hundred players send.";
            http1_request_burst: u32 = 200, N from 1, "http1-burst":
                "HTTP/1.1 requests at once from one address, above the average",
                "A few pages that load at the same time.";
            call_time: Duration = Duration::from_secs(60), SECONDS from 1 to U32_MAX, "call-time":
                "Time in which a request must arrive and be answered; streams may last longer",
                "Every call is answered within seconds; this ends requests that arrive a byte at a time.";
            keepalive: Duration = Duration::from_secs(20), SECONDS from 1 to U32_MAX, "keepalive":
                "Interval of the pings to a connection of HTTP/2",
                "With `keepalive_answer`, a client that disappeared is noticed within half a minute. One that \
                    sends a header for ever cannot answer in between, and is disconnected as well.";
            keepalive_answer: Duration = Duration::from_secs(10), SECONDS from 1 to U32_MAX, "keepalive-answer":
                "Time in which it must answer the ping",
                "Slower than any network.";
            addresses: usize = 100_000, N from 0, "max-addresses":
                "Addresses whose recent use is remembered",
                "Addresses in use are kept in addition. One costs under 512 bytes: 50 MiB for all.";
            log_ins_per_minute: u32 = 12, N from 0, "log-in-rate":
                "Log-ins a minute from one address, on average; 0 for no limit",
                "A client logs in once and keeps its token. Each log-in makes a player.";
            log_in_burst: u32 = 200, N from 1, "log-in-burst":
                "Log-ins at once from one address, above the average",
                "A school, or the bots of one machine when they start.";
            players: usize = 100_000, N from 1, "max-players":
                "Players known at a time. When all places are taken, a new player gets that of a guest",
                "One costs under 1 KiB: 100 MiB for all. A guest has claimed no name and finished no game.";
            players_per_address: usize = 1_000, N from 0, "max-players-per-address":
                "Players known of one address, and an eighth of those of its network (/24, IPv6 /48); 0 for no limit",
                "A large school or a farm of bots, and a hundredth of the server's places.";
            guest_idle: Duration = Duration::from_secs(10 * 60), SECONDS from 0, "guest-idle":
                "Time after which a guest without rooms, streams and requests is forgotten; a tenth of it when all \
                    places are taken; with --node-listen see --player-idle",
                "Guests have no results to lose. The tenth protects one who has just logged in against a flood of \
                    log-ins.";
            player_idle: Duration = Duration::from_secs(24 * 60 * 60), SECONDS from 0, "player-idle":
                "The same for a player who has finished a game",
                "Their token is then invalid and their name free again.";
            claimed_idle: Duration = Duration::from_secs(90 * 24 * 60 * 60), SECONDS from 0, "claimed-idle":
                "The same for a player who has claimed the name",
                "Long enough for holidays; after that, others may have the name.";
            requests_per_second: u32 = 5_000, N from 1, "rate":
                "Requests a second of one player, on average",
                "A bot at full speed on the same machine stays below it.";
            request_burst: u32 = 10_000, N from 1, "burst":
                "Requests at once of one player, above the average; twice --rate if left out",
                "Two seconds of the average.";
            requests_per_second_per_address: u32 = 5_000, N from 0, "rate-per-address":
                "Requests a second from one address, on average; 0 for no limit",
                "A bot at full speed, or thousands that think; about a quarter of a processor. Requests without a valid \
                    token count too.";
            request_burst_per_address: u32 = 10_000, N from 1, "burst-per-address":
                "Requests at once from one address, above the average; twice --rate-per-address if left out",
                "Two seconds of the average.";
            calls_per_player: usize = 1_024, N from 1, "max-calls":
                "Unfinished calls of one player, streams included",
                "As many as one connection has.";
            calls_per_address: usize = 6_000, N from 0, "max-calls-per-address":
                "Unfinished calls from one address, streams included; 0 for no limit",
                "Several of each of `players_per_address`; requests for the page count too. A \
                    call whose message of the largest size lacks its last byte took 41 KiB; an unread answer takes 8 \
                    KiB.";
            chats_per_second: u32 = 2, N from 1, "chat-rate":
                "Chat lines a second of one player, on average",
                "Faster than people type. Every line goes to all watchers, and must not flood them.";
            chat_burst: u32 = 10, N from 1, "chat-burst":
                "Chat lines at once of one player, above the average",
                "Few compared with the events that a watcher may lag behind.";
            chats_per_second_per_address: u32 = 20, N from 0, "chat-rate-per-address":
                "Chat lines a second from one address, on average; 0 for no limit",
                "A class that chats, and few enough that the store keeps up with games.";
            chat_burst_per_address: u32 = 200, N from 1, "chat-burst-per-address":
                "Chat lines at once from one address, above the average",
                "A full room in which everybody greets.";
            games_per_minute: u32 = 60, N from 0, "game-rate":
                "Games a minute that one player starts, and calls with a request id, on average; 0 for no limit",
                "The archive keeps every game: at 600 bytes each, one player fills 50 MB a day. Fewer than \
                    anybody plays, and than a series of bots that think. The next game of a faster series waits.";
            game_burst: u32 = 600, N from 1, "game-burst":
                "Games that one player starts at once, above the average",
                "A tournament whose rooms all begin together.";
            games_per_minute_per_address: u32 = 600, N from 0, "game-rate-per-address":
                "Games a minute that all players of one address start, on average; 0 for no limit",
                "Ten tournaments. An address fills 500 MB a day.";
            game_burst_per_address: u32 = 6_000, N from 1, "game-burst-per-address":
                "Games that all players of one address start at once, above the average",
                "The burst of ten tournaments.";
            tournaments_per_address: usize = 20, N from 0, "max-tournaments-per-address":
                "Tournaments that all players of one address organise at a time; 0 for no limit",
                "Five organisers with all that they may have, and a twenty-fifth of the server's places.";
            tournaments_per_hour: u32 = 20, N from 0, "tournament-rate":
                "Tournaments an hour that one player creates, on average, and at once; 0 for no limit",
                "The list keeps every tournament. More than anybody organises.";
            tournaments_per_hour_per_address: u32 = 40, N from 0, "tournament-rate-per-address":
                "Tournaments an hour that all players of one address create, on average, and at once; 0 for no limit",
                "A flood fills five pages of the list a day, not one a second.";
            wrong_guesses_per_minute: u32 = 30, N from 1, "wrong-guesses":
                "Wrong passwords and join codes of one player in a minute",
                "More than a person types.";
            wrong_guesses_per_address: u32 = 30, N from 0, "wrong-guesses-per-address":
                "Wrong passwords and join codes from one address before it waits after each further one, up to a \
                    minute; one is forgotten in ten minutes. 0 for no limit",
                "A school that types. A join code has 40 bits: with every room of a full server as a target, an \
                    address needs a century to hit one.";
            streams_per_player: usize = 64, N from 1, "max-streams":
                "Open streams of one player",
                "One for turns, the others to watch.";
            streams_per_address: usize = 4_000, N from 0, "max-streams-per-address":
                "Open streams of all players of one address; 0 for no limit",
                "Four for each of `players_per_address`. One costs under 64 KiB.";
            rooms_per_player: usize = 64, N from 1, "max-rooms-per-player":
                "Rooms of which one player may be a member",
                "Enough for a bot that runs a tournament.";
            rooms_per_address: usize = 2_000, N from 0, "max-rooms-per-address":
                "Memberships in rooms of all players of one address; 0 for no limit",
                "Two for each of `players_per_address`, and a tenth of the server's rooms.";
            seats_per_human: u16 = 1, N from 0, "max-seats-per-human":
                "Seats that a person may hold",
                "A person plays one game at a time.";
            seats_per_bot: u16 = 64, N from 0, "max-seats":
                "Seats that a bot may hold",
                "The most that a bot may declare at its log-in.";
            seats_per_address: usize = 2_000, N from 0, "max-seats-per-address":
                "Seats that all players of one address may hold; 0 for no limit",
                "Two for each of `players_per_address`.";
            rooms: usize = 20_000, N from 1, "max-rooms":
                "Rooms open at a time",
                "One costs under 8 KiB, without its watchers.";
            members_per_room: u16 = 64, N from 1, "max-members":
                "Members of one room",
                "Watchers need not be members.";
            idle_close: Duration = Duration::from_secs(2 * 60 * 60), SECONDS from 0, "idle-close":
                "Time after which a room without a game and without activity closes",
                "Longer than a break between two games.";
            room_sleep: Duration = Duration::from_secs(5 * 60), SECONDS from 1 to U32_MAX, "room-sleep":
                "Time after which an unused room leaves memory",
                "A room is unused without players, watchers and requests. It is loaded again when needed.";
            presence_grace: Duration = Duration::from_secs(60), SECONDS from 0, "grace":
                "Time for which a player who lost the connection keeps the place",
                "Longer than the restart of a router, shorter than the patience of an opponent.";
            reader_patience: Duration = Duration::from_secs(30), SECONDS from 1 to U32_MAX, "reader-patience":
                "Time for which a message may wait unread on a stream of turns before the stream is closed",
                "A live client reads within milliseconds, and one that hangs for half a minute reconnects \
                    anyway.";
            ai_queue: usize = 4_096, N from 0, "ai-queue":
                "AI moves that may wait for a thread; further ones are made without a search: those of the player with \
                    the most",
                "Counted separately for searches and for quick kinds; of these, simply the latest are made so.";
            ai_seconds_per_minute: u32 = 120, SECONDS from 1, "ai-seconds":
                "Search time a minute of the AI seats in rooms of one player. Beyond it, their searches yield to all \
                    others",
                "Two threads all the time: more than the opponents of a person need. All players have equal shares of \
                    the threads anyway; this puts one who always uses them behind those who seldom do.";
            ai_seconds_per_minute_per_address: u32 = 240, SECONDS from 0, "ai-seconds-per-address":
                "The same for all players of one address together; 0 for no limit, and no share by address",
                "Two players who use their limit, or dozens of people.";
            ai_memory_mib: u32 = 1_024, MIB from 1, "ai-memory":
                "Memory of all searches of `expert` and of analyses together; each needs 16 MiB",
                "Divided equally between the threads of AI seats and of analyses, and allocated when first \
                    needed: enough for 64 threads. With less the highest levels play worse than measured.";
            analyses: usize = 64, N from 0, "max-analyses":
                "Analyses under way at a time",
                "Few search at a time, the others wait. One costs as much as a stream.";
            analyses_per_player: usize = 2, N from 0, "max-analyses-per-player":
                "Analyses of one player under way at a time",
                "The one that is shown, and the one that replaces it.";
            analyses_per_address: usize = 8, N from 0, "max-analyses-per-address":
                "Analyses of all players of one address under way at a time; 0 for no limit",
                "Enough for a few players, and a fraction of the server's.";
            analysis_threads: usize = 1, N from 1 to U32_MAX, "analysis-threads":
                "Threads that search for analyses, besides those of AI seats",
                "AI seats lose little time to it, and share their memory with it.";
            analysis_time: Duration = Duration::from_secs(30), SECONDS from 0, "analysis-time":
                "Time for the search of one position",
                "Deep enough to learn from, and no longer than other analyses can wait.";
            game_analysis_time: Duration = Duration::from_secs(120), SECONDS from 0, "game-analysis-time":
                "Time for the search of all positions of a game together",
                "Two seconds for each.";
            analysis_nodes: u64 = 1_000_000_000, N from 0, "analysis-nodes":
                "Positions that the search of one position may visit",
                "More than a core visits in `analysis_time`.";
            analysis_lines: usize = 10, N from 1, "max-analysis-lines":
                "Best moves that are reported of one position",
                "Each costs a search of its own.";
            drain: Duration = Duration::from_secs(10), SECONDS from 0, "drain":
                "Time in which streams and tasks end when the server stops; handing rooms to other servers takes up to 5 \
                    seconds before",
                "Calls under way are answered within it.";
        }
    };
}

/// The highest value of limits that must be bounded; as seconds, 136 years, with which clocks do not overflow.
const U32_MAX: u64 = u32::MAX as u64;

/// A row of the table of limits.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The field of [`Limits`].
    pub name: &'static str,
    /// The option of `reversi serve`, without dashes.
    pub flag: &'static str,
    /// The description of the option.
    pub help: &'static str,
    /// The unit of its value; `N` for a count.
    pub unit: &'static str,
    /// The values that the option accepts.
    pub range: RangeInclusive<u64>,
    /// Reads the limit; times in whole seconds.
    pub get: fn(&Limits) -> u64,
    /// Sets the limit to a value in range.
    pub set: fn(&mut Limits, u64),
}

trait LimitValue {
    const MAX: u64;

    fn to_number(self) -> u64;

    fn from_number(number: u64) -> Self;
}

macro_rules! integer_limits {
    ($($type:ident)+) => {
        $(impl LimitValue for $type {
            const MAX: u64 = $type::MAX as u64;

            fn to_number(self) -> u64 {
                self as u64
            }

            fn from_number(number: u64) -> Self {
                number.min(Self::MAX as u64) as Self
            }
        })+
    };
}

integer_limits!(u16 u32 u64 usize);

impl LimitValue for Duration {
    const MAX: u64 = u64::MAX;

    fn to_number(self) -> u64 {
        self.as_secs()
    }

    fn from_number(seconds: u64) -> Self {
        Self::from_secs(seconds)
    }
}

/// The highest value of an option: the given one, or else the type's.
macro_rules! highest {
    ($type:ident) => {
        <$type as LimitValue>::MAX
    };
    ($type:ident $most:tt) => {
        $most
    };
}

macro_rules! define_limits {
    ($($name:ident: $type:ident = $default:expr, $unit:ident from $least:tt $(to $most:tt)?, $flag:literal:
        $help:literal, $reason:literal;)*) => {
        /// What one client may use of the server, and how long operations may take.
        ///
        /// Limits are by player and by address: a client that logs in a hundred times gets no more from its address.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = $help] #[doc = "\n\n"] #[doc = $reason] pub $name: $type,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        impl Limits {
            /// All limits, in the order of `reversi serve --help`.
            pub const TABLE: &[Limit] = &[$(Limit {
                name: stringify!($name),
                flag: $flag,
                help: $help,
                unit: stringify!($unit),
                range: $least..=highest!($type $($most)?),
                get: |limits| limits.$name.to_number(),
                set: |limits, number| limits.$name = LimitValue::from_number(number),
            }),*];
        }
    };
}

limits_table!(define_limits);
pub(crate) use limits_table;

/// Pause before an operation of the store that failed is tried again.
pub(crate) const STORE_RETRY: Duration = Duration::from_millis(500);

/// Pause before what damage of the store has refused is tried again: only a new start with a sound file may help.
pub(crate) const DAMAGE_RETRY: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_of_an_address_may_begin_at_once() {
        let limits = Limits::default();
        let waiting = u32::try_from(limits.connections_per_address).unwrap() - limits.opening_burst;
        let last = Duration::from_secs(waiting.into()) / limits.openings_per_second;
        assert!(last * 4 / 3 < limits.opening, "the last connection waits {last:?}");
    }

    #[test]
    fn each_stream_of_a_connection_may_send_two_small_messages_at_once() {
        let limits = Limits::default();
        assert!(limits.connection_window / limits.streams_per_connection >= 2 * 2 * 256);
    }
}
