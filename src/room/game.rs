//! One game in a room: position, record, clocks and end.

use std::time::Duration;

use super::{settings::TimeControl, thought::Thought, timestamp::Timestamp};
use crate::rules::{ByColor, Color, Outcome, Position, Square};

/// A ply of the record. Even plies are black's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// Where the disc was placed; none for a pass.
    pub square: Option<Square>,
    /// Thinking time in milliseconds.
    pub spent_ms: u32,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// Neither side could move.
    Discs,
    /// The loser gave up.
    Resignation,
    /// The loser's clock fell.
    Timeout,
    /// The loser left the room.
    Left,
    /// The loser was removed, or forfeited by illegal moves.
    Kicked,
    /// A draw agreed by both.
    Agreed,
    /// Ended without a winner by one who may.
    Aborted,
    /// The server could not go on with it.
    Server,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::Discs,
        Self::Resignation,
        Self::Timeout,
        Self::Left,
        Self::Kicked,
        Self::Agreed,
        Self::Aborted,
        Self::Server,
    ];

    /// The word for it in tables and figures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Discs => "discs",
            Self::Resignation => "resignation",
            Self::Timeout => "timeout",
            Self::Left => "left",
            Self::Kicked => "kicked",
            Self::Agreed => "agreed",
            Self::Aborted => "aborted",
            Self::Server => "server",
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// None for a draw and for an aborted game.
    pub winner: Option<Color>,
    /// Why.
    pub reason: EndReason,
}

impl GameEnd {
    /// The end of a game that was played out.
    pub(super) fn by_discs(outcome: Outcome) -> Self {
        Self { winner: outcome.winner, reason: EndReason::Discs }
    }

    pub(super) fn lost_by(loser: Color, reason: EndReason) -> Self {
        Self { winner: Some(loser.opposite()), reason }
    }

    pub(super) fn without_winner(reason: EndReason) -> Self {
        Self { winner: None, reason }
    }

    /// Whether it counts as a result.
    #[must_use]
    pub fn counts(&self) -> bool {
        !matches!(self.reason, EndReason::Aborted | EndReason::Server)
    }

    /// Whether the pairing can go on to the next game of its series.
    pub(super) fn continues_series(&self) -> bool {
        self.counts() && !matches!(self.reason, EndReason::Left | EndReason::Kicked)
    }
}

/// A running game, or the room's last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// 1 for the room's first.
    pub number: u32,
    /// When it began.
    pub started: Timestamp,
    /// Where it stands. The side to move can move, unless the game is over.
    pub position: Position,
    /// Every ply from the standard start.
    pub plies: Vec<Ply>,
    /// How many of them the opening made.
    pub opening: u16,
    /// Left on the total clocks when the present turn began.
    pub clocks: ByColor<Option<Duration>>,
    /// When the side to move was asked; may lie ahead by the pause before an AI's move.
    pub turn_began: Timestamp,
    /// Illegal moves in this turn, counted for bots.
    pub strikes: u8,
    /// Who offers a draw.
    pub draw_offer: Option<Color>,
    /// What AIs thought, by ply and in its order.
    pub thoughts: Vec<(u16, Thought)>,
    /// How it ended.
    pub end: Option<GameEnd>,
}

impl Game {
    /// Longest possible record: 60 moves and the passes between them.
    pub(super) const CAPACITY: usize = 64;

    pub(super) fn start(number: u32, at: Timestamp, time: &TimeControl, opening: &[Square]) -> Self {
        let mut game = Self {
            number,
            started: at,
            position: Position::START,
            plies: Vec::with_capacity(Self::CAPACITY),
            opening: 0,
            clocks: ByColor::new(time.total, time.total),
            turn_began: at,
            strikes: 0,
            draw_offer: None,
            thoughts: Vec::new(),
            end: None,
        };
        for &square in opening {
            game.place(square, 0);
            if game.position.must_pass() {
                game.pass();
            }
        }
        game.opening = game.ply();
        game
    }

    /// Plies made so far: the number of the ply that is asked for.
    #[must_use]
    pub fn ply(&self) -> u16 {
        u16::try_from(self.plies.len()).unwrap_or(u16::MAX)
    }

    /// The side to move, while the game runs.
    #[must_use]
    pub fn turn(&self) -> Option<Color> {
        self.end.is_none().then_some(self.position.turn())
    }

    /// The last disc placed.
    #[must_use]
    pub fn last_move(&self) -> Option<Square> {
        self.plies.iter().rev().find_map(|ply| ply.square)
    }

    /// What an AI thought at a ply.
    #[must_use]
    pub fn thought(&self, ply: u16) -> Option<&Thought> {
        let at = self.thoughts.binary_search_by_key(&ply, |&(ply, _)| ply).ok()?;
        Some(&self.thoughts[at].1)
    }

    /// The squares in order, without the passes.
    pub fn squares(&self) -> impl Iterator<Item = Square> {
        self.plies.iter().filter_map(|ply| ply.square)
    }

    /// When the flag of the side to move falls.
    pub(super) fn flag_falls(&self, time: &TimeControl) -> Option<Timestamp> {
        let turn = self.turn()?;
        Some(self.turn_began.after(time.limit(self.clocks[turn])))
    }

    /// Whether both sides have made a move of their own.
    pub(super) fn both_have_moved(&self) -> bool {
        let own = self.plies.get(usize::from(self.opening)..).unwrap_or(&[]);
        let moved = |parity| {
            own.iter()
                .enumerate()
                .any(|(index, ply)| (index + usize::from(self.opening)) % 2 == parity && ply.square.is_some())
        };
        moved(0) && moved(1)
    }

    pub(super) fn place(&mut self, square: Square, spent_ms: u32) {
        self.position = self.position.play_unchecked(square);
        self.plies.push(Ply { square: Some(square), spent_ms });
        self.strikes = 0;
    }

    pub(super) fn pass(&mut self) {
        self.position = self.position.pass_unchecked();
        self.plies.push(Ply { square: None, spent_ms: 0 });
    }
}
