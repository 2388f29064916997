//! Which node has which shards. Only that node writes to their rooms.

use std::time::Duration;

use reversi_room::Timestamp;
use tokio_postgres::{Error, Row};

use super::fence::Fence;
use crate::{
    damage::ReadError,
    postgres::{
        error::{PostgresError, is_refusal},
        session::{Session, column},
    },
    shard::{Assignment, NodeId, Shard},
};

/// Locked in the order of their ids, so that of several takers one gets all.
const TAKE_ALL: &str = "WITH free AS (SELECT id FROM shard WHERE node IS NULL \
        AND NOT EXISTS (SELECT FROM shard WHERE node <> $1) ORDER BY id FOR UPDATE) \
    UPDATE shard SET node = $1, version = version + 1, changed = now() FROM free WHERE shard.id = free.id";

/// A part of the shards, left when a node that shares them took the others at the same time.
const GIVE_BACK: &str = "UPDATE shard SET node = NULL, changed = now() WHERE node = $1";

/// Takes the free shards for a node, unless another node has some. Returns true if the node has all shards; false also
/// while another node takes them. A part of them is given back: while this node has some, nodes that
/// share the shards take none.
pub(super) async fn take_all(session: &Session, node: i64) -> Result<bool, Error> {
    match session.execute(TAKE_ALL, &[&node]).await {
        Err(error) if is_refusal(&error) => return Ok(false),
        taken => taken?,
    };
    let count = count(session, node).await?;
    if (1..i64::from(Shard::COUNT)).contains(&count) {
        session.execute(GIVE_BACK, &[&node]).await?;
    }
    Ok(count == i64::from(Shard::COUNT))
}

/// The number of shards of a node.
pub(super) async fn count(session: &Session, node: i64) -> Result<i64, Error> {
    let row = session.row("SELECT count(*) FROM shard WHERE node = $1", &[&node]).await?;
    row.map_or(Ok(0), |row| row.try_get(0))
}

/// Passes over shards that another node is taking. Takes none while a node without an address has shards.
const TAKE: &str = "WITH free AS (SELECT id FROM shard WHERE node IS NULL AND NOT EXISTS \
            (SELECT FROM node JOIN shard ON shard.node = node.id WHERE node.address IS NULL) \
        ORDER BY id LIMIT (SELECT greatest($2 - count(*), 0) FROM shard WHERE node = $1) FOR UPDATE SKIP LOCKED) \
    UPDATE shard SET node = $1, version = version + 1, changed = now() FROM free WHERE shard.id = free.id";

/// Takes free shards for a node that shares them, until it has its `share`.
pub(super) async fn take(session: &Session, node: i64, share: usize) -> Result<(), Error> {
    session.execute(TAKE, &[&node, &i64::try_from(share).unwrap_or(i64::MAX)]).await.map(drop)
}

/// Within this time a change is committed and read by all nodes.
pub(super) const CHANGES: Duration = Duration::from_secs(10);

/// A shard as stored.
pub(super) struct ShardRow {
    pub(super) shard: Shard,
    node: Option<NodeId>,
    version: u64,
    /// When it got this owner, in seconds by the clock of the database.
    pub(super) changed: f64,
    /// For a shard of the asking node whose clocks may have to be credited: since when, by the clock of its last node.
    pub(super) away_since: Option<Timestamp>,
}

impl ShardRow {
    /// Its owner, if it has one.
    pub(super) fn owner(&self) -> Option<Assignment> {
        self.node.map(|node| Assignment { shard: self.shard, node, version: self.version })
    }

    /// True if the row was written before an assignment that is known: the database has lost that one. A shard without
    /// an owner has the version of its last one.
    pub(super) fn is_before(&self, known: &Assignment) -> bool {
        self.version < known.version
            || self.version == known.version && self.node.is_some_and(|node| node != known.node)
    }
}

const OWNERS: &str = "SELECT id, node, version, extract(epoch FROM changed)::float8 AS changed, \
    CASE WHEN node = $1 THEN away_us END AS away_us FROM shard WHERE $2 OR changed > now() - make_interval(secs => $3)";

/// The shards that have changed within [`CHANGES`], or all.
pub(super) async fn assignments(session: &Session, node: i64, all: bool) -> Result<Vec<ShardRow>, PostgresError> {
    let rows = session.query(OWNERS, &[&node, &all, &CHANGES.as_secs_f64()]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<ShardRow, PostgresError> {
    let (id, version): (i32, i64) = (row.try_get("id")?, row.try_get("version")?);
    let shard = u16::try_from(id).ok().and_then(Shard::new);
    let shard = shard.ok_or_else(|| PostgresError::Database(format!("there is no shard {id}")))?;
    Ok(ShardRow {
        shard,
        node: row.try_get::<_, Option<i64>>("node")?.map(NodeId),
        version: version.unsigned_abs(),
        changed: row.try_get("changed")?,
        away_since: row.try_get::<_, Option<i64>>("away_us")?.map(Timestamp),
    })
}

/// Of several nodes that find the loss, one raises a version: far beyond any that others may know.
const RAISE: &str = "UPDATE shard SET version = a.version + 1000, changed = now(), away_us = coalesce(away_us, $4) \
    FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (id, version, node) \
    WHERE shard.id = a.id AND (shard.version < a.version OR shard.version = a.version AND shard.node <> a.node)";

/// Gives shards, of which the database has lost these assignments, versions above them. Their clocks may have to be
/// credited since the database was lost.
pub(super) async fn raise_versions(
    session: &Session,
    lost: &[Assignment],
    since: Option<Timestamp>,
) -> Result<(), Error> {
    let (ids, versions) = columns(lost);
    let nodes: Vec<_> = lost.iter().map(|lost| lost.node.0).collect();
    session.execute(RAISE, &[&ids, &versions, &nodes, &since.map(|since| since.0)]).await.map(drop)
}

/// Clears the marks of shards of a node, whose clocks are credited. Shards with a newer owner are left out.
pub(in crate::postgres) async fn note_credited(
    session: &Session,
    fence: Fence,
    shards: &[Assignment],
) -> Result<(), Error> {
    let sql = "UPDATE shard SET away_us = NULL FROM unnest($1::int[], $2::bigint[]) AS a (id, version) \
        WHERE shard.id = a.id AND shard.version = a.version AND shard.node = $3";
    let (ids, versions) = columns(shards);
    session.execute(sql, &[&ids, &versions, &fence.node]).await.map(drop)
}

/// Gives shards of a node, which were last served at `since`, to others. Shards with a newer owner are left out. Marks
/// that are not credited yet are kept. Fails if one of the others is gone.
pub(in crate::postgres) async fn hand_over(
    session: &Session,
    fence: Fence,
    shards: &[(Assignment, NodeId)],
    since: Timestamp,
) -> Result<(), Error> {
    let sql = "UPDATE shard SET node = a.next, version = shard.version + 1, changed = now(), \
            away_us = coalesce(away_us, $5) \
        FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (id, version, next) \
        WHERE shard.id = a.id AND shard.version = a.version AND shard.node = $4";
    let (owned, next): (Vec<_>, Vec<_>) = shards.iter().map(|(owned, next)| (*owned, next.0)).unzip();
    let (ids, versions) = columns(&owned);
    session.execute(sql, &[&ids, &versions, &next, &fence.node, &since.0]).await.map(drop)
}

fn columns(shards: &[Assignment]) -> (Vec<i32>, Vec<i64>) {
    shards.iter().map(|owned| (i32::from(owned.shard.number()), owned.version.cast_signed())).unzip()
}

const LAST_ALIVE: &str = "SELECT coalesce((SELECT min(away_us) FROM shard WHERE node = $1), \
    (SELECT alive_us FROM fence WHERE node = $1)) AS alive_us";

/// When the shards of a node were last known to be served: the earliest mark of these, or else of the node itself.
pub(in crate::postgres) async fn last_alive(session: &Session, node: i64) -> Result<Option<Timestamp>, ReadError> {
    let row = session.row(LAST_ALIVE, &[&node]).await?.ok_or("no answer")?;
    Ok(column::<Option<i64>>(&row, "alive_us")?.map(Timestamp))
}
