//! A viewer for finished games.

use anyhow::Context as _;
use crossterm::event::KeyCode;
use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    style::Stylize as _,
    text::Line,
    widgets::{Block, Paragraph, Wrap},
};

use super::{
    say, stdout_is_terminal,
    terminal::{
        board::{self, BoardView, COMPACT_HEIGHT, HEIGHT, WIDTH},
        screen::{self, Input, Screen},
    },
};
use crate::{
    client::GameRecord,
    rules::{Bitboard, Color, Position, Square, Transcript},
};

/// Plies that PgUp and PgDn skip.
const PAGE: usize = 10;

pub(super) async fn run(record: &GameRecord) -> anyhow::Result<()> {
    let mut replay = GameViewer::new(record);
    if !stdout_is_terminal() {
        replay.print();
        return Ok(());
    }
    let mut screen = Screen::open().context("cannot use this terminal")?;
    loop {
        screen.draw(|frame| replay.draw(frame))?;
        match screen.input().await? {
            input if input.quits() => return Ok(()),
            Input::Key(key) => replay.press(key),
            Input::Interrupted(_) | Input::Redraw => {}
        }
    }
}

/// A game and the viewer's position in it, an index into `steps`.
struct GameViewer<'a> {
    record: &'a GameRecord,
    steps: Vec<ViewedPly>,
    at: usize,
}

/// A position, with the move to it and the forced pass after that move.
#[derive(Clone, Copy, Debug)]
struct ViewedPly {
    position: Position,
    moved: Option<(Color, Square)>,
    passed: Option<Color>,
}

impl<'a> GameViewer<'a> {
    fn new(record: &'a GameRecord) -> Self {
        let steps = steps(&record.transcript);
        Self { record, at: steps.len() - 1, steps }
    }

    fn press(&mut self, key: KeyCode) {
        let last = self.steps.len() - 1;
        self.at = match key {
            KeyCode::Right | KeyCode::Char(' ' | 'l') => self.at + 1,
            KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => self.at.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Down => self.at + PAGE,
            KeyCode::PageUp | KeyCode::Up => self.at.saturating_sub(PAGE),
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => self.at,
        }
        .min(last);
    }

    fn print(&self) {
        say(self.headline());
        for index in 0..self.steps.len() {
            say("");
            say(self.caption(index));
            self.view(index).to_string().lines().for_each(say);
            say(self.counts(index));
        }
        say("");
        say(&self.record.transcript);
        say(self.record.outcome);
    }

    fn draw(&self, frame: &mut Frame) {
        if board::is_too_small(frame, 3) {
            return;
        }
        let [title, middle, caption, keys] = screen::rows(frame, COMPACT_HEIGHT);
        frame.render_widget(Line::from(self.headline()).bold(), title);
        let [left, right] = Layout::horizontal([Constraint::Length(WIDTH + 2), Constraint::Min(0)]).areas(middle);
        frame.render_widget(self.view(self.at), left);
        let moves: Vec<Line> = vec![
            Line::from(self.counts(self.at)),
            Line::from(format!("move {} of {}", self.at, self.steps.len() - 1)),
            Line::default(),
            self.moves(),
        ];
        let height = right.height.min(HEIGHT);
        let right = ratatui::layout::Rect { height, ..right };
        frame.render_widget(
            Paragraph::new(moves).wrap(Wrap { trim: true }).block(Block::bordered().title(" game ")),
            right,
        );
        let hint = if self.at + 1 == self.steps.len() { "   (← steps back, Home goes to the start)" } else { "" };
        frame.render_widget(Line::from(self.caption(self.at) + hint), caption);
        frame.render_widget(Line::from("←/→ one move   ↑/↓ ten moves   Home start   End end   q quit").dim(), keys);
    }

    fn headline(&self) -> String {
        let record = self.record;
        format!(
            "{}  ·  ● {} - ○ {}  ·  {}  ·  game {}",
            record.room_name, record.players.black, record.players.white, record.outcome, record.id
        )
    }

    fn caption(&self, index: usize) -> String {
        let step = &self.steps[index];
        let mut text = match step.moved {
            None => "the start".to_owned(),
            Some((side, square)) => format!("{index}. {side} {square}"),
        };
        if let Some(side) = step.passed {
            text.push_str(&format!(", {side} passes"));
        }
        if index + 1 == self.steps.len() {
            text.push_str(&format!("; {}", self.record.outcome));
        }
        text
    }

    fn counts(&self, index: usize) -> String {
        let board = self.steps[index].position.board();
        format!("● {}  ○ {}", board.count(Color::Black), board.count(Color::White))
    }

    fn view(&self, index: usize) -> BoardView {
        let step = &self.steps[index];
        let over = index + 1 == self.steps.len();
        BoardView {
            board: step.position.board(),
            legal: if over { Bitboard::EMPTY } else { step.position.legal_moves() },
            last: step.moved.map(|(_, square)| square),
            cursor: None,
        }
    }

    /// All moves, with the last one in reverse video.
    fn moves(&self) -> Line<'static> {
        let spans = self.steps.iter().enumerate().filter_map(|(index, step)| {
            let (side, square) = step.moved?;
            let disc = if side == Color::Black { '●' } else { '○' };
            let span = ratatui::text::Span::raw(format!("{disc}{square} "));
            Some(if index == self.at { span.reversed() } else { span })
        });
        Line::from_iter(spans)
    }
}

/// The start, then a step for every move.
fn steps(transcript: &Transcript) -> Vec<ViewedPly> {
    let mut position = Position::START;
    let mut steps = vec![ViewedPly { position, moved: None, passed: None }];
    for &square in transcript.squares() {
        let mover = position.turn();
        let (after, passed) = position.play_unchecked(square).after_forced_pass();
        position = after;
        steps.push(ViewedPly { position, moved: Some((mover, square)), passed });
    }
    steps
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;
    use crate::client::fixture;

    #[test]
    fn keys_move_within_the_game() {
        let record = fixture::record();
        let mut replay = GameViewer::new(&record);
        assert_eq!(replay.at, 2, "the end is shown first");
        for (key, at) in [
            (KeyCode::Home, 0),
            (KeyCode::Left, 0),
            (KeyCode::Right, 1),
            (KeyCode::PageDown, 2),
            (KeyCode::Home, 0),
            (KeyCode::End, 2),
            (KeyCode::Left, 1),
        ] {
            replay.press(key);
            assert_eq!(replay.at, at, "{key:?}");
        }
        assert_eq!(replay.caption(1), "1. black d3");
        assert_eq!(replay.caption(2), "2. white c3; black wins (by resignation), 3-3 on the board");
    }

    #[test]
    fn a_step_is_drawn() {
        let record = fixture::record();
        let mut replay = GameViewer::new(&record);
        let mut terminal = Terminal::new(TestBackend::new(120, 24)).unwrap();
        terminal.draw(|frame| replay.draw(frame)).unwrap();
        let text = terminal.backend().to_string();
        assert!(text.contains("(← steps back, Home goes to the start)"), "{text}");
        replay.press(KeyCode::Left);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| replay.draw(frame)).unwrap();
        let text = terminal.backend().to_string();
        assert!(text.contains("3 │   │   │ + │(●)│ + │") && text.contains("move 1 of 2"), "{text}");
    }
}
