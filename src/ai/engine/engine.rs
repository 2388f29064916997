//! The whole search of a position: deeper and deeper, then surer and surer.
use std::ops::ControlFlow;
use std::sync::Arc;

use super::board::{Board, Squares};
use super::cpu::{Cpu, Modern, Portable};
use super::cut;
use super::evaluation::Node;
use super::midgame::Line;
use super::pattern::PATTERNS;
use super::searcher::{DISC, INFINITE, SURE, Searcher, Value};
use super::table::{Effort, Table};
use super::weights::Weights;
use crate::rules::{Position, Square};
use crate::search::{EndedBy, Stop};

/// The bounds of one search; the first one reached ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most plies to look ahead before the end is in reach.
    pub depth: u8,
    /// With at most this many empty squares the search goes to the end of the game.
    pub solve_from: u8,
    /// What is asked of such a search.
    pub goal: Goal,
    /// How surely even the first searches are made.
    pub least_certainty: Certainty,
    /// The most positions visited. The same number gives the same answer on every machine.
    pub nodes: u64,
}

/// How much is cut by probability: the smaller, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Certainty(pub(super) u8);

impl Certainty {
    /// As much as is sensible.
    pub const LEAST: Self = Self(0);
    /// Nothing.
    pub const SURE: Self = Self(SURE);
}

/// How much is to be known of the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The difference in discs.
    Score,
    /// Who wins: much cheaper.
    Winner,
}

impl Default for Limits {
    /// Everything about the position; only the flag ends it early.
    fn default() -> Self {
        Self { depth: 60, solve_from: 60, goal: Goal::Score, least_certainty: Certainty::LEAST, nodes: u64::MAX }
    }
}

impl Limits {
    /// A bound by depth, to the end when the end is as near.
    #[must_use]
    pub fn of_depth(depth: u8) -> Self {
        Self { depth, solve_from: depth, ..Self::default() }
    }

    /// A bound by positions visited.
    #[must_use]
    pub fn of_nodes(nodes: u64) -> Self {
        Self { nodes, ..Self::default() }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The best move.
    pub best: Square,
    /// What it is worth to the side to move: discs more at the end. Of [`Goal::Winner`] only the sign counts.
    pub discs: f32,
    /// Plies searched; 0 when stopped before the first ply was.
    pub depth: u8,
    /// How many of a hundred cuts by probability are right: 100 when none was made.
    pub certainty: u8,
    /// Positions visited since the search began.
    pub nodes: u64,
    /// The moves expected, best first, passes left out.
    pub line: Vec<Square>,
    /// The value is proved by a search to the end.
    pub exact: bool,
    /// Which bound was reached: `Depth` when nothing is left to find.
    pub ended_by: EndedBy,
}

/// A searcher with its memory. One search at a time; what it finds depends on nothing it searched before.
#[derive(Debug)]
pub struct Engine {
    table: Table,
    weights: Arc<Weights>,
}

impl Engine {
    /// An engine with a table of at most this many bytes.
    #[must_use]
    pub fn new(weights: Arc<Weights>, table_bytes: usize) -> Self {
        Self { table: Table::with_bytes(table_bytes), weights }
    }

    /// Searches until a limit or the flag ends it. `each` is told of every finished depth and may end the search too.
    /// `None` when the side to move has no move.
    pub fn search(
        &mut self,
        position: Position,
        limits: &Limits,
        stop: &Stop,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        self.table.forget();
        let board = Board::from(position);
        #[cfg(target_arch = "x86_64")]
        if let Some(modern) = Modern::detect() {
            return self.run(modern, board, limits, stop, each);
        }
        self.run(Portable, board, limits, stop, each)
    }

    /// What a position looks worth to the side to move, in discs, without search.
    #[must_use]
    pub fn evaluate(&self, position: Position) -> f32 {
        Node::new(position.into()).evaluate(Portable, &PATTERNS, &self.weights) as f32 / DISC as f32
    }

    fn run<C: Cpu>(
        &self,
        cpu: C,
        board: Board,
        limits: &Limits,
        stop: &Stop,
        each: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<Report> {
        let legal = board.moves(cpu);
        let first = Square::new(Squares(legal).next()?)?;
        let mut report = Report::unsearched(first);
        if stop.is_stopped() {
            return Some(report);
        }
        let mut searcher = Searcher {
            cpu,
            table: &self.table,
            patterns: &PATTERNS,
            weights: &self.weights,
            stop,
            nodes: 0,
            most_nodes: limits.nodes,
            stopped: false,
            cuts: 0,
        };
        let node = Node::new(board);
        let empties = board.empties().count_ones() as u8;
        let mut guess = 0;
        for step in schedule(empties, limits) {
            let mut line = Line::default();
            let value = searcher.aspire(&node, guess, step, limits.goal, &mut line);
            report.nodes = searcher.nodes;
            let line = squares(&line);
            if let Some(&best) = line.first() {
                // Of a search that was stopped, a move that already proved better than the first is still the best known.
                (report.best, report.line) = (best, line);
            }
            if searcher.stopped {
                report.ended_by = if stop.is_stopped() { EndedBy::Stop } else { EndedBy::Nodes };
                return Some(report);
            }
            guess = value;
            report.discs = value as f32 / DISC as f32;
            report.depth = step.depth;
            report.exact = step.depth == empties && step.certainty == SURE;
            report.certainty = cut::percent(step.certainty);
            if each(&report).is_break() {
                report.ended_by = EndedBy::Stop;
                return Some(report);
            }
        }
        report.ended_by = EndedBy::Depth;
        Some(report)
    }
}

impl Report {
    /// A legal move, for a search that did not begin.
    fn unsearched(first: Square) -> Self {
        Self {
            best: first,
            discs: 0.0,
            depth: 0,
            certainty: 100,
            nodes: 0,
            line: vec![first],
            exact: false,
            ended_by: EndedBy::Stop,
        }
    }
}

fn squares(line: &Line) -> Vec<Square> {
    line.0.iter().filter_map(|&square| Square::new(square)).collect()
}

/// Certainty grows with what is left to do: the first searches only find an order of moves for the later ones.
fn schedule(empties: u8, limits: &Limits) -> Vec<Effort> {
    let to_end = empties <= limits.solve_from;
    let deepest = limits.depth.min(empties).max(1);
    let last = if to_end { empties.saturating_sub(END_JUMP).max(1).min(deepest) } else { deepest };
    let mut steps: Vec<_> = (1..=last).map(|depth| Effort { depth, certainty: limits.least_certainty.0 }).collect();
    if to_end {
        let selective = empties >= SELECTIVE_END;
        let certainties = if selective { limits.least_certainty.0..cut::CERTAINTIES } else { 0..0 };
        steps.extend(certainties.map(|certainty| Effort { depth: empties, certainty }));
        steps.push(Effort { depth: empties, certainty: SURE });
    }
    steps
}

/// The search to the end begins this many plies before a search by depth would reach it.
const END_JUMP: u8 = 8;

/// From this many empty squares on, searches to the end are selective before they are sure.
const SELECTIVE_END: u8 = 16;

impl<C: Cpu> Searcher<'_, C> {
    /// A search in a small window round the value expected, widened on the side where it fails.
    fn aspire(&mut self, node: &Node, guess: Value, step: Effort, goal: Goal, line: &mut Line) -> Value {
        let empties = node.board.empties().count_ones() as u8;
        let to_end = step.depth == empties;
        if to_end && goal == Goal::Winner {
            return self.principal(node, (-1, 1), step, line);
        }
        let (center, mut width) = if to_end { (even(guess), DISC) } else { (guess, 2 * DISC) };
        let (mut alpha, mut beta) = (center - width, center + width);
        let mut found = Line::default();
        for _ in 0..WIDENINGS {
            let value = self.principal(node, (alpha, beta), step, &mut found);
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
        self.principal(node, (-INFINITE, INFINITE), step, line)
    }
}

/// After so many failures a window is opened fully. Selective searches may fail now on one side, now on the other, and this ends it.
const WIDENINGS: u32 = 4;

/// The nearest value that a finished game can have.
fn even(value: Value) -> Value {
    (value + DISC).div_euclid(2 * DISC) * 2 * DISC
}
