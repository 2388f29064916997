//! `reversi host`: creates a room and manages it by commands, one per line.

mod command;
pub(super) mod settings;

use std::{
    ops::ControlFlow,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context as _, bail};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Split, Stdin},
    task::JoinSet,
    time::Instant,
};

use super::{
    connect::{
        check_ai, find_player, leave,
        login::{self, LoginOptions},
        named_room,
        reconnecting_stream::{Received, ReconnectingStream, connection_lost},
        server_address::Address,
    },
    play, say,
    terminal::{
        draw_room,
        interrupt::{Interrupt, Interruption},
        room_view::{Effect, RoomView},
    },
    text::{host_event, room_event},
};
use crate::{
    client::{
        Ai, ClientError, CloseReason, GameId, Guest, NewRoom, Occupant, Phase, Player, PlayerId, PlayerKind, Room,
        RoomUpdate, Session,
    },
    rules::{ByColor, Color},
};
use command::{HostCommand, SeatChoice, commands};
use settings::SettingsOptions;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi host                                              two open seats\n  \
    reversi host --room-name Cup --games 5 --auto-start --password sesame\n  \
    reversi host --black mcts:3 --white alphabeta --pause 500\n  \
    echo start | reversi host --black greedy --white roxanne  by a script\n  \
    reversi host --room 7k2m9x4q1c0d                          a room of others\n\n\
    `help` lists the commands, to be typed one a line. At the end of the input the host waits for the end of a running \
    game, then leaves.")]
pub(super) struct Args {
    /// Black's seat: open, me, or a kind of AI with or without its level.
    #[arg(long, value_name = "SEAT", default_value = "open")]
    black: SeatChoice,
    /// White's seat, likewise.
    #[arg(long, value_name = "SEAT", default_value = "open")]
    white: SeatChoice,
    #[command(flatten)]
    settings: SettingsOptions,
    /// A password for joining.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    /// Join this room, by its id or join code, instead of making one: its owner may transfer it to you.
    #[arg(long, value_name = "ID_OR_CODE")]
    room: Option<String>,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

impl Args {
    fn new_room(&self, me: &Player) -> NewRoom {
        let occupant = |choice: &SeatChoice| match choice {
            SeatChoice::Open => Occupant::Open,
            SeatChoice::Me => Occupant::Player(me.clone()),
            SeatChoice::Ai(ai) => Occupant::Ai(ai.clone()),
        };
        NewRoom {
            settings: self.settings.settings(),
            seats: ByColor::new(occupant(&self.black), occupant(&self.white)),
            password: self.password.clone(),
            ..NewRoom::default()
        }
    }

    fn ais(&self) -> impl Iterator<Item = &Ai> {
        [&self.black, &self.white].into_iter().filter_map(|seat| match seat {
            SeatChoice::Ai(ai) => Some(ai),
            SeatChoice::Open | SeatChoice::Me => None,
        })
    }
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    for ai in args.ais() {
        check_ai::check(&ai.kind, Some(ai.level).filter(|&level| level > 0))?;
    }
    let client = login::connect(&args.server).await?;
    let session = login::resume_or_log_in(&client, &args.login, "host", PlayerKind::Human).await?;
    let (done, stays) = match enter(&session, &args).await {
        Ok(room) => host(&session, &args, room).await,
        Err(error) => (Err(error), false),
    };
    if !stays {
        login::log_out_unless_kept(session, args.login.keep.as_deref()).await;
    }
    let lost = "the session has expired; make a new room";
    done.map_err(|error| login::explain_lost(error, lost))
}

async fn enter(session: &Session, args: &Args) -> anyhow::Result<Room> {
    let Some(text) = &args.room else { return make(session, args).await };
    match named_room::join_by_text(session, text, &args.password).await {
        Err(error) if error.is("BAD_PASSWORD") => Err(login::asks_for_password()),
        done => done.context(format!("cannot enter room {text}")),
    }
}

/// Hosts until the end; returns whether the host stays in a game as a player, as that of `play` does.
async fn host(session: &Session, args: &Args, room: Room) -> (anyhow::Result<()>, bool) {
    let me = &session.player().id;
    host_event::invitation(&room, args.server.non_default()).into_iter().for_each(say);
    host_event::survey(&room, me).into_iter().for_each(say);
    say("`help` lists the commands");
    let (mut host, keep) = (Host::new(session, room), args.login.keep.as_deref());
    let done = host.run(keep).await;
    let (id, leaves, playing) = (&host.view.room().id, matches!(done, Ok(Parting::Leaves)), host.view.is_playing());
    let resigns = leaves && playing;
    // A kept login stays in the room after a signal.
    if leaves || keep.is_none() {
        login::leave(session, id, resigns).await;
    }
    let stays = !resigns && login::is_playing(session, playing).await;
    if stays && done.is_ok() {
        let back = format!("to come back: reversi host --room {id}");
        say(login::seat_kept(keep, &back));
    }
    (done.map(drop), stays)
}

/// How a host ends.
enum Parting {
    Leaves,
    Stays,
}

async fn make(session: &Session, args: &Args) -> anyhow::Result<Room> {
    match session.create_room(args.new_room(session.player())).await {
        Err(error) if is_about_ai(&error) => {
            let info = session.server_info().await?;
            let refused = args.ais().map(|ai| check_ai::check_server_has(&info, ai)).find_map(Result::err);
            Err(refused.unwrap_or_else(|| anyhow::anyhow!(error).context("cannot make a room")))
        }
        done => done.context("cannot make a room"),
    }
}

/// A host in a room: its state, its stream, and the pending calls.
struct Host<'a> {
    session: &'a Session,
    view: RoomView,
    updates: ReconnectingStream<RoomUpdate>,
    /// The last event that was shown: a reopened stream continues after it. Zero requests a snapshot.
    last_seq: Arc<AtomicU64>,
    calls: JoinSet<anyhow::Result<u64>>,
    /// The last event that a call has caused.
    caused: u64,
    lost: bool,
}

impl<'a> Host<'a> {
    fn new(session: &'a Session, room: Room) -> Self {
        let last_seq = Arc::new(AtomicU64::new(room.seq));
        let (watcher, id, from) = (session.clone(), room.id.clone(), last_seq.clone());
        let updates = ReconnectingStream::new(move || {
            let (watcher, id) = (watcher.clone(), id.clone());
            let after = Some(from.load(Ordering::Relaxed)).filter(|&seq| seq > 0);
            async move { watcher.watch_with(&id, "", "", after).await }
        });
        let view = RoomView::new(room, Some(session.player().id.clone()), Instant::now());
        Self { session, view, updates, last_seq, calls: JoinSet::new(), caused: 0, lost: false }
    }

    async fn run(&mut self, keep: Option<&Path>) -> anyhow::Result<Parting> {
        let mut interrupt = Interrupt::listen()?;
        let mut asked_to_leave = false;
        let mut input = Some(BufReader::new(tokio::io::stdin()).split(b'\n'));
        loop {
            let ready = self.wants_line();
            if ready && input.is_none() && self.view.room().phase != Phase::Playing && self.has_left().await {
                say("no more input: leaving");
                return Ok(Parting::Leaves);
            }
            let flow = tokio::select! {
                flow = self.next() => flow?,
                line = next_line(&mut input), if ready => {
                    asked_to_leave = false;
                    line.map_or(ControlFlow::Continue(()), |line| self.read_line(&line))
                }
                interruption = interrupt.wait() => {
                    if interruption == Interruption::End || !self.view.is_playing() || asked_to_leave {
                        interruption.ends_command();
                        return Ok(Parting::Stays);
                    }
                    asked_to_leave = true;
                    say(login::asks_to_leave("leave", keep));
                    ControlFlow::Continue(())
                }
            };
            if flow.is_break() {
                return Ok(Parting::Leaves);
            }
        }
    }

    /// Leaves the room, unless a game of the host has begun: its events follow.
    async fn has_left(&self) -> bool {
        let done = leave::unless_playing(self.session, &self.view.room().id).await;
        !done.is_err_and(|error| error.is("ROOM_IN_GAME"))
    }

    /// Whether the effects of the last line were shown: a script's next line waits for them.
    fn wants_line(&self) -> bool {
        self.calls.is_empty() && self.caused <= self.view.room().seq
    }

    /// Waits for the server. Cancel safe.
    async fn next(&mut self) -> Result<ControlFlow<()>, ClientError> {
        tokio::select! {
            news = self.updates.next() => match news {
                Ok(Received::Item(update)) => Ok(self.apply(update)),
                Ok(Received::Lost(error, wait)) => {
                    self.lost = true;
                    say(connection_lost(&error, wait));
                    Ok(ControlFlow::Continue(()))
                }
                // The room closed while the connection was lost.
                Err(error) if error.is("ROOM_CLOSED") || error.is("ROOM_NOT_FOUND") => Ok(end("the room is closed")),
                Err(error) => Err(error),
            },
            Some(done) = self.calls.join_next() => {
                match done {
                    Ok(Ok(seq)) => self.caused = self.caused.max(seq),
                    Ok(Err(refusal)) => say(format_args!("{refusal:#}")),
                    Err(_) => {}
                }
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn apply(&mut self, update: RoomUpdate) -> ControlFlow<()> {
        if std::mem::take(&mut self.lost) {
            say("connected again");
        }
        let line = match &update {
            RoomUpdate::Event(event) => host_event::describe(self.view.room(), self.me(), &event.change),
            _ => None,
        };
        let effect = self.view.update(update, Instant::now());
        self.last_seq.store(self.view.room().seq, Ordering::Relaxed);
        match effect {
            Effect::Event { board, .. } => {
                line.into_iter().for_each(say);
                if board {
                    self.ask_for_move();
                }
            }
            Effect::Snapshot => say(draw_room::headline(self.view.room())),
            Effect::Missed => {
                self.last_seq.store(0, Ordering::Relaxed);
                self.updates.restart();
            }
            Effect::Closed(CloseReason::Kicked) => return end("you were removed from the room"),
            // The event was shown already.
            Effect::Closed(_) if self.view.room().phase == Phase::Closed => return ControlFlow::Break(()),
            Effect::Closed(_) => return end("the room is closed"),
            Effect::Nothing => {}
        }
        ControlFlow::Continue(())
    }

    fn ask_for_move(&self) {
        if let Some(game) = self.view.my_turn() {
            say(format_args!("your move: {}", room_event::squares(game.standing.legal.iter())));
        }
    }

    fn read_line(&mut self, line: &str) -> ControlFlow<()> {
        if line.is_empty() {
            return ControlFlow::Continue(());
        }
        match line.parse() {
            Err(error) => say(error),
            Ok(HostCommand::Who) => host_event::survey(self.view.room(), self.me()).into_iter().for_each(say),
            Ok(HostCommand::Help) => commands().for_each(|(usage, help)| say(format_args!("  {usage:31} {help}"))),
            Ok(HostCommand::Leave) => return end("leaving"),
            Ok(command) => {
                let (session, room) = (self.session.clone(), self.view.room().clone());
                self.calls.spawn(async move { perform(&session, &room, command).await });
            }
        }
        ControlFlow::Continue(())
    }

    fn me(&self) -> &PlayerId {
        &self.session.player().id
    }
}

/// Prints the reason and ends the host.
fn end(reason: &str) -> ControlFlow<()> {
    say(reason);
    ControlFlow::Break(())
}

/// The next line; `None` once at the end of the input, and pending after that.
async fn next_line(input: &mut Option<Split<BufReader<Stdin>>>) -> Option<String> {
    let Some(lines) = input else { return std::future::pending().await };
    match lines.next_segment().await {
        Ok(Some(line)) => Some(String::from_utf8_lossy(&line).trim().to_owned()),
        // An error counts as the end.
        Ok(None) | Err(_) => {
            *input = None;
            None
        }
    }
}

/// Sends a command to the server; returns the number of the event that it caused.
async fn perform(session: &Session, room: &Room, command: HostCommand) -> anyhow::Result<u64> {
    let id = &room.id;
    let done = match command {
        HostCommand::Start => match session.start_game(id, "").await {
            // The response has no event number; the room has.
            Ok(_) => session.room(id).await.map(|room| room.seq),
            Err(error) => Err(error),
        },
        HostCommand::Seat(side, choice) => return set_seat(session, room, side, choice).await,
        HostCommand::Reserve(side, name) => {
            let guest = match member(room, &name) {
                Ok(member) => member.clone(),
                Err(_) => find_player::find(session, &name).await?,
            };
            session.reserve_seat(id, side, &guest).await
        }
        HostCommand::Invite(name) => {
            let open = Color::ALL.into_iter().find(|&side| room.seats[side].occupant == Occupant::Open);
            let side = open.context("no seat is open; `seat SIDE open` opens one")?;
            session.invite(id, side, &Guest::Name(name), None).await
        }
        HostCommand::Swap => session.swap_seats(id).await,
        HostCommand::Kick { name, ban } => session.kick(id, member(room, &name)?, ban).await,
        HostCommand::Transfer(name) => session.transfer_ownership(id, member(room, &name)?).await,
        HostCommand::CoOwner { name, named } => session.set_co_owner(id, member(room, &name)?, named).await,
        HostCommand::Abort => session.abort(running(room)?).await,
        HostCommand::EndSeries => session.end_series(id).await,
        HostCommand::Set(settings, fields) => session.update_settings(id, *settings, fields).await,
        HostCommand::SetPassword(password) => session.set_password(id, &password).await,
        HostCommand::Say(text) => session.chat(id, &text).await,
        HostCommand::Ready => session.set_ready(id, true).await,
        HostCommand::Move(square) => {
            session.play(running(room)?, room.game.as_ref().map_or(0, |game| game.ply), square).await
        }
        HostCommand::Resign => session.resign(running(room)?).await,
        HostCommand::Close => session.close_room(id).await,
        HostCommand::Who | HostCommand::Help | HostCommand::Leave => Ok(0),
    };
    done.map_err(|error| anyhow::anyhow!(play::session::explain(&error)))
}

async fn set_seat(session: &Session, room: &Room, side: Color, choice: SeatChoice) -> anyhow::Result<u64> {
    let done = match choice {
        SeatChoice::Open => session.open_seat(&room.id, side).await,
        SeatChoice::Me => session.take_seat(&room.id, side).await,
        SeatChoice::Ai(ai) => match session.seat_ai(&room.id, side, ai.clone()).await {
            Err(error) if is_about_ai(&error) => {
                return Err(check_ai::explain_refusal(error, &ai, &session.server_info().await?));
            }
            done => done,
        },
    };
    match (done, &room.seats[side].occupant) {
        (Err(error), Occupant::Player(player)) if error.is("SEAT_TAKEN") => {
            bail!("{error}: `kick {}` frees it", player.name)
        }
        (Err(error), Occupant::Ai(_) | Occupant::Reserved(_)) if error.is("SEAT_TAKEN") => {
            bail!("{error}: `seat {side} open` frees it")
        }
        (done, _) => Ok(done?),
    }
}

/// The member with this name; an exact match is preferred to one that ignores case.
fn member<'r>(room: &'r Room, name: &str) -> anyhow::Result<&'r PlayerId> {
    let players = || room.members.iter().map(|member| &member.player);
    let same = |player: &&Player| player.name.to_lowercase() == name.to_lowercase();
    let found = players().find(|player| player.name == name).or_else(|| players().find(same));
    let Some(found) = found else {
        let names: Vec<&str> = players().map(|player| player.name.as_str()).collect();
        bail!("no member is named `{name}`; the members are {}", names.join(", "))
    };
    Ok(&found.id)
}

fn running(room: &Room) -> anyhow::Result<&GameId> {
    room.running().map(|game| &game.id).context("no game is being played")
}

/// Of a host's requests, only those with an unknown kind or level of AI get this error.
fn is_about_ai(error: &ClientError) -> bool {
    error.is("BAD_ARGUMENT")
}
