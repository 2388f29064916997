//! Rows of aligned text.

/// The column widths that these rows need, in characters.
pub(in crate::cli) fn widths<const N: usize>(
    headings: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> [usize; N] {
    let mut widths = headings.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// A row of aligned text. Cells are never cut, so that scripts get all of them.
pub(in crate::cli) fn line<S: AsRef<str>, const N: usize>(cells: &[S; N], widths: [usize; N]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{:width$}", cell.as_ref()));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
