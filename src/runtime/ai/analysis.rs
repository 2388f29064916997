//! Analyses: what the engine thinks of positions and games, for whoever asks and may.
//!
//! ```text
//!   edge ──▶ Analysis ◀── results ── task (waits for a turn, keeps the time) ──▶ Analysts (a thread for each search)
//! ```
//!
//! A game is searched a position at a time, so that those who wait have their turns in between. AI seats come first: no search
//! begins while they wait for a thread.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::timeout};
use tracing::Instrument as _;

use super::analysis_pool::Unfound;
use crate::{
    ai::{
        analysis::{self, Effort, GameMoves, JudgedMove, Move, PositionAnalysis},
        engine::Engines,
    },
    room::{Credentials, GameId, Rejection},
    rules::Position,
    runtime::{
        Player, RoomError, Runtime, StreamEnd,
        clock::instant,
        limit::{
            client_address::{Share, Taken},
            limits::SEATS_FIRST,
        },
        metrics::StreamKind,
        room::requests::no_such_game,
        server_state::Shared,
        watch::subscription::OpenStream,
    },
    search::Stop,
};

/// How much is asked of an analysis, within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisPlan {
    /// For each position.
    pub effort: Effort,
    /// For all positions together, waiting not counted.
    pub time: Duration,
}

/// Why an analysis yields nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisEnd {
    /// Everything was told.
    Done,
    /// As every stream of the player, or of the server, ends.
    Stream(StreamEnd),
    /// It may not go on.
    Refused(RoomError),
    /// The engine failed; the log has more of it.
    Broken,
}

/// An analysis under way, and what it yields. Dropping it stops it.
pub struct Analysis<T> {
    runtime: Runtime,
    results: mpsc::Receiver<Result<T, AnalysisEnd>>,
    /// A result of which it is still to be asked whether it may be told.
    ready: Option<T>,
    open: OpenStream,
    place: Place,
}

/// Results that wait to be read. Of a position's, all but the last are then left out.
const UNREAD: usize = 1;

impl Runtime {
    /// Looks at a position, which is not over, deeper and deeper: at so many of its best moves.
    ///
    /// # Errors
    /// When the player plays a rated game, or there are too many analyses or streams.
    pub async fn analyse_position(
        &self,
        player: &Arc<Player>,
        position: Position,
        plan: AnalysisPlan,
        lines: usize,
    ) -> Result<Analysis<PositionAnalysis>, RoomError> {
        let (analysis, results) = self.begin_analysis(player).await?;
        let (shared, player) = (Arc::clone(&self.shared), Arc::clone(player));
        let look = async move {
            let passing = results.clone();
            let work = move |engines: &_, stop: &_| {
                let mut last = None;
                analysis::deepen(engines, position, plan.effort, lines, stop, &mut |found| {
                    if found.last {
                        last = Some(found);
                    } else {
                        // Who has not read the one before gets a later one.
                        let _ = passing.try_send(Ok(found));
                    }
                });
                last
            };
            let found = search(&shared, &player, &results, plan.time, work).await;
            if let Some(outcome) = found.transpose() {
                tell(&results, outcome).await;
            }
        };
        self.shared.tasks.spawn(look.in_current_span());
        Ok(analysis)
    }

    /// Judges every move of a game, in order.
    ///
    /// # Errors
    /// As of [`Runtime::analyse_position`].
    pub async fn analyse_game(
        &self,
        player: &Arc<Player>,
        course: GameMoves,
        plan: AnalysisPlan,
    ) -> Result<Analysis<(Move, JudgedMove)>, RoomError> {
        let (analysis, results) = self.begin_analysis(player).await?;
        let (shared, player) = (Arc::clone(&self.shared), Arc::clone(player));
        let look = async move { judge_all(&shared, &player, &course, plan, &results).await };
        self.shared.tasks.spawn(look.in_current_span());
        Ok(analysis)
    }

    /// How the game stands that runs now, for a hint: not in a rated room.
    ///
    /// # Errors
    /// When there is none for that player, it is rated, or over.
    pub async fn hinted(&self, player: &Player, id: GameId) -> Result<Position, RoomError> {
        let snapshot = self.look(player, id.room, &Credentials::default()).await.map_err(no_such_game)?;
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

    async fn begin_analysis<T>(
        &self,
        player: &Arc<Player>,
    ) -> Result<(Analysis<T>, mpsc::Sender<Result<T, AnalysisEnd>>), RoomError> {
        self.require_running()?;
        self.require_no_rated_game(player).await?;
        let place = Place::take(&self.shared, player)?;
        let open = OpenStream::new(&self.shared, player, StreamKind::Analysis)?;
        let (sender, results) = mpsc::channel(UNREAD);
        Ok((Analysis { runtime: self.clone(), results, ready: None, open, place }, sender))
    }

    /// Nobody is helped in a game that counts.
    async fn require_no_rated_game(&self, player: &Player) -> Result<(), RoomError> {
        for room in player.seats() {
            let snapshot = match self.inspect(room).await {
                // It has gone, and its game with it.
                Err(RoomError::Rejected(_)) => continue,
                seen => seen?,
            };
            if snapshot.room.running().is_some() && snapshot.room.settings().rated {
                return Err(Rejection::WrongPhase("you play a rated game; analyse when it is over").into());
            }
        }
        Ok(())
    }
}

impl<T> Analysis<T> {
    /// The next result, or why there is none. Nothing is lost when the wait is dropped.
    ///
    /// # Errors
    /// The end.
    pub async fn next(&mut self) -> Result<T, AnalysisEnd> {
        if self.ready.is_none() {
            self.ready = tokio::select! {
                biased;
                end = self.open.ended() => return Err(AnalysisEnd::Stream(end)),
                result = self.results.recv() => Some(result.unwrap_or(Err(AnalysisEnd::Done))?),
            };
        }
        // One that began since is not to be helped with what was asked before.
        self.runtime.require_no_rated_game(&self.place.player).await.map_err(AnalysisEnd::Refused)?;
        self.ready.take().ok_or(AnalysisEnd::Done)
    }
}

async fn judge_all(
    shared: &Shared,
    player: &Player,
    course: &GameMoves,
    plan: AnalysisPlan,
    results: &mpsc::Sender<Result<(Move, JudgedMove), AnalysisEnd>>,
) {
    let (mut left, mut before) = (plan.time, None);
    let (positions, mut moves) = (course.positions(), course.moves.iter());
    let mut to_come = u32::try_from(positions.len()).unwrap_or(u32::MAX);
    for position in positions {
        let work = move |engines: &_, stop: &_| {
            let began = instant();
            (analysis::study(engines, position, plan.effort, stop), began.elapsed())
        };
        // What quick ones leave is for those that come.
        let share = left / to_come.max(1);
        let (study, spent) = match search(shared, player, results, share, work).await {
            Ok(found) => found,
            Err(unfound) => return tell(results, Err(unfound)).await,
        };
        (left, to_come) = (left.saturating_sub(spent), to_come - 1);
        if let Some(before) = &before
            && let Some(made) = moves.next()
        {
            tell(results, Ok((*made, analysis::judge(before, made.square, &study)))).await;
        }
        before = Some(study);
    }
}

/// Searches, and lets AI seats that wait for a thread go first, if they do not wait for ever.
async fn search<R, T: Send + 'static>(
    shared: &Shared,
    player: &Player,
    results: &mpsc::Sender<Result<R, AnalysisEnd>>,
    time: Duration,
    work: impl FnOnce(&Engines, &Stop) -> T + Send + 'static,
) -> Result<T, Unfound> {
    tokio::select! {
        () = gone(player, results) => return Err(Unfound::Gone),
        _ = timeout(SEATS_FIRST, shared.pool.is_quiet()) => {}
    }
    shared.pool.end_pondering();
    shared.analysts.search(time, gone(player, results), work).await
}

/// Waits until nobody wants what is searched for: the reader is away, or the player, or the server stops.
async fn gone<T>(player: &Player, results: &mpsc::Sender<Result<T, AnalysisEnd>>) {
    tokio::select! {
        () = results.closed() => {}
        () = player.streams_end.cancelled() => {}
    }
}

async fn tell<T>(results: &mpsc::Sender<Result<T, AnalysisEnd>>, outcome: Result<T, Unfound>) {
    let result = match outcome {
        Ok(found) => Ok(found),
        Err(Unfound::Broken) => Err(AnalysisEnd::Broken),
        // The stream knows why.
        Err(Unfound::Gone) => return,
    };
    // Whoever has stopped reading wants nothing.
    let _ = results.send(result).await;
}

/// A place among the analyses under way: of the player, of its address, and of the server.
struct Place {
    shared: Arc<Shared>,
    player: Arc<Player>,
    _home: Option<Taken>,
}

impl Place {
    fn take(shared: &Arc<Shared>, player: &Arc<Player>) -> Result<Self, RoomError> {
        let home = player.home().map(|home| home.take(Share::Analyses).ok_or(RoomError::QuotaAnalyses)).transpose()?;
        if !player.analyses.try_add() {
            return Err(RoomError::QuotaAnalyses);
        }
        if !shared.analysts.analyses.try_add() {
            player.analyses.shift(1, 0);
            return Err(RoomError::QuotaAnalyses);
        }
        Ok(Self { shared: Arc::clone(shared), player: Arc::clone(player), _home: home })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.player.analyses.shift(1, 0);
        self.shared.analysts.analyses.shift(1, 0);
    }
}
