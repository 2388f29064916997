//! The archive and the opening explorer: `cargo bench --bench archive`. In a store of 100,000 random games it measures
//! how fast they are counted, the bytes of a game, and the latency of lookups and of pages.
#![allow(clippy::unwrap_used, reason = "a benchmark fails if it cannot be set up")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::time::{Duration, Instant};

use rand::RngExt as _;
use rand_pcg::Pcg64Mcg;
use reversi::{
    room::{
        DisplayName, EndReason, GameEnd, GameId, GameRecord, Participant, PlayerId, PlayerKind, Ply, Profile, RoomId,
        RoomName, Timestamp,
    },
    rules::{ByColor, Position, opening},
    store::{Archive as _, ExplorerFilter, GameFilter, OpponentKind, SqliteStore},
};

const GAMES: u32 = 100_000;

/// Games of each write.
const CHUNK: u32 = 1_000;

/// Measured calls of each kind.
const CALLS: u32 = 500;

#[tokio::main]
async fn main() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let mut random = Pcg64Mcg::new(1);
    for chunk in 0..GAMES / CHUNK {
        let games = (chunk * CHUNK..(chunk + 1) * CHUNK).map(|number| game(number, &mut random)).collect();
        store.import(games).await.unwrap();
    }
    let before = store.size().await.unwrap().bytes;
    let began = Instant::now();
    while store.count_openings(0, 20, Timestamp(i64::MAX)).await.unwrap() > 0 {}
    let counted = began.elapsed();
    let after = store.size().await.unwrap().bytes;
    println!("counting: {:.0} µs a game", counted.as_secs_f64() * 1e6 / f64::from(GAMES));
    println!(
        "bytes a game: {} of the game, {} of the explorer",
        before / u64::from(GAMES),
        (after - before) / u64::from(GAMES)
    );

    let mut lookups = Vec::new();
    for call in 0..CALLS {
        let moves = opening::balanced(1, call);
        let ply = (call % 9) as usize;
        let position = moves.iter().take(ply).fold(Position::START, |position, square| position.play(*square).unwrap());
        let filter =
            ExplorerFilter { kind: (call % 2 == 0).then_some(OpponentKind::Human), ..ExplorerFilter::default() };
        let began = Instant::now();
        store.explore(position, filter).await.unwrap();
        lookups.push(began.elapsed());
    }
    report("a lookup", &mut lookups);
    let all = GameFilter::visible_to(PlayerId::from_random(1));
    let filters = [
        ("a page of all", all),
        ("a page of an opening", GameFilter { opening: Some("Tiger"), ..all }),
        ("a page of strong bots", GameFilter { kind: Some(OpponentKind::Bot), min_rating: Some(2_190), ..all }),
        ("a page that finds nothing", GameFilter { min_rating: Some(3_000), ..all }),
    ];
    for (name, filter) in filters {
        let mut pages = Vec::new();
        for _ in 0..CALLS / 10 {
            let began = Instant::now();
            store.games(filter, None, 50).await.unwrap();
            pages.push(began.elapsed());
        }
        report(name, &mut pages);
    }
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.2} ms, p99 {:.2} ms", at(50), at(99));
}

/// A game from an even opening to its end, with random moves, between players of ratings 1200 to 2200.
fn game(number: u32, random: &mut Pcg64Mcg) -> GameRecord {
    let (mut position, mut plies) = (Position::START, Vec::new());
    let opening = opening::balanced(2, random.random_range(0..500));
    while !position.is_over() {
        let moves: Vec<_> = position.legal_moves().iter().collect();
        let chosen = moves[random.random_range(0..moves.len())];
        let square = opening.get(plies.len()).copied().unwrap_or(chosen);
        position = position.play(square).unwrap();
        plies.push(Ply { square: Some(square), spent_ms: 1_000 });
        if position.must_pass() {
            position = position.pass_unchecked();
            plies.push(Ply { square: None, spent_ms: 0 });
        }
    }
    let mut player = || {
        let number = random.random_range(0..1_000_u64);
        let kind = if number % 2 == 0 { PlayerKind::Human } else { PlayerKind::Bot };
        let name = DisplayName::parse(&format!("player {number}")).unwrap();
        (
            Participant::Player(Profile { id: PlayerId::from_random(number), name, kind, engine_version: None }),
            Some(1_200 + number as u16),
        )
    };
    let ((black, black_rating), (white, white_rating)) = (player(), player());
    let at = Timestamp(i64::from(number) * 1_000_000);
    let id = GameId { room: RoomId::from_random(u64::from(number)), number: 1 };
    let (name, players) = (RoomName::parse("a room").unwrap(), ByColor::new(black, white));
    let end = GameEnd { winner: position.outcome().unwrap().winner, reason: EndReason::Discs };
    GameRecord {
        started: at,
        ended: at,
        rated: true,
        ratings: ByColor::new(black_rating, white_rating),
        ..GameRecord::of_moves(id, name, players, end, plies, position)
    }
}
