//! Runs the engine's searches on a separate thread, one at a time.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rand::RngExt as _;
use rand_pcg::Pcg64;

use crate::{
    ai::{
        AiKind, Level,
        engine::{Engine, Limits, Plan, Report},
        seeded_rng,
    },
    cli::local_search::stop_after,
    rules::{Position, Square},
    search::{EndedBy, Stop},
};
use tokio::time::Instant;

/// The bounds of a search in addition to the level's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchBounds {
    pub(super) depth: Option<u8>,
    pub(super) plan: Option<Plan>,
}

/// Minimum number of nodes to search, even without time left: 1 to 2 ms.
const MIN_NODES: u64 = 4_000;

/// The engine and its running search.
pub(super) struct SearchThread {
    state: Arc<Mutex<SearchState>>,
    running: Option<RunningSearch>,
}

struct SearchState {
    engine: Engine,
    level: Option<Level>,
    rng: Pcg64,
}

/// A search that may be running.
struct RunningSearch {
    stop: Stop,
    unwanted: Stop,
    thread: JoinHandle<()>,
    /// Disconnected at its end.
    over: Receiver<()>,
}

/// The engine, during one search.
pub(super) struct SearchJob<'a> {
    state: &'a mut SearchState,
    stop: Stop,
    unwanted: Stop,
}

impl SearchThread {
    pub(super) fn new(level: Option<Level>, engine: Engine, seed: u64) -> Self {
        Self { state: Arc::new(Mutex::new(SearchState { engine, level, rng: seeded_rng(seed) })), running: None }
    }

    /// Waits for the end of the running search and begins another. False if no thread can be started.
    pub(super) fn begin(&mut self, job: impl FnOnce(SearchJob<'_>) + Send + 'static) -> bool {
        self.finish();
        let (stop, unwanted) = (Stop::new(), Stop::new());
        let (done, over) = sync_channel::<()>(0);
        let (state, flags) = (Arc::clone(&self.state), (stop.clone(), unwanted.clone()));
        let thread = thread::Builder::new().name("engine".into()).spawn(move || {
            let _done = done;
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            job(SearchJob { state: &mut state, stop: flags.0, unwanted: flags.1 });
        });
        self.running = thread.ok().map(|thread| RunningSearch { stop, unwanted, thread, over });
        self.running.is_some()
    }

    /// Waits for the end of the search.
    pub(super) fn finish(&mut self) {
        if let Some(running) = self.running.take() {
            // A panic was already printed by its thread.
            let _ = running.thread.join();
        }
    }

    /// Waits up to `time`, then stops the search, which returns the best move so far.
    pub(super) fn hurry_after(&mut self, time: Duration) {
        if let Some(running) = &self.running {
            let _ = running.over.recv_timeout(time);
            running.stop.stop();
        }
        self.finish();
    }

    /// Waits up to `time`, then abandons the search.
    pub(super) fn finish_within(&mut self, time: Duration) {
        if let Some(running) = &self.running {
            let _ = running.over.recv_timeout(time);
        }
        self.abandon();
    }

    /// Ends the search without further output.
    pub(super) fn abandon(&mut self) {
        if let Some(running) = &self.running {
            running.unwanted.stop();
            running.stop.stop();
        }
        self.finish();
    }
}

impl SearchJob<'_> {
    /// Whether the search was abandoned and must print nothing.
    pub(super) fn is_unwanted(&self) -> bool {
        self.unwanted.is_stopped()
    }

    /// A move at the engine's level; `None` if there is no legal move. `on_depth` is called with the result of every
    /// depth and may end the search.
    pub(super) fn choose(
        &mut self,
        position: Position,
        bounds: SearchBounds,
        on_depth: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        let SearchState { level, rng, .. } = &mut *self.state;
        if let Some(level) = level
            && level.slips(rng)
        {
            let legal = position.legal_moves();
            let best = legal.iter().nth(rng.random_range(0..legal.count().max(1)) as usize)?;
            return Some(unsearched(best, vec![best]));
        }
        self.search(position, bounds, on_depth)
    }

    /// Like [`SearchJob::choose`], but without the level's random moves.
    pub(super) fn search(
        &mut self,
        position: Position,
        bounds: SearchBounds,
        on_depth: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        let limits = limits(self.state.level, bounds);
        let (engine, stop) = (&mut self.state.engine, &self.stop);
        let Some(plan) = bounds.plan else { return engine.search(position, &limits, stop, on_depth) };
        let began = Instant::now();
        let mut until_enough = |report: &Report| {
            on_depth(report)?;
            if began.elapsed() >= plan.enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let report = stop_after(plan.most, stop, || engine.search(position, &limits, stop, &mut until_enough))?;
        let hasty = report.ended_by == EndedBy::Stop && report.nodes < MIN_NODES;
        if !hasty || self.unwanted.is_stopped() {
            return Some(report);
        }
        let shortest = Limits { nodes: limits.nodes.min(MIN_NODES), ..limits };
        engine.search(position, &shortest, &Stop::new(), on_depth)
    }
}

/// A report of a move that was not searched.
pub(super) fn unsearched(best: Square, line: Vec<Square>) -> Report {
    Report { best, discs: 0.0, depth: 0, certainty: 100, nodes: 0, line, exact: false, ended_by: EndedBy::Depth }
}

/// The node limit is that of `level`; without a level and other bounds, that of the default level.
fn limits(level: Option<Level>, bounds: SearchBounds) -> Limits {
    let unbounded = bounds == SearchBounds::default();
    let level = level.or_else(|| unbounded.then(|| Level::new(AiKind::Expert.profile().default_level)).flatten());
    let limits = bounds.depth.map_or_else(Limits::default, Limits::of_depth);
    Limits { nodes: level.map_or(u64::MAX, Level::nodes), ..limits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ai::engine::Weights;

    fn search_thread() -> SearchThread {
        SearchThread::new(None, Engine::new(Weights::embedded(), 1 << 20), 1)
    }

    #[test]
    fn a_used_up_clock_leaves_time_for_a_short_search() {
        let mut search_thread = search_thread();
        let (found, report) = sync_channel(1);
        let plan = Some(Plan { enough: Duration::ZERO, most: Duration::ZERO });
        assert!(search_thread.begin(move |mut job| {
            let bounds = SearchBounds { plan, depth: Some(8) };
            let _ = found.send(job.choose(Position::START, bounds, &mut |_| ControlFlow::Continue(())));
        }));
        let report = report.recv().unwrap().unwrap();
        assert!(report.depth > 2 && report.nodes <= 2 * MIN_NODES, "{report:?}");
    }

    #[test]
    fn every_search_is_bounded() {
        let plan = Plan { enough: Duration::ZERO, most: Duration::ZERO };
        let nodes = |number| Level::new(number).unwrap().nodes();
        let usual = nodes(AiKind::Expert.profile().default_level);
        assert_eq!(limits(None, SearchBounds::default()), Limits::of_nodes(usual));
        assert_eq!(limits(None, SearchBounds { plan: Some(plan), depth: None }), Limits::default());
        assert_eq!(limits(None, SearchBounds { plan: None, depth: Some(8) }), Limits::of_depth(8));
        let both = limits(Level::new(9), SearchBounds { plan: Some(plan), depth: Some(8) });
        assert_eq!(both, Limits { nodes: nodes(9), ..Limits::of_depth(8) });
    }

    #[test]
    fn a_search_ends_with_its_time_and_with_its_job() {
        let mut search_thread = search_thread();
        let (found, report) = sync_channel(1);
        let plan = Some(Plan { enough: Duration::from_millis(20), most: Duration::from_millis(20) });
        assert!(search_thread.begin(move |mut job| {
            let bounds = SearchBounds { plan, depth: None };
            let report = job.choose(Position::START, bounds, &mut |_| ControlFlow::Continue(()));
            let _ = found.send(report.map(|report| report.best));
        }));
        assert!(report.recv().unwrap().is_some());
        let (begun, begins) = sync_channel(1);
        assert!(search_thread.begin(move |mut job| {
            let _ = begun.send(());
            let bounds = SearchBounds { plan: None, depth: Some(60) };
            let _ = job.choose(Position::START, bounds, &mut |_| ControlFlow::Continue(()));
            assert!(job.is_unwanted());
        }));
        begins.recv().unwrap();
        search_thread.abandon();
    }
}
