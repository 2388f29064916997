//! The description of a server: AIs, limits and counts.

use std::time::{Duration, SystemTime};

use super::{Malformed, parse};
use crate::v1;

/// An AI that a seat may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiKind {
    /// Its name in requests.
    pub kind: String,
    /// Its description in words.
    pub summary: String,
    /// Levels are 1 to this.
    pub levels: u32,
    /// The level when none is given.
    pub default_level: u32,
    /// Its measured strength, in words.
    pub strength: String,
    /// Its measured strength by level; empty where it was not measured.
    pub elo: Vec<Elo>,
}

/// A strength in Elo, relative to `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elo {
    /// The estimate; 400 more are ten points for each of the other's.
    pub elo: i32,
    /// The half-width of the 95 % interval.
    pub error: u32,
}

impl TryFrom<v1::AiKind> for AiKind {
    type Error = Malformed;

    fn try_from(kind: v1::AiKind) -> Result<Self, Malformed> {
        Ok(Self {
            kind: kind.kind,
            summary: kind.summary,
            levels: parse::count(kind.levels, "AI levels")?,
            default_level: parse::count(kind.default_level, "default AI level")?,
            strength: kind.strength,
            elo: parse::all(kind.elo)?,
        })
    }
}

impl TryFrom<v1::Elo> for Elo {
    type Error = Malformed;

    fn try_from(measured: v1::Elo) -> Result<Self, Malformed> {
        Ok(Self { elo: measured.elo, error: parse::count(measured.error, "error of an Elo")? })
    }
}

/// The bounds a client meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Rooms that one player may own.
    pub rooms_per_player: u32,
    /// Seats that a person may hold.
    pub seats_per_human: u32,
    /// Seats that a bot may ask for.
    pub seats_per_bot: u32,
    /// Streams that one player may have open.
    pub streams_per_player: u32,
    /// Requests that one player may make in a second.
    pub requests_per_second: u32,
    /// Members that a room may have.
    pub members_per_room: u32,
    /// Characters of a display name.
    pub name_characters: u32,
    /// Characters of a room's name.
    pub room_name_characters: u32,
    /// Characters of a chat line.
    pub chat_characters: u32,
    /// Games in a series.
    pub games_per_series: u32,
    /// Bytes of a request.
    pub message_bytes: u32,
    /// The grace time of a lost connection.
    pub presence_grace: Option<Duration>,
    /// The time after which an idle room closes.
    pub idle_close: Option<Duration>,
    /// Requests at once, above the average.
    pub request_burst: u32,
    /// Lines of chat that one player may write in a second.
    pub chats_per_second: u32,
    /// Lines of chat at once, above the average.
    pub chat_burst: u32,
    /// Passwords and join codes that one player may get wrong in a minute.
    pub wrong_guesses_per_minute: u32,
    /// Log-ins from one address in a second.
    pub log_ins_per_second: u32,
    /// Log-ins at once, above the average.
    pub log_in_burst: u32,
    /// Open connections.
    pub connections: u32,
    /// Those from one address.
    pub connections_per_address: u32,
    /// How long a connection may take to begin its first request.
    pub opening: Option<Duration>,
    /// Calls and streams of one connection.
    pub streams_per_connection: u32,
    /// Bytes of the headers of one request.
    pub header_bytes: u32,
    /// Players of the server.
    pub players: u32,
    /// Rooms of the server.
    pub rooms: u32,
    /// The time after which an idle player is forgotten.
    pub player_idle: Option<Duration>,
    /// AI moves that may wait for a thread.
    pub ai_queue: u32,
    /// The time after which an unused room is unloaded from memory.
    pub room_sleep: Option<Duration>,
    /// How long something may wait unread on a stream of turns.
    pub reader_patience: Option<Duration>,
    /// How long the server may take to stop.
    pub drain: Option<Duration>,
    /// How long a request may take to come in and be answered.
    pub call_time: Option<Duration>,
    /// The time without data after which a connection is pinged.
    pub keepalive: Option<Duration>,
    /// The time to answer a ping.
    pub keepalive_answer: Option<Duration>,
    /// Rooms of which the players of one address may be members; 0 for any number, as of all limits by address.
    pub rooms_per_address: u32,
    /// Seats that the players of one address may hold.
    pub seats_per_address: u32,
    /// Streams that they may have open.
    pub streams_per_address: u32,
    /// Calls of one player that may wait for their answer.
    pub calls_per_player: u32,
    /// Calls of one address that may wait for their answer.
    pub calls_per_address: u32,
    /// Requests of one address in a second.
    pub requests_per_second_per_address: u32,
    /// Requests at once, above the average.
    pub request_burst_per_address: u32,
    /// Lines of chat of one address in a second.
    pub chats_per_second_per_address: u32,
    /// Lines of chat at once, above the average.
    pub chat_burst_per_address: u32,
    /// Addresses that the rate limiters remember.
    pub addresses: u32,
    /// Bytes of one frame of HTTP/2.
    pub frame_bytes: u32,
    /// Bytes that one stream may send unread.
    pub stream_window: u32,
    /// Bytes that one connection may send unread.
    pub connection_window: u32,
    /// Streams of one connection that may be reset before a service saw them.
    pub resets_unseen: u32,
    /// Streams of one connection that may be reset for errors of the client.
    pub resets_for_faults: u32,
    /// Requests of HTTP/1.1 a second of one address, on average; 0 is no limit. Faster ones wait.
    pub http1_requests_per_second: u32,
    /// Requests of HTTP/1.1 of one address at once, above the average.
    pub http1_request_burst: u32,
    /// Connections a second of one address that begin their first request, on average; 0 is no limit. Faster ones wait.
    pub openings_per_second: u32,
    /// Connections of one address at once, above the average.
    pub opening_burst: u32,
    /// MiB of the transposition tables of `expert` and of analyses together.
    pub ai_memory_mib: u32,
    /// Analyses under way.
    pub analyses: u32,
    /// Those of one player.
    pub analyses_per_player: u32,
    /// Those of the players of one address.
    pub analyses_per_address: u32,
    /// Analyses that search at a time.
    pub analysis_threads: u32,
    /// The search time of one position.
    pub analysis_time: Option<Duration>,
    /// The search time of all positions of a game.
    pub game_analysis_time: Option<Duration>,
    /// Positions that the search of one position may visit.
    pub analysis_nodes: u64,
    /// The most lines of one position.
    pub analysis_lines: u32,
}

impl TryFrom<v1::Limits> for Limits {
    type Error = Malformed;

    fn try_from(limits: v1::Limits) -> Result<Self, Malformed> {
        Ok(Self {
            rooms_per_player: parse::count(limits.rooms_per_player, "room limit")?,
            seats_per_human: parse::count(limits.seats_per_human, "seat limit")?,
            seats_per_bot: parse::count(limits.seats_per_bot, "bot's seat limit")?,
            streams_per_player: parse::count(limits.streams_per_player, "stream limit")?,
            requests_per_second: parse::count(limits.requests_per_second, "request limit")?,
            members_per_room: parse::count(limits.members_per_room, "member limit")?,
            name_characters: parse::count(limits.name_characters, "name limit")?,
            room_name_characters: parse::count(limits.room_name_characters, "room name limit")?,
            chat_characters: parse::count(limits.chat_characters, "chat limit")?,
            games_per_series: parse::count(limits.games_per_series, "series limit")?,
            message_bytes: parse::count(limits.message_bytes, "message limit")?,
            presence_grace: parse::maybe_duration(limits.presence_grace, "presence grace")?,
            idle_close: parse::maybe_duration(limits.idle_close, "idle limit")?,
            request_burst: parse::count(limits.request_burst, "request burst")?,
            chats_per_second: parse::count(limits.chats_per_second, "chat rate")?,
            chat_burst: parse::count(limits.chat_burst, "chat burst")?,
            wrong_guesses_per_minute: parse::count(limits.wrong_guesses_per_minute, "limit of guesses")?,
            log_ins_per_second: parse::count(limits.log_ins_per_second, "log-in rate")?,
            log_in_burst: parse::count(limits.log_in_burst, "log-in burst")?,
            connections: parse::count(limits.connections, "connection limit")?,
            connections_per_address: parse::count(limits.connections_per_address, "connection limit")?,
            opening: parse::maybe_duration(limits.opening, "opening limit")?,
            streams_per_connection: parse::count(limits.streams_per_connection, "stream limit")?,
            header_bytes: parse::count(limits.header_bytes, "header limit")?,
            players: parse::count(limits.players, "player limit")?,
            rooms: parse::count(limits.rooms, "room limit")?,
            player_idle: parse::maybe_duration(limits.player_idle, "player's idle limit")?,
            ai_queue: parse::count(limits.ai_queue, "limit of waiting AI moves")?,
            room_sleep: parse::maybe_duration(limits.room_sleep, "room's sleep")?,
            reader_patience: parse::maybe_duration(limits.reader_patience, "reader's patience")?,
            drain: parse::maybe_duration(limits.drain, "time to stop")?,
            call_time: parse::maybe_duration(limits.call_time, "time of a call")?,
            keepalive: parse::maybe_duration(limits.keepalive, "keepalive")?,
            keepalive_answer: parse::maybe_duration(limits.keepalive_answer, "keepalive's answer")?,
            rooms_per_address: parse::count(limits.rooms_per_address, "room limit by address")?,
            seats_per_address: parse::count(limits.seats_per_address, "seat limit by address")?,
            streams_per_address: parse::count(limits.streams_per_address, "stream limit by address")?,
            calls_per_player: parse::count(limits.calls_per_player, "call limit")?,
            calls_per_address: parse::count(limits.calls_per_address, "call limit by address")?,
            requests_per_second_per_address: parse::count(
                limits.requests_per_second_per_address,
                "request limit by address",
            )?,
            request_burst_per_address: parse::count(limits.request_burst_per_address, "request burst by address")?,
            chats_per_second_per_address: parse::count(limits.chats_per_second_per_address, "chat rate by address")?,
            chat_burst_per_address: parse::count(limits.chat_burst_per_address, "chat burst by address")?,
            addresses: parse::count(limits.addresses, "limit of addresses")?,
            frame_bytes: parse::count(limits.frame_bytes, "frame limit")?,
            stream_window: parse::count(limits.stream_window, "window of a stream")?,
            connection_window: parse::count(limits.connection_window, "window of a connection")?,
            resets_unseen: parse::count(limits.resets_unseen, "limit of resets")?,
            resets_for_faults: parse::count(limits.resets_for_faults, "limit of resets for faults")?,
            http1_requests_per_second: parse::count(limits.http1_requests_per_second, "rate of HTTP/1.1")?,
            http1_request_burst: parse::count(limits.http1_request_burst, "burst of HTTP/1.1")?,
            openings_per_second: parse::count(limits.openings_per_second, "rate of openings")?,
            opening_burst: parse::count(limits.opening_burst, "burst of openings")?,
            ai_memory_mib: parse::count(limits.ai_memory_mib, "memory of AIs")?,
            analyses: parse::count(limits.analyses, "limit of analyses")?,
            analyses_per_player: parse::count(limits.analyses_per_player, "limit of analyses")?,
            analyses_per_address: parse::count(limits.analyses_per_address, "limit of analyses by address")?,
            analysis_threads: parse::count(limits.analysis_threads, "threads of analyses")?,
            analysis_time: parse::maybe_duration(limits.analysis_time, "time of an analysis")?,
            game_analysis_time: parse::maybe_duration(limits.game_analysis_time, "time of a game's analysis")?,
            analysis_nodes: u64::try_from(limits.analysis_nodes)
                .map_err(|_| Malformed::new("nodes of an analysis", limits.analysis_nodes))?,
            analysis_lines: parse::count(limits.analysis_lines, "lines of an analysis")?,
        })
    }
}

/// A server's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its version.
    pub version: String,
    /// The AIs that it has.
    pub ai_kinds: Vec<AiKind>,
    /// The bounds a client meets.
    pub limits: Limits,
    /// Whether it is stopping.
    pub draining: bool,
    /// The number of players.
    pub players: u32,
    /// The number of rooms.
    pub rooms: u32,
    /// The number of running games.
    pub games: u32,
    /// Its clock.
    pub now: Option<SystemTime>,
}

impl TryFrom<v1::GetServerInfoResponse> for ServerInfo {
    type Error = Malformed;

    fn try_from(info: v1::GetServerInfoResponse) -> Result<Self, Malformed> {
        Ok(Self {
            version: info.version,
            ai_kinds: parse::all(info.ai_kinds)?,
            limits: info.limits.unwrap_or_default().try_into()?,
            draining: info.draining,
            players: parse::count(info.players, "players")?,
            rooms: parse::count(info.rooms, "rooms")?,
            games: parse::count(info.games, "games")?,
            now: parse::maybe_time(info.now, "server's time")?,
        })
    }
}
