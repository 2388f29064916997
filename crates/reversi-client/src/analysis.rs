//! Analysis of positions and games by the server's engine.

use std::time::Duration;

use super::{
    ClientError, GameId, Incoming, Malformed, Session, event::StreamMessage, parse, settings::wire_count,
    stream::HEARTBEAT,
};
use crate::{
    rules::{ByColor, Color, Position, Square, Transcript},
    v1::{self, analyze_game_request::Subject as OfGame, analyze_position_request::Subject as OfPosition},
};

/// The subject of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisSubject {
    /// A position; not for [`Session::analyze_game`].
    Position(Position),
    /// The moves of a game, or the position after them.
    Transcript(Transcript),
    /// A finished game; for [`Session::analyze_position`] also a running game that is not rated.
    Game(GameId),
}

/// The bounds of an analysis; `None` for the server's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnalysisBudget {
    /// Plies, 1 to 60.
    pub depth: Option<u8>,
    /// The time of the whole analysis.
    pub time: Option<Duration>,
    /// Positions visited per analysed position.
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

/// A move, its evaluation, and the moves expected after it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysisLine {
    /// Black's expected discs minus white's at the end.
    pub evaluation: f64,
    /// Search depth in plies; 0 for a static evaluation.
    pub depth: u8,
    /// Whether it is proved by a search to the end.
    pub exact: bool,
    /// The nominal share of correct ProbCut cuts, in percent.
    pub certainty: u8,
    /// The moves without passes; empty if the game is over.
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
            moves: parse::squares(&line.moves, "expected move")?,
        })
    }
}

/// The result so far of the analysis of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionAnalysis {
    /// From the best to the worst for the side to move.
    pub lines: Vec<AnalysisLine>,
    /// Positions visited.
    pub nodes: u64,
    /// Whether this is the final result.
    pub is_final: bool,
}

impl PositionAnalysis {
    /// `None` for a heartbeat.
    pub(super) fn parse(response: v1::AnalyzePositionResponse) -> Result<Option<Self>, Malformed> {
        use v1::analyze_position_response::Message;
        let Some(Message::Analysis(analysis)) = response.message else { return Ok(None) };
        Ok(Some(Self { lines: parse::all(analysis.lines)?, nodes: analysis.nodes, is_final: analysis.r#final }))
    }
}

/// The evaluation of one move of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveAnalysis {
    /// From 0, counting passes.
    pub ply: u32,
    /// The side that moved.
    pub side: Color,
    /// The square.
    pub square: Square,
    /// The engine's best line.
    pub best: AnalysisLine,
    /// The move's evaluation for black.
    pub evaluation: f64,
    /// The loss against the best line, in discs.
    pub loss: f64,
    /// Whether both evaluations are proved.
    pub exact: bool,
    /// Positions visited.
    pub nodes: u64,
}

/// A message of the analysis of a game.
#[derive(Clone, Debug, PartialEq)]
pub enum GameAnalysis {
    /// The evaluation of the next move.
    Move {
        /// The evaluation.
        judged: Box<MoveAnalysis>,
        /// The number of moves evaluated, including this one.
        done: u32,
        /// The number of moves of the game.
        moves: u32,
    },
    /// Each side's total loss in discs; the last message.
    Summary(ByColor<f64>),
}

impl GameAnalysis {
    /// `None` for a heartbeat.
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

impl StreamMessage for PositionAnalysis {}

impl StreamMessage for GameAnalysis {}

/// Dropping the returned stream stops the search.
impl Session {
    /// The best moves of a position, at most `lines`, at increasing depth. Refused with `WRONG_PHASE` while the caller
    /// plays a rated game, `GAME_OVER` and `QUOTA_ANALYSES`.
    pub async fn analyze_position(
        &self,
        subject: AnalysisSubject,
        budget: AnalysisBudget,
        lines: u32,
    ) -> Result<Incoming<PositionAnalysis>, ClientError> {
        let subject = match subject {
            AnalysisSubject::Position(position) => OfPosition::Position(position_to_wire(position)),
            AnalysisSubject::Transcript(moves) => OfPosition::Transcript(moves.to_string()),
            AnalysisSubject::Game(game) => OfPosition::GameId(game.to_string()),
        };
        let request = v1::AnalyzePositionRequest {
            subject: Some(subject),
            budget: Some(budget.into()),
            lines: wire_count(lines),
        };
        let results = self.analyses().analyze_position(request).await?;
        Ok(Incoming::with_heartbeats(results, HEARTBEAT, PositionAnalysis::parse))
    }

    /// The loss of each move of a game; a position is [`Malformed`]. Refused as in [`Session::analyze_position`], and
    /// with `GAME_NOT_FOUND`.
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
        let results = self.analyses().analyze_game(request).await?;
        Ok(Incoming::with_heartbeats(results, HEARTBEAT, GameAnalysis::parse))
    }
}

pub(super) fn position_to_wire(position: Position) -> v1::Position {
    let side = match position.turn() {
        Color::Black => v1::Side::Black,
        Color::White => v1::Side::White,
    };
    v1::Position { board: position.board().to_string(), side_to_move: side.into(), ..Default::default() }
}
