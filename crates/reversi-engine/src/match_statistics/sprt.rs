//! A sequential test that ends a series once its result is clear.

use std::fmt;
use std::str::FromStr;

use super::{difference::points, likelihood::Likelihood, score::Score};

/// A sequential probability ratio test (Wald, 1945) of two differences in strength, `elo0` and the greater `elo1`. It
/// ends as soon as the results are much more likely under one than under the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// No field is ever NaN.
impl Eq for Sprt {}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// `elo0` is accepted.
    Lower,
    /// `elo1` is accepted.
    Upper,
}

impl Sprt {
    /// The default probability of either error.
    pub const USUAL_ERROR: f64 = 0.05;
    /// The maximum difference: at this one in ten thousand games is lost.
    pub const MAX_ELO: f64 = 1600.0;
    /// The range of either probability of error.
    pub const ERRORS: std::ops::RangeInclusive<f64> = 0.001..=0.4;

    /// A test that wrongly rejects `elo0` with probability `alpha`, and `elo1` with probability `beta`.
    ///
    /// # Errors
    /// [`BadSprt`] if `elo0` is not below `elo1` or a number is out of its bounds.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, BadSprt> {
        let sensible = |elo: f64| elo.abs() <= Self::MAX_ELO;
        let valid = elo0 < elo1
            && sensible(elo0)
            && sensible(elo1)
            && Self::ERRORS.contains(&alpha)
            && Self::ERRORS.contains(&beta);
        if valid { Ok(Self { elo0, elo1, alpha, beta }) } else { Err(BadSprt) }
    }

    /// The difference accepted if the test ends low.
    #[must_use]
    pub const fn elo0(&self) -> f64 {
        self.elo0
    }

    /// The difference accepted if the test ends high.
    #[must_use]
    pub const fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The probability of wrongly rejecting `elo0`.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The probability of wrongly rejecting `elo1`.
    #[must_use]
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// The log-likelihood ratio of the pairs at `elo1` and at `elo0`; 0 before the first pair.
    ///
    /// Each likelihood is that of the most likely distribution with that mean: the generalized test of Li, Liu and
    /// Ying, "Generalized sequential probability ratio test for separate families of hypotheses" (2014), as in
    /// fishtest.
    #[must_use]
    pub fn llr(&self, score: &Score) -> f64 {
        let loss = |likelihood: Likelihood| likelihood.loss(points(self.elo0)) - likelihood.loss(points(self.elo1));
        Likelihood::new(&score.pairs).map_or(0.0, loss)
    }

    /// Wald's bounds of the log-likelihood ratio, at which the test ends.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The difference accepted by a verdict.
    #[must_use]
    pub const fn believed(&self, verdict: Verdict) -> f64 {
        match verdict {
            Verdict::Lower => self.elo0,
            Verdict::Upper => self.elo1,
        }
    }

    /// The verdict, once the test has ended.
    #[must_use]
    pub fn verdict(&self, score: &Score) -> Option<Verdict> {
        let (low, high) = self.bounds();
        match self.llr(score) {
            llr if llr <= low => Some(Verdict::Lower),
            llr if llr >= high => Some(Verdict::Upper),
            _ => None,
        }
    }
}

/// Reads `ELO0,ELO1` or `ELO0,ELO1,ALPHA,BETA`.
impl FromStr for Sprt {
    type Err = BadSprt;

    fn from_str(text: &str) -> Result<Self, BadSprt> {
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        match numbers.map_err(|_| BadSprt)?[..] {
            [elo0, elo1] => Self::new(elo0, elo1, Self::USUAL_ERROR, Self::USUAL_ERROR),
            [elo0, elo1, alpha, beta] => Self::new(elo0, elo1, alpha, beta),
            _ => Err(BadSprt),
        }
    }
}

/// `ELO0,ELO1,ALPHA,BETA`.
impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.elo0, self.elo1, self.alpha, self.beta)
    }
}

/// The error of numbers out of their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadSprt;

impl fmt::Display for BadSprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a test is two differences in Elo, the lower first, such as 0,10; and maybe two errors from 0.001 to 0.4",
        )
    }
}

impl std::error::Error for BadSprt {}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(pairs: [u32; 5]) -> Score {
        Score { pairs, ..Score::default() }
    }

    #[test]
    fn the_bounds_are_walds() {
        let (low, high) = Sprt::new(0.0, 10.0, 0.05, 0.05).unwrap().bounds();
        assert!((high - 2.944_438_979).abs() < 1e-8 && (low + high).abs() < 1e-12);
        let (low, high) = Sprt::new(0.0, 10.0, 0.1, 0.2).unwrap().bounds();
        assert!((low - f64::ln(0.2 / 0.9)).abs() < 1e-12 && (high - f64::ln(8.0)).abs() < 1e-12);
    }

    /// Pairs that are only won or lost make Wald's own test of a binomial.
    #[test]
    fn the_ratio_of_two_results_is_walds() {
        let test = Sprt::new(0.0, 100.0, 0.05, 0.05).unwrap();
        let upper = points(100.0);
        let expected = 60.0 * f64::ln(upper / 0.5) + 40.0 * f64::ln((1.0 - upper) / 0.5);
        assert!((test.llr(&score([40, 0, 0, 0, 60])) - expected).abs() < 0.01);
    }

    /// For small differences it is the normal one: N (s1 - s0) (2 s - s0 - s1) / (2 variance).
    #[test]
    fn the_ratio_of_many_pairs_is_normal() {
        let test = Sprt::new(0.0, 5.0, 0.05, 0.05).unwrap();
        let (mean, variance) = (0.5075, 0.045_568_75);
        let (low, high) = (0.5, points(5.0));
        let expected = 10_000.0 * (high - low) * (2.0 * mean - low - high) / (2.0 * variance);
        let found = test.llr(&score([400, 1800, 5400, 1900, 500]));
        assert!((found - expected).abs() < 0.01 * expected.abs(), "{found} {expected}");
    }

    #[test]
    fn a_test_ends_when_one_difference_is_accepted() {
        let test: Sprt = "0,100".parse().unwrap();
        assert_eq!(test.verdict(&Score::default()), None);
        assert_eq!(test.verdict(&score([1, 1, 2, 1, 1])), None);
        assert_eq!(test.verdict(&score([0, 2, 5, 10, 20])), Some(Verdict::Upper));
        assert_eq!(test.verdict(&score([20, 10, 5, 2, 0])), Some(Verdict::Lower));
    }

    #[test]
    fn a_test_is_written_as_it_is_read() {
        let test: Sprt = "-5, 5".parse().unwrap();
        assert_eq!(test, Sprt::new(-5.0, 5.0, 0.05, 0.05).unwrap());
        assert_eq!(test.to_string().parse(), Ok(test));
        for bad in ["", "5", "5,0", "0,NaN", "0,10,0,0.05", "0,10,0.05", "0,inf", "0,10,0.05,0.9"] {
            assert_eq!(bad.parse::<Sprt>(), Err(BadSprt), "{bad}");
        }
    }
}
