//! `reversi play`: a person at a table.

use std::{io::IsTerminal as _, path::PathBuf, time::Duration};

use anyhow::Context as _;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines, Stdin},
    task::JoinSet,
    time::Instant,
};

use super::{
    connect::{
        check_ai, login,
        reconnecting_stream::{Feed, News},
        server_address::Address,
    },
    random, say, stdout_is_terminal,
    terminal::{
        draw_table,
        interrupt::Interrupt,
        keys::{self, Hand, Wish},
        screen::{Input, Screen},
        table::{Effect, Table},
    },
};
use crate::{
    client::{
        Ai, ClientError, GameId, NewRoom, Occupant, Offer, PlayEvent, PlayerKind, Room, RoomId, RoomUpdate, Session,
        Settings, SideWish, Visibility,
    },
    rules::{ByColor, Color, Square},
};

/// An opponent that beginners can beat.
const FIRST_OPPONENT: &str = "roxanne";

/// Whom to play against.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi play                                  against an AI\n  \
    reversi play --ai alphabeta --level 2 --side white\n  \
    reversi play --anyone                         against whoever else asks for that\n  \
    reversi play --new --private                  in a room of your own, for a friend\n  \
    reversi play --room 7k2m9x4q1c0d              in a room from `reversi rooms`, or by its join code\n  \
    printf 'd3\\nresign\\n' | reversi play          by a script: squares, resign, draw, rematch, decline, say TEXT, quit")]
pub(super) struct Args {
    /// Your name; a made-up one if left out.
    #[arg(long, env = "REVERSI_NAME")]
    name: Option<String>,
    /// Play against this kind of AI.
    #[arg(long, env = "REVERSI_AI", value_name = "KIND", group = "opponent")]
    ai: Option<String>,
    /// The AI's level; its kind's default if left out.
    #[arg(long, env = "REVERSI_LEVEL", value_name = "N")]
    level: Option<u32>,
    /// Your side: black moves first.
    #[arg(long, env = "REVERSI_SIDE", value_enum, default_value_t = Side::Random)]
    side: Side,
    /// Take a seat in this room, given by its id or join code.
    #[arg(long, env = "REVERSI_ROOM", value_name = "ID_OR_CODE", group = "opponent")]
    room: Option<String>,
    /// The room's password.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    /// Play against anyone who asks for the same.
    #[arg(long, env = "REVERSI_ANYONE", group = "opponent", value_parser = clap::builder::FalseyValueParser::new())]
    anyone: bool,
    /// Make a room and wait in it for an opponent.
    #[arg(long, env = "REVERSI_NEW", group = "opponent", value_parser = clap::builder::FalseyValueParser::new())]
    new: bool,
    /// With --new: a room that is entered by its join code only.
    #[arg(long, env = "REVERSI_PRIVATE", requires = "new", value_parser = clap::builder::FalseyValueParser::new())]
    private: bool,
    /// Keep the login in this file, and come back by it: to the seat, if it is still yours.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    keep: Option<PathBuf>,
}

impl Args {
    /// A seat in a public room.
    pub(super) fn in_room(room: &RoomId) -> Self {
        Self {
            name: None,
            ai: None,
            level: None,
            side: Side::Random,
            room: Some(room.to_string()),
            password: String::new(),
            anyone: false,
            new: false,
            private: false,
            keep: None,
        }
    }
}

/// A side to be given.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Side {
    Black,
    White,
    Random,
}

impl From<Side> for SideWish {
    fn from(side: Side) -> Self {
        match side {
            Side::Black => Self::Black,
            Side::White => Self::White,
            Side::Random => Self::Random,
        }
    }
}

/// Plays until the player leaves.
pub(super) async fn run(server: &Address, args: Args) -> anyhow::Result<()> {
    let ai = check_ai::check(args.ai.as_deref().unwrap_or(FIRST_OPPONENT), args.level)?;
    let client = login::connect(server).await?;
    let session = login::enter(&client, args.keep.as_deref(), args.name.as_deref(), "guest", PlayerKind::Human).await?;
    let done = play(&session, &args, ai).await;
    login::part(session, args.keep.as_deref()).await;
    done.map_err(|error| match error.downcast_ref::<ClientError>() {
        Some(lost) if lost.is_session_lost() => {
            anyhow::anyhow!("the server has forgotten you, as a restart makes it do; play again from the start")
        }
        _ => error,
    })
}

async fn play(session: &Session, args: &Args, ai: Ai) -> anyhow::Result<()> {
    let room = sit_down(session, args, ai).await?;
    let mut seat = Seat::new(session, room);
    let parting = if stdout_is_terminal() && std::io::stdin().is_terminal() {
        seat.play_on_screen().await?
    } else {
        seat.play_by_lines().await?
    };
    // So that the others are told of a leaving, not of a lost connection. Who can come back keeps the seat.
    if !(seat.interrupted && args.keep.is_some()) {
        let _ = session.leave(&seat.table.room().id).await;
    }
    if let Some(parting) = parting {
        say(parting);
    }
    Ok(())
}

/// Gets the player into a seat.
async fn sit_down(session: &Session, args: &Args, ai: Ai) -> anyhow::Result<Room> {
    if args.keep.is_some()
        && let Some((room, _)) = session.me().await?.seats.first()
    {
        return Ok(session.room(room).await?);
    }
    if let Some(room) = &args.room {
        return join(session, room, args).await;
    }
    if args.anyone {
        return session.quick_start_anyone(args.side.into()).await.context("cannot find a game");
    }
    if args.new {
        return open_room(session, args).await;
    }
    match session.quick_start_ai(ai.clone(), args.side.into()).await {
        Err(error) if error.is_unknown_or_malformed() => {
            Err(check_ai::refused(error, &ai, &session.server_info().await?))
        }
        done => done.context("cannot start a game"),
    }
}

async fn open_room(session: &Session, args: &Args) -> anyhow::Result<Room> {
    let me = Occupant::Player(session.player().clone());
    let black = match args.side {
        Side::Black => true,
        Side::White => false,
        Side::Random => random::random().is_multiple_of(2),
    };
    let seats = if black { ByColor::new(me, Occupant::Open) } else { ByColor::new(Occupant::Open, me) };
    let visibility = if args.private { Visibility::Private } else { Visibility::Public };
    let settings = Settings { visibility, auto_start: true, ..Settings::default() };
    let new = NewRoom { settings, seats, password: args.password.clone(), ..NewRoom::default() };
    let room = session.create_room(new).await.context("cannot make a room")?;
    session.set_ready(&room.id, true).await?;
    Ok(session.room(&room.id).await?)
}

async fn join(session: &Session, text: &str, args: &Args) -> anyhow::Result<Room> {
    let room = enter(session, text, &args.password).await.map_err(|error| match error {
        error if error.is("BAD_PASSWORD") => login::asks_for_password(),
        error => anyhow::anyhow!(error).context(format!("cannot enter room {text}; `reversi rooms` lists them")),
    })?;
    let me = &session.player().id;
    if room.side_of(me).is_none() {
        let wished = match args.side {
            Side::White => [Color::White, Color::Black],
            Side::Black | Side::Random => [Color::Black, Color::White],
        };
        let Some(side) = wished.into_iter().find(|&side| room.seats[side].is_free_for(me)) else {
            anyhow::bail!("both seats of room {} are taken; `reversi watch {}` shows it", room.id, room.id);
        };
        session.take_seat(&room.id, side).await.context("cannot sit down")?;
    }
    session.set_ready(&room.id, true).await?;
    Ok(session.room(&room.id).await?)
}

/// By id, or by join code where the text is no id of a room that may be entered so.
pub(super) async fn enter(session: &Session, text: &str, password: &str) -> Result<Room, ClientError> {
    let by_id = match text.parse::<RoomId>() {
        Ok(id) => session.join(&id, password).await,
        Err(_) => return session.join_by_code(text, password).await,
    };
    match by_id {
        Err(error) if error.is_unknown_or_malformed() => session
            .join_by_code(text, password)
            .await
            .map_err(|other| if other.is_unknown_or_malformed() { error } else { other }),
        done => done,
    }
}

/// A player at a table: the state, what feeds it, and the calls on their way.
struct Seat<'a> {
    session: &'a Session,
    table: Table,
    updates: Feed<RoomUpdate>,
    turns: Feed<PlayEvent>,
    calls: JoinSet<Result<u64, ClientError>>,
    /// The newest event that this player's own calls have caused.
    caused: u64,
    /// Whether it was not the player who ended the game here.
    interrupted: bool,
}

/// Something for the loop to do.
enum Happened {
    Update(Effect),
    Lost(String),
    Refused(ClientError),
    Nothing,
}

impl<'a> Seat<'a> {
    fn new(session: &'a Session, room: Room) -> Self {
        let (watcher, id) = (session.clone(), room.id.clone());
        let updates = Feed::new(move || {
            let (watcher, id) = (watcher.clone(), id.clone());
            async move { watcher.watch(&id).await }
        });
        let player = session.clone();
        // The moves come by the room's events; this stream says that the player is there.
        let turns = Feed::new(move || {
            let player = player.clone();
            async move { player.turns().await }
        });
        let table = Table::new(room, Some(session.player().id.clone()), Instant::now());
        Self { session, table, updates, turns, calls: JoinSet::new(), caused: 0, interrupted: false }
    }

    /// Waits for the server. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Happened, ClientError> {
        tokio::select! {
            news = self.updates.next() => Ok(match news? {
                News::Item(update) => {
                    let effect = self.table.update(update, Instant::now());
                    if effect == Effect::Missed {
                        self.updates.restart();
                    }
                    Happened::Update(effect)
                }
                News::Lost(error, wait) => Happened::Lost(trouble(&error, wait)),
            }),
            news = self.turns.next() => Ok(match news? {
                News::Item(PlayEvent::Kicked { .. }) => Happened::Lost("you were removed from the room".into()),
                // That the connection is lost is said once, for the room's events.
                News::Item(_) | News::Lost(..) => Happened::Nothing,
            }),
            Some(done) = self.calls.join_next() => Ok(match done {
                Ok(Err(error)) => Happened::Refused(error),
                Ok(Ok(seq)) => {
                    self.caused = self.caused.max(seq);
                    Happened::Nothing
                }
                Err(_) => Happened::Nothing,
            }),
        }
    }

    /// Sends what the player wants on its way; refusals come back by [`Seat::next`].
    fn fulfil(&mut self, wish: Wish) {
        let (session, room) = (self.session.clone(), self.table.room().id.clone());
        self.calls.spawn(async move {
            match wish {
                Wish::Play(game, ply, square) => session.play(&game, ply, square).await,
                Wish::Resign(game) => session.resign(&game).await,
                Wish::Offer(offer) => session.offer(&room, offer).await,
                Wish::Decline(offer) => session.answer(&room, offer, false).await,
                Wish::Chat(text) => session.chat(&room, &text).await,
                Wish::Start => session.start_game(&room, "").await.map(|_| 0),
                Wish::Note(_) | Wish::Quit => Ok(0),
            }
        });
    }

    /// The parting word, if there is one.
    async fn play_on_screen(&mut self) -> anyhow::Result<Option<String>> {
        let mut screen = Screen::open().context("cannot use this terminal")?;
        let mut hand = Hand::new();
        loop {
            let (prompt, cursor) = (hand.prompt(&self.table), hand.cursor(&self.table));
            let extras = draw_table::Extras { cursor, prompt: &prompt, keys: hand.keys(&self.table) };
            screen.draw(|frame| draw_table::draw(frame, &self.table, extras, Instant::now()))?;
            tokio::select! {
                input = screen.input() => match input? {
                    Input::Quit => {
                        self.interrupted = true;
                        return Ok(None);
                    }
                    Input::Redraw => {}
                    Input::Key(key) => match hand.press(key, &self.table) {
                        Some(Wish::Quit) => return Ok(None),
                        Some(Wish::Note(note)) => self.table.note(Some(note)),
                        Some(wish) => self.fulfil(wish),
                        None => {}
                    },
                },
                happened = self.next() => match happened? {
                    Happened::Update(Effect::Over(_)) => return Ok(self.last_word()),
                    Happened::Update(_) | Happened::Nothing => {}
                    Happened::Lost(trouble) => self.table.lost(trouble),
                    Happened::Refused(error) => self.table.note(Some(explain(&error))),
                },
            }
        }
    }

    async fn play_by_lines(&mut self) -> anyhow::Result<Option<String>> {
        let mut interrupt = Interrupt::listen()?;
        let mut input = Script::new();
        self.table.note(draw_table::invitation(&self.table));
        self.table.news().for_each(say);
        loop {
            let wanted = self.wants_line(&input);
            tokio::select! {
                () = interrupt.wait() => {
                    self.interrupted = true;
                    return Ok(None);
                }
                happened = self.next() => match happened? {
                    Happened::Update(Effect::Over(_)) => return Ok(self.last_word()),
                    Happened::Update(effect) => self.print(&effect, &mut input),
                    Happened::Nothing => {}
                    Happened::Lost(trouble) => say(trouble),
                    Happened::Refused(error) => say(explain(&error)),
                },
                line = input.lines.next_line(), if wanted => match line? {
                    None => return Ok(Some("no more input: leaving".into())),
                    Some(line) => match self.read_line(line.trim()) {
                        Wish::Quit => return Ok(None),
                        Wish::Note(note) => say(note),
                        wish => self.fulfil(wish),
                    },
                },
            }
        }
    }

    /// Lines are read when what the last one caused has been shown, and the next can be meant for something: a
    /// script's moves wait until they are asked for.
    fn wants_line(&self, input: &Script) -> bool {
        if !self.calls.is_empty() || self.table.room().seq < self.caused {
            return false;
        }
        match (self.table.my_turn(), self.table.game()) {
            (Some(game), _) => input.asked.as_ref() == Some(&(game.id.clone(), game.ply)),
            (None, Some(game)) => game.outcome.is_some(),
            (None, None) => false,
        }
    }

    fn print(&self, effect: &Effect, input: &mut Script) {
        let (line, board) = match effect {
            Effect::Begun => (None, true),
            Effect::Told { line, board } => (line.as_ref(), *board),
            Effect::Nothing | Effect::Missed | Effect::Over(_) => return,
        };
        line.into_iter().for_each(say);
        let Some(game) = self.table.my_turn().filter(|_| board) else {
            if board && line.is_none() {
                say(draw_table::state_line(&self.table));
            }
            return;
        };
        if input.asked.as_ref() == Some(&(game.id.clone(), game.ply)) {
            return;
        }
        input.asked = Some((game.id.clone(), game.ply));
        let moves: Vec<String> = game.standing.legal.iter().map(|square| square.to_string()).collect();
        let view = self.table.view(None);
        let count = |side| view.board.count(side);
        say(format_args!("\n{view}\n\n● {}  ○ {}", count(Color::Black), count(Color::White)));
        say(format_args!("{}: {}", draw_table::state_line(&self.table), moves.join(" ")));
    }

    fn read_line(&self, line: &str) -> Wish {
        let running = self.table.room().running();
        if let Ok(square) = line.parse::<Square>() {
            return match self.table.my_turn() {
                Some(game) => Wish::Play(game.id.clone(), game.ply, square),
                None => Wish::Note("it is not your turn".into()),
            };
        }
        match (line.split_once(' ').unwrap_or((line, "")), running) {
            (("q" | "quit", _), _) => Wish::Quit,
            (("r" | "resign", _), Some(game)) => Wish::Resign(game.id.clone()),
            (("d" | "draw", _), Some(_)) => Wish::Offer(Offer::Draw),
            (("s" | "start", _), None) => Wish::Start,
            (("n" | "rematch", _), None) => Wish::Offer(Offer::Rematch),
            (("x" | "decline", _), _) => match keys::offered(&self.table) {
                Some(offer) => Wish::Decline(offer),
                None => Wish::Note("nothing is offered".into()),
            },
            (("say", text), _) if !text.is_empty() => Wish::Chat(text.to_owned()),
            _ => Wish::Note(format!(
                "`{line}` is none of: a square, resign, draw, rematch, start, decline, say TEXT, quit"
            )),
        }
    }

    fn last_word(&self) -> Option<String> {
        self.table.news().next_back().map(str::to_owned).or_else(|| Some("the room is closed".into()))
    }
}

/// Standard input, and the turn for which it was last asked.
struct Script {
    lines: Lines<BufReader<Stdin>>,
    asked: Option<(GameId, u32)>,
}

impl Script {
    fn new() -> Self {
        Self { lines: BufReader::new(tokio::io::stdin()).lines(), asked: None }
    }
}

/// A refusal, with the legal moves where the server gave them.
pub(super) fn explain(error: &ClientError) -> String {
    let legal = error.refusal().map(|refusal| refusal.legal_moves).unwrap_or_default();
    if legal.is_empty() {
        return error.to_string();
    }
    let moves: Vec<String> = legal.iter().map(|square| square.to_string()).collect();
    format!("{error}; the moves are {}", moves.join(" "))
}

/// What to say about a lost connection.
pub(super) fn trouble(error: &ClientError, wait: Duration) -> String {
    format!("{error}; trying again in {:.1} s", wait.as_secs_f32())
}
