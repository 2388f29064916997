//! The weights of the evaluation, and their file format.
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::pattern::{EXPANDED, PATTERNS};

/// A value for the side to move, in units of 1/64 disc.
pub(super) type Value = i32;

/// One disc as a [`Value`].
pub(super) const DISC: Value = 64;

/// The number of stages, of four plies each, which have their own weights.
pub const STAGES: usize = 15;

/// Larger numbers of moves count as this.
pub(super) const MAX_MOBILITY: usize = 31;

/// The stage of a position with this many empty squares; 0 is the last of a game.
#[inline(always)]
pub(super) fn stage_of(empties: u32) -> usize {
    (empties.saturating_sub(1) as usize / 4).min(STAGES - 1)
}

/// The weights of all stages.
#[derive(Clone)]
pub struct Weights {
    stages: Vec<Stage>,
}

/// The weights of one stage, in parts of a disc ([`DISC`]).
#[derive(Clone)]
pub(super) struct Stage {
    /// By an image's offset plus its number.
    pub(super) patterns: Box<[i16; EXPANDED]>,
    /// By the number of moves of the side to move, and of the other side.
    pub(super) mobility: [[i16; MAX_MOBILITY + 1]; 2],
    /// By the parity of the number of empty squares: the last move has a value.
    pub(super) parity: [i16; 2],
}

/// The number of values of a stage in the file: the shared weights, then mobility and parity.
pub(super) fn stage_len() -> usize {
    PATTERNS.weights + 2 * (MAX_MOBILITY + 1) + 2
}

impl Weights {
    /// The weights built into the program.
    ///
    /// # Panics
    /// Never: a test reads the same bytes.
    #[must_use]
    pub fn embedded() -> Arc<Self> {
        static EMBEDDED: OnceLock<Arc<Weights>> = OnceLock::new();
        Arc::clone(EMBEDDED.get_or_init(|| {
            Arc::new(Self::read(include_bytes!("weights.bin")).expect("the embedded weights are valid"))
        }))
    }

    #[inline(always)]
    pub(super) fn stage(&self, empties: u32) -> &Stage {
        &self.stages[stage_of(empties)]
    }

    /// From each stage's weights, from the last stage of a game to the first.
    pub(super) fn of_stages(stages: &[Vec<i16>]) -> Self {
        Self { stages: stages.iter().map(|numbers| Stage::of(numbers)).collect() }
    }

    /// Reads the format of [`Weights::write`].
    ///
    /// # Errors
    /// [`BadWeights`] if the bytes are of another version, too few or too many.
    pub fn read(bytes: &[u8]) -> Result<Self, BadWeights> {
        let mut bytes = bytes.strip_prefix(MAGIC).ok_or(BadWeights)?;
        let mut stages = Vec::with_capacity(STAGES);
        for _ in 0..STAGES {
            stages.push(unpack(&mut bytes, stage_len()).ok_or(BadWeights)?);
        }
        if bytes.is_empty() { Ok(Self::of_stages(&stages)) } else { Err(BadWeights) }
    }

    /// The bytes of a file: the version, then the weights of each stage. Most are small and many are 0, so each is
    /// written as LEB128 of its zigzag form, and a 0 is followed by the number of further zeros.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for stage in &self.stages {
            pack(&mut bytes, &stage.numbers());
        }
        bytes
    }
}

/// The version, which changes with the patterns, the stages, or the meaning of a number.
const MAGIC: &[u8] = b"reversi weights 1\n";

impl Stage {
    fn of(numbers: &[i16]) -> Self {
        let mut stage = Self {
            patterns: vec![0; EXPANDED].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!()),
            mobility: [[0; MAX_MOBILITY + 1]; 2],
            parity: [0; 2],
        };
        let (patterns, rest) = numbers.split_at(PATTERNS.weights);
        let used = PATTERNS.expanded();
        for (weight, &shared) in stage.patterns[..used].iter_mut().zip(&PATTERNS.shared) {
            *weight = patterns[shared as usize];
        }
        let (own, rest) = rest.split_at(MAX_MOBILITY + 1);
        let (opponent, parity) = rest.split_at(MAX_MOBILITY + 1);
        stage.mobility[0].copy_from_slice(own);
        stage.mobility[1].copy_from_slice(opponent);
        stage.parity.copy_from_slice(parity);
        stage
    }

    fn numbers(&self) -> Vec<i16> {
        let mut numbers = vec![0; PATTERNS.weights];
        let used = PATTERNS.expanded();
        for (&weight, &shared) in self.patterns[..used].iter().zip(&PATTERNS.shared) {
            numbers[shared as usize] = weight;
        }
        numbers.extend(self.mobility.iter().flatten());
        numbers.extend(self.parity);
        numbers
    }
}

fn pack(bytes: &mut Vec<u8>, numbers: &[i16]) {
    let mut rest = numbers;
    while let Some((&first, after)) = rest.split_first() {
        let first = i32::from(first);
        pack_number(bytes, ((first << 1) ^ (first >> 31)).cast_unsigned());
        rest = after;
        if first == 0 {
            let zeros = rest.iter().take_while(|&&number| number == 0).count();
            pack_number(bytes, zeros as u32);
            rest = &rest[zeros..];
        }
    }
}

fn pack_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn unpack(bytes: &mut &[u8], count: usize) -> Option<Vec<i16>> {
    let mut numbers = Vec::with_capacity(count);
    while numbers.len() < count {
        let zigzag = unpack_number(bytes)?;
        numbers.push(i16::try_from((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed()).ok()?);
        if zigzag == 0 {
            let zeros = unpack_number(bytes)? as usize;
            (zeros <= count - numbers.len()).then(|| numbers.resize(numbers.len() + zeros, 0))?;
        }
    }
    Some(numbers)
}

fn unpack_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

/// The bytes are not weights of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadWeights;

impl fmt::Display for BadWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these are no weights of this version of the evaluation")
    }
}

impl std::error::Error for BadWeights {}

impl fmt::Debug for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weights").field("stages", &self.stages.len()).finish()
    }
}

/// A value in discs as the nearest weight of the file.
pub(super) fn rounded(value: f32) -> i16 {
    (value * DISC as f32).round().clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_embedded_weights_round_trip() {
        let bytes = include_bytes!("weights.bin");
        assert!(bytes.len() <= 4 << 20);
        assert_eq!(Weights::read(bytes).unwrap().write(), bytes);
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = include_bytes!("weights.bin");
        for wrong in [&b""[..], &bytes[1..], &bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
            assert_eq!(Weights::read(wrong).unwrap_err(), BadWeights);
        }
    }

    proptest! {
        #[test]
        fn invalid_bytes_are_refused_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..3000), at: prop::sample::Index) {
            prop_assert!(Weights::read(&bytes).is_err());
            prop_assert!(Weights::read(&[MAGIC, &bytes].concat()).is_err());
            // A part of the valid bytes, then others.
            let embedded = include_bytes!("weights.bin");
            let _ = Weights::read(&[&embedded[..at.index(embedded.len())], &bytes].concat());
        }

        #[test]
        fn packed_numbers_round_trip(
            numbers in prop::collection::vec(prop_oneof![Just(0_i16), -70..70_i16, any::<i16>()], 1..200),
        ) {
            let mut bytes = Vec::new();
            pack(&mut bytes, &numbers);
            prop_assert_eq!(unpack(&mut &bytes[..], numbers.len()), Some(numbers));
        }
    }
}
