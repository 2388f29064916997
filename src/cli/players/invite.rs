//! `reversi invite`: invites a player to a game, and plays it.

use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::{
    cli::{
        connect::{
            login::{self, LoginOptions},
            reconnecting_stream::{Received, ReconnectingStream},
            server_address::Address,
            terms::GameTerms,
        },
        play, say,
        terminal::interrupt::Interrupt,
    },
    client::{
        ClientError, Guest, InvitationEndReason, NewRoom, Occupant, PlayEvent, PlayerKind, Room, RoomId, Session,
        Settings, SideWish, Visibility,
    },
    rules::ByColor,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi invite Ada                       a game with a minute a move\n  \
    reversi invite Ada --clock 300+2 --rated --side black\n  \
    reversi invite Ada --wait 3600           within an hour\n\n\
    The game begins when the player accepts. Ctrl-C takes the invitation back.")]
pub(in crate::cli) struct Args {
    /// The player's name.
    #[arg(value_name = "NAME")]
    player: String,
    /// Your side: black moves first.
    #[arg(long, value_parser = play::options::side(), default_value = "random")]
    side: SideWish,
    /// How long the player may take to answer: 10 seconds to a day.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(10..=86_400))]
    wait: u32,
    /// A room that is not listed.
    #[arg(long)]
    private: bool,
    #[command(flatten)]
    terms: GameTerms,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

pub(in crate::cli) async fn run(args: Args) -> anyhow::Result<()> {
    let client = login::connect(&args.server).await?;
    let session = login::resume_or_log_in(&client, &args.login, "guest", PlayerKind::Human).await?;
    let keep = args.login.keep.as_deref();
    let (done, stays) = match invite(&session, &args).await {
        Ok(Some(room)) => play::play(&session, keep, room, None).await,
        Ok(None) => (Ok(()), false),
        Err(error) => (Err(error), false),
    };
    if !stays {
        login::log_out_unless_kept(session, keep).await;
    }
    done.map_err(|error| login::explain_lost(error, "the session has expired; invite again"))
}

/// Invites the player and waits for the answer. Returns the room of the game; none after an interrupt.
async fn invite(session: &Session, args: &Args) -> anyhow::Result<Option<Room>> {
    let mut interrupt = Interrupt::listen()?;
    let player = session.clone();
    let mut events = ReconnectingStream::new(move || {
        let player = player.clone();
        async move { player.turns().await }
    });
    let room = open_room(session, args).await.map_err(|error| match error {
        error if error.is("PLAYER_NOT_FOUND") => anyhow::anyhow!("no player has the name `{}` now", args.player),
        error => anyhow::anyhow!(error).context(format!("cannot invite {}", args.player)),
    })?;
    say(format_args!("{} has {} seconds to answer; the room is {}", args.player, args.wait, room.id));
    let answer = tokio::select! {
        answer = answer(&mut events, &room.id) => answer?,
        () = interrupt.end() => {
            login::leave(session, &room.id, false).await;
            return Ok(None);
        }
    };
    if let GuestAnswer::Accepted = answer {
        say(format_args!("{} accepts", args.player));
        return Ok(Some(session.room(&room.id).await?));
    }
    login::leave(session, &room.id, false).await;
    match answer {
        GuestAnswer::Declined(why) if why.is_empty() => bail!("{} declines", args.player),
        GuestAnswer::Declined(why) => bail!("{} declines: {why}", args.player),
        GuestAnswer::Accepted | GuestAnswer::Missing => bail!("{} has not answered", args.player),
    }
}

/// A room that starts by itself, in which the player is ready.
async fn open_room(session: &Session, args: &Args) -> Result<Room, ClientError> {
    let mine = play::seat::chosen(args.side);
    let mut seats = ByColor::new(Occupant::Open, Occupant::Open);
    seats[mine] = Occupant::Player(session.player().clone());
    let visibility = if args.private { Visibility::Private } else { Visibility::Public };
    let settings = Settings { visibility, auto_start: true, ..args.terms.settings() };
    let wait = Duration::from_secs(args.wait.into());
    let invite = Some((mine.opposite(), Guest::Name(args.player.clone()), Some(wait)));
    let room = session.create_room(NewRoom { settings, seats, invite, ..NewRoom::default() }).await?;
    session.set_ready(&room.id, true).await?;
    Ok(room)
}

enum GuestAnswer {
    Accepted,
    /// With the reason, which may be empty.
    Declined(String),
    /// The player has not answered, or the invitation was taken back.
    Missing,
}

async fn answer(events: &mut ReconnectingStream<PlayEvent>, invited: &RoomId) -> anyhow::Result<GuestAnswer> {
    loop {
        match events.next().await.context("cannot wait for the answer")? {
            Received::Item(PlayEvent::InvitationEnded { room, reason, message, .. }) if room == *invited => {
                return Ok(match reason {
                    InvitationEndReason::Accepted => GuestAnswer::Accepted,
                    InvitationEndReason::Declined => GuestAnswer::Declined(message),
                    _ => GuestAnswer::Missing,
                });
            }
            Received::Item(PlayEvent::RoomClosed(room)) if room == *invited => return Ok(GuestAnswer::Missing),
            Received::Item(_) | Received::Lost(..) => {}
        }
    }
}
