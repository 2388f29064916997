//! The random number generator of all computer players.
use rand_pcg::Pcg64;

use crate::rules::SplitMix64;

/// The generator for a seed: PCG XSL RR 128/64 (O'Neill, 2014), whose stream is fixed by its specification.
///
/// [`SplitMix64`] expands the seed to the whole state, so that consecutive seeds play unrelated games; `rand`'s
/// `seed_from_u64` may change with its version.
#[must_use]
pub fn seeded_rng(seed: u64) -> Pcg64 {
    const STREAM: u128 = 0x0A02_BDBF_7BB3_C0A7_AC28_FA16_A64A_BF96;
    let mut mix = SplitMix64::new(seed);
    Pcg64::new(u128::from(mix.next()) << 64 | u128::from(mix.next()), STREAM)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::Rng;

    use super::*;

    #[test]
    fn seeds_give_different_streams_from_the_first_number_on() {
        let first: BTreeSet<u32> = (0..1000).map(|seed| seeded_rng(seed).next_u32() >> 24).collect();
        assert!(first.len() > 240, "the top eight bits take nearly all values: {}", first.len());
    }

    #[test]
    fn consecutive_seeds_are_unrelated() {
        for stride in [1, 256, 1 << 32] {
            let choices: Vec<u64> = (0..1000).map(|seed| seeded_rng(seed * stride).next_u64() % 8).collect();
            let repeats = choices.windows(2).filter(|pair| pair[0] == pair[1]).count();
            assert!((80..170).contains(&repeats), "one pair in eight is equal by chance: {repeats} for {stride}");
        }
    }

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut rng = seeded_rng(42);
        assert_eq!([rng.next_u64(), rng.next_u64()], [5_358_408_560_322_952_272, 14_856_326_839_509_143_829]);
    }
}
