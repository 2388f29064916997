//! What the engine thinks of positions and games.

use std::time::Duration;

use tonic::{Request, Response, Status};

use super::streaming::{End, Feed, Pulse, Source, Told, feed};
use crate::{
    grpc::{
        layer::{
            caller::{caller, game_id},
            request_id,
        },
        status,
    },
    {
        ai::analysis::{Course, Effort, Found, Judged, Line, MOST_DEPTH, Move},
        proto::{
            Frame,
            convert::{self, Budget, Malformed},
            server::analysis_service_server::AnalysisService,
            v1,
        },
        room::Rejection,
        rules::{ByColor, Position, Square},
        runtime::{Analysis, AnalysisEnd, AnalysisPlan, Limits, Player, Runtime, Work},
    },
};

/// Positions visited for each position of a game unless asked otherwise: a fraction of a second, in which the engine sees further
/// than any player.
const USUAL_GAME_NODES: u64 = 1_000_000;

/// The analysis service over a runtime.
pub(crate) struct Analyses {
    pub(crate) runtime: Runtime,
}

#[tonic::async_trait]
impl AnalysisService for Analyses {
    type AnalyzePositionStream = Feed<v1::AnalyzePositionResponse>;

    async fn analyze_position(
        &self,
        request: Request<v1::AnalyzePositionRequest>,
    ) -> Result<Response<Self::AnalyzePositionStream>, Status> {
        let (player, pulse) = (caller(&request)?, Pulse::of(&request));
        let wire = request.into_inner();
        let limits = self.runtime.limits();
        let budget = convert::read_budget(wire.budget).map_err(status::malformed)?;
        let plan = plan(budget, limits.analysis_time, u64::MAX, limits);
        let lines = convert::read_lines(wire.lines, limits.analysis_lines).map_err(status::malformed)?;
        pay(&player, 1)?;
        let position = self.position(&player, wire.subject).await?.settle().0;
        if position.is_over() {
            return Err(status::refused(Rejection::GameOver));
        }
        let analysis = self.runtime.analyse_position(&player, position, plan, lines).await.map_err(status::failed)?;
        Ok(feed(self.runtime.clock(), pulse, Positions { analysis, call: request_id::current() }))
    }

    type AnalyzeGameStream = Feed<v1::AnalyzeGameResponse>;

    async fn analyze_game(
        &self,
        request: Request<v1::AnalyzeGameRequest>,
    ) -> Result<Response<Self::AnalyzeGameStream>, Status> {
        let (player, pulse) = (caller(&request)?, Pulse::of(&request));
        let wire = request.into_inner();
        let limits = self.runtime.limits();
        let budget = convert::read_budget(wire.budget).map_err(status::malformed)?;
        let plan = plan(budget, limits.game_analysis_time, USUAL_GAME_NODES, limits);
        let course = self.course(&player, wire.subject).await?;
        pay(&player, course.positions().len())?;
        let moves = course.moves.len();
        let analysis = self.runtime.analyse_game(&player, course, plan).await.map_err(status::failed)?;
        let source =
            Moves { analysis, call: request_id::current(), moves, done: 0, losses: ByColor::default(), summed: false };
        Ok(feed(self.runtime.clock(), pulse, source))
    }
}

impl Analyses {
    async fn position(
        &self,
        player: &Player,
        subject: Option<v1::analyze_position_request::Subject>,
    ) -> Result<Position, Status> {
        use v1::analyze_position_request::Subject;
        match subject {
            Some(Subject::Position(position)) => convert::read_board(&position).map_err(status::malformed),
            Some(Subject::Transcript(text)) => {
                convert::read_transcript(&text).map(|game| game.position()).map_err(status::malformed)
            }
            Some(Subject::GameId(id)) => self.runtime.hinted(player, game_id(&id)?).await.map_err(status::failed),
            None => Err(no_subject("must be a position, a transcript or a game")),
        }
    }

    async fn course(
        &self,
        player: &Player,
        subject: Option<v1::analyze_game_request::Subject>,
    ) -> Result<Course, Status> {
        use v1::analyze_game_request::Subject;
        match subject {
            Some(Subject::Transcript(text)) => {
                let game = convert::read_transcript(&text).map_err(status::malformed)?;
                Ok(Course::of(Position::START, game.squares().iter().copied(), 0))
            }
            Some(Subject::GameId(id)) => {
                player.pay(Work::Games(1)).map_err(status::too_fast)?;
                let game = self.runtime.game(player, game_id(&id)?).await.map_err(status::failed)?;
                Ok(Course::of(Position::START, game.plies.iter().filter_map(|ply| ply.square), game.opening))
            }
            None => Err(no_subject("must be a game or a transcript")),
        }
    }
}

fn no_subject(problem: &str) -> Status {
    status::malformed(Malformed::argument("subject", problem))
}

fn pay(player: &Player, positions: usize) -> Result<(), Status> {
    let work = Work::Analysis { positions, seats: player.seats().len() };
    player.pay(work).map_err(status::too_fast)
}

/// What is asked, as far as it may be.
fn plan(budget: Budget, most_time: Duration, usual_nodes: u64, limits: &Limits) -> AnalysisPlan {
    let effort = Effort {
        depth: budget.depth.unwrap_or(MOST_DEPTH),
        nodes: budget.nodes.unwrap_or(usual_nodes).min(limits.analysis_nodes),
    };
    AnalysisPlan { effort, time: budget.time.unwrap_or(most_time).min(most_time) }
}

/// The results of one position.
struct Positions {
    analysis: Analysis<Found>,
    /// Its name, by which the log can be searched.
    call: String,
}

impl Source for Positions {
    type Message = v1::AnalyzePositionResponse;

    async fn next(&mut self) -> Result<Frame, End> {
        let Found { lines, nodes, last } = self.analysis.next().await.map_err(|why| end(why, &self.call))?;
        let analysis = v1::PositionAnalysis { lines: lines.iter().map(line).collect(), nodes, r#final: last };
        let message = Some(v1::analyze_position_response::Message::Analysis(analysis));
        Ok(Frame::of(&v1::AnalyzePositionResponse { message }))
    }
}

impl Told for v1::AnalyzePositionResponse {
    fn heartbeat(beat: v1::Heartbeat) -> Self {
        Self { message: Some(v1::analyze_position_response::Message::Heartbeat(beat)) }
    }

    fn closing(closing: v1::Closing) -> Self {
        Self { message: Some(v1::analyze_position_response::Message::Closing(closing)) }
    }
}

/// The moves of one game, and their sum.
struct Moves {
    analysis: Analysis<(Move, Judged)>,
    /// As of [`Positions`].
    call: String,
    moves: usize,
    done: usize,
    losses: ByColor<f64>,
    summed: bool,
}

impl Source for Moves {
    type Message = v1::AnalyzeGameResponse;

    async fn next(&mut self) -> Result<Frame, End> {
        use v1::analyze_game_response::Message;
        if self.done == self.moves {
            if std::mem::replace(&mut self.summed, true) {
                return Err(End::Done);
            }
            let ByColor { black, white } = self.losses;
            let sum = v1::GameAnalysis { black_loss: black, white_loss: white, moves: count(self.moves) };
            return Ok(Frame::of(&v1::AnalyzeGameResponse { message: Some(Message::Summary(sum)) }));
        }
        let (made, judged) = self.analysis.next().await.map_err(|why| end(why, &self.call))?;
        self.done += 1;
        self.losses[made.position.turn()] += discs(judged.loss);
        let told = v1::MoveAnalysis {
            ply: made.ply.into(),
            side: convert::side(made.position.turn()).into(),
            square: made.square.to_string(),
            best: Some(line(&judged.best)),
            evaluation: discs(judged.evaluation),
            loss: discs(judged.loss),
            exact: judged.exact,
            nodes: judged.nodes,
            done: count(self.done),
            moves: count(self.moves),
        };
        Ok(Frame::of(&v1::AnalyzeGameResponse { message: Some(Message::Move(told)) }))
    }
}

impl Told for v1::AnalyzeGameResponse {
    fn heartbeat(beat: v1::Heartbeat) -> Self {
        Self { message: Some(v1::analyze_game_response::Message::Heartbeat(beat)) }
    }

    fn closing(closing: v1::Closing) -> Self {
        Self { message: Some(v1::analyze_game_response::Message::Closing(closing)) }
    }
}

fn end(end: AnalysisEnd, call: &str) -> End {
    match end {
        AnalysisEnd::Done => End::Done,
        AnalysisEnd::Stream(end) => End::Closing(end),
        AnalysisEnd::Refused(error) => End::Failed(status::failed(error)),
        AnalysisEnd::Broken => End::Failed(status::internal(call)),
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

/// To the hundredth, as a thought's.
fn discs(discs: f32) -> f64 {
    (f64::from(discs) * 100.0).round() / 100.0
}

fn count(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
