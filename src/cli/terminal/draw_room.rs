//! Drawing a room: the board, the players, the moves and the news.

use tokio::time::Instant;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Modifier, Style, Stylize as _},
    text::{Line, Span},
    widgets::{Block, Paragraph, Wrap},
};

use super::{
    board::{self, BoardView, HEIGHT, LOW_HEIGHT, WIDTH},
    clock, move_list,
    room_view::RoomView,
    screen,
};
use crate::{
    client::{Occupant, Phase, Room, Visibility},
    rules::{ByColor, Color, Square},
};

/// The least width with names and clocks beside the board; on narrower screens they are above it.
const WIDE: u16 = WIDTH + 29;

/// What is drawn besides the room.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Extras<'a> {
    pub(in crate::cli) cursor: Option<Square>,
    /// A question to the viewer, or what was typed.
    pub(in crate::cli) prompt: &'a str,
    /// The keys that work now.
    pub(in crate::cli) keys: &'a str,
}

/// Draws all of the screen.
pub(in crate::cli) fn draw(frame: &mut Frame, table: &RoomView, extras: Extras, now: Instant) {
    let around = if frame.area().width >= WIDE { 3 } else { 5 };
    if board::is_too_small(frame, around) {
        return;
    }
    let [title, middle, status, keys] = screen::rows(frame, LOW_HEIGHT);
    frame.render_widget(Line::from(headline(table.room())).bold(), title);
    frame.render_widget(status_line(table, extras), status);
    frame.render_widget(Line::from(extras.keys).dim(), keys);

    let view = table.view(extras.cursor);
    let seats = seat_lines(table, &view, now);
    if middle.width >= WIDE {
        let [left, right] = Layout::horizontal([Constraint::Length(WIDTH + 2), Constraint::Min(1)]).areas(middle);
        frame.render_widget(view, left);
        draw_side(frame, table, seats, right);
    } else {
        let board = if middle.height >= HEIGHT + 2 { HEIGHT } else { LOW_HEIGHT };
        let [names, left, below] =
            Layout::vertical([Constraint::Length(2), Constraint::Length(board), Constraint::Min(0)]).areas(middle);
        frame.render_widget(Paragraph::new(seats.to_vec()), names);
        frame.render_widget(view, left);
        draw_news(frame, table, below);
    }
}

/// The name and the state of a room in a line.
pub(in crate::cli) fn headline(room: &Room) -> String {
    let doing = match (&room.game, room.phase) {
        (_, Phase::Closed) => "closed".to_owned(),
        (Some(game), _) if game.outcome.is_none() => format!("game {}, ply {}", game.number, game.ply),
        (Some(game), Phase::Playing) => format!("game {} over, the next one comes", game.number),
        (Some(game), _) => format!("game {} over", game.number),
        (None, _) => "no game yet".to_owned(),
    };
    let series = room.series.filter(|series| series.games > 1);
    let series = series.map_or_else(String::new, |series| format!(" ({} of {})", series.game, series.games));
    format!("{}  ·  {doing}{series}  ·  room {}", room.settings.name, room.id)
}

/// The state in a line: whose turn it is, or how the game ended.
pub(in crate::cli) fn state_line(table: &RoomView) -> String {
    if let Some(invitation) = invitation(table) {
        return invitation;
    }
    let Some(game) = table.game() else {
        return match table.side() {
            Some(side) => format!("you are {side}; waiting for the game to begin"),
            None => "waiting for the game to begin".to_owned(),
        };
    };
    match (&game.outcome, game.standing.turn, table.side()) {
        (Some(outcome), ..) => format!("game over: {outcome}"),
        (None, Some(turn), Some(side)) if turn == side => format!("your move ({side})"),
        (None, Some(turn), _) => format!("{turn} to move"),
        (None, None, _) => "the game ends".to_owned(),
    }
}

/// The command with which an opponent joins, while there is none.
pub(in crate::cli) fn invitation(table: &RoomView) -> Option<String> {
    let (room, side) = (table.room(), table.side()?);
    if room.seats[side.opposite()].occupant != Occupant::Open || room.phase != Phase::Lobby {
        return None;
    }
    let key = match (&room.join_code, room.settings.visibility) {
        (Some(code), Visibility::Private) => code.clone(),
        _ => room.id.to_string(),
    };
    let password = if room.has_password { " --password ..." } else { "" };
    Some(format!("waiting for an opponent, who comes by: reversi play --room {key}{password}"))
}

fn status_line<'a>(table: &'a RoomView, extras: Extras<'a>) -> Line<'a> {
    if let Some(trouble) = table.trouble() {
        return Line::from(trouble.to_owned()).style(Style::new().add_modifier(Modifier::REVERSED));
    }
    if extras.prompt.is_empty() { Line::from(state_line(table)) } else { Line::from(extras.prompt).bold() }
}

/// A line for each side: discs, occupant, clock, score.
fn seat_lines(table: &RoomView, view: &BoardView, now: Instant) -> [Line<'static>; 2] {
    let left = table.clock().left(now);
    let game = table.game();
    let turn = game.and_then(|game| game.standing.turn);
    let lines = ByColor::from_fn(|side| {
        let seat = &table.room().seats[side];
        let disc = if side == Color::Black { '●' } else { '○' };
        let you = if table.side() == Some(side) { " (you)" } else { "" };
        let count = if game.is_some() { view.board.count(side) } else { 2 };
        let time = left[side].map_or_else(String::new, clock::show);
        let arrow = if turn == Some(side) { '▶' } else { ' ' };
        let mut notes = String::new();
        if seat.wins > 0 || seat.draws > 0 {
            notes.push_str(&format!("  won {}", seat.wins));
        }
        if turn.is_none() && table.room().phase == Phase::Lobby && seat.ready {
            notes.push_str("  ready");
        }
        if !seat.present && matches!(seat.occupant, Occupant::Player(_)) {
            notes.push_str("  away");
        }
        let name = format!("{}{you}", seat.occupant);
        let style = if turn == Some(side) { Style::new().bold() } else { Style::new() };
        Line::from(vec![Span::styled(format!("{arrow}{disc} {count:>2}  {time:>5}  {name}"), style), notes.dim()])
    });
    [lines.black, lines.white]
}

fn draw_side(frame: &mut Frame, table: &RoomView, seats: [Line<'static>; 2], area: Rect) {
    let plies = table.game().map_or(&[][..], |game| &game.plies);
    let wanted = 2 + u16::try_from(move_list::columns(plies, area.width.saturating_sub(2), 8).len()).unwrap_or(8);
    let [names, moves, news] =
        Layout::vertical([Constraint::Length(4), Constraint::Length(wanted.max(3)), Constraint::Min(3)]).areas(area);
    frame.render_widget(Paragraph::new(seats.to_vec()).block(Block::bordered().title(" players ")), names);
    let block = Block::bordered().title(" moves ");
    let inner = block.inner(moves);
    let lines: Vec<Line> = move_list::columns(plies, inner.width, inner.height).into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines).block(block), moves);
    let block = Block::bordered().title(" news ");
    let inner = block.inner(news);
    frame.render_widget(block, news);
    draw_news(frame, table, inner);
}

/// The newest lines that fit.
fn draw_news(frame: &mut Frame, table: &RoomView, area: Rect) {
    if area.is_empty() {
        return;
    }
    let width = usize::from(area.width);
    let mut rows = usize::from(area.height);
    let mut shown: Vec<Line> = Vec::new();
    for line in table.news().rev() {
        let needed = line.chars().count().div_ceil(width).max(1);
        if needed > rows {
            break;
        }
        rows -= needed;
        shown.push(Line::from(line.to_owned()));
    }
    shown.reverse();
    frame.render_widget(Paragraph::new(shown).wrap(Wrap { trim: true }), area);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ratatui::{Terminal, backend::TestBackend};

    use super::*;
    use crate::client::{RoomUpdate, fixture};

    fn drawn(width: u16, height: u16) -> String {
        let now = Instant::now();
        let mut table = RoomView::new(fixture::room(), None, now);
        for square in ["d3", "c3"] {
            let event = fixture::move_event(table.room(), square);
            table.update(RoomUpdate::Event(Box::new(event)), now);
        }
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let extras = Extras { cursor: None, prompt: "", keys: "q quit" };
        terminal.draw(|frame| draw(frame, &table, extras, now + Duration::from_secs(1))).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn a_wide_screen_shows_everything() {
        let text = drawn(80, 24);
        for part in [
            "Study  ·  game 1, ply 2  ·  room room1",
            "▶●  3   0:59  open",
            " ○  3         open",
            " 1. d3 c3",
            "black (open) plays d3",
            "3 │   │ + │(○)│ ● │   │",
            "black to move",
            "q quit",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_small_screen_still_shows_the_board() {
        let text = drawn(40, 15);
        assert!(text.contains("3     + (○) ●") && text.contains("▶●  3"), "{text}");
    }

    #[test]
    fn no_size_is_too_small_to_draw_on() {
        assert!(drawn(30, 13).contains("window larger") && drawn(25, 24).contains("window larger"));
        assert!(!drawn(26, 14).contains("window larger") && !drawn(64, 12).contains("window larger"));
        for (width, height) in [(1, 1), (10, 3), (64, 5), (200, 60), (65, 12)] {
            drawn(width, height);
        }
    }
}
