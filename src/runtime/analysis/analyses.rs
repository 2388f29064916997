//! Analyses of positions and games, as streams of results.
//!
//! ```text
//!   edge ──▶ Analysis ◀── results ── task (waits, keeps the time) ──▶ AnalysisPool (a thread for each search)
//! ```
//!
//! A game is searched one position at a time, so that other analyses run in between. AI seats take precedence: a search
//! waits up to [`MAX_ANALYSIS_DELAY`] while any of them waits for a thread.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::timeout};
use tracing::Instrument as _;

use super::analysis_pool::{AnalysisPool, SearchError};
use crate::{
    ai::{
        analysis::{self, Effort, GameMoves, JudgedMove, PlayedMove, PositionAnalysis},
        engine::Engines,
    },
    room::{Credentials, GameId, Rejection},
    rules::Position,
    runtime::{
        limit::client_address::{AddressPermit, Resource},
        lobby::rated_positions::SearchedPositions,
        outcome::{RoomError, StreamEnd},
        player::player::{Player, VISITOR_PART},
        room::rooms::Rooms,
        server_clock::instant,
        server_metrics::StreamKind,
        watch::open_stream::OpenStream,
    },
    search::Stop,
};

/// The longest wait of an analysis for AI moves, so that it also runs where some always wait.
const MAX_ANALYSIS_DELAY: Duration = Duration::from_secs(1);

/// The effort of an analysis, within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisPlan {
    /// The effort for each position.
    pub effort: Effort,
    /// Search time for all positions together, without the time spent waiting for a thread.
    pub time: Duration,
}

/// Why an analysis has no more results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisEnd {
    /// All results were returned.
    Done,
    /// All streams of the player or of the server were ended.
    Stream(StreamEnd),
    /// The player has started a rated game, or one has reached a position of the analysis.
    Refused(RoomError),
    /// The search failed; the log says why.
    Failed,
}

/// A running analysis and its results. Dropping it stops the analysis.
pub struct Analysis<T> {
    rooms: Rooms,
    results: mpsc::Receiver<Result<T, AnalysisEnd>>,
    /// A result to be returned after the check for rated games.
    ready: Option<T>,
    searched: SearchedPositions,
    open: OpenStream,
    permit: AnalysisPermit,
}

/// Capacity of the channel of results. Intermediate results beyond it are dropped.
const UNREAD: usize = 1;

/// Starts analyses.
#[derive(Clone)]
pub struct Analyses {
    pub(crate) rooms: Rooms,
    pub(crate) pool: Arc<AnalysisPool>,
}

impl Analyses {
    /// Analyses a position with increasing depth and returns its best `lines` moves. The game must not be over in it.
    ///
    /// # Errors
    /// When the server is shutting down, the player plays a rated game, a running rated game is within two plies of the
    /// position, or there are too many analyses or streams.
    pub async fn position(
        &self,
        player: &Arc<Player>,
        position: Position,
        plan: AnalysisPlan,
        lines: usize,
    ) -> Result<Analysis<PositionAnalysis>, RoomError> {
        let (analysis, results) = self.start(player, [position].into_iter()).await?;
        let (this, player) = (self.clone(), Arc::clone(player));
        let run = async move {
            let passing = results.clone();
            let work = move |engines: &_, stop: &_| {
                let mut last = None;
                analysis::deepen(engines, position, plan.effort, lines, stop, &mut |found| {
                    if found.last {
                        last = Some(found);
                    } else {
                        // Dropped when the previous one is unread.
                        let _ = passing.try_send(Ok(found));
                    }
                });
                last
            };
            let found = this.search(&player, &results, plan.time, work).await;
            if let Some(outcome) = found.transpose() {
                send(&results, outcome).await;
            }
        };
        self.rooms.host.context.lifecycle.spawn(run.in_current_span());
        Ok(analysis)
    }

    /// Judges every move of a game, in the order of play.
    ///
    /// # Errors
    /// As for [`Analyses::position`].
    pub async fn game(
        &self,
        player: &Arc<Player>,
        game_moves: GameMoves,
        plan: AnalysisPlan,
    ) -> Result<Analysis<(PlayedMove, JudgedMove)>, RoomError> {
        let (analysis, results) = self.start(player, game_moves.positions()).await?;
        let (this, player) = (self.clone(), Arc::clone(player));
        let run = async move { this.judge_all(&player, &game_moves, plan, &results).await };
        self.rooms.host.context.lifecycle.spawn(run.in_current_span());
        Ok(analysis)
    }

    /// The position of a running game, for a hint.
    ///
    /// # Errors
    /// When the player may not see the game, or it is rated or over.
    pub async fn position_of_game(&self, player: &Player, id: GameId) -> Result<Position, RoomError> {
        let snapshot = self
            .rooms
            .snapshot(player, id.room, &Credentials::default())
            .await
            .map_err(RoomError::or_game_not_found)?;
        let room = snapshot.room;
        let game = room.game().filter(|game| id.number <= game.number).ok_or(Rejection::GameNotFound)?;
        if game.number != id.number || game.end.is_some() {
            return Err(Rejection::GameOver.into());
        }
        if room.settings().rated {
            return Err(Rejection::WrongPhase("the game is rated; it can be analysed when it is over").into());
        }
        Ok(game.position)
    }

    async fn start<T>(
        &self,
        player: &Arc<Player>,
        positions: impl Iterator<Item = Position>,
    ) -> Result<(Analysis<T>, mpsc::Sender<Result<T, AnalysisEnd>>), RoomError> {
        self.rooms.host.context.lifecycle.require_running()?;
        let searched = positions.collect();
        require_no_rated_game(&self.rooms, player, &searched).await?;
        let permit = AnalysisPermit::acquire(&self.pool, player)?;
        let open = OpenStream::new(&self.rooms.host, player, StreamKind::Analysis)?;
        let (sender, results) = mpsc::channel(UNREAD);
        Ok((Analysis { rooms: self.rooms.clone(), results, ready: None, searched, open, permit }, sender))
    }

    async fn judge_all(
        &self,
        player: &Player,
        game_moves: &GameMoves,
        plan: AnalysisPlan,
        results: &mpsc::Sender<Result<(PlayedMove, JudgedMove), AnalysisEnd>>,
    ) {
        let (mut left, mut previous) = (plan.time, None);
        let (positions, mut moves) = (game_moves.positions(), game_moves.moves.iter());
        let mut remaining = u32::try_from(positions.len()).unwrap_or(u32::MAX);
        for position in positions {
            let work = move |engines: &_, stop: &_| {
                let began = instant();
                (analysis::study(engines, position, plan.effort, stop), began.elapsed())
            };
            // Time left over by quick searches goes to later ones.
            let share = left / remaining.max(1);
            let (study, spent) = match self.search(player, results, share, work).await {
                Ok(found) => found,
                Err(error) => return send(results, Err(error)).await,
            };
            (left, remaining) = (left.saturating_sub(spent), remaining - 1);
            if let Some(previous) = &previous
                && let Some(made) = moves.next()
            {
                send(results, Ok((*made, analysis::judge(previous, made.square, &study)))).await;
            }
            previous = Some(study);
        }
    }

    /// Searches once no AI seat waits for a thread, at the latest after [`MAX_ANALYSIS_DELAY`].
    async fn search<R, T: Send + 'static>(
        &self,
        player: &Player,
        results: &mpsc::Sender<Result<R, AnalysisEnd>>,
        time: Duration,
        work: impl FnOnce(&Engines, &Stop) -> T + Send + 'static,
    ) -> Result<T, SearchError> {
        let moves = &self.rooms.host.context.pool;
        tokio::select! {
            () = cancelled(player, results) => return Err(SearchError::Cancelled),
            _ = timeout(MAX_ANALYSIS_DELAY, moves.wait_until_quiet()) => {}
        }
        moves.end_pondering();
        self.pool.search(time, cancelled(player, results), work).await
    }
}

impl<T> Analysis<T> {
    /// The next result. Cancel safe.
    ///
    /// # Errors
    /// Why there are no more results.
    pub async fn next(&mut self) -> Result<T, AnalysisEnd> {
        if self.ready.is_none() {
            self.ready = tokio::select! {
                biased;
                end = self.open.ended() => return Err(AnalysisEnd::Stream(end)),
                result = self.results.recv() => Some(result.unwrap_or(Err(AnalysisEnd::Done))?),
            };
        }
        // A rated game may have started since.
        let allowed = require_no_rated_game(&self.rooms, &self.permit.player, &self.searched).await;
        allowed.map_err(AnalysisEnd::Refused)?;
        self.ready.take().ok_or(AnalysisEnd::Done)
    }
}

/// Fails while the player plays a rated game, or while any running rated game is near a position of the analysis.
async fn require_no_rated_game(rooms: &Rooms, player: &Player, searched: &SearchedPositions) -> Result<(), RoomError> {
    rooms.require_no_rated_game(player).await?;
    if rooms.host.lobby.has_rated_game_at(searched) {
        let problem = "a running rated game is within two plies of this position; analyse it after the game";
        return Err(Rejection::WrongPhase(problem).into());
    }
    Ok(())
}

/// Completes when the client has disconnected or the streams of the player end.
async fn cancelled<T>(player: &Player, results: &mpsc::Sender<Result<T, AnalysisEnd>>) {
    tokio::select! {
        () = results.closed() => {}
        () = player.streams_end.cancelled() => {}
    }
}

async fn send<T>(results: &mpsc::Sender<Result<T, AnalysisEnd>>, outcome: Result<T, SearchError>) {
    let result = match outcome {
        Ok(found) => Ok(found),
        Err(SearchError::Failed) => Err(AnalysisEnd::Failed),
        // The stream reports the reason.
        Err(SearchError::Cancelled) => return,
    };
    // The client may have gone.
    let _ = results.send(result).await;
}

/// Counts an analysis for the player, its address and the server until it is dropped.
struct AnalysisPermit {
    pool: Arc<AnalysisPool>,
    player: Arc<Player>,
    _home: Option<AddressPermit>,
}

impl AnalysisPermit {
    fn acquire(pool: &Arc<AnalysisPool>, player: &Arc<Player>) -> Result<Self, RoomError> {
        let home = player.quota.home();
        let home = home.map(|home| home.acquire(Resource::Analyses).ok_or(RoomError::QuotaAnalyses)).transpose()?;
        if !player.analyses.try_add() {
            return Err(RoomError::QuotaAnalyses);
        }
        let part = if player.is_visitor() { VISITOR_PART } else { 1 };
        if !pool.analyses.try_add_part(part) {
            player.analyses.adjust(1, 0);
            return Err(RoomError::QuotaAnalyses);
        }
        Ok(Self { pool: Arc::clone(pool), player: Arc::clone(player), _home: home })
    }
}

impl Drop for AnalysisPermit {
    fn drop(&mut self) {
        self.player.analyses.adjust(1, 0);
        self.pool.analyses.adjust(1, 0);
    }
}
