//! The terminal as a screen: drawing and keys.

use std::{io, time::Duration};

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{
    DefaultTerminal, Frame,
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
};
use tokio::time::{Interval, MissedTickBehavior};
use tokio_stream::StreamExt as _;

use super::interrupt::Interrupt;
use crate::cli::text::printable::{is_harmful, printable};

/// The interval at which the clocks are redrawn.
const TICK: Duration = Duration::from_millis(200);

/// A full-screen terminal. Dropping it, or a panic, restores the terminal.
pub(in crate::cli) struct Screen {
    terminal: DefaultTerminal,
    events: EventStream,
    interrupt: Interrupt,
    tick: Interval,
}

/// An input of the user, or a reason to redraw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Input {
    Key(KeyCode),
    /// Ctrl-C, or a signal to end the process.
    Quit,
    /// The clocks or the size have changed.
    Redraw,
}

impl Screen {
    pub(in crate::cli) fn open() -> io::Result<Self> {
        let interrupt = Interrupt::listen()?;
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Ok(Self { terminal, events: EventStream::new(), interrupt, tick })
    }

    pub(in crate::cli) fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> io::Result<()> {
        let draw = |frame: &mut Frame| {
            draw(frame);
            make_printable(frame.buffer_mut());
        };
        self.terminal.draw(draw).map(drop)
    }

    /// Waits for the next input. Cancel safe.
    pub(in crate::cli) async fn input(&mut self) -> io::Result<Input> {
        loop {
            let event = tokio::select! {
                event = self.events.next() => event,
                () = self.interrupt.wait() => return Ok(Input::Quit),
                _ = self.tick.tick() => return Ok(Input::Redraw),
            };
            match event {
                None => return Ok(Input::Quit),
                Some(event) => {
                    if let Some(input) = read(&event?) {
                        return Ok(input);
                    }
                }
            }
        }
    }
}

/// The rows of a screen: a title, a middle of at least `least` rows, and two lines below it.
pub(in crate::cli) fn rows(frame: &Frame, least: u16) -> [Rect; 4] {
    let line = Constraint::Length(1);
    Layout::vertical([line, Constraint::Min(least), line, line]).areas(frame.area())
}

/// Makes text of the server harmless, as [`printable`] does; widgets have removed control characters already.
fn make_printable(buffer: &mut Buffer) {
    for cell in buffer.content.iter_mut().filter(|cell| cell.symbol().contains(is_harmful)) {
        let symbol = printable(cell.symbol());
        cell.set_symbol(&symbol);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn read(event: &Event) -> Option<Input> {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => None,
        Event::Key(KeyEvent { code: KeyCode::Char('c'), modifiers, .. })
            if modifiers.contains(KeyModifiers::CONTROL) =>
        {
            Some(Input::Quit)
        }
        Event::Key(key) => Some(Input::Key(key.code)),
        Event::Resize(..) => Some(Input::Redraw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend, text::Line};

    use super::*;

    #[test]
    fn text_of_the_server_cannot_control_the_terminal() {
        let mut terminal = Terminal::new(TestBackend::new(30, 1)).unwrap();
        let text = "\u{1b}[2J<eve> \u{202e}drawkcab\nline";
        let draw = |frame: &mut Frame| {
            frame.render_widget(Line::from(text), frame.area());
            make_printable(frame.buffer_mut());
        };
        terminal.draw(draw).unwrap();
        assert_eq!(terminal.backend().to_string().trim_end(), "\"[2J<eve> drawkcab line        \"");
    }
}
