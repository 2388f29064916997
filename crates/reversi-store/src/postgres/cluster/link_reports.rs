//! What the nodes say of the links between them and of themselves. For the rule of [`crate::quorum`], and for people.

use std::{collections::BTreeSet, time::Duration};

use tokio_postgres::{Error, Row};

use crate::{postgres::session::Session, quorum::Unreached, shard::NodeId};

/// What a node says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// True if it may have rooms and serves clients.
    pub(super) is_serving: bool,
    /// Its clock minus the database's in microseconds; none if that is unknown.
    pub(super) ahead: Option<i64>,
}

/// What a node says.
pub(super) struct Report {
    pub(super) node: NodeId,
    pub(super) status: Status,
    pub(super) unreached: Vec<Unreached>,
}

const REPORT_UNREACHED: &str = "WITH reached AS (DELETE FROM node_unreached WHERE node = $1 AND peer <> ALL ($2)) \
    INSERT INTO node_unreached (node, peer, since) \
    SELECT node.id, peer, now() FROM node, unnest($2::bigint[]) AS peer WHERE node.id = $1 \
    ON CONFLICT (node, peer) DO UPDATE SET since = now() WHERE node_unreached.since > now()";

/// Stores which other nodes a node does not reach. Those that it did not reach before keep their
/// time, unless it is in the future since the database's clock was set back.
pub(super) async fn report_unreached(session: &Session, node: i64, unreached: &BTreeSet<NodeId>) -> Result<(), Error> {
    let peers: Vec<i64> = unreached.iter().map(|peer| peer.0).collect();
    session.execute(REPORT_UNREACHED, &[&node, &peers]).await.map(drop)
}

const REPORT_STATUS: &str = "INSERT INTO node_status (node, version, serving, ahead_us) \
    SELECT id, $2, $3, $4 FROM node WHERE id = $1 \
    ON CONFLICT (node) DO UPDATE SET serving = excluded.serving, ahead_us = excluded.ahead_us";

/// Stores what a node says of itself, and the version of its program.
pub(super) async fn report_status(session: &Session, node: i64, status: Status) -> Result<(), Error> {
    let Status { is_serving, ahead } = status;
    session.execute(REPORT_STATUS, &[&node, &env!("CARGO_PKG_VERSION"), &is_serving, &ahead]).await.map(drop)
}

const REPORTS: &str = "SELECT node, serving, ahead_us, \
        array(SELECT peer FROM node_unreached AS u WHERE u.node = node_status.node ORDER BY peer) AS peers, \
        array(SELECT (extract(epoch FROM now() - since) * 1000000)::bigint \
            FROM node_unreached AS u WHERE u.node = node_status.node ORDER BY peer) AS times_us \
    FROM node_status WHERE node IN (SELECT id FROM node WHERE address IS NOT NULL)";

/// What the nodes that share the shards say.
pub(super) async fn reports(session: &Session) -> Result<Vec<Report>, Error> {
    session.query(REPORTS, &[]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Report, Error> {
    let node = NodeId(row.try_get("node")?);
    let status = Status { is_serving: row.try_get("serving")?, ahead: row.try_get("ahead_us")? };
    Ok(Report { node, status, unreached: unreached(row, node)? })
}

/// The nodes that a node does not reach, by the columns `peers` and `times_us`.
pub(in crate::postgres) fn unreached(row: &Row, node: NodeId) -> Result<Vec<Unreached>, Error> {
    let (peers, times): (Vec<i64>, Vec<i64>) = (row.try_get("peers")?, row.try_get("times_us")?);
    let unreached = |(peer, micros): (i64, i64)| {
        let time = Duration::from_micros(micros.max(0).unsigned_abs());
        Unreached { node, peer: NodeId(peer), time }
    };
    Ok(peers.into_iter().zip(times).map(unreached).collect())
}
