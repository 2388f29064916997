//! `reversi tournament create`.

use std::path::{Path, PathBuf};

use super::{
    file, login,
    options::{self, TournamentOptions},
    organiser,
};
use crate::{
    cli::{
        connect::{find_player, login::LoginOptions, server_address::Address},
        say,
    },
    client::{Session, TournamentControl, v1},
    runtime::Clock,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi tournament create Cup --swiss 5 --playoff 4 --clock 60+1\n  \
    reversi tournament create Test --all-play-all --challenger mybot --games 10\n  \
    reversi tournament create Night --arena 2h --for bots --starts-in 30m\n  \
    reversi tournament create Cup --swiss 5 --rated --print > cup.toml\n  \
    reversi tournament create --file cup.toml --enter expert:3\n\n\
    The login of the organiser is kept in a file: that of --keep, or `logins` in this system's folder for application \
    data. The other commands read it there. `reversi name` keeps its name for good.")]
pub(super) struct Args {
    #[command(flatten)]
    options: TournamentOptions,
    /// Read the settings from this file in TOML, whose keys are the names of the options, with `name` for NAME. An
    /// option replaces what the file sets.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print the settings as such a file, and create nothing. The password is not in it.
    #[arg(long)]
    print: bool,
    /// A password for joining.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    #[command(flatten)]
    login: LoginOptions,
}

pub(super) async fn run(server: &Address, args: Args) -> anyhow::Result<()> {
    let given = match &args.file {
        Some(path) => args.options.or(&file::read(path)?)?,
        None => args.options,
    };
    // What is missing is said before the log-in.
    given.settings(Vec::new(), v1::RoomSettings::default(), Clock::of_process().now())?;
    if args.print {
        file::write(&given).lines().for_each(say);
        return Ok(());
    }
    let (session, kept) = login::log_in(server, args.login, "organiser").await?;
    let settings = settings(&session, &given, v1::RoomSettings::default()).await?;
    let created = session.create_tournament(settings, &args.password).await;
    let tournament = created.map_err(|error| options::explain(error).context("cannot create the tournament"))?;
    let id = tournament.tournament_id.parse()?;
    for ai in given.ais() {
        if let Err(error) = organiser::enter_ai(&session, &id, ai).await {
            // The next try makes another one.
            session.control_tournament(&id, TournamentControl::Cancel).await?;
            return Err(error.context("the tournament is cancelled"));
        }
    }
    next_commands(&tournament, &session, server, &kept).iter().for_each(say);
    given.ais().iter().for_each(|ai| say(format_args!("AI {ai} is entered")));
    Ok(())
}

/// The settings for the API; `game` has those of a room for which there is no option.
pub(super) async fn settings(
    session: &Session,
    options: &TournamentOptions,
    game: v1::RoomSettings,
) -> anyhow::Result<v1::TournamentSettings> {
    let mut challengers = Vec::new();
    for challenger in options.challengers() {
        challengers.push(find_player::find(session, challenger).await?.to_string());
    }
    Ok(options.settings(challengers, game, Clock::of_process().now())?)
}

/// What was created, and what to do with it.
fn next_commands(created: &v1::Tournament, session: &Session, server: &Address, kept: &Path) -> Vec<String> {
    let id = &created.tournament_id;
    let settings = created.settings.clone().unwrap_or_default();
    let server = server.non_default().map(|url| format!(" --server {url}")).unwrap_or_default();
    let password = if created.has_password { " --password ..." } else { "" };
    let keep = login::option(kept);
    vec![
        format!("tournament {id} ({})", settings.name),
        format!("its organiser is {}, whose login is kept in {}", session.player().name, kept.display()),
        format!("  a bot:     reversi bot --tournament {id}{password}{server}"),
        format!("  a person:  reversi play --tournament {id}{password}{server}"),
        format!("  an AI:     reversi tournament enter {id} mcts:3{keep}{server}"),
        format!("  to start:  reversi tournament start {id}{keep}{server}"),
        format!("  to watch:  reversi tournament watch {id}{server}"),
    ]
}
