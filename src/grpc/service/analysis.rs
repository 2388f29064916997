//! Engine analysis of positions and games.

use std::time::Duration;

use tonic::{Request, Status};

use super::{
    Services,
    streaming::{End, HeartbeatSchedule, ResponseStream, Source, stream_of},
};
use crate::{
    ai::analysis::{Effort, GameMoves, JudgedMove, Line, MAX_DEPTH, PlayedMove, PositionAnalysis},
    grpc::{
        layer::{
            caller::{Reply, caller, game_id},
            request_id,
        },
        status,
    },
    proto::{
        EncodedMessage,
        convert::{self, Budget, Malformed, WireEnum as _},
        generated_services::analysis_service_server::AnalysisService,
        v1,
    },
    room::Rejection,
    rules::{ByColor, Position, Square},
    runtime::{Analysis, AnalysisEnd, AnalysisPlan, Limits, Player, RequestCost},
};

/// Default positions visited for each position of a game: a fraction of a second, and deeper than humans search.
const USUAL_GAME_NODES: u64 = 1_000_000;

#[tonic::async_trait]
impl AnalysisService for Services {
    type AnalyzePositionStream = ResponseStream<v1::AnalyzePositionResponse>;

    async fn analyze_position(
        &self,
        request: Request<v1::AnalyzePositionRequest>,
    ) -> Reply<Self::AnalyzePositionStream> {
        let (player, schedule) = (caller(&request)?, HeartbeatSchedule::of(&request));
        let wire = request.into_inner();
        let limits = self.runtime.limits();
        let budget = convert::read_budget(wire.budget)?;
        let plan = plan(budget, player.analysis_time(limits.analysis_time), u64::MAX, &limits);
        let lines = convert::read_lines(wire.lines, limits.analysis_lines)?;
        self.pay(&player, 1).await?;
        let position = self.position(&player, wire.subject).await?.after_forced_pass().0;
        if position.is_over() {
            return Err(status::refused(Rejection::GameOver));
        }
        let analysis = self.runtime.analyses.position(&player, position, plan, lines).await?;
        let results = PositionResults { analysis, call: request_id::current() };
        Ok(ResponseStream::new(self.runtime.clock(), schedule, stream_of(results)))
    }

    type AnalyzeGameStream = ResponseStream<v1::AnalyzeGameResponse>;

    async fn analyze_game(&self, request: Request<v1::AnalyzeGameRequest>) -> Reply<Self::AnalyzeGameStream> {
        let (player, schedule) = (caller(&request)?, HeartbeatSchedule::of(&request));
        let wire = request.into_inner();
        let limits = self.runtime.limits();
        let budget = convert::read_budget(wire.budget)?;
        let plan = plan(budget, player.analysis_time(limits.game_analysis_time), USUAL_GAME_NODES, &limits);
        let game_moves = self.game_moves(&player, wire.subject).await?;
        self.pay(&player, game_moves.positions().len()).await?;
        let moves = game_moves.moves.len();
        let analysis = self.runtime.analyses.game(&player, game_moves, plan).await?;
        let call = request_id::current();
        let results = GameResults { analysis, call, moves, done: 0, losses: ByColor::default(), summed: false };
        Ok(ResponseStream::new(self.runtime.clock(), schedule, stream_of(results)))
    }
}

impl Services {
    async fn pay(&self, player: &Player, positions: usize) -> Result<(), Status> {
        let seats = self.runtime.rooms.seats_of(player).await?.len();
        Ok(player.charge(RequestCost::Analysis { positions, seats })?)
    }

    async fn position(
        &self,
        player: &Player,
        subject: Option<v1::analyze_position_request::Subject>,
    ) -> Result<Position, Status> {
        use v1::analyze_position_request::Subject;
        match subject {
            Some(Subject::Position(position)) => Ok(convert::read_board(&position)?),
            Some(Subject::Transcript(text)) => Ok(convert::read_transcript(&text)?.position()),
            Some(Subject::GameId(id)) => Ok(self.runtime.analyses.position_of_game(player, game_id(&id)?).await?),
            None => Err(no_subject("must be a position, a transcript or a game")),
        }
    }

    async fn game_moves(
        &self,
        player: &Player,
        subject: Option<v1::analyze_game_request::Subject>,
    ) -> Result<GameMoves, Status> {
        use v1::analyze_game_request::Subject;
        match subject {
            Some(Subject::Transcript(text)) => {
                let game = convert::read_transcript(&text)?;
                Ok(GameMoves::of(Position::START, game.squares().iter().copied(), 0))
            }
            Some(Subject::GameId(id)) => {
                player.charge(RequestCost::Games(1))?;
                let game = self.runtime.games.get(player, game_id(&id)?).await?;
                Ok(GameMoves::of(Position::START, game.plies.iter().filter_map(|ply| ply.square), game.opening))
            }
            None => Err(no_subject("must be a game or a transcript")),
        }
    }
}

fn no_subject(problem: &str) -> Status {
    Malformed::argument("subject", problem).into()
}

/// The requested budget, capped by the server's limits.
fn plan(budget: Budget, most_time: Duration, usual_nodes: u64, limits: &Limits) -> AnalysisPlan {
    let effort = Effort {
        depth: budget.depth.unwrap_or(MAX_DEPTH),
        nodes: budget.nodes.unwrap_or(usual_nodes).min(limits.analysis_nodes),
    };
    AnalysisPlan { effort, time: budget.time.unwrap_or(most_time).min(most_time) }
}

struct PositionResults {
    analysis: Analysis<PositionAnalysis>,
    /// The id of the call, for the log.
    call: String,
}

impl Source for PositionResults {
    async fn next(&mut self) -> Result<EncodedMessage, End> {
        let PositionAnalysis { lines, nodes, last } = self.analysis.next().await.map_err(|why| end(why, &self.call))?;
        let analysis = v1::PositionAnalysis { lines: lines.iter().map(line).collect(), nodes, r#final: last };
        let message = Some(v1::analyze_position_response::Message::Analysis(analysis));
        Ok(EncodedMessage::new(&v1::AnalyzePositionResponse { message }))
    }
}

/// The results for the moves of one game, followed by their summary.
struct GameResults {
    analysis: Analysis<(PlayedMove, JudgedMove)>,
    call: String,
    moves: usize,
    done: usize,
    losses: ByColor<f64>,
    summed: bool,
}

impl Source for GameResults {
    async fn next(&mut self) -> Result<EncodedMessage, End> {
        use v1::analyze_game_response::Message;
        if self.done == self.moves {
            if std::mem::replace(&mut self.summed, true) {
                return Err(End::Done);
            }
            let ByColor { black, white } = self.losses;
            let sum = v1::GameAnalysis { black_loss: black, white_loss: white, moves: convert::count(self.moves) };
            return Ok(EncodedMessage::new(&v1::AnalyzeGameResponse { message: Some(Message::Summary(sum)) }));
        }
        let (made, judged) = self.analysis.next().await.map_err(|why| end(why, &self.call))?;
        self.done += 1;
        self.losses[made.position.turn()] += discs(judged.loss);
        let analysis = v1::MoveAnalysis {
            ply: made.ply.into(),
            side: made.position.turn().wire().into(),
            square: made.square.to_string(),
            best: Some(line(&judged.best)),
            evaluation: discs(judged.evaluation),
            loss: discs(judged.loss),
            exact: judged.exact,
            nodes: judged.nodes,
            done: convert::count(self.done),
            moves: convert::count(self.moves),
        };
        Ok(EncodedMessage::new(&v1::AnalyzeGameResponse { message: Some(Message::Move(analysis)) }))
    }
}

fn end(end: AnalysisEnd, call: &str) -> End {
    match end {
        AnalysisEnd::Done => End::Done,
        AnalysisEnd::Stream(end) => End::Closing(end),
        AnalysisEnd::Refused(error) => End::Failed(error.into()),
        AnalysisEnd::Failed => End::Failed(status::internal(call)),
    }
}

fn line(line: &Line) -> v1::AnalysisLine {
    v1::AnalysisLine {
        evaluation: discs(line.evaluation),
        depth: line.depth.into(),
        exact: line.exact,
        certainty: line.certainty.into(),
        moves: line.moves.iter().map(Square::to_string).collect(),
    }
}

/// Rounded to hundredths, as in `Thought`.
fn discs(discs: f32) -> f64 {
    (f64::from(discs) * 100.0).round() / 100.0
}
