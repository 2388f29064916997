//! Rooms in every phase, to apply events to.

use reversi_room::{Room, stored::decode_room};

/// The checked-in sample of the stored form: a name, a tab, and the bytes in hexadecimal.
const SAMPLE: &str = include_str!("../../crates/reversi-room/tests/data/stored-v2.txt");

/// The rooms of the sample; lines with events are skipped.
pub(crate) fn rooms() -> impl Iterator<Item = Room> {
    let digits = SAMPLE.lines().filter_map(|line| Some(line.split_once('\t')?.1));
    digits.filter_map(|digits| {
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        decode_room(&bytes?).ok()
    })
}
