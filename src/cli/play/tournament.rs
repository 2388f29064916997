//! `reversi play --tournament`: enters a tournament, waits for each meeting, and plays it. Between meetings it
//! prints plain lines, so that results stay visible.

use std::{future::pending, io, ops::ControlFlow, path::Path};

use anyhow::Context as _;

use super::{
    lines::{COMMANDS, MAX_HELD, StdinMoves},
    options::Args,
    session::{Parting, PlaySession, SUPERSEDED, TournamentEntry},
};
use crate::{
    cli::{
        connect::{
            find_tournament::{explain_join, find_as},
            login::{self, LoginOptions},
            reconnecting_stream::{CONNECTED_AGAIN, Received, ReconnectingStream, connection_lost},
            server_address::Address,
        },
        say,
        terminal::{draw_room, interrupt::Interrupt},
        text::{
            date::date,
            tournament::{ending, has_ended, is_player, left_line, name, points},
        },
        tournament::{describe, login::file, show::print_standings},
    },
    client::{
        ClientError, CloseReason, Closing, Phase, PlayEvent, PlayerKind, Room, Session, TournamentId,
        v1::{self, EntrantState, MeetingState, TournamentPhase, TournamentView, tournament_settings::Format},
    },
    rules::Square,
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
        entry: TournamentEntry { id, end: None },
        input,
        meetings: 0,
        played: None,
        may_play: true,
        waits_for: String::new(),
    };
    let done =
        if has_ended(found.phase()) { entrant.print_end().await } else { entrant.take_part(&args.server, &keep).await };
    done.map_err(|error| login::explain_lost(error, "the session has expired; enter the tournament again"))
}

async fn own_row(session: &Session, id: &TournamentId) -> anyhow::Result<Option<v1::Standing>> {
    let standings = session.tournament(id).await.context("cannot read the standings")?.standings;
    Ok(standings.into_iter().find(|row| is_player(row, &session.player().id)))
}

/// A person in a tournament.
struct Entrant<'a> {
    session: &'a Session,
    entry: TournamentEntry,
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
}

/// Why the program ends.
enum Exit {
    /// The tournament has ended for the player.
    Ended,
    /// The player leaves the tournament.
    Leaves,
    /// The player stays an entrant. With a line to print.
    Stays(Option<String>),
}

impl Entrant<'_> {
    async fn take_part(&mut self, server: &Address, keep: &Path) -> anyhow::Result<()> {
        let exit = loop {
            let room = match self.wait().await? {
                ControlFlow::Continue(room) => room,
                ControlFlow::Break(exit) => break exit,
            };
            if let ControlFlow::Break(exit) = self.play(room, keep).await? {
                break exit;
            }
        };
        match exit {
            Exit::Ended => return self.print_end().await,
            Exit::Leaves => {
                self.session.leave_tournament(&self.entry.id).await.context("cannot leave the tournament")?;
                self.entry.end = Some("you have left the tournament".to_owned());
                return self.print_end().await;
            }
            Exit::Stays(line) => line.into_iter().for_each(say),
        }
        let server = server.non_default().map(|url| format!(" --server {url}")).unwrap_or_default();
        say(format_args!(
            "you are still an entrant; to come back: reversi play --tournament {} --keep {}{server}",
            self.entry.id,
            keep.display()
        ));
        Ok(())
    }

    /// Plays a meeting.
    async fn play(&mut self, room: Room, keep: &Path) -> anyhow::Result<ControlFlow<Exit>> {
        self.played = room.meeting.as_ref().map(|meeting| meeting.number);
        let mut seat = PlaySession::new(self.session, room);
        seat.entry = Some(&mut self.entry);
        std::mem::swap(&mut seat.turns, &mut self.turns);
        let done = seat.play(self.input.as_mut(), Some(keep)).await;
        std::mem::swap(&mut seat.turns, &mut self.turns);
        match &mut self.input {
            // They were meant for the games of this meeting.
            Some(input) => input.held.clear(),
            None => {
                seat.print_board();
                say(draw_room::state_line(&seat.view));
            }
        }
        Ok(match done? {
            Parting::MeetingOver => ControlFlow::Continue(()),
            // Between two games a key or Ctrl-C is not asked about.
            Parting::Leaves(_) if self.input.is_none() && !seat.view.is_playing() => {
                ControlFlow::Break(Exit::Stays(None))
            }
            Parting::Leaves(line) => {
                line.into_iter().for_each(say);
                ControlFlow::Break(Exit::Leaves)
            }
            Parting::Stays(line) => ControlFlow::Break(Exit::Stays(line)),
        })
    }

    /// Waits for the next meeting, or for the end.
    async fn wait(&mut self) -> anyhow::Result<ControlFlow<Exit, Room>> {
        let (session, id) = (self.session.clone(), self.entry.id.clone());
        let mut views = ReconnectingStream::new(move || {
            let (session, id) = (session.clone(), id.clone());
            async move { session.watch_tournament(&id).await }
        });
        let mut interrupt = Interrupt::listen()?;
        let (mut turns_are_open, mut is_lost, mut has_read_all) = (false, false, false);
        (self.may_play, self.waits_for) = (true, String::new());
        loop {
            if self.entry.end.is_some() {
                return Ok(ControlFlow::Break(Exit::Ended));
            }
            if self.may_play {
                match self.running_meeting().await {
                    Ok(Some(room)) => {
                        // The next meeting may begin before a view has shown the result of the last one.
                        if let Ok(answer) = self.session.tournament(&self.entry.id).await {
                            self.tell_place(&answer.standings);
                        }
                        return Ok(ControlFlow::Continue(room));
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
                        if let Some(exit) = self.tell(&view) {
                            return Ok(ControlFlow::Break(exit));
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
                        if let Some(exit) = self.hear(event) {
                            return Ok(ControlFlow::Break(exit));
                        }
                    }
                },
                line = next_line(&mut self.input), if !has_read_all => match line?.as_deref().map(str::trim) {
                    // The moves of a script are still played.
                    None if self.input.as_ref().is_some_and(|input| !input.held.is_empty()) => has_read_all = true,
                    None => return Ok(ControlFlow::Break(Exit::Stays(None))),
                    Some("q" | "quit") => return Ok(ControlFlow::Break(Exit::Leaves)),
                    Some("help") => COMMANDS.iter().for_each(|(usage, help)| say(format_args!("  {usage:9} {help}"))),
                    Some(line) => self.hold(line),
                },
                () = interrupt.end() => return Ok(ControlFlow::Break(Exit::Stays(None))),
            }
        }
    }

    /// Holds a move for the next game; what else was typed could do harm there, as `resign`.
    fn hold(&mut self, line: &str) {
        let is_move = line.parse::<Square>().is_ok();
        match self.input.as_mut().filter(|input| is_move && input.held.len() < MAX_HELD) {
            Some(input) => input.held.push_back(line.to_owned()),
            None => say(format_args!(
                "`{line}`: no game runs; at most {MAX_HELD} moves wait for the next one, `help` and `quit` work now"
            )),
        }
    }

    /// Takes an event of the stream of turns. Returns why the program ends, if it does.
    fn hear(&mut self, event: PlayEvent) -> Option<Exit> {
        match event {
            PlayEvent::GameStarted { .. } => self.may_play = true,
            PlayEvent::Tournament { tournament, news } => {
                self.entry.hear(&tournament, &news).into_iter().for_each(say);
            }
            PlayEvent::Closing(Closing { reason: CloseReason::Superseded, .. }) => {
                return Some(Exit::Stays(Some(SUPERSEDED.to_owned())));
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
            let is_of_this = room.meeting.as_ref().is_some_and(|meeting| meeting.tournament == self.entry.id);
            if is_of_this && room.phase == Phase::Playing {
                return Ok(Some(room));
            }
        }
        Ok(None)
    }

    /// Prints what is new for the player. Returns why the program ends, if it does.
    fn tell(&mut self, view: &TournamentView) -> Option<Exit> {
        let tournament = view.tournament.as_ref()?;
        if has_ended(tournament.phase()) {
            return Some(Exit::Ended);
        }
        let own = view.standings.iter().find(|row| is_player(row, &self.session.player().id));
        // Who has left before the first meeting has no row.
        let state = own.map_or(EntrantState::Left, v1::Standing::state);
        let (Some(own), false) = (own, [EntrantState::Left, EntrantState::Excluded].contains(&state)) else {
            self.entry.end = Some(left_line(state == EntrantState::Excluded).to_owned());
            return Some(Exit::Ended);
        };
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
        let answer = self.session.tournament(&self.entry.id).await.context("cannot read the standings")?;
        let tournament = answer.tournament.unwrap_or_default();
        let own = answer.standings.iter().find(|row| is_player(row, &self.session.player().id));
        let rank = own.map_or(0, |row| row.rank);
        let entrants = i32::try_from(answer.standings.len()).unwrap_or(i32::MAX);
        let line = ending(tournament.phase(), tournament.cancel_reason(), rank, entrants);
        say(self.entry.end.as_ref().unwrap_or(&line));
        say(describe::headline(&tournament));
        // The player knows the end before it is shown to all.
        let settings = tournament.settings.as_ref().filter(|_| !has_ended(tournament.phase()));
        if let Some(delay) = settings.and_then(describe::spectator_delay) {
            say(format_args!("shown {delay} late; for the end, later: reversi tournament standings {}", self.entry.id));
        }
        print_standings(&answer.standings);
        Ok(())
    }
}

/// The next line of the input; pending on a terminal. Cancel safe.
async fn next_line(input: &mut Option<StdinMoves>) -> io::Result<Option<String>> {
    match input {
        Some(input) => input.lines.next_line().await,
        None => pending().await,
    }
}

/// The place of an entrant in the standings.
fn place(own: &v1::Standing, entrants: usize) -> String {
    let v1::Standing { rank, wins, draws, losses, .. } = own;
    format!("rank {rank} of {entrants}: {} points, {wins} won, {draws} drawn, {losses} lost", points(own.half_points))
}

/// What the player waits for; none until the result of the meeting that was played last is counted.
fn waits_for(of: &v1::Tournament, own: &v1::Standing, view: &TournamentView, played: Option<u32>) -> Option<String> {
    let is_own = |one: &&v1::Meeting| [one.first, one.second].contains(&own.entrant);
    let is_unfinished = |one: &&v1::Meeting| [MeetingState::Waiting, MeetingState::Running].contains(&one.state());
    let settings = of.settings.as_ref();
    let starts_at = settings.and_then(|settings| settings.starts_at);
    let is_arena = settings.is_some_and(|settings| matches!(settings.format, Some(Format::Arena(_))));
    let has_playoff = settings.is_some_and(|settings| settings.playoff > 0);
    let meeting = view.meetings.iter().filter(is_own).find(is_unfinished);
    let plays_off = view.meetings.iter().filter(is_own).any(|one| one.playoff);
    Some(match (of.phase(), meeting) {
        (TournamentPhase::Open, _) => match starts_at {
            Some(at) => format!("waiting for the start of the tournament, at {}", date(at.try_into().ok())),
            None => "waiting until the organiser starts the tournament".to_owned(),
        },
        // A delay for spectators may show older ones as unfinished, too.
        (_, Some(meeting)) if u32::try_from(meeting.number).ok() <= played => return None,
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
        (TournamentPhase::Playoff, None) if plays_off => "waiting for the other meetings of the play-off".to_owned(),
        (TournamentPhase::Playoff, None) => "the play-off is played without you; waiting for its end".to_owned(),
        (_, None) => "waiting for the next round".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What entrant 1 waits for, with meetings as number, entrants, state, and whether they are of the play-off.
    fn waits_of_1(
        phase: TournamentPhase,
        meetings: &[(i32, [i32; 2], MeetingState, bool)],
        played: Option<u32>,
    ) -> Option<String> {
        let tournament = v1::Tournament { phase: phase.into(), round: 2, rounds: 3, ..Default::default() };
        let own = v1::Standing { entrant: 1, ..Default::default() };
        let meetings = meetings.iter().map(|&(number, [first, second], state, playoff)| v1::Meeting {
            number,
            first,
            second,
            state: state.into(),
            playoff,
            ..Default::default()
        });
        let view = TournamentView { meetings: meetings.collect(), ..Default::default() };
        waits_for(&tournament, &own, &view, played)
    }

    #[test]
    fn meetings_that_are_played_are_not_waited_for_though_a_delay_shows_them_as_unfinished() {
        let waits = |number, played| {
            waits_of_1(TournamentPhase::Running, &[(number, [1, 2], MeetingState::Running, false)], played)
        };
        assert_eq!([waits(3, Some(3)), waits(3, Some(5))], [None, None]);
        for played in [None, Some(3)] {
            assert_eq!(waits(5, played).unwrap(), "waiting for ?, the opponent in meeting 5");
        }
    }

    #[test]
    fn an_entrant_reads_whether_the_play_off_is_its_own() {
        let waits = |entrants| {
            let meetings = [(7, [3, 4], MeetingState::Running, true), (8, entrants, MeetingState::Played, true)];
            waits_of_1(TournamentPhase::Playoff, &meetings, Some(5)).unwrap()
        };
        assert_eq!(waits([2, 1]), "waiting for the other meetings of the play-off");
        assert_eq!(waits([2, 5]), "the play-off is played without you; waiting for its end");
    }
}
