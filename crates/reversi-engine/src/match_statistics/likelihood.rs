//! The likelihood of the results of pairs at a given mean.

use super::root::increasing_root;

/// The mean points of a game for each of the five results of a pair.
const VALUES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The count of a result that did not occur, which is still possible; as in fishtest.
const UNSEEN: f64 = 1e-3;

/// Bisections to reach the precision of `f64`.
const HALVINGS: u32 = 60;

/// The bound of ln(1 + u) in [`Likelihood::mean_below`]; u32 counts need at most a third of it.
const STEEPEST: f64 = 100.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Likelihood {
    counts: [f64; 5],
}

impl Likelihood {
    /// `None` without pairs.
    pub(super) fn new(pairs: &[u32; 5]) -> Option<Self> {
        let seen = pairs.iter().any(|&count| count > 0);
        seen.then(|| Self { counts: pairs.map(|count| f64::from(count).max(UNSEEN)) })
    }

    /// The likeliest mean, in points of a game: nearly the observed one, and never 0 or 1.
    pub(super) fn mean(&self) -> f64 {
        let points: f64 = self.terms(0.0).map(|(count, value)| count * value).sum();
        points / self.counts.iter().sum::<f64>()
    }

    /// The log-likelihood at the likeliest mean, minus its maximum over all distributions with this `mean`, between 0
    /// and 1.
    ///
    /// Van den Bergh, "Comments on the maximum likelihood estimate of multinomial distributions with given expectation
    /// value", proposition 1.1 (`hardy.uhasselt.be/Fishtest/support_MLE_multinomial.pdf`): the weight of each result is
    /// the observed one divided by `1 + x (value - mean)`, where x is the unique number that gives this mean.
    pub(super) fn loss(&self, mean: f64) -> f64 {
        let x = self.multiplier(mean);
        self.terms(mean).map(|(count, value)| count * (x * value).ln_1p()).sum()
    }

    /// The mean below the likeliest one at which [`Self::loss`] is this; some pair must have points.
    ///
    /// With u = x / (1 - x mean) the weights become those of counts divided by `1 + u value`: a given u gives its mean at
    /// once, so only u is searched. The root of the loss is nearly linear in ln(1 + u).
    pub(super) fn mean_below(&self, loss: f64) -> f64 {
        let played: f64 = self.counts.iter().sum();
        // The sums of count * value / (1 + u value) and of count * value / (1 + u value)².
        let sums = |u: f64| {
            self.terms(0.0).fold((0.0, 0.0), |(sum, squares), (count, value)| {
                let share = 1.0 / (1.0 + u * value);
                (sum + count * value * share, squares + count * value * share * share)
            })
        };
        let variance: f64 = self.terms(self.mean()).map(|(count, value)| count * value * value).sum();
        let tilt = increasing_root([0.0, STEEPEST], (2.0 * loss / variance).sqrt().ln_1p(), |tilt| {
            let u = tilt.exp_m1();
            let (sum, squares) = sums(u);
            let less = u * sum / played;
            let logs: f64 = self.terms(0.0).map(|(count, value)| count * (u * value).ln_1p()).sum();
            let root = (logs + played * (-less).ln_1p()).max(f64::MIN_POSITIVE).sqrt();
            let slope = (sum - squares / (1.0 - less)) * tilt.exp();
            (loss.sqrt() - root) * 2.0 * root / slope
        });
        let u = tilt.exp_m1();
        let (sum, _) = sums(u);
        sum / (played - u * sum)
    }

    /// The results as the other player has them.
    pub(super) fn mirrored(mut self) -> Self {
        self.counts.reverse();
        self
    }

    /// The root x of a decreasing function, between the two numbers at which a weight becomes infinite.
    fn multiplier(&self, mean: f64) -> f64 {
        let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
        for _ in 0..HALVINGS {
            let x = f64::midpoint(low, high);
            let excess: f64 = self.terms(mean).map(|(count, value)| count * value / (1.0 + x * value)).sum();
            if excess > 0.0 {
                low = x;
            } else {
                high = x;
            }
        }
        f64::midpoint(low, high)
    }

    /// Each count with its value minus the mean.
    fn terms(&self, mean: f64) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.counts.iter().zip(VALUES).map(move |(&count, value)| (count, value - mean))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn loss(pairs: [u32; 5], mean: f64) -> f64 {
        Likelihood::new(&pairs).unwrap().loss(mean)
    }

    #[test]
    fn the_loss_is_zero_at_the_observed_mean() {
        for pairs in [[3, 1, 4, 1, 5], [10, 20, 70, 25, 12], [1, 0, 0, 0, 1]] {
            let mean = Likelihood::new(&pairs).unwrap().mean();
            assert!(loss(pairs, mean).abs() < 1e-9, "{pairs:?}");
            assert!(loss(pairs, mean - 0.05) > 0.0 && loss(pairs, mean + 0.05) > 0.0);
        }
        assert!(Likelihood::new(&[0; 5]).is_none());
    }

    proptest! {
        #[test]
        fn the_mean_below_has_this_loss(pairs in prop::array::uniform5(prop_oneof![Just(0), 0..9_u32, 0..10_000_u32]), loss in 0.01..10.0) {
            prop_assume!(pairs[1..] != [0; 4]);
            let likelihood = Likelihood::new(&pairs).unwrap();
            let mean = likelihood.mean_below(loss);
            prop_assert!(0.0 < mean && mean < likelihood.mean());
            prop_assert!((likelihood.loss(mean) - loss).abs() < 1e-6, "{} {mean}", likelihood.loss(mean));
        }
    }

    /// With two results alone the distribution is decided by its mean: the binomial one.
    #[test]
    fn two_results_are_binomial() {
        let binomial = |mean: f64| 30.0 * f64::ln(mean) + 10.0 * f64::ln(1.0 - mean);
        for mean in [0.2, 0.5, 0.6, 0.9] {
            let expected = binomial(0.75) - binomial(mean);
            assert!((loss([10, 0, 0, 0, 30], mean) - expected).abs() < 0.02, "{mean}");
        }
    }
}
