//! Checks the events of a watcher by replaying the moves.

use reversi::{
    proto::v1,
    rules::{Position, Square},
};
use v1::room_event::Event;

use crate::violation::{Violation, shows};

/// The state of a room, built from its events.
#[derive(Debug, Default)]
pub(crate) struct WatcherCheck {
    /// The number of the last event.
    pub(crate) seq: u64,
    game: Option<CheckedGame>,
}

#[derive(Debug)]
struct CheckedGame {
    id: String,
    position: Position,
    ply: i32,
}

impl WatcherCheck {
    /// Continues from a snapshot.
    pub(crate) fn start_at(&mut self, room: &v1::Room) -> Result<(), Violation> {
        self.seq = room.seq;
        self.game = room.game.as_ref().map(CheckedGame::of).transpose()?;
        Ok(())
    }

    /// Applies the next event. Returns the ply if it is a move.
    pub(crate) fn step(&mut self, event: &v1::RoomEvent) -> Result<Option<i32>, Violation> {
        if event.seq != self.seq + 1 {
            return Err(Violation::Gap { expected: self.seq + 1, came: event.seq });
        }
        self.seq = event.seq;
        match &event.event {
            Some(Event::GameStarted(started)) => {
                let game = started.game.as_ref().ok_or(Violation::Unreadable("a game without a game"))?;
                self.game = Some(CheckedGame::of(game)?);
                Ok(None)
            }
            Some(Event::MovePlayed(played)) => {
                let game = self.game(&played.game_id)?;
                let ply = game.apply(played.ply.as_ref())?;
                // The message has the position after a forced pass.
                game.compare(ply, played.position.as_ref(), game.position.after_forced_pass().0)?;
                Ok(Some(ply))
            }
            Some(Event::TurnPassed(passed)) => {
                let game = self.game(&passed.game_id)?;
                let ply = game.apply(passed.ply.as_ref())?;
                game.compare(ply, passed.position.as_ref(), game.position)?;
                Ok(None)
            }
            Some(Event::GameEnded(ended)) => {
                let game = self.game(&ended.game_id)?;
                let over = ended.outcome.is_some_and(|outcome| outcome.reason() == v1::GameEndReason::Discs);
                if over && game.position.is_over() {
                    return Ok(None);
                }
                Err(Violation::Order { game: ended.game_id.clone(), what: "it ended before its last move" })
            }
            _ => Ok(None),
        }
    }

    fn game(&mut self, id: &str) -> Result<&mut CheckedGame, Violation> {
        let unknown = || Violation::Order { game: id.to_owned(), what: "an event of a game that does not run" };
        self.game.as_mut().filter(|game| game.id == id).ok_or_else(unknown)
    }
}

impl CheckedGame {
    fn of(game: &v1::Game) -> Result<Self, Violation> {
        let mut checked = Self { id: game.game_id.clone(), position: Position::START, ply: 0 };
        for ply in &game.plies {
            checked.apply(Some(ply))?;
        }
        checked.compare(checked.ply, game.position.as_ref(), checked.position)?;
        Ok(checked)
    }

    /// Plays a ply and returns its number.
    fn apply(&mut self, ply: Option<&v1::Ply>) -> Result<i32, Violation> {
        let ply = ply.ok_or(Violation::Unreadable("a move without a ply"))?;
        if ply.ply != self.ply {
            return Err(Violation::Ply { game: self.id.clone(), expected: self.ply, came: ply.ply });
        }
        let square = || ply.square.parse::<Square>().ok();
        let after = if ply.pass { self.position.pass() } else { square().and_then(|it| self.position.play(it).ok()) };
        let illegal = || Violation::Order { game: self.id.clone(), what: "an illegal move was sent" };
        self.position = after.ok_or_else(illegal)?;
        self.ply += 1;
        Ok(ply.ply)
    }

    fn compare(&self, ply: i32, wire: Option<&v1::Position>, expected: Position) -> Result<(), Violation> {
        if shows(wire, expected.board()) { Ok(()) } else { Err(Violation::Board { game: self.id.clone(), ply }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixed_game::FixedGame, prepared_messages::PreparedMessages};

    /// All events of the game, from event 1.
    fn all_events() -> Vec<v1::RoomEvent> {
        let prepared = PreparedMessages::new(&FixedGame::new()).unwrap();
        let steps = std::iter::once(&prepared.opening).chain(&prepared.steps);
        let events = steps.flat_map(|step| &step.events);
        (1..).zip(events).map(|(seq, event)| event.read(seq)).collect()
    }

    fn check_all(events: &[v1::RoomEvent]) -> Result<usize, Violation> {
        let mut check = WatcherCheck::default();
        let moves: Result<Vec<_>, _> = events.iter().map(|event| check.step(event)).collect();
        Ok(moves?.into_iter().flatten().count())
    }

    #[test]
    fn a_whole_game_is_followed() {
        assert_eq!(check_all(&all_events()), Ok(FixedGame::new().turns.len()));
    }

    #[test]
    fn a_gap_is_detected() {
        let mut events = all_events();
        events.remove(10);
        assert!(matches!(check_all(&events), Err(Violation::Gap { .. })));
    }

    #[test]
    fn a_lost_move_is_detected_even_if_the_numbers_have_no_gap() {
        let mut events = all_events();
        events.remove(10);
        (1..).zip(&mut events).for_each(|(seq, event)| event.seq = seq);
        assert!(matches!(check_all(&events), Err(Violation::Ply { .. })));
    }

    #[test]
    fn a_wrong_board_is_detected() {
        let mut events = all_events();
        let played = events.iter_mut().rev().find_map(|event| match &mut event.event {
            Some(Event::MovePlayed(played)) => Some(played),
            _ => None,
        });
        played.unwrap().position.as_mut().unwrap().white ^= 1;
        assert!(matches!(check_all(&events), Err(Violation::Board { .. })));
    }
}
