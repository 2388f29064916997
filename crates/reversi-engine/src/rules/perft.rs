//! Counts the games of a given length, to test a move generator and measure its speed.
use super::Position;

/// The number of sequences of `depth` plies, counted by making each. A pass is a ply; a game that ends earlier counts
/// once.
#[must_use]
pub fn perft(position: Position, depth: u8) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.legal_moves();
    if moves.is_empty() {
        return after_no_move(position, depth, perft);
    }
    moves.iter().map(|square| perft(position.play_unchecked(square), depth - 1)).sum()
}

/// Like [`perft`], but counts the moves of the last ply without making them.
#[must_use]
pub fn perft_counting(position: Position, depth: u8) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.legal_moves();
    if moves.is_empty() {
        return after_no_move(position, depth, perft_counting);
    }
    if depth == 1 {
        return moves.count().into();
    }
    moves.iter().map(|square| perft_counting(position.play_unchecked(square), depth - 1)).sum()
}

fn after_no_move(position: Position, depth: u8, count: fn(Position, u8) -> u64) -> u64 {
    match position.pass() {
        Some(passed) => count(passed, depth - 1),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../tests/data/perft.txt");

    fn table(depths: std::ops::RangeInclusive<u8>) -> Vec<(u8, u64)> {
        let rows: Vec<(u8, u64)> = TABLE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(' '))
            .map(|(depth, count)| (depth.parse().unwrap(), count.parse().unwrap()))
            .filter(|(depth, _)| depths.contains(depth))
            .collect();
        assert_eq!(rows.len(), depths.count(), "the table has every depth");
        rows
    }

    #[test]
    fn the_published_counts_to_depth_9() {
        for (depth, count) in table(1..=9) {
            assert_eq!(perft(Position::START, depth), count, "depth {depth}");
            assert_eq!(perft_counting(Position::START, depth), count, "depth {depth}");
        }
    }

    #[test]
    #[ignore = "seconds in release, far longer without optimisation: cargo test --release -- --ignored perft"]
    fn the_published_counts_to_depth_11() {
        for (depth, count) in table(10..=11) {
            assert_eq!(perft(Position::START, depth), count, "depth {depth}");
            assert_eq!(perft_counting(Position::START, depth), count, "depth {depth}");
        }
    }

    #[test]
    fn a_pass_is_a_ply_and_an_ended_game_is_one_way() {
        let blocked: Position = "------OX-------------------------------------------------------- O".parse().unwrap();
        for depth in 0..4 {
            assert_eq!(perft(blocked, depth), 1, "depth {depth}");
            assert_eq!(perft_counting(blocked, depth), 1, "depth {depth}");
        }
    }
}
