//! A player's keys: what they mean at a table.

use crossterm::event::KeyCode;

use super::table::Table;
use crate::{
    client::{GameId, Offer},
    rules::{Color, Square},
};

/// The longest line of chat that can be typed; the server says which it takes.
const LONGEST_CHAT: usize = 300;

/// How much of what is no square is shown.
const LONGEST_MISTAKE: usize = 8;

/// What a player wants to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Wish {
    /// Move there.
    Play(GameId, u32, Square),
    /// Give the game up.
    Resign(GameId),
    /// Offer this, or take the same offer of the opponent.
    Offer(Offer),
    /// Decline this.
    Decline(Offer),
    /// Begin the game, as the room's owner.
    Start,
    /// Say this.
    Chat(String),
    /// Be told this.
    Note(String),
    /// Leave.
    Quit,
}

/// The cursor, and what has been typed so far.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Hand {
    cursor: Square,
    typed: Typed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Typed {
    Nothing,
    /// The letter of a square.
    Column(char),
    /// A whole square, which was played at once: the Enter that people type after it means nothing more.
    Square,
    /// What begins no square and no command.
    Wrong(String),
    /// A first `r`.
    Resign,
    /// A first `q` during a game.
    Quit,
    /// A line of chat.
    Chat(String),
}

impl Hand {
    /// The cursor in the middle, nothing typed.
    pub(in crate::cli) fn new() -> Self {
        let middle = Square::at(3, 2).unwrap_or(Square::ALL[0]);
        Self { cursor: middle, typed: Typed::Nothing }
    }

    /// Where the cursor is drawn: only when the player is to move.
    pub(in crate::cli) fn cursor(&self, table: &Table) -> Option<Square> {
        table.my_turn().map(|_| self.cursor)
    }

    /// What the player is asked, or has typed; empty when nothing is pending.
    pub(in crate::cli) fn prompt(&self, table: &Table) -> String {
        match &self.typed {
            Typed::Wrong(text) => no_square(text),
            Typed::Column('d') => "d_   a digit 1-8 plays there; d again offers a draw".into(),
            Typed::Column(letter) => format!("{letter}_   a digit 1-8 plays there"),
            Typed::Resign => "give up this game? r again resigns, any other key goes on".into(),
            Typed::Quit => "leave? That loses this game. q again leaves, any other key goes on".into(),
            Typed::Chat(text) => format!("say: {text}_"),
            Typed::Nothing | Typed::Square => match offered(table) {
                Some(Offer::Draw) => "the opponent offers a draw: y accepts, x declines".into(),
                Some(Offer::Rematch) => "the opponent offers a rematch: y accepts, x declines".into(),
                None => self.preview(table).unwrap_or_default(),
            },
        }
    }

    /// What a move to the cursor would turn over.
    fn preview(&self, table: &Table) -> Option<String> {
        let game = table.my_turn()?;
        let side = game.standing.turn?;
        if !game.standing.legal.contains(self.cursor) {
            return None;
        }
        let flips = game.standing.board.flips(side, self.cursor);
        let names: Vec<String> = flips.iter().map(|square| square.to_string()).collect();
        Some(format!("your move ({side}): {} turns over {}", self.cursor, names.join(" ")))
    }

    /// The keys that work now.
    pub(in crate::cli) fn keys(&self, table: &Table) -> &'static str {
        if matches!(self.typed, Typed::Chat(_)) {
            "Enter say it   Esc drop it"
        } else if table.my_turn().is_some() {
            "arrows+Enter or d3 move   r resign   dd draw offer   t talk   q quit"
        } else if table.room().running().is_some() {
            "r resign   dd draw offer   t talk   q quit"
        } else {
            match (table.game().is_some(), table.is_owner()) {
                (true, true) => "n rematch   s start   t talk   q quit",
                (true, false) => "n rematch   t talk   q quit",
                (false, true) => "s start   t talk   q quit",
                (false, false) => "t talk   q quit",
            }
        }
    }

    /// Takes a key and says what it asks for, if that is complete.
    pub(in crate::cli) fn press(&mut self, key: KeyCode, table: &Table) -> Option<Wish> {
        let typed = std::mem::replace(&mut self.typed, Typed::Nothing);
        match (typed, key) {
            (Typed::Chat(text), key) => self.talk(text, key),
            (Typed::Column(letter), KeyCode::Char(digit @ '1'..='8')) => self.play_named(letter, digit, table),
            (Typed::Column('d'), KeyCode::Char('d' | 'D')) => Some(Wish::Offer(Offer::Draw)),
            (Typed::Column(letter), KeyCode::Enter | KeyCode::Char(' ')) => Some(Wish::Note(no_square(letter))),
            (Typed::Column(letter), KeyCode::Char(digit)) if !digit.is_alphabetic() => {
                self.typed = Typed::Wrong(format!("{letter}{digit}"));
                None
            }
            (Typed::Wrong(text), KeyCode::Enter | KeyCode::Char(' ')) => Some(Wish::Note(no_square(text))),
            (Typed::Wrong(text), KeyCode::Char(digit)) if !digit.is_alphabetic() => {
                self.mistype(text, digit);
                None
            }
            (Typed::Square, KeyCode::Enter) => None,
            (Typed::Resign, KeyCode::Char('r')) => table.room().running().map(|game| Wish::Resign(game.id.clone())),
            (Typed::Quit, KeyCode::Char('q')) => Some(Wish::Quit),
            (Typed::Resign | Typed::Quit, _) => None,
            (Typed::Column(_) | Typed::Square | Typed::Wrong(_) | Typed::Nothing, key) => self.press_first(key, table),
        }
    }

    fn press_first(&mut self, key: KeyCode, table: &Table) -> Option<Wish> {
        let playing = table.side().is_some() && table.room().running().is_some();
        match key {
            KeyCode::Left => self.step(-1, 0),
            KeyCode::Right => self.step(1, 0),
            KeyCode::Up => self.step(0, -1),
            KeyCode::Down => self.step(0, 1),
            KeyCode::Enter | KeyCode::Char(' ') => return self.play(self.cursor, table),
            KeyCode::Char(letter @ ('a'..='h' | 'A'..='H')) if playing => {
                self.typed = Typed::Column(letter.to_ascii_lowercase());
            }
            KeyCode::Char('r') if playing => self.typed = Typed::Resign,
            KeyCode::Char('q') if playing => self.typed = Typed::Quit,
            KeyCode::Char('q') => return Some(Wish::Quit),
            KeyCode::Char('t') => self.typed = Typed::Chat(String::new()),
            KeyCode::Char('n') if !playing && table.game().is_some() => return Some(Wish::Offer(Offer::Rematch)),
            KeyCode::Char('s') if !playing && table.is_owner() => return Some(Wish::Start),
            KeyCode::Char('y') if offered(table).is_some() => return offered(table).map(Wish::Offer),
            KeyCode::Char('x') if offered(table).is_some() => return offered(table).map(Wish::Decline),
            KeyCode::Char(letter) if playing => self.mistype(String::new(), letter),
            _ => {}
        }
        None
    }

    fn talk(&mut self, mut text: String, key: KeyCode) -> Option<Wish> {
        match key {
            KeyCode::Enter => return (!text.trim().is_empty()).then_some(Wish::Chat(text)),
            KeyCode::Esc => return None,
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(letter) if text.chars().count() < LONGEST_CHAT => text.push(letter),
            _ => {}
        }
        self.typed = Typed::Chat(text);
        None
    }

    fn mistype(&mut self, mut text: String, letter: char) {
        if text.chars().count() < LONGEST_MISTAKE {
            text.push(letter);
        }
        self.typed = Typed::Wrong(text);
    }

    fn step(&mut self, columns: i8, rows: i8) {
        let column = self.cursor.column().checked_add_signed(columns);
        let row = self.cursor.row().checked_add_signed(rows);
        if let Some(square) = column.zip(row).and_then(|(column, row)| Square::at(column, row)) {
            self.cursor = square;
        }
    }

    fn play_named(&mut self, letter: char, digit: char, table: &Table) -> Option<Wish> {
        let square: Square = format!("{letter}{digit}").parse().ok()?;
        self.cursor = square;
        self.typed = Typed::Square;
        self.play(square, table)
    }

    fn play(&self, square: Square, table: &Table) -> Option<Wish> {
        let Some(game) = table.my_turn() else {
            return table.room().running().map(|_| Wish::Note("it is not your turn".into()));
        };
        if game.standing.legal.contains(square) {
            return Some(Wish::Play(game.id.clone(), game.ply, square));
        }
        Some(Wish::Note(format!("{square} turns nothing over; the moves are marked +")))
    }
}

fn no_square(typed: impl std::fmt::Display) -> String {
    format!("`{typed}` is no square: one is a letter a-h and a digit 1-8")
}

/// What the opponent has offered the viewer.
pub(in crate::cli) fn offered(table: &Table) -> Option<Offer> {
    let opponent: Color = table.side()?.opposite();
    match table.room().running() {
        Some(game) => (game.draw_offered_by == Some(opponent)).then_some(Offer::Draw),
        None => (table.room().rematch_offered_by == Some(opponent)).then_some(Offer::Rematch),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::client::{Occupant, Player, PlayerId, PlayerKind, RoomChange, RoomUpdate, fixture};

    fn table() -> Table {
        let me: PlayerId = "me".parse().unwrap();
        let mut room = fixture::room();
        room.seats.black.occupant =
            Occupant::Player(Player { id: me.clone(), name: "me".into(), kind: PlayerKind::Human });
        Table::new(room, Some(me), Instant::now())
    }

    fn press(hand: &mut Hand, table: &Table, keys: &str) -> Option<Wish> {
        keys.chars().fold(None, |_, key| hand.press(KeyCode::Char(key), table))
    }

    fn play(name: &str) -> Option<Wish> {
        Some(Wish::Play("game1".parse().unwrap(), 0, name.parse().unwrap()))
    }

    #[test]
    fn a_square_is_typed_or_pointed_at() {
        let (mut hand, table) = (Hand::new(), table());
        assert_eq!(press(&mut hand, &table, "f5"), play("f5"));
        assert_eq!(hand.press(KeyCode::Left, &table), None);
        assert_eq!(hand.press(KeyCode::Down, &table), None);
        assert_eq!(hand.press(KeyCode::Enter, &table), play("e6"));
        assert!(matches!(press(&mut hand, &table, "a1"), Some(Wish::Note(_))));
    }

    #[test]
    fn d_begins_a_square_and_dd_offers_a_draw() {
        let (mut hand, table) = (Hand::new(), table());
        assert_eq!(press(&mut hand, &table, "d3"), play("d3"));
        assert_eq!(press(&mut hand, &table, "dd"), Some(Wish::Offer(Offer::Draw)));
        assert_eq!(press(&mut hand, &table, "df5"), play("f5"));
    }

    #[test]
    fn what_is_mistyped_plays_nothing() {
        let (mut hand, table) = (Hand::new(), table());
        for typed in ["d9", "e", "d", "9", "z", "i9", "d0d9", "x"] {
            assert_eq!(press(&mut hand, &table, typed), None, "{typed}");
            let told = hand.press(KeyCode::Enter, &table);
            assert!(matches!(&told, Some(Wish::Note(note)) if note.contains("is no square")), "{typed}: {told:?}");
        }
        assert_eq!(hand.press(KeyCode::Enter, &table), play("d3"), "the cursor is played when nothing is typed");
        assert_eq!(press(&mut hand, &table, "d9f5"), play("f5"));
    }

    #[test]
    fn the_enter_after_a_typed_move_is_part_of_it() {
        let (mut hand, table) = (Hand::new(), table());
        assert_eq!(press(&mut hand, &table, "F5"), play("f5"));
        assert_eq!(hand.press(KeyCode::Enter, &table), None);
        assert_eq!(hand.press(KeyCode::Enter, &table), play("f5"));
        press(&mut hand, &table, "f5");
        hand.press(KeyCode::Left, &table);
        hand.press(KeyCode::Down, &table);
        assert_eq!(hand.press(KeyCode::Enter, &table), play("e6"));
    }

    #[test]
    fn what_loses_the_game_is_asked_twice() {
        let (mut hand, table) = (Hand::new(), table());
        assert_eq!(press(&mut hand, &table, "r"), None);
        assert_eq!(press(&mut hand, &table, "x"), None);
        assert_eq!(press(&mut hand, &table, "rr"), Some(Wish::Resign("game1".parse().unwrap())));
        assert_eq!(press(&mut hand, &table, "qx"), None);
        assert_eq!(press(&mut hand, &table, "qq"), Some(Wish::Quit));
    }

    #[test]
    fn chat_takes_all_keys_until_enter() {
        let (mut hand, table) = (Hand::new(), table());
        press(&mut hand, &table, "tquit?");
        assert_eq!(hand.prompt(&table), "say: quit?_");
        assert_eq!(hand.press(KeyCode::Enter, &table), Some(Wish::Chat("quit?".into())));
        assert_eq!(hand.prompt(&table), "your move (black): d3 turns over d4");
    }

    #[test]
    fn an_offer_can_be_answered() {
        let (mut hand, mut table) = (Hand::new(), table());
        assert_eq!(press(&mut hand, &table, "y"), None);
        let mut event = fixture::next(table.room(), RoomChange::OfferMade(Offer::Draw, Color::White));
        let mut state = fixture::state(table.room());
        state.draw_offered_by = Some(Color::White);
        event.state = Some(Box::new(state));
        table.update(RoomUpdate::Event(Box::new(event)), Instant::now());
        assert_eq!(press(&mut hand, &table, "y"), Some(Wish::Offer(Offer::Draw)));
        assert_eq!(press(&mut hand, &table, "x"), Some(Wish::Decline(Offer::Draw)));
    }
}
