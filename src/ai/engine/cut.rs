//! Cuts by probability: when a shallow search is far enough beyond the window, a deep one is likely to be beyond it too.
//!
//! This is Buro's Multi-ProbCut ("ProbCut: An Effective Selective Extension of the Alpha-Beta Algorithm", 1995, and its sequel of 1997).
//! The difference between deep and shallow values is taken as normal, with no bias and a deviation fitted on our own searches:
//! see [`deviation`].
use super::searcher::{DISC, SURE, Value};

/// From this depth on, cuts are tried: below, the shallow search costs as much as the deep one.
pub(super) const LEAST_DEPTH: u8 = 3;

/// How many deviations beyond the window a cut needs, by certainty. The chances that the deep value is beyond it too: 73, 87, 95, 98
/// and 99 %, the steps that Edax made usual.
const DEVIATIONS: [f32; 5] = [1.1, 1.5, 2.0, 2.6, 3.3];

/// The certainties below [`SURE`], and the next better one.
pub(super) const CERTAINTIES: u8 = DEVIATIONS.len() as u8;

/// The share of cuts that are right, in percent, as a search of this certainty promises.
pub(super) fn percent(certainty: u8) -> u8 {
    if certainty >= SURE { 100 } else { [73, 87, 95, 98, 99][usize::from(certainty).min(4)] }
}

/// How deep the shallow search is: of the same parity, about half as deep.
#[inline(always)]
pub(super) fn shallow_depth(depth: u8) -> u8 {
    match depth {
        0..=3 => 1,
        4 => 2,
        _ => 2 * (depth / 4) + (depth & 1),
    }
}

/// The margin beyond the window, with the mean of the differences.
#[inline(always)]
pub(super) fn margin(certainty: u8, empties: u32, depth: u8, shallow: u8) -> Value {
    let deviations = DEVIATIONS[usize::from(certainty).min(DEVIATIONS.len() - 1)];
    (deviations * deviation(empties, depth, shallow) * DISC as f32) as Value
}

/// The standard deviation in discs between values of these depths.
pub(super) fn deviation(empties: u32, depth: u8, shallow: u8) -> f32 {
    let x = -0.100 * empties as f32 + 0.310 * f32::from(depth) - 0.578 * f32::from(shallow);
    0.0759 * x * x + 1.165 * x + 5.417
}
