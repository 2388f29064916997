//! UCT: Monte-Carlo tree search by upper confidence bounds (Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning",
//! 2006).
use std::ops::Range;

use rand::Rng;

use super::{Budget, EndedBy, Ending, Game, Side, below, pick};

/// A sampling searcher. An iteration descends the tree, adds one untried child, plays the game out from it, and credits
/// the reward to every state on the path. The result is the most visited move.
#[derive(Clone, Debug)]
pub struct Uct<P, W> {
    /// The weight of exploration, in the unit of the reward; the square root of 2 for rewards from 0 to 1.
    pub exploration: f64,
    /// The playout policy.
    pub playout: P,
    /// The reward of a finished game.
    pub reward: W,
    /// The maximum number of states of the tree, which bounds memory; if it is full, playouts start from its leaves.
    pub max_states: usize,
}

/// Plays a game to its end.
pub trait Playout<G: Game> {
    /// The ended state after some sequence of legal moves.
    fn play_out(&self, state: &G::State, rng: &mut impl Rng) -> G::State;
}

/// The reward of an ended game.
pub trait Reward<G: Game> {
    /// The reward of an ended state for a side.
    fn reward(&self, state: &G::State, side: Side) -> f64;
}

/// Uniformly random moves, for any game.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomPlayout;

impl<G: Game> Playout<G> for RandomPlayout {
    fn play_out(&self, state: &G::State, rng: &mut impl Rng) -> G::State {
        let mut state = *state;
        let mut moves = Vec::new();
        loop {
            moves.clear();
            G::moves(&state, &mut moves);
            match pick(rng, &moves) {
                Some(action) => state = G::play(&state, action),
                None => return state,
            }
        }
    }
}

/// 1 for a win, a half for a draw, 0 for a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct WinShare;

impl<G: Game> Reward<G> for WinShare {
    fn reward(&self, state: &G::State, side: Side) -> f64 {
        let to_move = match G::ending(state) {
            Some(Ending::Won) => 1.0,
            Some(Ending::Lost) => 0.0,
            Some(Ending::Drawn) | None => 0.5,
        };
        if G::turn(state) == side { to_move } else { 1.0 - to_move }
    }
}

/// The result of a sampling search.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled<M> {
    /// The most visited move.
    pub best: M,
    /// The expected line: the most visited move at each state.
    pub line: Vec<M>,
    /// The best move's mean reward for the side to move; `None` if it was never visited.
    pub mean: Option<f64>,
    /// The plies from the root to the deepest state of the tree.
    pub depth: u8,
    /// The number of games played out.
    pub playouts: u64,
    /// What ended the search.
    pub ended_by: EndedBy,
}

impl<P, W> Uct<P, W> {
    /// The most visited move within the budget, whose nodes are playouts; random among equal ones. `None` if the game
    /// has ended.
    pub fn search<G>(&self, state: &G::State, budget: &Budget, rng: &mut impl Rng) -> Option<Sampled<G::Move>>
    where
        G: Game,
        P: Playout<G>,
        W: Reward<G>,
    {
        let states = budget
            .nodes
            .map_or(self.max_states, |nodes| self.max_states.min(usize::try_from(nodes).unwrap_or(usize::MAX)));
        let mut tree = Tree::<G>::new(*state, states);
        let fallback = pick(rng, &tree.actions)?;
        let mut playouts = 0;
        let ended_by = loop {
            if let Some(ended_by) = budget.ended_by(playouts) {
                break ended_by;
            }
            self.iterate(&mut tree, rng);
            playouts += 1;
        };
        let best = tree.most_visited(rng);
        let line = best.map_or_else(|| vec![fallback], |best| tree.line_from(best));
        Some(Sampled {
            best: line.first().copied().unwrap_or(fallback),
            line,
            mean: best.map(|best| tree.branches[best].mean()),
            depth: tree.depth,
            playouts,
            ended_by,
        })
    }

    fn iterate<G>(&self, tree: &mut Tree<G>, rng: &mut impl Rng)
    where
        G: Game,
        P: Playout<G>,
        W: Reward<G>,
    {
        let leaf = tree.grow(self.exploration, self.max_states, rng);
        let end = self.playout.play_out(&leaf, rng);
        let first = self.reward.reward(&end, Side::First);
        let second = self.reward.reward(&end, Side::Second);
        tree.credit(first, second);
    }
}

struct Tree<G: Game> {
    /// The root is the first.
    branches: Vec<Branch<G>>,
    /// The moves of all branches in one list: a tree of lists would take milliseconds to free after a stop.
    actions: Vec<G::Move>,
    /// From the root to the leaf of the current iteration.
    path: Vec<usize>,
    depth: u8,
}

struct Branch<G: Game> {
    state: G::State,
    /// The move to this state; `None` for the root.
    action: Option<G::Move>,
    /// The range of the tree's moves that were not tried here.
    untried: Range<usize>,
    first_child: Option<usize>,
    next_sibling: Option<usize>,
    visits: u32,
    /// The sum of the rewards to the side that moved here.
    reward: f64,
}

impl<G: Game> Tree<G> {
    const ROOT: usize = 0;

    /// Allocates all states at once: growing a large tree would take milliseconds after a stop.
    fn new(root: G::State, states: usize) -> Self {
        let mut tree =
            Self { branches: Vec::with_capacity(states + 1), actions: Vec::new(), path: Vec::new(), depth: 0 };
        tree.add(root, None, None);
        tree
    }

    /// Descends to a state with an untried move, adds that child, and returns the state to play out from.
    fn grow(&mut self, exploration: f64, max_states: usize, rng: &mut impl Rng) -> G::State {
        self.path.clear();
        let mut at = Self::ROOT;
        self.path.push(at);
        loop {
            let full = self.branches.len() >= max_states;
            if !full && let Some(action) = self.take_untried(at, rng) {
                let state = G::play(&self.branches[at].state, action);
                at = self.add(state, Some(action), Some(at));
                self.path.push(at);
                break;
            }
            let Some(child) = self.most_promising(at, exploration) else {
                break;
            };
            at = child;
            self.path.push(at);
        }
        let plies = u8::try_from(self.path.len() - 1).unwrap_or(u8::MAX);
        self.depth = self.depth.max(plies);
        self.branches[at].state
    }

    fn add(&mut self, state: G::State, action: Option<G::Move>, parent: Option<usize>) -> usize {
        let place = self.branches.len();
        let older_sibling = parent.and_then(|parent| self.branches[parent].first_child.replace(place));
        let base = self.actions.len();
        G::moves(&state, &mut self.actions);
        self.branches.push(Branch {
            state,
            action,
            untried: base..self.actions.len(),
            first_child: None,
            next_sibling: older_sibling,
            visits: 0,
            reward: 0.0,
        });
        place
    }

    fn take_untried(&mut self, at: usize, rng: &mut impl Rng) -> Option<G::Move> {
        let untried = &mut self.branches[at].untried;
        let actions = &mut self.actions[untried.clone()];
        let last = actions.len().checked_sub(1)?;
        actions.swap(below(rng, actions.len() as u32) as usize, last);
        untried.end -= 1;
        Some(actions[last])
    }

    fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.branches[at].first_child, |&child| self.branches[child].next_sibling)
    }

    /// The child with the highest upper confidence bound; `None` for a leaf.
    fn most_promising(&self, at: usize, exploration: f64) -> Option<usize> {
        let log_visits = f64::from(self.branches[at].visits.max(1)).ln();
        let bound = |child: usize| {
            let branch = &self.branches[child];
            branch.mean() + exploration * (log_visits / f64::from(branch.visits)).sqrt()
        };
        self.children(at)
            .map(|child| (child, bound(child)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(child, _)| child)
    }

    fn credit(&mut self, first: f64, second: f64) {
        for index in (0..self.path.len()).rev() {
            let mover = match index.checked_sub(1) {
                Some(parent) => G::turn(&self.branches[self.path[parent]].state),
                None => Side::First,
            };
            let branch = &mut self.branches[self.path[index]];
            branch.visits += 1;
            branch.reward += match mover {
                Side::First => first,
                Side::Second => second,
            };
        }
    }

    fn most_visited(&self, rng: &mut impl Rng) -> Option<usize> {
        let visits = |&child: &usize| self.branches[child].visits;
        let most = self.children(Self::ROOT).map(|child| visits(&child)).max()?;
        let equal: Vec<usize> = self.children(Self::ROOT).filter(|child| visits(child) == most).collect();
        pick(rng, &equal)
    }

    /// The move to a state, and the most visited moves from there.
    fn line_from(&self, at: usize) -> Vec<G::Move> {
        let follow = |&at: &usize| self.children(at).max_by_key(|&child| self.branches[child].visits);
        std::iter::successors(Some(at), follow).filter_map(|at| self.branches[at].action).collect()
    }
}

impl<G: Game> Branch<G> {
    fn mean(&self) -> f64 {
        self.reward / f64::from(self.visits.max(1))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::search::Stop;
    use crate::search::tic_tac_toe::{Grid, TicTacToe};

    const UCT: Uct<RandomPlayout, WinShare> =
        Uct { exploration: std::f64::consts::SQRT_2, playout: RandomPlayout, reward: WinShare, max_states: 100_000 };

    fn search<P: Playout<TicTacToe>>(uct: &Uct<P, WinShare>, grid: &Grid, playouts: u64, seed: u64) -> Sampled<u8> {
        uct.search::<TicTacToe>(grid, &Budget::of_nodes(playouts), &mut Pcg64::seed_from_u64(seed)).unwrap()
    }

    #[test]
    fn a_win_is_taken_and_a_threat_is_blocked() {
        for seed in 0..20 {
            // x x . / o o . / . . . : the side to move completes its row.
            let wins = search(&UCT, &Grid::of(&[0, 3, 1, 4]), 500, seed);
            assert_eq!(wins.best, 2);
            assert!(wins.mean.unwrap() > 0.95, "{wins:?}");
            // x x . / . o . / . . . : o blocks.
            let blocks = search(&UCT, &Grid::of(&[0, 4, 1]), 2000, seed);
            assert_eq!(blocks.best, 2);
            // The block is made, and the rest of the line is legal.
            let end = blocks.line.iter().fold(Grid::of(&[0, 4, 1]), |grid, &action| {
                let mut legal = Vec::new();
                TicTacToe::moves(&grid, &mut legal);
                assert!(legal.contains(&action), "{:?}", blocks.line);
                TicTacToe::play(&grid, action)
            });
            assert!(blocks.line[0] == 2 && TicTacToe::ending(&end).is_some(), "{:?}", blocks.line);
        }
    }

    #[test]
    fn perfect_play_draws() {
        for seed in 0..5 {
            let mut grid = Grid::START;
            while TicTacToe::ending(&grid).is_none() {
                grid = TicTacToe::play(&grid, search(&UCT, &grid, 3000, seed).best);
            }
            assert_eq!(TicTacToe::ending(&grid), Some(Ending::Drawn));
        }
    }

    #[test]
    fn a_seed_gives_one_search() {
        let searches: Vec<_> = (0..20).map(|seed| search(&UCT, &Grid::START, 50, seed)).collect();
        assert_eq!(searches[7], search(&UCT, &Grid::START, 50, 7));
        assert!(searches.iter().any(|other| other.best != searches[7].best));
        assert!(searches.iter().all(|sampled| sampled.playouts == 50));
    }

    #[test]
    fn the_tree_stays_within_its_bound_and_still_answers() {
        for max_states in [0, 1, 2, 5, 30] {
            let mut tree = Tree::<TicTacToe>::new(Grid::START, 100);
            let mut rng = Pcg64::seed_from_u64(1);
            let bounded = Uct { max_states, ..UCT };
            for _ in 0..300 {
                bounded.iterate(&mut tree, &mut rng);
            }
            assert!(tree.branches.len() <= max_states.max(1));
            assert_eq!(tree.branches[0].visits, 300);
            assert!(search(&bounded, &Grid::START, 300, 1).best < 9);
        }
    }

    #[test]
    fn each_iteration_adds_one_state_until_the_game_tree_ends() {
        let mut tree = Tree::<TicTacToe>::new(Grid::START, 100);
        let mut rng = Pcg64::seed_from_u64(1);
        for iteration in 1..=100 {
            UCT.iterate(&mut tree, &mut rng);
            assert_eq!(tree.branches.len(), iteration + 1);
        }
    }

    /// Sets the flag in playout number `limit`.
    struct StopAfter {
        played: std::cell::Cell<u64>,
        limit: u64,
        stop: Stop,
    }

    impl Playout<TicTacToe> for &StopAfter {
        fn play_out(&self, grid: &Grid, rng: &mut impl Rng) -> Grid {
            self.played.set(self.played.get() + 1);
            if self.played.get() == self.limit {
                self.stop.stop();
            }
            Playout::<TicTacToe>::play_out(&RandomPlayout, grid, rng)
        }
    }

    #[test]
    fn a_stopped_search_gives_its_best_so_far() {
        for limit in [0, 1, 40] {
            let playout = StopAfter { played: std::cell::Cell::new(0), limit, stop: Stop::new() };
            if limit == 0 {
                playout.stop.stop();
            }
            let uct = Uct { exploration: 1.4, playout: &playout, reward: WinShare, max_states: 1000 };
            let budget = Budget::default().with_stop(&playout.stop);
            let sampled = uct.search::<TicTacToe>(&Grid::START, &budget, &mut Pcg64::seed_from_u64(1)).unwrap();
            assert_eq!((sampled.playouts, sampled.ended_by), (limit, EndedBy::Stop));
            assert_eq!(sampled.mean.is_some(), limit > 0);
            assert!(sampled.best < 9);
        }
    }

    #[test]
    fn an_ended_game_has_no_move() {
        let won = Grid::of(&[0, 3, 1, 4, 2]);
        let sampled = UCT.search::<TicTacToe>(&won, &Budget::of_nodes(9), &mut Pcg64::seed_from_u64(1));
        assert_eq!(sampled, None);
    }
}
