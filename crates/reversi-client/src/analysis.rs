//! What the server's engine thinks of positions and games.

use std::time::Duration;

use super::{ClientError, GameId, Incoming, Malformed, Session, parse, settings::wire_count};
use crate::{
    rules::{ByColor, Color, Position, Square, Transcript},
    v1::{self, analyze_game_request::Subject as OfGame, analyze_position_request::Subject as OfPosition},
};

/// What is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisSubject {
    /// A position; of a game, there is no such subject.
    Position(Position),
    /// The moves of a game, or the position behind them.
    Transcript(Transcript),
    /// A finished game; of a position, the game that runs in a room that is not rated.
    Game(GameId),
}

/// How far to look; what is left out only the server bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnalysisBudget {
    /// Plies, 1 to 60.
    pub depth: Option<u8>,
    /// Altogether.
    pub time: Option<Duration>,
    /// Positions visited, for each that is analysed.
    pub nodes: Option<u64>,
}

impl From<AnalysisBudget> for v1::AnalysisBudget {
    fn from(budget: AnalysisBudget) -> Self {
        Self {
            depth: budget.depth.unwrap_or_default().into(),
            time: budget.time.map(parse::to_wire),
            nodes: budget.nodes.unwrap_or_default(),
        }
    }
}

/// A move, what it is worth, and what is expected to follow it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysisLine {
    /// By how many discs black is expected to be ahead at the end.
    pub evaluation: f64,
    /// Plies looked ahead; 0 for a glance.
    pub depth: u8,
    /// Proved by a search to the end.
    pub exact: bool,
    /// How many of a hundred cuts by probability are right.
    pub certainty: u8,
    /// The moves, passes left out; empty where the game is over.
    pub moves: Vec<Square>,
}

impl TryFrom<v1::AnalysisLine> for AnalysisLine {
    type Error = Malformed;

    fn try_from(line: v1::AnalysisLine) -> Result<Self, Malformed> {
        let small = |value: i32, what| u8::try_from(value).map_err(|_| Malformed::new(what, value));
        Ok(Self {
            evaluation: line.evaluation,
            depth: small(line.depth, "depth")?,
            exact: line.exact,
            certainty: small(line.certainty, "certainty")?,
            moves: line.moves.iter().map(|name| parse::square(name, "expected move")).collect::<Result<_, _>>()?,
        })
    }
}

/// What is known of a position so far.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionAnalysis {
    /// Best first for the side to move.
    pub lines: Vec<AnalysisLine>,
    /// Positions visited.
    pub nodes: u64,
    /// Nothing comes behind it.
    pub is_final: bool,
}

impl PositionAnalysis {
    /// `None` for a sign of life.
    pub(super) fn parse(response: v1::AnalyzePositionResponse) -> Result<Option<Self>, Malformed> {
        use v1::analyze_position_response::Message;
        let Some(Message::Analysis(analysis)) = response.message else { return Ok(None) };
        Ok(Some(Self { lines: parse::all(analysis.lines)?, nodes: analysis.nodes, is_final: analysis.r#final }))
    }
}

/// One move of a game, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveAnalysis {
    /// Counted from 0, passes too.
    pub ply: u32,
    /// Whose it was.
    pub side: Color,
    /// Where.
    pub square: Square,
    /// What the engine would have played.
    pub best: AnalysisLine,
    /// What the move is worth, for black.
    pub evaluation: f64,
    /// How many discs it gave away.
    pub loss: f64,
    /// Both evaluations are proved.
    pub exact: bool,
    /// Positions visited.
    pub nodes: u64,
}

/// What comes of a game.
#[derive(Clone, Debug, PartialEq)]
pub enum GameAnalysis {
    /// The next move.
    Move {
        /// Judged.
        judged: Box<MoveAnalysis>,
        /// How many have been, this one among them.
        done: u32,
        /// Of how many.
        moves: u32,
    },
    /// What each side gave away altogether; comes last.
    Summary(ByColor<f64>),
}

impl GameAnalysis {
    /// `None` for a sign of life.
    pub(super) fn parse(response: v1::AnalyzeGameResponse) -> Result<Option<Self>, Malformed> {
        use v1::analyze_game_response::Message;
        Ok(Some(match response.message {
            Some(Message::Move(judged)) => Self::Move {
                done: parse::count(judged.done, "moves done")?,
                moves: parse::count(judged.moves, "moves")?,
                judged: Box::new(judged.try_into()?),
            },
            Some(Message::Summary(sum)) => Self::Summary(ByColor::new(sum.black_loss, sum.white_loss)),
            _ => return Ok(None),
        }))
    }
}

impl TryFrom<v1::MoveAnalysis> for MoveAnalysis {
    type Error = Malformed;

    fn try_from(judged: v1::MoveAnalysis) -> Result<Self, Malformed> {
        Ok(Self {
            ply: parse::count(judged.ply, "ply")?,
            side: parse::side(judged.side, "side of a move")?,
            square: parse::square(&judged.square, "move")?,
            best: parse::required(judged.best, "best move")?.try_into()?,
            evaluation: judged.evaluation,
            loss: judged.loss,
            exact: judged.exact,
            nodes: judged.nodes,
        })
    }
}

/// Dropping the stream that a call answers with stops the search.
impl Session {
    /// The best moves of a position, deeper and deeper; at most `lines` of them.
    ///
    /// # Errors
    /// `WRONG_PHASE` for one who plays a rated game, `GAME_OVER`, `QUOTA_ANALYSES`, and a broken connection.
    pub async fn analyze_position(
        &self,
        subject: AnalysisSubject,
        budget: AnalysisBudget,
        lines: u32,
    ) -> Result<Incoming<PositionAnalysis>, ClientError> {
        let subject = match subject {
            AnalysisSubject::Position(position) => OfPosition::Position(to_wire(position)),
            AnalysisSubject::Transcript(moves) => OfPosition::Transcript(moves.to_string()),
            AnalysisSubject::Game(game) => OfPosition::GameId(game.to_string()),
        };
        let request = v1::AnalyzePositionRequest {
            subject: Some(subject),
            budget: Some(budget.into()),
            lines: wire_count(lines),
        };
        let results = self.analyses().analyze_position(request).await?.into_inner();
        Ok(Incoming::new(results, PositionAnalysis::parse))
    }

    /// What each move of a game lost.
    ///
    /// # Errors
    /// As [`Session::analyze_position`], and `GAME_NOT_FOUND`; a position is no game.
    pub async fn analyze_game(
        &self,
        subject: AnalysisSubject,
        budget: AnalysisBudget,
    ) -> Result<Incoming<GameAnalysis>, ClientError> {
        let subject = match subject {
            AnalysisSubject::Position(_) => return Err(Malformed::new("subject", "a position is no game").into()),
            AnalysisSubject::Transcript(moves) => OfGame::Transcript(moves.to_string()),
            AnalysisSubject::Game(game) => OfGame::GameId(game.to_string()),
        };
        let request = v1::AnalyzeGameRequest { subject: Some(subject), budget: Some(budget.into()) };
        let results = self.analyses().analyze_game(request).await?.into_inner();
        Ok(Incoming::new(results, GameAnalysis::parse))
    }
}

fn to_wire(position: Position) -> v1::Position {
    let side = match position.turn() {
        Color::Black => v1::Side::Black,
        Color::White => v1::Side::White,
    };
    v1::Position { board: position.board().to_string(), side_to_move: side.into(), ..Default::default() }
}
