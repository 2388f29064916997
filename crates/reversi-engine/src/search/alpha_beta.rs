//! Alpha-beta: minimax that prunes lines without effect on the result (Knuth and Moore, "An Analysis of Alpha-Beta
//! Pruning", 1975).
use std::marker::PhantomData;

use rand::Rng;

use super::{Budget, Cache, EndedBy, Game, Heuristic, MAX_VALUE, NoCache, Searched, Window, pick};

/// A searcher that finds the value of [`minimax`](super::minimax()) with far fewer states.
///
/// It chooses at random among equally good moves: the window at the root separates equal moves from worse ones.
#[derive(Clone, Debug)]
pub struct AlphaBeta<H, C = NoCache> {
    heuristic: H,
    cache: C,
    deepening: bool,
}

/// The result of an alpha-beta search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<M> {
    /// The move to play.
    pub best: M,
    /// Its value for the side to move; `None` if the search ended before any move had one.
    pub value: Option<i32>,
    /// The plies searched in full; may be 0.
    pub depth: u8,
    /// The states visited.
    pub nodes: u64,
    /// What ended the search.
    pub ended_by: EndedBy,
}

impl<H> AlphaBeta<H> {
    /// Searches directly to the depth of the budget, without a cache. If ended early, only some root moves have values.
    pub const fn plain(heuristic: H) -> Self {
        Self { heuristic, cache: NoCache, deepening: false }
    }
}

impl<H, C> AlphaBeta<H, C> {
    /// Iterative deepening: searches one ply deep, then two, and so on, and always has a result. The cache is kept
    /// between searches.
    pub const fn deepening(heuristic: H, cache: C) -> Self {
        Self { heuristic, cache, deepening: true }
    }

    /// The best move within the budget; `None` if the game has ended.
    pub fn search<G>(&mut self, state: &G::State, budget: &Budget, rng: &mut impl Rng) -> Option<Found<G::Move>>
    where
        G: Game,
        H: Heuristic<G>,
        C: Cache<G::State, G::Move>,
    {
        let mut roots = Vec::new();
        G::moves(state, &mut roots);
        let mut found = Found { best: pick(rng, &roots)?, value: None, depth: 0, nodes: 0, ended_by: EndedBy::Depth };
        let last = budget.depth.unwrap_or(u8::MAX).max(1);
        let first = if self.deepening { 1 } else { last };
        let mut search = Search::<G, H, C>::new(&self.heuristic, &mut self.cache, budget);
        for depth in first..=last {
            let searched = search.root(state, &roots, depth);
            if let Some(best) = pick(rng, &searched.best) {
                found.best = best;
                found.value = Some(searched.value);
                // The best so far is searched first, so that an unfinished iteration can only improve on it.
                roots.sort_by_key(|root| *root != best);
            }
            if let Some(ended_by) = searched.ended_by {
                found.ended_by = ended_by;
                break;
            }
            found.depth = depth;
            if !searched.horizon {
                break;
            }
        }
        found.nodes = search.nodes;
        Some(found)
    }
}

/// The result of searching the root to one depth.
struct RootSearch<M> {
    /// The equally good moves; empty if no move was searched.
    best: Vec<M>,
    value: i32,
    horizon: bool,
    /// Set if the search to this depth was not finished.
    ended_by: Option<EndedBy>,
}

struct Search<'a, G: Game, H, C> {
    heuristic: &'a H,
    cache: &'a mut C,
    budget: &'a Budget,
    nodes: u64,
    ended_by: Option<EndedBy>,
    /// A stack of the moves of all states on the current line, instead of a list for each state.
    moves: Vec<G::Move>,
    game: PhantomData<G>,
}

impl<'a, G, H, C> Search<'a, G, H, C>
where
    G: Game,
    H: Heuristic<G>,
    C: Cache<G::State, G::Move>,
{
    fn new(heuristic: &'a H, cache: &'a mut C, budget: &'a Budget) -> Self {
        Self { heuristic, cache, budget, nodes: 0, ended_by: None, moves: Vec::new(), game: PhantomData }
    }

    fn root(&mut self, state: &G::State, roots: &[G::Move], depth: u8) -> RootSearch<G::Move> {
        let mut result = RootSearch { best: Vec::new(), value: -MAX_VALUE, horizon: false, ended_by: None };
        for &root in roots {
            // One below the best: the value of an equal move is then inside the window and so exact.
            let window = Window { alpha: (result.value - 1).max(-MAX_VALUE), beta: MAX_VALUE };
            let Some(searched) = self.state(&G::play(state, root), depth - 1, window.opposite()) else {
                result.ended_by = self.ended_by;
                break;
            };
            result.horizon |= searched.horizon;
            let value = -searched.value;
            if value > result.value || result.best.is_empty() {
                result.best.clear();
                result.value = value;
            }
            if value == result.value {
                result.best.push(root);
            }
        }
        result
    }

    /// Searches a state; `None` if the budget ends the search first.
    fn state(&mut self, state: &G::State, depth: u8, window: Window) -> Option<Searched> {
        self.ended_by = self.budget.ended_by(self.nodes);
        if self.ended_by.is_some() {
            return None;
        }
        self.nodes += 1;
        let base = self.moves.len();
        G::moves(state, &mut self.moves);
        let searched = if self.moves.len() == base {
            let value = G::ending(state).map_or(0, |ending| self.heuristic.ended(state, ending));
            Some(Searched { value, horizon: false })
        } else if depth == 0 {
            let value = self.heuristic.value(state);
            Some(Searched { value, horizon: true })
        } else if let Some(known) = self.cache.get(state, depth, window) {
            Some(known)
        } else {
            self.children(state, base, depth, window)
        };
        self.moves.truncate(base);
        searched
    }

    /// Searches the moves on the stack from `base` on.
    fn children(&mut self, state: &G::State, base: usize, depth: u8, window: Window) -> Option<Searched> {
        if let Some(hint) = self.cache.hint(state) {
            let moves = &mut self.moves[base..];
            if let Some(place) = moves.iter().position(|&action| action == hint) {
                moves[..=place].rotate_right(1);
            }
        }
        let mut best = self.moves[base];
        let mut total = Searched { value: -MAX_VALUE, horizon: false };
        for index in base..self.moves.len() {
            let action = self.moves[index];
            let inner = Window { alpha: window.alpha.max(total.value), beta: window.beta };
            let searched = self.state(&G::play(state, action), depth - 1, inner.opposite())?;
            total.horizon |= searched.horizon;
            if -searched.value > total.value {
                total.value = -searched.value;
                best = action;
            }
            if total.value >= window.beta {
                break;
            }
        }
        self.cache.put(state, depth, window, total, best);
        Some(total)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::search::tic_tac_toe::{Center, Grid, TicTacToe};
    use crate::search::{Stop, Transpositions, WindowCache, minimax};

    fn rng() -> Pcg64 {
        Pcg64::seed_from_u64(1)
    }

    /// A state reached by random moves, not ended.
    fn any_grid() -> impl Strategy<Value = Grid> {
        prop::collection::vec(any::<u8>(), 0..8).prop_map(|choices| {
            choices.into_iter().fold(Grid::START, |grid, choice| {
                let mut moves = Vec::new();
                TicTacToe::moves(&grid, &mut moves);
                let next = TicTacToe::play(&grid, moves[usize::from(choice) % moves.len()]);
                if TicTacToe::ending(&next).is_none() { next } else { grid }
            })
        })
    }

    fn equals_the_oracle<C>(mut searcher: AlphaBeta<Center, C>, grid: Grid, depth: u8)
    where
        C: Cache<Grid, u8>,
    {
        let expected = minimax::<TicTacToe>(&grid, &Center, depth).unwrap();
        let mut chosen = BTreeSet::new();
        let mut rng = rng();
        for _ in 0..60 {
            let found = searcher.search::<TicTacToe>(&grid, &Budget::of_depth(depth), &mut rng).unwrap();
            assert_eq!(found.value, Some(expected.value), "{grid:?} depth {depth}");
            assert_eq!(found.ended_by, EndedBy::Depth);
            chosen.insert(found.best);
        }
        let best: BTreeSet<_> = expected.best.into_iter().collect();
        assert_eq!(chosen, best, "exactly the best moves are chosen");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn every_variant_equals_the_oracle(grid in any_grid(), depth in 1..6_u8) {
            equals_the_oracle(AlphaBeta::plain(Center), grid, depth);
            equals_the_oracle(AlphaBeta::deepening(Center, NoCache), grid, depth);
            equals_the_oracle(AlphaBeta::deepening(Center, Transpositions::with_bits(10)), grid, depth);
            equals_the_oracle(AlphaBeta::deepening(Center, Transpositions::with_bits(2)), grid, depth);
            equals_the_oracle(AlphaBeta::deepening(Center, WindowCache::with_bits(10)), grid, depth);
        }
    }

    #[test]
    fn pruning_and_the_table_save_states() {
        let nodes = |found: Option<Found<u8>>| found.unwrap().nodes;
        let budget = Budget::of_depth(9);
        let plain = AlphaBeta::plain(Center).search::<TicTacToe>(&Grid::START, &budget, &mut rng());
        let mut with_table = AlphaBeta::deepening(Center, Transpositions::with_bits(16));
        let table = with_table.search::<TicTacToe>(&Grid::START, &budget, &mut rng());
        assert!(nodes(plain) < 549_945 / 4, "the whole tree has 549,946 states");
        assert!(nodes(table) < nodes(plain) / 2);
    }

    #[test]
    fn deepening_without_a_depth_ends_with_the_game_tree() {
        let mut searcher = AlphaBeta::deepening(Center, Transpositions::with_bits(16));
        let found = searcher.search::<TicTacToe>(&Grid::START, &Budget::default(), &mut rng()).unwrap();
        assert_eq!((found.value, found.depth), (Some(0), 9));
    }

    #[test]
    fn a_stopped_search_still_gives_a_move() {
        let stop = Stop::new();
        stop.stop();
        let budget = Budget::of_depth(9).with_stop(&stop);
        let found = AlphaBeta::plain(Center).search::<TicTacToe>(&Grid::START, &budget, &mut rng()).unwrap();
        assert!(found.best < 9);
        assert_eq!((found.nodes, found.value, found.depth), (0, None, 0));
        assert_eq!(found.ended_by, EndedBy::Stop);
    }

    /// Sets the flag after `limit` evaluations.
    struct StopAfter {
        asked: Cell<u64>,
        limit: u64,
        stop: Stop,
    }

    impl Heuristic<TicTacToe> for &StopAfter {
        fn value(&self, grid: &Grid) -> i32 {
            self.asked.set(self.asked.get() + 1);
            if self.asked.get() == self.limit {
                self.stop.stop();
            }
            Center.value(grid)
        }
    }

    #[test]
    fn a_search_ends_at_the_very_next_state_after_the_flag() {
        let heuristic = StopAfter { asked: Cell::new(0), limit: 100, stop: Stop::new() };
        let budget = Budget::of_depth(9).with_stop(&heuristic.stop);
        let found =
            AlphaBeta::deepening(&heuristic, NoCache).search::<TicTacToe>(&Grid::START, &budget, &mut rng()).unwrap();
        assert_eq!(heuristic.asked.get(), 100);
        assert_eq!(found.ended_by, EndedBy::Stop);
        assert!(found.value.is_some() && found.depth >= 1);
    }

    #[test]
    fn a_budget_of_nodes_is_kept() {
        for nodes in [0, 1, 9, 10, 500] {
            let found = AlphaBeta::deepening(Center, NoCache)
                .search::<TicTacToe>(&Grid::START, &Budget::of_nodes(nodes), &mut rng())
                .unwrap();
            assert_eq!((found.nodes, found.ended_by), (nodes, EndedBy::Nodes));
        }
    }

    #[test]
    fn an_ended_game_has_no_move() {
        let won = Grid::of(&[0, 3, 1, 4, 2]);
        let found = AlphaBeta::plain(Center).search::<TicTacToe>(&won, &Budget::of_depth(3), &mut rng());
        assert_eq!(found, None);
    }
}
