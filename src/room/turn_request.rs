//! What the side to move is asked: a player by a message, an AI by a search.

use std::time::Duration;

use super::{
    game::Game,
    ids::GameId,
    seat::{AiSeat, Occupant},
    settings::TimeControl,
    state::Room,
    timestamp::Timestamp,
};
use crate::rules::{ByColor, Position, Square};

/// The clocks of a running game at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Left on the total clocks; none where the room has none.
    pub totals: ByColor<Option<Duration>>,
    /// What the side to move may still spend on this move.
    pub left: Duration,
    /// When its flag falls.
    pub deadline: Timestamp,
}

/// A question to the player whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnRequest {
    /// Which game.
    pub game: GameId,
    /// Which ply; goes into the answer.
    pub ply: u16,
    /// Where it stands; the side to move can move.
    pub position: Position,
    /// The last disc placed.
    pub last_move: Option<Square>,
    /// The time.
    pub clocks: Clocks,
}

/// An AI seat's turn to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiTurn {
    /// Which game of the room.
    pub game: u32,
    /// Which ply.
    pub ply: u16,
    /// Where it stands.
    pub position: Position,
    /// Who is to think.
    pub ai: AiSeat,
    /// Not to be asked before this.
    pub begins: Timestamp,
    /// How much of its time it should use at most, when all moves are to have as much.
    pub budget: Duration,
    /// The most that the rules give for this move.
    pub limit: Duration,
    /// What is left on its total clock, if there is one, before this move.
    pub left: Option<Duration>,
    /// What that grows by with the move.
    pub increment: Duration,
}

impl Game {
    /// The clocks at a moment, while the game runs.
    #[must_use]
    pub fn clocks_at(&self, now: Timestamp, time: &TimeControl) -> Option<Clocks> {
        let turn = self.turn()?;
        let deadline = self.flag_falls(time)?;
        let mut totals = self.clocks;
        totals[turn] = totals[turn].map(|left| left.saturating_sub(now.since(self.turn_began)));
        Some(Clocks { totals, left: deadline.since(now.max(self.turn_began)), deadline })
    }
}

impl Room {
    /// The question to the side to move, while a game runs.
    #[must_use]
    pub fn turn_request(&self, now: Timestamp) -> Option<TurnRequest> {
        let game = self.running()?;
        Some(TurnRequest {
            game: GameId { room: self.id, number: game.number },
            ply: game.ply(),
            position: game.position,
            last_move: game.last_move(),
            clocks: game.clocks_at(now, &self.settings.time)?,
        })
    }

    /// Whether an AI is to move, and with what time.
    #[must_use]
    pub fn ai_turn(&self) -> Option<AiTurn> {
        let game = self.running()?;
        let side = game.turn()?;
        let Occupant::Ai(ai) = &self.seats[side].occupant else {
            return None;
        };
        let limit = self.settings.time.limit(game.clocks[side]);
        // A total clock must last for the side's share of the empties that are left.
        let moves_left = u32::from(game.position.board().empties().count()).div_ceil(2) + 1;
        let share = game.clocks[side].map(|left| left / moves_left + self.settings.time.increment);
        Some(AiTurn {
            game: game.number,
            ply: game.ply(),
            position: game.position,
            ai: ai.clone(),
            begins: game.turn_began,
            budget: share.map_or(limit, |share| share.min(limit)),
            limit,
            left: game.clocks[side],
            increment: self.settings.time.increment,
        })
    }
}
