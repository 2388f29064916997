//! The nodes of a database, as read by a process that is none of them.

use std::time::Duration;

use tokio_postgres::Row;

use super::{
    cluster::link_reports::unreached,
    error::PostgresError,
    schema,
    session::{Config, Session, refuse_pooler},
};
use crate::shard::NodeId;

/// The table of nodes. It writes nothing but requests to end, and takes no part in the cluster.
pub struct NodeTable(Session);

/// A server or a command that uses the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// Its id.
    pub id: NodeId,
    /// The address from which it is connected; empty for a UNIX socket.
    pub host: String,
    /// Where it serves players; none for a command.
    pub listens: Option<String>,
    /// Where it serves other nodes; none if it does not share the rooms.
    pub address: Option<String>,
    /// True if it is ending, or was asked to.
    pub is_draining: bool,
    /// The time since its lease was renewed.
    pub renewed: Duration,
    /// What it says of itself, if it is a server.
    pub status: Option<NodeStatus>,
    /// Number of shards that it has.
    pub shards: u64,
    /// Number of open rooms in these shards.
    pub rooms: u64,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatus {
    /// The version of its program.
    pub version: String,
    /// True if it may have rooms and serves clients.
    pub is_serving: bool,
    /// Its clock minus the database's in microseconds, to a tenth of a second; none if it has not measured it.
    pub ahead: Option<i64>,
    /// The other nodes that it does not reach, and for how long; empty if it shares no rooms.
    pub unreached: Vec<(NodeId, Duration)>,
}

/// Rooms are counted by the index, a shard at a time.
const NODES: &str = "SELECT node.id, host, listens, address, draining, shards, rooms, version, serving, ahead_us, \
        array(SELECT peer FROM node_unreached AS u WHERE u.node = node.id ORDER BY peer) AS peers, \
        array(SELECT (extract(epoch FROM now() - since) * 1000000)::bigint \
            FROM node_unreached AS u WHERE u.node = node.id ORDER BY peer) AS times_us, \
        (extract(epoch FROM greatest(now() - renewed, interval '0')) * 1000000)::bigint AS renewed_us \
    FROM node LEFT JOIN node_status ON node_status.node = node.id CROSS JOIN LATERAL (SELECT count(*) AS shards, coalesce(sum(( \
            SELECT count(*) FROM room WHERE id >= shard.id::bigint << 48 AND id < (shard.id + 1)::bigint << 48 \
        )), 0)::bigint AS rooms FROM shard WHERE shard.node = node.id) AS held \
    ORDER BY node.id";

impl NodeTable {
    /// Connects to the database at `url`, which must have tables that this program knows.
    ///
    /// # Errors
    /// When the database cannot be reached or used, or is not set up.
    pub async fn open(url: &str, patience: Duration) -> Result<Self, PostgresError> {
        let config = Config::parse(url, patience)?;
        refuse_pooler(&config).await?;
        let session = Session::open(&config).await?;
        schema::require(&session).await?;
        Ok(Self(session))
    }

    /// All nodes, by ascending id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, PostgresError> {
        self.0.query(NODES, &[]).await?.iter().map(read).collect()
    }

    /// Asks a node that serves players to end. It reads this at its next beat, and so do the others, which then count
    /// it for no share. Returns false if there is no such node.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn ask_to_end(&self, node: NodeId) -> Result<bool, PostgresError> {
        let sql = "UPDATE node SET draining = true WHERE id = $1 AND listens IS NOT NULL";
        Ok(self.0.execute(sql, &[&node.0]).await? > 0)
    }
}

fn read(row: &Row) -> Result<NodeRow, PostgresError> {
    let id = NodeId(row.try_get("id")?);
    let count = |column| row.try_get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(NodeRow {
        id,
        host: row.try_get("host")?,
        listens: row.try_get("listens")?,
        address: row.try_get("address")?,
        is_draining: row.try_get("draining")?,
        renewed: Duration::from_micros(count("renewed_us")?),
        status: status(row, id)?,
        shards: count("shards")?,
        rooms: count("rooms")?,
    })
}

fn status(row: &Row, node: NodeId) -> Result<Option<NodeStatus>, PostgresError> {
    let Some(version) = row.try_get("version")? else { return Ok(None) };
    let unreached = unreached(row, node)?.into_iter().map(|unreached| (unreached.peer, unreached.time)).collect();
    Ok(Some(NodeStatus { version, is_serving: row.try_get("serving")?, ahead: row.try_get("ahead_us")?, unreached }))
}
