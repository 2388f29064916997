//! Random draws from a seeded generator.
//!
//! The `rand` crate's distributions are not used, as they may change with its version: a seed must always give the same
//! game.
use rand::Rng;

/// A number below `bound`, or 0 if that is 0. The bias is less than `bound` in 2^32.
pub fn below(rng: &mut impl Rng, bound: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(bound)) >> 32) as u32
}

/// A uniformly random item; `None` if there is none.
pub fn pick<T: Copy>(rng: &mut impl Rng, items: &[T]) -> Option<T> {
    let bound = u32::try_from(items.len()).unwrap_or(u32::MAX);
    items.get(below(rng, bound) as usize).copied()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn every_item_is_drawn_about_equally_often() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut counts = [0_u32; 5];
        for _ in 0..5000 {
            counts[pick(&mut rng, &[0_usize, 1, 2, 3, 4]).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(pick::<u8>(&mut rng, &[]), None);
    }
}
