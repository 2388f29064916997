//! What the organiser of a tournament does.

use anyhow::{Context as _, bail};

use super::{
    describe,
    login::{self, KeepOption},
    options,
};
use crate::{
    cli::{
        connect::{check_ai, find_tournament, server_address::Address},
        say,
        text::tournament::{name, phase},
    },
    client::{
        Ai, ClientError, Reader, Session, TournamentControl, TournamentId,
        v1::{self, EntrantState, MeetingVerdict, set_entrant_request::Change},
    },
};

#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// Id or name of the tournament.
    tournament: String,
    #[command(flatten)]
    keep: KeepOption,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    reversi tournament enter Cup random greedy mcts:3")]
pub(super) struct EnterArgs {
    #[command(flatten)]
    target: Target,
    /// Kinds of AI, with or without their levels, as mcts:3.
    #[arg(value_name = "AI", required = true, value_parser = check_ai::parse)]
    ais: Vec<Ai>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "`reversi tournament standings` shows the entrants. Examples:\n  \
    reversi tournament exclude Cup 7          entrant 7\n  \
    reversi tournament exclude Cup nova       the entrant with this name\n  \
    reversi tournament admit Cup nova         may join again")]
pub(super) struct EntrantArgs {
    #[command(flatten)]
    target: Target,
    /// Number or name of the entrant.
    entrant: String,
}

#[derive(Debug, clap::Args)]
#[command(override_usage = "reversi tournament decide <TOURNAMENT> <MEETING> <OUTCOME> --why <TEXT>")]
#[command(after_help = "Everybody can read the outcome, and why. Example:\n  \
    reversi tournament decide Cup 12 second --why 'the first had help'")]
pub(super) struct DecideArgs {
    #[command(flatten)]
    target: Target,
    /// Number of the meeting, from `reversi tournament meetings`.
    #[arg(value_parser = clap::value_parser!(i32).range(1..))]
    meeting: i32,
    /// The outcome.
    outcome: OutcomeChoice,
    /// Why: 1 to 300 characters.
    #[arg(long, value_name = "TEXT")]
    why: String,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OutcomeChoice {
    /// All points for the first entrant.
    First,
    /// All points for the second one.
    Second,
    /// No points for either.
    Neither,
    /// As if it had not been paired.
    Void,
}

impl From<OutcomeChoice> for MeetingVerdict {
    fn from(outcome: OutcomeChoice) -> Self {
        match outcome {
            OutcomeChoice::First => Self::First,
            OutcomeChoice::Second => Self::Second,
            OutcomeChoice::Neither => Self::Neither,
            OutcomeChoice::Void => Self::Void,
        }
    }
}

/// The session of the organiser, and the tournament.
pub(super) async fn open(server: &Address, target: &Target) -> anyhow::Result<(Session, TournamentId, v1::Tournament)> {
    let session = login::resume(server, target.keep.file()).await?;
    let (id, tournament) = find_tournament::find_as(&session, &target.tournament).await?;
    if tournament.settings.as_ref().is_some_and(describe::is_pool) {
        bail!("{} is a pool of the server, which only an administrator can change, by the API", target.tournament);
    }
    Ok((session, id, tournament))
}

/// Adds what was not done, and who may do it.
pub(super) fn explain(session: &Session, error: ClientError, what: String) -> anyhow::Error {
    let is_not_organiser = error.is("NOT_OWNER");
    let error = options::explain(error).context(what);
    let name = &session.player().name;
    if is_not_organiser {
        return error.context(format!("{name} is not the organiser; name the file with that login by --keep FILE"));
    }
    error
}

pub(super) async fn control(server: &Address, target: Target, control: TournamentControl) -> anyhow::Result<()> {
    let (session, id, _) = open(server, &target).await?;
    let verb = match control {
        TournamentControl::Start => "start",
        TournamentControl::Pause => "pause",
        TournamentControl::Resume => "resume",
        TournamentControl::End => "end",
        TournamentControl::Cancel | TournamentControl::Unspecified => "cancel",
    };
    let done = session.control_tournament(&id, control).await;
    let tournament = done.map_err(|error| explain(&session, error, format!("cannot {verb} tournament {id}")))?;
    let entrants = tournament.entrants;
    let entrants = if entrants == 1 { "1 entrant".to_owned() } else { format!("{entrants} entrants") };
    say(format_args!("tournament {id} is {}, with {entrants}", phase(tournament.phase())));
    Ok(())
}

pub(super) async fn enter(server: &Address, args: EnterArgs) -> anyhow::Result<()> {
    let (session, id, _) = open(server, &args.target).await?;
    enter_ais(&session, &id, &args.ais).await
}

pub(super) async fn enter_ais(session: &Session, id: &TournamentId, ais: &[Ai]) -> anyhow::Result<()> {
    for ai in ais {
        enter_ai(session, id, ai).await?;
        say(format_args!("AI {ai} is entered"));
    }
    Ok(())
}

pub(super) async fn enter_ai(session: &Session, id: &TournamentId, ai: &Ai) -> anyhow::Result<()> {
    let done = session.set_entrant(id, Change::Enter(ai.clone().into())).await;
    done.map_err(|error| explain(session, error, format!("cannot enter AI {ai} in tournament {id}")))?;
    Ok(())
}

pub(super) async fn exclude(server: &Address, args: EntrantArgs) -> anyhow::Result<()> {
    let (session, id, _) = open(server, &args.target).await?;
    let (entrant, name) = find_entrant(&session, &id, &args.entrant).await?;
    let done = session.set_entrant(&id, Change::Exclude(entrant)).await;
    done.map_err(|error| explain(&session, error, format!("cannot exclude {name}")))?;
    say(format_args!("{name} is excluded"));
    Ok(())
}

pub(super) async fn admit(server: &Address, args: EntrantArgs) -> anyhow::Result<()> {
    let (session, id, _) = open(server, &args.target).await?;
    let (entrant, name) = find_entrant(&session, &id, &args.entrant).await?;
    let standings = session.tournament(&id).await.context("cannot read the standings")?.standings;
    if !standings.iter().any(|row| row.entrant == entrant && row.state() == EntrantState::Excluded) {
        bail!("{name} is not excluded");
    }
    let done = session.set_entrant(&id, Change::Admit(entrant)).await;
    done.map_err(|error| explain(&session, error, format!("cannot admit {name}")))?;
    say(format_args!("{name} may join again, as long as entry is open"));
    Ok(())
}

/// An entrant by number, or by a name that only one has.
pub(super) async fn find_entrant(reader: &Reader, id: &TournamentId, text: &str) -> anyhow::Result<(i32, String)> {
    let standings = reader.tournament(id).await.context("cannot read the standings")?.standings;
    let entrants: Vec<_> = standings.iter().map(|row| (row.entrant, name(row.who.as_ref()))).collect();
    let by_number = text.parse().ok().and_then(|number: i32| entrants.iter().find(|(entrant, _)| *entrant == number));
    let lower = text.to_lowercase();
    let is_named = |name: &str| name == lower || name.strip_prefix("ai ") == Some(&lower);
    let by_name: Vec<_> = entrants.iter().filter(|(_, name)| is_named(&name.to_lowercase())).collect();
    match (by_number, &by_name[..]) {
        (Some(found), _) => Ok(found.clone()),
        (None, [found]) => Ok((*found).clone()),
        (None, []) => {
            bail!("no entrant has the number or the name `{text}`; `reversi tournament standings {id}` lists them")
        }
        (None, several) => {
            let numbers: Vec<_> = several.iter().map(|(entrant, _)| entrant.to_string()).collect();
            bail!("several entrants have the name `{text}`; give one of their numbers: {}", numbers.join(", "))
        }
    }
}

pub(super) async fn decide(server: &Address, args: DecideArgs) -> anyhow::Result<()> {
    let (session, id, _) = open(server, &args.target).await?;
    let done = session.decide_meeting(&id, args.meeting, args.outcome.into(), &args.why).await;
    done.map_err(|error| explain(&session, error, format!("cannot decide meeting {}", args.meeting)))?;
    say(format_args!("meeting {} is decided; `reversi tournament meetings {id}` shows it", args.meeting));
    Ok(())
}
