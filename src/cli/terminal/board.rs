//! The board on a screen and as text.

use std::fmt;

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::Rect,
    style::{Color as Ink, Modifier, Style},
    widgets::{Paragraph, Widget, Wrap},
};

use crate::rules::{Bitboard, Board, Color, Square};

/// Columns of the board with lines between the squares.
pub(in crate::cli) const WIDTH: u16 = 35;
pub(in crate::cli) const HEIGHT: u16 = 18;
/// Rows of the board without lines, for small screens.
pub(in crate::cli) const COMPACT_HEIGHT: u16 = 9;
const COMPACT_WIDTH: u16 = 26;

const BACKGROUND: Ink = Ink::Indexed(28);
const LAST_MOVE_BACKGROUND: Ink = Ink::Indexed(64);
const CURSOR_BACKGROUND: Ink = Ink::Indexed(178);
const LINES: Ink = Ink::Indexed(22);
const HINT: Ink = Ink::Indexed(193);

/// Whether a board and `other_rows` other rows do not fit; if so, draws a message.
pub(in crate::cli) fn is_too_small(frame: &mut Frame, other_rows: u16) -> bool {
    let area = frame.area();
    let (width, height) = (COMPACT_WIDTH, COMPACT_HEIGHT + other_rows);
    let small = area.width < width || area.height < height;
    if small {
        let text = format!("make the window larger: {width} x {height} at least");
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    }
    small
}

/// A board with its marked squares.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct BoardView {
    pub(in crate::cli) board: Board,
    /// Legal moves.
    pub(in crate::cli) legal: Bitboard,
    /// The last move.
    pub(in crate::cli) last: Option<Square>,
    pub(in crate::cli) cursor: Option<Square>,
}

impl BoardView {
    /// The three characters of a square, distinct without colours.
    fn text(&self, square: Square) -> [char; 3] {
        let disc = match self.board.color_at(square) {
            Some(Color::Black) => '●',
            Some(Color::White) => '○',
            None if self.legal.contains(square) => '+',
            None => ' ',
        };
        if self.cursor == Some(square) {
            ['[', disc, ']']
        } else if self.last == Some(square) {
            ['(', disc, ')']
        } else {
            [' ', disc, ' ']
        }
    }

    fn style(&self, square: Square) -> Style {
        let background = if self.cursor == Some(square) {
            CURSOR_BACKGROUND
        } else if self.last == Some(square) {
            LAST_MOVE_BACKGROUND
        } else {
            BACKGROUND
        };
        let style = Style::new().bg(background);
        match self.board.color_at(square) {
            Some(Color::Black) => style.fg(Ink::Indexed(16)).add_modifier(Modifier::BOLD),
            Some(Color::White) => style.fg(Ink::Indexed(231)).add_modifier(Modifier::BOLD),
            None => style.fg(HINT),
        }
    }

    fn draw_square(&self, square: Square, x: u16, y: u16, buffer: &mut Buffer) {
        let text: String = self.text(square).into_iter().collect();
        buffer.set_string(x, y, text, self.style(square));
    }

    fn draw_with_lines(&self, area: Rect, buffer: &mut Buffer) {
        let lines = Style::new().fg(LINES).bg(BACKGROUND);
        for line in 0..9 {
            let (left, middle, right) = match line {
                0 => ('┌', "┬", '┐'),
                8 => ('└', "┴", '┘'),
                _ => ('├', "┼", '┤'),
            };
            let rule = format!("{left}{}{right}", ["───"; 8].join(middle));
            buffer.set_string(area.x + 2, area.y + 1 + 2 * line, rule, lines);
        }
        for (column, letter) in ('a'..='h').zip(0_u16..) {
            buffer.set_string(area.x + 4 + 4 * letter, area.y, column.to_string(), Style::new());
        }
        for row in 0..8_u8 {
            let y = area.y + 2 + 2 * u16::from(row);
            buffer.set_string(area.x, y, (row + 1).to_string(), Style::new());
            for column in 0..8_u8 {
                let x = area.x + 2 + 4 * u16::from(column);
                buffer.set_string(x, y, "│", lines);
                if let Some(square) = Square::at(column, row) {
                    self.draw_square(square, x + 1, y, buffer);
                }
            }
            buffer.set_string(area.x + 34, y, "│", lines);
        }
    }

    fn draw_without_lines(&self, area: Rect, buffer: &mut Buffer) {
        for (column, number) in ('a'..='h').zip(0_u16..) {
            buffer.set_string(area.x + 3 + 3 * number, area.y, column.to_string(), Style::new());
        }
        for square in Square::ALL {
            let y = area.y + 1 + u16::from(square.row());
            buffer.set_string(area.x, y, (square.row() + 1).to_string(), Style::new());
            self.draw_square(square, area.x + 2 + 3 * u16::from(square.column()), y, buffer);
        }
    }
}

/// Draws with lines if they fit, else without; nothing if that does not fit either.
impl Widget for BoardView {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.height >= HEIGHT && area.width >= WIDTH {
            self.draw_with_lines(area, buffer);
        } else if area.height >= COMPACT_HEIGHT && area.width >= COMPACT_WIDTH {
            self.draw_without_lines(area, buffer);
        }
    }
}

/// Nine lines of text.
impl fmt::Display for BoardView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("    a  b  c  d  e  f  g  h")?;
        for square in Square::ALL {
            if square.column() == 0 {
                write!(f, "\n {} ", square.row() + 1)?;
            }
            let [left, disc, right] = self.text(square);
            let empty = [left, disc, right] == [' '; 3];
            write!(f, "{left}{}", if empty { '·' } else { disc })?;
            if square.column() < 7 || right != ' ' {
                write!(f, "{right}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;
    use crate::rules::Position;

    fn view() -> BoardView {
        let after = Position::START.play("d3".parse().unwrap()).unwrap();
        BoardView {
            board: after.board(),
            legal: after.legal_moves(),
            last: "d3".parse().ok(),
            cursor: "c3".parse().ok(),
        }
    }

    fn drawn(width: u16, height: u16) -> TestBackend {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| frame.render_widget(view(), frame.area())).unwrap();
        terminal.backend().clone()
    }

    /// The text of a screen without colours.
    fn text(backend: &TestBackend) -> Vec<String> {
        let buffer = backend.buffer();
        let width = usize::from(buffer.area.width);
        let symbols: Vec<&str> = buffer.content().iter().map(|cell| cell.symbol()).collect();
        symbols.chunks(width).map(|row| row.concat().trim_end().to_owned()).collect()
    }

    #[test]
    fn text_shows_discs_legal_moves_and_the_last_move() {
        let expected = "    a  b  c  d  e  f  g  h
 1  ·  ·  ·  ·  ·  ·  ·  ·
 2  ·  ·  ·  ·  ·  ·  ·  ·
 3  ·  · [+](●) +  ·  ·  ·
 4  ·  ·  ·  ●  ●  ·  ·  ·
 5  ·  ·  +  ●  ○  ·  ·  ·
 6  ·  ·  ·  ·  ·  ·  ·  ·
 7  ·  ·  ·  ·  ·  ·  ·  ·
 8  ·  ·  ·  ·  ·  ·  ·  ·";
        assert_eq!(view().to_string(), expected);
    }

    #[test]
    fn a_large_screen_has_lines() {
        let text = text(&drawn(40, 18));
        assert_eq!(text[0], "    a   b   c   d   e   f   g   h");
        assert_eq!(text[1], "  ┌───┬───┬───┬───┬───┬───┬───┬───┐");
        assert_eq!(text[6], "3 │   │   │[+]│(●)│ + │   │   │   │");
        assert_eq!(text[8], "4 │   │   │   │ ● │ ● │   │   │   │");
        assert_eq!(text[17], "  └───┴───┴───┴───┴───┴───┴───┴───┘");
    }

    #[test]
    fn a_low_screen_has_no_lines_and_a_tiny_one_no_board() {
        let low = text(&drawn(30, 10));
        assert_eq!(low[0], "   a  b  c  d  e  f  g  h");
        assert_eq!(low[3], "3       [+](●) +");
        assert!(text(&drawn(20, 5)).iter().all(String::is_empty));
    }
}
