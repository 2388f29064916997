//! `reversi play --tournament`: enters a tournament, waits for each meeting, and plays it. Between meetings the terminal is
//! no screen: what has come of them stays to be read.

use std::{future::pending, io, path::Path};

use anyhow::Context as _;

use super::{
    lines::{COMMANDS, StdinMoves},
    options::Args,
    session::{CONNECTED_AGAIN, Parting, PlaySession, SUPERSEDED},
};
use crate::{
    cli::{
        connect::{
            find_tournament::{explain_join, find_as},
            login::{self, LoginOptions},
            reconnecting_stream::{Received, ReconnectingStream, connection_lost},
        },
        say,
        terminal::{draw_room, interrupt::Interrupt},
        text::{
            date::date,
            tournament::{ending, has_ended, is_player, name, news, points},
        },
        tournament::{describe, login::file, show::print_standings},
    },
    client::{
        ClientError, CloseReason, Closing, Phase, PlayEvent, PlayerKind, Room, Session, TournamentId,
        v1::{
            self, EntrantState, MeetingState, TournamentPhase, TournamentView, player_tournament::News,
            tournament_settings::Format,
        },
    },
};

pub(super) async fn run(args: &Args, tournament: &str) -> anyhow::Result<()> {
    let keep = file(args.login.keep.as_deref())?;
    let client = login::connect(&args.server).await?;
    let options = LoginOptions { keep: Some(keep.clone()), ..args.login.clone() };
    let session = login::resume_or_log_in(&client, &options, "guest", PlayerKind::Human).await?;
    let input = StdinMoves::unless_on_screen();
    let (id, found) = find_as(&session, tournament).await?;
    match session.join_tournament(&id, &args.password).await {
        // One that the player may have left, or that has ended: this is said later.
        Err(error) if error.is("WRONG_PHASE") && own_row(&session, &id).await?.is_some() => {}
        joined => {
            let name = joined.map_err(|error| explain_join(error, &id))?.settings.unwrap_or_default().name;
            let me = &session.player().name;
            let then = if input.is_some() { "`help` lists the commands" } else { "Ctrl-C ends this program only" };
            say(format_args!("{me} is in tournament {id} ({name}); {then}"));
        }
    }
    let mut entrant = Entrant {
        turns: ReconnectingStream::of_turns(&session),
        session: &session,
        id,
        input,
        meetings: 0,
        played: None,
        may_play: true,
        waits_for: String::new(),
        end: None,
    };
    let done = if has_ended(found.phase()) { entrant.print_end().await } else { entrant.take_part(&keep).await };
    done.map_err(|error| login::explain_lost(error, "the session has expired; enter the tournament again"))
}

async fn own_row(session: &Session, id: &TournamentId) -> anyhow::Result<Option<v1::Standing>> {
    let standings = session.tournament(id).await.context("cannot read the standings")?.standings;
    Ok(standings.into_iter().find(|row| is_player(row, &session.player().id)))
}

/// A person in a tournament.
struct Entrant<'a> {
    session: &'a Session,
    id: TournamentId,
    turns: ReconnectingStream<PlayEvent>,
    /// None on a terminal.
    input: Option<StdinMoves>,
    /// How many meetings were finished when the place in the standings was printed.
    meetings: i32,
    /// The number of the last meeting that was played here.
    played: Option<u32>,
    /// Whether a meeting may have begun: the stream of turns tells those that begin while it is open.
    may_play: bool,
    /// What the player was last told to wait for.
    waits_for: String,
    /// How the tournament has ended.
    end: Option<String>,
}

/// What follows a wait.
enum Next {
    Play(Box<Room>),
    /// The tournament has ended for the player.
    End,
    /// The player leaves the tournament.
    Leave,
    /// The process ends; the player stays an entrant. With a line to print.
    Stop(Option<String>),
}

impl Entrant<'_> {
    async fn take_part(&mut self, keep: &Path) -> anyhow::Result<()> {
        loop {
            let next = match self.wait().await? {
                Next::Play(room) => self.play(*room, keep).await?,
                next => Some(next),
            };
            match next {
                None | Some(Next::Play(_)) => {}
                Some(Next::Stop(line)) => {
                    line.into_iter().for_each(say);
                    say(format_args!(
                        "you are still an entrant; to come back: reversi play --tournament {} --keep {}",
                        self.id,
                        keep.display()
                    ));
                    return Ok(());
                }
                Some(Next::Leave) => {
                    self.session.leave_tournament(&self.id).await.context("cannot leave the tournament")?;
                    self.end = Some("you have left the tournament".to_owned());
                    return self.print_end().await;
                }
                Some(Next::End) => return self.print_end().await,
            }
        }
    }

    /// Plays a meeting. Returns what follows, if it is not the next wait.
    async fn play(&mut self, room: Room, keep: &Path) -> anyhow::Result<Option<Next>> {
        self.played = room.meeting.as_ref().map(|meeting| meeting.number);
        let mut seat = PlaySession::new(self.session, room);
        seat.is_meeting = true;
        std::mem::swap(&mut seat.turns, &mut self.turns);
        let done = seat.play(self.input.as_mut(), Some(keep)).await;
        std::mem::swap(&mut seat.turns, &mut self.turns);
        self.end = seat.tournament_end.take();
        let is_on_screen = self.input.is_none();
        if is_on_screen {
            seat.print_board();
            say(draw_room::state_line(&seat.view));
        }
        Ok(match done? {
            Parting::MeetingOver => None,
            // Between two games a key or Ctrl-C is not asked about.
            Parting::Leaves(_) if is_on_screen && !seat.view.is_playing() => Some(Next::Stop(None)),
            Parting::Leaves(line) => {
                line.into_iter().for_each(say);
                Some(Next::Leave)
            }
            Parting::Stays(line) => Some(Next::Stop(line)),
        })
    }

    /// Waits for the next meeting, or for the end.
    async fn wait(&mut self) -> anyhow::Result<Next> {
        let (session, id) = (self.session.clone(), self.id.clone());
        let mut views = ReconnectingStream::new(move || {
            let (session, id) = (session.clone(), id.clone());
            async move { session.watch_tournament(&id).await }
        });
        let mut interrupt = Interrupt::listen()?;
        let (mut turns_are_open, mut is_lost) = (false, false);
        (self.may_play, self.waits_for) = (true, String::new());
        loop {
            if self.end.is_some() {
                return Ok(Next::End);
            }
            if self.may_play {
                match self.running_meeting().await {
                    Ok(Some(room)) => {
                        // The next meeting may begin before a view has shown the result of the last one.
                        if let Ok(answer) = self.session.tournament(&self.id).await {
                            self.tell_place(&answer.standings);
                        }
                        return Ok(Next::Play(Box::new(room)));
                    }
                    Ok(None) => self.may_play = false,
                    Err(error) if error.is_transient() => {}
                    Err(error) => return Err(error.into()),
                }
            }
            tokio::select! {
                view = views.next() => match view.context("cannot watch the tournament")? {
                    Received::Item(view) => {
                        if std::mem::take(&mut is_lost) {
                            say(CONNECTED_AGAIN);
                        }
                        if let Some(next) = self.tell(&view) {
                            return Ok(next);
                        }
                    }
                    Received::Lost(error, wait) if !std::mem::replace(&mut is_lost, true) => {
                        say(connection_lost(&error, wait));
                    }
                    Received::Lost(..) => {}
                },
                event = self.turns.next() => match event? {
                    Received::Lost(..) => turns_are_open = false,
                    Received::Item(event) => {
                        self.may_play |= !std::mem::replace(&mut turns_are_open, true);
                        if let Some(next) = self.hear(event) {
                            return Ok(next);
                        }
                    }
                },
                line = next_line(&mut self.input) => match line?.as_deref().map(str::trim) {
                    None => return Ok(Next::Stop(None)),
                    Some("q" | "quit") => return Ok(Next::Leave),
                    Some("help") => COMMANDS.iter().for_each(|(usage, help)| say(format_args!("  {usage:9} {help}"))),
                    Some(line) => if let Some(input) = &mut self.input {
                        input.held = Some(line.to_owned());
                    },
                },
                () = interrupt.end() => return Ok(Next::Stop(None)),
            }
        }
    }

    /// Takes an event of the stream of turns. Returns what follows, if the wait is over.
    fn hear(&mut self, event: PlayEvent) -> Option<Next> {
        match event {
            PlayEvent::GameStarted { .. } => self.may_play = true,
            PlayEvent::Tournament { tournament, news: told } if tournament == self.id => match *told {
                News::Ended(_) => self.end = Some(news(&told)),
                _ => say(news(&told)),
            },
            PlayEvent::Closing(Closing { reason: CloseReason::Superseded, .. }) => {
                return Some(Next::Stop(Some(SUPERSEDED.to_owned())));
            }
            _ => {}
        }
        None
    }

    /// The room of a meeting of this tournament that the player has to play.
    async fn running_meeting(&self) -> Result<Option<Room>, ClientError> {
        for (id, _) in self.session.me().await?.seats {
            let room = match self.session.room(&id).await {
                // It has closed since.
                Err(error) if error.refusal().is_some() && !error.is_transient() && !error.is_session_lost() => {
                    continue;
                }
                room => room?,
            };
            let is_of_this = room.meeting.as_ref().is_some_and(|meeting| meeting.tournament == self.id);
            if is_of_this && room.phase == Phase::Playing {
                return Ok(Some(room));
            }
        }
        Ok(None)
    }

    /// Prints what is new for the player. Returns what follows, if it has ended.
    fn tell(&mut self, view: &TournamentView) -> Option<Next> {
        let tournament = view.tournament.as_ref()?;
        if has_ended(tournament.phase()) {
            return Some(Next::End);
        }
        let own = view.standings.iter().find(|row| is_player(row, &self.session.player().id))?;
        if let state @ (EntrantState::Left | EntrantState::Excluded) = own.state() {
            let is_excluded = state == EntrantState::Excluded;
            let why = if is_excluded { "you are excluded from the tournament" } else { "you have left the tournament" };
            self.end = Some(why.to_owned());
            return Some(Next::End);
        }
        self.tell_place(&view.standings);
        let waits_for = waits_for(tournament, own, view, self.played);
        if let Some(line) = waits_for.filter(|line| *line != self.waits_for) {
            say(&line);
            self.waits_for = line;
        }
        None
    }

    /// Prints the place of the player once another of its meetings is finished.
    fn tell_place(&mut self, standings: &[v1::Standing]) {
        let own = standings.iter().find(|row| is_player(row, &self.session.player().id));
        if let Some(own) = own.filter(|own| own.meetings > self.meetings) {
            self.meetings = own.meetings;
            say(place(own, standings.len()));
        }
    }

    async fn print_end(&self) -> anyhow::Result<()> {
        let answer = self.session.tournament(&self.id).await.context("cannot read the standings")?;
        let tournament = answer.tournament.unwrap_or_default();
        let own = answer.standings.iter().find(|row| is_player(row, &self.session.player().id));
        let rank = own.map_or(0, |row| row.rank);
        let entrants = i32::try_from(answer.standings.len()).unwrap_or(i32::MAX);
        let line = ending(tournament.phase(), tournament.cancel_reason(), rank, entrants);
        say(self.end.as_ref().unwrap_or(&line));
        say(describe::headline(&tournament));
        print_standings(&answer.standings);
        Ok(())
    }
}

/// The next line of the input; pending on a terminal, and while a line waits for a game. Cancel safe.
async fn next_line(input: &mut Option<StdinMoves>) -> io::Result<Option<String>> {
    match input {
        Some(input) if input.held.is_none() => input.lines.next_line().await,
        _ => pending().await,
    }
}

/// The place of an entrant in the standings.
fn place(own: &v1::Standing, entrants: usize) -> String {
    let v1::Standing { rank, wins, draws, losses, .. } = own;
    format!("rank {rank} of {entrants}: {} points, {wins} won, {draws} drawn, {losses} lost", points(own.half_points))
}

/// What the player waits for; none until the result of the meeting that was played last is counted.
fn waits_for(of: &v1::Tournament, own: &v1::Standing, view: &TournamentView, played: Option<u32>) -> Option<String> {
    let is_own = |one: &&v1::Meeting| {
        [one.first, one.second].contains(&own.entrant)
            && [MeetingState::Waiting, MeetingState::Running].contains(&one.state())
    };
    let settings = of.settings.as_ref();
    let starts_at = settings.and_then(|settings| settings.starts_at);
    let is_arena = settings.is_some_and(|settings| matches!(settings.format, Some(Format::Arena(_))));
    let has_playoff = settings.is_some_and(|settings| settings.playoff > 0);
    let meeting = view.meetings.iter().find(is_own);
    Some(match (of.phase(), meeting) {
        (TournamentPhase::Open, _) => match starts_at {
            Some(at) => format!("waiting for the start of the tournament, at {}", date(at.try_into().ok())),
            None => "waiting until the organiser starts the tournament".to_owned(),
        },
        (_, Some(meeting)) if u32::try_from(meeting.number).ok() == played => return None,
        (_, Some(meeting)) if meeting.state() == MeetingState::Running => {
            let other = if meeting.first == own.entrant { meeting.second } else { meeting.first };
            let opponent = view.standings.iter().find(|row| row.entrant == other);
            let opponent = name(opponent.and_then(|row| row.who.as_ref()));
            format!("waiting for {opponent}, the opponent in meeting {}", meeting.number)
        }
        (_, Some(meeting)) => format!("waiting until meeting {} may begin: others are played now", meeting.number),
        (TournamentPhase::Paused, None) => {
            "the tournament is paused; waiting until the organiser resumes it".to_owned()
        }
        (_, None) if is_arena => "waiting for an opponent".to_owned(),
        (TournamentPhase::Running, None) if of.round == of.rounds && !has_playoff => {
            "waiting for the other meetings of the last round".to_owned()
        }
        (_, None) => "waiting for the next round".to_owned(),
    })
}
