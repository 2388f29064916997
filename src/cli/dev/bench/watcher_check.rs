//! Checks what a watcher is told by playing it.

use v1::room_event::Event;

use super::violation::{Fault, shows};
use crate::{
    proto::v1,
    rules::{Position, Square},
};

/// A room as its events make it.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// The last event.
    pub(super) seq: u64,
    game: Option<Course>,
}

/// A game that runs.
#[derive(Debug)]
struct Course {
    id: String,
    position: Position,
    ply: i32,
}

impl Replay {
    /// Begins at a snapshot.
    pub(super) fn begin(&mut self, room: &v1::Room) -> Result<(), Fault> {
        self.seq = room.seq;
        self.game = room.game.as_ref().map(Course::of).transpose()?;
        Ok(())
    }

    /// Takes the next event. Gives the ply of a move.
    pub(super) fn step(&mut self, event: &v1::RoomEvent) -> Result<Option<i32>, Fault> {
        if event.seq != self.seq + 1 {
            return Err(Fault::Gap { expected: self.seq + 1, came: event.seq });
        }
        self.seq = event.seq;
        match &event.event {
            Some(Event::GameStarted(started)) => {
                let game = started.game.as_ref().ok_or(Fault::Unreadable("a game without a game"))?;
                self.game = Some(Course::of(game)?);
                Ok(None)
            }
            Some(Event::MovePlayed(played)) => {
                let course = self.course(&played.game_id)?;
                let ply = course.take(played.ply.as_ref())?;
                // Told as it is after a pass that the move forces.
                course.compare(ply, played.position.as_ref(), course.position.settle().0)?;
                Ok(Some(ply))
            }
            Some(Event::TurnPassed(passed)) => {
                let course = self.course(&passed.game_id)?;
                let ply = course.take(passed.ply.as_ref())?;
                course.compare(ply, passed.position.as_ref(), course.position)?;
                Ok(None)
            }
            Some(Event::GameEnded(ended)) => {
                let course = self.course(&ended.game_id)?;
                let over = ended.outcome.is_some_and(|outcome| outcome.reason() == v1::GameEndReason::Discs);
                let what = "it ended before its last move";
                let early = Fault::Order { game: ended.game_id.clone(), what };
                if over && course.position.is_over() { Ok(None) } else { Err(early) }
            }
            _ => Ok(None),
        }
    }

    fn course(&mut self, game: &str) -> Result<&mut Course, Fault> {
        let what = "something was told of a game that does not run";
        let unknown = Fault::Order { game: game.to_owned(), what };
        self.game.as_mut().filter(|course| course.id == game).ok_or(unknown)
    }
}

impl Course {
    fn of(game: &v1::Game) -> Result<Self, Fault> {
        let mut course = Self { id: game.game_id.clone(), position: Position::START, ply: 0 };
        for ply in &game.plies {
            course.take(Some(ply))?;
        }
        course.compare(course.ply, game.position.as_ref(), course.position)?;
        Ok(course)
    }

    /// Makes a ply, and gives its number.
    fn take(&mut self, ply: Option<&v1::Ply>) -> Result<i32, Fault> {
        let ply = ply.ok_or(Fault::Unreadable("a move without a ply"))?;
        if ply.ply != self.ply {
            return Err(Fault::Ply { game: self.id.clone(), expected: self.ply, came: ply.ply });
        }
        let square = || ply.square.parse::<Square>().ok();
        let after = if ply.pass { self.position.pass() } else { square().and_then(|it| self.position.play(it).ok()) };
        let illegal = || Fault::Order { game: self.id.clone(), what: "an illegal move was told" };
        self.position = after.ok_or_else(illegal)?;
        self.ply += 1;
        Ok(ply.ply)
    }

    fn compare(&self, ply: i32, wire: Option<&v1::Position>, expected: Position) -> Result<(), Fault> {
        if shows(wire, expected.board()) { Ok(()) } else { Err(Fault::Board { game: self.id.clone(), ply }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::dev::bench::{fixed_game::Book, prepared_messages::Script};

    /// All that is told of the game, from event 1.
    fn told() -> Vec<v1::RoomEvent> {
        let script = Script::new(&Book::new()).unwrap();
        let steps = std::iter::once(&script.opening).chain(&script.steps);
        let events = steps.flat_map(|step| &step.events);
        (1..).zip(events).map(|(seq, event)| event.read(seq)).collect()
    }

    fn follow(events: &[v1::RoomEvent]) -> Result<usize, Fault> {
        let mut replay = Replay::default();
        let moves: Result<Vec<_>, _> = events.iter().map(|event| replay.step(event)).collect();
        Ok(moves?.into_iter().flatten().count())
    }

    #[test]
    fn a_whole_game_is_followed() {
        assert_eq!(follow(&told()), Ok(Book::new().turns.len()));
    }

    #[test]
    fn a_gap_is_seen() {
        let mut events = told();
        events.remove(10);
        assert!(matches!(follow(&events), Err(Fault::Gap { .. })));
    }

    #[test]
    fn a_lost_move_is_seen_also_where_the_numbers_have_no_gap() {
        let mut events = told();
        events.remove(10);
        (1..).zip(&mut events).for_each(|(seq, event)| event.seq = seq);
        assert!(matches!(follow(&events), Err(Fault::Ply { .. })));
    }

    #[test]
    fn a_wrong_board_is_seen() {
        let mut events = told();
        let played = events.iter_mut().rev().find_map(|event| match &mut event.event {
            Some(Event::MovePlayed(played)) => Some(played),
            _ => None,
        });
        played.unwrap().position.as_mut().unwrap().white ^= 1;
        assert!(matches!(follow(&events), Err(Fault::Board { .. })));
    }
}
