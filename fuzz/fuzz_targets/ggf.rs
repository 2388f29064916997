//! Any text is a game or an error, and all moves of a game are legal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reversi_room::ggf;

fuzz_target!(|text: &str| {
    let Ok(game) = ggf::read(text) else {
        return;
    };
    let end = game.plies.iter().fold(game.start, |position, ply| match ply.square {
        Some(square) => position.play(square).expect("a legal move"),
        None => position.pass().expect("a forced pass"),
    });
    assert_eq!(end, game.position);
    assert!(!end.must_pass());
});
