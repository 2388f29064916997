//! Lots: fixed pseudo-random numbers, so that a seed gives the same tournament in every version.

/// The lot of an item: the output with that index of the generator SplitMix64 (Steele, Lea and Flood, 2014). Different
/// items have different lots.
pub(crate) fn lot(seed: u64, item: u64) -> u64 {
    let mut bits = seed.wrapping_add(item.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation with the seed 1234567.
    #[test]
    fn lots_are_those_of_splitmix64() {
        let first = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|item| lot(1_234_567, item)), first);
    }
}
