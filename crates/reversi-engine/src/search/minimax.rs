//! Minimax without pruning, the reference for tests.
use super::{Game, Heuristic};

/// The result of a full search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valued<M> {
    /// The value for the side to move.
    pub value: i32,
    /// Every move with that value.
    pub best: Vec<M>,
}

/// The value of a state searched to `depth` plies (0 counts as 1); `None` if the game has ended.
///
/// It visits every line without a budget, for tests of the other searchers.
pub fn minimax<G: Game>(state: &G::State, heuristic: &impl Heuristic<G>, depth: u8) -> Option<Valued<G::Move>> {
    let mut moves = Vec::new();
    G::moves(state, &mut moves);
    let valued: Vec<_> = moves
        .into_iter()
        .map(|action| (action, -value(&G::play(state, action), heuristic, depth.max(1) - 1)))
        .collect();
    let best_value = valued.iter().map(|&(_, value)| value).max()?;
    Some(Valued {
        value: best_value,
        best: valued.into_iter().filter(|&(_, value)| value == best_value).map(|(action, _)| action).collect(),
    })
}

fn value<G: Game>(state: &G::State, heuristic: &impl Heuristic<G>, depth: u8) -> i32 {
    if let Some(ending) = G::ending(state) {
        return heuristic.ended(state, ending);
    }
    if depth == 0 {
        return heuristic.value(state);
    }
    let mut moves = Vec::new();
    G::moves(state, &mut moves);
    moves
        .into_iter()
        .map(|action| -value(&G::play(state, action), heuristic, depth - 1))
        .fold(-super::MAX_VALUE, i32::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::WON;
    use crate::search::tic_tac_toe::{Center, Grid, TicTacToe};

    #[test]
    fn tic_tac_toe_is_a_draw_and_an_immediate_win_is_taken() {
        let start = minimax::<TicTacToe>(&Grid::START, &Center, 9).unwrap();
        assert_eq!(start.value, 0);
        assert_eq!(start.best.len(), 9);
        // x x .
        // o o .
        // . . .
        let state = Grid::of(&[0, 3, 1, 4]);
        let win = minimax::<TicTacToe>(&state, &Center, 1).unwrap();
        assert_eq!((win.value, win.best), (WON, vec![2]));
        let won = TicTacToe::play(&state, 2);
        assert_eq!(minimax::<TicTacToe>(&won, &Center, 3), None);
    }
}
