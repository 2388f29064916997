//! Positions with their values, and files of them.
use super::super::board::Board;
use super::super::weights::Value;

/// A position and its value for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    pub(in super::super) board: Board,
    pub(in super::super) value: Value,
}

/// The size of an example in a file.
const BYTES: usize = 18;

impl Example {
    /// `None` if the file is incomplete or an example is not a valid position.
    pub(super) fn read_all(bytes: &[u8]) -> Option<Vec<Self>> {
        bytes.len().is_multiple_of(BYTES).then(|| bytes.chunks_exact(BYTES).map(Self::read).collect())?
    }

    pub(super) fn write_all(examples: &[Self]) -> Vec<u8> {
        examples.iter().flat_map(Self::write).collect()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (own, rest) = bytes.split_first_chunk()?;
        let (opponent, rest) = rest.split_first_chunk()?;
        let (value, _) = rest.split_first_chunk()?;
        let board = Board { own: u64::from_le_bytes(*own), opponent: u64::from_le_bytes(*opponent) };
        (board.own & board.opponent == 0).then(|| Self { board, value: i16::from_le_bytes(*value).into() })
    }

    fn write(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.board.own.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.board.opponent.to_le_bytes());
        bytes[16..].copy_from_slice(&(self.value as i16).to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_complete_files_of_positions_are_read(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            own: u64,
            other: u64,
            value: i16,
        ) {
            let example = Example { board: Board { own, opponent: other & !own }, value: value.into() };
            let file = Example::write_all(&[example, example]);
            prop_assert_eq!(Example::read_all(&file), Some(vec![example, example]));
            prop_assert_eq!(Example::read_all(&file[1..]), None);
            let impossible = Example { board: Board { own: own | 1, opponent: 1 }, value: 0 };
            prop_assert_eq!(Example::read_all(&Example::write_all(&[example, impossible])), None);
            let _ = Example::read_all(&bytes);
        }
    }
}
