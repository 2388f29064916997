//! Which node has which shards. Only it writes to their rooms.

use tokio_postgres::Error;

use crate::{
    room::Timestamp,
    store::{
        damage::ReadError,
        postgres::session::{Session, column, is_refusal},
    },
};

/// The number of shards.
pub(super) const SHARDS: u32 = 4_096;

/// Locked in their order, so that of several takers one gets all.
const TAKE: &str = "WITH free AS (SELECT id FROM shard WHERE node IS NULL ORDER BY id FOR UPDATE) \
    UPDATE shard SET node = $1 FROM free WHERE shard.id = free.id";

/// Takes the free shards for a node. Returns whether it has all: not while another node takes them.
pub(super) async fn take(session: &Session, node: i64) -> Result<bool, Error> {
    match session.execute(TAKE, &[&node]).await {
        Err(error) if is_refusal(&error) => return Ok(false),
        taken => taken?,
    };
    let row = session.row("SELECT count(*) FROM shard WHERE node = $1", &[&node]).await?;
    Ok(row.is_some_and(|row| row.get::<_, i64>(0) == i64::from(SHARDS)))
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
