//! What was measured, as a table, as JSON and as ratios.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A number with its name. Names are those of the JSON; what they mean is in `benches/README.md`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: f64,
}

/// All numbers of one measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures(Vec<Figure>);

impl Figures {
    /// Adds a number, where there is one.
    pub(super) fn add(&mut self, name: &'static str, value: Option<f64>) {
        self.0.extend(value.filter(|value| value.is_finite()).map(|value| Figure { name, value }));
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    pub(super) fn json(&self) -> Value {
        Value::Object(self.0.iter().map(|figure| (figure.name.to_owned(), json!(figure.value))).collect())
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<_> =
            self.0.iter().map(|Figure { name, value }| format!("  {name:<34}{:>14}", shown(*value))).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Four digits that count, and all before the point.
fn shown(value: f64) -> String {
    let digits = if value.abs() >= 1_000.0 || value == 0.0 { 0 } else { 3 - value.abs().log10().floor() as i32 };
    format!("{value:.*}", usize::try_from(digits.clamp(0, 6)).unwrap_or_default())
}

/// How often one was how much of the other: the ratios of each round, of which the middle one counts.
#[derive(Debug, Default)]
pub(super) struct Ratios {
    /// In the order of the table.
    names: Vec<&'static str>,
    rounds: BTreeMap<&'static str, Vec<f64>>,
}

impl Ratios {
    /// Adds a round.
    pub(super) fn add(&mut self, one: &Figures, other: &Figures) {
        for Figure { name, value } in &one.0 {
            let Some(other) = other.get(name).filter(|&other| other != 0.0) else { continue };
            if !self.names.contains(name) {
                self.names.push(name);
            }
            self.rounds.entry(name).or_default().push(value / other);
        }
    }

    pub(super) fn json(&self) -> Value {
        let told = self.names.iter().map(|name| {
            let ratios = self.sorted(name);
            let (low, middle, high) = spread(&ratios);
            (
                (*name).to_owned(),
                json!({ "median": middle, "lowest": low, "highest": high, "rounds": self.rounds[name] }),
            )
        });
        Value::Object(told.collect::<Map<_, _>>())
    }

    fn sorted(&self, name: &str) -> Vec<f64> {
        let mut ratios = self.rounds.get(name).cloned().unwrap_or_default();
        ratios.sort_by(f64::total_cmp);
        ratios
    }
}

impl std::fmt::Display for Ratios {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = self.names.iter().map(|name| {
            let (low, middle, high) = spread(&self.sorted(name));
            format!("  {name:<34}{middle:>10.3}  ({low:.3} to {high:.3})")
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// The lowest, the middle and the highest of sorted values. Of an even number the lower middle one.
fn spread(sorted: &[f64]) -> (f64, f64, f64) {
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    let last = sorted.len().saturating_sub(1);
    (at(0), at(last / 2), at(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64) -> Figures {
        let mut figures = Figures::default();
        figures.add("moves_per_second", Some(value));
        figures.add("nothing", None);
        figures
    }

    #[test]
    fn a_ratio_is_the_middle_one_of_the_rounds() {
        let mut ratios = Ratios::default();
        for (one, other) in [(1.0, 2.0), (9.0, 3.0), (4.0, 4.0)] {
            ratios.add(&of(one), &of(other));
        }
        let told = ratios.json();
        let ratio = &told["moves_per_second"];
        assert_eq!((&ratio["median"], &ratio["lowest"], &ratio["highest"]), (&json!(1.0), &json!(0.5), &json!(3.0)));
        assert_eq!(ratio["rounds"], json!([0.5, 3.0, 1.0]));
        assert_eq!(ratios.to_string(), "  moves_per_second                       1.000  (0.500 to 3.000)");
    }

    #[test]
    fn numbers_are_shown_with_four_digits() {
        let shown = [0.0, 0.012_34, 1.0 / 3.0, 12.345, 12_345.6].map(shown);
        assert_eq!(shown, ["0", "0.01234", "0.3333", "12.35", "12346"]);
    }

    #[test]
    fn what_was_not_measured_is_not_told() {
        assert_eq!(of(2.0).json(), json!({ "moves_per_second": 2.0 }));
    }
}
