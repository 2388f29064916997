//! The source of chance of all computer players.
use rand_pcg::Pcg64;

/// The generator for a seed: PCG XSL RR 128/64 (O'Neill, 2014), whose stream its specification fixes.
///
/// The seed is spread over the whole state here, and not by `rand`'s `seed_from_u64`, so that no new version of that crate
/// changes what a seed means.
#[must_use]
pub fn generator(seed: u64) -> Pcg64 {
    const STREAM: u128 = 0x0A02_BDBF_7BB3_C0A7_AC28_FA16_A64A_BF96;
    let spread = u128::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    Pcg64::new(spread ^ (spread >> 64), STREAM)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::Rng;

    use super::*;

    #[test]
    fn seeds_give_different_streams_from_the_first_number_on() {
        let first: BTreeSet<u32> = (0..1000).map(|seed| generator(seed).next_u32() >> 24).collect();
        assert!(first.len() > 240, "the top eight bits take nearly all values: {}", first.len());
    }

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut generator = generator(42);
        assert_eq!(
            [generator.next_u64(), generator.next_u64()],
            [16_050_618_757_681_753_073, 8_525_685_570_596_604_503]
        );
    }
}
