//! The result of a match as text and JSON.

use std::{fmt::Write as _, fs::File, io::Write as _, path::PathBuf};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    game::ArenaGame,
    results::{MatchResults, side_of_a},
};
use crate::{
    match_statistics::{Difference, Score, Sprt, Verdict},
    rules::{Color, Transcript},
};

/// The score, the difference in Elo and the SPRT, in a few lines.
pub(super) fn summary(results: &MatchResults) -> String {
    let MatchResults { plan, score, verdict, .. } = results;
    let mut text = format!("{} of {} games: {} {score}", results.games.len(), plan.games, plan.a);
    let faults = results.games.iter().filter(|game| game.fault.is_some()).count();
    if faults > 0 {
        let _ = write!(text, " ({faults} by a player's fault)");
    }
    if let Some(difference) = Difference::of(score) {
        let [none, half, even, more, both] = score.pairs;
        let _ = write!(text, "\n{difference}, at 95 %");
        let _ = write!(text, "\npairs with 0, ½, 1, 1½, 2 points: {none}, {half}, {even}, {more}, {both}");
    }
    if let Some(sprt) = &plan.sprt {
        let (low, high) = sprt.bounds();
        let _ = write!(text, "\nlikelihood ratio {:+.2}, ends at {low:+.2} or {high:+.2}", sprt.llr(score));
        if let Some(elo) = verdict.map(|verdict| sprt.believed(verdict)) {
            let _ = write!(text, ": {elo:+} Elo is accepted");
        }
    }
    text
}

pub(super) fn json(results: &MatchResults) -> String {
    let MatchResults { plan, score, .. } = results;
    let value = json!({
        "a": plan.a.to_string(),
        "b": plan.b.to_string(),
        "seed": plan.seed,
        "planned": plan.games,
        "played": results.games.len(),
        "won": score.wins,
        "drawn": score.draws,
        "lost": score.losses,
        "pairs": score.pairs,
        "elo": Difference::of(score).map(difference),
        "sprt": plan.sprt.as_ref().map(|sprt| test(sprt, score, results.verdict)),
        "games": (0..).zip(&results.games).map(|(index, played)| game(index, played)).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

/// The moves of every game, one line each, with the opening and without passes.
pub(super) fn transcripts(results: &MatchResults) -> String {
    results.games.iter().map(|game| format!("{}\n", game.moves)).collect()
}

/// An output file, created before the games, so that a bad path does not lose results.
pub(super) struct OutputFile(Option<(PathBuf, File)>);

impl OutputFile {
    /// Creates or truncates the file.
    pub(super) fn open(path: Option<PathBuf>) -> anyhow::Result<Self> {
        let open = |path: PathBuf| {
            let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
            Ok((path, file))
        };
        path.map(open).transpose().map(Self)
    }

    pub(super) fn write(self, text: &str) -> anyhow::Result<()> {
        let Some((path, mut file)) = self.0 else { return Ok(()) };
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// An infinite bound becomes null.
fn difference(Difference { elo, low, high }: Difference) -> Value {
    json!({ "difference": elo, "low": low, "high": high })
}

fn test(sprt: &Sprt, score: &Score, verdict: Option<Verdict>) -> Value {
    json!({
        "elo0": sprt.elo0(),
        "elo1": sprt.elo1(),
        "alpha": sprt.alpha(),
        "beta": sprt.beta(),
        "llr": sprt.llr(score),
        "believed": verdict.map(|verdict| sprt.believed(verdict)),
    })
}

fn game(index: u32, game: &ArenaGame) -> Value {
    let name = |side: Color| if side == side_of_a(index) { "a" } else { "b" };
    let board = game.moves.position().board();
    let opening = Transcript::from_squares(game.moves.squares()[..game.opening].iter().copied()).unwrap_or_default();
    json!({
        "number": index + 1,
        "black": name(Color::Black),
        "winner": game.winner.map(name),
        "discs": { "black": board.count(Color::Black), "white": board.count(Color::White) },
        "opening": opening.to_string(),
        "moves": game.moves.to_string(),
        "fault": game.fault,
    })
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{results, won_by};
    use super::*;

    #[test]
    fn a_contest_is_summarized_in_a_few_lines() {
        let mut results = results(20, Some("0,100"));
        for index in 0..6 {
            results.add(index, won_by(Some(if index < 4 { side_of_a(index) } else { Color::Black })));
        }
        let text = summary(&results);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "6 of 20 games: expert:1 5 won, 0 drawn, 1 lost");
        assert!(lines[1].starts_with("+280 Elo (") && lines[1].ends_with(", at 95 %"), "{text}");
        assert_eq!(lines[2], "pairs with 0, ½, 1, 1½, 2 points: 0, 0, 1, 0, 2");
        assert!(lines[3].contains("ends at -2.94 or +2.94") && lines.len() == 4, "{text}");
    }

    #[test]
    fn the_file_has_every_game() {
        let mut results = results(4, None);
        let lost = ArenaGame { fault: Some("it has ended".into()), ..won_by(Some(Color::Black)) };
        results.add(0, won_by(Some(Color::Black)));
        results.add(1, lost);
        let value: Value = serde_json::from_str(&json(&results)).unwrap();
        assert_eq!(
            (&value["a"], &value["played"], &value["pairs"]),
            (&json!("expert:1"), &json!(2), &json!([0, 0, 1, 0, 0]))
        );
        assert_eq!((&value["games"][0]["winner"], &value["games"][0]["black"]), (&json!("a"), &json!("a")));
        assert_eq!((&value["games"][1]["winner"], &value["games"][1]["fault"]), (&json!("b"), &json!("it has ended")));
        assert_eq!(transcripts(&results), "\n\n");
    }
}
