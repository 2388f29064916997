//! What plays for a bot, as its options say.

use std::time::Duration;

use anyhow::anyhow;

use super::thinker::Mind;
use crate::{
    ai::{AiKind, AiPlayer},
    cli::{
        connect::check_ai,
        external_engine::{Launch, Protocol, player::Guest},
    },
    client::Session,
};

/// The options.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// What chooses the moves: random, greedy, roxanne, positional, alphabeta, mcts, mcts-roxanne or expert.
    #[arg(long, env = "REVERSI_AI", value_name = "KIND", default_value = "roxanne", group = "mind")]
    ai: String,
    /// Its level; the kind's default if left out.
    #[arg(long, env = "REVERSI_LEVEL", value_name = "N", conflicts_with_all = ["nboard", "gtp"])]
    level: Option<u32>,
    /// Let an engine choose the moves that speaks the NBoard protocol and is started by this command.
    #[arg(long, env = "REVERSI_NBOARD", value_name = "CMD", groups = ["mind", "guest"])]
    nboard: Option<String>,
    /// Let an engine choose the moves that speaks GTP and is started by this command.
    #[arg(long, env = "REVERSI_GTP", value_name = "CMD", groups = ["mind", "guest"])]
    gtp: Option<String>,
    /// The most seconds that such an engine may take for a move; the clocks of the room count besides.
    #[arg(long, env = "REVERSI_ENGINE_TIME", value_name = "SECONDS", requires = "guest", value_parser = seconds)]
    engine_time: Option<Duration>,
}

/// What chooses the moves.
#[derive(Clone)]
pub(super) enum Chooser {
    /// An AI of this program.
    Ai(AiPlayer),
    /// An engine of another program.
    Guest(Guest),
}

impl Chooser {
    /// What the options ask for; an engine is started.
    pub(super) async fn new(args: &Args) -> anyhow::Result<Self> {
        let launch = match (&args.nboard, &args.gtp) {
            (Some(command), _) => Launch::new(Protocol::Nboard, command)?,
            (None, Some(command)) => Launch::new(Protocol::Gtp, command)?,
            (None, None) => return Ok(Self::Ai(player(args)?)),
        };
        Ok(Self::Guest(Guest::invite(launch, args.engine_time).await?))
    }

    /// Part of a made-up name.
    pub(super) fn name(&self) -> String {
        // Names have a longest length, and this one is not all of it.
        const MOST: usize = 12;
        match self {
            Self::Ai(player) => player.kind().to_string(),
            Self::Guest(guest) => guest.name().chars().filter(char::is_ascii_alphanumeric).take(MOST).collect(),
        }
    }

    /// What thinks, for one life of a session.
    pub(super) fn mind(&self, session: &Session) -> Mind {
        match self {
            Self::Ai(player) => Mind::Ai(*player),
            Self::Guest(guest) => Mind::Guest(guest.clone(), Box::new(session.clone())),
        }
    }

    /// Ends an engine.
    pub(super) fn rest(&self) {
        if let Self::Guest(guest) = self {
            guest.dismiss();
        }
    }
}

fn player(args: &Args) -> anyhow::Result<AiPlayer> {
    check_ai::check(&args.ai, args.level)?;
    let kind: AiKind = args.ai.parse().map_err(|error| anyhow!("{error}"))?;
    let level = args.level.map_or(Ok(kind.profile().default_level), u8::try_from)?;
    AiPlayer::new(kind, level).map_err(|error| anyhow!("{error}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "it needs a number of seconds, as 5 or 0.5".to_owned())
}
