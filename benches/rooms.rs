//! The time that a room takes for moves: `cargo bench --bench rooms`.
#![allow(clippy::unwrap_used, reason = "a benchmark fails if it cannot be set up")]

mod game;

use divan::{Bencher, black_box, counter::ItemsCount};
use reversi::{
    grpc,
    room::{Command, PlayerId},
};

fn main() {
    divan::main();
}

/// One move of a running game, decided and applied.
#[divan::bench]
fn turn(bencher: Bencher) {
    let (start, first) = (game::playing(), "f5".parse().unwrap());
    let mover = PlayerId::from_random(1);
    bencher.with_inputs(|| start.clone()).bench_local_values(|mut room| {
        game::execute(&mut room, mover, Command::Play { game: 1, ply: 0, square: first, thought: None });
        room
    });
}

/// A whole game, move by move; if `watched`, with every event encoded for watchers.
#[divan::bench(args = [false, true])]
fn whole_game(bencher: Bencher, watched: bool) {
    let (start, game) = (game::playing(), game::game());
    bencher.counter(ItemsCount::new(game.squares().len())).with_inputs(|| start.clone()).bench_local_values(
        |mut room| {
            game::play(&mut room, &game, |event, room| {
                if watched {
                    black_box(grpc::encode(event, room));
                }
            });
            room
        },
    );
}
