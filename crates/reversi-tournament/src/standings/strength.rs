//! How strong the entrants are, by the model of Bradley and Terry.

use std::collections::BTreeMap;

use reversi_engine::match_statistics::{Difference, Score};

use super::crosstable::Crosstable;
use crate::entrant::EntrantId;

/// Elo of a natural unit of strength, at which the odds are e to 1.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// A draw of this weight against the mean for each entrant, so that all strengths are finite and comparable: before the
/// first loss, and between entrants who are not yet linked by results. Its effect vanishes with more results.
const PRIOR: f64 = 0.5;

/// Bounds the fit; the usual number is some dozens.
const SWEEPS: usize = 500;

/// A change in one sweep, in natural units, at which the fit is done: 0.001 Elo.
const PRECISION: f64 = 5e-6;

/// The strengths at which the results are the likeliest (Bradley and Terry, 1952): one fit over all pairs of games with
/// swapped sides, or over single games where these are not paired.
#[derive(Clone, Debug, PartialEq)]
pub struct Strengths {
    fitted: BTreeMap<EntrantId, Fitted>,
    /// The variance of results, as a part of what it would be if each were a win or a loss.
    dispersion: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Fitted {
    /// In natural units.
    strength: f64,
    /// All results, as pairs.
    total: Score,
    opponents: Vec<Opponent>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Opponent {
    /// The opponent's place among the fitted.
    place: usize,
    id: EntrantId,
    results: [f64; 5],
}

impl Opponent {
    fn count(&self) -> f64 {
        self.results.iter().sum()
    }

    /// The points, where a result is worth one.
    fn points(&self) -> f64 {
        self.results.iter().zip(VALUES).map(|(count, value)| count * value).sum()
    }
}

/// The points of the five results of a pair, where it is worth one.
const VALUES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Strengths {
    /// Fits the results of a crosstable.
    #[must_use]
    pub fn fit(crosstable: &Crosstable) -> Self {
        let played =
            || crosstable.iter().map(|(key, cell)| (*key, pairs(&cell.score))).filter(|(_, pairs)| *pairs != [0; 5]);
        let mut ids: Vec<EntrantId> = played().map(|((id, _), _)| id).collect();
        ids.dedup();
        let mut all: Vec<Fitted> = vec![Fitted::default(); ids.len()];
        for ((id, other), pairs) in played() {
            let places = (ids.binary_search(&id), ids.binary_search(&other));
            if let (Ok(own), Ok(place)) = places
                && let Some(fitted) = all.get_mut(own)
            {
                fitted.total += Score { pairs, ..Score::default() };
                fitted.opponents.push(Opponent { place, id: other, results: pairs.map(f64::from) });
            }
        }
        let strengths = fit(&all);
        let dispersion = dispersion(&all, &strengths);
        let mean = strengths.iter().sum::<f64>() / strengths.len().max(1) as f64;
        all.iter_mut().zip(strengths).for_each(|(fitted, strength)| fitted.strength = strength - mean);
        Self { fitted: ids.into_iter().zip(all).collect(), dispersion }
    }

    /// An entrant's strength minus the mean of all, in Elo; `None` before its first result.
    ///
    /// The 95 % interval takes those of the opponents as known, as BayesElo does: it has the strengths whose mean
    /// result lies in the interval of [`Difference`].
    #[must_use]
    pub fn of(&self, entrant: EntrantId) -> Option<Difference> {
        let fitted = self.fitted.get(&entrant)?;
        let Difference { low, high, .. } = Difference::of(&fitted.total)?;
        let [low, high] = [low, high].map(|elo| ELO * self.strength_at(fitted, expected(elo / ELO)));
        // The prior may move a strength beyond the interval of few results.
        Some(Difference { elo: (ELO * fitted.strength).clamp(low, high), low, high })
    }

    /// The likelihood of superiority: the probability that one entrant is stronger than another; `None` before the
    /// first result of either. It takes the strengths of all others as known.
    #[must_use]
    pub fn superiority(&self, entrant: EntrantId, other: EntrantId) -> Option<f64> {
        let (one, two) = (self.fitted.get(&entrant)?, self.fitted.get(&other)?);
        let shared = one.opponents.iter().find(|opponent| opponent.id == other);
        let shared = shared.map_or(0.0, |opponent| opponent.count() * slope(one.strength - two.strength));
        let (of_one, of_two) = (self.information(one), self.information(two));
        // The inverse of the information about the two strengths.
        let variance = (of_one + of_two - 2.0 * shared) / (of_one * of_two - shared * shared);
        Some(normal((one.strength - two.strength) / (self.dispersion * variance).sqrt()))
    }

    /// The strength at which the mean result against the same opponents is this; infinite for 0 and 1.
    fn strength_at(&self, fitted: &Fitted, mean: f64) -> f64 {
        if mean <= 0.0 || mean >= 1.0 {
            return if mean <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
        }
        let points = mean * fitted.opponents.iter().map(Opponent::count).sum::<f64>();
        let (mut low, mut high) = (-100.0, 100.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let against = |opponent: &Opponent| {
                opponent.count() * expected(middle - self.fitted.get(&opponent.id).map_or(0.0, |other| other.strength))
            };
            if fitted.opponents.iter().map(against).sum::<f64>() < points {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }

    fn information(&self, fitted: &Fitted) -> f64 {
        let against = |opponent: &Opponent| {
            let other = self.fitted.get(&opponent.id).map_or(0.0, |other| other.strength);
            opponent.count() * slope(fitted.strength - other)
        };
        PRIOR * slope(fitted.strength) + fitted.opponents.iter().map(against).sum::<f64>()
    }
}

/// The results as pairs; without complete pairs each game is a result.
fn pairs(score: &Score) -> [u32; 5] {
    let paired = score.pairs.iter().any(|count| *count > 0);
    if paired { score.pairs } else { [score.losses, 0, score.draws, 0, score.wins] }
}

/// The likeliest strengths, by Newton's method for one entrant after the other.
fn fit(all: &[Fitted]) -> Vec<f64> {
    let mut strengths = vec![0.0; all.len()];
    for _ in 0..SWEEPS {
        let mut largest = 0.0_f64;
        for (place, fitted) in all.iter().enumerate() {
            let own: f64 = strengths.get(place).copied().unwrap_or(0.0);
            let mut missing = PRIOR * (0.5 - expected(own));
            let mut information = PRIOR * slope(own);
            for opponent in &fitted.opponents {
                let distance = own - strengths.get(opponent.place).copied().unwrap_or(0.0);
                missing += opponent.points() - opponent.count() * expected(distance);
                information += opponent.count() * slope(distance);
            }
            let step = (missing / information).clamp(-1.0, 1.0);
            largest = largest.max(step.abs());
            if let Some(strength) = strengths.get_mut(place) {
                *strength += step;
            }
        }
        if largest < PRECISION {
            break;
        }
    }
    strengths
}

/// Pearson's estimate of the dispersion. A strength takes one result to fit, which counts with the highest variance.
fn dispersion(all: &[Fitted], strengths: &[f64]) -> f64 {
    let (mut squares, mut results) = (all.len() as f64, 0.0);
    for (fitted, strength) in all.iter().zip(strengths) {
        for opponent in &fitted.opponents {
            let distance = strength - strengths.get(opponent.place).copied().unwrap_or(0.0);
            let square = |value: f64| (value - expected(distance)).powi(2) / slope(distance);
            let sum: f64 = opponent.results.iter().zip(VALUES).map(|(count, value)| count * square(value)).sum();
            // Each result is there twice, once for either side.
            squares += sum / 2.0;
            results += opponent.count() / 2.0;
        }
    }
    if results > 0.0 { (squares / results).min(1.0) } else { 1.0 }
}

/// The expected result at this distance of strengths.
fn expected(distance: f64) -> f64 {
    1.0 / (1.0 + (-distance).exp())
}

/// The derivative of [`expected`]: the information of a result. Never 0.
fn slope(distance: f64) -> f64 {
    let result = expected(distance);
    (result * (1.0 - result)).max(f64::MIN_POSITIVE)
}

/// The distribution function of the standard normal distribution, to 1e-7 (Abramowitz and Stegun, 1964, 26.2.17).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let sum = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail =
        (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * t * sum.into_iter().fold(0.0, |sum, c| sum * t + c);
    if x > 0.0 { 1.0 - tail } else { tail }
}
