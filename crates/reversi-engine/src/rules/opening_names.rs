//! The names of openings.
use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Board, Color, Position, Symmetry, Transcript};

/// A name and its moves on each line, as its first lines describe.
const NAMES: &str = include_str!("opening_names.txt");

/// The named positions, in their canonical images.
static BY_POSITION: LazyLock<HashMap<(Board, Color), &str>> =
    LazyLock::new(|| named().map(|(name, moves)| (canonical(moves.position()), name)).collect());

/// The usual name of the opening that leads to a position, by whatever moves; also of its images.
#[must_use]
pub fn of_position(position: Position) -> Option<&'static str> {
    BY_POSITION.get(&canonical(position)).copied()
}

/// The usual name of the opening of a game: that of its last position that has one.
#[must_use]
pub fn of_game(positions: impl IntoIterator<Item = Position>) -> Option<&'static str> {
    positions.into_iter().filter_map(of_position).last()
}

/// All names, each once.
pub fn all() -> impl Iterator<Item = &'static str> {
    named().map(|(name, _)| name)
}

fn named() -> impl Iterator<Item = (&'static str, Transcript)> {
    let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (name, moves) = line.rsplit_once(' ')?;
        Some((name, moves.parse().ok()?))
    })
}

fn canonical(position: Position) -> (Board, Color) {
    (Symmetry::normal(position.board()), position.turn())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn after(moves: &str) -> Position {
        moves.parse::<Transcript>().unwrap().position()
    }

    #[test]
    fn each_line_is_a_name_and_legal_moves_to_a_position_of_its_own() {
        let lines = NAMES.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(named().count(), lines);
        assert_eq!(BY_POSITION.len(), lines);
        assert_eq!(all().collect::<HashSet<_>>().len(), lines);
        assert!(lines >= 80, "{lines} names");
    }

    #[test]
    fn a_position_has_its_name_in_all_images_and_by_all_orders_of_moves() {
        assert_eq!(of_position(after("c4e3f6e6f5")), Some("Tiger"));
        // Mirrored in the main diagonal, as most transcripts begin.
        assert_eq!(of_position(after("f5d6c3d3c4")), of_position(after("c4e3f6e6f5")));
        assert_eq!(of_position(after("f5d6c5f4e3c6d3f6e6d7")), Some("Rose"));
        assert_eq!(of_position(Position::START), None);
    }

    #[test]
    fn a_game_has_its_last_name() {
        let game: Transcript = "c4e3f6e6f5c5f4g6f7".parse().unwrap();
        assert_eq!(of_game(game.positions()), Some("Rose-Bill"));
        assert_eq!(of_game(game.positions().take(2)), None);
        assert_eq!(of_game([]), None);
    }
}
