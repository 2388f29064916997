//! Instruction counts of the code that runs for every move: `cargo bench --profile instructions --bench instructions`.
//!
//! The counts hardly depend on the machine or its load, so CI can check them: each benchmark has its recorded count,
//! and a rise of more than 5 % fails. The counts are of the profile `instructions`. If a rise is justified, or a new
//! compiler changes the counts, record the new number here. Needs valgrind, and `gungraun-runner` of the same version
//! as `gungraun`.
#![allow(clippy::unwrap_used, reason = "a benchmark fails if it cannot be set up")]
#![allow(missing_docs, reason = "for items that the macros generate")]

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

/// Fails above `instructions` plus 5 %. Counts the instructions of `function`, or of the whole benchmark if none.
fn at_most(instructions: u64, function: Option<&str>) -> LibraryBenchmarkConfig {
    let limits = [(EventKind::Ir, instructions + instructions / 20)];
    let entry = function.map_or(EntryPoint::Default, |function| EntryPoint::Custom(function.to_owned()));
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits(limits).entry_point(entry));
    config
}

/// The positions of the game before each move.
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

fn room_and_game() -> (Room, Transcript) {
    (game::playing(), game::game())
}

#[library_benchmark(setup = room_and_game, config = at_most(100_400, None))]
#[bench::whole_game()]
fn moves_of_a_room((mut room, game): (Room, Transcript)) -> Room {
    game::play(&mut room, &game, |_, _| ());
    room
}

/// The events of the game, each with the room after it.
fn events() -> Vec<(Event, Room)> {
    let mut events = Vec::new();
    game::play(&mut game::playing(), &game::game(), |event, room| events.push((event.clone(), room.clone())));
    events
}

#[library_benchmark(setup = events, config = at_most(973_225, None))]
#[bench::whole_game()]
fn encoding(events: Vec<(Event, Room)>) -> (usize, Vec<(Event, Room)>) {
    (events.iter().map(|(event, room)| grpc::encode(event, room).len()).sum(), events)
}

/// A room in a file, and its events that are not written yet.
struct WrittenRoom {
    tokio: Runtime,
    store: SqliteStore,
    room: RoomId,
    last: Seq,
    events: Vec<Event>,
    _folder: TempDir,
}

impl WrittenRoom {
    fn append(&self, expected: Seq, events: &[Event]) {
        let append = Append { room: self.room, expected, events, games: &[] };
        self.tokio.block_on(self.store.append(append)).unwrap();
    }
}

fn written_room() -> WrittenRoom {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let tokio = Builder::new_current_thread().build().unwrap();
    let (beginning, room) = (game::beginning(), game::playing());
    let events = events().into_iter().map(|(event, _)| event).collect();
    let written_room = WrittenRoom { tokio, store, room: room.id(), last: room.seq(), events, _folder: folder };
    written_room.append(Seq(0), &beginning);
    written_room
}

// Counts the writer thread's instructions for the creation of the room, then for each move, written one at a time. Some
// 73,000 of them are a renewal of the mark of the write-ahead log, of which there is one for a thousand pages.
#[library_benchmark(setup = written_room, config = at_most(1_360_706, Some("*::writer::WriterThread::execute")))]
#[bench::whole_game()]
fn journal(written_room: WrittenRoom) -> WrittenRoom {
    let mut last = written_room.last;
    for event in &written_room.events {
        written_room.append(last, std::slice::from_ref(event));
        last = event.seq;
    }
    written_room
}

library_benchmark_group!(name = ways; benchmarks = legal_moves, moves_of_a_room, encoding, journal);
main!(library_benchmark_groups = ways);
