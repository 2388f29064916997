//! `reversi play`: plays in a terminal, by keys or by lines.

mod invitation;
mod lines;
pub(super) mod options;
pub(super) mod seat;
mod seek;
pub(super) mod session;
mod tournament;

use std::path::Path;

use super::{
    connect::{check_ai, login},
    say,
};
use crate::client::{PlayerKind, Room, Session};
use lines::StdinMoves;
use options::{Args, DEFAULT_OPPONENT};
use seat::sit_down;
use seek::Seek;
use session::{Parting, PlaySession};

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    if let Some(tournament) = &args.tournament {
        return tournament::run(&args, tournament).await;
    }
    let ai = check_ai::check(args.ai.as_deref().unwrap_or(DEFAULT_OPPONENT), args.level)?;
    let client = login::connect(&args.server).await?;
    let session = login::resume_or_log_in(&client, &args.login, "guest", PlayerKind::Human).await?;
    let (done, stays) = match sit_down(&session, &args, ai).await {
        Ok((room, seek)) => play(&session, args.login.keep.as_deref(), room, seek).await,
        Err(error) => (Err(error), false),
    };
    if !stays {
        login::log_out_unless_kept(session, args.login.keep.as_deref()).await;
    }
    let lost = "the session has expired; play again from the start";
    done.map_err(|error| login::explain_lost(error, lost))
}

/// Plays to the end; returns whether the player stays in the game. Only a player who is there gives it up. `seek` goes on
/// while the player waits.
pub(super) async fn play(
    session: &Session,
    keep: Option<&Path>,
    room: Room,
    seek: Option<Seek>,
) -> (anyhow::Result<()>, bool) {
    let mut seat = PlaySession::new(session, room);
    seat.seek = seek;
    if keep.is_none() {
        seat.view.note(Some("without --keep FILE there is no way back to this seat once the program has ended".into()));
    }
    let done = seat.play(StdinMoves::unless_on_screen().as_mut(), keep).await;
    let (leaves, playing) = (matches!(done, Ok(Parting::Leaves(_))), seat.view.is_playing());
    let resigns = leaves && playing;
    if leaves || keep.is_none() {
        login::leave(session, &seat.view.room().id, resigns).await;
    }
    let stays = !resigns && login::is_playing(session, playing).await;
    let kept = || stays.then(|| login::seat_kept(keep, "to come back: reversi play"));
    let done = done.map(|parting| match parting {
        Parting::Leaves(line) => kept().or(line).into_iter().for_each(say),
        Parting::Stays(line) => line.or_else(kept).into_iter().for_each(say),
        Parting::MeetingOver => {}
    });
    (done, stays)
}
