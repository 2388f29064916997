//! All-play-all.

/// The pairs of round `round`, from 0, of a field of `size` by the circle method (Berger's tables). The first of a pair
/// has black; each has black and white equally often, or once more. In `2 * size.div_ceil(2) - 1` rounds each meets
/// each other once; with an odd number one rests in each round.
#[must_use]
pub fn circle(size: usize, round: usize) -> Vec<(usize, usize)> {
    // The circle has an odd number of places. Of an even number of entrants, one stands outside it.
    let places = (size + size % 2).saturating_sub(1).max(1);
    let at = round % places;
    let outside = if round.is_multiple_of(2) { (at, places) } else { (places, at) };
    let around = (1..=places / 2).map(|step| {
        let (left, right) = ((at + step) % places, (at + places - step) % places);
        if step.is_multiple_of(2) { (right, left) } else { (left, right) }
    });
    std::iter::once(outside).chain(around).filter(|&(a, b)| a.max(b) < size).collect()
}

/// The pairs of round `round`, from 0, of `challengers` against `others`, as indices in each, with whether the
/// challenger has black. In as many rounds as the larger side has members each challenger meets each of the others
/// once.
#[must_use]
pub fn gauntlet(challengers: usize, others: usize, round: usize) -> Vec<((usize, usize), bool)> {
    let (few, many) = (challengers.min(others), challengers.max(others));
    let pairs = (0..few).map(|index| {
        let next = (index + round) % many.max(1);
        let pair = if challengers <= others { (index, next) } else { (next, index) };
        (pair, round.is_multiple_of(2))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_meets_each_other_once_with_equal_colours() {
        for size in 2..=65_usize {
            let rounds = 2 * size.div_ceil(2) - 1;
            let mut met = BTreeSet::new();
            let mut colours = vec![0_i32; size];
            for round in 0..rounds {
                let pairs = circle(size, round);
                let busy: BTreeSet<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
                assert_eq!((pairs.len(), busy.len()), (size / 2, size / 2 * 2), "{size} {round}");
                for (black, white) in pairs {
                    assert!(met.insert((black.min(white), black.max(white))));
                    colours[black] += 1;
                    colours[white] -= 1;
                }
            }
            assert_eq!(met.len(), size * (size - 1) / 2);
            assert!(colours.iter().all(|difference| difference.abs() <= 1), "{size}: {colours:?}");
        }
    }

    #[test]
    fn a_tiny_field_has_no_pairs() {
        assert_eq!((circle(0, 0), circle(1, 3)), (Vec::new(), Vec::new()));
        assert_eq!((gauntlet(0, 3, 1), gauntlet(2, 0, 1)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn each_challenger_meets_each_of_the_others() {
        for (challengers, others) in [(1, 1), (1, 7), (3, 5), (4, 4), (5, 2)] {
            let rounds = challengers.max(others);
            let mut met = BTreeSet::new();
            for round in 0..rounds {
                let pairs = gauntlet(challengers, others, round);
                assert_eq!(pairs.iter().map(|pair| pair.0.0).collect::<BTreeSet<_>>().len(), pairs.len());
                assert_eq!(pairs.iter().map(|pair| pair.0.1).collect::<BTreeSet<_>>().len(), pairs.len());
                met.extend(pairs.iter().map(|pair| pair.0));
            }
            assert_eq!(met.len(), challengers * others);
        }
    }
}
