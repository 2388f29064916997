//! Reading lines of bounded length.

use std::io::{self, BufRead, Read as _};

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum BoundedLine {
    /// Without surrounding white space; invalid UTF-8 is replaced.
    Text(String),
    /// The line was skipped.
    TooLong,
}

/// The next line, `None` at the end. A line of more than `longest` bytes is skipped, however long it is.
pub(in crate::cli) fn next(from: &mut impl BufRead, longest: usize) -> io::Result<Option<BoundedLine>> {
    let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    if from.by_ref().take(most).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() <= longest || bytes.ends_with(b"\n") {
        return Ok(Some(BoundedLine::Text(String::from_utf8_lossy(&bytes).trim().to_owned())));
    }
    from.skip_until(b'\n')?;
    Ok(Some(BoundedLine::TooLong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_long_ones_skipped() {
        let text = format!("one\r\n\n{}\ntwo\u{e9} \n{}", "x".repeat(100_000), "1".repeat(10));
        let mut from = text.as_bytes();
        let text = |text: &str| Some(BoundedLine::Text(text.to_owned()));
        for expected in [text("one"), text(""), Some(BoundedLine::TooLong), text("two\u{e9}"), text("1111111111"), None]
        {
            assert_eq!(next(&mut from, 10).unwrap(), expected);
        }
        let mut endless = io::BufReader::new(io::repeat(b'x').take(1 << 20));
        assert_eq!(next(&mut endless, 10).unwrap(), Some(BoundedLine::TooLong));
        assert_eq!(next(&mut &b"\xff"[..], 10).unwrap(), text("\u{fffd}"));
    }
}
