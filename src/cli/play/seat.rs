//! Where `reversi play` takes a seat.

use anyhow::Context as _;

use super::{options::Args, seek::Seek};
use crate::{
    cli::{
        connect::{
            check_ai, leave, login,
            named_room::{is_named, join_by_text},
        },
        random,
    },
    client::{Ai, NewRoom, Occupant, Room, Session, Settings, SideWish, Visibility},
    rules::{ByColor, Color},
};

/// Finds a room and a seat. A search for any opponent may go on.
pub(super) async fn sit_down(session: &Session, args: &Args, ai: Ai) -> anyhow::Result<(Room, Option<Seek>)> {
    if args.login.keep.is_some()
        && let Some((room, _)) = session.me().await?.seats.first()
    {
        let room = session.room(room).await?;
        match &args.room {
            Some(text) if !is_named(&room, text) => {
                let left = leave::unless_playing(session, &room.id).await;
                left.with_context(|| format!("you have a seat in room {}", room.id))?;
            }
            _ => return Ok((room, None)),
        }
    }
    if args.anyone {
        let begun = Seek::begin(session, args.side, &args.terms, args.house).await;
        return begun.map(|(seek, room)| (room, Some(seek))).context("cannot find a game");
    }
    let room = if let Some(room) = &args.room {
        join(session, room, args).await?
    } else if args.new {
        open_room(session, args).await?
    } else {
        match session.quick_start_with(Some(ai.clone()), args.side, args.terms.settings()).await {
            Err(error) if error.is_unknown_or_malformed() => {
                return Err(check_ai::explain_refusal(error, &ai, &session.server_info().await?));
            }
            done => done.context("cannot start a game")?,
        }
    };
    Ok((room, None))
}

/// The side itself, or a random one.
pub(in crate::cli) fn chosen(side: SideWish) -> Color {
    match side {
        SideWish::Black => Color::Black,
        SideWish::White => Color::White,
        _ if random::random().is_multiple_of(2) => Color::Black,
        _ => Color::White,
    }
}

async fn open_room(session: &Session, args: &Args) -> anyhow::Result<Room> {
    let me = Occupant::Player(session.player().clone());
    let seats = if chosen(args.side) == Color::Black {
        ByColor::new(me, Occupant::Open)
    } else {
        ByColor::new(Occupant::Open, me)
    };
    let visibility = if args.private { Visibility::Private } else { Visibility::Public };
    let settings = Settings { visibility, auto_start: true, ..args.terms.settings() };
    let new = NewRoom { settings, seats, password: args.password.clone(), ..NewRoom::default() };
    let room = session.create_room(new).await.context("cannot make a room")?;
    session.set_ready(&room.id, true).await?;
    Ok(session.room(&room.id).await?)
}

async fn join(session: &Session, text: &str, args: &Args) -> anyhow::Result<Room> {
    let room = join_by_text(session, text, &args.password).await.map_err(|error| match error {
        error if error.is("BAD_PASSWORD") => login::asks_for_password(),
        error => anyhow::anyhow!(error).context(format!("cannot enter room {text}; `reversi rooms` lists them")),
    })?;
    let me = &session.player().id;
    if room.side_of(me).is_none() {
        let preferred = match args.side {
            SideWish::White => [Color::White, Color::Black],
            _ => [Color::Black, Color::White],
        };
        let Some(side) = preferred.into_iter().find(|&side| room.seats[side].is_free_for(me)) else {
            anyhow::bail!("both seats of room {} are taken; `reversi watch {}` shows it", room.id, room.id);
        };
        session.take_seat(&room.id, side).await.context("cannot sit down")?;
    }
    session.set_ready(&room.id, true).await?;
    Ok(session.room(&room.id).await?)
}
