//! Reading files, and lines of bounded length.

use std::{
    fs::File,
    io::{self, BufRead, Read},
    path::Path,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum BoundedLine {
    /// As [`decode`] reads it, without surrounding white space.
    Text(String),
    /// The line was skipped.
    TooLong,
}

/// Opens a file, a pipe or a device to read; `-` is standard input.
pub(in crate::cli) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") { Ok(Box::new(io::stdin().lock())) } else { Ok(Box::new(File::open(path)?)) }
}

/// Text that is not UTF-8 is read as ISO 8859-1, as old files have it: different bytes stay different. The mark with
/// which some editors begin UTF-8 is left out.
pub(in crate::cli) fn decode(mut bytes: Vec<u8>) -> String {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect())
}

/// Reads the next line; `None` at the end. A line of more than `max` bytes is skipped in constant memory.
pub(in crate::cli) fn next(input: &mut impl BufRead, max: usize) -> io::Result<Option<BoundedLine>> {
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    if input.by_ref().take(limit).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() <= max || bytes.ends_with(b"\n") {
        return Ok(Some(BoundedLine::Text(decode(bytes).trim().to_owned())));
    }
    input.skip_until(b'\n')?;
    Ok(Some(BoundedLine::TooLong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_long_ones_skipped() {
        let text = format!("one\r\n\n{}\ntwo\u{e9} \n{}", "x".repeat(100_000), "1".repeat(10));
        let mut input = text.as_bytes();
        let text = |text: &str| Some(BoundedLine::Text(text.to_owned()));
        for expected in [text("one"), text(""), Some(BoundedLine::TooLong), text("two\u{e9}"), text("1111111111"), None]
        {
            assert_eq!(next(&mut input, 10).unwrap(), expected);
        }
        let mut endless = io::BufReader::new(io::repeat(b'x').take(1 << 20));
        assert_eq!(next(&mut endless, 10).unwrap(), Some(BoundedLine::TooLong));
        assert_eq!(next(&mut &b"\xff"[..], 10).unwrap(), text("\u{ff}"));
        assert_eq!(next(&mut &b"\xef\xbb\xbff5\n"[..], 10).unwrap(), text("f5"));
    }
}
