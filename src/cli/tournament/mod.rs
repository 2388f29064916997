//! `reversi tournament`: makes, manages and shows tournaments.
//!
//! ```text
//!   create, edit ─▶ options ◀─ file (TOML)     the settings
//!   organiser, entrant ─▶ login          what needs a kept login
//!   show, watch ─▶ describe              what everybody may read
//! ```

mod create;
pub(super) mod describe;
mod edit;
mod entrant;
mod export;
mod file;
pub(super) mod login;
mod options;
mod organiser;
pub(super) mod show;
mod watch;

use super::connect::server_address::Address;
use crate::client::TournamentControl;
use login::read;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi tournament create Cup --swiss 5 --clock 60+1 --enter mcts:3\n  \
    reversi tournament start Cup\n  \
    reversi tournament watch Cup\n\n\
    TOURNAMENT is an id, or the name of one that has not ended or is one of the newest 200. If several have the name, the \
    one that has not ended is meant, and of several of these the one that is yours; if that is not one, the command lists \
    them. If all have ended, the newest that was not cancelled is meant. Entrants play by `reversi bot` or `reversi play` \
    with `--tournament`.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: TournamentCommand,
    #[command(flatten)]
    server: Address,
}

#[derive(Debug, clap::Subcommand)]
enum TournamentCommand {
    /// Create a tournament and become its organiser.
    Create(Box<create::Args>),
    /// Change the settings of a tournament before its start.
    Edit(Box<edit::Args>),
    /// List the tournaments, the newest first.
    List(show::ListArgs),
    /// Show a tournament with its settings.
    Show(show::ShowArgs),
    /// Enter a tournament yourself.
    Join(entrant::JoinArgs),
    /// Take part no more; a running meeting is forfeited.
    Leave(entrant::LeaveArgs),
    /// Start a tournament.
    Start(organiser::Target),
    /// Begin no more meetings for now; those that run go on.
    Pause(organiser::Target),
    /// Go on after a pause.
    Resume(organiser::Target),
    /// End a tournament now; unfinished meetings give no points.
    End(organiser::Target),
    /// Call a tournament off.
    Cancel(organiser::Target),
    /// Enter AIs of the server.
    Enter(organiser::EnterArgs),
    /// Exclude an entrant.
    Exclude(organiser::EntrantArgs),
    /// Let an excluded entrant join again.
    Admit(organiser::EntrantArgs),
    /// Set the outcome of a meeting, finished or not.
    Decide(organiser::DecideArgs),
    /// Watch a tournament to its end.
    Watch(show::WatchArgs),
    /// Show the standings.
    Standings(show::ShowArgs),
    /// List the meetings.
    Meetings(show::MeetingsArgs),
    /// List the games that have ended, newest first.
    Games(show::ShowArgs),
    /// Write all of a tournament to a file or to standard output.
    Export(export::Args),
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let server = &args.server;
    match args.command {
        TournamentCommand::Create(args) => create::run(server, *args).await,
        TournamentCommand::Edit(args) => edit::run(server, *args).await,
        TournamentCommand::Join(args) => entrant::join(server, args).await,
        TournamentCommand::Leave(args) => entrant::leave(server, args).await,
        TournamentCommand::Start(target) => organiser::control(server, target, TournamentControl::Start).await,
        TournamentCommand::Pause(target) => organiser::control(server, target, TournamentControl::Pause).await,
        TournamentCommand::Resume(target) => organiser::control(server, target, TournamentControl::Resume).await,
        TournamentCommand::End(target) => organiser::control(server, target, TournamentControl::End).await,
        TournamentCommand::Cancel(target) => organiser::control(server, target, TournamentControl::Cancel).await,
        TournamentCommand::Enter(args) => organiser::enter(server, args).await,
        TournamentCommand::Exclude(args) => organiser::exclude(server, args).await,
        TournamentCommand::Admit(args) => organiser::admit(server, args).await,
        TournamentCommand::Decide(args) => organiser::decide(server, args).await,
        TournamentCommand::List(args) => show::list(server, args).await,
        TournamentCommand::Show(args) => {
            read(server, args.login.clone(), async |reader| show::show(&reader, args).await).await
        }
        TournamentCommand::Standings(args) => {
            read(server, args.login.clone(), async |reader| show::standings(&reader, args).await).await
        }
        TournamentCommand::Meetings(args) => {
            read(server, args.login.clone(), async |reader| show::meetings(&reader, args).await).await
        }
        TournamentCommand::Games(args) => {
            read(server, args.login.clone(), async |reader| show::games(&reader, args).await).await
        }
        TournamentCommand::Export(args) => {
            read(server, args.login.clone(), async |reader| export::run(&reader, args).await).await
        }
        TournamentCommand::Watch(args) => {
            read(server, args.login, async |reader| watch::run(&reader, &args.tournament).await).await
        }
    }
}
