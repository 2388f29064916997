//! Which node has which shards. Only it writes to their rooms.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;
use tokio_postgres::{Error, Row};

use super::fence::Fence;
use crate::{
    room::Timestamp,
    store::{
        cluster_store::Away,
        damage::ReadError,
        postgres::{
            schema::PostgresError,
            session::{Session, column, is_refusal},
        },
        shard::{NodeId, Ownership, Shard},
    },
};

/// Locked in their order, so that of several takers one gets all.
const TAKE_ALL: &str = "WITH free AS (SELECT id FROM shard WHERE node IS NULL \
        AND NOT EXISTS (SELECT FROM shard WHERE node <> $1) ORDER BY id FOR UPDATE) \
    UPDATE shard SET node = $1, version = version + 1, changed = now() FROM free WHERE shard.id = free.id";

/// Takes the free shards for a node, unless another one has some. Returns whether it has all: not while another node takes
/// them.
pub(super) async fn take_all(session: &Session, node: i64) -> Result<bool, Error> {
    match session.execute(TAKE_ALL, &[&node]).await {
        Err(error) if is_refusal(&error) => return Ok(false),
        taken => taken?,
    };
    let row = session.row("SELECT count(*) FROM shard WHERE node = $1", &[&node]).await?;
    Ok(row.is_some_and(|row| row.get::<_, i64>(0) == i64::from(Shard::COUNT)))
}

/// Those that another node takes are passed over. None while a node has shards that shares them with nobody.
const TAKE: &str = "WITH free AS (SELECT id FROM shard WHERE node IS NULL AND NOT EXISTS \
            (SELECT FROM node JOIN shard ON shard.node = node.id WHERE node.address IS NULL) \
        ORDER BY id LIMIT (SELECT greatest($2 - count(*), 0) FROM shard WHERE node = $1) FOR UPDATE SKIP LOCKED) \
    UPDATE shard SET node = $1, version = version + 1, changed = now() FROM free WHERE shard.id = free.id \
    RETURNING shard.id, (extract(epoch FROM now()) * 1000000)::bigint - away_us";

/// Takes free shards for a node that shares them, until it has its `share`. Returns them, and how long nobody had those
/// whose clocks may have to be credited.
pub(super) async fn take(
    session: &Session,
    node: i64,
    share: usize,
) -> Result<BTreeMap<Shard, Option<Away>>, PostgresError> {
    let now = Instant::now();
    let rows = session.query(TAKE, &[&node, &i64::try_from(share).unwrap_or(i64::MAX)]).await?;
    let mut taken = BTreeMap::new();
    for row in &rows {
        let time = row.try_get::<_, Option<i64>>(1)?.map(|micros| Duration::from_micros(micros.max(0).unsigned_abs()));
        taken.insert(shard(row.try_get(0)?)?, time.map(|time| Away { time, taken: now }));
    }
    Ok(taken)
}

/// The owners of shards that have changed within the time in which a change may have been committed, or of all.
pub(super) async fn owners(session: &Session, all: bool) -> Result<Vec<(Shard, Option<Ownership>)>, PostgresError> {
    let sql = "SELECT id, node, version FROM shard WHERE $1 OR changed > now() - interval '10 s'";
    let rows = session.query(sql, &[&all]).await?;
    let read = |row: &Row| -> Result<_, PostgresError> {
        let (shard, version) = (shard(row.try_get(0)?)?, row.try_get::<_, i64>(2)?.unsigned_abs());
        let node = row.try_get::<_, Option<i64>>(1)?.map(NodeId);
        Ok((shard, node.map(|node| Ownership { shard, node, version })))
    };
    rows.iter().map(read).collect()
}

fn shard(id: i32) -> Result<Shard, PostgresError> {
    let shard = u16::try_from(id).ok().and_then(Shard::new);
    shard.ok_or_else(|| PostgresError::Database(format!("there is no shard {id}")))
}

/// Forgets since when nobody had these shards of a node.
pub(in crate::store::postgres) async fn note_credited(
    session: &Session,
    fence: Fence,
    shards: &[Shard],
) -> Result<(), Error> {
    let sql = "UPDATE shard SET away_us = NULL WHERE node = $1 AND id = ANY($2)";
    session.execute(sql, &[&fence.node, &ids(shards)]).await.map(drop)
}

/// Frees shards of a node. What has still to be credited stays so.
pub(in crate::store::postgres) async fn free(session: &Session, fence: Fence, shards: &[Shard]) -> Result<(), Error> {
    let sql = "UPDATE shard SET node = NULL, changed = now(), \
        away_us = coalesce(away_us, (extract(epoch FROM now()) * 1000000)::bigint) \
        WHERE node = $1 AND id = ANY($2)";
    session.execute(sql, &[&fence.node, &ids(shards)]).await.map(drop)
}

fn ids(shards: &[Shard]) -> Vec<i32> {
    shards.iter().map(|shard| shard.number().into()).collect()
}

const LAST_ALIVE: &str = "SELECT coalesce((SELECT min(away_us) FROM shard WHERE node = $1), \
    (SELECT alive_us FROM fence WHERE node = $1)) AS alive_us";

/// The last moment at which a node is known to have had the shards that this one has now.
pub(in crate::store::postgres) async fn last_alive(
    session: &Session,
    node: i64,
) -> Result<Option<Timestamp>, ReadError> {
    let row = session.row(LAST_ALIVE, &[&node]).await?.ok_or("no answer")?;
    Ok(column::<Option<i64>>(&row, "alive_us")?.map(Timestamp))
}
