//! The limits of a server, as options.

use std::time::Duration;

use crate::runtime::Limits;

/// A bound for each thing of which a client could take too much. `GetServerInfo` tells them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct Bounds {
    /// Connections open at a time; fewer where the system permits fewer open files.
    #[arg(long, env = "REVERSI_MAX_CONNECTIONS", default_value_t = usual().connections, value_name = "N")]
    max_connections: usize,
    /// Connections open at a time from one address.
    #[arg(long, env = "REVERSI_MAX_CONNECTIONS_PER_ADDRESS", default_value_t = usual().connections_per_address, value_name = "N")]
    max_connections_per_address: usize,
    /// Seconds in which a connection must agree on TLS and begin its first request.
    #[arg(long, env = "REVERSI_OPENING", default_value_t = usual().opening.as_secs(), value_name = "SECONDS")]
    opening: u64,
    /// Calls and streams of one connection.
    #[arg(long, env = "REVERSI_MAX_STREAMS_PER_CONNECTION", default_value_t = usual().streams_per_connection, value_name = "N", value_parser = at_least_one())]
    max_streams_per_connection: u32,
    /// Bytes of the headers of one request.
    #[arg(long, env = "REVERSI_MAX_HEADER_BYTES", default_value_t = usual().header_bytes, value_name = "N", value_parser = at_least_one())]
    max_header_bytes: u32,
    /// Requests of HTTP/1.1 a second from one address, on average; faster ones wait.
    #[arg(long, env = "REVERSI_HTTP1_RATE", default_value_t = usual().http1_requests_per_second, value_name = "N", value_parser = at_least_one())]
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
    /// Log-ins a second from one address, on average.
    #[arg(long, env = "REVERSI_LOG_IN_RATE", default_value_t = usual().log_ins_per_second, value_name = "N", value_parser = at_least_one())]
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
    /// Lines of chat a second that one player may write, on average.
    #[arg(long, env = "REVERSI_CHAT_RATE", default_value_t = usual().chats_per_second, value_name = "N", value_parser = at_least_one())]
    chat_rate: u32,
    /// Lines of chat at once, above the average.
    #[arg(long, env = "REVERSI_CHAT_BURST", default_value_t = usual().chat_burst, value_name = "N", value_parser = at_least_one())]
    chat_burst: u32,
    /// Passwords and join codes that one player may get wrong in a minute.
    #[arg(long, env = "REVERSI_WRONG_GUESSES", default_value_t = usual().wrong_guesses_per_minute, value_name = "N", value_parser = at_least_one())]
    wrong_guesses: u32,
    /// Streams that one player may have open.
    #[arg(long, env = "REVERSI_MAX_STREAMS", default_value_t = usual().streams_per_player, value_name = "N")]
    max_streams: usize,
    /// Rooms of which one player may be a member.
    #[arg(long, env = "REVERSI_MAX_ROOMS_PER_PLAYER", default_value_t = usual().rooms_per_player, value_name = "N")]
    max_rooms_per_player: usize,
    /// Seats that a person may hold.
    #[arg(long, env = "REVERSI_MAX_SEATS_PER_HUMAN", default_value_t = usual().seats_per_human, value_name = "N")]
    max_seats_per_human: u16,
    /// Seats that a bot may hold.
    #[arg(long, env = "REVERSI_MAX_SEATS", default_value_t = usual().seats_per_bot, value_name = "N")]
    max_seats: u16,
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
            http1_requests_per_second: self.http1_rate,
            http1_request_burst: self.http1_burst,
            call_time: Duration::from_secs(self.call_time),
            keepalive: Duration::from_secs(self.keepalive),
            keepalive_answer: Duration::from_secs(self.keepalive_answer),
            log_ins_per_second: self.log_in_rate,
            log_in_burst: self.log_in_burst,
            players: self.max_players,
            player_idle: Duration::from_secs(self.player_idle),
            requests_per_second: self.rate,
            request_burst: self.burst.unwrap_or(self.rate.saturating_mul(2)),
            chats_per_second: self.chat_rate,
            chat_burst: self.chat_burst,
            wrong_guesses_per_minute: self.wrong_guesses,
            streams_per_player: self.max_streams,
            rooms_per_player: self.max_rooms_per_player,
            seats_per_human: self.max_seats_per_human,
            seats_per_bot: self.max_seats,
            rooms: self.max_rooms,
            members_per_room: self.max_members,
            idle_close: Duration::from_secs(self.idle_close),
            room_sleep: Duration::from_secs(self.room_sleep),
            presence_grace: Duration::from_secs(self.grace),
            reader_patience: Duration::from_secs(self.reader_patience),
            ai_queue: self.ai_queue,
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
                     --keepalive-answer 6 --max-seats-per-human 7 --room-sleep 8 --reader-patience 9";
        let asked = Limits {
            streams_per_connection: 2,
            header_bytes: 3,
            call_time: Duration::from_secs(4),
            keepalive: Duration::from_secs(5),
            keepalive_answer: Duration::from_secs(6),
            seats_per_human: 7,
            room_sleep: Duration::from_secs(8),
            reader_patience: Duration::from_secs(9),
            ..usual()
        };
        assert_eq!(Alone::parse_from(["serve"].into_iter().chain(words.split_whitespace())).bounds.limits(), asked);
        for seconds in ["0", "18446744073709551615"] {
            assert!(Alone::try_parse_from(["", "--keepalive", seconds]).is_err());
        }
    }
}
