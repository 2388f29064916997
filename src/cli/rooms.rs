//! `reversi rooms`: the live list of rooms.

use anyhow::Context as _;
use crossterm::event::KeyCode;
use ratatui::{
    Frame,
    layout::Constraint,
    style::Stylize as _,
    text::Line,
    widgets::{Row, Table as Grid, TableState},
};

use super::{
    connect::{
        find_tournament,
        login::{LoginOptions, Visitor},
        reconnecting_stream::{Received, ReconnectingStream, connection_lost},
        server_address::Address,
    },
    play, say, stdout_is_terminal,
    terminal::{
        interrupt::Interrupt,
        room_rows,
        screen::{self, Input, Screen},
    },
    text::{json, table::line},
    watch,
};
use crate::client::{ListUpdate, Phase, RoomFilter, RoomId, RoomList};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi rooms                 a list that stays up to date\n  \
    reversi rooms --once          the list of now\n  \
    reversi rooms --open --once   rooms with a seat to take\n  \
    reversi rooms --json          the list of now for a script, an object a line")]
pub(super) struct Args {
    /// Print the list as it is now, and end.
    #[arg(long)]
    once: bool,
    /// Print the list as it is now as JSON, an object a line, and end.
    #[arg(long)]
    json: bool,
    /// Only rooms with a seat to take.
    #[arg(long)]
    open: bool,
    /// Only rooms in which a game runs.
    #[arg(long, conflicts_with = "open")]
    playing: bool,
    /// Only rooms whose name or owner contains this.
    #[arg(long, default_value = "", hide_default_value = true)]
    text: String,
    /// Only rooms of this tournament, by its id or name.
    #[arg(long, value_name = "NAME_OR_ID")]
    tournament: Option<String>,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let visitor = Visitor::enter(&args.server, &args.login).await?;
    let done = list(&visitor, &args).await;
    // The next command may log in with the same name.
    visitor.leave().await;
    match done? {
        None => Ok(()),
        Some(NextCommand::Play(room)) => play::run(play::options::Args::in_room(args.server, args.login, &room)).await,
        Some(NextCommand::Watch(room)) => watch::run(watch::Args::of_room(args.server, args.login, &room)).await,
    }
}

/// The command to run after this one.
enum NextCommand {
    Play(RoomId),
    Watch(RoomId),
}

async fn list(visitor: &Visitor, args: &Args) -> anyhow::Result<Option<NextCommand>> {
    let tournament = match &args.tournament {
        Some(tournament) => Some(find_tournament::find(&visitor.reader(), tournament).await?.0),
        None => None,
    };
    let phase = args.playing.then_some(Phase::Playing);
    let filter = RoomFilter { phase, open_seat: args.open, text: args.text.clone(), tournament };
    let filtered = filter != RoomFilter::default();
    let visitor = visitor.clone();
    let updates = ReconnectingStream::new(move || {
        let (visitor, filter) = (visitor.clone(), filter.clone());
        async move { visitor.read(async |reader| reader.watch_rooms(filter.clone()).await).await }
    });
    let mut session =
        RoomsSession { list: RoomList::default(), loaded: false, connection_error: None, updates, chosen: 0 };
    if args.once || args.json {
        while !session.loaded {
            session.next().await?;
        }
        if args.json {
            session.list.rows().iter().map(json::room).for_each(say);
        } else {
            session.print(filtered);
        }
        Ok(None)
    } else if stdout_is_terminal() {
        session.on_screen().await
    } else {
        session.by_lines(filtered).await.map(|()| None)
    }
}

/// The list, the stream of its updates, and the chosen row.
struct RoomsSession {
    list: RoomList,
    loaded: bool,
    connection_error: Option<String>,
    updates: ReconnectingStream<ListUpdate>,
    chosen: usize,
}

impl RoomsSession {
    /// Waits for the next update; `None` if the connection is lost. Cancel safe.
    async fn next(&mut self) -> anyhow::Result<Option<ListUpdate>> {
        match self.updates.next().await.context("cannot list the rooms")? {
            Received::Item(ListUpdate::Closing(closing)) if !closing.reason.is_passing() => {
                anyhow::bail!("the server ended the list")
            }
            Received::Item(update) => {
                self.connection_error = None;
                self.loaded = true;
                self.list.apply(update.clone());
                Ok(Some(update))
            }
            Received::Lost(error, wait) => {
                self.connection_error = Some(connection_lost(&error, wait));
                Ok(None)
            }
        }
    }

    fn print(&self, filtered: bool) {
        let widths = room_rows::widths(self.list.rows());
        say(line(&room_rows::HEADINGS, widths));
        for row in self.list.rows() {
            say(line(&room_rows::cells(row), widths));
        }
        if self.list.rows().is_empty() && filtered {
            say("no room matches");
        } else if self.list.rows().is_empty() {
            say("no rooms; `reversi play` or `reversi demo` makes one");
        }
    }

    async fn by_lines(&mut self, filtered: bool) -> anyhow::Result<()> {
        let mut interrupt = Interrupt::listen()?;
        loop {
            let update = tokio::select! {
                () = interrupt.end() => return Ok(()),
                update = self.next() => update?,
            };
            match update {
                Some(ListUpdate::Snapshot(_)) => self.print(filtered),
                Some(ListUpdate::Upserted(row)) => {
                    say(line(&room_rows::cells(&row), room_rows::widths(self.list.rows())));
                }
                Some(ListUpdate::Removed(id)) => say(format_args!("{id:12}  gone")),
                Some(ListUpdate::Heartbeat | ListUpdate::Closing(_)) => {}
                None => self.connection_error.iter().for_each(say),
            }
        }
    }

    async fn on_screen(&mut self) -> anyhow::Result<Option<NextCommand>> {
        let mut screen = Screen::open().context("cannot use this terminal")?;
        loop {
            screen.draw(|frame| self.draw(frame))?;
            tokio::select! {
                input = screen.input() => match input? {
                    input if input.quits() => return Ok(None),
                    Input::Key(KeyCode::Enter) => if let Some(next_command) = self.next_command() {
                        return Ok(Some(next_command));
                    },
                    Input::Key(KeyCode::Up) => self.chosen = self.chosen.saturating_sub(1),
                    Input::Key(KeyCode::Down) => self.chosen += 1,
                    Input::Key(_) | Input::Interrupted(_) | Input::Redraw => {}
                },
                update = self.next() => drop(update?),
            }
            self.chosen = self.chosen.min(self.list.rows().len().saturating_sub(1));
        }
    }

    fn next_command(&self) -> Option<NextCommand> {
        let row = self.list.rows().get(self.chosen)?;
        match room_rows::action(row) {
            "join" => Some(NextCommand::Play(row.id.clone())),
            "watch" => Some(NextCommand::Watch(row.id.clone())),
            _ => None,
        }
    }

    fn draw(&self, frame: &mut Frame) {
        let [title, body, hint, keys] = screen::rows(frame, 1);
        let rows = self.list.rows();
        let headline = match (&self.connection_error, self.loaded) {
            (Some(connection_error), _) => connection_error.clone(),
            (None, false) => "asking the server ...".to_owned(),
            (None, true) if rows.len() == 1 => "1 room".to_owned(),
            (None, true) => format!("{} rooms", rows.len()),
        };
        frame.render_widget(Line::from(headline).bold(), title);
        let grid =
            Grid::new(rows.iter().map(|row| Row::new(room_rows::cells(row))), room_rows::widths(rows).map(column))
                .header(Row::new(room_rows::HEADINGS).dim())
                .row_highlight_style(ratatui::style::Style::new().reversed())
                .column_spacing(2);
        let mut state = TableState::new().with_selected((!rows.is_empty()).then_some(self.chosen));
        frame.render_stateful_widget(grid, body, &mut state);
        let command = match self.next_command() {
            Some(NextCommand::Play(room)) => format!("Enter: reversi play --room {room}"),
            Some(NextCommand::Watch(room)) => format!("Enter: reversi watch {room}"),
            None if !rows.is_empty() => String::new(),
            None => "no rooms; `reversi play` or `reversi demo` makes one".to_owned(),
        };
        frame.render_widget(Line::from(command), hint);
        frame.render_widget(Line::from("up/down choose   Enter join or watch   q quit").dim(), keys);
    }
}

fn column(width: usize) -> Constraint {
    Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX))
}
