//! Any text is a game or an error, and a game is written as it was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reversi_engine::rules::Transcript;

fuzz_target!(|text: &str| {
    if let Ok(game) = text.parse::<Transcript>() {
        assert_eq!(game.to_string().parse(), Ok(game.clone()));
        assert_eq!(game.positions().last(), Some(game.position()));
    }
});
