//! `reversi tournament watch`: a tournament to its end, as a live table or in lines.

use std::collections::BTreeMap;

use anyhow::Context as _;
use crossterm::event::KeyCode;
use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    style::{Style, Stylize as _},
    text::Line,
    widgets::{Row, Table, TableState},
};

use super::{
    describe::{self, MEETINGS, Names, STANDINGS, is_finished},
    show::print_standings,
};
use crate::{
    cli::{
        connect::{
            find_tournament,
            reconnecting_stream::{CONNECTED_AGAIN, Received, ReconnectingStream, backoff, connection_lost},
        },
        say, stdout_is_terminal,
        terminal::{
            interrupt::Interrupt,
            screen::{self, Input, Screen},
        },
        text::{table::widths, tournament::has_ended},
    },
    client::{
        ClientError, MeetingFilter, Reader, TournamentId,
        v1::{self, MeetingState, TournamentView},
    },
};

/// The most running meetings that the screen shows below the standings.
const MEETINGS_SHOWN: u16 = 6;

pub(super) async fn run(reader: &Reader, text: &str) -> anyhow::Result<()> {
    let (id, _) = find_tournament::find(reader, text).await?;
    let (source, watched) = (reader.clone(), id.clone());
    let updates = ReconnectingStream::new(move || {
        let (source, watched) = (source.clone(), watched.clone());
        async move { source.watch_tournament(&watched).await }
    });
    let log = MeetingLog { reader: reader.clone(), id, round: None, printed: BTreeMap::new(), unread: None };
    let mut session = WatchSession { updates, view: None, connection_error: None, chosen: 0 };
    if stdout_is_terminal() {
        if session.on_screen().await? {
            session.print_end();
        }
        Ok(())
    } else {
        session.by_lines(log).await
    }
}

/// The stream, the last view, and the chosen row of the standings.
struct WatchSession {
    updates: ReconnectingStream<TournamentView>,
    view: Option<TournamentView>,
    connection_error: Option<String>,
    chosen: usize,
}

impl WatchSession {
    /// Waits for the next view or failure. Cancel safe.
    async fn next(&mut self) -> anyhow::Result<()> {
        match self.updates.next().await.context("cannot watch the tournament")? {
            Received::Item(view) => {
                self.connection_error = None;
                self.view = Some(view);
            }
            Received::Lost(error, wait) => {
                self.connection_error = Some(connection_lost(&error, wait));
            }
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        let tournament = self.view.as_ref().and_then(|view| view.tournament.as_ref());
        tournament.is_some_and(|tournament| has_ended(tournament.phase()))
    }

    fn print_end(&self) {
        let Some(view) = &self.view else { return };
        view.tournament.iter().map(describe::headline).for_each(say);
        print_standings(&view.standings);
    }

    async fn by_lines(&mut self, mut log: MeetingLog) -> anyhow::Result<()> {
        let mut interrupt = Interrupt::listen()?;
        let mut is_lost = false;
        loop {
            tokio::select! {
                () = interrupt.end() => return Ok(()),
                news = self.next() => news?,
            }
            if let Some(error) = &self.connection_error {
                if !std::mem::replace(&mut is_lost, true) {
                    say(error);
                }
                continue;
            }
            if std::mem::take(&mut is_lost) {
                say(CONNECTED_AGAIN);
            }
            let Some(view) = &self.view else { continue };
            tokio::select! {
                () = interrupt.end() => return Ok(()),
                printed = log.print(view) => match printed {
                    Err(error) if error.is_transient() => {
                        tokio::time::sleep(backoff(0)).await;
                        self.updates.restart();
                        continue;
                    }
                    done => done.context("cannot list the meetings")?,
                },
            }
            if self.has_ended() {
                self.print_end();
                return Ok(());
            }
        }
    }

    /// Draws until the end of the tournament. Returns whether it has ended.
    async fn on_screen(&mut self) -> anyhow::Result<bool> {
        let mut screen = Screen::open().context("cannot use this terminal")?;
        while !self.has_ended() {
            screen.draw(|frame| self.draw(frame))?;
            tokio::select! {
                input = screen.input() => match input? {
                    input if input.quits() => return Ok(false),
                    Input::Key(KeyCode::Up) => self.chosen = self.chosen.saturating_sub(1),
                    Input::Key(KeyCode::Down) => self.chosen += 1,
                    Input::Key(_) | Input::Interrupted(_) | Input::Redraw => {}
                },
                news = self.next() => news?,
            }
            let rows = self.view.as_ref().map_or(0, |view| view.standings.len());
            self.chosen = self.chosen.min(rows.saturating_sub(1));
        }
        Ok(true)
    }

    fn draw(&self, frame: &mut Frame) {
        let [title, body, hint, keys] = screen::rows(frame, 1);
        frame.render_widget(Line::from("up/down scroll   q quit").dim(), keys);
        frame.render_widget(Line::from(self.connection_error.clone().unwrap_or_default()), hint);
        let Some(view) = &self.view else {
            frame.render_widget(Line::from("asking the server ...").bold(), title);
            return;
        };
        let headline = view.tournament.as_ref().map(describe::headline).unwrap_or_default();
        frame.render_widget(Line::from(headline).bold(), title);
        let names = Names::of(&view.standings);
        let running: Vec<_> = view.meetings.iter().filter(|one| one.state() == MeetingState::Running).collect();
        let shown = u16::try_from(running.len()).unwrap_or(u16::MAX).min(MEETINGS_SHOWN);
        let below = if shown == 0 { 0 } else { shown + 2 };
        let [standings, below] = Layout::vertical([Constraint::Min(1), Constraint::Length(below)]).areas(body);
        let rows: Vec<_> = view.standings.iter().map(describe::standing).collect();
        let mut state = TableState::new().with_selected((!rows.is_empty()).then_some(self.chosen));
        frame.render_stateful_widget(table(&STANDINGS, rows), standings, &mut state);
        let [_, meetings] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(below);
        if shown > 0 {
            let rows = running.into_iter().map(|meeting| names.meeting(meeting)).collect();
            frame.render_widget(table(&MEETINGS, rows), meetings);
        }
    }
}

fn table<'a, const N: usize>(headings: &[&'a str; N], rows: Vec<[String; N]>) -> Table<'a> {
    let column = |width: usize| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX));
    let widths = widths(headings, rows.iter().cloned()).map(column);
    Table::new(rows.into_iter().map(Row::new), widths)
        .header(Row::new(*headings).dim())
        .row_highlight_style(Style::new().reversed())
        .column_spacing(2)
}

/// The meetings and rounds that were printed.
struct MeetingLog {
    reader: Reader,
    id: TournamentId,
    /// The last round that has begun, after whether it is of the play-off.
    round: Option<(bool, i32)>,
    /// The lines by the numbers of the meetings. A meeting is printed again when its outcome is decided.
    printed: BTreeMap<i32, String>,
    /// The first page with meetings that were not finished, as its token; none for the first one.
    unread: Option<String>,
}

impl MeetingLog {
    /// Prints what is new in a view.
    async fn print(&mut self, view: &TournamentView) -> Result<(), ClientError> {
        let Some(tournament) = &view.tournament else { return Ok(()) };
        let finished = view.meetings.iter().filter(|meeting| is_finished(meeting));
        let mut finished: BTreeMap<i32, v1::Meeting> = finished.map(|one| (one.number, one.clone())).collect();
        let new = finished.keys().filter(|number| !self.printed.contains_key(number)).count();
        // A view has the last round only.
        if usize::try_from(tournament.finished).is_ok_and(|all| all > self.printed.len() + new) {
            finished.append(&mut self.read().await?);
        }
        let names = Names::of(&view.standings);
        for meeting in finished.values() {
            self.begin_round(tournament, meeting);
            let line = names.line(meeting);
            if self.printed.get(&meeting.number) != Some(&line) {
                say(&line);
                self.printed.insert(meeting.number, line);
            }
        }
        view.meetings.iter().for_each(|meeting| self.begin_round(tournament, meeting));
        Ok(())
    }

    fn begin_round(&mut self, of: &v1::Tournament, meeting: &v1::Meeting) {
        let round = (meeting.playoff, meeting.round);
        if self.round.is_none_or(|last| last < round) {
            self.round = Some(round);
            describe::round(of, meeting.playoff, meeting.round).into_iter().for_each(say);
        }
    }

    /// The finished meetings from the first page on that had others.
    async fn read(&mut self) -> Result<BTreeMap<i32, v1::Meeting>, ClientError> {
        let (mut finished, mut page) = (BTreeMap::new(), self.unread.clone());
        loop {
            let found = self.reader.meetings(&self.id, MeetingFilter::default(), page.clone()).await?;
            let is_over = found.items.iter().all(is_finished);
            finished.extend(found.items.into_iter().filter(is_finished).map(|one| (one.number, one)));
            if found.next.is_none() {
                return Ok(finished);
            }
            if is_over && page == self.unread {
                self.unread.clone_from(&found.next);
            }
            page = found.next;
        }
    }
}
