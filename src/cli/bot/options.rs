//! The options that select a bot's engine.

use std::time::Duration;

use super::move_searches::SearchEngine;
use crate::{
    ai::AiPlayer,
    cli::{
        connect::check_ai,
        external_engine::{EngineCommand, Protocol, player::EnginePlayer},
        warn,
    },
    client::{ClientError, Session},
    room::EngineVersion,
};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// The AI that chooses the moves: random, greedy, roxanne, positional, alphabeta, mcts, mcts-roxanne or expert, with or
    /// without its level, as mcts:3.
    #[arg(long, value_name = "KIND", default_value = "roxanne", group = "mind")]
    ai: String,
    /// Its level; the kind's default if left out.
    #[arg(long, value_name = "N", conflicts_with_all = ["nboard", "gtp"])]
    level: Option<u32>,
    /// Start this command and let it choose the moves, by the NBoard protocol.
    #[arg(long, value_name = "CMD", groups = ["mind", "guest"])]
    nboard: Option<String>,
    /// Start this command and let it choose the moves, by GTP.
    #[arg(long, value_name = "CMD", groups = ["mind", "guest"])]
    gtp: Option<String>,
    /// The time that such an engine should take for each move. One that takes four times as long is started again,
    /// while the room's clocks allow it.
    #[arg(long, value_name = "SECONDS", requires = "guest", value_parser = seconds)]
    engine_time: Option<Duration>,
    /// The version of the engine, which others see; if left out, the kind and level of a built-in AI, or the name of the
    /// command. With another version than before, the bot's rating is provisional again.
    #[arg(long, value_name = "TEXT", value_parser = EngineVersion::parse)]
    engine_version: Option<EngineVersion>,
}

/// The engine that chooses the moves.
#[derive(Clone)]
pub(super) enum MoveSource {
    /// A built-in AI.
    Ai(AiPlayer),
    /// An external engine.
    EnginePlayer(EnginePlayer),
}

impl MoveSource {
    /// Starts an external engine.
    pub(super) async fn new(args: &Args) -> anyhow::Result<Self> {
        let launch = match (&args.nboard, &args.gtp) {
            (Some(command), _) => EngineCommand::new(Protocol::Nboard, command)?,
            (None, Some(command)) => EngineCommand::new(Protocol::Gtp, command)?,
            (None, None) => return Ok(Self::Ai(check_ai::player(&check_ai::check(&args.ai, args.level)?)?)),
        };
        Ok(Self::EnginePlayer(EnginePlayer::start(launch, args.engine_time).await?))
    }

    /// The version of the engine, as others see it.
    pub(super) fn engine_version(&self, args: &Args) -> String {
        let by_itself = || match self {
            Self::Ai(player) => match player.level() {
                // Not as `mcts:3`: another text than before would make the ratings of such bots provisional.
                Some(level) => format!("{} {level}", player.kind()),
                None => player.kind().to_string(),
            },
            // None for a name that the server would refuse.
            Self::EnginePlayer(engine) => {
                EngineVersion::parse(engine.name()).map(|name| name.to_string()).unwrap_or_default()
            }
        };
        args.engine_version.as_ref().map_or_else(by_itself, ToString::to_string)
    }

    /// A part of a generated player name, whose length is bounded.
    pub(super) fn name(&self) -> String {
        const MAX: usize = 12;
        match self {
            Self::Ai(player) => player.kind().to_string(),
            Self::EnginePlayer(engine) => engine.name().chars().filter(char::is_ascii_alphanumeric).take(MAX).collect(),
        }
    }

    pub(super) fn search_engine(&self, session: &Session) -> SearchEngine {
        match self {
            Self::Ai(player) => SearchEngine::Ai(*player),
            Self::EnginePlayer(engine) => SearchEngine::EnginePlayer(engine.clone(), Box::new(session.clone())),
        }
    }

    /// Ends an external engine.
    pub(super) fn end(&self) {
        if let Self::EnginePlayer(engine) = self {
            engine.end();
        }
    }
}

/// The seats of a player with a kept login, which may be fewer than the bot wants.
pub(super) async fn seats_of_kept(session: &Session, wanted: u16) -> Result<u16, ClientError> {
    let limit = session.me().await?.seat_limit;
    if limit >= wanted.into() {
        return Ok(wanted);
    }
    let (name, seats) = (&session.player().name, if limit == 1 { "seat" } else { "seats" });
    warn(format_args!(
        "{name} has {limit} {seats} since its first login; for more, use a new player with another --keep"
    ));
    Ok(u16::try_from(limit).unwrap_or(wanted))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "it needs a number of seconds, as 5 or 0.5".to_owned())
}
