//! Pairing by minimum-cost matching, as for Swiss tournaments and arenas.

use std::cmp::Reverse;

use integer_blossom::min_weight_perfect_matching;

use crate::{entrant::EntrantId, lot::lot, points::HalfPoints};

/// The largest block, in entrants, without those that came down from the block above: a matching takes the cube of it.
const BLOCK: usize = 128;

/// An entrant to be paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The entrant.
    pub id: EntrantId,
    /// Points so far.
    pub score: HalfPoints,
    /// The rating, in Elo.
    pub rating: u16,
}

/// The cost of a pair. A lower cost in an earlier field is worth any cost in the later ones, for the sum over all
/// pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Not 0 if the pair is to be avoided: they have met before.
    pub repeat: u16,
    /// The distance of their scores.
    pub score: u32,
    /// How much the pair unbalances colours.
    pub colour: u16,
    /// The distance of their ratings.
    pub rating: u16,
}

/// Pairs of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// The pairs, the best first.
    pub pairs: Vec<(EntrantId, EntrantId)>,
    /// Who has no opponent, in an odd field.
    pub bye: Option<EntrantId>,
}

/// Pairs a field of at most a few thousand, each once. `cost` is that of a pair, in any order, or of a bye.
///
/// No pair has a [`Cost::repeat`] if that is possible; otherwise their sum is as small as possible. In a field of at
/// most 128 the whole cost is. The seed decides among equals.
#[must_use]
pub fn pair(free: &[Candidate], cost: impl Fn(EntrantId, Option<EntrantId>) -> Cost, seed: u64) -> Pairs {
    let mut order = free.to_vec();
    order.sort_by_key(|one| (Reverse((one.score, one.rating)), lot(seed, one.id.0.into())));
    let mut field: Vec<Option<EntrantId>> = order.iter().map(|one| Some(one.id)).collect();
    if field.len() % 2 == 1 {
        field.push(None);
    }
    let cost = |&(a, b): &Pair| match (a, b) {
        (Some(a), b) => cost(a, b),
        (None, Some(b)) => cost(b, None),
        (None, None) => Cost::default(),
    };
    let mut found = Pairs::default();
    for pair in match_in_blocks(&field, &cost) {
        match pair {
            (Some(a), Some(b)) => found.pairs.push((a, b)),
            (a, b) => found.bye = a.or(b),
        }
    }
    found
}

/// `None` is the bye.
type Pair = (Option<EntrantId>, Option<EntrantId>);

/// Matches an even number of entrants block by block. Who would repeat a meeting goes down a block; if repeats remain
/// in the last block, it is merged with the one above, as often as there is one.
///
/// The blocks are equally large, so each has at least half of [`BLOCK`]. Then none need be merged while each entrant
/// has met fewer than half of its block (Dirac's theorem).
fn match_in_blocks(field: &[Option<EntrantId>], cost: &impl Fn(&Pair) -> Cost) -> Vec<Pair> {
    let blocks = field.len().div_ceil(BLOCK);
    let boundary = |block: usize| 2 * (field.len() / 2 * block / blocks.max(1));
    let mut done: Vec<Vec<Pair>> = Vec::new();
    let mut block = Vec::new();
    for number in 0..blocks {
        block.extend_from_slice(field.get(boundary(number)..boundary(number + 1)).unwrap_or_default());
        let (fresh, repeats): (Vec<Pair>, Vec<Pair>) =
            cheapest_matching(&block, cost).into_iter().partition(|pair| cost(pair).repeat == 0);
        block = members(&repeats);
        done.push(fresh);
    }
    while !block.is_empty() {
        let Some(above) = done.pop() else { break };
        block.extend(members(&above));
        let pairs = cheapest_matching(&block, cost);
        if done.is_empty() || pairs.iter().all(|pair| cost(pair).repeat == 0) {
            done.push(pairs);
            break;
        }
    }
    done.concat()
}

fn members(pairs: &[Pair]) -> Vec<Option<EntrantId>> {
    pairs.iter().flat_map(|&(a, b)| [a, b]).collect()
}

/// The perfect matching with the lowest cost, of an even number.
fn cheapest_matching(block: &[Option<EntrantId>], cost: &impl Fn(&Pair) -> Cost) -> Vec<Pair> {
    let size = block.len();
    let mut costs = vec![Cost::default(); size * size];
    for (row, (costs, a)) in costs.chunks_exact_mut(size.max(1)).zip(block).enumerate() {
        for (cell, b) in costs.iter_mut().zip(block).skip(row + 1) {
            *cell = cost(&(*a, *b));
        }
    }
    let mates = min_weight_perfect_matching(&weights(&costs, size / 2), size);
    let pairs = mates.iter().enumerate().filter(|&(one, mate)| one < *mate);
    pairs.filter_map(|(one, mate)| Some((*block.get(one)?, *block.get(*mate)?))).collect()
}

/// The costs as numbers: digits whose places are wide enough for the sum over `pairs` pairs. At most 25 bits for
/// `repeat`, 41 for `score`, 25 for `colour` and 25 for `rating`, for a thousand entrants.
fn weights(costs: &[Cost], pairs: usize) -> Vec<i128> {
    let width = |digit: fn(&Cost) -> i128| 1 + pairs as i128 * costs.iter().map(digit).max().unwrap_or(0);
    let score = width(|cost| cost.score.into());
    let colour = width(|cost| cost.colour.into());
    let rating = width(|cost| cost.rating.into());
    let weight = |cost: &Cost| {
        let upper = i128::from(cost.repeat) * score + i128::from(cost.score);
        (upper * colour + i128::from(cost.colour)) * rating + i128::from(cost.rating)
    };
    costs.iter().map(weight).collect()
}
