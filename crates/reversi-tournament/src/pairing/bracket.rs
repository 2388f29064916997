//! The first round of a play-off.

/// The pairs of ranks, from 0, in the order of the bracket: winners of adjacent pairs meet in the next round, and the
/// first two ranks meet in the final at the earliest. `size` is a power of two, at least 2.
#[must_use]
pub fn bracket(size: usize) -> Vec<(usize, usize)> {
    let mut ranks = vec![0];
    while ranks.len() < size {
        let last = 2 * ranks.len() - 1;
        ranks = ranks.iter().flat_map(|rank| [*rank, last - rank]).collect();
    }
    ranks.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_meet_last() {
        assert_eq!(bracket(2), [(0, 1)]);
        assert_eq!(bracket(4), [(0, 3), (1, 2)]);
        assert_eq!(bracket(8), [(0, 7), (3, 4), (1, 6), (2, 5)]);
    }
}
