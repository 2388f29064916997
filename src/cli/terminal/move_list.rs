//! A list of moves, one line per pair.

use crate::{client::Ply, rules::Color};

/// Lines such as ` 1. d3 c5`: black's move, then white's. A pass is `--`.
pub(in crate::cli) fn lines(plies: &[Ply]) -> Vec<String> {
    let name = |ply: &Ply| ply.square.map_or_else(|| "--".to_owned(), |square| square.to_string());
    let mut lines: Vec<String> = Vec::new();
    for ply in plies {
        match (ply.side, lines.last_mut()) {
            (Color::White, Some(line)) => {
                line.push(' ');
                line.push_str(&name(ply));
            }
            _ => lines.push(format!("{:2}. {}", lines.len() + 1, name(ply))),
        }
    }
    lines
}

/// [`lines`] in as many columns as `width` allows; if not all fit in `height` rows, the newest.
pub(in crate::cli) fn columns(plies: &[Ply], width: u16, height: u16) -> Vec<String> {
    const COLUMN: usize = 11;
    let rows = usize::from(height);
    let lines = lines(plies);
    let columns = (usize::from(width) / COLUMN).max(1);
    if rows == 0 {
        return Vec::new();
    }
    // Whole columns are hidden, so that the moves do not shift with every ply.
    let hidden = lines.len().saturating_sub(rows * columns).div_ceil(rows) * rows;
    let shown = &lines[hidden..];
    (0..rows.min(shown.len()))
        .map(|row| {
            let cells = (0..columns).filter_map(|column| shown.get(column * rows + row));
            cells.map(|cell| format!("{cell:COLUMN$}")).collect::<String>().trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn plies(names: &[&str]) -> Vec<Ply> {
        let ply = |(index, name): (usize, &&str)| Ply {
            ply: index as u32,
            side: if index % 2 == 0 { Color::Black } else { Color::White },
            square: name.parse().ok(),
            spent: Duration::ZERO,
            opening: false,
        };
        names.iter().enumerate().map(ply).collect()
    }

    #[test]
    fn plies_are_shown_in_pairs() {
        assert_eq!(lines(&plies(&["d3", "c5", "--", "f6", "e7"])), [" 1. d3 c5", " 2. -- f6", " 3. e7"]);
    }

    #[test]
    fn the_newest_is_always_shown() {
        let all = plies(&["a1"; 20]);
        assert_eq!(columns(&all, 22, 3), [" 7. a1 a1  10. a1 a1", " 8. a1 a1", " 9. a1 a1"]);
        assert_eq!(columns(&all, 22, 0), Vec::<String>::new());
        assert_eq!(columns(&all[..2], 40, 5), [" 1. a1 a1"]);
    }
}
