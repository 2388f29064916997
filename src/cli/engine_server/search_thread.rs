//! What thinks: the engine, on a thread of its own, one job at a time.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
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
        generator,
    },
    rules::Position,
    search::{EndedBy, Stop},
};
use tokio::time::Instant;

/// How far a search may go, besides what the level says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Plies to look ahead.
    pub(super) depth: Option<u8>,
    /// By the clock.
    pub(super) plan: Option<Plan>,
}

/// What is visited even when the clock is used up: a millisecond or two, and some plies.
const GLANCE: u64 = 4_000;

/// The engine and what it works at.
pub(super) struct Head {
    brain: Arc<Mutex<Brain>>,
    work: Option<Work>,
}

struct Brain {
    engine: Engine,
    level: Option<Level>,
    chance: Pcg64,
}

/// A job that may be running.
struct Work {
    stop: Stop,
    unwanted: Stop,
    thread: JoinHandle<()>,
    /// Hung up at its end.
    over: Receiver<()>,
}

/// The engine, for one job.
pub(super) struct Thinking<'a> {
    brain: &'a mut Brain,
    stop: Stop,
    unwanted: Stop,
}

impl Head {
    pub(super) fn new(level: Option<Level>, engine: Engine, seed: u64) -> Self {
        Self { brain: Arc::new(Mutex::new(Brain { engine, level, chance: generator(seed) })), work: None }
    }

    /// Begins a job, when the one before is done. False when there is no thread for it.
    pub(super) fn begin(&mut self, job: impl FnOnce(Thinking<'_>) + Send + 'static) -> bool {
        self.finish();
        let (stop, unwanted) = (Stop::new(), Stop::new());
        let (done, over) = sync_channel::<()>(0);
        let (brain, flags) = (Arc::clone(&self.brain), (stop.clone(), unwanted.clone()));
        let thread = thread::Builder::new().name("engine".into()).spawn(move || {
            let _done = done;
            let mut brain = brain.lock().unwrap_or_else(PoisonError::into_inner);
            job(Thinking { brain: &mut brain, stop: flags.0, unwanted: flags.1 });
        });
        self.work = thread.ok().map(|thread| Work { stop, unwanted, thread, over });
        self.work.is_some()
    }

    /// Waits for the end of the job.
    pub(super) fn finish(&mut self) {
        if let Some(work) = self.work.take() {
            // A job that panicked has told so, and has nothing to say any more.
            let _ = work.thread.join();
        }
    }

    /// Waits for it for so long; then it has to do with what it has found.
    pub(super) fn hurry_after(&mut self, time: Duration) {
        if let Some(work) = &self.work {
            let _ = work.over.recv_timeout(time);
            work.stop.stop();
        }
        self.finish();
    }

    /// Waits for it for so long, and ends it then.
    pub(super) fn finish_within(&mut self, time: Duration) {
        if let Some(work) = &self.work {
            let _ = work.over.recv_timeout(time);
        }
        self.abandon();
    }

    /// Ends the job: what it has not said yet, it will not say.
    pub(super) fn abandon(&mut self) {
        if let Some(work) = &self.work {
            work.unwanted.stop();
            work.stop.stop();
        }
        self.finish();
    }
}

impl Thinking<'_> {
    /// Whether nobody is to hear of it.
    pub(super) fn is_unwanted(&self) -> bool {
        self.unwanted.is_stopped()
    }

    /// A move at the engine's level; none where there is none. `each` hears of every depth, and may end the search.
    pub(super) fn choose(
        &mut self,
        position: Position,
        bounds: Bounds,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        let Brain { level, chance, .. } = &mut *self.brain;
        if let Some(level) = level
            && level.slips(chance)
        {
            let legal = position.legal_moves();
            let best = legal.iter().nth(chance.random_range(0..legal.count().max(1)) as usize)?;
            let (ended_by, line) = (EndedBy::Depth, vec![best]);
            return Some(Report { best, discs: 0.0, depth: 0, certainty: 100, nodes: 0, line, exact: false, ended_by });
        }
        self.search(position, bounds, each)
    }

    /// As [`Thinking::choose`], but the best that the engine finds.
    pub(super) fn search(
        &mut self,
        position: Position,
        bounds: Bounds,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        let limits = limits(self.brain.level, bounds);
        let (engine, stop) = (&mut self.brain.engine, &self.stop);
        let Some(plan) = bounds.plan else { return engine.search(position, &limits, stop, each) };
        let began = Instant::now();
        let mut until_enough = |report: &Report| {
            let over = began.elapsed() >= plan.enough;
            if each(report).is_break() || over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let report = thread::scope(|scope| {
            let (done, over) = sync_channel::<()>(0);
            scope.spawn(move || {
                if over.recv_timeout(plan.most) == Err(RecvTimeoutError::Timeout) {
                    stop.stop();
                }
            });
            let report = engine.search(position, &limits, stop, &mut until_enough);
            drop(done);
            report
        })?;
        let hasty = report.ended_by == EndedBy::Stop && report.nodes < GLANCE;
        if !hasty || self.unwanted.is_stopped() {
            return Some(report);
        }
        let glance = Limits { nodes: limits.nodes.min(GLANCE), ..limits };
        engine.search(position, &glance, &Stop::new(), each)
    }
}

/// A level bounds what is visited. Without one, depth and clock do, and where there is neither, the usual level.
fn limits(level: Option<Level>, bounds: Bounds) -> Limits {
    let unbounded = bounds == Bounds::default();
    let level = level.or_else(|| unbounded.then(|| Level::new(AiKind::Expert.profile().default_level)).flatten());
    let limits = bounds.depth.map_or_else(Limits::default, Limits::of_depth);
    Limits { nodes: level.map_or(u64::MAX, Level::nodes), ..limits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ai::engine::Weights;

    fn head() -> Head {
        Head::new(None, Engine::new(Weights::embedded(), 1 << 20), 1)
    }

    #[test]
    fn a_clock_that_is_used_up_leaves_time_for_a_glance() {
        let mut head = head();
        let (found, report) = sync_channel(1);
        let plan = Some(Plan { enough: Duration::ZERO, most: Duration::ZERO });
        assert!(head.begin(move |mut thinking| {
            let bounds = Bounds { plan, depth: Some(8) };
            let _ = found.send(thinking.choose(Position::START, bounds, &mut |_| ControlFlow::Continue(())));
        }));
        let report = report.recv().unwrap().unwrap();
        assert!(report.depth > 2 && report.nodes <= 2 * GLANCE, "{report:?}");
    }

    #[test]
    fn something_always_bounds_a_search() {
        let plan = Plan { enough: Duration::ZERO, most: Duration::ZERO };
        let nodes = |number| Level::new(number).unwrap().nodes();
        let usual = nodes(AiKind::Expert.profile().default_level);
        assert_eq!(limits(None, Bounds::default()), Limits::of_nodes(usual));
        assert_eq!(limits(None, Bounds { plan: Some(plan), depth: None }), Limits::default());
        assert_eq!(limits(None, Bounds { plan: None, depth: Some(8) }), Limits::of_depth(8));
        let both = limits(Level::new(9), Bounds { plan: Some(plan), depth: Some(8) });
        assert_eq!(both, Limits { nodes: nodes(9), ..Limits::of_depth(8) });
    }

    #[test]
    fn a_search_ends_with_its_time_and_with_its_job() {
        let mut head = head();
        let (found, report) = sync_channel(1);
        let plan = Some(Plan { enough: Duration::from_millis(20), most: Duration::from_millis(20) });
        assert!(head.begin(move |mut thinking| {
            let bounds = Bounds { plan, depth: None };
            let report = thinking.choose(Position::START, bounds, &mut |_| ControlFlow::Continue(()));
            let _ = found.send(report.map(|report| report.best));
        }));
        assert!(report.recv().unwrap().is_some());
        let (begun, begins) = sync_channel(1);
        assert!(head.begin(move |mut thinking| {
            let _ = begun.send(());
            let bounds = Bounds { plan: None, depth: Some(60) };
            let _ = thinking.choose(Position::START, bounds, &mut |_| ControlFlow::Continue(()));
            assert!(thinking.is_unwanted());
        }));
        begins.recv().unwrap();
        head.abandon();
    }
}
