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
    /// Seconds for which a lost connection keeps its place.
    #[arg(long, env = "REVERSI_GRACE", default_value_t = usual().presence_grace.as_secs(), value_name = "SECONDS")]
    grace: u64,
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
            seats_per_bot: self.max_seats,
            rooms: self.max_rooms,
            members_per_room: self.max_members,
            idle_close: Duration::from_secs(self.idle_close),
            presence_grace: Duration::from_secs(self.grace),
            ai_queue: self.ai_queue,
            ..usual()
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
}
