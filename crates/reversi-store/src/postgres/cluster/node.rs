//! The nodes of a database, their leases, and their deaths.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, SystemTime},
};

use reversi_room::Timestamp;
use tokio::time::Instant;
use tokio_postgres::{Error, Row};

use crate::{
    cluster_store::NodeInfo,
    postgres::{
        error::{PostgresError, is_refusal},
        session::Session,
    },
    quorum::QuorumNode,
    shard::NodeId,
};

/// A node that was not seen to renew its lease for this time, and whose connection has ended, counts as dead before its
/// lease ends. It was last renewed up to a beat before that was seen.
const SILENCE: Duration = Duration::from_millis(1_250);

const JOIN: &str = "WITH me AS (INSERT INTO node (host, listens, address, role, renewed, until, since) \
    VALUES (coalesce(host(inet_client_addr()), ''), $1, $2, 'rooms', now(), now(), now()) RETURNING id) \
    INSERT INTO fence (node, session, alive_us, alive_at) SELECT id, 0, $3, now() FROM me RETURNING node";

/// Inserts a node, whose lease begins with the first renewal. Returns its id.
pub(super) async fn join(session: &Session, info: &NodeInfo) -> Result<i64, PostgresError> {
    // The first mark, in case it ends before the next one. Without an address it would look like one of credited
    // clocks.
    let alive = info.clock.filter(|_| info.address.is_some()).map(|clock| clock().0);
    let row = session.row(JOIN, &[&info.listens, &info.address, &alive]).await?;
    Ok(row.ok_or_else(|| PostgresError::Database("a node could not be inserted".to_owned()))?.try_get(0)?)
}

/// Takes a node's advisory lock for as long as this connection lives. Returns false while another connection has it:
/// one of a node that tries it for a moment, or an earlier one whose end the database has not noticed.
pub(super) async fn lock(session: &Session, node: i64) -> Result<bool, Error> {
    let sql = "SELECT pg_try_advisory_lock(hashtextextended(current_schema()::text, $1))";
    session.row(sql, &[&node]).await?.map_or(Ok(false), |row| row.try_get(0))
}

/// Also counts as a pause that the database's clock was set back: other times than `since` may lie in the future, too.
const RENEW: &str = "UPDATE node SET renewed = now(), until = now() + make_interval(secs => $2), draining = draining OR $4, \
    since = CASE WHEN $3 OR renewed NOT BETWEEN now() - make_interval(secs => $2 / 2) AND now() THEN now() ELSE since END \
    WHERE id = $1 RETURNING since <= now() - make_interval(secs => $2) AS was_connected, draining, \
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us";

/// A renewal of a lease.
pub(super) struct Renewal {
    /// True if it was renewed over one connection for a whole lease, without a pause of half a lease: during a pause,
    /// the database may have been away for other nodes, too.
    pub(super) was_connected: bool,
    /// True if the node gives up its shards, by itself or because it was asked to.
    pub(super) is_draining: bool,
    /// The database's clock.
    pub(super) at: Timestamp,
}

/// Renews a lease. None when the node was declared dead.
pub(super) async fn renew(
    session: &Session,
    node: i64,
    lease: Duration,
    is_new_connection: bool,
    is_draining: bool,
) -> Result<Option<Renewal>, Error> {
    let row = session.row(RENEW, &[&node, &lease.as_secs_f64(), &is_new_connection, &is_draining]).await?;
    let read = |row: Row| {
        Ok(Renewal {
            was_connected: row.try_get("was_connected")?,
            is_draining: row.try_get("draining")?,
            at: Timestamp(row.try_get("now_us")?),
        })
    };
    row.map(read).transpose()
}

/// Another node as seen by this one.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) id: i64,
    host: String,
    listens: Option<String>,
    /// Where it serves other nodes; none if it does not.
    pub(super) address: Option<String>,
    /// True if it gives up its shards.
    is_draining: bool,
    renewed: SystemTime,
    /// The duration of its lease; zero before the first renewal.
    lease: Duration,
    signs: Signs,
    /// True if it has shards.
    pub(super) has_shards: bool,
}

/// What shows whether a node lives.
#[derive(Clone, Copy, Debug)]
struct Signs {
    /// Its lease has ended.
    is_late: bool,
    /// Its lease has not been renewed for [`SILENCE`].
    is_silent: bool,
    /// The connection that renews the lease has ended.
    is_disconnected: bool,
    /// It joined before the observer, with the same listening address.
    is_predecessor: bool,
}

impl Signs {
    /// True if the node is dead. An observer that was not itself connected for a whole lease cannot tell: the database
    /// may have been away. But of two nodes at one address the earlier is dead when its connection has ended. Only a
    /// new observer may conclude so: two nodes behind one pool have one address, and may lose connections later.
    fn is_death(self, was_connected: bool, is_new: bool) -> bool {
        let Self { is_late, is_silent, is_disconnected, is_predecessor } = self;
        let is_replaced = is_new && is_predecessor && is_disconnected;
        is_replaced || was_connected && (is_late || is_silent && is_disconnected)
    }
}

/// When an observer first saw the last renewal of each other node, by its own clock: that of the database may be set.
/// Of the first renewal that it sees only the database knows how long ago it was.
#[derive(Default)]
pub(super) struct SeenRenewals(BTreeMap<i64, (SystemTime, Instant)>);

impl SeenRenewals {
    /// For how long a node was not seen to renew its lease again.
    fn age(&mut self, node: i64, renewed: SystemTime, at_first: Duration, now: Instant) -> Duration {
        let seen = self.0.entry(node).or_insert_with(|| (renewed, now.checked_sub(at_first).unwrap_or(now)));
        if seen.0 != renewed {
            *seen = (renewed, now);
        }
        now.duration_since(seen.1)
    }

    /// The nodes that are silent if they have not renewed their leases since the last look.
    fn silent(&self, now: Instant) -> Vec<i64> {
        let silent = self.0.iter().filter(|(_, (_, seen))| now.duration_since(*seen) >= SILENCE);
        silent.map(|(node, _)| *node).collect()
    }
}

/// The advisory lock is tried last, and only for nodes that are silent or at this address.
const OTHERS: &str = "SELECT id, host, listens, address, draining, renewed, lease_us, age_us, is_predecessor, has_shards, \
    CASE WHEN id = ANY($2) OR is_predecessor \
    THEN pg_try_advisory_xact_lock(hashtextextended(current_schema()::text, id)) ELSE false END AS is_disconnected \
    FROM (SELECT node.*, (extract(epoch FROM node.until - node.renewed) * 1000000)::bigint AS lease_us, \
        (extract(epoch FROM now() - node.renewed) * 1000000)::bigint AS age_us, \
        coalesce(node.id < me.id AND node.host = me.host AND node.listens = me.listens, false) AS is_predecessor, \
        EXISTS (SELECT FROM shard WHERE shard.node = node.id) AS has_shards \
        FROM node, node AS me WHERE me.id = $1 AND node.id <> $1 OFFSET 0) AS other ORDER BY id";

/// The other nodes, by the renewals of which this one has `seen` the last.
pub(super) async fn others(session: &Session, me: i64, seen: &mut SeenRenewals) -> Result<Vec<Other>, PostgresError> {
    let rows = session.query(OTHERS, &[&me, &seen.silent(Instant::now())]).await?;
    let now = Instant::now();
    let others: Vec<_> = rows.iter().map(|row| read(row, seen, now)).collect::<Result<_, _>>()?;
    seen.0.retain(|node, _| others.iter().any(|other| other.id == *node));
    Ok(others)
}

fn read(row: &Row, seen: &mut SeenRenewals, now: Instant) -> Result<Other, PostgresError> {
    let (id, renewed) = (row.try_get("id")?, row.try_get("renewed")?);
    let time = |column| row.try_get::<_, i64>(column).map(|micros| Duration::from_micros(micros.max(0).unsigned_abs()));
    let (lease, age) = (time("lease_us")?, seen.age(id, renewed, time("age_us")?, now));
    Ok(Other {
        id,
        host: row.try_get("host")?,
        listens: row.try_get("listens")?,
        address: row.try_get("address")?,
        is_draining: row.try_get("draining")?,
        renewed,
        lease,
        signs: Signs {
            is_late: age >= lease,
            is_silent: age >= SILENCE,
            is_disconnected: row.try_get("is_disconnected")?,
            is_predecessor: row.try_get("is_predecessor")?,
        },
        has_shards: row.try_get("has_shards")?,
    })
}

impl Other {
    /// True if it is dead, for an observer that was connected for a whole lease or not, and has just joined or not.
    pub(super) fn is_dead(&self, was_connected: bool, is_new: bool) -> bool {
        self.signs.is_death(was_connected, is_new)
    }

    /// True if it renews its lease.
    pub(super) fn is_living(&self) -> bool {
        !self.signs.is_late && !self.signs.is_silent
    }

    /// True if it is a server that takes the shards of others whose leases end.
    pub(super) fn may_take_over(&self) -> bool {
        self.listens.is_some() && !self.signs.is_late && !self.is_draining
    }

    /// It as it counts for a quorum; none if it serves no others, or its lease has ended.
    pub(super) fn in_quorum(&self) -> Option<QuorumNode> {
        (self.address.is_some() && !self.signs.is_late)
            .then_some(QuorumNode { id: NodeId(self.id), is_silent: self.signs.is_silent })
    }

    /// True if it takes free shards, and has a share.
    pub(super) fn takes_shards(&self) -> bool {
        self.address.is_some() && !self.signs.is_late && !self.is_draining
    }

    /// True if it is silent, and takes shards once it is heard again.
    pub(super) fn may_return(&self) -> bool {
        self.address.is_some() && !self.is_draining && !self.is_living()
    }

    /// True if it is a server that has renewed its lease, so that its options are known.
    fn has_known_options(&self) -> bool {
        self.listens.is_some() && !self.lease.is_zero()
    }

    /// The node's address, in words for people.
    pub(super) fn place(&self) -> String {
        let what = self.listens.as_ref().map_or_else(|| "a command".to_owned(), |at| format!("the server at {at}"));
        if self.host.is_empty() { what } else { format!("{what} on {}", self.host) }
    }
}

/// Waits for a write of the node in progress. A shard keeps the mark `away_us` of an earlier owner that is not credited
/// yet. Otherwise its mark is the node's last one, by the node's clock, plus the time from then to its last renewal.
/// That is at most the interval of marks: the database's clock may have been set, or the node may have renewed its
/// lease without being able to write; a node that leaves knows since when, `$3`. A node of an earlier version that
/// shares the shards makes no marks: its last renewal shows when it lived.
const REMOVE: &str = "WITH gone AS (DELETE FROM node WHERE id = $1 AND ($2::timestamptz IS NULL OR renewed = $2) \
    RETURNING id, renewed, address), \
    fenced AS (DELETE FROM fence USING gone WHERE fence.node = gone.id RETURNING fence.node, \
        coalesce(greatest(alive_us, least($3, alive_us + (extract(epoch FROM \
                least(greatest(renewed, alive_at) - alive_at, interval '5 s')) * 1000000)::bigint)), \
            CASE WHEN address IS NOT NULL THEN (extract(epoch FROM renewed) * 1000000)::bigint END) AS away_us), \
    freed AS (UPDATE shard SET node = NULL, away_us = coalesce(shard.away_us, fenced.away_us) \
        FROM fenced WHERE shard.node = fenced.node) \
    SELECT id FROM gone";

/// Ends the process of the database that writes for a node. The application's name is checked, since the process may
/// have ended, and its id may be another's.
const END_WRITER: &str = "SELECT pg_terminate_backend(pid) FROM fence JOIN pg_stat_activity ON pid = backend \
    WHERE node = $1 AND application_name = current_setting('application_name')";

/// Declares a node dead, unless it has renewed its lease meanwhile: it can no longer write, and its shards are free.
/// Returns true if this call did it. A write in progress that holds the fence for longer than `lock_timeout` is ended,
/// as its node may no longer read the answer; the next call finds the fence free.
pub(super) async fn declare_dead(session: &Session, other: &Other) -> Result<bool, Error> {
    match session.row(REMOVE, &[&other.id, &Some(other.renewed), &None::<i64>]).await {
        Err(error) if is_refusal(&error) => {
            session.execute(END_WRITER, &[&other.id]).await?;
            Ok(false)
        }
        removed => Ok(removed?.is_some()),
    }
}

/// Ends a node that will not write any more, and could not since `unwritable_since` by its clock.
pub(super) async fn leave(session: &Session, node: i64, unwritable_since: Option<Timestamp>) -> Result<(), Error> {
    let since = unwritable_since.map(|since| since.0);
    let left = session.execute(REMOVE, &[&node, &None::<SystemTime>, &since]).await;
    if left.as_ref().is_err_and(is_refusal) {
        // The next call finds the fence free.
        session.execute(END_WRITER, &[&node]).await?;
    }
    left.map(drop)
}

/// Warns once of each other server that does not have the options of this one.
pub(super) fn warn_of_options(info: &NodeInfo, lease: Duration, others: &[Other], compared: &mut BTreeSet<i64>) {
    compared.retain(|id| others.iter().any(|other| other.id == *id));
    for other in others.iter().filter(|other| info.listens.is_some() && other.has_known_options()) {
        if !compared.insert(other.id) {
            continue;
        }
        let (node, place) = (other.id, other.place());
        if other.lease != lease {
            let [here, there] = [lease, other.lease].map(|lease| lease.as_secs_f64());
            tracing::warn!(node, here, there, "{place} has another --lease; give all servers the same");
        }
        match (&info.address, &other.address) {
            (None, Some(_)) => tracing::warn!(
                node,
                "this server has no --node-listen, and {place} has; give it to all, as only servers with it share the rooms"
            ),
            (Some(_), None) => tracing::warn!(
                node,
                "{place} has no --node-listen, and this server has; give it to all, as only servers with it share the rooms"
            ),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIVE: Signs = Signs { is_late: false, is_silent: false, is_disconnected: false, is_predecessor: false };

    #[test]
    fn a_renewal_counts_from_when_it_was_seen_whatever_its_time_is() {
        let (mut seen, start) = (SeenRenewals::default(), Instant::now());
        let mut age = |renewed: u64, passed: u64| {
            let renewed = SystemTime::UNIX_EPOCH + Duration::from_secs(renewed);
            seen.age(1, renewed, Duration::from_secs(3), start + Duration::from_secs(passed)).as_secs()
        };
        assert_eq!([age(500, 0), age(500, 2)], [3, 5], "it was old when it was first seen");
        assert_eq!([age(9_000, 2), age(9_000, 3)], [0, 1], "the clock was set forward");
        assert_eq!([age(10, 4), age(10, 5)], [0, 1], "and back");
        let silent = |passed| seen.silent(start + Duration::from_millis(passed));
        assert_eq!((silent(5_000), silent(5_250)), (vec![], vec![1]));
    }

    #[test]
    fn a_node_is_dead_when_its_lease_has_ended_or_it_is_silent_and_its_connection_has_ended() {
        let silent = Signs { is_silent: true, ..ALIVE };
        let is_death = |signs: Signs| signs.is_death(true, false);
        assert!(!is_death(ALIVE) && !is_death(silent), "it may be slow");
        assert!(!is_death(Signs { is_disconnected: true, ..ALIVE }), "it may connect again");
        assert!(is_death(Signs { is_disconnected: true, ..silent }));
        assert!(is_death(Signs { is_late: true, ..silent }));
    }

    #[test]
    fn a_node_that_was_not_connected_for_a_lease_declares_no_other_dead() {
        let dead = Signs { is_late: true, is_silent: true, is_disconnected: true, is_predecessor: false };
        assert!(dead.is_death(true, true) && !dead.is_death(false, true) && !dead.is_death(false, false));
    }

    #[test]
    fn of_two_nodes_at_one_address_the_earlier_has_ended_with_its_connection() {
        let earlier = Signs { is_predecessor: true, ..ALIVE };
        assert!(!earlier.is_death(false, true), "its connection may be about to end");
        let disconnected = Signs { is_disconnected: true, ..earlier };
        assert!(disconnected.is_death(false, true));
        assert!(!disconnected.is_death(false, false), "the connections of both may have been lost");
    }
}
