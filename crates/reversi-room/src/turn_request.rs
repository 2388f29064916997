//! Requests for a move: to a player, and to an AI seat.

use std::time::Duration;

use reversi_engine::rules::{ByColor, Position, Square};

use super::{
    game::Game,
    ids::GameId,
    seat::{AiSeat, Occupant},
    state::Room,
    time_control::TimeControl,
    timestamp::Timestamp,
};

/// The clocks of a running game at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Remaining total time of each side; `None` without a total clock.
    pub totals: ByColor<Option<Duration>>,
    /// Remaining time of the side to move for this move.
    pub left: Duration,
    /// When the side to move runs out of time.
    pub deadline: Timestamp,
}

/// A request for a move, for the player whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnRequest {
    /// The game.
    pub game: GameId,
    /// The ply to be played, repeated in the answer.
    pub ply: u16,
    /// The position; the side to move has a legal move.
    pub position: Position,
    /// The last disc placed.
    pub last_move: Option<Square>,
    /// The clocks when the request was made.
    pub clocks: Clocks,
    /// True if the player may have been asked for this move before.
    pub is_repeat: bool,
}

/// An AI seat's turn to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiTurn {
    /// Number of the game in its room.
    pub game: u32,
    /// The ply to be played.
    pub ply: u16,
    /// The position.
    pub position: Position,
    /// The AI that is to move.
    pub ai: AiSeat,
    /// When its clock starts: `ai_pause` after the previous ply.
    pub begins: Timestamp,
    /// Time for this move if the rest of the total time is shared evenly among the moves left.
    pub budget: Duration,
    /// Maximum time for this move.
    pub limit: Duration,
    /// Remaining total time before this move; `None` without a total clock.
    pub left: Option<Duration>,
    /// Added to the total time after the move.
    pub increment: Duration,
}

impl Game {
    /// The clocks at a given time, while the game runs.
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
    /// The request for the side to move, while a game runs.
    #[must_use]
    pub fn turn_request(&self, now: Timestamp) -> Option<TurnRequest> {
        let game = self.running()?;
        Some(TurnRequest {
            game: GameId { room: self.id, number: game.number },
            ply: game.ply(),
            position: game.position,
            last_move: game.last_move(),
            clocks: game.clocks_at(now, &self.settings.time)?,
            is_repeat: false,
        })
    }

    /// The turn of an AI seat, if an AI is to move.
    #[must_use]
    pub fn ai_turn(&self) -> Option<AiTurn> {
        let game = self.running()?;
        let side = game.turn()?;
        let Occupant::Ai(ai) = &self.seats[side].occupant else {
            return None;
        };
        let mut ai = ai.clone();
        if self.settings.rated {
            // Nobody can have tried this game before, with a seed of the owner's choice.
            ai.seed ^= game.started.0.cast_unsigned();
        }
        let limit = self.settings.time.limit(game.clocks[side]);
        // The total time must last for the side's share of the remaining empty squares.
        let moves_left = u32::from(game.position.board().empties().count()).div_ceil(2) + 1;
        let share = game.clocks[side].map(|left| left / moves_left + self.settings.time.increment);
        Some(AiTurn {
            game: game.number,
            ply: game.ply(),
            position: game.position,
            ai,
            begins: game.turn_began,
            budget: share.map_or(limit, |share| share.min(limit)),
            limit,
            left: game.clocks[side],
            increment: self.settings.time.increment,
        })
    }
}
