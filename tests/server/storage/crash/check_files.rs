//! Checks of the file that a killed server has left.

use std::{collections::BTreeMap, path::Path};

use reversi::{
    room::{Event, Fact, GameId, GameRecord, Ply, Room, Seq},
    rules::{Position, Square},
    store::{Archive as _, GameFilter, Journal as _, SqliteStore},
};

use super::bots::Acknowledged;

/// Checks every room and every game, and that each acknowledged move is stored.
pub(crate) async fn check(folder: &Path, acknowledged: &Acknowledged, rooms: usize) {
    let store = SqliteStore::open(folder).unwrap();
    let mut games = archived(&store).await;
    let open = store.open_rooms(None, usize::MAX).await.unwrap();
    assert_eq!(open.len(), rooms, "every room is open");
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
}

/// The finished games. Checks that none is on two pages; the archive has them by id.
async fn archived(store: &SqliteStore) -> BTreeMap<GameId, Vec<Ply>> {
    let filter = GameFilter { viewer: reversi::room::PlayerId::from_random(0), room: None, player: None };
    let (mut games, mut after) = (BTreeMap::new(), None);
    loop {
        let page = store.games(filter, after, 500).await.unwrap();
        for game in page.games {
            let GameRecord { id, plies, .. } = (*game).clone();
            assert!(games.insert(id, plies).is_none(), "{id} is archived twice");
        }
        if page.next.is_none() {
            return games;
        }
        after = page.next;
    }
}

/// Checks that the stored events have no gaps, and that no game starts or ends twice.
async fn check_events(store: &SqliteStore, room: &Room) {
    let history = store.load(room.id()).await.unwrap().unwrap();
    let (mut seq, mut runs) = (history.base.seq(), history.base.running().is_some());
    for Event { seq: next, fact, .. } in &history.events {
        assert_eq!(*next, Seq(seq.0 + 1), "a gap in {}", room.id());
        seq = *next;
        match fact {
            Fact::GameStarted { .. } => assert!(!std::mem::replace(&mut runs, true), "a game started during another"),
            Fact::GameEnded(_) => assert!(std::mem::replace(&mut runs, false), "a game ended that had not started"),
            _ => {}
        }
    }
    assert_eq!(history.latest(), *room);
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
