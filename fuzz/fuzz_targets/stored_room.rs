//! Any bytes are an error, or a room on which every operation works.
#![no_main]

#[path = "../../crates/reversi-room/tests/room/exercise.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;
use reversi_room::stored::{decode_room, encode_room};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(room) = decode_room(bytes) {
        assert_eq!(decode_room(&encode_room(&room)).as_ref(), Ok(&room));
        exercise::exercise(room);
    }
});
