//! `reversi demo`: rooms in which AIs play each other.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::{task::JoinSet, time::Instant};

use super::{
    connect::{
        login,
        reconnecting_stream::{Received, ReconnectingStream, backoff},
        server_address::Address,
    },
    say,
    terminal::interrupt::Interrupt,
};
use crate::{
    client::{
        Ai, AiKind, Client, ClientError, NewRoom, Occupant, Phase, PlayerKind, Room, RoomChange, RoomUpdate, Session,
        Settings,
    },
    rules::ByColor,
};

/// Streams of each player that stay unused; the others watch the rooms.
const STREAMS_KEPT: i32 = 2;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    reversi demo --rooms 8 --pause 1500\n\nCtrl-C ends it and closes its rooms.")]
pub(super) struct Args {
    /// Number of rooms.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rooms: u32,
    /// Pause after each move, in milliseconds, so that people can follow.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pause: u64,
    #[command(flatten)]
    server: Address,
}

/// Runs the rooms until an interrupt.
pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let mut interrupt = Interrupt::listen()?;
    let client = login::connect(&args.server).await?;
    let mut failures = 0;
    loop {
        let mut owners = Vec::new();
        let began = Instant::now();
        let done = tokio::select! {
            () = interrupt.end() => Ok(()),
            done = run_rooms(&client, &args, &mut owners) => done,
        };
        for owner in owners {
            login::log_out(owner).await;
        }
        let Err(error) = done else { return Ok(()) };
        // After a restart an ephemeral server has forgotten the rooms and their owners.
        let temporary = |error: &ClientError| error.is_session_lost() || error.is_transient();
        if !error.downcast_ref::<ClientError>().is_some_and(temporary) {
            return Err(error);
        }
        if began.elapsed() > backoff(u32::MAX) {
            failures = 0;
        }
        let wait = backoff(failures);
        failures += 1;
        say(format_args!("{error:#}; making the rooms again in {:.1} s", wait.as_secs_f32()));
        tokio::select! {
            () = interrupt.end() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Creates the rooms and keeps them running until one fails. Adds the sessions that it opens to `owners`.
async fn run_rooms(client: &Client, args: &Args, owners: &mut Vec<Session>) -> anyhow::Result<()> {
    let first = login::log_in(client, None, "demo", PlayerKind::Bot, 1).await?;
    owners.push(first.clone());
    let info = first.server_info().await?;
    let limits = info.limits.unwrap_or_default();
    let share =
        limits.rooms_per_player.min(limits.streams_per_player.saturating_sub(STREAMS_KEPT)).max(1).unsigned_abs();
    let mut keepers = JoinSet::new();
    let mut owner = first;
    for index in 0..args.rooms {
        if index > 0 && index % share == 0 {
            owner = login::log_in(client, None, "demo", PlayerKind::Bot, 1).await?;
            owners.push(owner.clone());
        }
        keepers.spawn(keep(owner.clone(), plan(&info.ai_kinds, index, Duration::from_millis(args.pause))));
    }
    match keepers.join_next().await {
        Some(done) => done.context("a demo room failed")?,
        None => bail!("there is no room to keep"),
    }
}

/// The settings of room `index`; consecutive rooms pair different kinds.
fn plan(kinds: &[AiKind], index: u32, pause: Duration) -> NewRoom {
    let kind = |number: usize| kinds.get(number % kinds.len().max(1)).map_or("random", |kind| kind.kind.as_str());
    let number = index as usize;
    let round = number / kinds.len().max(1);
    let (black, white) = (kind(number), kind(number + 1 + round));
    let name = format!("Demo {}: {black} - {white}", index + 1);
    NewRoom {
        settings: Settings {
            name: name.chars().take(40).collect(),
            ai_pause: pause,
            games: 1000,
            ..Settings::default()
        },
        seats: ByColor::new(Occupant::Ai(Ai::new(black)), Occupant::Ai(Ai::new(white))),
        ..NewRoom::default()
    }
}

/// Creates the room and plays series in it, until an error.
async fn keep(owner: Session, plan: NewRoom) -> anyhow::Result<()> {
    loop {
        let room = owner.create_room(plan.clone()).await.context("cannot make a room")?;
        owner.start_game(&room.id, "").await.context("cannot start a game")?;
        say(format_args!("{:40} reversi watch {}", room.settings.name, room.id));
        match attend(&owner, &room).await {
            Ok(()) => say(format_args!("{:40} is closed; making it again", room.settings.name)),
            Err(error) if error.refusal().is_some() && !error.is_session_lost() => {
                // Another room replaces it.
                let _ = owner.close_room(&room.id).await;
            }
            Err(error) => return Err(error).context("cannot keep a room"),
        }
    }
}

/// Starts a new series after each one, until the room is closed.
async fn attend(owner: &Session, room: &Room) -> Result<(), ClientError> {
    let mut updates = ReconnectingStream::of_room(owner, &room.id);
    let mut state: Option<Room> = None;
    loop {
        match (updates.next().await?, &mut state) {
            (Received::Item(RoomUpdate::Snapshot(room)), _) => state = Some(*room),
            (Received::Item(RoomUpdate::Event(event)), Some(room)) => {
                if let RoomChange::GameEnded { game, outcome, .. } = &event.change {
                    say(format_args!("{:40} {game}: {outcome}", room.settings.name));
                }
                if room.apply(&event).is_err() {
                    updates.restart();
                    continue;
                }
            }
            _ => {}
        }
        match state.as_ref().map(|room| room.phase) {
            Some(Phase::Closed) => return Ok(()),
            Some(Phase::Lobby) => {
                owner.start_game(&room.id, "").await?;
                state = None;
                updates.restart();
            }
            Some(Phase::Playing) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_pair_different_kinds() {
        let kind = |name: &str| AiKind {
            kind: name.into(),
            summary: String::new(),
            levels: 1,
            default_level: 1,
            strength: String::new(),
            elo: Vec::new(),
        };
        let kinds = [kind("a"), kind("b"), kind("c")];
        let names = (0..5).map(|index| plan(&kinds, index, Duration::ZERO).settings.name);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["Demo 1: a - b", "Demo 2: b - c", "Demo 3: c - a", "Demo 4: a - c", "Demo 5: b - a"]
        );
        assert_eq!(plan(&[], 0, Duration::ZERO).settings.name, "Demo 1: random - random");
    }
}
