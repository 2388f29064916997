//! How many instructions the ways take that every move goes: `cargo bench --profile instructions --bench instructions`.
//!
//! They hardly depend on the machine or on what else runs there, so that CI can hold them: each way has its number, and a
//! rise of more than 5 % fails. The numbers are of the profile `instructions`. Where a rise is worth it, or a compiler counts
//! otherwise, the new number goes in here. It needs valgrind and `gungraun-runner`, of the version in Cargo.toml.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up is to stop")]
#![allow(missing_docs, reason = "of what the macros make")]

mod game;

use std::hint::black_box;

use gungraun::{
    Callgrind, EntryPoint, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use reversi::{
    grpc,
    room::{Event, Room, RoomId, Seq},
    rules::{Position, Transcript},
    store::{Append, Journal as _, SqliteStore},
};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Fails on 5 % more than so many, of what is done by `function` or, if none is named, by the benchmark itself.
fn at_most(instructions: u64, function: Option<&str>) -> LibraryBenchmarkConfig {
    let limits = [(EventKind::Ir, instructions + instructions / 20)];
    let entry = function.map_or(EntryPoint::Default, |function| EntryPoint::Custom(function.to_owned()));
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits(limits).entry_point(entry));
    config
}

/// The positions of a game in which somebody moves.
fn positions() -> Vec<Position> {
    let game = game::game();
    (0..game.squares().len())
        .map(|at| Transcript::from_squares(game.squares()[..at].to_vec()).unwrap().position())
        .collect()
}

#[library_benchmark(setup = positions, config = at_most(12_173, None))]
#[bench::whole_game()]
fn legal_moves(positions: Vec<Position>) -> (u32, Vec<Position>) {
    (positions.iter().map(|position| u32::from(black_box(position).legal_moves().count())).sum(), positions)
}

fn table() -> (Room, Transcript) {
    (game::playing(), game::game())
}

#[library_benchmark(setup = table, config = at_most(100_400, None))]
#[bench::whole_game()]
fn moves_of_a_room((mut room, game): (Room, Transcript)) -> Room {
    game::play(&mut room, &game, |_, _| ());
    room
}

/// The events of a game, each with the room behind it.
fn events() -> Vec<(Event, Room)> {
    let mut events = Vec::new();
    game::play(&mut game::playing(), &game::game(), |event, room| events.push((event.clone(), room.clone())));
    events
}

#[library_benchmark(setup = events, config = at_most(853_838, None))]
#[bench::whole_game()]
fn encoding(events: Vec<(Event, Room)>) -> (usize, Vec<(Event, Room)>) {
    (events.iter().map(|(event, room)| grpc::encode(event, room).len()).sum(), events)
}

/// A room in a file, and what is still to be written of it.
struct Desk {
    tokio: Runtime,
    store: SqliteStore,
    room: RoomId,
    behind: Seq,
    events: Vec<Event>,
    _folder: TempDir,
}

impl Desk {
    fn append(&self, expected: Seq, events: &[Event]) {
        let append = Append { room: self.room, expected, events, games: &[] };
        self.tokio.block_on(self.store.append(append)).unwrap();
    }
}

fn desk() -> Desk {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let tokio = Builder::new_current_thread().build().unwrap();
    let (beginning, room) = (game::beginning(), game::playing());
    let events = events().into_iter().map(|(event, _)| event).collect();
    let desk = Desk { tokio, store, room: room.id(), behind: room.seq(), events, _folder: folder };
    desk.append(Seq(0), &beginning);
    desk
}

// The opening of the room, and then one move after the other, each durable before the next: what the thread that writes
// does for it.
#[library_benchmark(setup = desk, config = at_most(1_225_990, Some("*::writer::WriterThread::execute")))]
#[bench::whole_game()]
fn journal(desk: Desk) -> Desk {
    let mut behind = desk.behind;
    for event in &desk.events {
        desk.append(behind, std::slice::from_ref(event));
        behind = event.seq;
    }
    desk
}

library_benchmark_group!(name = ways; benchmarks = legal_moves, moves_of_a_room, encoding, journal);
main!(library_benchmark_groups = ways);
