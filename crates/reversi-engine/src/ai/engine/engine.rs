//! The whole search of a position: iterative deepening by one thread or several.
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::board::{Board, Squares};
use super::cpu::{Cpu, Modern, Portable};
use super::evaluation::Node;
use super::limits::{Iteration, Limits, Target, schedule};
use super::midgame::Line;
use super::pattern::PATTERNS;
use super::probcut;
use super::searcher::{INFINITE, SURE, Searcher};
use super::transposition::{Effort, TranspositionTable};
use super::weights::{DISC, Value, Weights};
use crate::rules::{Position, Square};
use crate::search::{EndedBy, Stop};

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The best move.
    pub best: Square,
    /// The expected final difference in discs for the side to move. With [`Goal::Winner`](super::Goal::Winner) only the
    /// sign counts.
    pub discs: f32,
    /// Search depth in plies; 0 if stopped before the first ply was finished.
    pub depth: u8,
    /// The nominal share of correct ProbCut cuts, in percent; 100 without cuts.
    pub certainty: u8,
    /// Positions visited since the search began.
    pub nodes: u64,
    /// The principal variation, without passes.
    pub line: Vec<Square>,
    /// Whether the value is proved by a search to the end.
    pub exact: bool,
    /// The bound that ended the search; `Depth` if nothing is left to search.
    pub ended_by: EndedBy,
}

/// A searcher with its transposition table. With one thread, results do not depend on earlier searches.
#[derive(Debug)]
pub struct Engine {
    table: TranspositionTable,
    weights: Arc<Weights>,
    threads: usize,
}

/// The maximum threads of one search: more would mostly repeat each other's work.
const MAX_THREADS: usize = 64;

impl Engine {
    /// An engine with one thread and a table of at most `table_bytes`; a small search allocates less.
    #[must_use]
    pub fn new(weights: Arc<Weights>, table_bytes: usize) -> Self {
        Self { table: TranspositionTable::with_bytes(table_bytes), weights, threads: 1 }
    }

    /// Sets the threads of a search, clamped to 1 to 64. With more than one, results may vary, but exact values do not.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.clamp(1, MAX_THREADS), ..self }
    }

    /// Searches until a limit or the flag ends it. `each` is called with a report of every finished iteration and may
    /// end the search. `None` if the side to move has no move.
    pub fn search(
        &mut self,
        position: Position,
        limits: &Limits,
        stop: &Stop,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        self.table.prepare(limits.nodes, stop);
        let board = Board::from(position);
        #[cfg(target_arch = "x86_64")]
        if let Some(modern) = Modern::detect() {
            return self.run(modern, board, limits, stop, each);
        }
        self.run(Portable, board, limits, stop, each)
    }

    /// The static evaluation of a position for the side to move, in discs.
    #[must_use]
    pub fn evaluate(&self, position: Position) -> f32 {
        Node::new(position.into()).evaluate(Portable, &PATTERNS, &self.weights) as f32 / DISC as f32
    }

    /// The first thread's search gives the result. The others fill the table by searching the same position with other
    /// move orders (lazy SMP, as in Romstad's Stockfish).
    fn run<C: Cpu>(
        &self,
        cpu: C,
        board: Board,
        limits: &Limits,
        stop: &Stop,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        let node = Node::new(board);
        let glance = self.searcher(cpu, stop, u64::MAX, 0).glance(&node)?;
        let mut report = Report::unsearched(glance);
        if stop.is_stopped() {
            return Some(report);
        }
        let steps = schedule(board.empties().count_ones() as u8, limits);
        let (found, helped) = (Stop::new(), AtomicU64::new(0));
        let searcher = |stop, taste| self.searcher(cpu, stop, limits.nodes / self.threads as u64, taste);
        thread::scope(|scope| {
            for taste in 1..self.threads {
                let mut helper = searcher(&found, taste as u32);
                let (node, steps, helped) = (&node, &steps, &helped);
                scope.spawn(move || helper.help(node, steps, helped));
            }
            // Ends the helpers on a panic too, as the scope waits for them.
            let _end = StopOnDrop(&found);
            searcher(stop, 0).lead(&node, &steps, &mut report, &mut |report| {
                let nodes = report.nodes + helped.load(Relaxed);
                if self.threads > 1 { each(&Report { nodes, ..report.clone() }) } else { each(report) }
            });
        });
        report.nodes += helped.load(Relaxed);
        Some(report)
    }

    fn searcher<'a, C>(&'a self, cpu: C, stop: &'a Stop, most_nodes: u64, taste: u32) -> Searcher<'a, C> {
        Searcher {
            cpu,
            table: &self.table,
            patterns: &PATTERNS,
            weights: &self.weights,
            stop,
            nodes: 0,
            most_nodes,
            stopped: false,
            cuts: 0,
            taste,
        }
    }
}

struct StopOnDrop<'a>(&'a Stop);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Report {
    fn unsearched(best: Square) -> Self {
        Self {
            best,
            discs: 0.0,
            depth: 0,
            certainty: 100,
            nodes: 0,
            line: vec![best],
            exact: false,
            ended_by: EndedBy::Stop,
        }
    }
}

fn squares(line: &Line) -> Vec<Square> {
    line.0.iter().filter_map(|&square| Square::new(square)).collect()
}

/// The expected result, corrected to the sign of `winner`, which is positive if the side to move wins.
fn agreeing(discs: f32, winner: Value) -> f32 {
    // The smallest margin: empty squares count for the winner, so that margins are even.
    const MIN_MARGIN: f32 = 2.0;
    match winner.signum() {
        1 => discs.max(MIN_MARGIN),
        -1 => discs.min(-MIN_MARGIN),
        _ => 0.0,
    }
}

impl<C: Cpu> Searcher<'_, C> {
    /// The move with the best static evaluation after it; `None` without a legal move.
    fn glance(&self, node: &Node) -> Option<Square> {
        let value = |&square: &u8| {
            let child = self.child(node, square, node.board.flips(self.cpu, square));
            if child.board.own == 0 { 64 * DISC } else { -self.evaluate(&child) }
        };
        Squares(node.board.moves(self.cpu)).max_by_key(value).and_then(Square::new)
    }

    /// Runs every iteration and reports it.
    fn lead(
        &mut self,
        node: &Node,
        steps: &[Iteration],
        report: &mut Report,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) {
        let empties = node.board.empties().count_ones() as u8;
        let winner_only = steps.last().is_some_and(|step| step.target == Target::Winner);
        let mut guess = 0;
        for &step in steps {
            if self.stop.is_winding_down() && report.depth > 0 {
                report.ended_by = EndedBy::Stop;
                return;
            }
            let mut line = Line::default();
            let value = self.aspire(node, guess, step, &mut line);
            report.nodes = self.nodes;
            let line = squares(&line);
            if let Some(&best) = line.first() {
                // Also of a stopped search: a move that proved better than the first is the best known.
                (report.best, report.line) = (best, line);
            }
            if self.stopped {
                report.ended_by = if self.stop.is_stopped() { EndedBy::Stop } else { EndedBy::Nodes };
                return;
            }
            match step.target {
                Target::Value => {
                    guess = value;
                    report.discs = value as f32 / DISC as f32;
                }
                // The value is only a bound: the earlier one is kept, corrected to its sign.
                Target::Winner => report.discs = agreeing(report.discs, value),
            }
            report.depth = step.effort.depth;
            report.certainty = probcut::percent(step.effort.certainty);
            let sure = step.effort == Effort { depth: empties, certainty: SURE };
            report.exact = sure && (step.target == Target::Value || winner_only);
            if each(report).is_break() {
                report.ended_by = EndedBy::Stop;
                return;
            }
        }
        report.ended_by = EndedBy::Depth;
    }

    /// Runs the iterations until the flag is set, and adds the positions visited to `nodes`. Every other helper skips
    /// the first iteration.
    fn help(&mut self, node: &Node, steps: &[Iteration], nodes: &AtomicU64) {
        let mut guess = 0;
        let ahead = (self.taste as usize % 2).min(steps.len() - 1);
        for &step in &steps[ahead..] {
            let before = self.nodes;
            guess = self.aspire(node, guess, step, &mut Line::default());
            nodes.fetch_add(self.nodes - before, Relaxed);
            if self.stopped {
                return;
            }
        }
    }

    /// An aspiration search: a small window around the expected value, widened on the side where it fails.
    fn aspire(&mut self, node: &Node, guess: Value, Iteration { effort, target }: Iteration, line: &mut Line) -> Value {
        if target == Target::Winner {
            return self.principal(node, (-1, 1), effort, line);
        }
        let to_end = u32::from(effort.depth) == node.board.empties().count_ones();
        let (center, mut width) = if to_end { (even(guess), DISC) } else { (guess, 2 * DISC) };
        let (mut alpha, mut beta) = (center - width, center + width);
        let mut found = Line::default();
        for _ in 0..WIDENINGS {
            let value = self.principal(node, (alpha, beta), effort, &mut found);
            if !found.0.is_empty() {
                std::mem::swap(line, &mut found);
            }
            if self.stopped || alpha < value && value < beta {
                return value;
            }
            width *= 2;
            if value <= alpha {
                alpha = value - width;
            } else {
                beta = value + width;
            }
        }
        self.principal(node, (-INFINITE, INFINITE), effort, line)
    }
}

/// The number of failures after which the window is opened fully: selective searches may fail on both sides in turn.
const WIDENINGS: u32 = 4;

/// The nearest value that a finished game can have.
fn even(value: Value) -> Value {
    (value + DISC).div_euclid(2 * DISC) * 2 * DISC
}

#[cfg(test)]
mod tests {
    use super::super::{Goal, with_engine};
    use super::*;
    use crate::rules::opening;

    /// A position of a game with this many empty squares.
    fn position(game: u32, empties: u8) -> Position {
        let mut position = Position::START;
        for square in opening::balanced(1, game) {
            position = position.play(square).unwrap().after_forced_pass().0;
        }
        let limits = Limits::of_nodes(500);
        while position.board().empties().count() > empties {
            let report =
                with_engine(|engine| engine.search(position, &limits, &Stop::new(), &mut keep_searching)).unwrap();
            position = position.play(report.best).unwrap().after_forced_pass().0;
        }
        position
    }

    fn keep_searching(_: &Report) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn a_search_stopped_at_once_gives_the_move_with_the_best_evaluation() {
        let stop = Stop::new();
        stop.stop();
        for game in 0..20 {
            let position = position(game, 40);
            with_engine(|engine| {
                let report = engine.search(position, &Limits::default(), &stop, &mut keep_searching).unwrap();
                let worth = |square| -engine.evaluate(position.play(square).unwrap());
                let best = position.legal_moves().iter().map(worth).fold(f32::MIN, f32::max);
                assert_eq!((worth(report.best), report.depth, report.nodes), (best, 0, 0));
            });
        }
    }

    #[test]
    fn the_winner_is_reported_without_a_bound_as_its_value() {
        let limits = Limits { goal: Goal::WinnerFirst, ..Limits::default() };
        for game in 0..20 {
            let position = position(game, 16);
            let mut reports = Vec::new();
            let last = with_engine(|engine| {
                engine.search(position, &limits, &Stop::new(), &mut |report| {
                    reports.push((report.depth, report.certainty, report.discs));
                    ControlFlow::Continue(())
                })
            });
            let exact = last.unwrap().discs;
            let of_winner = reports.iter().filter(|&&(depth, certainty, _)| depth == 16 && certainty == 100);
            for (_, _, discs) in of_winner {
                assert!(discs.abs() >= 2.0 || *discs == 0.0, "game {game}: {reports:?}");
                assert_eq!((*discs > 0.0, *discs < 0.0), (exact > 0.0, exact < 0.0), "game {game}: {reports:?}");
            }
        }
    }
}
