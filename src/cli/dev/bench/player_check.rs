//! Checks what the two streams of a room tell its bots against the game that they play.

use std::sync::Arc;

use v1::play_event::Event;

use super::{
    fixed_game::{Book, Turn},
    prepared_messages,
    violation::{Fault, shows},
};
use crate::{
    proto::{convert, v1},
    rules::{ByColor, Color},
};

/// Games of a series, the most that a room has. Then both bots have to be ready again.
pub(super) const SERIES: u64 = 1_000;

/// Sees all that two bots are told. Between their streams there is no order, within each there is.
#[derive(Debug)]
pub(super) struct Referee {
    book: Arc<Book>,
    room: String,
    /// Whether the room tells one game over and over, as the limit does, which counts none.
    repeats: bool,
    /// The turn of the book that is to be asked, or is open.
    next: usize,
    sides: ByColor<Side>,
}

/// How far one bot has been told.
#[derive(Clone, Debug, Default)]
struct Side {
    game: String,
    running: bool,
    /// The turn of the book that is open, as this bot knows.
    asked: Option<usize>,
    /// Whether the bot has answered it.
    answered: bool,
    /// Moves of this game that were made.
    made: usize,
    finished: u64,
}

/// What an event means for the bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing to be done.
    Nothing,
    /// This turn is to be answered.
    Asked(Turn),
    /// The move is made.
    Played,
    /// The game is over, as one of the two knows.
    Ended,
}

impl Referee {
    pub(super) fn new(book: Arc<Book>, room: String) -> Self {
        let repeats = room == prepared_messages::room().to_string();
        Self { book, room, repeats, next: 0, sides: ByColor::default() }
    }

    /// Judges what one bot was told.
    pub(super) fn hear(&mut self, side: Color, event: Event) -> Result<Heard, Fault> {
        match event {
            Event::TurnRequested(asked) => self.asked(side, &asked),
            Event::TurnClosed(closed) => self.closed(side, &closed),
            Event::GameStarted(started) => self.started(side, started),
            Event::GameEnded(ended) => self.ended(side, &ended),
            Event::MoveRejected(refused) => Err(Fault::Refused { game: refused.game_id, reason: refused.reason }),
            Event::Closing(closing) => Err(Fault::Closed(closing.reason().as_str_name().to_owned())),
            Event::Kicked(_) | Event::RoomClosed(_) => Err(self.out_of_order(side, "its room was taken away")),
            Event::Invited(_) | Event::Heartbeat(_) => Ok(Heard::Nothing),
        }
    }

    /// Notes that the open turn is answered.
    pub(super) fn answer(&mut self, side: Color) {
        self.sides[side].answered = true;
        self.next += 1;
    }

    /// The game that a side plays.
    pub(super) fn game(&self, side: Color) -> &str {
        &self.sides[side].game
    }

    /// Whether every move is acknowledged and the next turn asked.
    pub(super) fn is_settled(&self) -> bool {
        self.book.turns.get(self.next).is_some_and(|turn| {
            self.sides[turn.mover()].asked == Some(self.next) && self.sides[turn.mover().opposite()].asked.is_none()
        })
    }

    /// Whether both know that a series is over.
    pub(super) fn series_is_over(&self) -> bool {
        let [black, white] = Color::ALL.map(|side| &self.sides[side]);
        !black.running && !white.running && black.finished == white.finished && black.finished.is_multiple_of(SERIES)
    }

    fn asked(&mut self, side: Color, asked: &v1::TurnRequested) -> Result<Heard, Fault> {
        let state = &self.sides[side];
        if !state.running || asked.game_id != state.game {
            return Err(self.out_of_order(side, "a turn was asked outside of the game"));
        }
        if state.asked.is_some() {
            return Err(self.out_of_order(side, "a turn was asked, and the one before is not closed"));
        }
        let game = asked.game_id.clone();
        let turn = self.book.turns.get(self.next).copied();
        let turn = turn.ok_or(Fault::Order { game: game.clone(), what: "a turn was asked after the last one" })?;
        if asked.ply != i32::from(turn.ply) {
            return Err(Fault::Ply { game, expected: turn.ply.into(), came: asked.ply });
        }
        if turn.mover() != side || asked.side() != convert::side(side) {
            return Err(self.out_of_order(side, "the wrong side was asked"));
        }
        if !shows(asked.position.as_ref(), turn.position.board()) {
            return Err(Fault::Board { game, ply: asked.ply });
        }
        self.sides[side].asked = Some(self.next);
        Ok(Heard::Asked(turn))
    }

    fn closed(&mut self, side: Color, closed: &v1::TurnClosed) -> Result<Heard, Fault> {
        let state = &self.sides[side];
        let turn = state.asked.filter(|_| state.answered).map(|asked| self.book.turns[asked]);
        let turn = turn.ok_or_else(|| self.out_of_order(side, "a turn was closed that nobody had answered"))?;
        if closed.game_id != state.game || closed.ply != i32::from(turn.ply) {
            let game = closed.game_id.clone();
            return Err(Fault::Ply { game, expected: turn.ply.into(), came: closed.ply });
        }
        if closed.reason() != v1::TurnCloseReason::Played || closed.square.parse() != Ok(turn.square) {
            return Err(self.out_of_order(side, "a turn was closed otherwise than it was answered"));
        }
        let state = &mut self.sides[side];
        (state.asked, state.answered, state.made) = (None, false, state.made + 1);
        Ok(Heard::Played)
    }

    fn started(&mut self, side: Color, started: v1::PlayerGameStarted) -> Result<Heard, Fault> {
        if self.sides[side].running || started.side() != convert::side(side) || !self.is_next(side, &started.game_id) {
            return Err(self.out_of_order(side, "another game was to begin"));
        }
        // Whoever hears of it first.
        if self.next == self.book.turns.len() {
            self.next = 0;
        }
        let state = &mut self.sides[side];
        *state = Side { game: started.game_id, running: true, finished: state.finished, ..Side::default() };
        Ok(Heard::Nothing)
    }

    /// Games of a room are numbered in order.
    fn is_next(&self, side: Color, game: &str) -> bool {
        let number = |game: &str| game.strip_prefix(&self.room)?.strip_prefix('-')?.parse::<u64>().ok();
        let (before, now) = (number(&self.sides[side].game), number(game));
        match before {
            None => now.is_some(),
            Some(before) => now == Some(if self.repeats { before } else { before + 1 }),
        }
    }

    fn ended(&mut self, side: Color, ended: &v1::PlayerGameEnded) -> Result<Heard, Fault> {
        let state = &self.sides[side];
        if !state.running || ended.game_id != state.game {
            return Err(self.out_of_order(side, "another game ended"));
        }
        let over = ended.outcome.is_some_and(|outcome| outcome.reason() == v1::GameEndReason::Discs);
        if state.asked.is_some() || state.made != self.book.moves_of(side) || !over {
            return Err(self.out_of_order(side, "it ended before its last move"));
        }
        if !shows(ended.position.as_ref(), self.book.last.board()) {
            let ply = self.book.turns.last().map_or(0, |turn| i32::from(turn.ply) + 1);
            return Err(Fault::Board { game: ended.game_id.clone(), ply });
        }
        let state = &mut self.sides[side];
        (state.running, state.finished) = (false, state.finished + 1);
        Ok(Heard::Ended)
    }

    fn out_of_order(&self, side: Color, what: &'static str) -> Fault {
        let game = &self.sides[side].game;
        Fault::Order { game: if game.is_empty() { self.room.clone() } else { game.clone() }, what }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::cli::dev::bench::prepared_messages::{Script, Step};

    /// A referee, and the messages of the limit for it.
    fn beginning() -> (Referee, Script) {
        let book = Arc::new(Book::new());
        let script = Script::new(&book).unwrap();
        (Referee::new(book, script.room.clone()), script)
    }

    fn events(step: &Step, side: Color) -> Vec<Event> {
        let read = |bytes: &bytes::Bytes| v1::PlayResponse::decode(bytes.clone()).unwrap();
        step.told[side].iter().map(|bytes| read(bytes).event.unwrap().event.unwrap()).collect()
    }

    /// Tells both sides what a step tells, changed by `change`.
    fn tell(referee: &mut Referee, step: &Step, change: impl Fn(&mut Event)) -> Result<Vec<Heard>, Fault> {
        let mut heard = Vec::new();
        for side in Color::ALL {
            for mut event in events(step, side) {
                change(&mut event);
                heard.push(referee.hear(side, event)?);
            }
        }
        Ok(heard)
    }

    fn answer(referee: &mut Referee) {
        let mover = referee.book.turns[referee.next].mover();
        referee.answer(mover);
    }

    #[test]
    fn one_may_hear_of_the_end_when_the_other_plays_again() {
        let (mut referee, script) = beginning();
        tell(&mut referee, &script.opening, |_| {}).unwrap();
        let (last, steps) = script.steps.split_last().unwrap();
        for step in steps {
            answer(&mut referee);
            tell(&mut referee, step, |_| {}).unwrap();
        }
        answer(&mut referee);
        for side in [Color::Black, Color::White] {
            for step in [last, &script.opening] {
                events(step, side).into_iter().for_each(|event| {
                    referee.hear(side, event).unwrap();
                });
            }
        }
        assert!(referee.is_settled());
    }

    #[test]
    fn the_limit_tells_a_whole_game() {
        let (mut referee, script) = beginning();
        for _ in 0..2 {
            tell(&mut referee, &script.opening, |_| {}).unwrap();
            for step in &script.steps {
                assert!(referee.is_settled());
                answer(&mut referee);
                let heard = tell(&mut referee, step, |_| {}).unwrap();
                assert!(heard.contains(&Heard::Played));
            }
        }
        assert!(!referee.series_is_over() && !referee.is_settled());
    }

    fn refused(change: impl Fn(&mut Event)) -> Fault {
        let (mut referee, script) = beginning();
        tell(&mut referee, &script.opening, |_| {}).unwrap();
        answer(&mut referee);
        tell(&mut referee, &script.steps[0], change).unwrap_err()
    }

    #[test]
    fn a_wrong_board_is_seen_by_its_bits_and_as_text() {
        let bits = refused(|event| {
            if let Event::TurnRequested(asked) = event {
                asked.position.as_mut().unwrap().black ^= 1 << 63;
            }
        });
        let text = refused(|event| {
            if let Event::TurnRequested(asked) = event {
                asked.position.as_mut().unwrap().board.replace_range(0..1, "X");
            }
        });
        assert!(matches!(bits, Fault::Board { ply: 1, .. }), "{bits}");
        assert_eq!(bits, text);
    }

    #[test]
    fn a_move_that_is_left_out_or_changed_is_seen() {
        let later = refused(|event| {
            if let Event::TurnRequested(asked) = event {
                asked.ply += 1;
            }
        });
        assert!(matches!(later, Fault::Ply { expected: 1, came: 2, .. }), "{later}");
        let other = refused(|event| {
            if let Event::TurnClosed(closed) = event {
                closed.square = "a1".into();
            }
        });
        assert!(matches!(other, Fault::Order { .. }), "{other}");
    }

    #[test]
    fn what_was_not_answered_is_not_closed() {
        let (mut referee, script) = beginning();
        tell(&mut referee, &script.opening, |_| {}).unwrap();
        assert!(tell(&mut referee, &script.steps[0], |_| {}).is_err());
    }

    #[test]
    fn a_turn_that_is_never_closed_is_seen_at_the_next_one() {
        let (mut referee, script) = beginning();
        tell(&mut referee, &script.opening, |_| {}).unwrap();
        let mut seen = false;
        for step in &script.steps[..3] {
            answer(&mut referee);
            let told = Color::ALL.map(|side| (side, events(step, side)));
            let told = told.into_iter().flat_map(|(side, events)| events.into_iter().map(move |event| (side, event)));
            let mut told = told.filter(|(_, event)| !matches!(event, Event::TurnClosed(_)));
            seen |= told.any(|(side, event)| referee.hear(side, event).is_err());
        }
        assert!(seen);
    }
}
