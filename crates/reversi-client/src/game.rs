//! A game of a room.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use super::{EndReason, GameId, Malformed, parse};
use crate::{
    rules::{Bitboard, Board, ByColor, Color, Position, Square},
    v1,
};

/// The current position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The discs.
    pub board: Board,
    /// The side to move; `None` once the game is over.
    pub turn: Option<Color>,
    /// The legal moves.
    pub legal: Bitboard,
}

impl From<Position> for Standing {
    fn from(position: Position) -> Self {
        let turn = (!position.is_over()).then(|| position.turn());
        Self { board: position.board(), turn, legal: position.legal_moves() }
    }
}

/// Fails if the bitboards, the text and the legal moves disagree.
impl TryFrom<v1::Position> for Standing {
    type Error = Malformed;

    fn try_from(position: v1::Position) -> Result<Self, Malformed> {
        let board = Board::new(Bitboard(position.black), Bitboard(position.white))
            .map_err(|error| Malformed::new("position", error))?;
        if !position.board.is_empty() && position.board.parse() != Ok(board) {
            return Err(Malformed::new("position", "its text and its bitboards differ"));
        }
        let turn = parse::maybe_side(position.side_to_move, "side to move")?;
        let legal: Bitboard = parse::squares(&position.legal_moves, "legal move")?;
        let possible = turn.map_or(Bitboard::EMPTY, |turn| board.legal_moves(turn));
        if !(legal & !possible).is_empty() {
            return Err(Malformed::new("legal moves", "one of them is illegal"));
        }
        Ok(Self { board, turn, legal })
    }
}

/// The clocks at the time of sending; `None` without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// The time left on each side's total clock.
    pub total: ByColor<Option<Duration>>,
    /// The time left for this move.
    pub time_left: Option<Duration>,
    /// The end of `time_left`, by the server's clock.
    pub deadline: Option<SystemTime>,
}

impl TryFrom<v1::Clocks> for Clocks {
    type Error = Malformed;

    fn try_from(clocks: v1::Clocks) -> Result<Self, Malformed> {
        Ok(Self {
            total: ByColor::new(
                parse::maybe_duration(clocks.black_total, "black's clock")?,
                parse::maybe_duration(clocks.white_total, "white's clock")?,
            ),
            time_left: parse::maybe_duration(clocks.time_left, "time left")?,
            deadline: parse::maybe_time(clocks.deadline, "deadline")?,
        })
    }
}

/// One ply of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// From 0 at the standard start; even plies are black's.
    pub ply: u32,
    /// The side that moved.
    pub side: Color,
    /// The square; `None` for a pass.
    pub square: Option<Square>,
    /// The time spent, by the server's clock.
    pub spent: Duration,
    /// Whether it is part of the room's opening.
    pub opening: bool,
}

impl TryFrom<v1::Ply> for Ply {
    type Error = Malformed;

    fn try_from(ply: v1::Ply) -> Result<Self, Malformed> {
        let square = if ply.pass { None } else { Some(parse::square(&ply.square, "move")?) };
        Ok(Self {
            ply: parse::count(ply.ply, "ply")?,
            side: parse::side(ply.side, "side of a ply")?,
            square,
            spent: parse::maybe_duration(ply.spent, "time spent")?.unwrap_or_default(),
            opening: ply.opening,
        })
    }
}

/// The winner of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// A win of this side.
    Won(Color),
    /// A draw.
    Draw,
    /// No result; the game does not count.
    Aborted,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Discs => "by discs",
            Self::Resignation => "by resignation",
            Self::Timeout => "on time",
            Self::Left => "the other side left",
            Self::Kicked => "by forfeit",
            Self::Agreed => "agreed",
            Self::Aborted => "aborted",
            Self::Server => "ended by the server",
            Self::AbortedByBlack => "by black",
            Self::AbortedByWhite => "by white",
            Self::AbortedByOwner => "by the owner of the room",
            Self::AbortedByAdmin => "by an administrator",
            Self::TakenBack => "to take a move back",
            Self::Unspecified => "for another reason",
        })
    }
}

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The winner.
    pub result: GameResult,
    /// The reason of the end.
    pub reason: EndReason,
    /// The discs of the last position.
    pub discs: ByColor<u8>,
    /// The official score, with empty squares counted for the winner; zeros unless the game was played to its end, or
    /// its players agreed on a score.
    pub score: ByColor<u8>,
}

impl Outcome {
    /// The discs or the score of both sides, such as `39-25`, with the winner's first; black's without a winner.
    #[must_use]
    pub fn winner_first(&self, points: ByColor<u8>) -> String {
        let first = if let GameResult::Won(side) = self.result { side } else { Color::Black };
        format!("{}-{}", points[first], points[first.opposite()])
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (discs, reason) = (self.winner_first(self.discs), self.reason);
        match (self.result, reason) {
            (GameResult::Won(side), EndReason::Discs) => write!(f, "{side} wins {discs}"),
            (GameResult::Won(side), EndReason::Agreed) if self.score != ByColor::default() => {
                write!(f, "{side} wins {} ({reason}), {discs} on the board", self.winner_first(self.score))
            }
            (GameResult::Won(side), _) => write!(f, "{side} wins ({reason}), {discs} on the board"),
            (GameResult::Draw, EndReason::Discs) => write!(f, "a draw, {discs}"),
            (GameResult::Draw, _) => write!(f, "a draw ({reason}), {discs} on the board"),
            (GameResult::Aborted, EndReason::TakenBack) => {
                f.write_str("a move was taken back, and the next game goes on")
            }
            (GameResult::Aborted, EndReason::Aborted) => f.write_str("aborted, nobody wins"),
            (GameResult::Aborted, EndReason::Server) => write!(f, "aborted ({reason}), nobody wins"),
            (GameResult::Aborted, _) => write!(f, "aborted {reason}, nobody wins"),
        }
    }
}

impl TryFrom<v1::Outcome> for Outcome {
    type Error = Malformed;

    fn try_from(outcome: v1::Outcome) -> Result<Self, Malformed> {
        use v1::GameResult as Wire;
        let result = match outcome.result() {
            Wire::BlackWins => GameResult::Won(Color::Black),
            Wire::WhiteWins => GameResult::Won(Color::White),
            Wire::Draw => GameResult::Draw,
            Wire::Aborted => GameResult::Aborted,
            Wire::Unspecified => return Err(Malformed::new("result", outcome.result)),
        };
        let pair = |black, white, what| Ok(ByColor::new(parse::discs(black, what)?, parse::discs(white, what)?));
        Ok(Self {
            result,
            reason: outcome.reason(),
            discs: pair(outcome.black_discs, outcome.white_discs, "discs")?,
            score: pair(outcome.black_score, outcome.white_score, "score")?,
        })
    }
}

/// An offer between the players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// To end the running game as a draw.
    Draw,
    /// To play again.
    Rematch,
    /// To take back the last move of the side that offers it, in an unrated game.
    TakeBack,
}

impl Offer {
    pub(super) fn parse(offer: v1::Offer) -> Result<Self, Malformed> {
        match offer {
            v1::Offer::Draw => Ok(Self::Draw),
            v1::Offer::Rematch => Ok(Self::Rematch),
            v1::Offer::TakeBack => Ok(Self::TakeBack),
            v1::Offer::Unspecified => Err(Malformed::new("offer", "unspecified")),
        }
    }
}

impl From<Offer> for v1::Offer {
    fn from(offer: Offer) -> Self {
        match offer {
            Offer::Draw => Self::Draw,
            Offer::Rematch => Self::Rematch,
            Offer::TakeBack => Self::TakeBack,
        }
    }
}

/// A game of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The id, unique on the server.
    pub id: GameId,
    /// From 1 in each room.
    pub number: u32,
    /// The number of plies made, which is the index of the next.
    pub ply: u32,
    /// The current position.
    pub standing: Standing,
    /// The clocks when this was sent.
    pub clocks: Clocks,
    /// Every ply from the standard start.
    pub plies: Vec<Ply>,
    /// `None` while the game runs.
    pub outcome: Option<Outcome>,
    /// The side that has offered a draw.
    pub draw_offered_by: Option<Color>,
    /// The side that has offered to take its last move back.
    pub take_back_offered_by: Option<Color>,
}

impl Game {
    /// The open offer of a side; a draw first, if it has made two.
    #[must_use]
    pub fn offer_of(&self, side: Color) -> Option<Offer> {
        let open = [(self.draw_offered_by, Offer::Draw), (self.take_back_offered_by, Offer::TakeBack)];
        open.into_iter().find_map(|(by, offer)| (by == Some(side)).then_some(offer))
    }

    /// The square of the last move, ignoring passes.
    #[must_use]
    pub fn last_move(&self) -> Option<Square> {
        self.plies.iter().rev().find_map(|ply| ply.square)
    }
}

impl TryFrom<v1::Game> for Game {
    type Error = Malformed;

    fn try_from(game: v1::Game) -> Result<Self, Malformed> {
        Ok(Self {
            id: GameId::parse(game.game_id)?,
            number: parse::count(game.number, "number of the game")?,
            ply: parse::count(game.ply, "ply")?,
            standing: parse::required(game.position, "position")?.try_into()?,
            clocks: game.clocks.unwrap_or_default().try_into()?,
            plies: parse::all(game.plies)?,
            outcome: game.outcome.map(Outcome::try_from).transpose()?,
            draw_offered_by: parse::maybe_side(game.draw_offered_by, "draw offer")?,
            take_back_offered_by: parse::maybe_side(game.take_back_offered_by, "offer to take back")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> v1::Position {
        let board = Board::START;
        v1::Position {
            board: board.to_string(),
            black: board.discs(Color::Black).0,
            white: board.discs(Color::White).0,
            side_to_move: v1::Side::Black.into(),
            legal_moves: ["d3", "c4", "f5", "e6"].map(str::to_owned).to_vec(),
            black_discs: 2,
            white_discs: 2,
            flips: Vec::new(),
        }
    }

    #[test]
    fn a_position_is_read_from_its_message() {
        assert_eq!(Standing::try_from(start()), Ok(Standing::from(Position::START)));
    }

    #[test]
    fn a_position_that_contradicts_itself_is_malformed() {
        let overlap = v1::Position { white: u64::MAX, ..start() };
        let other_text = v1::Position { board: "-".repeat(64), ..start() };
        let illegal = v1::Position { legal_moves: vec!["a1".into()], ..start() };
        let no_square = v1::Position { legal_moves: vec!["z9".into()], ..start() };
        let no_side = v1::Position { side_to_move: 7, ..start() };
        for position in [overlap, other_text, illegal, no_square, no_side] {
            assert!(Standing::try_from(position).is_err());
        }
    }

    #[test]
    fn outcomes_are_written_as_sentences() {
        let outcome =
            |result, reason| Outcome { result, reason, discs: ByColor::new(40, 24), score: ByColor::default() };
        assert_eq!(outcome(GameResult::Won(Color::Black), EndReason::Discs).to_string(), "black wins 40-24");
        assert_eq!(
            outcome(GameResult::Won(Color::White), EndReason::Timeout).to_string(),
            "white wins (on time), 24-40 on the board"
        );
        assert_eq!(outcome(GameResult::Aborted, EndReason::Aborted).to_string(), "aborted, nobody wins");
    }
}
