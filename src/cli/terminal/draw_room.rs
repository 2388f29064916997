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
    board::{self, BoardView, COMPACT_HEIGHT, HEIGHT, WIDTH},
    clock, move_list,
    room_view::RoomView,
    screen,
};
use crate::{
    client::{Occupant, Phase, Room, Visibility},
    rules::{ByColor, Color, Square},
};

/// The minimum width for names and clocks beside the board; on narrower screens they are above it.
const WIDE: u16 = WIDTH + 29;

/// Additional content to draw.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Extras<'a> {
    pub(in crate::cli) cursor: Option<Square>,
    /// A question to the viewer, or the typed text.
    pub(in crate::cli) prompt: &'a str,
    /// Help for the available keys.
    pub(in crate::cli) keys: &'a str,
}

/// Draws the whole screen.
pub(in crate::cli) fn draw(frame: &mut Frame, view: &RoomView, extras: Extras, now: Instant) {
    let other_rows = if frame.area().width >= WIDE { 3 } else { 5 };
    if board::is_too_small(frame, other_rows) {
        return;
    }
    let [title, middle, status, keys] = screen::rows(frame, COMPACT_HEIGHT);
    frame.render_widget(Line::from(headline(view.room())).bold(), title);
    frame.render_widget(status_line(view, extras, now), status);
    frame.render_widget(Line::from(extras.keys).dim(), keys);

    let board_view = view.board_view(extras.cursor);
    let seats = seat_lines(view, &board_view, now);
    if middle.width >= WIDE {
        let [left, right] = Layout::horizontal([Constraint::Length(WIDTH + 2), Constraint::Min(1)]).areas(middle);
        frame.render_widget(board_view, left);
        draw_side(frame, view, seats, right);
    } else {
        let board = if middle.height >= HEIGHT + 2 { HEIGHT } else { COMPACT_HEIGHT };
        let [names, left, below] =
            Layout::vertical([Constraint::Length(2), Constraint::Length(board), Constraint::Min(0)]).areas(middle);
        frame.render_widget(Paragraph::new(seats.to_vec()), names);
        frame.render_widget(board_view, left);
        draw_news(frame, view, below);
    }
}

/// The name and the state of a room in one line.
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

/// The state in one line: the side to move, or the outcome.
pub(in crate::cli) fn state_line(view: &RoomView) -> String {
    if let Some(invitation) = invitation(view) {
        return invitation;
    }
    let Some(game) = view.game() else {
        return match view.side() {
            Some(side) if view.is_awaited() && !view.may_start() => {
                format!(
                    "you are {side}; the game waits until you are ready for it as it is now: s, or the line `ready`"
                )
            }
            Some(side) => format!("you are {side}; waiting for the game to begin"),
            None => "waiting for the game to begin".to_owned(),
        };
    };
    match (&game.outcome, game.standing.turn, view.side()) {
        (Some(outcome), ..) => format!("game over: {outcome}"),
        (None, Some(turn), Some(side)) if turn == side => format!("your move ({side})"),
        (None, Some(turn), _) => format!("{turn} to move"),
        (None, None, _) => "the game ends".to_owned(),
    }
}

/// The command with which an opponent can join; `None` unless the other seat is open.
pub(in crate::cli) fn invitation(view: &RoomView) -> Option<String> {
    let (room, side) = (view.room(), view.side()?);
    if room.seats[side.opposite()].occupant != Occupant::Open || room.phase != Phase::Lobby {
        return None;
    }
    let id_or_code = match (&room.join_code, room.settings.visibility) {
        (Some(code), Visibility::Private) => code.clone(),
        _ => room.id.to_string(),
    };
    let password = if room.has_password { " --password ..." } else { "" };
    Some(format!("waiting for an opponent, who comes by: reversi play --room {id_or_code}{password}"))
}

fn status_line<'a>(view: &'a RoomView, extras: Extras<'a>, now: Instant) -> Line<'a> {
    if let Some(error) = view.connection_error(now) {
        return Line::from(error).style(Style::new().add_modifier(Modifier::REVERSED));
    }
    if extras.prompt.is_empty() { Line::from(state_line(view)) } else { Line::from(extras.prompt).bold() }
}

/// One line per side: discs, clock, occupant and notes.
fn seat_lines(view: &RoomView, board_view: &BoardView, now: Instant) -> [Line<'static>; 2] {
    let left = view.clock().left(now);
    let game = view.game();
    let turn = game.and_then(|game| game.standing.turn);
    let lines = ByColor::from_fn(|side| {
        let seat = &view.room().seats[side];
        let disc = if side == Color::Black { '●' } else { '○' };
        let you = if view.side() == Some(side) { " (you)" } else { "" };
        let count = if game.is_some() { board_view.board.count(side) } else { 2 };
        let time = left[side].map_or_else(String::new, clock::show);
        let arrow = if turn == Some(side) { '▶' } else { ' ' };
        let mut notes = String::new();
        if seat.wins > 0 || seat.draws > 0 {
            notes.push_str(&format!("  won {}", seat.wins));
        }
        if turn.is_none() && view.room().phase == Phase::Lobby && seat.ready {
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

fn draw_side(frame: &mut Frame, view: &RoomView, seats: [Line<'static>; 2], area: Rect) {
    let plies = view.game().map_or(&[][..], |game| &game.plies);
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
    draw_news(frame, view, inner);
}

/// The newest lines that fit.
fn draw_news(frame: &mut Frame, view: &RoomView, area: Rect) {
    if area.is_empty() {
        return;
    }
    let width = usize::from(area.width);
    let mut rows = usize::from(area.height);
    let mut shown: Vec<Line> = Vec::new();
    for line in view.news().rev() {
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
        let mut view = RoomView::new(fixture::room(), None, now);
        for square in ["d3", "c3"] {
            let event = fixture::move_event(view.room(), square);
            view.update(RoomUpdate::Event(Box::new(event)), now);
        }
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let extras = Extras { cursor: None, prompt: "", keys: "q quit" };
        terminal.draw(|frame| draw(frame, &view, extras, now + Duration::from_secs(1))).unwrap();
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
