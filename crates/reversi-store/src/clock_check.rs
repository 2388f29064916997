//! Whether the clock of a node is right, by the clocks of the database and of the other nodes.
//!
//! No game loses time when a node with another clock takes its room: a credit moves the times of the room to that
//! clock. But its events and records then have times that jump, and clients of other nodes are shown its clocks
//! wrongly.

use std::time::Duration;

use reversi_room::Timestamp;
use tokio::time::Instant;

/// A greater difference to the database's clock is logged. Machines that follow a time server stay far below it.
const NOTED: Duration = Duration::from_millis(500);

/// A node whose clock differs by more than this from most others does not serve.
const MOST: Duration = Duration::from_secs(5);

/// For this time the difference has to last, for a node that serves: after the database's clock was set, the other
/// nodes have to measure theirs again first.
const PATIENCE: Duration = Duration::from_secs(3);

/// A greater change between two readings shows that the database's clock was set: nodes correct theirs slowly.
const STEP: Duration = Duration::from_secs(1);

/// The clock of a node minus that of the database, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    ahead: i64,
    error: i64,
}

impl ClockReading {
    /// By the clock of the node before and after the database has read its own: within half of that time.
    #[must_use]
    pub fn new(before: Timestamp, database: Timestamp, after: Timestamp) -> Self {
        let error = after.0.saturating_sub(before.0) / 2;
        Self { ahead: before.0.saturating_add(error).saturating_sub(database.0), error }
    }

    fn distance(self, other: i64) -> i64 {
        self.ahead.saturating_sub(other).saturating_abs()
    }

    /// Whether the clock differs by more than `limit` from another one; none if that is within the error.
    fn is_off(self, limit: Duration, other: i64) -> Option<bool> {
        let distance = self.distance(other);
        let exceeds = |micros: i64| u64::try_from(micros).is_ok_and(|micros| Duration::from_micros(micros) > limit);
        let (least, most) = (distance.saturating_sub(self.error), distance.saturating_add(self.error));
        (exceeds(least) == exceeds(most)).then_some(exceeds(least))
    }
}

/// What the readings of a node's clock have shown.
#[derive(Default)]
pub struct ClockCheck {
    /// The most exact reading that later ones have not contradicted.
    known: Option<ClockReading>,
    /// True if the difference to the database was logged.
    is_noted: bool,
    /// Since when the difference to the others is too great.
    wrong_since: Option<Instant>,
    is_wrong: bool,
}

impl ClockCheck {
    /// The clock of this node minus that of the database, in microseconds; none before the first reading.
    #[must_use]
    pub fn ahead(&self) -> Option<i64> {
        self.known.map(|reading| reading.ahead)
    }

    /// Applies a reading. Returns true if the database's clock was set since the last one.
    pub fn apply(&mut self, new: ClockReading) -> bool {
        let is_better = |known: ClockReading| new.error <= known.error || new.distance(known.ahead) > new.error;
        let known = self.known;
        if known.is_none_or(is_better) {
            self.known = Some(new);
            self.note(new);
        }
        known.is_some_and(|known| {
            let limit = STEP + Duration::from_micros(known.error.unsigned_abs());
            new.is_off(limit, known.ahead) == Some(true)
        })
    }

    fn note(&mut self, reading: ClockReading) {
        let is_off = reading.is_off(NOTED, 0).unwrap_or(self.is_noted);
        if !std::mem::replace(&mut self.is_noted, is_off) && is_off {
            let seconds = Duration::from_micros(reading.ahead.unsigned_abs()).as_secs_f64();
            let direction = if reading.ahead < 0 { "behind" } else { "ahead of" };
            tracing::warn!(
                "the clock of this server is {seconds:.1} s {direction} the database's; both should follow a time server"
            );
        }
    }

    /// Whether the clock is wrong, by the last reading and those of the `others`, for a node that serves now or not.
    pub fn judge(&mut self, others: &[i64], is_serving: bool, now: Instant) -> bool {
        let Some(known) = self.known else { return false };
        if known.is_off(MOST, reference(known.ahead, others)).unwrap_or(self.is_wrong) {
            let since = *self.wrong_since.get_or_insert(now);
            self.is_wrong |= !is_serving || now.duration_since(since) >= PATIENCE;
        } else {
            (self.wrong_since, self.is_wrong) = (None, false);
        }
        self.is_wrong
    }

    /// Whether the clock of another node is wrong, which is one of `others`.
    #[must_use]
    pub fn judge_other(&self, other: i64, others: &[i64]) -> bool {
        let reading = ClockReading { ahead: other, error: 0 };
        self.known.is_some_and(|known| reading.is_off(MOST, reference(known.ahead, others)) == Some(true))
    }
}

/// The clock that counts as right, relative to the database's: the one in the middle. Of two in the middle it is that
/// nearer to the database's. If the database's clock is set, all nodes differ from it in the same way, and go on.
fn reference(own: i64, others: &[i64]) -> i64 {
    let mut clocks = [&[own, 0], others].concat();
    clocks.sort_unstable();
    let (low, high) = (clocks[(clocks.len() - 1) / 2], clocks[clocks.len() / 2]);
    if low.saturating_abs() <= high.saturating_abs() { low } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    fn reading(ahead: i64) -> ClockReading {
        ClockReading { ahead: ahead * SECOND, error: 0 }
    }

    /// Whether a node judges its clock as wrong after readings of it, in seconds, one every second.
    fn is_wrong(readings: impl IntoIterator<Item = i64>, others: &[i64], is_serving: bool) -> bool {
        let (mut check, start) = (ClockCheck::default(), Instant::now());
        let others: Vec<_> = others.iter().map(|other| other * SECOND).collect();
        for (passed, own) in (0..).map(Duration::from_secs).zip(readings) {
            check.apply(reading(own));
            check.judge(&others, is_serving, start + passed);
        }
        check.is_wrong
    }

    #[test]
    fn a_reading_is_exact_to_half_of_the_time_that_it_takes() {
        let reading = ClockReading::new(Timestamp(100 * SECOND), Timestamp(98 * SECOND), Timestamp(104 * SECOND));
        assert_eq!(reading, ClockReading { ahead: 4 * SECOND, error: 2 * SECOND });
        let is_off = |seconds| reading.is_off(Duration::from_secs(seconds), 0);
        assert_eq!([1, 2, 5, 6].map(is_off), [Some(true), None, None, Some(false)]);
        assert_eq!(reading.is_off(Duration::from_secs(2), 9 * SECOND), Some(true));
    }

    #[test]
    fn a_reading_is_kept_until_a_more_exact_one_or_one_that_contradicts_it() {
        let mut check = ClockCheck::default();
        for (ahead, error, known) in [(100, 20, 100), (150, 60, 100), (110, 20, 110), (150, 30, 150), (140, 5, 140)] {
            assert!(!check.apply(ClockReading { ahead, error }));
            assert_eq!(check.ahead(), Some(known));
        }
    }

    #[test]
    fn a_difference_is_noted_until_it_is_certainly_small_again() {
        let mut check = ClockCheck::default();
        for (millis, error, is_noted) in
            [(500, 0, false), (510, 20, false), (-501, 0, true), (490, 20, true), (400, 0, false)]
        {
            check.apply(ClockReading { ahead: millis * 1_000, error: error * 1_000 });
            assert_eq!(check.is_noted, is_noted, "{millis}");
        }
    }

    #[test]
    fn a_node_whose_clock_is_wrong_does_not_begin_to_serve_until_it_is_right() {
        for others in [&[0][..], &[]] {
            assert!(!is_wrong([5], others, false));
            for own in [6, -6] {
                assert!(is_wrong([own], others, false));
                assert!(!is_wrong([own, 5], others, false));
            }
        }
    }

    #[test]
    fn two_nodes_agree_which_of_their_clocks_is_wrong() {
        let mut right = ClockCheck::default();
        right.apply(reading(-1));
        let mut wrong = ClockCheck::default();
        wrong.apply(reading(8));
        let [own, other] = [-1, 8].map(|ahead| ahead * SECOND);
        assert!(right.judge_other(other, &[other]) && !wrong.judge_other(own, &[own]));
    }

    #[test]
    fn a_node_that_serves_goes_on_for_three_seconds() {
        assert!(!is_wrong([6; 3], &[0], true) && is_wrong([6; 4], &[0], true));
        assert!(!is_wrong([6, 6, 6, 1, 6, 6, 6], &[0], true));
    }

    #[test]
    fn most_clocks_are_right_and_if_two_differ_the_databases() {
        assert_eq!(reference(0, &[30, 0]), 0);
        assert_eq!(reference(30, &[0]), 0);
        assert_eq!((reference(30, &[]), reference(-30, &[30])), (0, 0));
        assert_eq!(reference(-29, &[-30]), -29, "the database's clock was set");
        assert!(!is_wrong([-30], &[-30, -31], false));
        assert!(!is_wrong([0], &[-30, -31], false), "half of them and the database agree with it");
    }

    #[test]
    fn a_step_of_the_databases_clock_is_seen_once() {
        let mut check = ClockCheck::default();
        let steps = [0, 0, -30, -30, 1].map(|seconds| check.apply(reading(seconds)));
        assert_eq!(steps, [false, false, true, false, true]);
        assert!(!check.apply(ClockReading { ahead: 9 * SECOND, error: 8 * SECOND }), "a slow answer");
    }
}
