//! Dates such as `2026-01-02 10:00:00 GMT`, proleptic Gregorian (Hinnant, `civil_from_days`, `days_from_civil`).

use crate::Timestamp;

const DAY: i64 = 86_400;
const MICROS: i64 = 1_000_000;

/// The date and time in UTC, as GGF has it.
#[must_use]
pub fn write_date(at: Timestamp) -> String {
    let seconds = at.0.div_euclid(MICROS);
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} GMT", second / 3600, second / 60 % 60, second % 60)
}

/// Reads a date: a year of four digits, then optionally month, day, hour, minute and second, with any separators. Time
/// zones are ignored. `None` for any other text.
#[must_use]
pub fn read_date(text: &str) -> Option<Timestamp> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers: Vec<i64> = numbers.take(6).map(|digits| digits.parse().ok()).collect::<Option<_>>()?;
    let within = |index: usize, min: i64, max: i64| match numbers.get(index) {
        None => Some(min),
        Some(&number) => (min..=max).contains(&number).then_some(number),
    };
    let year = *numbers.first().filter(|year| (1000..=9999).contains(*year))?;
    let (month, day) = (within(1, 1, 12)?, within(2, 1, 31)?);
    let second = within(3, 0, 23)? * 3600 + within(4, 0, 59)? * 60 + within(5, 0, 59)?;
    let shifted_year = year - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(Timestamp((days * DAY + second) * MICROS))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(write_date(Timestamp(0)), "1970-01-01 00:00:00 GMT");
        assert_eq!(write_date(Timestamp(951_782_400_000_000)), "2000-02-29 00:00:00 GMT");
        assert_eq!(write_date(Timestamp(1_767_348_000_000_000)), "2026-01-02 10:00:00 GMT");
    }

    #[test]
    fn dates_are_read_in_the_forms_of_other_programs() {
        let written = |text: &str| read_date(text).map(write_date);
        assert_eq!(written("1999.12.31_23:59:58.MST"), Some("1999-12-31 23:59:58 GMT".into()));
        assert_eq!(written("2026-01-02"), Some("2026-01-02 00:00:00 GMT".into()));
        assert_eq!(written("1998"), Some("1998-01-01 00:00:00 GMT".into()));
        for none in ["", "soon", "1065371234", "2026-13-01", "2026-01-02 25:00:00", "99999999999999999999"] {
            assert_eq!(read_date(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn a_written_date_is_read_back(seconds in -30_000_000_000_i64..200_000_000_000) {
            let at = Timestamp(seconds * MICROS);
            prop_assert_eq!(read_date(&write_date(at)), Some(at));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "[0-9 :.-]{0,40}|.{0,20}") {
            let _ = read_date(&text);
        }
    }
}
