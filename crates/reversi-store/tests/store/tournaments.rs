//! Tournaments.

use std::collections::BTreeSet;

use reversi_room::{Seq, TournamentId};
use reversi_store::{
    AppendError, Shard, SqliteStore, Store, StoreError, StoredTournament, TournamentAppend, TournamentJournal,
    TournamentKey,
};
use rusqlite::Connection;

use crate::{
    after_a_crash, after_a_stop, at, connection, creation_of,
    doctor::{examine, repair},
    folder,
    lossy_folder::LossyFolder,
    on_each, on_each_place, open, room_id, write,
};

pub(crate) fn id(number: u64) -> TournamentId {
    TournamentId::from_random(number)
}

fn bytes(seq: u64) -> Vec<u8> {
    format!("event {seq}").into_bytes()
}

/// An append of some events at the second `expected + 1`, perhaps with a snapshot.
pub(crate) fn append(number: u64, expected: u64, events: u64, snapshot: bool) -> TournamentAppend {
    let last = expected + events;
    TournamentAppend {
        id: id(number),
        expected: Seq(expected),
        events: (expected + 1..=last).map(bytes).collect(),
        snapshot: snapshot.then(|| format!("state {last}").into_bytes()),
        ended: false,
        at: at(expected as i64 + 1),
    }
}

/// What is stored with a snapshot of this event, 0 for none, and the events up to `last`.
pub(crate) fn stored(snapshot: u64, last: u64) -> StoredTournament {
    let state = (Seq(snapshot), format!("state {snapshot}").into_bytes());
    StoredTournament {
        snapshot: Some(state).filter(|_| snapshot > 0),
        events: (snapshot + 1..=last).map(|seq| (Seq(seq), bytes(seq))).collect(),
    }
}

/// Writes three tournaments: one with events, one with a snapshot that has ended, one with both.
pub(crate) async fn fill(store: &Store) {
    let ended = TournamentAppend { ended: true, ..append(2, 0, 4, true) };
    for append in [append(1, 0, 2, false), ended, append(3, 0, 3, true), append(3, 3, 2, false)] {
        store.tournaments.append_tournament(append).await.unwrap();
    }
}

/// All that can be read of tournaments.
pub(crate) async fn all(
    store: &dyn TournamentJournal,
) -> (Vec<TournamentId>, Vec<(TournamentKey, Result<Option<StoredTournament>, StoreError>)>) {
    let mut running = store.running_tournaments(Shard::all().collect()).await.unwrap();
    running.sort_unstable();
    let mut tournaments = Vec::new();
    for key in store.tournament_page(false, None, 100).await.unwrap() {
        tournaments.push((key, store.tournament(key.1).await));
    }
    (running, tournaments)
}

/// True if the store has what [`fill`] has written.
async fn is_filled(store: &Store) -> bool {
    let expected = [(3, stored(3, 5)), (2, stored(4, 4)), (1, stored(0, 2))];
    let tournaments = expected.map(|(number, stored)| ((at(1), id(number)), Ok(Some(stored))));
    all(&*store.tournaments).await == (vec![id(1), id(3)], tournaments.into())
}

on_each!(an_append_adds_to_a_tournament_at_the_expected_event_only, async |store| {
    let journal = &*store.tournaments;
    assert_eq!(journal.tournament(id(1)).await, Ok(None));
    assert_eq!(journal.append_tournament(append(1, 1, 1, false)).await, Err(AppendError::Conflict(Seq(0))));
    assert_eq!(journal.append_tournament(append(1, 0, 2, false)).await, Ok(()));
    for wrong in [0, 1, 3] {
        let refused = journal.append_tournament(append(1, wrong, 1, true)).await;
        assert_eq!(refused, Err(AppendError::Conflict(Seq(2))));
    }
    assert_eq!(journal.tournament(id(1)).await, Ok(Some(stored(0, 2))));
    let (first, second) = tokio::join!(
        journal.append_tournament(append(1, 2, 3, false)),
        journal.append_tournament(append(1, 5, 1, false))
    );
    assert_eq!((first, second), (Ok(()), Ok(())));
    assert_eq!(journal.tournament(id(1)).await, Ok(Some(stored(0, 6))));
    // A refused append fails no other write of its commit.
    let creation = creation_of(room_id(1));
    let (refused, written) = tokio::join!(
        journal.append_tournament(append(1, 5, 1, false)),
        write(&*store.journal, room_id(1), Seq(0), &creation)
    );
    assert_eq!((refused, written), (Err(AppendError::Conflict(Seq(6))), Ok(())));
    assert_eq!(journal.tournament(id(2)).await, Ok(None), "another one");
});

on_each!(a_snapshot_replaces_all_events_before_it, async |store| {
    let journal = &*store.tournaments;
    for (expected, events, snapshot, kept) in [
        (0, 2, false, (0, 2)),
        (2, 3, true, (5, 5)),
        (5, 1, false, (5, 6)),
        (6, 0, true, (6, 6)),
        (6, 2, false, (6, 8)),
    ] {
        assert_eq!(journal.append_tournament(append(1, expected, events, snapshot)).await, Ok(()));
        assert_eq!(journal.tournament_seq(id(1)).await, Ok(Some(Seq(kept.1))));
        let found = journal.tournament(id(1)).await.unwrap().unwrap();
        assert_eq!((found.last(), found), (Seq(kept.1), stored(kept.0, kept.1)));
    }
    assert_eq!(journal.append_tournament(append(1, 2, 1, false)).await, Err(AppendError::Conflict(Seq(8))));
    assert_eq!(journal.tournament_seq(id(1)).await, Ok(Some(Seq(8))));
    assert_eq!(journal.tournament_seq(id(2)).await, Ok(None));
});

on_each!(running_tournaments_are_those_of_the_shards_that_have_not_ended, async |store| {
    let journal = &*store.tournaments;
    let [one, other] = [5, 4_000].map(|number| Shard::new(number).unwrap());
    let running = async |shards: &[Shard]| {
        let mut running = journal.running_tournaments(shards.iter().copied().collect()).await.unwrap();
        running.sort_unstable();
        running
    };
    for shard in [one, other] {
        for random in [1, 2] {
            let append = TournamentAppend { id: shard.tournament(random), ..append(0, 0, 1, false) };
            journal.append_tournament(append).await.unwrap();
        }
    }
    let end = TournamentAppend { id: one.tournament(1), ended: true, ..append(0, 1, 1, false) };
    journal.append_tournament(end).await.unwrap();
    assert_eq!(running(&[one]).await, [one.tournament(2)]);
    assert_eq!(running(&[one, other]).await, [one.tournament(2), other.tournament(1), other.tournament(2)]);
    assert_eq!(journal.running_tournaments(BTreeSet::new()).await, Ok(Vec::new()));
    assert_eq!(journal.tournament_page(false, None, 9).await.unwrap().len(), 4, "also the one that has ended");
});

/// All of the pages with two tournaments each.
async fn paged(journal: &dyn TournamentJournal, unfinished: bool) -> Vec<TournamentKey> {
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = journal.tournament_page(unfinished, before, 2).await.unwrap();
        let Some(last) = page.last() else { return seen };
        assert!(page.len() <= 2);
        before = Some(*last);
        seen.extend(page);
    }
}

on_each!(tournaments_are_paged_newest_first, async |store| {
    let journal = &*store.tournaments;
    let times = [(1, 30), (2, 10), (3, 20), (4, 20), (5, 40)];
    for (number, seconds) in times {
        let append = TournamentAppend { at: at(seconds), ..append(number, 0, 1, false) };
        journal.append_tournament(append).await.unwrap();
    }
    journal.append_tournament(TournamentAppend { at: at(99), ..append(2, 1, 1, true) }).await.unwrap();
    let mut all =
        [(40, 5), (30, 1), (20, 4), (20, 3), (10, 2)].map(|(seconds, number)| (at(seconds), id(number))).to_vec();
    assert_eq!(paged(journal, false).await, all);
    for (number, expected) in [(4, 1), (5, 1), (2, 2)] {
        let end = TournamentAppend { ended: true, ..append(number, expected, 1, true) };
        journal.append_tournament(end).await.unwrap();
        all.retain(|(_, one)| *one != id(number));
        assert_eq!(paged(journal, true).await, all);
    }
    assert_eq!(paged(journal, false).await.len(), 5);
});

on_each_place!(tournaments_are_there_after_a_restart, async |place| {
    let store = place.open().await;
    fill(&store).await;
    assert!(is_filled(&store).await);
    drop(store);
    let store = place.open().await;
    assert!(is_filled(&store).await);
    assert_eq!(store.tournaments.append_tournament(append(3, 5, 1, true)).await, Ok(()));
    assert_eq!(place.count("tournament_events"), 2, "those of the first");
});

#[tokio::test]
async fn an_append_is_durable_when_it_is_answered() {
    let disk = LossyFolder::create(false);
    let store = Store::of(SqliteStore::open(disk.path()).unwrap());
    fill(&store).await;
    disk.switch_off();
    drop(store);
    disk.restore(|| false);
    assert!(is_filled(&Store::of(SqliteStore::open(disk.path()).unwrap())).await);
}

/// The append is whole in the write-ahead log, from which a crash would bring it back.
#[tokio::test]
async fn an_append_of_unknown_outcome_is_certain_when_it_has_been_read() {
    for whole in [true, false] {
        let disk = LossyFolder::create(false);
        let store = Store::of(SqliteStore::open(disk.path()).unwrap());
        fill(&store).await;
        disk.fail_syncs(true);
        let unknown = store.tournaments.append_tournament(append(1, 2, 1, false)).await;
        assert!(matches!(unknown, Err(AppendError::Unknown(_))), "{unknown:?}");
        disk.fail_syncs(false);
        if whole {
            assert_eq!(store.tournaments.tournament(id(1)).await, Ok(Some(stored(0, 2))));
        } else {
            assert_eq!(store.tournaments.tournament_seq(id(1)).await, Ok(Some(Seq(2))));
        }
        assert!(is_filled(&open(&after_a_crash(disk.path()))).await);
    }
}

/// A server that goes on from fewer events could not append.
#[tokio::test]
async fn a_tournament_with_a_missing_event_is_damaged_and_affects_no_other() {
    let folder = folder();
    fill(&open(&folder)).await;
    connection(&folder).execute_batch("DELETE FROM tournament_events WHERE tournament = 1 AND seq = 2").unwrap();
    let store = open(&folder);
    let damaged = store.tournaments.tournament(id(1)).await;
    assert!(matches!(damaged, Err(StoreError::Damaged(_))), "{damaged:?}");
    assert_eq!(store.tournaments.tournament(id(3)).await, Ok(Some(stored(3, 5))));
    connection(&folder).execute_batch("UPDATE tournaments SET created_us = 'now' WHERE id = 1").unwrap();
    assert_eq!(store.tournaments.tournament_page(false, None, 9).await.unwrap().len(), 2);
}

/// All values of a table.
fn rows(file: &Connection, table: &str) -> Vec<String> {
    let mut select = file.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 3")).unwrap();
    let columns = select.column_count();
    let row =
        |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column)).collect();
    let rows = select.query_map([], row).unwrap().map(Result::unwrap);
    rows.map(|row: Vec<_>| format!("{row:?}")).collect()
}

/// Whatever their bytes are, which the doctor does not know.
#[tokio::test]
async fn a_repair_keeps_the_rows_of_tournaments() {
    let folder = folder();
    fill(&open(&folder)).await;
    let damage =
        "UPDATE tournament_events SET event = x'00' WHERE seq = 1; UPDATE tournaments SET seq = 7 WHERE id = 3";
    connection(&folder).execute_batch(damage).unwrap();
    let before = ["tournaments", "tournament_events"].map(|table| rows(&connection(&folder), table));
    assert!(before.iter().all(|rows| rows.len() >= 3));
    let lists = [
        "",
        "DELETE FROM sqlite_schema",
        "UPDATE sqlite_schema SET sql = 'nonsense' WHERE name LIKE 'tournament%'",
        "DELETE FROM sqlite_schema WHERE name = 'tournament_events'",
    ];
    for list in lists {
        let folder = after_a_stop(&folder);
        connection(&folder).execute_batch(&format!("PRAGMA writable_schema = on; {list}")).unwrap();
        assert_eq!(examine(&folder).findings.is_empty(), list.is_empty());
        repair(&folder);
        let after = ["tournaments", "tournament_events"].map(|table| rows(&connection(&folder), table));
        assert_eq!(after, before, "{list}");
    }
    connection(&folder)
        .execute_batch("UPDATE tournament_events SET event = CAST(x'ff' AS text) WHERE seq = 1")
        .unwrap();
    let found = repair(&folder);
    assert!(found[0].contains("tournament_events, row ") && found[0].contains("the row is lost"), "{found:?}");
    assert_eq!(rows(&connection(&folder), "tournament_events").len(), before[1].len() - 1);
}
