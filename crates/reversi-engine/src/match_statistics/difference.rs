//! The difference in strength of two players, with its confidence interval.

use std::fmt;

use super::{likelihood::Likelihood, score::Score};

/// Half the 95 % point of the chi-squared distribution with one degree of freedom.
const LOSS_AT_95: f64 = 3.841_458_820_694_124 / 2.0;

/// A player's strength minus its opponent's, in Elo: at 400 a player scores ten times the opponent's points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The maximum-likelihood estimate; infinite if one player made all points.
    pub elo: f64,
    /// The lower end of the 95 % interval; minus infinity if all games were lost.
    pub low: f64,
    /// The upper end of the 95 % interval; infinity if all games were won.
    pub high: f64,
}

impl Difference {
    /// The difference by the complete pairs of a score; `None` without a pair.
    ///
    /// The interval has all means that a likelihood-ratio test does not reject (Owen, "Empirical likelihood ratio
    /// confidence intervals for a single functional", 1988). Unlike one of standard errors it is valid for few pairs,
    /// or if all have the same result.
    #[must_use]
    pub fn of(score: &Score) -> Option<Self> {
        let likelihood = Likelihood::new(&score.pairs)?;
        let played: f64 = score.pairs.map(f64::from).iter().sum();
        let halves: f64 = (0..).zip(score.pairs).map(|(halves, pairs)| f64::from(halves) * f64::from(pairs)).sum();
        let mean = halves / (4.0 * played);
        let low = if mean == 0.0 { 0.0 } else { likelihood.mean_below(LOSS_AT_95) };
        let high = if mean == 1.0 { 1.0 } else { 1.0 - likelihood.mirrored().mean_below(LOSS_AT_95) };
        Some(Self { elo: elo(mean), low: elo(low), high: elo(high) })
    }
}

/// The difference at which the mean of a game is `points`: the logistic curve of Elo's ratings.
pub(super) fn elo(points: f64) -> f64 {
    400.0 * (points / (1.0 - points)).log10()
}

/// The expected points of a game at this difference.
pub(super) fn points(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// `+35 Elo (+12 to +58)`; "too few games for a bound" if one player made all points in so few that the other may be stronger.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The addition turns -0 into 0.
        let [elo, low, high] = [self.elo, self.low, self.high].map(|elo| elo.round() + 0.0);
        if elo.is_finite() {
            write!(f, "{elo:+.0} Elo ({low:+.0} to {high:+.0})")
        } else if elo > 0.0 && low > 0.0 {
            write!(f, "more than {low:+.0} Elo")
        } else if elo < 0.0 && high < 0.0 {
            write!(f, "less than {high:+.0} Elo")
        } else {
            write!(f, "too few games for a bound")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: [u32; 5]) -> Difference {
        Difference::of(&Score { pairs, ..Score::default() }).unwrap()
    }

    #[test]
    fn elo_is_the_logistic_curve() {
        assert!((elo(0.75) - 190.848_501_887_865).abs() < 1e-9);
        assert!((points(400.0) - 10.0 / 11.0).abs() < 1e-12);
        for difference in [-600.0, -3.0, 0.0, 35.0] {
            assert!((elo(points(difference)) - difference).abs() < 1e-9);
        }
    }

    /// With many pairs the interval is ±1.96 standard errors of the mean pair.
    #[test]
    fn many_pairs_have_the_normal_interval() {
        let pairs = [400, 1800, 5400, 1900, 500];
        let mean = 5_075.0 / 10_000.0;
        let square = |value: f64| (value - mean) * (value - mean);
        let shares = [(0.04, 0.0), (0.18, 0.25), (0.54, 0.5), (0.19, 0.75), (0.05, 1.0)];
        let variance: f64 = shares.map(|(share, value)| share * square(value)).iter().sum();
        let error = 1.959_964 * f64::sqrt(variance / 10_000.0);
        let found = of(pairs);
        assert!((found.elo - elo(mean)).abs() < 0.01, "{found}");
        assert!((found.low - elo(mean - error)).abs() < 0.1 && (found.high - elo(mean + error)).abs() < 0.1, "{found}");
    }

    /// Two results are binomial, whose likelihood interval for 15 of 20 is known: 0.5375 to 0.9022.
    #[test]
    fn few_pairs_have_the_likelihood_interval() {
        let found = of([5, 0, 0, 0, 15]);
        assert!(
            (points(found.low) - 0.5375).abs() < 0.0005 && (points(found.high) - 0.9022).abs() < 0.0005,
            "{found:?}"
        );
    }

    #[test]
    fn winning_all_games_gives_no_upper_bound() {
        let found = of([0, 0, 0, 0, 20]);
        assert_eq!((found.elo, found.high), (f64::INFINITY, f64::INFINITY));
        // 20 wins of 20 exclude a mean below the twentieth root of exp(-1.92).
        assert!((points(found.low) - 0.9084).abs() < 0.001, "{found:?}");
        assert_eq!(found.to_string(), "more than +398 Elo");
        assert_eq!(of([20, 0, 0, 0, 0]).to_string(), "less than -398 Elo");
        for pairs in [[0, 0, 0, 0, 1], [0, 0, 0, 0, 2], [2, 0, 0, 0, 0]] {
            assert_eq!(of(pairs).to_string(), "too few games for a bound");
        }
        assert_eq!(Difference::of(&Score::default()), None);
    }

    #[test]
    fn equal_pairs_give_no_certainty() {
        let found = of([0, 0, 10, 0, 0]);
        assert!(found.elo.abs() < 0.1 && found.low < -30.0 && found.high > 30.0, "{found}");
        assert_eq!(of([1, 0, 0, 0, 1]).to_string().get(..7), Some("+0 Elo "));
        assert_eq!(of([1, 2, 3, 4, 5]).to_string(), "+120 Elo (-4 to +250)");
    }
}
