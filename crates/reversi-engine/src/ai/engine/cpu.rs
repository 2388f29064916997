//! Moves and flips with the processor's instructions.
//!
//! The engine is generic over a [`Cpu`], so that whole searches are compiled once for any processor and once for those
//! with AVX2, BMI and POPCNT. A value of [`Modern`], made only by [`Modern::detect`], proves that the processor has
//! them.
//!
//! Only this file of the engine has `unsafe`: each block, in a method of [`Modern`], calls a function that needs those
//! instructions. The functions themselves are safe Rust.
use crate::rules::moves_and_flips;

/// The instruction set for which a search is compiled.
pub(super) trait Cpu: Copy + Send + Sync {
    /// Runs `work` compiled for this processor. Functions that are not inlined into their caller begin with it.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;

    /// The legal moves of `own` against `opponent`.
    fn moves(self, own: u64, opponent: u64) -> u64;

    /// The discs that a move of `own` to the empty `square` flips.
    fn flips(self, own: u64, opponent: u64, square: u8) -> u64;

    /// The number of discs that a move of `own` to the only empty `square` flips.
    fn last_flips(self, own: u64, square: u8) -> u32;
}

/// Any processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Cpu for Portable {
    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[inline(always)]
    fn moves(self, own: u64, opponent: u64) -> u64 {
        moves_and_flips::moves(own, opponent)
    }

    #[inline(always)]
    fn flips(self, own: u64, opponent: u64, square: u8) -> u64 {
        moves_and_flips::flips(own, opponent, square)
    }

    #[inline(always)]
    fn last_flips(self, own: u64, square: u8) -> u32 {
        moves_and_flips::flips(own, !own & !(1 << square), square).count_ones()
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use wide::Modern;

#[cfg(target_arch = "x86_64")]
mod wide {
    #![expect(unsafe_code, reason = "Modern::detect checks for the instructions that these calls need")]
    use std::arch::x86_64::{
        __m256i, _mm_cvtsi128_si64, _mm_or_si128, _mm_unpackhi_epi64, _mm256_add_epi64, _mm256_and_si256,
        _mm256_andnot_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi64, _mm256_extracti128_si256, _mm256_or_si256,
        _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_sllv_epi64, _mm256_srlv_epi64,
        _mm256_sub_epi64, _pext_u64,
    };

    use super::super::line_masks::{DOWNWARD, LAST_FLIPS, LINES, UPWARD};
    use super::Cpu;

    /// A processor with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Modern(());

    impl Modern {
        /// `None` if the processor lacks one of them.
        pub(in super::super) fn detect() -> Option<Self> {
            let has_all = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            has_all.then_some(Self(()))
        }
    }

    impl Cpu for Modern {
        #[inline(always)]
        fn run<R>(self, work: impl FnOnce() -> R) -> R {
            // SAFETY: `self` exists, so the processor has the instructions.
            unsafe { run(work) }
        }

        #[inline(always)]
        fn moves(self, own: u64, opponent: u64) -> u64 {
            // SAFETY: as above.
            unsafe { moves(own, opponent) }
        }

        #[inline(always)]
        fn flips(self, own: u64, opponent: u64, square: u8) -> u64 {
            // SAFETY: as above.
            unsafe { flips(own, opponent, square) }
        }

        #[inline(always)]
        fn last_flips(self, own: u64, square: u8) -> u32 {
            // SAFETY: as above.
            unsafe { last_flips(own, square) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// The parallel prefix of [`crate::rules::moves_and_flips`], on all four axes at once.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn moves(own: u64, opponent: u64) -> u64 {
        const INNER_COLUMNS: i64 = 0x7E7E_7E7E_7E7E_7E7E;
        let steps = _mm256_setr_epi64x(1, 8, 7, 9);
        let two_steps = _mm256_add_epi64(steps, steps);
        let players = _mm256_set1_epi64x(own.cast_signed());
        let between = _mm256_and_si256(
            _mm256_set1_epi64x(opponent.cast_signed()),
            _mm256_setr_epi64x(INNER_COLUMNS, -1, INNER_COLUMNS, INNER_COLUMNS),
        );
        let mut up = _mm256_and_si256(between, _mm256_sllv_epi64(players, steps));
        let mut down = _mm256_and_si256(between, _mm256_srlv_epi64(players, steps));
        up = _mm256_or_si256(up, _mm256_and_si256(between, _mm256_sllv_epi64(up, steps)));
        down = _mm256_or_si256(down, _mm256_and_si256(between, _mm256_srlv_epi64(down, steps)));
        let pairs_up = _mm256_and_si256(between, _mm256_sllv_epi64(between, steps));
        let pairs_down = _mm256_srlv_epi64(pairs_up, steps);
        up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, two_steps)));
        down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, two_steps)));
        up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, two_steps)));
        down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, two_steps)));
        let reached = _mm256_or_si256(_mm256_sllv_epi64(up, steps), _mm256_srlv_epi64(down, steps));
        any_lane(reached) & !(own | opponent)
    }

    /// The rays of one square, four at once: upwards a carry runs through the opposing discs, downwards the nearest
    /// other square is smeared over all below it.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn flips(own: u64, opponent: u64, square: u8) -> u64 {
        let square = usize::from(square & 63);
        let players = _mm256_set1_epi64x(own.cast_signed());
        let opponents = _mm256_set1_epi64x(opponent.cast_signed());
        let (zero, ones) = (_mm256_setzero_si256(), _mm256_set1_epi64x(-1));

        let rays = of_lanes(UPWARD[square]);
        let carried = _mm256_sub_epi64(_mm256_or_si256(opponents, _mm256_andnot_si256(rays, ones)), ones);
        let end = _mm256_and_si256(_mm256_and_si256(carried, rays), players);
        let below_end = _mm256_sub_epi64(_mm256_add_epi64(end, ones), _mm256_cmpeq_epi64(end, zero));
        let up = _mm256_and_si256(below_end, rays);

        let rays = of_lanes(DOWNWARD[square]);
        let steps = _mm256_setr_epi64x(1, 8, 7, 9);
        let two_steps = _mm256_add_epi64(steps, steps);
        let mut beyond = _mm256_andnot_si256(opponents, rays);
        beyond = _mm256_or_si256(beyond, _mm256_srlv_epi64(beyond, steps));
        beyond = _mm256_or_si256(beyond, _mm256_srlv_epi64(beyond, two_steps));
        beyond = _mm256_or_si256(beyond, _mm256_srlv_epi64(beyond, _mm256_add_epi64(two_steps, two_steps)));
        let nearest = _mm256_andnot_si256(_mm256_srlv_epi64(beyond, steps), beyond);
        let end = _mm256_and_si256(_mm256_and_si256(nearest, rays), players);
        let run = _mm256_andnot_si256(beyond, rays);
        let down = _mm256_andnot_si256(_mm256_cmpeq_epi64(end, zero), run);

        any_lane(_mm256_or_si256(up, down))
    }

    /// With one empty square, the own discs on each line through it determine the flips; they index a table.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn last_flips(own: u64, square: u8) -> u32 {
        let lines = &LINES[usize::from(square & 63)];
        let mut count = 0;
        for (line, place) in lines {
            count += u32::from(LAST_FLIPS[usize::from(*place & 7)][(_pext_u64(own, *line) & 255) as usize]);
        }
        count
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn of_lanes(lanes: [u64; 4]) -> __m256i {
        let [a, b, c, d] = lanes.map(u64::cast_signed);
        _mm256_setr_epi64x(a, b, c, d)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn any_lane(lanes: __m256i) -> u64 {
        let halves = _mm_or_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
        _mm_cvtsi128_si64(_mm_or_si128(halves, _mm_unpackhi_epi64(halves, halves))).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::moves_and_flips::tests::any_discs;

    fn agrees_with_the_rules(cpu: impl Cpu, own: u64, opponent: u64) {
        assert_eq!(cpu.moves(own, opponent), moves_and_flips::moves(own, opponent));
        for square in (0..64).filter(|square| (own | opponent) >> square & 1 == 0) {
            assert_eq!(cpu.flips(own, opponent, square), moves_and_flips::flips(own, opponent, square));
        }
        for square in 0..64 {
            let (own, opponent) = (own & !(1 << square), !own & !(1 << square));
            assert_eq!(cpu.last_flips(own, square), moves_and_flips::flips(own, opponent, square).count_ones());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn moves_and_flips_are_those_of_the_rules((own, opponent) in any_discs()) {
            agrees_with_the_rules(Portable, own, opponent);
            #[cfg(target_arch = "x86_64")]
            if let Some(modern) = Modern::detect() {
                agrees_with_the_rules(modern, own, opponent);
            }
        }
    }
}
