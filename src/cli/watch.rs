//! `reversi watch`: a room as it is played, or a finished game.

use anyhow::{Context as _, anyhow, bail};
use tokio::time::Instant;

use super::{
    connect::{
        login::{self, LoginOptions, Visitor},
        reconnecting_stream::{Received, ReconnectingStream, connection_lost},
        running_game::refuse_running,
        server_address::Address,
    },
    replay, say, stdout_is_terminal,
    terminal::{
        draw_room,
        interrupt::Interrupt,
        room_view::{Effect, RoomView},
        screen::Screen,
    },
};
use crate::{
    client::{ClientError, GameFilter, GameId, RoomId, RoomUpdate},
    rules::Color,
};

/// Maximum number of listed games of a closed room, the newest.
const GAMES_LISTED: u32 = 50;

#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi watch 7k2m9x4q1c0d                 a room from `reversi rooms`\n  \
    reversi watch 7k2m9x4q1c0d-3               its third game, once it is finished\n  \
    reversi watch 7k2m9x4q1c0d --once          the board as it is now\n  \
    reversi watch 7k2m9x4q1c0d | tee game.txt  a board for every move")]
pub(super) struct Args {
    /// The room, or the finished game.
    #[arg(value_name = "ROOM_OR_GAME")]
    room: String,
    /// The join code of a private room.
    #[arg(long, default_value = "", hide_default_value = true)]
    code: String,
    /// The room's password.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    /// Print the board as it is now, and end; no effect on a finished game.
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

impl Args {
    pub(super) fn of_room(server: Address, login: LoginOptions, room: &RoomId) -> Self {
        Self { room: room.to_string(), server, login, ..Self::default() }
    }
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let visitor = Visitor::enter(&args.server, &args.login).await?;
    let done = watch(&visitor, &args).await;
    visitor.leave().await;
    done
}

async fn watch(visitor: &Visitor, args: &Args) -> anyhow::Result<()> {
    let mut refused = None;
    if let Ok(room) = args.room.parse::<RoomId>() {
        match WatchSession::open(visitor, &room, args).await {
            Ok(session) => return session.run(args.once).await.map_err(explain_gone),
            Err(error) if error.is_unknown_or_malformed() => refused = Some(error),
            Err(error) if error.is("BAD_PASSWORD") => return Err(login::asks_for_password()),
            Err(error) => return Err(error).context(format!("cannot watch room {room}")),
        }
        if list_games(visitor, &room).await? {
            return Ok(());
        }
    }
    if let Ok(game) = args.room.parse::<GameId>() {
        match visitor.reader().record(&game).await {
            Ok(record) => return replay::run(&record).await,
            Err(error) if error.is_unknown_or_malformed() => refuse_running(&visitor.reader(), &game).await?,
            Err(error) => return Err(error).context(format!("cannot read game {game}")),
        }
    }
    let why = refused.map(|error| format!(" ({error})")).unwrap_or_default();
    bail!("there is no room and no finished game `{}`{why}; `reversi rooms` lists the rooms", args.room)
}

/// Prints the finished games of a closed room; returns whether there are any.
async fn list_games(visitor: &Visitor, room: &RoomId) -> anyhow::Result<bool> {
    let filter = GameFilter { room: Some(room.clone()), ..GameFilter::default() };
    let mut games = match visitor.reader().list_games(filter, GAMES_LISTED, None).await {
        Ok(page) => page.items,
        // No room has this id.
        Err(error) if error.is_unknown_or_malformed() => return Ok(false),
        Err(error) => return Err(error).context(format!("cannot list the games of room {room}")),
    };
    games.reverse();
    if !games.is_empty() {
        say(format_args!("room {room} is closed; its games:"));
    }
    for game in &games {
        let (black, white) = (&game.players.black, &game.players.white);
        say(format_args!("  reversi watch {:16} {black} - {white}: {}", game.id, game.outcome));
    }
    Ok(!games.is_empty())
}

/// Reports a room that no longer exists as gone: it existed at the start.
fn explain_gone(error: anyhow::Error) -> anyhow::Error {
    let is_gone = |error: &ClientError| error.is("ROOM_NOT_FOUND") || error.is("ROOM_CLOSED");
    if error.downcast_ref().is_some_and(is_gone) { anyhow!("there is no such room any more") } else { error }
}

struct WatchSession {
    view: RoomView,
    updates: ReconnectingStream<RoomUpdate>,
}

impl WatchSession {
    /// Waits for the first snapshot, or the error that the room cannot be watched.
    async fn open(visitor: &Visitor, room: &RoomId, args: &Args) -> Result<Self, ClientError> {
        let (visitor, room) = (visitor.clone(), room.clone());
        let (code, password) = (args.code.clone(), args.password.clone());
        let mut updates = ReconnectingStream::new(move || {
            let (visitor, room) = (visitor.clone(), room.clone());
            let (code, password) = (code.clone(), password.clone());
            async move { visitor.read(async |reader| reader.watch_with(&room, &code, &password, None).await).await }
        });
        loop {
            match updates.next().await? {
                Received::Item(RoomUpdate::Snapshot(room)) => {
                    return Ok(Self { view: RoomView::new(*room, None, Instant::now()), updates });
                }
                Received::Item(_) => {}
                Received::Lost(error, _) => return Err(error),
            }
        }
    }

    async fn run(mut self, once: bool) -> anyhow::Result<()> {
        if once {
            self.print();
        } else if stdout_is_terminal() {
            let parting = self.on_screen().await?;
            parting.into_iter().for_each(say);
        } else {
            self.by_lines().await?;
        }
        Ok(())
    }

    /// Waits for the server. Cancel safe.
    async fn next(&mut self) -> Result<Effect, ClientError> {
        match self.updates.next().await? {
            Received::Item(update) => {
                let effect = self.view.update(update, Instant::now());
                if effect == Effect::Missed {
                    self.updates.restart();
                }
                Ok(effect)
            }
            Received::Lost(error, wait) => {
                let line = connection_lost(&error, wait);
                self.view.lost(line.clone());
                Ok(Effect::Event { line: Some(line), board: false })
            }
        }
    }

    async fn on_screen(&mut self) -> anyhow::Result<Option<String>> {
        let mut screen = Screen::open().context("cannot use this terminal")?;
        loop {
            let extras = draw_room::Extras { cursor: None, prompt: "", keys: "q quit" };
            screen.draw(|frame| draw_room::draw(frame, &self.view, extras, Instant::now()))?;
            tokio::select! {
                input = screen.input() => if input?.quits() {
                    return Ok(None);
                },
                effect = self.next() => if let Effect::Closed(_) = effect? {
                    return Ok(Some(self.view.news().next_back().unwrap_or("the room is closed").to_owned()));
                },
            }
        }
    }

    async fn by_lines(&mut self) -> anyhow::Result<()> {
        let mut interrupt = Interrupt::listen()?;
        self.view.news().for_each(say);
        self.print();
        loop {
            tokio::select! {
                () = interrupt.end() => return Ok(()),
                effect = self.next() => match effect? {
                    Effect::Closed(_) => return Ok(()),
                    Effect::Snapshot => self.print(),
                    Effect::Event { line, board } => {
                        line.into_iter().for_each(say);
                        if board {
                            self.print();
                        }
                    }
                    Effect::Nothing | Effect::Missed => {}
                },
            }
        }
    }

    /// Prints the board, the players and the state.
    fn print(&self) {
        let board_view = self.view.board_view(None);
        let seats = &self.view.room().seats;
        let side = |disc, side: Color| format!("{disc} {} {}", seats[side].occupant, board_view.board.count(side));
        say(draw_room::headline(self.view.room()));
        board_view.to_string().lines().for_each(say);
        let state = draw_room::state_line(&self.view);
        say(format_args!("{}   {}   {state}", side('●', Color::Black), side('○', Color::White)));
        say("");
    }
}
