//! What a server is loaded with.

use serde_json::{Value, json};

/// The highest number of rooms, connections or watchers: more than a machine has ports and memory for.
const MAX_COUNT: i64 = 20_000;

/// What a server is loaded with.
#[derive(Debug, clap::Args)]
pub(crate) struct Load {
    /// Rooms of two bots.
    #[arg(long, env = "REVERSI_BENCH_ROOMS", value_name = "N", default_value_t = 100, value_parser = up_to(MAX_COUNT))]
    pub(crate) rooms: usize,
    /// Connections that the bots share.
    #[arg(long, env = "REVERSI_BENCH_CONNECTIONS", value_name = "N", default_value_t = 20, value_parser = up_to(MAX_COUNT))]
    pub(crate) connections: usize,
    /// One connection for each bot.
    #[arg(long, env = "REVERSI_BENCH_OWN_CONNECTIONS", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) own_connections: bool,
    /// Send each move by a call, and receive turns on another stream, instead of both on one stream.
    #[arg(long, env = "REVERSI_BENCH_UNARY", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) unary: bool,
    /// Seconds between the moves of a room; 0 for no wait.
    #[arg(long, env = "REVERSI_BENCH_PACE", value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    pub(crate) pace: f64,
    /// Let the bots sit in their rooms without playing.
    #[arg(long, env = "REVERSI_BENCH_IDLE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) idle: bool,
    /// Watching streams.
    #[arg(long, env = "REVERSI_BENCH_WATCHERS", value_name = "N", default_value_t = 0, value_parser = up_to(MAX_COUNT))]
    pub(crate) watchers: usize,
    /// Rooms that are watched; the watchers are spread evenly.
    #[arg(long, env = "REVERSI_BENCH_WATCHED", value_name = "N", default_value_t = 1, value_parser = up_to(MAX_COUNT))]
    pub(crate) watched: usize,
    /// Connections that the watchers share.
    #[arg(long, env = "REVERSI_BENCH_WATCH_CONNECTIONS", value_name = "N", default_value_t = 20, value_parser = up_to(MAX_COUNT))]
    pub(crate) watch_connections: usize,
    /// Send the next move of a watched room only when all watchers have received the last one.
    #[arg(long, env = "REVERSI_BENCH_IN_STEP", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) in_step: bool,
    /// Additional rooms in which AIs play each other.
    #[arg(long, env = "REVERSI_BENCH_AI_ROOMS", value_name = "N", default_value_t = 0, value_parser = up_to(MAX_COUNT))]
    pub(crate) ai_rooms: usize,
    /// Kind of these AIs.
    #[arg(long, env = "REVERSI_BENCH_AI", value_name = "KIND", default_value = "random")]
    pub(crate) ai: String,
    /// Milliseconds between the moves of an AI, up to 999.
    #[arg(long, env = "REVERSI_BENCH_AI_PAUSE", value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u16).range(0..1000))]
    pub(crate) ai_pause: u16,
    /// Seconds before the measurement, after all rooms have begun to play.
    #[arg(long, env = "REVERSI_BENCH_WARM_UP", value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    pub(crate) warm_up: f64,
    /// Seconds of the measurement.
    #[arg(long, env = "REVERSI_BENCH_SECONDS", value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Processors on which the server runs, as `taskset -c` names them: 0 or 2-3 [default: all].
    #[arg(long, env = "REVERSI_BENCH_SERVER_CPUS", value_name = "CPUS", conflicts_with = "running")]
    pub(crate) server_cpus: Option<String>,
    /// Moves after which the measurement ends early.
    #[arg(long, env = "REVERSI_BENCH_MOVES", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) moves: Option<u64>,
}

impl Load {
    /// Rejects conflicting options.
    pub(crate) fn check(&self, with_baseline: bool) -> anyhow::Result<()> {
        anyhow::ensure!(self.rooms + self.ai_rooms > 0, "there is nothing to do without a room");
        anyhow::ensure!(self.connections > 0 && self.watch_connections > 0, "there must be a connection");
        let rooms = self.rooms + self.ai_rooms;
        let watched = self.watchers == 0 || (1..=rooms.min(self.watchers)).contains(&self.watched);
        anyhow::ensure!(watched, "each watched room needs a watcher, and there are {rooms} rooms");
        anyhow::ensure!(self.ai_rooms == 0 || !with_baseline, "the baseline has no AIs to compare with");
        Ok(())
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "rooms": self.rooms,
            "connections": self.connections,
            "own_connections": self.own_connections,
            "unary": self.unary,
            "pace": self.pace,
            "idle": self.idle,
            "watchers": self.watchers,
            "watched": self.watched,
            "watch_connections": self.watch_connections,
            "in_step": self.in_step,
            "ai_rooms": self.ai_rooms,
            "ai": self.ai,
            "ai_pause": self.ai_pause,
            "warm_up": self.warm_up,
            "seconds": self.seconds,
            "moves": self.moves,
            "server_cpus": self.server_cpus,
        })
    }
}

fn up_to(max: i64) -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser as _;
    clap::value_parser!(u32).range(0..=max).map(|number| number as usize)
}

/// Parses a time in seconds, at most an hour.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3_600.0).contains(seconds));
    seconds.ok_or_else(|| "it must be from 0 to 3600 seconds".to_owned())
}
