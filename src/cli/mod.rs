//! The command line: a server, clients that use only the public API, and tools that need no server.
//!
//! ```text
//!   serve                            the server
//!   rooms, players, play, invite,
//!   watch, host, tournament          clients: connect (login, streams) ─▶ terminal (state, drawing, keys), text
//!   games, explore, name, admin, health,
//!   bot, demo                        clients without a screen
//!   bot ─▶ external_engine           engines of other programs play in rooms
//!   engine_server                    the engine for other programs (`reversi engine`)
//!   import, store, doctor            read and write the store of a server
//!   nodes                            the table of servers in PostgreSQL
//!   completions, man                 the help, for shells and for `man`
//!   analyze, dev (train, arena ...)  the engine in this process
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::{ffi::OsString, io::Write as _, process::ExitCode, sync::LazyLock};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, error::ErrorKind};

mod admin;
mod analyze;
mod bot;
mod connect;
mod demo;
mod dev;
mod doctor;
mod engine_server;
mod explore;
mod external_engine;
mod games;
mod health;
mod help;
mod host;
mod import;
mod local_search;
mod name;
#[cfg(feature = "postgres")]
mod nodes;
mod option_precedence;
mod play;
mod players;
mod random;
mod replay;
mod rooms;
pub mod serve;
mod settings_file;
mod storage;
mod store;
mod terminal;
mod text;
mod tournament;
mod watch;

#[cfg(fuzzing)]
pub use engine_server::{answer_gtp, answer_nboard};

use crate::runtime::server_metrics::COMMIT;
use dev::{arena, openings, train};
use terminal::{
    exit_status::{self, UsageError},
    output::{self, StandardOutput, say, stdout_is_terminal, warn},
};
use text::number_error::in_plain_words;

static VERSION: LazyLock<String> = LazyLock::new(|| match COMMIT {
    "" => env!("CARGO_PKG_VERSION").to_owned(),
    commit => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
});

/// Play Reversi online: a room server, and its players, watchers and bots.
#[derive(Debug, Parser)]
#[command(
    version = VERSION.as_str(),
    after_long_help = "Without a command, `reversi serve` is started with its defaults. Try it:\n  \
        reversi serve    start a server, in one terminal\n  \
        reversi play     play against an AI, in another"
)]
struct Cli {
    /// Without a command, a server is started.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a server.
    Serve(Box<serve::Args>),
    /// List the rooms, live.
    Rooms(rooms::Args),
    /// Play against an AI, in a room, or against anyone.
    Play(play::options::Args),
    /// List the players who are online.
    Players(players::Args),
    /// Show a kept login's games, and what went wrong for it.
    Me(players::me::Args),
    /// Invite a player to a game.
    Invite(players::invite::Args),
    /// Watch a room, or go through a finished game.
    Watch(watch::Args),
    /// Make a room and manage it without playing.
    Host(host::Args),
    /// Create, manage, watch or enter tournaments.
    Tournament(tournament::Args),
    /// Run a bot that plays through the public API.
    Bot(bot::Args),
    /// Run the engine for other programs, by NBoard or GTP.
    Engine(engine_server::Args),
    /// List or export finished games, or show results and ratings.
    Games(games::Args),
    /// Show the moves played in a position, with their results.
    Explore(explore::Args),
    /// Ask whether a server works.
    Health(health::Args),
    /// Keep a player's name for good, change its token, or give it up.
    Name(name::Args),
    /// Import games of other programs into a stopped server.
    Import(import::Args),
    /// Show the servers of a PostgreSQL database, or end one of them.
    #[cfg(feature = "postgres")]
    Nodes(nodes::Args),
    /// Copy a server's file to a new one, also while it runs.
    Backup(store::BackupArgs),
    /// Put a backup in the place of a stopped server's file.
    Restore(store::RestoreArgs),
    /// Copy all data of a stopped server, to PostgreSQL or back.
    Store(store::Args),
    /// Examine the data of a stopped server, or repair it.
    Doctor(doctor::Args),
    /// Show what each move of a game lost.
    Analyze(analyze::Args),
    /// Improve the engine's evaluation: play, fit, compare.
    Train(train::Args),
    /// Close rooms, remove players, abort games: for administrators.
    Admin(admin::Args),
    /// Fill the server with rooms in which AIs play each other.
    Demo(demo::Args),
    /// Make a list of even openings, like the built-in one.
    #[command(hide = true)]
    Openings(openings::Args),
    /// Measure the difference in strength of two AIs or engines.
    Arena(arena::Args),
    /// Print the completions of commands and options for a shell.
    Completions(help::CompletionsArgs),
    /// Write the man pages to a folder.
    Man(help::ManArgs),
}

fn command_line() -> clap::Command {
    takes_negative_numbers(help::with_help(Cli::command()))
}

/// An option reads a negative number as its value, so that the error names the numbers that it takes.
fn takes_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(
            |option| if option.get_action().takes_values() { option.allow_negative_numbers(true) } else { option },
        )
        .mut_subcommands(takes_negative_numbers)
}

/// Parses the arguments of the process and runs the command.
#[must_use]
pub fn main() -> ExitCode {
    let command = match parse(std::env::args_os().collect()) {
        Ok(command) => command,
        Err(status) => return status,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let done = runtime.block_on(run(command));
    // A blocked read from standard input must not keep the process alive.
    runtime.shutdown_background();
    done.unwrap_or_else(|error| fail(&error))
}

/// Parses the command. Fails with the exit status after `--help` and errors, which are printed.
fn parse(arguments: Vec<OsString>) -> Result<Command, ExitCode> {
    try_parse(&arguments).map_err(|error| {
        let printed = error.print().and_then(|()| StandardOutput.flush());
        if let Err(failure) = printed
            && !error.use_stderr()
        {
            output::note_failure(&failure);
        }
        if let Some(option) = misplaced(&error, &arguments) {
            warn("");
            warn(format_args!("That is an option of `serve`: reversi serve {option} ..."));
        }
        output::exit_status(u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from))
    })
}

fn try_parse(arguments: &[OsString]) -> Result<Command, clap::Error> {
    let arguments = settings_file::apply(&command_line(), arguments)?;
    let command = option_precedence::apply(command_line(), &arguments);
    let matches = command.try_get_matches_from(&arguments).map_err(in_plain_words)?;
    match Cli::from_arg_matches(&matches)?.command {
        Some(Command::Serve(mut args)) => {
            args.unknown_variables = settings_file::unknown_variables(&command_line(), std::env::vars_os())?;
            args.given = matches.subcommand_matches("serve").map(serve::given).unwrap_or_default();
            Ok(Command::Serve(args))
        }
        Some(command) => Ok(command),
        // Parsed again to read the options' environment variables.
        None => try_parse(&["reversi", "serve"].map(OsString::from)),
    }
}

/// Reads the options of a running server again, with its settings file.
fn reread_serve_options() -> Result<serve::Args, clap::Error> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match try_parse(&arguments)? {
        Command::Serve(args) => Ok(*args),
        _ => Err(clap::Error::raw(ErrorKind::InvalidSubcommand, "the arguments are not those of a server")),
    }
}

/// An option of `serve` that was given without the command.
fn misplaced(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let command = Cli::command();
    let named = |word: &str| command.get_subcommands().any(|command| command.get_name() == word);
    if arguments.iter().any(|argument| argument.to_str().is_some_and(named)) {
        return None;
    }
    let options: Vec<String> = command
        .find_subcommand("serve")?
        .get_arguments()
        .filter_map(|option| option.get_long().map(|name| format!("--{name}")))
        .collect();
    let typed = arguments.iter().filter_map(|argument| argument.to_str()?.split('=').next());
    typed.map(str::to_owned).find(|typed| options.contains(typed))
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        // A server goes on without its output, which only says where it listens.
        Command::Serve(args) => return serve::run(*args, reread_serve_options).await,
        Command::Rooms(args) => rooms::run(args).await,
        Command::Play(args) => play::run(args).await,
        Command::Players(args) => players::run(args).await,
        Command::Me(args) => players::me::run(args).await,
        Command::Invite(args) => players::invite::run(args).await,
        Command::Watch(args) => watch::run(args).await,
        Command::Host(args) => host::run(args).await,
        Command::Tournament(args) => tournament::run(args).await,
        Command::Bot(args) => bot::run(args).await,
        Command::Engine(args) => engine_server::run(args).await,
        Command::Games(args) => games::run(args).await,
        Command::Explore(args) => explore::run(args).await,
        Command::Health(args) => health::run(args).await,
        Command::Name(args) => name::run(args).await,
        Command::Import(args) => return import::run(args).await.map(output::exit_status),
        Command::Doctor(args) => return doctor::run(args).await.map(output::exit_status),
        Command::Backup(args) => return store::back_up(args).await.map(output::exit_status),
        Command::Restore(args) => store::restore(args).await,
        Command::Store(args) => store::run(args).await,
        #[cfg(feature = "postgres")]
        Command::Nodes(args) => nodes::run(args).await,
        Command::Analyze(args) => analyze::run(args).await,
        Command::Train(args) => train::run(args).await,
        Command::Admin(args) => admin::run(args).await,
        Command::Demo(args) => demo::run(args).await,
        Command::Arena(args) => arena::run(args).await,
        Command::Openings(args) => openings::run(&args),
        Command::Completions(args) => {
            help::print_completions(&args, command_line());
            Ok(())
        }
        Command::Man(args) => help::write_man_pages(&args, command_line()),
    }
    .map(|()| output::exit_status(ExitCode::SUCCESS))
}

fn fail(error: &anyhow::Error) -> ExitCode {
    warn(format_args!("reversi: {error:#}"));
    exit_status::of_error(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    /// Variables of other commands: how they connect, secrets, and where a server keeps its data.
    const SHARED: [&str; 11] = [
        "REVERSI_ADMIN_TOKEN",
        "REVERSI_DATA",
        "REVERSI_KEEP",
        "REVERSI_NAME",
        "REVERSI_PASSWORD",
        "REVERSI_SERVER",
        "REVERSI_STORE",
        "REVERSI_STORE_PATIENCE",
        "REVERSI_TLS_CA",
        "REVERSI_TLS_CLIENT_CERT",
        "REVERSI_TLS_CLIENT_KEY",
    ];

    #[test]
    fn each_variable_has_one_meaning() {
        for command in Cli::command().get_subcommands() {
            let is_server = command.get_name() == "serve";
            for option in command.get_arguments().filter(|option| option.get_id() != "help") {
                let name = option.get_long().unwrap_or_default().to_uppercase().replace('-', "_");
                let of_name = format!("REVERSI_{name}");
                let wanted = (is_server || SHARED.contains(&of_name.as_str())).then_some(of_name);
                let variable = option.get_env().map(|variable| variable.to_string_lossy().into_owned());
                assert_eq!(variable, wanted, "{} {}", command.get_name(), option.get_id());
            }
        }
    }
}
