//! A position for the search: the discs of the side to move and of its opponent, without colours.
use super::cpu::Cpu;
use crate::rules::{Color, Position};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board {
    pub(super) own: u64,
    pub(super) opponent: u64,
}

impl Board {
    #[inline(always)]
    pub(super) fn empties(self) -> u64 {
        !(self.own | self.opponent)
    }

    #[inline(always)]
    pub(super) fn moves(self, cpu: impl Cpu) -> u64 {
        cpu.moves(self.own, self.opponent)
    }

    #[inline(always)]
    pub(super) fn flips(self, cpu: impl Cpu, square: u8) -> u64 {
        cpu.flips(self.own, self.opponent, square)
    }

    /// The board after the side to move placed a disc on `square` and flipped `flips`, with the other side to move.
    #[inline(always)]
    pub(super) fn play(self, square: u8, flips: u64) -> Self {
        Self { own: self.opponent ^ flips, opponent: self.own ^ flips ^ 1 << square }
    }

    #[inline(always)]
    pub(super) fn pass(self) -> Self {
        Self { own: self.opponent, opponent: self.own }
    }

    /// The difference in discs of a finished game, with empty squares counted for the winner.
    #[inline(always)]
    pub(super) fn final_score(self) -> i32 {
        let (own, opponent) = (self.own.count_ones().cast_signed(), self.opponent.count_ones().cast_signed());
        let difference = own - opponent;
        difference + difference.signum() * (64 - own - opponent)
    }

    /// A 64-bit hash by widening multiplication, as in Wang Yi's wyhash.
    #[inline(always)]
    pub(super) fn hash(self) -> u64 {
        fold(fold(self.own ^ 0x9E37_79B9_7F4A_7C15, self.opponent ^ 0xD6E8_FEB8_6659_FD93), 0xA076_1D64_78BD_642F)
    }
}

impl From<Position> for Board {
    fn from(position: Position) -> Self {
        let discs = |color: Color| position.board().discs(color).0;
        Self { own: discs(position.turn()), opponent: discs(position.turn().opposite()) }
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The squares of a set, lowest first.
#[derive(Clone, Copy)]
pub(super) struct Squares(pub(super) u64);

impl Iterator for Squares {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        let square = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(square)
    }
}
