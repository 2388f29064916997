//! The limits of a server, as options.

use std::time::Duration;

use crate::runtime::Limits;

/// A bound for each thing of which a client could take too much. `GetServerInfo` tells them. There need be none by
/// address, for a server behind a proxy, to which all come from one.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct Bounds {
    /// Connections open at a time; fewer where the system permits fewer open files.
    #[arg(long, env = "REVERSI_MAX_CONNECTIONS", default_value_t = usual().connections, value_name = "N")]
    max_connections: usize,
    /// Connections open at a time from one address; 0 for no limit.
    #[arg(long, env = "REVERSI_MAX_CONNECTIONS_PER_ADDRESS", default_value_t = usual().connections_per_address, value_name = "N")]
    max_connections_per_address: usize,
    /// Seconds in which a connection must agree on TLS and begin its first request.
    #[arg(long, env = "REVERSI_OPENING", default_value_t = usual().opening.as_secs(), value_name = "SECONDS")]
    opening: u64,
    /// Calls and streams of one connection. See --connection-window.
    #[arg(long, env = "REVERSI_MAX_STREAMS_PER_CONNECTION", default_value_t = usual().streams_per_connection, value_name = "N", value_parser = at_least_one())]
    max_streams_per_connection: u32,
    /// Bytes of the headers of one request.
    #[arg(long, env = "REVERSI_MAX_HEADER_BYTES", default_value_t = usual().header_bytes, value_name = "N", value_parser = at_least_one())]
    max_header_bytes: u32,
    /// Bytes of one request.
    #[arg(long, env = "REVERSI_MAX_MESSAGE_BYTES", default_value_t = usual().message_bytes, value_name = "N")]
    max_message_bytes: usize,
    /// Bytes of one frame of HTTP/2.
    #[arg(long, env = "REVERSI_MAX_FRAME_BYTES", default_value_t = usual().frame_bytes, value_name = "N", value_parser = frame_bytes())]
    max_frame_bytes: u32,
    /// Bytes that one stream may send unread.
    #[arg(long, env = "REVERSI_STREAM_WINDOW", default_value_t = usual().stream_window, value_name = "N", value_parser = window(1))]
    stream_window: u32,
    /// Bytes that one connection may send unread. With less than 512 for each of its streams a connection may be closed when
    /// all of them send a small message at once.
    #[arg(long, env = "REVERSI_CONNECTION_WINDOW", default_value_t = usual().connection_window, value_name = "N", value_parser = window(LEAST_WINDOW))]
    connection_window: u32,
    /// Streams of one connection that may be reset before a service saw them.
    #[arg(long, env = "REVERSI_MAX_RESETS_UNSEEN", default_value_t = usual().resets_unseen, value_name = "N")]
    max_resets_unseen: usize,
    /// Streams of one connection that may be reset for what the client did wrong.
    #[arg(long, env = "REVERSI_MAX_RESETS_FOR_FAULTS", default_value_t = usual().resets_for_faults, value_name = "N")]
    max_resets_for_faults: usize,
    /// Connections a second of one address that begin to speak, on average; faster ones wait. 0: none do.
    #[arg(long, env = "REVERSI_OPENING_RATE", default_value_t = usual().openings_per_second, value_name = "N")]
    opening_rate: u32,
    /// Connections of one address that begin to speak at once, above the average.
    #[arg(long, env = "REVERSI_OPENING_BURST", default_value_t = usual().opening_burst, value_name = "N", value_parser = at_least_one())]
    opening_burst: u32,
    /// Requests of HTTP/1.1 a second from one address, on average; faster ones wait. 0: none do.
    #[arg(long, env = "REVERSI_HTTP1_RATE", default_value_t = usual().http1_requests_per_second, value_name = "N")]
    http1_rate: u32,
    /// Requests of HTTP/1.1 at once from one address, above the average.
    #[arg(long, env = "REVERSI_HTTP1_BURST", default_value_t = usual().http1_request_burst, value_name = "N", value_parser = at_least_one())]
    http1_burst: u32,
    /// Seconds in which a request must come in and be answered; streams may go on.
    #[arg(long, env = "REVERSI_CALL_TIME", default_value_t = usual().call_time.as_secs(), value_name = "SECONDS", value_parser = at_least_a_second())]
    call_time: u64,
    /// Seconds after which a silent connection is asked whether it lives.
    #[arg(long, env = "REVERSI_KEEPALIVE", default_value_t = usual().keepalive.as_secs(), value_name = "SECONDS", value_parser = at_least_a_second())]
    keepalive: u64,
    /// Seconds in which it must answer.
    #[arg(long, env = "REVERSI_KEEPALIVE_ANSWER", default_value_t = usual().keepalive_answer.as_secs(), value_name = "SECONDS", value_parser = at_least_a_second())]
    keepalive_answer: u64,
    /// Addresses that are remembered for what they did of late.
    #[arg(long, env = "REVERSI_MAX_ADDRESSES", default_value_t = usual().addresses, value_name = "N")]
    max_addresses: usize,
    /// Log-ins a second from one address, on average; 0 for no limit.
    #[arg(long, env = "REVERSI_LOG_IN_RATE", default_value_t = usual().log_ins_per_second, value_name = "N")]
    log_in_rate: u32,
    /// Log-ins at once from one address, above the average.
    #[arg(long, env = "REVERSI_LOG_IN_BURST", default_value_t = usual().log_in_burst, value_name = "N", value_parser = at_least_one())]
    log_in_burst: u32,
    /// Players known at a time.
    #[arg(long, env = "REVERSI_MAX_PLAYERS", default_value_t = usual().players, value_name = "N")]
    max_players: usize,
    /// Seconds after which a player is forgotten who holds nothing and asks nothing.
    #[arg(long, env = "REVERSI_PLAYER_IDLE", default_value_t = usual().player_idle.as_secs(), value_name = "SECONDS")]
    player_idle: u64,
    /// Requests a second that one player may make, on average.
    #[arg(long, env = "REVERSI_RATE", default_value_t = usual().requests_per_second, value_name = "N", value_parser = at_least_one())]
    rate: u32,
    /// Requests at once, above the average [default: twice the rate].
    #[arg(long, env = "REVERSI_BURST", value_name = "N", value_parser = at_least_one())]
    burst: Option<u32>,
    /// Requests a second from one address, on average; 0 for no limit.
    #[arg(long, env = "REVERSI_RATE_PER_ADDRESS", default_value_t = usual().requests_per_second_per_address, value_name = "N")]
    rate_per_address: u32,
    /// Requests at once from one address, above the average [default: twice the rate].
    #[arg(long, env = "REVERSI_BURST_PER_ADDRESS", value_name = "N", value_parser = at_least_one())]
    burst_per_address: Option<u32>,
    /// Calls of one player that may wait for their answer.
    #[arg(long, env = "REVERSI_MAX_CALLS", default_value_t = usual().calls_per_player, value_name = "N")]
    max_calls: usize,
    /// Calls from one address that may, and streams that need no token; 0 for no limit.
    #[arg(long, env = "REVERSI_MAX_CALLS_PER_ADDRESS", default_value_t = usual().calls_per_address, value_name = "N")]
    max_calls_per_address: usize,
    /// Lines of chat a second that one player may write, on average.
    #[arg(long, env = "REVERSI_CHAT_RATE", default_value_t = usual().chats_per_second, value_name = "N", value_parser = at_least_one())]
    chat_rate: u32,
    /// Lines of chat at once, above the average.
    #[arg(long, env = "REVERSI_CHAT_BURST", default_value_t = usual().chat_burst, value_name = "N", value_parser = at_least_one())]
    chat_burst: u32,
    /// Lines of chat a second from one address, on average; 0 for no limit.
    #[arg(long, env = "REVERSI_CHAT_RATE_PER_ADDRESS", default_value_t = usual().chats_per_second_per_address, value_name = "N")]
    chat_rate_per_address: u32,
    /// Lines of chat at once from one address, above the average.
    #[arg(long, env = "REVERSI_CHAT_BURST_PER_ADDRESS", default_value_t = usual().chat_burst_per_address, value_name = "N", value_parser = at_least_one())]
    chat_burst_per_address: u32,
    /// Passwords and join codes that one player may get wrong in a minute.
    #[arg(long, env = "REVERSI_WRONG_GUESSES", default_value_t = usual().wrong_guesses_per_minute, value_name = "N", value_parser = at_least_one())]
    wrong_guesses: u32,
    /// Streams that one player may have open.
    #[arg(long, env = "REVERSI_MAX_STREAMS", default_value_t = usual().streams_per_player, value_name = "N")]
    max_streams: usize,
    /// Streams that the players of one address may have open; 0 for no limit.
    #[arg(long, env = "REVERSI_MAX_STREAMS_PER_ADDRESS", default_value_t = usual().streams_per_address, value_name = "N")]
    max_streams_per_address: usize,
    /// Rooms of which one player may be a member.
    #[arg(long, env = "REVERSI_MAX_ROOMS_PER_PLAYER", default_value_t = usual().rooms_per_player, value_name = "N")]
    max_rooms_per_player: usize,
    /// Rooms of which the players of one address may be members, each counted for itself; 0 for no limit.
    #[arg(long, env = "REVERSI_MAX_ROOMS_PER_ADDRESS", default_value_t = usual().rooms_per_address, value_name = "N")]
    max_rooms_per_address: usize,
    /// Seats that a person may hold.
    #[arg(long, env = "REVERSI_MAX_SEATS_PER_HUMAN", default_value_t = usual().seats_per_human, value_name = "N")]
    max_seats_per_human: u16,
    /// Seats that a bot may hold.
    #[arg(long, env = "REVERSI_MAX_SEATS", default_value_t = usual().seats_per_bot, value_name = "N")]
    max_seats: u16,
    /// Seats that the players of one address may hold; 0 for no limit.
    #[arg(long, env = "REVERSI_MAX_SEATS_PER_ADDRESS", default_value_t = usual().seats_per_address, value_name = "N")]
    max_seats_per_address: usize,
    /// Rooms open at a time.
    #[arg(long, env = "REVERSI_MAX_ROOMS", default_value_t = usual().rooms, value_name = "N")]
    max_rooms: usize,
    /// Members of one room.
    #[arg(long, env = "REVERSI_MAX_MEMBERS", default_value_t = usual().members_per_room, value_name = "N")]
    max_members: u16,
    /// Seconds after which a room closes in which nothing happens.
    #[arg(long, env = "REVERSI_IDLE_CLOSE", default_value_t = usual().idle_close.as_secs(), value_name = "SECONDS")]
    idle_close: u64,
    /// Seconds after which a room that nobody uses leaves memory.
    #[arg(long, env = "REVERSI_ROOM_SLEEP", default_value_t = usual().room_sleep.as_secs(), value_name = "SECONDS", value_parser = at_least_a_second())]
    room_sleep: u64,
    /// Seconds for which a lost connection keeps its place.
    #[arg(long, env = "REVERSI_GRACE", default_value_t = usual().presence_grace.as_secs(), value_name = "SECONDS")]
    grace: u64,
    /// Seconds for which something may wait unread on a stream of turns before it is cut off.
    #[arg(long, env = "REVERSI_READER_PATIENCE", default_value_t = usual().reader_patience.as_secs(), value_name = "SECONDS", value_parser = at_least_a_second())]
    reader_patience: u64,
    /// AI moves that may wait for a thread; beyond it they are made without a search.
    #[arg(long, env = "REVERSI_AI_QUEUE", default_value_t = usual().ai_queue, value_name = "N")]
    ai_queue: usize,
    /// The most MiB that all searches of `expert` and of analyses remember at a time; each needs 16.
    #[arg(long, env = "REVERSI_AI_MEMORY", default_value_t = usual().ai_memory_mib, value_name = "MIB", value_parser = at_least_one())]
    ai_memory: u32,
    /// Analyses under way at a time.
    #[arg(long, env = "REVERSI_MAX_ANALYSES", default_value_t = usual().analyses, value_name = "N")]
    max_analyses: usize,
    /// Analyses that one player may have under way.
    #[arg(long, env = "REVERSI_MAX_ANALYSES_PER_PLAYER", default_value_t = usual().analyses_per_player, value_name = "N")]
    max_analyses_per_player: usize,
    /// Analyses that the players of one address may have under way; 0 for no limit.
    #[arg(long, env = "REVERSI_MAX_ANALYSES_PER_ADDRESS", default_value_t = usual().analyses_per_address, value_name = "N")]
    max_analyses_per_address: usize,
    /// Threads that search for analyses, beside those of AI seats.
    #[arg(long, env = "REVERSI_ANALYSIS_THREADS", default_value_t = usual().analysis_threads as u32, value_name = "N", value_parser = at_least_one())]
    analysis_threads: u32,
    /// Seconds for which one position may be searched.
    #[arg(long, env = "REVERSI_ANALYSIS_TIME", default_value_t = usual().analysis_time.as_secs(), value_name = "SECONDS")]
    analysis_time: u64,
    /// Seconds for which all positions of a game may be searched together.
    #[arg(long, env = "REVERSI_GAME_ANALYSIS_TIME", default_value_t = usual().game_analysis_time.as_secs(), value_name = "SECONDS")]
    game_analysis_time: u64,
    /// Positions that the search of one position may visit.
    #[arg(long, env = "REVERSI_ANALYSIS_NODES", default_value_t = usual().analysis_nodes, value_name = "N")]
    analysis_nodes: u64,
    /// The best moves that are told of one position.
    #[arg(long, env = "REVERSI_MAX_ANALYSIS_LINES", default_value_t = usual().analysis_lines, value_name = "N")]
    max_analysis_lines: usize,
}

impl Bounds {
    /// The limits that the options ask for.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            connections: self.max_connections,
            connections_per_address: self.max_connections_per_address,
            opening: Duration::from_secs(self.opening),
            streams_per_connection: self.max_streams_per_connection,
            header_bytes: self.max_header_bytes,
            message_bytes: self.max_message_bytes,
            frame_bytes: self.max_frame_bytes,
            stream_window: self.stream_window,
            connection_window: self.connection_window,
            resets_unseen: self.max_resets_unseen,
            resets_for_faults: self.max_resets_for_faults,
            openings_per_second: self.opening_rate,
            opening_burst: self.opening_burst,
            http1_requests_per_second: self.http1_rate,
            http1_request_burst: self.http1_burst,
            call_time: Duration::from_secs(self.call_time),
            keepalive: Duration::from_secs(self.keepalive),
            keepalive_answer: Duration::from_secs(self.keepalive_answer),
            addresses: self.max_addresses,
            log_ins_per_second: self.log_in_rate,
            log_in_burst: self.log_in_burst,
            players: self.max_players,
            player_idle: Duration::from_secs(self.player_idle),
            requests_per_second: self.rate,
            request_burst: self.burst.unwrap_or(self.rate.saturating_mul(2)),
            requests_per_second_per_address: self.rate_per_address,
            request_burst_per_address: self.burst_per_address.unwrap_or(self.rate_per_address.saturating_mul(2)),
            calls_per_player: self.max_calls,
            calls_per_address: self.max_calls_per_address,
            chats_per_second: self.chat_rate,
            chat_burst: self.chat_burst,
            chats_per_second_per_address: self.chat_rate_per_address,
            chat_burst_per_address: self.chat_burst_per_address,
            wrong_guesses_per_minute: self.wrong_guesses,
            streams_per_player: self.max_streams,
            streams_per_address: self.max_streams_per_address,
            rooms_per_player: self.max_rooms_per_player,
            rooms_per_address: self.max_rooms_per_address,
            seats_per_human: self.max_seats_per_human,
            seats_per_bot: self.max_seats,
            seats_per_address: self.max_seats_per_address,
            rooms: self.max_rooms,
            members_per_room: self.max_members,
            idle_close: Duration::from_secs(self.idle_close),
            room_sleep: Duration::from_secs(self.room_sleep),
            presence_grace: Duration::from_secs(self.grace),
            reader_patience: Duration::from_secs(self.reader_patience),
            ai_queue: self.ai_queue,
            ai_memory_mib: self.ai_memory,
            analyses: self.max_analyses,
            analyses_per_player: self.max_analyses_per_player,
            analyses_per_address: self.max_analyses_per_address,
            analysis_threads: usize::try_from(self.analysis_threads).unwrap_or(usize::MAX),
            analysis_time: Duration::from_secs(self.analysis_time),
            game_analysis_time: Duration::from_secs(self.game_analysis_time),
            analysis_nodes: self.analysis_nodes,
            analysis_lines: self.max_analysis_lines,
            // An option of its own, beside what is kept and where to listen.
            drain: usual().drain,
        }
    }
}

fn usual() -> Limits {
    Limits::default()
}

/// A rate of nothing would be no rate.
fn at_least_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// What HTTP/2 allows for the size of a frame.
fn frame_bytes() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1 << 14..1 << 24)
}

/// With less no connection of HTTP/2 can begin.
const LEAST_WINDOW: i64 = (1 << 16) - 1;

/// What HTTP/2 allows for a window, and no less than is of use.
fn window(least: i64) -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(least..1 << 31)
}

/// What is to happen after no time happens all the time. A century is as good as never, and no clock overflows with it.
fn at_least_a_second() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        bounds: Bounds,
    }

    #[test]
    fn without_options_the_limits_are_the_usual_ones() {
        assert_eq!(Alone::parse_from(["serve"]).bounds.limits(), usual());
    }

    #[test]
    fn a_burst_follows_the_rate_unless_it_is_given() {
        let burst = |words: &[&str]| Alone::parse_from(words).bounds.limits().request_burst;
        assert_eq!((burst(&["", "--rate", "7"]), burst(&["", "--rate", "7", "--burst", "9"])), (14, 9));
        assert!(Alone::try_parse_from(["", "--rate", "0"]).is_err());
    }

    #[test]
    fn each_option_is_a_limit_of_its_own() {
        let words = "--max-streams-per-connection 2 --max-header-bytes 3 --call-time 4 --keepalive 5 \
                     --keepalive-answer 6 --max-seats-per-human 7 --room-sleep 8 --reader-patience 9 \
                     --ai-memory 10";
        let asked = Limits {
            streams_per_connection: 2,
            header_bytes: 3,
            call_time: Duration::from_secs(4),
            keepalive: Duration::from_secs(5),
            keepalive_answer: Duration::from_secs(6),
            seats_per_human: 7,
            room_sleep: Duration::from_secs(8),
            reader_patience: Duration::from_secs(9),
            ai_memory_mib: 10,
            ..usual()
        };
        assert_eq!(limits(words), asked);
        for seconds in ["0", "18446744073709551615"] {
            assert!(Alone::try_parse_from(["", "--keepalive", seconds]).is_err());
        }
    }

    #[test]
    fn each_limit_by_address_is_an_option_of_its_own_and_may_be_none() {
        let words = "--max-connections-per-address 0 --max-rooms-per-address 1 --max-seats-per-address 2 \
                     --max-streams-per-address 3 --max-calls-per-address 4 --rate-per-address 5 --log-in-rate 0 \
                     --chat-rate-per-address 6 --chat-burst-per-address 7 --max-addresses 8 --max-calls 9";
        let asked = Limits {
            connections_per_address: 0,
            rooms_per_address: 1,
            seats_per_address: 2,
            streams_per_address: 3,
            calls_per_address: 4,
            requests_per_second_per_address: 5,
            request_burst_per_address: 10,
            log_ins_per_second: 0,
            chats_per_second_per_address: 6,
            chat_burst_per_address: 7,
            addresses: 8,
            calls_per_player: 9,
            ..usual()
        };
        assert_eq!(limits(words), asked);
    }

    #[test]
    fn each_limit_of_analyses_is_an_option_of_its_own() {
        let words = "--max-analyses 1 --max-analyses-per-player 2 --max-analyses-per-address 0 --analysis-threads 4 \
                     --analysis-time 5 --game-analysis-time 6 --analysis-nodes 7 --max-analysis-lines 8";
        let asked = Limits {
            analyses: 1,
            analyses_per_player: 2,
            analyses_per_address: 0,
            analysis_threads: 4,
            analysis_time: Duration::from_secs(5),
            game_analysis_time: Duration::from_secs(6),
            analysis_nodes: 7,
            analysis_lines: 8,
            ..usual()
        };
        assert_eq!(limits(words), asked);
        assert!(Alone::try_parse_from(["", "--analysis-threads", "0"]).is_err());
    }

    #[test]
    fn what_http_2_cannot_do_is_refused() {
        let words = "--max-message-bytes 1 --max-frame-bytes 16384 --stream-window 2 --connection-window 65535 \
                     --max-resets-unseen 3 --max-resets-for-faults 4";
        let asked = Limits {
            message_bytes: 1,
            frame_bytes: 16_384,
            stream_window: 2,
            connection_window: 65_535,
            resets_unseen: 3,
            resets_for_faults: 4,
            ..usual()
        };
        assert_eq!(limits(words), asked);
        for (option, value) in [
            ("--max-frame-bytes", "16383"),
            ("--max-frame-bytes", "16777216"),
            ("--stream-window", "0"),
            ("--connection-window", "65534"),
            ("--connection-window", "2147483648"),
        ] {
            assert!(Alone::try_parse_from(["", option, value]).is_err(), "{option} {value}");
        }
    }

    fn limits(words: &str) -> Limits {
        Alone::parse_from(["serve"].into_iter().chain(words.split_whitespace())).bounds.limits()
    }
}
