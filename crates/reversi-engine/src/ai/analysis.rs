//! Evaluation of positions, and of the moves of a game, by the engine.
//!
//! ```text
//!   a position ──deepen──▶ PositionAnalysis, PositionAnalysis ... the last      the best moves, deeper and deeper
//!   each position of a game ──study──▶ Study ──judge──▶ JudgedMove      the loss of each move
//! ```
//!
//! Evaluations are black's expected discs minus white's at the end, with empty squares counted for the winner. As in
//! the engine, nothing here reads a clock: the caller stops a search by its flag.
use std::iter;
use std::ops::ControlFlow;

use super::engine::{END_JUMP, Engine, Engines, Limits, Report};
use crate::rules::{Color, Outcome, Position, Square};
use crate::search::{EndedBy, Stop};

/// The bounds of the search of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Maximum depth in plies.
    pub depth: u8,
    /// Maximum number of visited positions.
    pub nodes: u64,
}

/// Positions with at most this many empty squares are always solved, which takes milliseconds.
pub const SOLVED: u8 = 12;

/// The maximum depth: no position has more empty squares.
pub const MAX_DEPTH: u8 = 60;

/// A move, its evaluation, and the moves expected after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// For black, in discs.
    pub evaluation: f32,
    /// Search depth in plies; 0 for a static evaluation.
    pub depth: u8,
    /// Whether it is proved by a search to the end.
    pub exact: bool,
    /// The nominal share of correct ProbCut cuts, in percent.
    pub certainty: u8,
    /// The moves without passes; empty if the game is over.
    pub moves: Vec<Square>,
}

/// The result so far of the analysis of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionAnalysis {
    /// From the best to the worst for the side to move.
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
    /// The evaluation at each search depth, from 0 (static) on.
    history: Vec<(u8, f32)>,
}

/// The moves of a game with their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameMoves {
    /// The moves in order, without passes.
    pub moves: Vec<PlayedMove>,
    /// The position after the last move and a forced pass.
    pub last: Position,
}

/// One move of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// From 0, counting passes.
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
    /// The move's evaluation for black: the best line's minus the loss.
    pub evaluation: f32,
    /// The loss against the best line in discs, 0 or more.
    pub loss: f32,
    /// Whether both evaluations are proved.
    pub exact: bool,
    /// Positions visited.
    pub nodes: u64,
}

/// Analyses a position by iterative deepening with one of the engines, and calls `on_result` with the best moves so
/// far, at most `lines`. The last call has `last` set. Without a legal move `on_result` is never called.
pub fn deepen(
    engines: &Engines,
    position: Position,
    effort: Effort,
    lines: usize,
    stop: &Stop,
    on_result: &mut dyn FnMut(PositionAnalysis),
) {
    if position.legal_moves().is_empty() {
        return;
    }
    engines.with(|engine| {
        if lines > 1 {
            deepen_all(engine, position, effort, lines, stop, on_result)
        } else {
            deepen_best(engine, position, effort, stop, on_result)
        }
    });
}

fn deepen_best(
    engine: &mut Engine,
    position: Position,
    effort: Effort,
    stop: &Stop,
    on_result: &mut dyn FnMut(PositionAnalysis),
) {
    let found = |line: Line, nodes, last| PositionAnalysis { lines: vec![line], nodes, last };
    let report = engine.search(position, &effort.limits(position), stop, &mut |report| {
        on_result(found(Line::reported(position, report), report.nodes, false));
        ControlFlow::Continue(())
    });
    if let Some(report) = report {
        on_result(found(Line::final_result(engine, position, &report), report.nodes, true));
    }
}

/// Searches every move separately: a search for the best move gives only bounds for the others.
fn deepen_all(
    engine: &mut Engine,
    position: Position,
    effort: Effort,
    lines: usize,
    stop: &Stop,
    on_result: &mut dyn FnMut(PositionAnalysis),
) {
    let limits = effort.limits(position);
    let mut found = PositionAnalysis { lines: Vec::new(), nodes: 0, last: false };
    for depth in depths(empties(position), limits.depth) {
        let Some(mut ranked) = rank(engine, position, depth, limits.nodes, &mut found.nodes, stop) else { break };
        ranked.truncate(lines);
        found.lines = ranked;
        on_result(found.clone());
    }
    on_result(PositionAnalysis { last: true, ..found });
}

/// The engine's own schedule: the search to the end begins [`END_JUMP`] plies before one by depth would reach it.
fn depths(empties: u8, max: u8) -> impl Iterator<Item = u8> {
    let last = if max < empties { max } else { empties.saturating_sub(END_JUMP).max(1) };
    (1..=last).chain(iter::once(empties).filter(move |_| last < empties && empties <= max))
}

/// All moves searched to `depth`, best first. `None` if stopped or out of nodes, but not at depth 1.
fn rank(
    engine: &mut Engine,
    position: Position,
    depth: u8,
    max_nodes: u64,
    nodes: &mut u64,
    stop: &Stop,
) -> Option<Vec<Line>> {
    let mut ranked = Vec::new();
    for square in position.legal_moves().iter() {
        let after = position.play_unchecked(square).after_forced_pass().0;
        let mut line = if after.is_over() {
            Line::over(after)
        } else if depth == 1 {
            Line::unsearched(engine, after)
        } else {
            let limits = Limits {
                depth: depth - 1,
                solve_from: depth - 1,
                nodes: max_nodes.saturating_sub(*nodes),
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

/// Searches a position, in which no pass is forced, with one of the engines.
#[must_use]
pub fn study(engines: &Engines, position: Position, effort: Effort, stop: &Stop) -> Study {
    if position.legal_moves().is_empty() {
        let best = Line::over(position);
        return Study { turn: position.turn(), nodes: 0, history: vec![(0, best.evaluation)], best };
    }
    engines.with(|engine| {
        let unsearched = Line::unsearched(engine, position);
        let mut history = vec![(0, unsearched.evaluation)];
        let report = engine.search(position, &effort.limits(position), stop, &mut |report| {
            history.push((report.depth, for_side(position.turn(), report.discs)));
            ControlFlow::Continue(())
        });
        let (best, nodes) = match report {
            Some(report) => (Line::final_result(engine, position, &report), report.nodes),
            None => (unsearched, 0),
        };
        Study { turn: position.turn(), best, nodes, history }
    })
}

/// The loss of the move `played`, which led from position `before` to `after`.
#[must_use]
pub fn judge(before: &Study, played: Square, after: &Study) -> JudgedMove {
    let exact = before.best.exact && after.best.exact;
    let loss = if before.best.moves.first() == Some(&played) {
        0.0
    } else if before.best.exact || after.best.exact {
        for_side(before.turn, before.best.evaluation - after.best.evaluation)
    } else {
        // Searches that end at the same ply have similar errors.
        let depth = before.best.depth.min(after.best.depth + 1);
        for_side(before.turn, before.at(depth) - after.at(depth.saturating_sub(1)))
    };
    let loss = loss.max(0.0);
    let evaluation = before.best.evaluation - for_side(before.turn, loss);
    JudgedMove { best: before.best.clone(), evaluation, loss, exact, nodes: before.nodes }
}

impl GameMoves {
    /// Plays `squares` and keeps the moves from ply `from` on. Ends before an illegal move.
    #[must_use]
    pub fn of(start: Position, squares: impl IntoIterator<Item = Square>, from: u16) -> Self {
        let (mut moves, mut ply) = (Vec::new(), 0);
        let (mut position, passed) = start.after_forced_pass();
        ply += u16::from(passed.is_some());
        for square in squares {
            let Ok(played) = position.play(square) else { break };
            if ply >= from {
                moves.push(PlayedMove { ply, position, square });
            }
            let (next, passed) = played.after_forced_pass();
            position = next;
            ply += 1 + u16::from(passed.is_some());
        }
        Self { moves, last: position }
    }

    /// The position of each move, and the last position.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = Position> {
        (0..self.moves.len() + 1).map(|index| self.moves.get(index).map_or(self.last, |made| made.position))
    }
}

impl Study {
    /// The evaluation of the deepest search up to `depth`.
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

    /// As reported; the static evaluation if the search was stopped before its first ply.
    fn final_result(engine: &Engine, position: Position, report: &Report) -> Self {
        let reported = Self::reported(position, report);
        if report.depth > 0 {
            return reported;
        }
        Self { evaluation: Self::unsearched(engine, position).evaluation, ..reported }
    }

    fn unsearched(engine: &Engine, position: Position) -> Self {
        let evaluation = for_side(position.turn(), engine.evaluate(position));
        Self { evaluation, depth: 0, exact: false, certainty: 100, moves: Vec::new() }
    }

    fn over(position: Position) -> Self {
        let evaluation = f32::from(Outcome::of(position.board()).difference());
        Self { evaluation, depth: 0, exact: true, certainty: 100, moves: Vec::new() }
    }
}

/// Converts from a side's point of view to black's, or back.
fn for_side(side: Color, discs: f32) -> f32 {
    // The subtraction avoids -0 for a draw.
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
                line.moves
                    .iter()
                    .fold(position, |position, &square| position.play(square).unwrap().after_forced_pass().0);
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
                let after = position.play(line.moves[0]).unwrap().after_forced_pass().0;
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
        let after = position.play(played).unwrap().after_forced_pass().0;
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
        for PlayedMove { ply, position, .. } in &whole.moves {
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
