//! A game small enough for a search to its end, for tests.
use super::{Ending, Game, Heuristic, Side};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grid {
    /// Bits 0 to 8 of the side to move.
    own: u16,
    opponent: u16,
}

impl Grid {
    pub(super) const START: Self = Self { own: 0, opponent: 0 };

    pub(super) fn of(moves: &[u8]) -> Self {
        moves.iter().fold(Self::START, |grid, &cell| TicTacToe::play(&grid, cell))
    }

    fn opponent_has_line(self) -> bool {
        const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
        LINES.iter().any(|line| self.opponent & line == *line)
    }
}

pub(super) struct TicTacToe;

impl Game for TicTacToe {
    type State = Grid;
    type Move = u8;

    fn turn(grid: &Grid) -> Side {
        match (grid.own | grid.opponent).count_ones() % 2 {
            0 => Side::First,
            _ => Side::Second,
        }
    }

    fn moves(grid: &Grid, moves: &mut Vec<u8>) {
        if !grid.opponent_has_line() {
            moves.extend((0..9).filter(|cell| (grid.own | grid.opponent) >> cell & 1 == 0));
        }
    }

    fn play(grid: &Grid, cell: u8) -> Grid {
        Grid { own: grid.opponent, opponent: grid.own | 1 << cell }
    }

    fn ending(grid: &Grid) -> Option<Ending> {
        if grid.opponent_has_line() {
            Some(Ending::Lost)
        } else {
            (grid.own | grid.opponent == 0o777).then_some(Ending::Drawn)
        }
    }
}

/// Three points for the centre and one for each corner, so that many states are equal.
pub(super) struct Center;

impl Heuristic<TicTacToe> for Center {
    fn value(&self, grid: &Grid) -> i32 {
        let worth = |cells: u16| (cells & 0o505).count_ones() as i32 + 3 * i32::from(cells >> 4 & 1 == 1);
        worth(grid.own) - worth(grid.opponent)
    }
}
