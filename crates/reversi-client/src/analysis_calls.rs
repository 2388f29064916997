//! The calls about analyses. Dropping what they answer stops the search.

use super::{
    AnalysisBudget, AnalysisSubject, ClientError, GameAnalysis, Incoming, Malformed, PositionAnalysis, Session,
    settings::wire_count,
};
use crate::{
    rules::{Color, Position},
    v1::{self, analyze_game_request::Subject as OfGame, analyze_position_request::Subject as OfPosition},
};

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
        Ok(Incoming::new(results, PositionAnalysis::read))
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
        Ok(Incoming::new(results, GameAnalysis::read))
    }
}

fn to_wire(position: Position) -> v1::Position {
    let side = match position.turn() {
        Color::Black => v1::Side::Black,
        Color::White => v1::Side::White,
    };
    v1::Position { board: position.board().to_string(), side_to_move: side.into(), ..Default::default() }
}
