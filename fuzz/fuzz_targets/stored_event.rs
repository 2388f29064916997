//! Any bytes are an event or an error, and a room can be stored after each event that fits it.
#![no_main]

#[path = "../../crates/reversi-room/tests/room/exercise.rs"]
mod exercise;
mod sample;

use libfuzzer_sys::fuzz_target;
use reversi_room::{
    Fact, Room,
    stored::{decode_event, decode_room, encode_event, encode_room},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(event) = decode_event(bytes) else {
        return;
    };
    assert_eq!(decode_event(&encode_event(&event)).as_ref(), Ok(&event));
    if let Fact::Created(_) = event.fact {
        exercise::exercise(Room::replay([&event]).expect("a creation"));
    }
    for mut room in sample::rooms() {
        let mut event = event.clone();
        event.seq = room.seq().next();
        if room.check_next(&event).is_ok() {
            room.apply(&event);
            assert_eq!(decode_room(&encode_room(&room)).as_ref(), Ok(&room));
            exercise::exercise(room);
        }
    }
});
