//! Checks of the file that a killed server has left.

use std::{collections::BTreeMap, fs, path::Path};

use reversi::{
    room::{Event, Fact, Game, GameId, GameRecord, Participant, PlayerId, Ply, Room, RoomId, Seq},
    rules::{Color, Position, Square},
    store::{Archive as _, Contestant, GameFilter, Journal as _, Results, SqliteStore},
};

use super::bots::Acknowledged;

/// Checks every room, every game and all statistics, and that each acknowledged move is stored. Checks a copy, since
/// opening the file changes it. Returns the rooms with a running game, at their last event.
pub(crate) async fn check(folder: &Path, acknowledged: &Acknowledged, rooms: usize) -> BTreeMap<RoomId, Seq> {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(folder).unwrap().flatten() {
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    let store = SqliteStore::open(copy.path()).unwrap();
    let records = archived(&store).await;
    check_standings(&store, &records).await;
    let mut games: BTreeMap<_, _> = records.into_iter().map(|(id, record)| (id, record.plies)).collect();
    let open = store.open_rooms(None, usize::MAX).await.unwrap();
    assert_eq!(open.len(), rooms, "every room is open");
    let running = open.iter().filter(|room| room.running().is_some()).map(|room| (room.id(), room.seq())).collect();
    for room in open {
        check_events(&store, &room).await;
        if let Some(game) = room.running() {
            let id = GameId { room: room.id(), number: game.number };
            assert!(games.insert(id, game.plies.clone()).is_none(), "{id} is both running and archived");
        }
        for number in 1..=room.game().map_or(0, |game| game.number) {
            let id = GameId { room: room.id(), number };
            assert!(games.contains_key(&id), "{id} is lost");
        }
    }
    for (id, plies) in &games {
        check_plies(*id, plies);
    }
    for (game, ply, square) in acknowledged.moves() {
        let found = games.get(&game).and_then(|plies| plies.get(usize::from(ply)));
        assert_eq!(found.and_then(|ply| ply.square), Some(square), "ply {ply} of {game}");
    }
    running
}

/// The finished games. Checks that none is on two pages; the archive has them by id.
async fn archived(store: &SqliteStore) -> BTreeMap<GameId, GameRecord> {
    let filter = GameFilter::visible_to(PlayerId::from_random(0));
    let (mut games, mut after) = (BTreeMap::new(), None);
    loop {
        let page = store.games(filter, after, 500).await.unwrap();
        for game in page.games {
            let id = game.id;
            assert!(games.insert(id, (*game).clone()).is_none(), "{id} is archived twice");
        }
        if page.next.is_none() {
            return games;
        }
        after = page.next;
    }
}

/// Checks that the results of all players are those of the finished games, and that rated ones changed the ratings.
async fn check_standings(store: &SqliteStore, games: &BTreeMap<GameId, GameRecord>) {
    let mut expected: BTreeMap<PlayerId, (Results, u32)> = BTreeMap::new();
    for record in games.values() {
        for side in Color::ALL {
            let Participant::Player(player) = &record.players[side] else { continue };
            let (results, rated) = expected.entry(player.id).or_default();
            *rated += u32::from(record.unrated(side).is_none());
            match record.end.winner {
                _ if !record.end.counts() => {}
                Some(winner) if winner == side => results.won += 1,
                Some(_) => results.lost += 1,
                None => results.drawn += 1,
            }
        }
    }
    for (player, (results, rated)) in expected {
        let stats = store.player_stats(Contestant::Player(player)).await.unwrap();
        assert_eq!(stats.total(), results, "the results of {player}");
        // Of many games in a short time only the first ten are sure to count.
        let counted = stats.rating.map_or(0, |rating| rating.games);
        assert!((rated.min(10)..=rated).contains(&counted), "{counted} of {rated} rated games of {player}");
    }
}

/// Checks that the stored events have no gaps, that no game starts or ends twice, and that no clock grows by more than
/// its increment.
async fn check_events(store: &SqliteStore, room: &Room) {
    let history = store.load(room.id()).await.unwrap().unwrap();
    let (mut seq, mut runs) = (history.base.seq(), history.base.running().is_some());
    let mut before = history.base.clone();
    for event in &history.events {
        let Event { seq: next, fact, .. } = event;
        assert_eq!(*next, Seq(seq.0 + 1), "a gap in {}", room.id());
        seq = *next;
        let mut after = before.clone();
        after.apply(event);
        check_clocks(&before, &after);
        before = after;
        match fact {
            Fact::GameStarted { .. } => assert!(!std::mem::replace(&mut runs, true), "a game started during another"),
            Fact::GameEnded(_) => assert!(std::mem::replace(&mut runs, false), "a game ended that had not started"),
            _ => {}
        }
    }
    assert_eq!(history.latest(), *room);
}

fn check_clocks(before: &Room, after: &Room) {
    let (Some(game), Some(next)) = (before.running(), after.running()) else { return };
    let most = |game: &Game, side| game.clocks[side].map(|left| left + before.settings().time.increment);
    for side in Color::ALL.into_iter().filter(|_| game.number == next.number) {
        assert!(next.clocks[side] <= most(game, side), "the clock of {side} in {} grew", before.id());
        let waits = game.turn() != Some(side);
        assert!(!waits || next.clocks[side] == game.clocks[side], "the clock of {side} ran out of turn");
    }
}

/// Checks that all moves of a game are legal.
fn check_plies(id: GameId, plies: &[Ply]) {
    let play = |position: Position, square: Option<Square>| match square {
        Some(square) => position.play(square).ok(),
        None => position.pass(),
    };
    let end = plies.iter().try_fold(Position::START, |position, ply| play(position, ply.square));
    assert!(end.is_some(), "{id} is not legal: {plies:?}");
}
