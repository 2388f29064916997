//! Tournaments. As for a room, only the node of the shard writes, under its fence.

use std::collections::{BTreeSet, HashMap};

use reversi_room::{Seq, Timestamp, TournamentId};
use tokio_postgres::{Error, Row};

use super::{
    cluster::fence::Fence,
    rooms::number,
    session::{Session, column},
};
use crate::{
    damage::{DamagedRows, ReadError},
    journal::AppendError,
    shard::Shard,
    tournament::{StoredTournament, TournamentKey, TournamentRows},
};

/// No row if the shard is not the node's.
const LAST: &str = "SELECT coalesce(seq, 0) FROM shard LEFT JOIN tournaments ON tournaments.id = $1 \
    WHERE shard.id = ($1::bigint >> 48)::int AND shard.node = $2";

/// Appends to a tournament while the fence is held, which keeps the shard from other nodes. A refused append writes
/// nothing.
pub(super) async fn append(
    session: &Session,
    fence: Fence,
    expected: Seq,
    rows: &TournamentRows,
) -> Result<Result<usize, AppendError>, Error> {
    let Some(row) = session.row(LAST, &[&key(rows.id), &fence.node]).await? else {
        return Ok(Err(AppendError::Fenced));
    };
    let at = Seq(row.try_get::<_, i64>(0)?.cast_unsigned());
    if at != expected {
        return Ok(Err(AppendError::Conflict(at)));
    }
    write(session, rows).await.map(|()| Ok(0))
}

const PUT: &str = "INSERT INTO tournaments (id, created_us, seq, ended, snapshot_seq, snapshot) \
    VALUES ($1, $2, $3, $4, 0, '') ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, ended = excluded.ended";

const ADD_EVENTS: &str = "INSERT INTO tournament_events (tournament, event, seq) \
    SELECT $1, * FROM unnest($2::bytea[], $3::bigint[]) ON CONFLICT DO NOTHING";

/// Writes rows. Changes nothing when it is repeated.
pub(super) async fn write(session: &Session, rows: &TournamentRows) -> Result<(), Error> {
    let TournamentRows { id, created, last, ended, stored } = rows;
    let id = key(*id);
    session.execute(PUT, &[&id, &created.0, &number(*last), ended]).await?;
    if let Some((seq, snapshot)) = &stored.snapshot {
        let replace = "UPDATE tournaments SET snapshot_seq = $2, snapshot = $3 WHERE id = $1";
        session.execute(replace, &[&id, &number(*seq), snapshot]).await?;
        session.execute("DELETE FROM tournament_events WHERE tournament = $1", &[&id]).await?;
    }
    let (seqs, events): (Vec<_>, Vec<_>) = stored.events.iter().map(|(seq, event)| (number(*seq), event)).unzip();
    session.execute(ADD_EVENTS, &[&id, &events, &seqs]).await.map(drop)
}

/// The last event of each of these tournaments that is stored.
pub(super) async fn lasts(session: &Session, ids: &[i64]) -> Result<HashMap<i64, i64>, Error> {
    let rows = session.query("SELECT id, seq FROM tournaments WHERE id = ANY($1)", &[&ids]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// One statement, so that it reads a single state.
const LOAD: &str = "SELECT seq, snapshot_seq, snapshot, \
    ARRAY(SELECT seq FROM tournament_events WHERE tournament = id ORDER BY seq) AS seqs, \
    ARRAY(SELECT event FROM tournament_events WHERE tournament = id ORDER BY seq) AS events \
    FROM tournaments WHERE id = $1";

pub(super) async fn load(
    session: &Session,
    damaged: &DamagedRows,
    id: TournamentId,
) -> Result<Option<StoredTournament>, ReadError> {
    let seq = |seq: i64| Seq(seq.cast_unsigned());
    let read = |row: &Row| {
        let snapshot = (seq(column(row, "snapshot_seq")?), column(row, "snapshot")?);
        let seqs = column::<Vec<i64>>(row, "seqs")?.into_iter().map(seq);
        StoredTournament::of_rows(
            seq(column(row, "seq")?),
            snapshot,
            seqs.zip(column::<Vec<_>>(row, "events")?).collect(),
        )
    };
    let stored = session.row(LOAD, &[&key(id)]).await?.as_ref().map(read).transpose();
    stored.inspect_err(|error| damaged.note("tournaments", &id.to_string(), &error.to_string(), "a row is damaged"))
}

/// The last event; none if the tournament is unknown.
pub(super) async fn last(session: &Session, id: TournamentId) -> Result<Option<Seq>, ReadError> {
    let row = session.row("SELECT seq FROM tournaments WHERE id = $1", &[&key(id)]).await?;
    row.map(|row| Ok(Seq(column::<i64>(&row, "seq")?.cast_unsigned()))).transpose()
}

pub(super) async fn running(session: &Session, shards: &BTreeSet<Shard>) -> Result<Vec<TournamentId>, ReadError> {
    let sql = "SELECT id FROM tournaments WHERE NOT ended AND (id >> 48)::int = ANY($1)";
    let shards: Vec<_> = shards.iter().map(|shard| i32::from(shard.number())).collect();
    session.query(sql, &[&shards]).await?.iter().map(id).collect()
}

const PAGE: &str = "SELECT created_us, id FROM tournaments WHERE (created_us, id) < ($1, $2) \
    ORDER BY created_us DESC, id DESC LIMIT $3";

const UNFINISHED_PAGE: &str = "SELECT created_us, id FROM tournaments WHERE NOT ended AND (created_us, id) < ($1, $2) \
    ORDER BY created_us DESC, id DESC LIMIT $3";

pub(super) async fn page(
    session: &Session,
    unfinished: bool,
    before: Option<TournamentKey>,
    limit: usize,
) -> Result<Vec<TournamentKey>, ReadError> {
    let (created, before) = before.map_or((i64::MAX, i64::MAX), |(created, id)| (created.0, key(id)));
    let sql = match unfinished {
        true => UNFINISHED_PAGE,
        false => PAGE,
    };
    let rows = session.query(sql, &[&created, &before, &i64::try_from(limit)?]).await?;
    rows.iter().map(|row| Ok((Timestamp(column(row, "created_us")?), id(row)?))).collect()
}

/// The id of a tournament, of 60 bits, as a column.
pub(super) fn key(id: TournamentId) -> i64 {
    id.bits().cast_signed()
}

fn id(row: &Row) -> Result<TournamentId, ReadError> {
    Ok(TournamentId::from_random(column::<i64>(row, "id")?.cast_unsigned()))
}
