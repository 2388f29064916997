//! The nodes of a database, as read by a process that is none of them.

use std::time::Duration;

use tokio_postgres::Row;

use super::{
    error::PostgresError,
    schema,
    session::{self, Session},
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
    /// Number of shards that it has.
    pub shards: u64,
    /// Number of open rooms in these shards.
    pub rooms: u64,
}

/// Rooms are counted by the index, a shard at a time.
const NODES: &str = "SELECT node.id, host, listens, address, draining, shards, rooms, \
        (extract(epoch FROM greatest(now() - renewed, interval '0')) * 1000000)::bigint AS renewed_us \
    FROM node CROSS JOIN LATERAL (SELECT count(*) AS shards, coalesce(sum(( \
            SELECT count(*) FROM room WHERE id >= shard.id::bigint << 48 AND id < (shard.id + 1)::bigint << 48 \
        )), 0)::bigint AS rooms FROM shard WHERE shard.node = node.id) AS held \
    ORDER BY node.id";

impl NodeTable {
    /// Connects to the database at `url`, which must have tables that this program knows.
    ///
    /// # Errors
    /// When the database cannot be reached or used, or is not set up.
    pub async fn open(url: &str, patience: Duration) -> Result<Self, PostgresError> {
        let session = Session::open(&session::parse(url, patience)?).await?;
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
    let count = |column| row.try_get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(NodeRow {
        id: NodeId(row.try_get("id")?),
        host: row.try_get("host")?,
        listens: row.try_get("listens")?,
        address: row.try_get("address")?,
        is_draining: row.try_get("draining")?,
        renewed: Duration::from_micros(count("renewed_us")?),
        shards: count("shards")?,
        rooms: count("rooms")?,
    })
}
