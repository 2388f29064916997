//! Selective cuts: if the value of a shallow search is far outside the window, that of a deep one is probably outside
//! too.
//!
//! This is Buro's Multi-ProbCut ("ProbCut: An Effective Selective Extension of the Alpha-Beta Algorithm", 1995, and its
//! sequel of 1997). The difference between deep and shallow values is modelled as normal, with mean 0 and a deviation
//! fitted to the engine's own searches.
use std::sync::LazyLock;

use super::searcher::SURE;
use super::weights::{DISC, Value};

/// The minimum depth for cuts: below, the shallow search costs as much as the deep one.
pub(super) const MIN_DEPTH: u8 = 3;

/// The distance from the window that a cut needs, in standard deviations, by certainty. The probabilities that the deep
/// value is outside too are 73, 87, 95, 98 and 99 %, as in Edax.
const DEVIATIONS: [f32; 5] = [1.1, 1.5, 2.0, 2.6, 3.3];

/// The number of certainties below [`SURE`].
pub(super) const CERTAINTIES: u8 = DEVIATIONS.len() as u8;

/// The nominal share of correct cuts at this certainty, in percent.
pub(super) fn percent(certainty: u8) -> u8 {
    if certainty >= SURE { 100 } else { [73, 87, 95, 98, 99][usize::from(certainty).min(4)] }
}

/// The depth of the shallow search: about half of `depth`, with the same parity.
#[inline(always)]
pub(super) fn shallow_depth(depth: u8) -> u8 {
    match depth {
        0..=3 => 1,
        4 => 2,
        _ => 2 * (depth / 4) + (depth & 1),
    }
}

/// The distance from the window that the shallow value needs for a cut.
#[inline(always)]
pub(super) fn margin(certainty: u8, empties: u32, depth: u8) -> Value {
    in_deviations(certainty, SHALLOW[usize::from(depth) & 63][empties as usize & 63])
}

/// The maximum by which the static evaluation may fall short of the bound if the shallow search is to be tried: half of
/// the margin with which the static evaluation itself would cut.
#[inline(always)]
pub(super) fn doubt(certainty: u8, empties: u32, depth: u8) -> Value {
    in_deviations(certainty, STATIC[usize::from(depth) & 63][empties as usize & 63]) / 2
}

#[inline(always)]
fn in_deviations(certainty: u8, deviation: f32) -> Value {
    (DEVIATIONS[usize::from(certainty).min(DEVIATIONS.len() - 1)] * deviation) as Value
}

/// Deviations as [`Value`]s, by depth and empty squares.
type Deviations = LazyLock<Box<[[f32; 64]; 64]>>;

static SHALLOW: Deviations = LazyLock::new(|| tabulated(shallow_depth));

static STATIC: Deviations = LazyLock::new(|| tabulated(|_| 0));

fn tabulated(shallow: impl Fn(u8) -> u8) -> Box<[[f32; 64]; 64]> {
    let mut table = Box::new([[0.0; 64]; 64]);
    for (row, depth) in table.iter_mut().zip(0..) {
        for (deviation, empties) in row.iter_mut().zip(0..) {
            *deviation = deviation_of(empties, depth, shallow(depth)) * DISC as f32;
        }
    }
    table
}

/// The standard deviation in discs between values at these depths: it shrinks with the empty squares and the shallow
/// depth and grows with the deep one.
///
/// Fitted by [`super::train::deviation`] to the values of 455 positions at 0 to 9 plies, with the weights of the second
/// round of training; the root mean square error of the logarithms is 0.10. `reversi train` fits it to other weights.
fn deviation_of(empties: u8, depth: u8, shallow: u8) -> f32 {
    let [constant, by_empties, by_depth, by_shallow] = FITTED;
    let (depth, shallow) = (f32::from(depth.max(1)), f32::from(shallow) + 1.0);
    (constant + by_empties * f32::from(empties) + by_depth * depth.ln() + by_shallow * shallow.ln()).exp()
}

pub(super) const FITTED: [f32; 4] = [1.510, -0.0199, 0.514, -0.551];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_grow_with_certainty_and_depth() {
        for empties in 10..50 {
            for depth in MIN_DEPTH..20 {
                assert!(shallow_depth(depth) < depth && shallow_depth(depth) % 2 == depth % 2);
                assert!(margin(1, empties, depth) > margin(0, empties, depth));
                assert!(margin(0, empties, depth) > 0 && doubt(0, empties, depth) > 0);
            }
        }
    }
}
