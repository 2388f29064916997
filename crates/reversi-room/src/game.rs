//! One game of a room: position, record, clocks and end.

use std::time::Duration;

use reversi_engine::rules::{Bitboard, ByColor, Color, Outcome, Position, Square};

use super::{seat::Occupant, thought::Thought, time_control::TimeControl, timestamp::Timestamp};

/// A ply of the record. Even plies are black's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The square; `None` for a pass.
    pub square: Option<Square>,
    /// Time taken, in milliseconds.
    pub spent_ms: u32,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// Neither side could move.
    Discs,
    /// The loser resigned.
    Resignation,
    /// The loser ran out of time.
    Timeout,
    /// The loser left the room; or a player had gone, and the other claimed the win or a draw.
    Left,
    /// The loser was removed from the room, or forfeited by illegal moves.
    Kicked,
    /// Both agreed to a draw.
    Agreed,
    /// Aborted, without a result: all have left a game of AIs, or an earlier version did not note by whom.
    Aborted,
    /// A server error, without a result.
    Server,
    /// Aborted by the player of black.
    AbortedByBlack,
    /// Aborted by the player of white.
    AbortedByWhite,
    /// Aborted by the owner of the room, who did not play.
    AbortedByOwner,
    /// Aborted by an administrator.
    AbortedByAdmin,
    /// A move was taken back: the next game of the room goes on from before it.
    TakenBack,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 13] = [
        Self::Discs,
        Self::Resignation,
        Self::Timeout,
        Self::Left,
        Self::Kicked,
        Self::Agreed,
        Self::Aborted,
        Self::Server,
        Self::AbortedByBlack,
        Self::AbortedByWhite,
        Self::AbortedByOwner,
        Self::AbortedByAdmin,
        Self::TakenBack,
    ];

    /// The abort of a game by the player of a side.
    #[must_use]
    pub fn aborted_by(side: Color) -> Self {
        match side {
            Color::Black => Self::AbortedByBlack,
            Color::White => Self::AbortedByWhite,
        }
    }

    /// Whether a game that ends so counts as a result.
    #[must_use]
    pub fn counts(self) -> bool {
        match self {
            Self::Discs | Self::Resignation | Self::Timeout | Self::Left | Self::Kicked | Self::Agreed => true,
            Self::Aborted
            | Self::Server
            | Self::AbortedByBlack
            | Self::AbortedByWhite
            | Self::AbortedByOwner
            | Self::AbortedByAdmin
            | Self::TakenBack => false,
        }
    }

    /// Its name in exports, tables and metrics.
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
            Self::AbortedByBlack => "aborted_by_black",
            Self::AbortedByWhite => "aborted_by_white",
            Self::AbortedByOwner => "aborted_by_owner",
            Self::AbortedByAdmin => "aborted_by_admin",
            Self::TakenBack => "taken_back",
        }
    }
}

/// The end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// `None` for a draw and for a game without a result.
    pub winner: Option<Color>,
    /// The reason.
    pub reason: EndReason,
}

impl GameEnd {
    /// The end of a game in which neither side can move.
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
        self.reason.counts()
    }

    /// Whether the next game of the series may follow.
    pub(super) fn continues_series(&self) -> bool {
        self.counts() && !matches!(self.reason, EndReason::Left | EndReason::Kicked)
    }
}

/// A running or finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Number in the room, from 1.
    pub number: u32,
    /// Who plays it: a player or an AI on each side. Others may sit in the room's seats once it is over.
    pub players: ByColor<Occupant>,
    /// When it started.
    pub started: Timestamp,
    /// The current position. The side to move can move, unless the game is over or the event of its pass is next.
    pub position: Position,
    /// Every ply from the standard start.
    pub plies: Vec<Ply>,
    /// Number of plies made by the opening.
    pub opening: u16,
    /// Those of them that the settings gave. The players have made the others, in a game of which a move was taken back.
    pub given: u16,
    /// Discs flipped by the last ply; empty for a pass.
    pub flipped: Bitboard,
    /// Total time left when the current turn began; `None` without a total clock.
    pub clocks: ByColor<Option<Duration>>,
    /// When the current turn began; in the future during the pause before an AI's move.
    pub turn_began: Timestamp,
    /// Illegal moves of a bot in this turn.
    pub strikes: u8,
    /// The side that has offered a draw.
    pub draw_offer: Option<Color>,
    /// The ply at which the last offer of a draw by each side was declined, withdrawn or answered by a move.
    pub draw_closed_at: ByColor<Option<u16>>,
    /// The side that asks to take its last move back.
    pub take_back_offer: Option<Color>,
    /// The ply at which the last such offer was declined, withdrawn or answered by a move.
    pub take_back_closed_at: Option<u16>,
    /// Search reports of AI seats with their plies, in ascending order.
    pub thoughts: Vec<(u16, Thought)>,
    /// `None` while it runs.
    pub end: Option<GameEnd>,
}

impl Game {
    /// Number of plies from the end of one offer of a draw to the next of the same side.
    pub const PLIES_BETWEEN_OFFERS: u16 = 10;

    /// Room for nearly every record: 60 moves and a few passes.
    pub(super) const CAPACITY: usize = 64;

    pub(super) fn start(
        number: u32,
        players: ByColor<Occupant>,
        at: Timestamp,
        time: &TimeControl,
        opening: &[Square],
    ) -> Self {
        let mut game = Self {
            number,
            players,
            started: at,
            position: Position::START,
            plies: Vec::with_capacity(Self::CAPACITY),
            opening: 0,
            given: 0,
            flipped: Bitboard::EMPTY,
            clocks: ByColor::new(time.total, time.total),
            turn_began: at,
            strikes: 0,
            draw_offer: None,
            draw_closed_at: ByColor::new(None, None),
            take_back_offer: None,
            take_back_closed_at: None,
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
        game.given = game.opening;
        game
    }

    /// Number of plies made, which is the number of the next ply.
    #[must_use]
    pub fn ply(&self) -> u16 {
        u16::try_from(self.plies.len()).unwrap_or(u16::MAX)
    }

    /// The side to move, while the game runs.
    #[must_use]
    pub fn turn(&self) -> Option<Color> {
        self.end.is_none().then_some(self.position.turn())
    }

    /// The last move that was not a pass.
    #[must_use]
    pub fn last_move(&self) -> Option<Square> {
        self.plies.iter().rev().find_map(|ply| ply.square)
    }

    /// The search report of an AI for a ply.
    #[must_use]
    pub fn thought(&self, ply: u16) -> Option<&Thought> {
        let at = self.thoughts.binary_search_by_key(&ply, |&(ply, _)| ply).ok()?;
        Some(&self.thoughts[at].1)
    }

    /// The moves in order, without passes.
    pub fn squares(&self) -> impl Iterator<Item = Square> {
        self.plies.iter().filter_map(|ply| ply.square)
    }

    /// The ply at which a side may offer a draw again; 0 if it has offered none.
    pub(super) fn next_draw_offer(&self, by: Color) -> u16 {
        self.draw_closed_at[by].map_or(0, |last| last.saturating_add(Self::PLIES_BETWEEN_OFFERS))
    }

    /// Begins with moves of a game of which later ones were taken back.
    pub(super) fn continues(&mut self, before: &Self) {
        self.given = before.given.min(self.opening);
        self.draw_closed_at = before.draw_closed_at;
    }

    /// The moves before the last one of a side; `None` if it has made none.
    pub(super) fn before_last_move(&self, of: Color) -> Option<Vec<Square>> {
        let is_own = |index: usize, ply: &Ply| index % 2 == usize::from(of == Color::White) && ply.square.is_some();
        let last = (self.given.into()..self.plies.len()).rev().find(|index| is_own(*index, &self.plies[*index]))?;
        Some(self.plies[..last].iter().filter_map(|ply| ply.square).collect())
    }

    /// When the side to move runs out of time.
    pub(super) fn flag_falls(&self, time: &TimeControl) -> Option<Timestamp> {
        let turn = self.turn()?;
        Some(self.turn_began.after(time.limit(self.clocks[turn])))
    }

    /// Whether both sides have made a move, beside those that the settings gave.
    pub(super) fn both_have_moved(&self) -> bool {
        let own = || self.plies.iter().enumerate().skip(self.given.into());
        [0, 1].iter().all(|parity| own().any(|(index, ply)| index % 2 == *parity && ply.square.is_some()))
    }

    pub(super) fn place(&mut self, square: Square, spent_ms: u32) {
        self.advance(self.position.play_unchecked(square), Ply { square: Some(square), spent_ms });
        self.strikes = 0;
    }

    pub(super) fn pass(&mut self) {
        self.advance(self.position.pass_unchecked(), Ply { square: None, spent_ms: 0 });
    }

    fn advance(&mut self, next: Position, ply: Ply) {
        self.flipped = flipped(self.position, next);
        self.position = next;
        self.plies.push(ply);
    }
}

/// The discs that a ply from `before` to `after` flipped.
pub(super) fn flipped(before: Position, after: Position) -> Bitboard {
    let mover = before.turn();
    before.board().discs(mover.opposite()) & after.board().discs(mover)
}
