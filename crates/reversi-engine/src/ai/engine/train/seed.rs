//! The evaluation with which training starts: simple rules of thumb.
use super::super::pattern::PATTERNS;
use super::super::weights::{STAGES, Weights, rounded, stage_len};

/// Corners are good, the diagonal neighbours of empty corners bad, and more moves than the opponent's good.
#[must_use]
pub fn seed() -> Weights {
    const CORNER: f32 = 8.0;
    const BEFORE_CORNER: f32 = 4.0;
    const MOVE: f32 = 0.7;
    let mut numbers = vec![0; stage_len()];
    for (place, digits) in PATTERNS.numbers(0) {
        let side = |digit: u8| [0.0, 1.0, -1.0][usize::from(digit)];
        let (corner, before) = (side(digits[0]), side(digits[4]));
        let worth = if digits[0] == 0 { -BEFORE_CORNER * before } else { CORNER * corner };
        numbers[PATTERNS.shared[place] as usize] = rounded(worth);
    }
    let after = PATTERNS.weights;
    let side_len = (stage_len() - after - 2) / 2;
    for moves in 0..side_len {
        numbers[after + moves] = rounded(MOVE * moves as f32);
        numbers[after + side_len + moves] = rounded(-MOVE * moves as f32);
    }
    Weights::of_stages(&vec![numbers; STAGES])
}
