//! How strong the entrants are, by the model of Bradley and Terry.

use reversi_engine::match_statistics::{Difference, Score, increasing_root};

use super::{
    crosstable::{Crosstable, crosstable},
    table::{Standing, standings},
};
use crate::{entrant::EntrantId, state::Tournament};

/// Elo of a natural unit of strength, at which the odds are e to 1.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// A draw of this weight against the mean for each entrant, so that all strengths are finite and comparable: before the
/// first loss, and between entrants who are not yet linked by results. Its effect vanishes with more results.
const PRIOR: f64 = 0.5;

/// Bounds the fit; the usual number is some dozens.
const SWEEPS: usize = 500;

/// A step to the likeliest strength is this much longer than it is for fixed strengths of the others, which will move in
/// the same direction: half as many sweeps are needed. Steps that are not near are less certain.
const RELAXATION: f64 = 1.5;
const NEAR: f64 = 0.25;

/// A change in one sweep, in natural units, at which the fit is done: 0.001 Elo.
const PRECISION: f64 = 5e-6;

/// The strength of an entrant in the standings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// That of [`Strengths::of`].
    pub elo: Difference,
    /// The probability that the entrant is stronger than the next in the standings; `None` for the last, and if the next
    /// has no result.
    pub superiority: Option<f64>,
}

/// The standings, each with the strength of an entrant who has results.
#[must_use]
pub fn standings_with_strengths(tournament: &Tournament) -> Vec<(Standing, Option<Strength>)> {
    let strengths = Strengths::fit(&crosstable(tournament));
    let rows = standings(tournament);
    let next = rows.iter().skip(1).map(|row| Some(row.entrant)).chain([None]);
    let strength = |entrant, next: Option<EntrantId>| {
        let superiority = next.and_then(|next| strengths.superiority(entrant, next));
        Some(Strength { elo: strengths.of(entrant)?, superiority })
    };
    rows.iter().zip(next).map(|(row, next)| (*row, strength(row.entrant, next))).collect()
}

/// The strengths at which the results are the likeliest (Bradley and Terry, 1952): one fit over all pairs of games with
/// swapped sides, or over single games where these are not paired.
#[derive(Clone, Debug, PartialEq)]
pub struct Strengths {
    /// Those with results, in ascending order.
    ids: Vec<EntrantId>,
    /// Of each of [`Self::ids`].
    results: Vec<Results>,
    /// Of each of [`Self::ids`]: e to the power of its strength, so that an expected result needs no exponential.
    odds: Odds,
    /// The variance of results, as a part of what it would be if each were a win or a loss.
    dispersion: f64,
}

/// The results of an entrant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Results {
    /// All of them, as pairs.
    total: Score,
    against: Vec<Against>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Against {
    /// The opponent's index in [`Strengths::ids`].
    opponent: usize,
    results: [u32; 5],
    count: f64,
}

/// By index in [`Strengths::ids`].
#[derive(Clone, Debug, PartialEq)]
struct Odds(Vec<f64>);

impl Odds {
    fn of(&self, index: usize) -> f64 {
        self.0.get(index).copied().unwrap_or(1.0)
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
        let mut all: Vec<Results> = vec![Results::default(); ids.len()];
        for ((id, other), pairs) in played() {
            let indexes = (ids.binary_search(&id), ids.binary_search(&other));
            if let (Ok(own), Ok(opponent)) = indexes
                && let Some(results) = all.get_mut(own)
            {
                results.total += Score { pairs, ..Score::default() };
                let count = pairs.map(f64::from).iter().sum();
                results.against.push(Against { opponent, results: pairs, count });
            }
        }
        let mut odds = fit(&all);
        let dispersion = dispersion(&all, &odds);
        let mean = odds.0.iter().map(|odds| odds.ln()).sum::<f64>() / ids.len().max(1) as f64;
        odds.0.iter_mut().for_each(|odds| *odds *= (-mean).exp());
        Self { ids, results: all, odds, dispersion }
    }

    /// An entrant's strength minus the mean of all, in Elo; `None` before its first result.
    ///
    /// The 95 % interval takes those of the opponents as known, as BayesElo does: it has the strengths whose mean
    /// result lies in the interval of [`Difference`].
    #[must_use]
    pub fn of(&self, entrant: EntrantId) -> Option<Difference> {
        let (index, results) = self.results(entrant)?;
        let Difference { low, high, .. } = Difference::of(&results.total)?;
        let strength = self.odds.of(index).ln();
        let [low, high] = [low, high].map(|elo| ELO * self.strength_at(results, elo / ELO, strength));
        // The prior may move a strength beyond the interval of few results.
        Some(Difference { elo: (ELO * strength).clamp(low, high), low, high })
    }

    /// The likelihood of superiority: the probability that one entrant is stronger than another; `None` before the
    /// first result of either. It takes the strengths of all others as known.
    #[must_use]
    pub fn superiority(&self, entrant: EntrantId, other: EntrantId) -> Option<f64> {
        let ((one, results), (two, others)) = (self.results(entrant)?, self.results(other)?);
        let shared = results.against.iter().find(|against| against.opponent == two);
        let shared = shared.map_or(0.0, |against| against.count * information(self.odds.of(one), self.odds.of(two)));
        let (of_one, of_two) = (self.information(one, results), self.information(two, others));
        // The inverse of the information about the two strengths.
        let variance = (of_one + of_two - 2.0 * shared) / (of_one * of_two - shared * shared);
        Some(normal((self.odds.of(one) / self.odds.of(two)).ln() / (self.dispersion * variance).sqrt()))
    }

    fn results(&self, entrant: EntrantId) -> Option<(usize, &Results)> {
        let index = self.ids.binary_search(&entrant).ok()?;
        Some((index, self.results.get(index)?))
    }

    /// The strength at which the mean result against the same opponents is what a player expects who is stronger than
    /// its opponent by `difference`.
    fn strength_at(&self, results: &Results, difference: f64, start: f64) -> f64 {
        if difference.is_infinite() {
            return difference;
        }
        // All opponents could be as the weakest or the strongest.
        let all = || results.against.iter().map(|against| self.odds.of(against.opponent));
        let bounds = [all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)];
        increasing_root(bounds.map(|odds| difference + odds.ln()), start, |strength| {
            let own = strength.exp();
            let (mut won, mut lost, mut information) = (0.0, 0.0, 0.0);
            for against in &results.against {
                let result = expected(own, self.odds.of(against.opponent));
                won += against.count * result;
                lost += against.count * (1.0 - result);
                information += against.count * result * (1.0 - result);
            }
            // The logarithm of the odds of the mean is nearly linear.
            (difference - (won / lost).ln()) * won * lost / ((won + lost) * information)
        })
    }

    fn information(&self, index: usize, results: &Results) -> f64 {
        let own = self.odds.of(index);
        let against = |against: &Against| against.count * information(own, self.odds.of(against.opponent));
        PRIOR * information(own, 1.0) + results.against.iter().map(against).sum::<f64>()
    }
}

/// The results as pairs; without complete pairs each game is a result.
fn pairs(score: &Score) -> [u32; 5] {
    let paired = score.pairs.iter().any(|count| *count > 0);
    if paired { score.pairs } else { [score.losses, 0, score.draws, 0, score.wins] }
}

/// The likeliest odds, by Newton's method for one entrant after the other.
fn fit(all: &[Results]) -> Odds {
    let points =
        |results: &Results| -> f64 { results.total.pairs.iter().zip(VALUES).map(|(n, v)| f64::from(*n) * v).sum() };
    let points: Vec<f64> = all.iter().map(points).collect();
    let mut odds = Odds(vec![1.0; all.len()]);
    for _ in 0..SWEEPS {
        let mut largest = 0.0_f64;
        for (index, (results, points)) in all.iter().zip(&points).enumerate() {
            let own = odds.of(index);
            let mut missing = points + PRIOR * (0.5 - expected(own, 1.0));
            let mut known = PRIOR * information(own, 1.0);
            for against in &results.against {
                let result = expected(own, odds.of(against.opponent));
                missing -= against.count * result;
                known += against.count * result * (1.0 - result);
            }
            let mut step = (missing / known).clamp(-1.0, 1.0);
            if step.abs() < NEAR {
                step *= RELAXATION;
            }
            largest = largest.max(step.abs());
            if let Some(odds) = odds.0.get_mut(index) {
                *odds *= step.exp();
            }
        }
        if largest < PRECISION {
            break;
        }
    }
    odds
}

/// Pearson's estimate of the dispersion. A strength takes one result to fit, which counts with the highest variance.
fn dispersion(all: &[Results], odds: &Odds) -> f64 {
    let (mut squares, mut count) = (all.len() as f64, 0.0);
    for (index, results) in all.iter().enumerate() {
        for against in &results.against {
            let (own, other) = (odds.of(index), odds.of(against.opponent));
            let square = |value: f64| (value - expected(own, other)).powi(2) / information(own, other);
            let sum: f64 = against.results.iter().zip(VALUES).map(|(n, value)| f64::from(*n) * square(value)).sum();
            // Each result is there twice, once for either side.
            squares += sum / 2.0;
            count += against.count / 2.0;
        }
    }
    if count > 0.0 { (squares / count).min(1.0) } else { 1.0 }
}

/// The expected result of a player with these odds.
fn expected(own: f64, other: f64) -> f64 {
    own / (own + other)
}

/// The derivative of [`expected`] by the strength: the information of a result. Never 0.
fn information(own: f64, other: f64) -> f64 {
    let result = expected(own, other);
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
