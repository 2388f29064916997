//! Translates a player's keys to actions.

use crossterm::event::KeyCode;

use super::room_view::RoomView;
use crate::{
    cli::text::room_event,
    client::{Claim, GameId, Offer, RoomId},
    rules::{Color, Square},
};

/// The longest line of chat that can be typed, in characters; the server has its own limit.
const MAX_CHAT: usize = 300;

/// The longest wrong input that is shown, in characters.
const MAX_WRONG: usize = 8;

/// An action requested by a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum PlayerAction {
    Play(GameId, u32, Square),
    Resign(GameId),
    Offer(GameId, Offer),
    /// Accepts or declines the opponent's offer.
    Answer(GameId, Offer, bool),
    /// Accepts the invitation to a room, and leaves this one for it.
    AcceptInvitation(RoomId),
    DeclineInvitation(RoomId),
    /// Ends the game whose opponent has gone.
    Claim(GameId, Claim),
    /// Starts a game, as the owner; others are ready for it.
    Start,
    Chat(String),
    /// Shows a message to the player.
    Note(String),
    Quit,
    /// Ends the process, but not the game.
    KeepSeat,
}

/// The cursor, and the keys typed so far.
#[derive(Clone, Debug)]
pub(in crate::cli) struct KeyInput {
    cursor: Square,
    typed: Typed,
    /// Whether to quit leaves a tournament, not only the room.
    leaves_tournament: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Typed {
    Nothing,
    /// The letter of a square.
    Column(char),
    /// A whole square, which was played at once: Enter after it is ignored.
    Square,
    /// Keys that begin neither a square nor a command.
    Wrong(String),
    /// The first `r` of two.
    Resign,
    /// The first `q` of two during a game.
    Quit,
    Chat(String),
}

impl KeyInput {
    pub(in crate::cli) fn new(leaves_tournament: bool) -> Self {
        let middle = Square::at(3, 2).unwrap_or(Square::ALL[0]);
        Self { cursor: middle, typed: Typed::Nothing, leaves_tournament }
    }

    /// The cursor, if it is the player's turn.
    pub(in crate::cli) fn cursor(&self, view: &RoomView) -> Option<Square> {
        view.my_turn().map(|_| self.cursor)
    }

    /// A question to the player, or the typed text; may be empty.
    pub(in crate::cli) fn prompt(&self, view: &RoomView) -> String {
        match &self.typed {
            Typed::Wrong(text) => no_square(text),
            Typed::Column('d') => "d_   a digit 1-8 plays there; d again offers a draw".into(),
            Typed::Column(letter) => format!("{letter}_   a digit 1-8 plays there"),
            Typed::Resign => "give up this game? r again resigns, any other key cancels".into(),
            Typed::Quit if self.leaves_tournament => {
                "leave the whole tournament? q again leaves it, Ctrl-C ends and keeps the seat, others cancel".into()
            }
            Typed::Quit => "leave? q again leaves and loses, Ctrl-C ends and keeps the seat, others cancel".into(),
            Typed::Chat(text) => format!("say: {text}_"),
            Typed::Nothing | Typed::Square => match offered(view) {
                Some((_, Offer::Draw)) => "the opponent offers a draw: y accepts, x declines".into(),
                Some((_, Offer::Rematch)) => "the opponent offers a rematch: y accepts, x declines".into(),
                Some((_, Offer::TakeBack)) => {
                    "the opponent asks to take its last move back: y accepts, x declines".into()
                }
                None if view.invited_to().is_some() => INVITED.into(),
                None if view.claimable().is_some() => "your opponent is away: w claims the win, when it is time".into(),
                None => self.preview(view).unwrap_or_default(),
            },
        }
    }

    /// The discs that a move at the cursor would flip.
    fn preview(&self, view: &RoomView) -> Option<String> {
        let game = view.my_turn()?;
        let side = game.standing.turn?;
        if !game.standing.legal.contains(self.cursor) {
            return None;
        }
        let flips = game.standing.board.flips(side, self.cursor);
        Some(format!("your move ({side}): {} turns over {}", self.cursor, room_event::squares(flips.iter())))
    }

    /// Help for the available keys.
    pub(in crate::cli) fn keys(&self, view: &RoomView) -> &'static str {
        if matches!(self.typed, Typed::Chat(_)) {
            "Enter say it   Esc drop it"
        } else if view.claimable().is_some() {
            "d3 move   r resign   dd draw offer   w claim the win   t talk   q quit"
        } else if view.my_turn().is_some() {
            "arrows+Enter or d3 move   r resign   dd draw offer   u take back   t talk   q quit"
        } else if view.room().running().is_some() {
            "r resign   dd draw offer   u take back   t talk   q quit"
        } else {
            match (view.game().is_some(), view.may_start()) {
                (false, false) if view.is_awaited() => "s ready   t talk   q quit",
                (true, true) => "n rematch   s start   t talk   q quit",
                (true, false) => "n rematch   t talk   q quit",
                (false, true) => "s start   t talk   q quit",
                (false, false) => "t talk   q quit",
            }
        }
    }

    /// Handles Ctrl-C, which asks as `q` does; while it is asked already, the player leaves without giving up the game.
    pub(in crate::cli) fn interrupt(&mut self, view: &RoomView) -> Option<PlayerAction> {
        match std::mem::replace(&mut self.typed, Typed::Nothing) {
            Typed::Quit => Some(PlayerAction::KeepSeat),
            _ => self.press_first(KeyCode::Char('q'), view),
        }
    }

    /// Handles a key; returns the action that it completes.
    pub(in crate::cli) fn press(&mut self, key: KeyCode, view: &RoomView) -> Option<PlayerAction> {
        let typed = std::mem::replace(&mut self.typed, Typed::Nothing);
        match (typed, key) {
            (Typed::Chat(text), key) => self.talk(text, key),
            (Typed::Column(letter), KeyCode::Char(digit @ '1'..='8')) => self.play_named(letter, digit, view),
            (Typed::Column('d'), KeyCode::Char('d' | 'D')) => {
                view.game().map(|game| PlayerAction::Offer(game.id.clone(), Offer::Draw))
            }
            (Typed::Column(letter), KeyCode::Enter | KeyCode::Char(' ')) => Some(PlayerAction::Note(no_square(letter))),
            (Typed::Column(letter), KeyCode::Char(digit)) if !digit.is_alphabetic() => {
                self.typed = Typed::Wrong(format!("{letter}{digit}"));
                None
            }
            (Typed::Wrong(text), KeyCode::Enter | KeyCode::Char(' ')) => Some(PlayerAction::Note(no_square(text))),
            (Typed::Wrong(text), KeyCode::Char(digit)) if !digit.is_alphabetic() => {
                self.mistype(text, digit);
                None
            }
            (Typed::Square, KeyCode::Enter) => None,
            (Typed::Resign, KeyCode::Char('r')) => {
                view.room().running().map(|game| PlayerAction::Resign(game.id.clone()))
            }
            (Typed::Quit, KeyCode::Char('q')) => Some(PlayerAction::Quit),
            (Typed::Resign | Typed::Quit, _) => None,
            (Typed::Column(_) | Typed::Square | Typed::Wrong(_) | Typed::Nothing, key) => self.press_first(key, view),
        }
    }

    fn press_first(&mut self, key: KeyCode, view: &RoomView) -> Option<PlayerAction> {
        let playing = view.is_playing();
        match key {
            KeyCode::Left => self.move_cursor(-1, 0),
            KeyCode::Right => self.move_cursor(1, 0),
            KeyCode::Up => self.move_cursor(0, -1),
            KeyCode::Down => self.move_cursor(0, 1),
            KeyCode::Enter | KeyCode::Char(' ') => return self.play(self.cursor, view),
            KeyCode::Char(letter @ ('a'..='h' | 'A'..='H')) if playing => {
                self.typed = Typed::Column(letter.to_ascii_lowercase());
            }
            KeyCode::Char('r') if playing => self.typed = Typed::Resign,
            KeyCode::Char('u') if playing => {
                return view.game().map(|game| PlayerAction::Offer(game.id.clone(), Offer::TakeBack));
            }
            KeyCode::Char('q') if playing => self.typed = Typed::Quit,
            KeyCode::Char('q') => return Some(PlayerAction::Quit),
            KeyCode::Char('t') => self.typed = Typed::Chat(String::new()),
            KeyCode::Char('n') if !playing => {
                return view.game().map(|last| PlayerAction::Offer(last.id.clone(), Offer::Rematch));
            }
            KeyCode::Char('w') if view.claimable().is_some() => {
                return view.claimable().map(|game| PlayerAction::Claim(game.id.clone(), Claim::Win));
            }
            KeyCode::Char('s') if !playing && (view.may_start() || view.is_awaited()) => {
                return Some(PlayerAction::Start);
            }
            KeyCode::Char('y') if offered(view).is_some() => {
                return offered(view).map(|(game, offer)| PlayerAction::Answer(game, offer, true));
            }
            KeyCode::Char('x') if offered(view).is_some() => {
                return offered(view).map(|(game, offer)| PlayerAction::Answer(game, offer, false));
            }
            KeyCode::Char('y') if view.invited_to().is_some() => {
                return view.invited_to().cloned().map(PlayerAction::AcceptInvitation);
            }
            KeyCode::Char('x') if view.invited_to().is_some() => {
                return view.invited_to().cloned().map(PlayerAction::DeclineInvitation);
            }
            KeyCode::Char(letter) if playing => self.mistype(String::new(), letter),
            _ => {}
        }
        None
    }

    fn talk(&mut self, mut text: String, key: KeyCode) -> Option<PlayerAction> {
        match key {
            KeyCode::Enter => return (!text.trim().is_empty()).then_some(PlayerAction::Chat(text)),
            KeyCode::Esc => return None,
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(letter) if text.chars().count() < MAX_CHAT => text.push(letter),
            _ => {}
        }
        self.typed = Typed::Chat(text);
        None
    }

    fn mistype(&mut self, mut text: String, letter: char) {
        if text.chars().count() < MAX_WRONG {
            text.push(letter);
        }
        self.typed = Typed::Wrong(text);
    }

    fn move_cursor(&mut self, columns: i8, rows: i8) {
        let column = self.cursor.column().checked_add_signed(columns);
        let row = self.cursor.row().checked_add_signed(rows);
        if let Some(square) = column.zip(row).and_then(|(column, row)| Square::at(column, row)) {
            self.cursor = square;
        }
    }

    fn play_named(&mut self, letter: char, digit: char, view: &RoomView) -> Option<PlayerAction> {
        let square: Square = format!("{letter}{digit}").parse().ok()?;
        self.cursor = square;
        self.typed = Typed::Square;
        self.play(square, view)
    }

    fn play(&self, square: Square, view: &RoomView) -> Option<PlayerAction> {
        let Some(game) = view.my_turn() else {
            return view.room().running().map(|_| PlayerAction::Note("it is not your turn".into()));
        };
        if game.standing.legal.contains(square) {
            return Some(PlayerAction::Play(game.id.clone(), game.ply, square));
        }
        Some(PlayerAction::Note(format!("{square} turns nothing over; the moves are marked +")))
    }
}

fn no_square(typed: impl std::fmt::Display) -> String {
    format!("`{typed}` is no square: one is a letter a-h and a digit 1-8")
}

const INVITED: &str = "you are invited: y accepts and leaves this room, x declines";

/// The opponent's offer to the viewer, with its game.
pub(in crate::cli) fn offered(view: &RoomView) -> Option<(GameId, Offer)> {
    let opponent: Color = view.side()?.opposite();
    let (game, offer) = match view.room().running() {
        Some(game) => (game, game.offer_of(opponent)),
        None => (view.game()?, (view.room().rematch_offered_by == Some(opponent)).then_some(Offer::Rematch)),
    };
    offer.map(|offer| (game.id.clone(), offer))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::client::{Occupant, Player, PlayerId, PlayerKind, Room, RoomChange, RoomUpdate, fixture};

    fn view() -> RoomView {
        let me: PlayerId = "me".parse().unwrap();
        let mut room = fixture::room();
        room.seats.black.occupant = Occupant::Player(Player {
            id: me.clone(),
            name: "me".into(),
            kind: PlayerKind::Human,
            engine_version: String::new(),
        });
        RoomView::new(room, Some(me), Instant::now())
    }

    fn press(key_input: &mut KeyInput, view: &RoomView, keys: &str) -> Option<PlayerAction> {
        keys.chars().fold(None, |_, key| key_input.press(KeyCode::Char(key), view))
    }

    fn game() -> GameId {
        "game1".parse().unwrap()
    }

    fn play(name: &str) -> Option<PlayerAction> {
        Some(PlayerAction::Play(game(), 0, name.parse().unwrap()))
    }

    #[test]
    fn the_game_of_an_opponent_who_is_away_is_claimed() {
        let (mut key_input, present) = (KeyInput::new(false), view());
        assert_eq!(press(&mut key_input, &present, "w"), None);
        let mut room = present.room().clone();
        room.seats.white.claim_from = Some(std::time::SystemTime::UNIX_EPOCH);
        let away = RoomView::new(room, Some("me".parse().unwrap()), Instant::now());
        let mut key_input = KeyInput::new(false);
        assert!(key_input.keys(&away).contains("w claim") && key_input.prompt(&away).contains("w claims"));
        assert_eq!(press(&mut key_input, &away, "w"), Some(PlayerAction::Claim(game(), Claim::Win)));
    }

    #[test]
    fn a_square_is_typed_or_pointed_at() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        assert_eq!(press(&mut key_input, &view, "f5"), play("f5"));
        assert_eq!(key_input.press(KeyCode::Left, &view), None);
        assert_eq!(key_input.press(KeyCode::Down, &view), None);
        assert_eq!(key_input.press(KeyCode::Enter, &view), play("e6"));
        assert!(matches!(press(&mut key_input, &view, "a1"), Some(PlayerAction::Note(_))));
    }

    #[test]
    fn d_begins_a_square_and_dd_offers_a_draw() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        assert_eq!(press(&mut key_input, &view, "d3"), play("d3"));
        assert_eq!(press(&mut key_input, &view, "dd"), Some(PlayerAction::Offer(game(), Offer::Draw)));
        assert_eq!(press(&mut key_input, &view, "df5"), play("f5"));
    }

    #[test]
    fn a_typing_error_plays_no_move() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        for typed in ["d9", "e", "d", "9", "z", "i9", "d0d9", "x"] {
            assert_eq!(press(&mut key_input, &view, typed), None, "{typed}");
            let action = key_input.press(KeyCode::Enter, &view);
            assert!(
                matches!(&action, Some(PlayerAction::Note(note)) if note.contains("is no square")),
                "{typed}: {action:?}"
            );
        }
        assert_eq!(
            key_input.press(KeyCode::Enter, &view),
            play("d3"),
            "without typed text the move at the cursor is played"
        );
        assert_eq!(press(&mut key_input, &view, "d9f5"), play("f5"));
    }

    #[test]
    fn the_enter_after_a_typed_move_is_part_of_it() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        assert_eq!(press(&mut key_input, &view, "F5"), play("f5"));
        assert_eq!(key_input.press(KeyCode::Enter, &view), None);
        assert_eq!(key_input.press(KeyCode::Enter, &view), play("f5"));
        press(&mut key_input, &view, "f5");
        key_input.press(KeyCode::Left, &view);
        key_input.press(KeyCode::Down, &view);
        assert_eq!(key_input.press(KeyCode::Enter, &view), play("e6"));
    }

    #[test]
    fn keys_that_lose_the_game_need_confirmation() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        assert_eq!(press(&mut key_input, &view, "r"), None);
        assert_eq!(press(&mut key_input, &view, "x"), None);
        assert_eq!(press(&mut key_input, &view, "rr"), Some(PlayerAction::Resign("game1".parse().unwrap())));
        assert_eq!(press(&mut key_input, &view, "qx"), None);
        assert_eq!(press(&mut key_input, &view, "qq"), Some(PlayerAction::Quit));
    }

    #[test]
    fn an_entrant_is_asked_whether_to_leave_the_tournament() {
        let (mut key_input, view) = (KeyInput::new(true), view());
        assert_eq!(press(&mut key_input, &view, "q"), None);
        assert!(key_input.prompt(&view).starts_with("leave the whole tournament? q again"));
    }

    #[test]
    fn ctrl_c_asks_before_it_ends_a_game() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        for typed in ["", "d", "r", "thello"] {
            press(&mut key_input, &view, typed);
            assert_eq!(key_input.interrupt(&view), None, "{typed}");
            assert!(key_input.prompt(&view).starts_with("leave?"), "{typed}");
            assert_eq!(press(&mut key_input, &view, "x"), None, "{typed}");
        }
        assert_eq!(key_input.interrupt(&view), None);
        assert_eq!(key_input.interrupt(&view), Some(PlayerAction::KeepSeat));
        let over = RoomView::new(Room { game: None, ..view.room().clone() }, None, Instant::now());
        assert_eq!(key_input.interrupt(&over), Some(PlayerAction::Quit), "without a game there is nothing to lose");
    }

    #[test]
    fn chat_takes_all_keys_until_enter() {
        let (mut key_input, view) = (KeyInput::new(false), view());
        press(&mut key_input, &view, "tquit?");
        assert_eq!(key_input.prompt(&view), "say: quit?_");
        assert_eq!(key_input.press(KeyCode::Enter, &view), Some(PlayerAction::Chat("quit?".into())));
        assert_eq!(key_input.prompt(&view), "your move (black): d3 turns over d4");
    }

    #[test]
    fn an_offer_can_be_answered() {
        let (mut key_input, mut view) = (KeyInput::new(false), view());
        assert_eq!(press(&mut key_input, &view, "y"), None);
        let mut event = fixture::next(view.room(), RoomChange::OfferMade(Offer::Draw, Color::White));
        let mut state = fixture::state(view.room());
        state.draw_offered_by = Some(Color::White);
        event.state = Some(Box::new(state));
        view.update(RoomUpdate::Event(Box::new(event)), Instant::now());
        assert_eq!(press(&mut key_input, &view, "y"), Some(PlayerAction::Answer(game(), Offer::Draw, true)));
        assert_eq!(press(&mut key_input, &view, "x"), Some(PlayerAction::Answer(game(), Offer::Draw, false)));
    }
}
