//! Figures as a table, as JSON and as ratios.

use serde_json::{Value, json};

/// The figures of one measurement by name. `benches/README.md` explains the names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures(Vec<(&'static str, f64)>);

impl Figures {
    /// Adds a figure if it is a finite number.
    pub(crate) fn add(&mut self, name: &'static str, value: Option<f64>) {
        self.0.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|figure| figure.0 == name).map(|figure| figure.1)
    }

    pub(crate) fn json(&self) -> Value {
        self.0.iter().copied().collect()
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = self.0.iter().map(|&(name, value)| format!("  {name:<34}{:>14}", shown(value)));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Four significant digits, and all digits before the point.
fn shown(value: f64) -> String {
    let digits = if value.abs() >= 1_000.0 || value == 0.0 { 0 } else { 3 - value.abs().log10().floor() as i32 };
    format!("{value:.*}", usize::try_from(digits.clamp(0, 6)).unwrap_or_default())
}

/// Figures without a ratio: the length of the measurement, and the start of the process.
const NOT_COMPARED: [&str; 4] = ["seconds", "moves", "deliveries", "first_answer_ms"];

/// The figures of two targets, round by round.
#[derive(Debug, Default)]
pub(crate) struct Comparison(Vec<(Figures, Figures)>);

/// One figure of both targets, by round.
struct ComparedFigure {
    name: &'static str,
    one: Vec<f64>,
    other: Vec<f64>,
}

impl Comparison {
    pub(crate) fn add(&mut self, one: Figures, other: Figures) {
        self.0.push((one, other));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The figures that both targets have in every round.
    fn rows(&self) -> Vec<ComparedFigure> {
        let Some((first, _)) = self.0.first() else { return Vec::new() };
        let names = first.0.iter().map(|figure| figure.0).filter(|name| !NOT_COMPARED.contains(name));
        let row = |name| {
            let both = self.0.iter().map(|(one, other)| Some((one.get(name)?, other.get(name)?)));
            let (one, other) = both.collect::<Option<Vec<_>>>()?.into_iter().unzip();
            Some(ComparedFigure { name, one, other })
        };
        names.filter_map(row).collect()
    }

    /// The ratios of the first target to the other.
    pub(crate) fn json(&self) -> Value {
        let medians = self.rows().into_iter().filter_map(|row| {
            let ratios = row.ratios()?;
            let (low, middle, high) = spread(ratios.clone());
            Some((row.name, json!({ "median": middle, "lowest": low, "highest": high, "rounds": ratios })))
        });
        medians.collect()
    }
}

impl ComparedFigure {
    /// The first target to the other, by round; `None` if the other is 0 in a round.
    fn ratios(&self) -> Option<Vec<f64>> {
        self.one.iter().zip(&self.other).map(|(one, &other)| (other != 0.0).then(|| one / other)).collect()
    }
}

/// One line per figure: the medians of both, and the median of the ratios with their range.
impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = self.rows().into_iter().map(|row| {
            let [one, other] = [&row.one, &row.other].map(|values| shown(spread(values.clone()).1));
            let ratio = row.ratios().map(spread);
            let ratio = ratio.map(|(low, middle, high)| format!("{middle:>8.3}  ({low:.3} to {high:.3})"));
            let ratio = ratio.unwrap_or_default();
            format!("  {:<34}{one:>12}{other:>12}{ratio}", row.name)
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// The lowest, the median and the highest value. The median of an even number of values is the lower middle one.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    let last = values.len().saturating_sub(1);
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
    fn a_ratio_is_the_median_of_the_rounds() {
        let mut both = Comparison::default();
        for (one, other) in [(1.0, 2.0), (9.0, 3.0), (4.0, 4.0)] {
            both.add(of(one), of(other));
        }
        let ratios = both.json();
        let ratio = &ratios["moves_per_second"];
        assert_eq!((&ratio["median"], &ratio["lowest"], &ratio["highest"]), (&json!(1.0), &json!(0.5), &json!(3.0)));
        assert_eq!(ratio["rounds"], json!([0.5, 3.0, 1.0]));
        let line = "  moves_per_second                         4.000       3.000   1.000  (0.500 to 3.000)";
        assert_eq!(both.to_string(), line);
    }

    #[test]
    fn a_ratio_to_zero_is_omitted() {
        let mut both = Comparison::default();
        both.add(of(1.0), of(0.0));
        assert_eq!(both.json(), json!({}));
        assert_eq!(both.to_string(), "  moves_per_second                         1.000           0");
    }

    #[test]
    fn numbers_are_shown_with_four_digits() {
        let shown = [0.0, 0.012_34, 1.0 / 3.0, 12.345, 12_345.6].map(shown);
        assert_eq!(shown, ["0", "0.01234", "0.3333", "12.35", "12346"]);
    }

    #[test]
    fn figures_that_were_not_measured_are_omitted() {
        assert_eq!(of(2.0).json(), json!({ "moves_per_second": 2.0 }));
    }
}
