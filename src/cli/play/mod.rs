//! `reversi play`: plays in a terminal, by keys or by lines.

mod invitation;
mod lines;
mod seek;

use std::{io::IsTerminal as _, path::Path, time::Duration};

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    task::JoinSet,
    time::Instant,
};

use super::{
    connect::{
        check_ai, leave,
        login::{self, LoginOptions},
        named_room::{is_named, join_by_text},
        reconnecting_stream::{Received, ReconnectingStream},
        server_address::Address,
        terms::Terms,
    },
    random, say, stdout_is_terminal,
    terminal::{
        draw_room,
        interrupt::{Interrupt, Interruption},
        keys::{self, KeyInput, PlayerAction},
        room_view::{Effect, RoomView},
        screen::{Input, Screen},
    },
    text::room_event,
};
use crate::{
    client::{
        Ai, Claim, ClientError, CloseReason, Closing, NewRoom, Occupant, Offer, PlayEvent, PlayerKind, Room, RoomId,
        RoomUpdate, Session, Settings, SideWish, Visibility,
    },
    rules::{ByColor, Color, Square},
};
use lines::{COMMANDS, StdinMoves, is_answer, needs_no_game};
use seek::{Seek, found_by};

/// The default opponent, which beginners can beat.
const DEFAULT_OPPONENT: &str = "roxanne";

#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi play                                       against an AI\n  \
    reversi play --ai alphabeta --level 2 --side white\n  \
    reversi play --anyone                              against any waiting player\n  \
    reversi play --anyone --clock 300+2 --rated        rated, with this clock\n  \
    reversi play --new --private                       in a room for a friend\n  \
    reversi play --room 7k2m9x4q1c0d                   in this room\n  \
    printf 'd3\\nresign\\n' | reversi play --side black  by a script\n\n\
    Ctrl-C asks before it leaves a game. A signal, a closed terminal or the end of the input ends the program and keeps the \
    seat in a game for a while; `reversi play --keep FILE` comes back to one with the same FILE.")]
pub(super) struct Args {
    #[arg(long, value_name = "KIND", group = "opponent",
        help = format!("Play against this kind of AI [default: {DEFAULT_OPPONENT}, without --room, --anyone or --new]"))]
    ai: Option<String>,
    /// The AI's level; its kind's default if left out.
    #[arg(long, value_name = "N")]
    level: Option<u32>,
    /// Your side: black moves first.
    #[arg(long, value_parser = side(), default_value = "random")]
    side: SideWish,
    /// Take a seat in this room, given by its id or join code.
    #[arg(long, value_name = "ID_OR_CODE", group = "opponent", conflicts_with_all = ["Terms", "GameTerms"])]
    room: Option<String>,
    /// The room's password.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    /// Play against another player who looks for a game with the same terms.
    #[arg(long, group = "opponent")]
    anyone: bool,
    /// With --anyone: after this wait, play against an AI of the server, of about your rating.
    #[arg(long, value_name = "SECONDS", requires = "anyone", conflicts_with_all = ["rating", "against"])]
    house: Option<u16>,
    /// Make a room and wait in it for an opponent.
    #[arg(long, group = "opponent")]
    new: bool,
    /// With --new: a room that is entered by its join code only.
    #[arg(long, requires = "new")]
    private: bool,
    #[command(flatten)]
    terms: Terms,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

impl Args {
    pub(super) fn in_room(server: Address, login: LoginOptions, room: &RoomId) -> Self {
        Self { room: Some(room.to_string()), server, login, ..Self::default() }
    }
}

/// A side to be given.
pub(super) fn side() -> impl TypedValueParser<Value = SideWish> {
    PossibleValuesParser::new(["black", "white", "random"]).map(|side| match side.as_str() {
        "black" => SideWish::Black,
        "white" => SideWish::White,
        _ => SideWish::Random,
    })
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
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
    let mut seat = PlaySession { seek, ..PlaySession::new(session, room) };
    if keep.is_none() {
        seat.view.note(Some("without --keep FILE there is no way back to this seat once the program has ended".into()));
    }
    let done = if stdout_is_terminal() && std::io::stdin().is_terminal() {
        seat.play_on_screen().await
    } else {
        seat.play_by_lines(keep).await
    };
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
    });
    (done, stays)
}

/// How a session ends, with a last line to print.
enum Parting {
    /// The player leaves the room, but no game that began before it was shown.
    Leaves(Option<String>),
    /// The process ends; the player keeps the seat.
    Stays(Option<String>),
}

/// Finds a room and a seat. A search for any opponent may go on.
async fn sit_down(session: &Session, args: &Args, ai: Ai) -> anyhow::Result<(Room, Option<Seek>)> {
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
pub(super) fn chosen(side: SideWish) -> Color {
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

/// A player in a room: its state, its streams, and the pending calls.
struct PlaySession<'a> {
    session: &'a Session,
    view: RoomView,
    updates: ReconnectingStream<RoomUpdate>,
    turns: ReconnectingStream<PlayEvent>,
    calls: JoinSet<Result<u64, ClientError>>,
    /// The call that enters the room of an invitation.
    moves: JoinSet<Result<Room, ClientError>>,
    seek: Option<Seek>,
    /// The last event that the player's own calls have caused.
    caused: u64,
}

enum SessionEvent {
    Update(Effect),
    Lost(String),
    Refused(ClientError),
    Note(String),
    Superseded,
    Nothing,
}

impl<'a> PlaySession<'a> {
    fn new(session: &'a Session, room: Room) -> Self {
        let updates = ReconnectingStream::of_room(session, &room.id);
        let player = session.clone();
        // Moves are shown by the room's events; this stream keeps the player present.
        let turns = ReconnectingStream::new(move || {
            let player = player.clone();
            async move { player.turns().await }
        });
        let view = RoomView::new(room, Some(session.player().id.clone()), Instant::now());
        Self { session, view, updates, turns, calls: JoinSet::new(), moves: JoinSet::new(), seek: None, caused: 0 }
    }

    /// Plays in another room. The stream of turns stays, so that the player is not absent for a moment.
    fn change_room(&mut self, room: Room) {
        let mut next = Self::new(self.session, room);
        std::mem::swap(&mut next.turns, &mut self.turns);
        *self = next;
    }

    /// Waits for the server. Cancel safe.
    async fn next(&mut self) -> Result<SessionEvent, ClientError> {
        let waits = self.view.game().is_none();
        tokio::select! {
            room = found_by(self.seek.as_mut(), self.view.room()), if waits => {
                let note = format!("room {}: an opponent waits there", room.id);
                let seek = self.seek.take();
                self.change_room(room);
                self.seek = seek;
                Ok(SessionEvent::Note(note))
            }
            news = self.updates.next() => Ok(match news? {
                Received::Item(update) => {
                    let effect = self.view.update(update, Instant::now());
                    if effect == Effect::Missed {
                        self.updates.restart();
                    }
                    // The call that has moved the player may be answered later.
                    let is_moving = !self.moves.is_empty() || self.seek.as_ref().is_some_and(Seek::is_under_way);
                    let is_left = matches!(effect, Effect::Closed(_)) && is_moving;
                    if is_left {
                        return Ok(SessionEvent::Nothing);
                    }
                    SessionEvent::Update(effect)
                }
                // The player leaves this room.
                Received::Lost(..) if !self.moves.is_empty() => SessionEvent::Nothing,
                Received::Lost(error, wait) => SessionEvent::Lost(connection_lost(&error, wait)),
            }),
            news = self.turns.next() => Ok(match news? {
                Received::Item(PlayEvent::Kicked { .. }) => SessionEvent::Lost("you were removed from the room".into()),
                Received::Item(PlayEvent::Closing(Closing { reason: CloseReason::Superseded, .. })) => {
                    SessionEvent::Superseded
                }
                Received::Item(PlayEvent::RatingChanged { own, .. }) => SessionEvent::Note(format!("your rating: {own}")),
                Received::Item(PlayEvent::Invited(invited)) => {
                    self.view.invited(invited.room.clone());
                    SessionEvent::Note(invitation::line(&invited, self.view.is_playing()))
                }
                Received::Item(PlayEvent::InvitationEnded { room, reason, .. }) if self.view.uninvited(&room) => {
                    invitation::ended(reason).map_or(SessionEvent::Nothing, |note| SessionEvent::Note(note.to_owned()))
                }
                // A lost connection is reported by the other stream.
                Received::Item(_) | Received::Lost(..) => SessionEvent::Nothing,
            }),
            Some(Ok(entered)) = self.moves.join_next() => {
                let room = entered?;
                let note = format!("room {}: you have accepted the invitation", room.id);
                self.change_room(room);
                Ok(SessionEvent::Note(note))
            }
            Some(done) = self.calls.join_next() => Ok(match done {
                Ok(Err(error)) => SessionEvent::Refused(error),
                Ok(Ok(seq)) => {
                    self.caused = self.caused.max(seq);
                    SessionEvent::Nothing
                }
                Err(_) => SessionEvent::Nothing,
            }),
        }
    }

    /// Sends an action to the server; [`PlaySession::next`] returns refusals.
    fn perform(&mut self, action: PlayerAction) {
        let (session, room, starts) = (self.session.clone(), self.view.room().id.clone(), self.view.may_start());
        if let PlayerAction::AcceptInvitation(invited) = action {
            self.view.uninvited(&invited);
            self.moves.spawn(async move { invitation::enter(&session, &room, &invited).await });
            return;
        }
        self.calls.spawn(async move {
            match action {
                PlayerAction::Play(game, ply, square) => session.play(&game, ply, square).await,
                PlayerAction::Resign(game) => session.resign(&game).await,
                PlayerAction::Claim(game, claim) => session.claim(&game, claim).await,
                PlayerAction::Offer(game, offer) => session.offer(&game, offer).await,
                PlayerAction::Answer(game, offer, accept) => session.answer(&game, offer, accept).await,
                PlayerAction::Chat(text) => session.chat(&room, &text).await,
                PlayerAction::Start if !starts => session.set_ready(&room, true).await,
                PlayerAction::Start => session.start_game(&room, "").await.map(|_| 0),
                PlayerAction::DeclineInvitation(invited) => session.decline_invitation(&invited, "").await.map(|_| 0),
                PlayerAction::Note(_)
                | PlayerAction::Quit
                | PlayerAction::KeepSeat
                | PlayerAction::AcceptInvitation(_) => Ok(0),
            }
        });
    }

    /// Plays on the screen.
    async fn play_on_screen(&mut self) -> anyhow::Result<Parting> {
        let mut screen = Screen::open().context("cannot use this terminal")?;
        let mut key_input = KeyInput::new();
        loop {
            let (prompt, cursor) = (key_input.prompt(&self.view), key_input.cursor(&self.view));
            let extras = draw_room::Extras { cursor, prompt: &prompt, keys: key_input.keys(&self.view) };
            screen.draw(|frame| draw_room::draw(frame, &self.view, extras, Instant::now()))?;
            tokio::select! {
                input = screen.input() => {
                    let action = match input? {
                        Input::Interrupted(Interruption::End) => return Ok(Parting::Stays(None)),
                        Input::Interrupted(Interruption::CtrlC) => {
                            let action = key_input.interrupt(&self.view);
                            if matches!(action, Some(PlayerAction::Quit | PlayerAction::KeepSeat)) {
                                Interruption::CtrlC.ends_command();
                            }
                            action
                        }
                        Input::Key(key) => key_input.press(key, &self.view),
                        Input::Redraw => None,
                    };
                    match action {
                        Some(PlayerAction::Quit) => return Ok(Parting::Leaves(None)),
                        Some(PlayerAction::KeepSeat) => return Ok(Parting::Stays(None)),
                        Some(PlayerAction::Note(note)) => self.view.note(Some(note)),
                        Some(action) => self.perform(action),
                        None => {}
                    }
                }
                event = self.next() => match event? {
                    SessionEvent::Update(Effect::Closed(_)) => return Ok(Parting::Leaves(self.closing_line())),
                    SessionEvent::Superseded => return Ok(superseded()),
                    SessionEvent::Update(_) | SessionEvent::Nothing => {}
                    SessionEvent::Lost(message) => self.view.lost(message),
                    SessionEvent::Refused(error) => self.view.note(Some(explain(&error))),
                    SessionEvent::Note(note) => self.view.note(Some(note)),
                },
            }
        }
    }

    async fn play_by_lines(&mut self, keep: Option<&Path>) -> anyhow::Result<Parting> {
        let mut interrupt = Interrupt::listen()?;
        let mut input = StdinMoves { lines: BufReader::new(tokio::io::stdin()).lines(), asked: None, held: None };
        say(format_args!("room {}; `help` lists the commands", self.view.room().id));
        self.view.note(draw_room::invitation(&self.view));
        self.view.news().for_each(say);
        // What a line causes before the first snapshot would be part of that, and not be printed.
        let mut is_watching = false;
        let mut asked_to_leave = false;
        loop {
            let wanted = self.wants_line(&input);
            if wanted && let Some(line) = input.held.take() {
                if let Some(parting) = self.act_on(&line) {
                    return Ok(Parting::Leaves(Some(parting)));
                }
                continue;
            }
            // Before the first game only the commands that need none are read ahead.
            let ahead = self.view.game().is_none() && self.has_shown_effects() && input.held.is_none();
            // An offer is answered in the opponent's turn, too.
            let is_asked = keys::offered(&self.view).is_some() || self.view.invited_to().is_some();
            let answers = is_asked && self.has_shown_effects() && input.held.is_none();
            tokio::select! {
                interruption = interrupt.wait() => {
                    let leaves = interruption == Interruption::CtrlC && !self.view.is_playing();
                    if leaves || interruption == Interruption::End || asked_to_leave {
                        interruption.ends_command();
                        return Ok(if leaves { Parting::Leaves(None) } else { Parting::Stays(None) });
                    }
                    asked_to_leave = true;
                    say(login::asks_to_leave("quit", keep));
                }
                event = self.next() => match event? {
                    SessionEvent::Update(Effect::Closed(_)) => return Ok(Parting::Leaves(self.closing_line())),
                    SessionEvent::Superseded => return Ok(superseded()),
                    SessionEvent::Update(effect) => {
                        is_watching = true;
                        self.print(&effect, &mut input);
                    }
                    SessionEvent::Nothing => {}
                    SessionEvent::Lost(message) => {
                        is_watching = true;
                        say(message);
                    }
                    SessionEvent::Refused(error) => say(explain(&error)),
                    SessionEvent::Note(note) => say(note),
                },
                line = input.lines.next_line(), if is_watching && (wanted || ahead || answers) => {
                    asked_to_leave = false;
                    match line? {
                        None if self.view.is_playing() => return Ok(Parting::Stays(None)),
                        None => return Ok(Parting::Leaves(Some("no more input: leaving".into()))),
                        Some(line) if wanted || needs_no_game(&line) || answers && is_answer(&line).is_some() => {
                            if let Some(parting) = self.act_on(&line) {
                                return Ok(Parting::Leaves(Some(parting)));
                            }
                        }
                        Some(line) => input.held = Some(line),
                    }
                }
            }
        }
    }

    /// Carries out a line; returns a last line to print if it ends the program.
    fn act_on(&mut self, line: &str) -> Option<String> {
        if line.trim() == "help" {
            COMMANDS.iter().for_each(|(usage, help)| say(format_args!("  {usage:9} {help}")));
            return None;
        }
        match self.read_line(line.trim()) {
            PlayerAction::Quit => return Some(self.leaving().into()),
            PlayerAction::Note(note) => say(note),
            action => self.perform(action),
        }
        None
    }

    /// Whether the effects of the last line were shown.
    fn has_shown_effects(&self) -> bool {
        self.calls.is_empty() && self.view.room().seq >= self.caused
    }

    /// Whether the next line can be used: a script's moves wait for their turn.
    fn wants_line(&self, input: &StdinMoves) -> bool {
        if !self.has_shown_effects() {
            return false;
        }
        match (self.view.my_turn(), self.view.game()) {
            (Some(game), _) => input.asked.as_ref() == Some(&(game.id.clone(), game.ply)),
            (None, Some(game)) => game.outcome.is_some(),
            (None, None) => false,
        }
    }

    fn print(&self, effect: &Effect, input: &mut StdinMoves) {
        let (line, board) = match effect {
            Effect::Snapshot => (None, true),
            Effect::Event { line, board } => (line.as_ref(), *board),
            Effect::Nothing | Effect::Missed | Effect::Closed(_) => return,
        };
        line.into_iter().for_each(say);
        let Some(game) = self.view.my_turn().filter(|_| board) else {
            if board && line.is_none() {
                say(draw_room::state_line(&self.view));
            }
            return;
        };
        if input.asked.as_ref() == Some(&(game.id.clone(), game.ply)) {
            return;
        }
        input.asked = Some((game.id.clone(), game.ply));
        let moves = room_event::squares(game.standing.legal.iter());
        let board_view = self.view.board_view(None);
        let count = |side| board_view.board.count(side);
        say("");
        board_view.to_string().lines().for_each(say);
        say("");
        say(format_args!("● {}  ○ {}", count(Color::Black), count(Color::White)));
        say(format_args!("{}: {}", draw_room::state_line(&self.view), moves));
    }

    fn read_line(&self, line: &str) -> PlayerAction {
        let running = self.view.room().running();
        if let Ok(square) = line.parse::<Square>() {
            return match self.view.my_turn() {
                Some(game) => PlayerAction::Play(game.id.clone(), game.ply, square),
                None => PlayerAction::Note("it is not your turn".into()),
            };
        }
        match (line.split_once(' ').unwrap_or((line, "")), running) {
            (("q" | "quit", _), _) => PlayerAction::Quit,
            (("r" | "resign", _), Some(game)) => PlayerAction::Resign(game.id.clone()),
            (("d" | "draw", _), Some(game)) => PlayerAction::Offer(game.id.clone(), Offer::Draw),
            (("u" | "takeback", _), Some(game)) => PlayerAction::Offer(game.id.clone(), Offer::TakeBack),
            (("claim", ""), Some(game)) => PlayerAction::Claim(game.id.clone(), Claim::Win),
            (("claim", "draw"), Some(game)) => PlayerAction::Claim(game.id.clone(), Claim::Draw),
            (("s" | "start" | "ready", _), None) => PlayerAction::Start,
            (("n" | "rematch", _), None) => match self.view.game() {
                Some(last) => PlayerAction::Offer(last.id.clone(), Offer::Rematch),
                None => PlayerAction::Note("no game has been played in this room".into()),
            },
            (("x" | "decline" | "y" | "accept", _), _) => match keys::offered(&self.view) {
                Some((game, offer)) => PlayerAction::Answer(game, offer, is_answer(line) == Some(true)),
                None => match (self.view.invited_to().cloned(), is_answer(line)) {
                    (Some(invited), Some(true)) => PlayerAction::AcceptInvitation(invited),
                    (Some(invited), _) => PlayerAction::DeclineInvitation(invited),
                    (None, _) => PlayerAction::Note("nothing is offered".into()),
                },
            },
            (("say", text), _) if !text.is_empty() => PlayerAction::Chat(text.to_owned()),
            _ => PlayerAction::Note(format!(
                "`{line}` is none of: a square, resign, draw, takeback, accept, decline, claim, rematch, start, ready, say TEXT, help, quit"
            )),
        }
    }

    fn leaving(&self) -> &'static str {
        if self.view.is_playing() { "leaving, which resigns the game" } else { "leaving" }
    }

    fn closing_line(&self) -> Option<String> {
        self.view.news().next_back().map(str::to_owned).or_else(|| Some("the room is closed".into()))
    }
}

/// The end when a newer process has the player's turns.
fn superseded() -> Parting {
    Parting::Stays(Some("another process plays as the same player".into()))
}

/// A refusal, with the legal moves if the server sent them.
pub(super) fn explain(error: &ClientError) -> String {
    let legal = error.refusal().map(|refusal| refusal.legal_moves).unwrap_or_default();
    if legal.is_empty() {
        return error.to_string();
    }
    format!("{error}; the moves are {}", room_event::squares(legal.iter()))
}

pub(super) fn connection_lost(error: &ClientError, wait: Duration) -> String {
    format!("{error}; trying again in {:.1} s", wait.as_secs_f32())
}
