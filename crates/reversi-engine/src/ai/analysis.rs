//! Evaluation of positions, and of the moves of a game, by the engine.
//!
//! ```text
//!   a position ──deepen──▶ PositionAnalysis, PositionAnalysis ... the last      the best moves, deeper and deeper
//!   each position of a game ──study──▶ Study ──judge──▶ JudgedMove      what each move lost
//! ```
//!
//! Evaluations are black's expected discs minus white's at the end, empty squares counted for the winner. As in the engine,
//! nothing here reads a clock: the caller stops a search by its flag.
use std::iter;
use std::ops::ControlFlow;

use super::engine::{END_JUMP, Engine, Engines, Limits, Report};
use crate::rules::{Color, Outcome, Position, Square};
use crate::search::{EndedBy, Stop};

/// The bounds of the search of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The most plies to look ahead.
    pub depth: u8,
    /// The most positions visited.
    pub nodes: u64,
}

/// With at most this many empty squares a position is solved whatever the effort: it takes milliseconds.
pub const SOLVED: u8 = 12;

/// The greatest depth: no position has more empty squares.
pub const MOST_DEPTH: u8 = 60;

/// A move, its evaluation, and the moves expected after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// For black, in discs.
    pub evaluation: f32,
    /// Plies looked ahead; 0 for a glance.
    pub depth: u8,
    /// Proved by a search to the end.
    pub exact: bool,
    /// The promised share of ProbCut cuts that are right, in percent.
    pub certainty: u8,
    /// The moves, passes left out; empty where the game is over.
    pub moves: Vec<Square>,
}

/// The result of the analysis of a position so far.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionAnalysis {
    /// Best first for the side to move.
    pub lines: Vec<Line>,
    /// Positions visited.
    pub nodes: u64,
    /// Whether this is the final result.
    pub last: bool,
}

/// The evaluation of one position of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    turn: Color,
    /// The best line.
    pub best: Line,
    /// Positions visited.
    pub nodes: u64,
    /// The evaluation by the depth of the search, from a glance on.
    history: Vec<(u8, f32)>,
}

/// A game as it was played: every move with the position in which it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameMoves {
    /// In order; passes are none.
    pub moves: Vec<Move>,
    /// After the last move and the pass that it forced.
    pub last: Position,
}

/// One move of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Counted from 0, passes too.
    pub ply: u16,
    /// The position before it; the side to move made the move.
    pub position: Position,
    /// The square.
    pub square: Square,
}

/// The evaluation of one move of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedMove {
    /// The engine's best line.
    pub best: Line,
    /// The move's evaluation for black: the best line's, less the loss.
    pub evaluation: f32,
    /// The loss against the best line in discs, 0 or more.
    pub loss: f32,
    /// Both evaluations are proved.
    pub exact: bool,
    /// Positions visited.
    pub nodes: u64,
}

/// Analyses a position by iterative deepening with one of the engines, and calls `each` with the best moves so far, at most
/// `lines` of them. The last call has `last` set. `each` is never called where the side to move has no move.
pub fn deepen(
    engines: &Engines,
    position: Position,
    effort: Effort,
    lines: usize,
    stop: &Stop,
    each: &mut dyn FnMut(PositionAnalysis),
) {
    if position.legal_moves().is_empty() {
        return;
    }
    engines.with(|engine| {
        if lines > 1 {
            deepen_all(engine, position, effort, lines, stop, each)
        } else {
            deepen_best(engine, position, effort, stop, each)
        }
    });
}

fn deepen_best(
    engine: &mut Engine,
    position: Position,
    effort: Effort,
    stop: &Stop,
    each: &mut dyn FnMut(PositionAnalysis),
) {
    let found = |line: Line, nodes, last| PositionAnalysis { lines: vec![line], nodes, last };
    let report = engine.search(position, &effort.limits(position), stop, &mut |report| {
        each(found(Line::reported(position, report), report.nodes, false));
        ControlFlow::Continue(())
    });
    if let Some(report) = report {
        each(found(Line::settled(engine, position, &report), report.nodes, true));
    }
}

/// Every move is searched by itself: a search for the best move gives only bounds for the others.
fn deepen_all(
    engine: &mut Engine,
    position: Position,
    effort: Effort,
    lines: usize,
    stop: &Stop,
    each: &mut dyn FnMut(PositionAnalysis),
) {
    let limits = effort.limits(position);
    let mut found = PositionAnalysis { lines: Vec::new(), nodes: 0, last: false };
    for depth in depths(empties(position), limits.depth) {
        let Some(mut ranked) = rank(engine, position, depth, limits.nodes, &mut found.nodes, stop) else { break };
        ranked.truncate(lines);
        found.lines = ranked;
        each(found.clone());
    }
    each(PositionAnalysis { last: true, ..found });
}

/// The engine's own schedule: the search to the end begins [`END_JUMP`] plies before one by depth would reach it.
fn depths(empties: u8, most: u8) -> impl Iterator<Item = u8> {
    let last = if most < empties { most } else { empties.saturating_sub(END_JUMP).max(1) };
    (1..=last).chain(iter::once(empties).filter(move |_| last < empties && empties <= most))
}

/// All moves searched to `depth`, best first. `None` when stopped before the end; depth 1 is never stopped.
fn rank(
    engine: &mut Engine,
    position: Position,
    depth: u8,
    most: u64,
    nodes: &mut u64,
    stop: &Stop,
) -> Option<Vec<Line>> {
    let mut ranked = Vec::new();
    for square in position.legal_moves().iter() {
        let after = position.play_unchecked(square).settle().0;
        let mut line = if after.is_over() {
            Line::over(after)
        } else if depth == 1 {
            Line::glance(engine, after)
        } else {
            let limits = Limits {
                depth: depth - 1,
                solve_from: depth - 1,
                nodes: most.saturating_sub(*nodes),
                ..Limits::default()
            };
            let report = engine.search(after, &limits, stop, &mut |_| ControlFlow::Continue(()))?;
            *nodes += report.nodes;
            if report.ended_by != EndedBy::Depth {
                return None;
            }
            Line::reported(after, &report)
        };
        line.depth = depth;
        line.moves.insert(0, square);
        ranked.push(line);
    }
    ranked.sort_by(|one, other| {
        for_side(position.turn(), other.evaluation).total_cmp(&for_side(position.turn(), one.evaluation))
    });
    Some(ranked)
}

/// Searches a position of a game, after any forced pass, with one of the engines.
#[must_use]
pub fn study(engines: &Engines, position: Position, effort: Effort, stop: &Stop) -> Study {
    if position.legal_moves().is_empty() {
        let best = Line::over(position);
        return Study { turn: position.turn(), nodes: 0, history: vec![(0, best.evaluation)], best };
    }
    engines.with(|engine| {
        let glance = Line::glance(engine, position);
        let mut history = vec![(0, glance.evaluation)];
        let report = engine.search(position, &effort.limits(position), stop, &mut |report| {
            history.push((report.depth, for_side(position.turn(), report.discs)));
            ControlFlow::Continue(())
        });
        let (best, nodes) = match report {
            Some(report) => (Line::settled(engine, position, &report), report.nodes),
            None => (glance, 0),
        };
        Study { turn: position.turn(), best, nodes, history }
    })
}

/// The loss of `played`, which led from the one position to the other.
#[must_use]
pub fn judge(before: &Study, played: Square, after: &Study) -> JudgedMove {
    let exact = before.best.exact && after.best.exact;
    let loss = if before.best.moves.first() == Some(&played) {
        0.0
    } else if before.best.exact || after.best.exact {
        for_side(before.turn, before.best.evaluation - after.best.evaluation)
    } else {
        // Searches that end on the same ply have similar errors.
        let depth = before.best.depth.min(after.best.depth + 1);
        for_side(before.turn, before.at(depth) - after.at(depth.saturating_sub(1)))
    };
    let loss = loss.max(0.0);
    // Of searches of different lengths only the common part of their ranges is taken.
    let evaluation = before.best.evaluation - for_side(before.turn, loss);
    JudgedMove { best: before.best.clone(), evaluation, loss, exact, nodes: before.nodes }
}

impl GameMoves {
    /// The game of these moves, of which those before the ply `from` are made but not part of it. It ends before a move
    /// that is illegal.
    #[must_use]
    pub fn of(start: Position, squares: impl IntoIterator<Item = Square>, from: u16) -> Self {
        let (mut moves, mut ply) = (Vec::new(), 0);
        let (mut position, passed) = start.settle();
        ply += u16::from(passed.is_some());
        for square in squares {
            let Ok(played) = position.play(square) else { break };
            if ply >= from {
                moves.push(Move { ply, position, square });
            }
            let (next, passed) = played.settle();
            position = next;
            ply += 1 + u16::from(passed.is_some());
        }
        Self { moves, last: position }
    }

    /// The position of each move, and the last one.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = Position> {
        (0..self.moves.len() + 1).map(|at| self.moves.get(at).map_or(self.last, |made| made.position))
    }
}

impl Study {
    /// The evaluation of the deepest search that was no deeper than this.
    fn at(&self, depth: u8) -> f32 {
        let known = self.history.iter().rev().find(|(of, _)| *of <= depth);
        known.map_or(self.best.evaluation, |&(_, evaluation)| evaluation)
    }
}

impl Effort {
    fn limits(self, position: Position) -> Limits {
        if empties(position) <= SOLVED {
            return Limits::default();
        }
        Limits { depth: self.depth, solve_from: self.depth, nodes: self.nodes, ..Limits::default() }
    }
}

impl Line {
    fn reported(position: Position, report: &Report) -> Self {
        Self {
            evaluation: for_side(position.turn(), report.discs),
            depth: report.depth,
            exact: report.exact,
            certainty: report.certainty,
            moves: report.line.clone(),
        }
    }

    /// As reported; the static evaluation where the search was stopped before its first ply.
    fn settled(engine: &Engine, position: Position, report: &Report) -> Self {
        let reported = Self::reported(position, report);
        if report.depth > 0 {
            return reported;
        }
        Self { evaluation: Self::glance(engine, position).evaluation, ..reported }
    }

    fn glance(engine: &Engine, position: Position) -> Self {
        let evaluation = for_side(position.turn(), engine.evaluate(position));
        Self { evaluation, depth: 0, exact: false, certainty: 100, moves: Vec::new() }
    }

    fn over(position: Position) -> Self {
        let evaluation = f32::from(Outcome::of(position.board()).difference());
        Self { evaluation, depth: 0, exact: true, certainty: 100, moves: Vec::new() }
    }
}

/// From a side's point of view to black's, or back.
fn for_side(side: Color, discs: f32) -> f32 {
    // Not a negative zero of a draw.
    if side == Color::Black { discs } else { 0.0 - discs }
}

fn empties(position: Position) -> u8 {
    position.board().empties().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Transcript, opening};

    const SOME: Effort = Effort { depth: 4, nodes: u64::MAX };

    /// A game of random moves to its end.
    fn random_game(seed: u64) -> Transcript {
        let mut game = Transcript::from_squares(opening::random(10, seed)).unwrap();
        let mut step = seed;
        while let Some(square) = {
            let legal = game.position().legal_moves();
            step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            legal.iter().nth((step >> 33) as usize % usize::from(legal.count()).max(1))
        } {
            game.push(square).unwrap();
        }
        game
    }

    fn position_with(empties_left: u8, seed: u64) -> Position {
        let game = random_game(seed);
        game.positions().find(|&position| empties(position) == empties_left).unwrap()
    }

    fn all_found(position: Position, effort: Effort, lines: usize, stop: &Stop) -> Vec<PositionAnalysis> {
        let mut all = Vec::new();
        deepen(Engines::usual(), position, effort, lines, stop, &mut |found| all.push(found));
        all
    }

    #[test]
    fn one_line_and_several_lines_agree_in_solved_positions() {
        for seed in 0..4 {
            let position = position_with(9, seed);
            let (one, several) =
                (all_found(position, SOME, 1, &Stop::new()), all_found(position, SOME, 64, &Stop::new()));
            let (one, several) = (one.last().unwrap(), several.last().unwrap());
            assert!(one.last && several.last && one.lines[0].exact);
            assert_eq!(one.lines[0].evaluation, several.lines[0].evaluation);
            assert_eq!(several.lines.len(), usize::from(position.legal_moves().count()));
            let side = |line: &Line| for_side(position.turn(), line.evaluation);
            assert!(several.lines.is_sorted_by(|one, other| side(one) >= side(other)), "{several:?}");
            for line in &several.lines {
                assert!(line.exact);
                line.moves.iter().fold(position, |position, &square| position.play(square).unwrap().settle().0);
            }
        }
    }

    #[test]
    fn results_have_increasing_depth_and_the_last_is_marked() {
        for lines in [1, 3] {
            let found = all_found(Position::START, SOME, lines, &Stop::new());
            let depths: Vec<u8> = found.iter().map(|found| found.lines[0].depth).collect();
            assert_eq!(depths, [1, 2, 3, 4, 4]);
            assert!(found.iter().rev().skip(1).all(|found| !found.last) && found[4].last);
            assert!(found.iter().all(|found| found.lines.len() == lines));
        }
    }

    #[test]
    fn a_search_stopped_before_its_start_has_a_shallow_result() {
        let stop = Stop::new();
        stop.stop();
        for lines in [1, 3] {
            let found = all_found(position_with(30, 1), SOME, lines, &stop);
            assert!(found.last().is_some_and(|found| found.last && found.lines[0].depth <= 1), "{found:?}");
        }
        let study = study(Engines::usual(), position_with(30, 1), SOME, &stop);
        assert_eq!((study.best.depth, study.best.exact), (0, false));
    }

    #[test]
    fn a_search_uses_only_the_memory_of_the_engines() {
        let (position, effort) = (position_with(30, 1), Effort { depth: 8, nodes: u64::MAX });
        let engines = |bytes| Engines::new(1, bytes);
        let of_study = |bytes| study(&engines(bytes), position, effort, &Stop::new()).nodes;
        let of_look = |bytes| {
            let mut nodes = 0;
            deepen(&engines(bytes), position, effort, 1, &Stop::new(), &mut |found| nodes = found.nodes);
            nodes
        };
        // A smaller memory visits more positions.
        assert!(of_study(1 << 10) > of_study(1 << 20) && of_look(1 << 10) > of_look(1 << 20));
    }

    #[test]
    fn perfect_moves_have_no_loss_and_others_their_exact_loss() {
        for seed in 0..4 {
            let position = position_with(8, seed);
            let before = study(Engines::usual(), position, SOME, &Stop::new());
            let every = all_found(position, SOME, 64, &Stop::new()).pop().unwrap().lines;
            for line in &every {
                let after = position.play(line.moves[0]).unwrap().settle().0;
                let after = study(Engines::usual(), after, SOME, &Stop::new());
                let judged = judge(&before, line.moves[0], &after);
                let lost = for_side(position.turn(), every[0].evaluation - line.evaluation);
                assert_eq!((judged.loss, judged.exact, judged.evaluation), (lost, true, line.evaluation));
            }
        }
    }

    #[test]
    fn unsolved_moves_are_compared_by_searches_of_equal_depth() {
        let position = position_with(40, 2);
        let before = study(Engines::usual(), position, SOME, &Stop::new());
        let played = position.legal_moves().iter().find(|square| before.best.moves[0] != *square).unwrap();
        let after = position.play(played).unwrap().settle().0;
        let after = study(Engines::usual(), after, SOME, &Stop::new());
        let judged = judge(&before, played, &after);
        let lost = for_side(position.turn(), before.at(4) - after.at(3));
        assert_eq!((judged.loss, judged.exact), (lost.max(0.0), false));
        assert_eq!(judged.evaluation, before.best.evaluation - for_side(position.turn(), judged.loss));
        assert_eq!(judge(&before, before.best.moves[0], &after).loss, 0.0);
    }

    #[test]
    fn passes_are_counted_and_the_opening_is_omitted() {
        let game = random_game(3);
        let whole = GameMoves::of(Position::START, game.squares().iter().copied(), 0);
        assert_eq!(whole.positions().collect::<Vec<_>>(), game.positions().collect::<Vec<_>>());
        for Move { ply, position, .. } in &whole.moves {
            assert_eq!(ply % 2 == 0, position.turn() == Color::Black);
        }
        let part = GameMoves::of(Position::START, game.squares().iter().copied(), 10);
        assert_eq!((part.moves[0].ply, part.last), (10, whole.last));
        assert_eq!(part.moves[..], whole.moves[10..]);
        assert_eq!(GameMoves::of(Position::START, [Square::ALL[0]], 0).last, Position::START);
    }

    #[test]
    fn a_finished_game_has_no_results() {
        let over = random_game(3).position();
        assert!(over.is_over() && all_found(over, SOME, 1, &Stop::new()).is_empty());
        let study = study(Engines::usual(), over, SOME, &Stop::new());
        assert!(study.best.exact && study.best.moves.is_empty());
    }
}
