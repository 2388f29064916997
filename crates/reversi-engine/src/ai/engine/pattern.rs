//! The patterns: sets of squares that the evaluation scores together.
//!
//! The patterns are those of Buro's Logistello ("Experiments with Multi-ProbCut and a New High-Quality Evaluation
//! Function for Othello", 1997). Each is a list of squares; its eight images on the board share one table of weights.
//! The squares of an image are digits to base 3, lowest first: 0 empty, 1 own, 2 the opponent's.
use std::sync::LazyLock;

use crate::rules::{Square, Symmetry};

/// The kinds of patterns, each by the squares of one image.
const KINDS: [&str; KIND_COUNT] = [
    "a1 b1 c1 a2 b2 c2 a3 b3 c3",
    "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    "a1 b1 c1 d1 e1 f1 g1 h1 b2 g2",
    "a2 b2 c2 d2 e2 f2 g2 h2",
    "a3 b3 c3 d3 e3 f3 g3 h3",
    "a4 b4 c4 d4 e4 f4 g4 h4",
    "a1 b2 c3 d4 e5 f6 g7 h8",
    "b1 c2 d3 e4 f5 g6 h7",
    "c1 d2 e3 f4 g5 h6",
    "d1 e2 f3 g4 h5",
    "e1 f2 g3 h4",
];

const KIND_COUNT: usize = 11;

/// The number of images of all kinds, which are the features of a position.
pub(super) const IMAGES: usize = 46;

/// [`IMAGES`], rounded up to whole vectors of the processor.
pub(super) const LANES: usize = 48;

/// A power of two above the size of all tables, so that a mask replaces the bounds check.
pub(super) const EXPANDED: usize = 1 << 18;

/// The geometry of all patterns.
pub(super) struct Patterns {
    /// The value of a disc on each square in each image's number.
    pub(super) digits: Box<[[u16; LANES]; 64]>,
    /// The start of each image's table in the expanded weights.
    pub(super) offsets: [u32; IMAGES],
    /// For each expanded weight the index of the shared one: mirror images share weights.
    pub(super) shared: Box<[u32]>,
    /// The number of shared weights.
    pub(super) weights: usize,
    /// The start of each kind's table, and the end of the last one.
    kind_offsets: [u32; KIND_COUNT + 1],
}

pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::new);

impl Patterns {
    fn new() -> Self {
        let mut made = Self {
            digits: Box::new([[0; LANES]; 64]),
            offsets: [0; IMAGES],
            shared: vec![0; EXPANDED].into_boxed_slice(),
            weights: 0,
            kind_offsets: [0; KIND_COUNT + 1],
        };
        let (mut image, mut offset) = (0, 0);
        for (kind, names) in KINDS.iter().enumerate() {
            let squares: Vec<Square> = names.split(' ').filter_map(|name| name.parse().ok()).collect();
            made.kind_offsets[kind] = offset as u32;
            for squares in images(&squares) {
                made.offsets[image] = offset as u32;
                for (digit, square) in squares.iter().enumerate() {
                    made.digits[usize::from(square.index())][image] = 3_u16.pow(digit as u32);
                }
                image += 1;
            }
            made.share(offset, &squares);
            offset += 3_usize.pow(squares.len() as u32);
            made.kind_offsets[kind + 1] = offset as u32;
        }
        made
    }

    /// Assigns each number of a kind its shared weight, the same to mirror images.
    fn share(&mut self, offset: usize, squares: &[Square]) {
        let mirrors = own_mirrors(squares);
        for number in 0..3_usize.pow(squares.len() as u32) {
            let least = mirrors.iter().map(|mirror| permuted(number, mirror)).min().unwrap_or(number).min(number);
            self.shared[offset + number] = if least == number {
                self.weights += 1;
                self.weights as u32 - 1
            } else {
                self.shared[offset + least]
            };
        }
    }

    /// The number of expanded weights in use.
    pub(super) fn expanded(&self) -> usize {
        self.kind_offsets[KIND_COUNT] as usize
    }

    /// The expanded indices of kind number `kind`, each with the digits of its number.
    pub(super) fn numbers(&self, kind: usize) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let offset = self.kind_offsets[kind] as usize;
        let length = KINDS[kind].split(' ').count();
        (0..3_usize.pow(length as u32)).map(move |number| {
            let digits = (0..length).map(|digit| (number / 3_usize.pow(digit as u32) % 3) as u8).collect();
            (offset + number, digits)
        })
    }
}

/// The images with distinct sets of squares, each in the order of the first symmetry that gives it.
fn images(squares: &[Square]) -> Vec<Vec<Square>> {
    let mut images: Vec<Vec<Square>> = Vec::new();
    for symmetry in Symmetry::ALL {
        let image: Vec<_> = squares.iter().map(|&square| symmetry.square(square)).collect();
        if !images.iter().any(|other| same_set(other, &image)) {
            images.push(image);
        }
    }
    images
}

/// The permutation of digits by each symmetry that maps the set of squares to itself.
fn own_mirrors(squares: &[Square]) -> Vec<Vec<usize>> {
    let place = |square: Square| squares.iter().position(|&other| other == square);
    Symmetry::ALL
        .into_iter()
        .filter_map(|symmetry| squares.iter().map(|&square| place(symmetry.square(square))).collect())
        .collect()
}

fn permuted(number: usize, places: &[usize]) -> usize {
    let digits = places.iter().enumerate();
    digits.map(|(from, &to)| number / 3_usize.pow(from as u32) % 3 * 3_usize.pow(to as u32)).sum()
}

fn same_set(one: &[Square], other: &[Square]) -> bool {
    one.iter().all(|square| other.contains(square))
}
