//! A player in a room: what the server and the player do, on a screen or by lines.

use std::path::Path;

use anyhow::Context as _;
use tokio::{task::JoinSet, time::Instant};

use super::{
    invitation,
    lines::{COMMANDS, StdinMoves, is_answer, needs_no_game},
    seek::{Seek, found_by},
};
use crate::{
    cli::{
        connect::{
            login,
            reconnecting_stream::{CONNECTED_AGAIN, Received, ReconnectingStream, connection_lost},
        },
        say,
        terminal::{
            draw_room,
            interrupt::{Interrupt, Interruption},
            keys::{self, KeyInput, PlayerAction},
            room_view::{Effect, RoomView},
            screen::{Input, Screen},
        },
        text::{self, room_event},
    },
    client::{
        Claim, ClientError, CloseReason, Closing, Offer, Phase, PlayEvent, Room, RoomUpdate, Session, TournamentId,
        v1::player_tournament::News,
    },
    rules::{Color, Square},
};

/// The end when a newer process has the player's turns.
pub(super) const SUPERSEDED: &str = "another process plays as the same player";

/// The answer to the first Ctrl-C in a meeting.
const ASKS_TO_LEAVE_TOURNAMENT: &str =
    "the meeting goes on: `quit` leaves the whole tournament, Ctrl-C again ends the program and keeps the seat";

/// How a session ends, with a last line to print.
pub(super) enum Parting {
    /// The player leaves the room, but no game that began before it was shown.
    Leaves(Option<String>),
    /// The process ends; the player keeps the seat.
    Stays(Option<String>),
    /// The meeting of a tournament is over.
    MeetingOver,
}

/// The tournament in which a person takes part.
pub(super) struct TournamentEntry {
    pub(super) id: TournamentId,
    /// How it has ended for the player.
    pub(super) end: Option<String>,
}

impl TournamentEntry {
    /// Takes news of a tournament. Returns what to show: nothing of other tournaments; the end is shown last.
    pub(super) fn hear(&mut self, of: &TournamentId, news: &News) -> Option<String> {
        if *of != self.id {
            return None;
        }
        let line = text::tournament::news(news);
        match news {
            News::Ended(_) => self.end = Some(line),
            News::Left(left) if left.excluded => self.end = Some(line),
            // It may be from before the player joined; the standings tell.
            News::Left(_) => {}
            _ => return Some(line),
        }
        None
    }
}

/// A player in a room: its state, its streams, and the pending calls.
pub(super) struct PlaySession<'a> {
    session: &'a Session,
    pub(super) view: RoomView,
    updates: ReconnectingStream<RoomUpdate>,
    pub(super) turns: ReconnectingStream<PlayEvent>,
    calls: JoinSet<Result<u64, ClientError>>,
    /// The call that enters the room of an invitation.
    moves: JoinSet<Result<Room, ClientError>>,
    pub(super) seek: Option<Seek>,
    /// The last event that the player's own calls have caused.
    caused: u64,
    /// The tournament whose meeting this is; it goes on afterwards.
    pub(super) entry: Option<&'a mut TournamentEntry>,
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
    pub(super) fn new(session: &'a Session, room: Room) -> Self {
        // Moves are shown by the room's events; the stream of turns keeps the player present.
        let (updates, turns) = (ReconnectingStream::of_room(session, &room.id), ReconnectingStream::of_turns(session));
        let view = RoomView::new(room, Some(session.player().id.clone()), Instant::now());
        let (calls, moves) = (JoinSet::new(), JoinSet::new());
        Self { session, view, updates, turns, calls, moves, seek: None, caused: 0, entry: None }
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
            news = self.updates.next() => Ok(match self.unless_meeting_is_gone(news)? {
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
                // An entrant cannot leave for another room.
                Received::Item(PlayEvent::Invited(invited)) if self.entry.is_none() => {
                    self.view.invited(invited.room.clone());
                    SessionEvent::Note(invitation::line(&invited, self.view.is_playing()))
                }
                Received::Item(PlayEvent::InvitationEnded { room, reason, .. }) if self.view.uninvited(&room) => {
                    invitation::ended(reason).map_or(SessionEvent::Nothing, |note| SessionEvent::Note(note.to_owned()))
                }
                Received::Item(PlayEvent::Tournament { tournament, news }) => {
                    let line = match &mut self.entry {
                        Some(entry) => entry.hear(&tournament, &news),
                        None => Some(format!("tournament {tournament}: {}", text::tournament::news(&news))),
                    };
                    line.map_or(SessionEvent::Nothing, SessionEvent::Note)
                }
                // A lost connection is reported by the other stream.
                Received::Item(_) | Received::Lost(..) => SessionEvent::Nothing,
            }),
            Some(Ok(entered)) = self.moves.join_next() => {
                let room = match entered {
                    // A game has begun before the room was left.
                    Err(error) if error.is("ROOM_IN_GAME") => return Ok(SessionEvent::Refused(error)),
                    entered => entered?,
                };
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

    /// The room of a meeting that is no more, as after a restart of the server, has closed.
    fn unless_meeting_is_gone(
        &self,
        news: Result<Received<RoomUpdate>, ClientError>,
    ) -> Result<Received<RoomUpdate>, ClientError> {
        match news {
            Err(error) if self.entry.is_some() && error.refusal().is_some() && !error.is_session_lost() => {
                let closing = Closing { reason: CloseReason::RoomClosed, retry_after: None };
                Ok(Received::Item(RoomUpdate::Closing(closing)))
            }
            news => news,
        }
    }

    /// What follows from an effect for the session, if it ends.
    fn ending(&self, effect: &Effect) -> Option<Parting> {
        let is_closed = matches!(effect, Effect::Closed(_));
        if self.entry.is_some() && (is_closed || self.view.room().phase != Phase::Playing) {
            return Some(Parting::MeetingOver);
        }
        is_closed.then(|| Parting::Leaves(self.closing_line()))
    }

    /// Whether the player takes part until leaving on purpose.
    fn is_bound(&self) -> bool {
        self.entry.is_some() || self.view.is_playing()
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

    /// Plays by lines, or without them on the screen.
    pub(super) async fn play(
        &mut self,
        input: Option<&mut StdinMoves>,
        keep: Option<&Path>,
    ) -> anyhow::Result<Parting> {
        match input {
            Some(input) => self.play_by_lines(input, keep).await,
            None => self.play_on_screen().await,
        }
    }

    async fn play_on_screen(&mut self) -> anyhow::Result<Parting> {
        let open = if self.entry.is_some() { Screen::open_without_earlier_keys } else { Screen::open };
        let mut screen = open().context("cannot use this terminal")?;
        let mut key_input = KeyInput::new(self.entry.is_some());
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
                    SessionEvent::Update(effect) => {
                        if let Some(parting) = self.ending(&effect) {
                            return Ok(parting);
                        }
                    }
                    SessionEvent::Superseded => return Ok(Parting::Stays(Some(SUPERSEDED.into()))),
                    SessionEvent::Nothing => {}
                    SessionEvent::Lost(message) => self.view.lost(message),
                    SessionEvent::Refused(error) => self.view.note(Some(explain(&error))),
                    SessionEvent::Note(note) => self.view.note(Some(note)),
                },
            }
        }
    }

    async fn play_by_lines(&mut self, input: &mut StdinMoves, keep: Option<&Path>) -> anyhow::Result<Parting> {
        let mut interrupt = Interrupt::listen()?;
        say(format_args!("room {}; `help` lists the commands", self.view.room().id));
        self.view.note(draw_room::invitation(&self.view));
        self.view.news().for_each(say);
        // What a line causes before the first snapshot would be part of that, and not be printed.
        let (mut is_watching, mut is_lost, mut asked_to_leave) = (false, false, false);
        loop {
            let wanted = self.wants_line(input);
            if wanted && let Some(line) = input.held.pop_front() {
                if let Some(parting) = self.act_on(&line) {
                    return Ok(Parting::Leaves(Some(parting)));
                }
                continue;
            }
            // Before the first game only the commands that need none are read ahead.
            let ahead = self.view.game().is_none() && self.has_shown_effects() && input.held.is_empty();
            // An offer is answered in the opponent's turn, too.
            let is_asked = keys::offered(&self.view).is_some() || self.view.invited_to().is_some();
            let answers = is_asked && self.has_shown_effects() && input.held.is_empty();
            tokio::select! {
                interruption = interrupt.wait() => {
                    let leaves = interruption == Interruption::CtrlC && !self.is_bound();
                    if leaves || interruption == Interruption::End || asked_to_leave {
                        interruption.ends_command();
                        return Ok(if leaves { Parting::Leaves(None) } else { Parting::Stays(None) });
                    }
                    asked_to_leave = true;
                    match &self.entry {
                        Some(_) => say(ASKS_TO_LEAVE_TOURNAMENT),
                        None => say(login::asks_to_leave("quit", keep)),
                    }
                }
                event = self.next() => match event? {
                    SessionEvent::Superseded => return Ok(Parting::Stays(Some(SUPERSEDED.into()))),
                    SessionEvent::Update(effect) => {
                        is_watching = true;
                        if std::mem::take(&mut is_lost) {
                            say(CONNECTED_AGAIN);
                        }
                        self.print(&effect, input);
                        if let Some(parting) = self.ending(&effect) {
                            return Ok(parting);
                        }
                    }
                    SessionEvent::Nothing => {}
                    SessionEvent::Lost(message) => {
                        is_watching = true;
                        if !std::mem::replace(&mut is_lost, true) {
                            say(message);
                        }
                    }
                    SessionEvent::Refused(error) => say(explain(&error)),
                    SessionEvent::Note(note) => say(note),
                },
                line = input.lines.next_line(), if is_watching && (wanted || ahead || answers) => {
                    asked_to_leave = false;
                    match line? {
                        None if self.is_bound() => return Ok(Parting::Stays(None)),
                        None => return Ok(Parting::Leaves(Some("no more input: leaving".into()))),
                        Some(line) if wanted || needs_no_game(&line) || answers && is_answer(&line).is_some() => {
                            if let Some(parting) = self.act_on(&line) {
                                return Ok(Parting::Leaves(Some(parting)));
                            }
                        }
                        Some(line) => input.held.push_back(line),
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
            (None, Some(game)) => game.outcome.is_some() && self.view.room().phase != Phase::Playing,
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
        self.print_board();
        say(format_args!("{}: {}", draw_room::state_line(&self.view), moves));
    }

    pub(super) fn print_board(&self) {
        let board_view = self.view.board_view(None);
        let count = |side| board_view.board.count(side);
        say("");
        board_view.to_string().lines().for_each(say);
        say("");
        say(format_args!("● {}  ○ {}", count(Color::Black), count(Color::White)));
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
        match (self.entry.is_some(), self.view.is_playing()) {
            (true, _) => "leaving the tournament",
            (false, true) => "leaving, which resigns the game",
            (false, false) => "leaving",
        }
    }

    fn closing_line(&self) -> Option<String> {
        self.view.news().next_back().map(str::to_owned).or_else(|| Some("the room is closed".into()))
    }
}

/// A refusal, with the legal moves if the server sent them.
pub(in crate::cli) fn explain(error: &ClientError) -> String {
    let legal = error.refusal().map(|refusal| refusal.legal_moves).unwrap_or_default();
    if legal.is_empty() {
        return error.to_string();
    }
    format!("{error}; the moves are {}", room_event::squares(legal.iter()))
}
