//! The terminal as a screen: drawing and keys.

use std::{io, mem::ManuallyDrop, thread, time::Duration};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{
    DefaultTerminal, Frame,
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
};
use tokio::{
    sync::mpsc,
    time::{Interval, MissedTickBehavior},
};

use super::interrupt::{Interrupt, Interruption};
use crate::cli::text::printable::{is_harmful, printable};

/// The interval at which the clocks are redrawn, and the longest wait for a key before the screen's end is noticed.
const TICK: Duration = Duration::from_millis(200);

/// A full-screen terminal. Dropping it, or a panic, restores the terminal.
pub(in crate::cli) struct Screen {
    /// Never dropped: that would write to standard error if the terminal is gone, and panic if that is gone, too.
    terminal: ManuallyDrop<DefaultTerminal>,
    events: mpsc::Receiver<io::Result<Event>>,
    interrupt: Interrupt,
    tick: Interval,
}

/// An input of the user, or a reason to redraw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Input {
    Key(KeyCode),
    Interrupted(Interruption),
    /// The clocks or the size have changed.
    Redraw,
}

impl Input {
    /// Whether the screen is to be left: by `q`, Esc, or an interrupt, which ends the command.
    pub(in crate::cli) fn quits(&self) -> bool {
        match self {
            Self::Interrupted(interruption) => {
                interruption.ends_command();
                true
            }
            Self::Key(key) => matches!(key, KeyCode::Char('q') | KeyCode::Esc),
            Self::Redraw => false,
        }
    }
}

impl Screen {
    pub(in crate::cli) fn open() -> io::Result<Self> {
        let (interrupt, events) = (Interrupt::listen()?, read_events()?);
        let terminal = ratatui::try_init().inspect_err(|_| drop(ratatui::try_restore()))?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Ok(Self { terminal: ManuallyDrop::new(terminal), events, interrupt, tick })
    }

    /// As [`Self::open`], without the keys that were typed before: they were not meant for what it shows.
    pub(in crate::cli) fn open_without_earlier_keys() -> io::Result<Self> {
        // A terminal that is gone is noticed by the screen.
        #[cfg(unix)]
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        Self::open()
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
                event = self.events.recv() => event,
                interruption = self.interrupt.wait() => return Ok(Input::Interrupted(interruption)),
                _ = self.tick.tick() => return Ok(Input::Redraw),
            };
            match event {
                None | Some(Err(_)) => return Ok(Input::Interrupted(Interruption::End)),
                #[cfg(unix)]
                Some(Ok(Event::Key(key))) if is_ctrl(key, 'z') => {
                    self.suspend()?;
                    return Ok(Input::Redraw);
                }
                Some(Ok(event)) => {
                    if let Some(input) = read(&event) {
                        return Ok(input);
                    }
                }
            }
        }
    }

    /// Gives the terminal back and stops the process and those it runs with, as the terminal does for Ctrl-Z while it
    /// is no screen. Returns when the process is continued.
    #[cfg(unix)]
    fn suspend(&mut self) -> io::Result<()> {
        ratatui::try_restore()?;
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        crossterm::terminal::enable_raw_mode()?;
        crossterm::execute!(self.terminal.backend_mut(), crossterm::terminal::EnterAlternateScreen)?;
        self.terminal.clear()
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
        // A terminal that is gone needs neither.
        let _ = self.terminal.show_cursor();
        let _ = ratatui::try_restore();
    }
}

/// Reads events on a thread of its own until the receiver is dropped: reading a terminal that is gone may never return,
/// and would keep the seat of a player who is gone.
fn read_events() -> io::Result<mpsc::Receiver<io::Result<Event>>> {
    let (sender, events) = mpsc::channel(16);
    let read = move || {
        loop {
            let polled = event::poll(TICK);
            // An event that this screen does not read is for the next.
            if sender.is_closed() {
                return;
            }
            let event = match polled {
                Ok(true) => event::read(),
                Ok(false) => continue,
                Err(error) => Err(error),
            };
            let failed = event.is_err();
            if sender.blocking_send(event).is_err() || failed {
                return;
            }
        }
    };
    thread::Builder::new().name("keys".into()).spawn(read)?;
    Ok(events)
}

/// Whether a key is pressed with Ctrl and no other modifier.
fn is_ctrl(key: KeyEvent, letter: char) -> bool {
    key.code == KeyCode::Char(letter) && key.modifiers == KeyModifiers::CONTROL
}

/// Keys with Ctrl or Alt are no letters: those without a meaning are ignored.
fn read(event: &Event) -> Option<Input> {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => None,
        Event::Key(key) if is_ctrl(*key, 'c') => Some(Input::Interrupted(Interruption::CtrlC)),
        // What some terminals send for Backspace.
        Event::Key(key) if is_ctrl(*key, 'h') => Some(Input::Key(KeyCode::Backspace)),
        Event::Key(key) if !KeyModifiers::SHIFT.contains(key.modifiers) => None,
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
    fn keys_with_ctrl_or_alt_are_no_letters() {
        let (ctrl, alt) = (KeyModifiers::CONTROL, KeyModifiers::ALT);
        let pressed = |code, modifiers| read(&Event::Key(KeyEvent::new(code, modifiers)));
        for letter in ('a'..='z').chain('0'..='9').map(KeyCode::Char).chain([KeyCode::Enter, KeyCode::Left]) {
            for modifiers in [ctrl, alt, ctrl | alt, ctrl | KeyModifiers::SHIFT] {
                let bound = modifiers == ctrl && [KeyCode::Char('c'), KeyCode::Char('h')].contains(&letter);
                assert_eq!(pressed(letter, modifiers).is_some(), bound, "{modifiers} {letter}");
            }
            assert_eq!(pressed(letter, KeyModifiers::NONE), Some(Input::Key(letter)));
        }
        assert_eq!(pressed(KeyCode::Char('c'), ctrl), Some(Input::Interrupted(Interruption::CtrlC)));
        assert_eq!(pressed(KeyCode::Char('Q'), KeyModifiers::SHIFT), Some(Input::Key(KeyCode::Char('Q'))));
    }

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
