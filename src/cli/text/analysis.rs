//! An analysed game as text: one line per move, and the loss of each side.

use serde_json::json;

use crate::{
    cli::say,
    client::{AnalysisLine, MoveAnalysis},
    rules::{ByColor, Color},
};

/// Prints moves as they are analysed.
pub(in crate::cli) struct AnalysisPrinter {
    /// Whether each line is a JSON object instead of a row of a table.
    json: bool,
    names: Option<ByColor<String>>,
    moves: Vec<MoveAnalysis>,
}

/// Maximum number of moves that are listed as a side's worst.
const WORST: usize = 3;

/// The minimum loss of a listed move, in discs: smaller ones are noise of the search.
const MIN_LOSS: f64 = 0.5;

impl AnalysisPrinter {
    pub(in crate::cli) fn new(json: bool, names: Option<ByColor<String>>) -> Self {
        Self { json, names, moves: Vec::new() }
    }

    pub(in crate::cli) fn print_move(&mut self, judged: MoveAnalysis) {
        let judged = rounded(judged);
        if self.json {
            say(object(&judged));
        } else {
            if self.moves.is_empty() {
                say("ply  move       black  best          loss");
            }
            say(row(&judged));
        }
        self.moves.push(judged);
    }

    /// Prints the total losses of both sides.
    pub(in crate::cli) fn print_summary(&self) {
        if self.json {
            let side = |side| {
                let of_side = self.of_side(side);
                json!({ "moves": of_side.len(), "loss": lost(&of_side) })
            };
            say(json!({ "black": side(Color::Black), "white": side(Color::White) }));
        } else {
            Color::ALL.into_iter().for_each(|side| say(self.summary(side)));
        }
    }

    fn of_side(&self, side: Color) -> Vec<&MoveAnalysis> {
        self.moves.iter().filter(|judged| judged.side == side).collect()
    }

    fn summary(&self, side: Color) -> String {
        let mut of_side = self.of_side(side);
        let name = self.names.as_ref().map(|names| names[side].as_str()).filter(|name| !name.is_empty());
        let player = name.map_or_else(|| side.to_string(), |name| format!("{side}, {name}"));
        let total = lost(&of_side);
        of_side.retain(|judged| judged.loss >= MIN_LOSS);
        of_side.sort_by(|one, other| other.loss.total_cmp(&one.loss));
        let worst = of_side.iter().take(WORST).map(|judged| {
            let best = judged.best.moves.first().map(|best| format!(" for {best}")).unwrap_or_default();
            format!("{}. {}{best} (-{:.1})", judged.ply + 1, judged.square, judged.loss)
        });
        let worst: Vec<String> = worst.collect();
        let worst = if worst.is_empty() { String::new() } else { format!("; worst: {}", worst.join(", ")) };
        format!("{player}: lost {total:.1} discs in {} moves{worst}", self.of_side(side).len())
    }
}

/// Rounds all values to hundredths of a disc.
fn rounded(mut judged: MoveAnalysis) -> MoveAnalysis {
    for discs in [&mut judged.best.evaluation, &mut judged.evaluation, &mut judged.loss] {
        *discs = hundredths(*discs);
    }
    judged
}

fn lost(moves: &[&MoveAnalysis]) -> f64 {
    hundredths(moves.iter().map(|judged| judged.loss).sum())
}

fn row(judged: &MoveAnalysis) -> String {
    let MoveAnalysis { ply, side, square, best, evaluation, loss, exact, .. } = judged;
    let played_best = best.moves.first() == Some(square);
    let best = if played_best { "=".to_owned() } else { shown(best) };
    let loss = if *loss < 0.05 { String::new() } else { format!("{loss:.1}{}", if *exact { "*" } else { "" }) };
    let proved = if *exact { "*" } else { " " };
    format!("{:3}  {side:5} {square}  {evaluation:+6.1}{proved} {best:12}  {loss}", ply + 1).trim_end().to_owned()
}

/// Such as `d3 +1.5`, with `*` if proved.
fn shown(best: &AnalysisLine) -> String {
    let square = best.moves.first().map(ToString::to_string).unwrap_or_default();
    format!("{square} {:+.1}{}", best.evaluation, if best.exact { "*" } else { "" })
}

fn object(judged: &MoveAnalysis) -> serde_json::Value {
    let best = &judged.best;
    let line: Vec<String> = best.moves.iter().map(ToString::to_string).collect();
    json!({
        "ply": judged.ply,
        "side": judged.side.to_string(),
        "square": judged.square.to_string(),
        "evaluation": judged.evaluation,
        "loss": judged.loss,
        "exact": judged.exact,
        "best": {
            "evaluation": best.evaluation,
            "depth": best.depth,
            "exact": best.exact,
            "certainty": best.certainty,
            "line": line,
        },
        "nodes": judged.nodes,
    })
}

/// Rounds to hundredths, and -0 to 0: a draw for white and an empty sum are -0.
fn hundredths(discs: f64) -> f64 {
    (discs * 100.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(ply: u32, square: &str, best: &str, loss: f64, exact: bool) -> MoveAnalysis {
        let side = if ply.is_multiple_of(2) { Color::Black } else { Color::White };
        let moves = vec![best.parse().unwrap()];
        let best = AnalysisLine { evaluation: 2.0, depth: 9, exact, certainty: 100, moves };
        MoveAnalysis { ply, side, square: square.parse().unwrap(), best, evaluation: 2.0 - loss, loss, exact, nodes: 7 }
    }

    #[test]
    fn a_row_shows_the_better_move_and_its_margin() {
        assert_eq!(row(&judged(0, "f5", "f5", 0.0, false)), "  1  black f5    +2.0  =");
        assert_eq!(row(&judged(59, "h8", "a1", 4.0, true)), " 60  white h8    -2.0* a1 +2.0*      4.0*");
    }

    #[test]
    fn figures_have_fixed_decimals_and_no_negative_zero() {
        let figures = rounded(MoveAnalysis { evaluation: -0.001, ..judged(0, "f5", "d3", 0.104, false) });
        assert_eq!((figures.loss, figures.evaluation, figures.evaluation.is_sign_positive()), (0.1, 0.0, true));
    }

    #[test]
    fn a_summary_names_the_worst_first() {
        let names = Some(ByColor::new("ann".to_owned(), String::new()));
        let mut printer = AnalysisPrinter::new(true, names);
        printer.moves = vec![
            judged(0, "f5", "f5", 0.0, false),
            judged(2, "c3", "d3", 1.25, false),
            judged(4, "c4", "d3", 6.0, true),
        ];
        assert_eq!(
            printer.summary(Color::Black),
            "black, ann: lost 7.2 discs in 3 moves; worst: 5. c4 for d3 (-6.0), 3. c3 for d3 (-1.2)"
        );
        assert_eq!(printer.summary(Color::White), "white: lost 0.0 discs in 0 moves");
        let object = object(&printer.moves[2]);
        assert_eq!((&object["loss"], &object["best"]["line"][0]), (&json!(6.0), &json!("d3")));
    }
}
