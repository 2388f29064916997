//! Any bytes are a file of games or an error, with at most as many games as the bytes can hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reversi_room::wthor::{PLAYER, WthorFile, names};

fuzz_target!(|bytes: &[u8]| {
    let _ = names(bytes, PLAYER);
    if let Ok(file) = WthorFile::read(bytes) {
        assert!(file.games().count() <= bytes.len() / 68 + 1);
    }
});
