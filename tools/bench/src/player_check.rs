//! Checks the events of a room's two bots against the fixed game.

use std::sync::Arc;

use reversi::{
    proto::{convert::WireEnum as _, v1},
    rules::{ByColor, Color},
};
use v1::play_event::Event;

use crate::{
    fixed_game::{FixedGame, FixedTurn},
    prepared_messages,
    violation::{Violation, shows},
};

/// Games of a series, the maximum of a room. Then both bots must be ready again.
pub(crate) const SERIES: u64 = 1_000;

/// Checks all events of two bots. They are ordered within each stream, not between the two.
#[derive(Debug)]
pub(crate) struct PlayerCheck {
    fixed_game: Arc<FixedGame>,
    room: String,
    /// Whether game ids repeat, as those of the baseline server do.
    repeats: bool,
    /// The turn of the fixed game that is next or open.
    next: usize,
    sides: ByColor<BotState>,
}

/// The state of one bot, by its events.
#[derive(Clone, Debug, Default)]
struct BotState {
    game: String,
    running: bool,
    /// The open turn of the fixed game, by this bot's events.
    asked: Option<usize>,
    /// Whether the bot has answered it.
    answered: bool,
    /// Number of this bot's moves in this game.
    made: usize,
    /// Number of finished games.
    finished: u64,
}

/// What an event means for the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BotSignal {
    Nothing,
    /// The bot must answer this turn.
    Asked(FixedTurn),
    /// The move is made.
    Played,
    /// One bot has received the end of the game.
    Ended,
}

impl PlayerCheck {
    pub(crate) fn new(fixed_game: Arc<FixedGame>, room: String) -> Self {
        let repeats = room == prepared_messages::room().to_string();
        Self { fixed_game, room, repeats, next: 0, sides: ByColor::default() }
    }

    pub(crate) fn receive(&mut self, side: Color, event: Event) -> Result<BotSignal, Violation> {
        match event {
            Event::TurnRequested(asked) => self.on_turn_requested(side, &asked),
            Event::TurnClosed(closed) => self.on_turn_closed(side, &closed),
            Event::GameStarted(started) => self.on_game_started(side, started),
            Event::GameEnded(ended) => self.on_game_ended(side, &ended),
            Event::MoveRejected(refused) => Err(Violation::Refused { game: refused.game_id, reason: refused.reason }),
            Event::Closing(closing) => Err(Violation::Closed(closing.reason().as_str_name().to_owned())),
            Event::Kicked(_) | Event::RoomClosed(_) => Err(self.out_of_order(side, "its room was taken away")),
            Event::Offer(_) | Event::SeriesEnded(_) => {
                Err(self.out_of_order(side, "no offer was made and no series ran"))
            }
            Event::RatingChanged(_)
            | Event::Invited(_)
            | Event::InvitationEnded(_)
            | Event::Tournament(_)
            | Event::Heartbeat(_) => Ok(BotSignal::Nothing),
        }
    }

    /// Notes that the open turn is answered.
    pub(crate) fn answer(&mut self, side: Color) {
        self.sides[side].answered = true;
        self.next += 1;
    }

    /// The id of the game that `side` plays.
    pub(crate) fn game(&self, side: Color) -> &str {
        &self.sides[side].game
    }

    /// Whether every move is acknowledged and the next turn requested.
    pub(crate) fn is_quiescent(&self) -> bool {
        self.fixed_game.turns.get(self.next).is_some_and(|turn| {
            self.sides[turn.mover()].asked == Some(self.next) && self.sides[turn.mover().opposite()].asked.is_none()
        })
    }

    /// Whether both have received the end of a series.
    pub(crate) fn series_is_over(&self) -> bool {
        let [black, white] = Color::ALL.map(|side| &self.sides[side]);
        !black.running && !white.running && black.finished == white.finished && black.finished.is_multiple_of(SERIES)
    }

    fn on_turn_requested(&mut self, side: Color, asked: &v1::TurnRequested) -> Result<BotSignal, Violation> {
        let state = &self.sides[side];
        if !state.running || asked.game_id != state.game {
            return Err(self.out_of_order(side, "a turn was requested outside of the game"));
        }
        if state.asked.is_some() {
            return Err(self.out_of_order(side, "a turn was requested before the last one was closed"));
        }
        let game = asked.game_id.clone();
        let turn = self.fixed_game.turns.get(self.next).copied();
        let turn =
            turn.ok_or(Violation::Order { game: game.clone(), what: "a turn was requested after the last one" })?;
        if asked.ply != i32::from(turn.ply) {
            return Err(Violation::Ply { game, expected: turn.ply.into(), came: asked.ply });
        }
        if turn.mover() != side || asked.side() != side.wire() {
            return Err(self.out_of_order(side, "a turn was requested of the wrong side"));
        }
        if !shows(asked.position.as_ref(), turn.position.board()) {
            return Err(Violation::Board { game, ply: asked.ply });
        }
        self.sides[side].asked = Some(self.next);
        Ok(BotSignal::Asked(turn))
    }

    fn on_turn_closed(&mut self, side: Color, closed: &v1::TurnClosed) -> Result<BotSignal, Violation> {
        let state = &self.sides[side];
        let turn = state.asked.filter(|_| state.answered).map(|asked| self.fixed_game.turns[asked]);
        let turn = turn.ok_or_else(|| self.out_of_order(side, "a turn was closed before it was answered"))?;
        if closed.game_id != state.game || closed.ply != i32::from(turn.ply) {
            let game = closed.game_id.clone();
            return Err(Violation::Ply { game, expected: turn.ply.into(), came: closed.ply });
        }
        if closed.reason() != v1::TurnCloseReason::Played || closed.square.parse() != Ok(turn.square) {
            return Err(self.out_of_order(side, "a turn was closed otherwise than it was answered"));
        }
        let state = &mut self.sides[side];
        (state.asked, state.answered, state.made) = (None, false, state.made + 1);
        Ok(BotSignal::Played)
    }

    fn on_game_started(&mut self, side: Color, started: v1::PlayerGameStarted) -> Result<BotSignal, Violation> {
        if self.sides[side].running || started.side() != side.wire() || !self.is_next(side, &started.game_id) {
            return Err(self.out_of_order(side, "another game was to begin"));
        }
        // The first of the two events.
        if self.next == self.fixed_game.turns.len() {
            self.next = 0;
        }
        let state = &mut self.sides[side];
        *state = BotState { game: started.game_id, running: true, finished: state.finished, ..BotState::default() };
        Ok(BotSignal::Nothing)
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

    fn on_game_ended(&mut self, side: Color, ended: &v1::PlayerGameEnded) -> Result<BotSignal, Violation> {
        let state = &self.sides[side];
        if !state.running || ended.game_id != state.game {
            return Err(self.out_of_order(side, "another game ended"));
        }
        let over = ended.outcome.is_some_and(|outcome| outcome.reason() == v1::GameEndReason::Discs);
        if state.asked.is_some() || state.made != self.fixed_game.moves_of(side) || !over {
            return Err(self.out_of_order(side, "it ended before its last move"));
        }
        if !shows(ended.position.as_ref(), self.fixed_game.last.board()) {
            let ply = self.fixed_game.turns.last().map_or(0, |turn| i32::from(turn.ply) + 1);
            return Err(Violation::Board { game: ended.game_id.clone(), ply });
        }
        let state = &mut self.sides[side];
        (state.running, state.finished) = (false, state.finished + 1);
        Ok(BotSignal::Ended)
    }

    fn out_of_order(&self, side: Color, what: &'static str) -> Violation {
        let game = &self.sides[side].game;
        Violation::Order { game: if game.is_empty() { self.room.clone() } else { game.clone() }, what }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::prepared_messages::{PreparedMessages, PreparedStep};

    /// A check, and the messages of the baseline server for it.
    fn beginning() -> (PlayerCheck, PreparedMessages) {
        let fixed_game = Arc::new(FixedGame::new());
        let prepared = PreparedMessages::new(&fixed_game).unwrap();
        (PlayerCheck::new(fixed_game, prepared.room.clone()), prepared)
    }

    fn events(step: &PreparedStep, side: Color) -> Vec<Event> {
        let read = |bytes: &bytes::Bytes| v1::PlayResponse::decode(bytes.clone()).unwrap();
        step.to_bots[side].iter().map(|bytes| read(bytes).event.unwrap().event.unwrap()).collect()
    }

    /// Sends both sides the messages of a step, changed by `change`.
    fn send(
        check: &mut PlayerCheck,
        step: &PreparedStep,
        change: impl Fn(&mut Event),
    ) -> Result<Vec<BotSignal>, Violation> {
        let mut signal = Vec::new();
        for side in Color::ALL {
            for mut event in events(step, side) {
                change(&mut event);
                signal.push(check.receive(side, event)?);
            }
        }
        Ok(signal)
    }

    fn answer(check: &mut PlayerCheck) {
        let mover = check.fixed_game.turns[check.next].mover();
        check.answer(mover);
    }

    #[test]
    fn a_player_may_receive_the_end_after_the_other_got_the_next_game() {
        let (mut check, prepared) = beginning();
        send(&mut check, &prepared.opening, |_| {}).unwrap();
        let (last, steps) = prepared.steps.split_last().unwrap();
        for step in steps {
            answer(&mut check);
            send(&mut check, step, |_| {}).unwrap();
        }
        answer(&mut check);
        for side in [Color::Black, Color::White] {
            for step in [last, &prepared.opening] {
                events(step, side).into_iter().for_each(|event| {
                    check.receive(side, event).unwrap();
                });
            }
        }
        assert!(check.is_quiescent());
    }

    #[test]
    fn the_baseline_server_sends_a_whole_game() {
        let (mut check, prepared) = beginning();
        for _ in 0..2 {
            send(&mut check, &prepared.opening, |_| {}).unwrap();
            for step in &prepared.steps {
                assert!(check.is_quiescent());
                answer(&mut check);
                let signal = send(&mut check, step, |_| {}).unwrap();
                assert!(signal.contains(&BotSignal::Played));
            }
        }
        assert!(!check.series_is_over() && !check.is_quiescent());
    }

    fn refused(change: impl Fn(&mut Event)) -> Violation {
        let (mut check, prepared) = beginning();
        send(&mut check, &prepared.opening, |_| {}).unwrap();
        answer(&mut check);
        send(&mut check, &prepared.steps[0], change).unwrap_err()
    }

    #[test]
    fn a_wrong_board_is_detected_in_bits_and_in_text() {
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
        assert!(matches!(bits, Violation::Board { ply: 1, .. }), "{bits}");
        assert_eq!(bits, text);
    }

    #[test]
    fn an_omitted_or_changed_move_is_detected() {
        let later = refused(|event| {
            if let Event::TurnRequested(asked) = event {
                asked.ply += 1;
            }
        });
        assert!(matches!(later, Violation::Ply { expected: 1, came: 2, .. }), "{later}");
        let other = refused(|event| {
            if let Event::TurnClosed(closed) = event {
                closed.square = "a1".into();
            }
        });
        assert!(matches!(other, Violation::Order { .. }), "{other}");
    }

    #[test]
    fn an_unanswered_turn_is_not_closed() {
        let (mut check, prepared) = beginning();
        send(&mut check, &prepared.opening, |_| {}).unwrap();
        assert!(send(&mut check, &prepared.steps[0], |_| {}).is_err());
    }

    #[test]
    fn a_turn_that_is_never_closed_is_detected_at_the_next_one() {
        let (mut check, prepared) = beginning();
        send(&mut check, &prepared.opening, |_| {}).unwrap();
        let mut seen = false;
        for step in &prepared.steps[..3] {
            answer(&mut check);
            let sent = Color::ALL.map(|side| (side, events(step, side)));
            let sent = sent.into_iter().flat_map(|(side, events)| events.into_iter().map(move |event| (side, event)));
            let mut sent = sent.filter(|(_, event)| !matches!(event, Event::TurnClosed(_)));
            seen |= sent.any(|(side, event)| check.receive(side, event).is_err());
        }
        assert!(seen);
    }
}
