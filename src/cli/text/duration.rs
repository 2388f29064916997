//! Durations as text.

use std::{fmt, str::FromStr, time::Duration};

/// A duration of the command line: a number of seconds, or of the unit that follows, as `90`, `0.5` or `2h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Span(pub(in crate::cli) Duration);

/// From the longest, in seconds.
const UNITS: [(char, u32); 4] = [('d', 24 * 60 * 60), ('h', 60 * 60), ('m', 60), ('s', 1)];

impl FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unit = UNITS.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
        let (number, seconds) = unit.unwrap_or((text, 1));
        let number: Option<f64> = number.parse().ok();
        let span = number.and_then(|number| Duration::try_from_secs_f64(number * f64::from(seconds)).ok());
        span.map(Self).ok_or("a time is in seconds or has a unit, as 30, 0.5, 90s, 45m, 2h or 7d")
    }
}

/// As it is parsed, in the longest unit of which it is a whole number.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let mut units = UNITS.into_iter().map(|(unit, length)| (unit, u64::from(length)));
        match units.find(|(_, length)| self.0.subsec_nanos() == 0 && seconds > 0 && seconds.is_multiple_of(*length)) {
            Some((unit, length)) => write!(f, "{}{unit}", seconds / length),
            None => write!(f, "{}", self.0.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written() {
        for (text, millis, written) in [
            ("30", 30_000, "30s"),
            ("0.5", 500, "0.5"),
            ("0", 0, "0"),
            ("90s", 90_000, "90s"),
            ("120s", 120_000, "2m"),
            ("1.5h", 5_400_000, "90m"),
            ("7d", 604_800_000, "7d"),
        ] {
            let span = Span(Duration::from_millis(millis));
            assert_eq!(
                (text.parse(), span.to_string(), written.parse()),
                (Ok(span), written.into(), Ok(span)),
                "{text}"
            );
        }
        for text in ["", "h", "-1", "1w", "inf", "1h30m"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
