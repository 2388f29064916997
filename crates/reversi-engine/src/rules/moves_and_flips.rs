//! Moves and flips by arithmetic on whole lines of the board, without a loop over squares.
//!
//! Moves are found by a parallel-prefix (Kogge-Stone) fill along the four axes in both directions, as described on
//! <https://www.chessprogramming.org/Kogge-Stone_Algorithm>. Flips use the eight rays of a square: upwards, an addition
//! carries through the run of opposing discs to its end; downwards, the highest bit that is not such a disc is its end.

/// Columns b to g: a disc in column a or h cannot be bracketed along a row or a diagonal, and masking it out also
/// prevents shifts from wrapping into the next row.
const INNER_COLUMNS: u64 = 0x7E7E_7E7E_7E7E_7E7E;

/// The legal moves of `own` against `opponent`.
#[must_use]
pub const fn moves(own: u64, opponent: u64) -> u64 {
    let inner = opponent & INNER_COLUMNS;
    let reached = along_axis::<1>(own, inner)
        | along_axis::<7>(own, inner)
        | along_axis::<8>(own, opponent)
        | along_axis::<9>(own, inner);
    reached & !(own | opponent)
}

/// The discs of `opponent` that a move of `own` to `square` flips.
#[must_use]
pub const fn flips(own: u64, opponent: u64, square: u8) -> u64 {
    let rays = &RAYS[square as usize & 63];
    upward(own, opponent, rays[0])
        | upward(own, opponent, rays[1])
        | upward(own, opponent, rays[2])
        | upward(own, opponent, rays[3])
        | downward(own, opponent, rays[4])
        | downward(own, opponent, rays[5])
        | downward(own, opponent, rays[6])
        | downward(own, opponent, rays[7])
}

/// The squares after a run of `between` that begins beside a disc of `own`, in both directions of one axis. A run has
/// at most six squares: one step, one more, then two steps at a time.
const fn along_axis<const STEP: u32>(own: u64, between: u64) -> u64 {
    let mut up = (own << STEP) & between;
    let mut down = (own >> STEP) & between;
    up |= (up << STEP) & between;
    down |= (down >> STEP) & between;
    let pairs_up = between & (between << STEP);
    let pairs_down = between & (between >> STEP);
    up |= (up << (2 * STEP)) & pairs_up;
    down |= (down >> (2 * STEP)) & pairs_down;
    up |= (up << (2 * STEP)) & pairs_up;
    down |= (down >> (2 * STEP)) & pairs_down;
    (up << STEP) | (down >> STEP)
}

/// Flips on a ray towards higher bits. Every bit off the ray is set, so that adding one carries into the ray and
/// through its run of opposing discs to the first other square.
const fn upward(own: u64, opponent: u64, ray: u64) -> u64 {
    let end = (opponent | !ray).wrapping_add(1) & ray & own;
    end.saturating_sub(1) & ray
}

/// Flips on a ray towards lower bits. The added bit 0 is found on a ray without an end; masking with the ray removes
/// it.
const fn downward(own: u64, opponent: u64, ray: u64) -> u64 {
    let nearest = (1 << 63) >> ((!opponent & ray) | 1).leading_zeros();
    let end = nearest & ray & own;
    (end.wrapping_neg() << 1) & ray
}

/// The four directions towards higher bits, then the four towards lower ones.
static RAYS: [[u64; 8]; 64] = rays([(1, 0), (-1, 1), (0, 1), (1, 1), (-1, 0), (1, -1), (0, -1), (-1, -1)]);

/// The ray from each square in each of these directions, given as steps to the right and down.
pub(crate) const fn rays<const N: usize>(directions: [(i8, i8); N]) -> [[u64; N]; 64] {
    let mut rays = [[0; N]; 64];
    let mut square = 0;
    while square < 64 {
        let mut direction = 0;
        while direction < N {
            rays[square][direction] = ray(square as i8, directions[direction]);
            direction += 1;
        }
        square += 1;
    }
    rays
}

const fn ray(square: i8, (right, down): (i8, i8)) -> u64 {
    let mut ray = 0;
    let (mut column, mut row) = (square % 8 + right, square / 8 + down);
    while column >= 0 && column < 8 && row >= 0 && row < 8 {
        ray |= 1 << (row * 8 + column);
        column += right;
        row += down;
    }
    ray
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition of the rule: walk in each direction over opposing discs to an own one.
    fn flips_by_walking(own: u64, opponent: u64, square: u8) -> u64 {
        let mut flips = 0;
        for (right, down) in (-1..=1).flat_map(|r| (-1..=1).map(move |d| (r, d))) {
            let mut run = 0;
            let (mut column, mut row) = (square as i8 % 8 + right, square as i8 / 8 + down);
            while (right, down) != (0, 0) && (0..8).contains(&column) && (0..8).contains(&row) {
                let bit = 1 << (row * 8 + column);
                if own & bit != 0 {
                    flips |= run;
                }
                if opponent & bit == 0 {
                    break;
                }
                run |= bit;
                (column, row) = (column + right, row + down);
            }
        }
        flips
    }

    /// Boards with empty squares as rare as one in eight or as common as seven in eight.
    pub(crate) fn any_discs() -> impl Strategy<Value = (u64, u64)> {
        (any::<u64>(), any::<u64>(), any::<u64>(), 0..3).prop_map(|(a, b, c, kind)| {
            let taken = match kind {
                0 => a & b,
                1 => a | b,
                _ => a | b | a.rotate_left(17),
            };
            (taken & c, taken & !c)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn moves_and_flips_match_a_walk_along_the_lines((own, opponent) in any_discs()) {
            for square in 0..64 {
                let expected = flips_by_walking(own, opponent, square);
                prop_assert_eq!(flips(own, opponent, square), expected);
                let empty = (own | opponent) >> square & 1 == 0;
                prop_assert_eq!(moves(own, opponent) >> square & 1 == 1, empty && expected != 0);
            }
        }
    }
}
