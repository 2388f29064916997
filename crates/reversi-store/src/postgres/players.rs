//! Players, by the hashes of their tokens, and bans.

use reversi_room::{DisplayName, EngineVersion, PlayerId, Profile, Timestamp, stored};
use tokio_postgres::{Error, Row};

use super::session::{Parameters, Session, column, readable};
use crate::{
    ban::{self, Ban},
    damage::{DamagedRows, ReadError},
    game_row::{self, player_kind_name},
    player_store::{PlayerKey, StoredPlayer},
};

/// Unless `$9` is false, inserts nothing if another player with a token has the name, and changes nothing of a player
/// who has another token or none: an earlier try may have been executed, and the player have changed since.
const PUT: &str = "INSERT INTO players (id, name, name_key, kind, seats, token, seen_us, claimed, availability, engine_version) \
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $10, $11 \
    WHERE NOT $9 OR NOT EXISTS (SELECT FROM players WHERE name_key = $3 AND token IS NOT NULL AND id <> $1) \
    ON CONFLICT (id) DO UPDATE SET token = $6, claimed = players.claimed OR $8 WHERE NOT $9 OR players.token = $6";

/// Of two nodes that give one name to two players at once, one is refused: a wait would hold up a batch of moves.
const LOCK_NAME: &str = "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()::text || '.name'), hashtext($1))";

/// Inserts a player who has just logged in. Returns 0 if another player with a token has the name.
pub(super) async fn put(session: &Session, player: &StoredPlayer) -> Result<usize, Error> {
    let is_free = session.row(LOCK_NAME, &[&player.profile.name.key()]).await?;
    if is_free.is_some_and(|row| row.get(0)) { insert(session, player, true).await } else { Ok(0) }
}

/// Also with the new token: the answer to an earlier try may have been lost.
const CHANGE: &str = "UPDATE players SET token = $2, claimed = claimed OR $3, \
    availability = CASE WHEN $5 THEN $6 ELSE availability END, \
    engine_version = CASE WHEN $7 THEN $8 ELSE engine_version END \
    WHERE id = $1 AND (token = $4 OR token = $2)";

/// Replaces what has changed of a player whose token is that of `before`: another node may have changed the rest. Returns
/// 1 if there is one, else 0.
pub(super) async fn change_account(
    session: &Session,
    player: &StoredPlayer,
    before: &StoredPlayer,
) -> Result<usize, Error> {
    let (id, new, old) = (player.profile.id.to_string(), &player.token[..], &before.token[..]);
    let (availability, engine) = settings(player);
    let accepts_others = player.availability != before.availability;
    let has_new_engine = player.profile.engine_version != before.profile.engine_version;
    let values: Parameters<'_> =
        &[&id, &new, &player.claimed, &old, &accepts_others, &availability, &has_new_engine, &engine];
    let changed = session.execute(CHANGE, values).await?;
    Ok(usize::from(changed > 0))
}

/// As [`put`], for a copy of another store, in which two players may have the same name.
pub(super) async fn restore(session: &Session, player: &StoredPlayer) -> Result<(), Error> {
    insert(session, player, false).await.map(drop)
}

/// The columns for the invitations that a player accepts, and for the version of its engine.
fn settings(player: &StoredPlayer) -> (Option<Vec<u8>>, Option<&str>) {
    let engine = player.profile.engine_version.as_ref().map(EngineVersion::as_str);
    (player.availability.as_ref().map(stored::encode_availability), engine)
}

async fn insert(session: &Session, player: &StoredPlayer, unique: bool) -> Result<usize, Error> {
    let StoredPlayer { profile, seats, token, seen, claimed, .. } = player;
    let (id, kind) = (profile.id.to_string(), player_kind_name(profile.kind));
    let (name, key, seats) = (profile.name.as_str(), profile.name.key(), i32::from(*seats));
    let (availability, engine) = settings(player);
    let values: Parameters<'_> =
        &[&id, &name, &key, &kind, &seats, &&token[..], &seen.0, claimed, &unique, &availability, &engine];
    let put = session.execute(PUT, values).await?;
    Ok(usize::from(put > 0))
}

const NOTE: &str = "INSERT INTO players (id, name, name_key, kind, seats, seen_us, claimed) \
    SELECT id, name, key, kind, 0, seen, false \
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) AS a (id, name, key, kind, seen) \
    ON CONFLICT DO NOTHING";

/// Keeps the names of players who have logged out, with when they were last seen.
pub(super) async fn note_former(session: &Session, former: &[(&Profile, Timestamp)]) -> Result<(), Error> {
    let ids: Vec<_> = former.iter().map(|(profile, _)| profile.id.to_string()).collect();
    let names: Vec<_> = former.iter().map(|(profile, _)| profile.name.as_str()).collect();
    let keys: Vec<_> = former.iter().map(|(profile, _)| profile.name.key()).collect();
    let kinds: Vec<_> = former.iter().map(|(profile, _)| player_kind_name(profile.kind)).collect();
    let seen: Vec<_> = former.iter().map(|(_, seen)| seen.0).collect();
    session.execute(NOTE, &[&ids, &names, &keys, &kinds, &seen]).await.map(drop)
}

/// A player with a token.
pub(super) async fn find(session: &Session, player: PlayerKey) -> Result<Option<StoredPlayer>, ReadError> {
    let by_id = "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
        WHERE id = $1 AND token IS NOT NULL";
    let by_token = "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
        WHERE token = $1";
    let row = match player {
        PlayerKey::Id(id) => session.row(by_id, &[&id.to_string()]).await?,
        PlayerKey::Token(token) => session.row(by_token, &[&&token[..]]).await?,
    };
    row.as_ref().map(read).transpose()
}

/// The players with these ids and a token. Damaged rows are passed over.
pub(super) async fn find_all(
    session: &Session,
    damaged: &DamagedRows,
    players: &[PlayerId],
) -> Result<Vec<StoredPlayer>, ReadError> {
    let sql = "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
        WHERE id = ANY($1) AND token IS NOT NULL";
    let ids: Vec<_> = players.iter().map(PlayerId::to_string).collect();
    let rows = session.query(sql, &[&ids]).await?;
    Ok(rows.iter().filter_map(|row| readable(damaged, "players", row, read(row))).collect())
}

pub(super) async fn profile(session: &Session, player: PlayerId) -> Result<Option<Profile>, ReadError> {
    let row =
        session.row("SELECT id, name, kind, engine_version FROM players WHERE id = $1", &[&player.to_string()]).await?;
    row.as_ref().map(read_profile).transpose()
}

/// At most `limit` players with a name, the last seen first. Damaged rows are passed over.
pub(super) async fn named(
    session: &Session,
    damaged: &DamagedRows,
    name: &DisplayName,
    limit: usize,
) -> Result<Vec<Profile>, ReadError> {
    let sql =
        "SELECT id, name, kind, engine_version FROM players WHERE name_key = $1 ORDER BY seen_us DESC, id LIMIT $2";
    let rows = session.query(sql, &[&name.key(), &i64::try_from(limit)?]).await?;
    Ok(rows.iter().filter_map(|row| readable(damaged, "players", row, read_profile(row))).collect())
}

/// The columns `id`, `name`, `kind` and `engine_version`.
pub(super) fn read_profile(row: &Row) -> Result<Profile, ReadError> {
    game_row::profile(column(row, "id")?, column(row, "name")?, column(row, "kind")?, column(row, "engine_version")?)
}

/// Removes a player. With games or results the row stays, without a token.
pub(super) async fn remove(session: &Session, player: PlayerId) -> Result<(), Error> {
    let player = player.to_string();
    let sql = "DELETE FROM players WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM played WHERE contestant = $1) \
        AND NOT EXISTS (SELECT 1 FROM standings WHERE contestant = $1)";
    session.execute(sql, &[&player]).await?;
    session.execute("UPDATE players SET token = NULL WHERE id = $1", &[&player]).await.map(drop)
}

const IDLE: &str = "SELECT id, seen_us FROM players WHERE token IS NOT NULL AND NOT claimed AND seen_us < $1 \
    UNION ALL SELECT id, seen_us FROM players WHERE token IS NOT NULL AND claimed AND seen_us < $2 LIMIT $3";

/// Players whose rows are damaged are left out.
pub(super) async fn idle(
    session: &Session,
    others: Timestamp,
    claimed: Timestamp,
    limit: usize,
) -> Result<Vec<(PlayerId, Timestamp)>, ReadError> {
    let rows = session.query(IDLE, &[&others.0, &claimed.0, &i64::try_from(limit)?]).await?;
    let read =
        |row: &Row| Some((column::<&str>(row, "id").ok()?.parse().ok()?, Timestamp(column(row, "seen_us").ok()?)));
    Ok(rows.iter().filter_map(read).collect())
}

/// Removes a player, unless seen after `seen`. Returns 1 if it was removed, else 0.
pub(super) async fn remove_idle(session: &Session, player: PlayerId, seen: Timestamp) -> Result<usize, Error> {
    let sql = "SELECT FROM players WHERE id = $1 AND token IS NOT NULL AND seen_us <= $2 FOR UPDATE SKIP LOCKED";
    if session.row(sql, &[&player.to_string(), &seen.0]).await?.is_none() {
        return Ok(0);
    }
    remove(session, player).await.map(|()| 1)
}

/// A player whom another node records at the same time is passed over: a batch of moves would wait.
const RECORD_SEEN: &str = "WITH a AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS a (id, seen)), \
    late AS (SELECT players.id, seen FROM players JOIN a USING (id) WHERE seen_us < seen FOR UPDATE OF players SKIP LOCKED) \
    UPDATE players SET seen_us = late.seen FROM late WHERE players.id = late.id";

pub(super) async fn record_seen(session: &Session, seen: &[(PlayerId, Timestamp)]) -> Result<(), Error> {
    let (ids, times): (Vec<_>, Vec<_>) = seen.iter().map(|(player, seen)| (player.to_string(), seen.0)).unzip();
    session.execute(RECORD_SEEN, &[&ids, &times]).await.map(drop)
}

/// The players with a token. Damaged rows are passed over.
pub(super) async fn all(session: &Session, damaged: &DamagedRows) -> Result<Vec<StoredPlayer>, ReadError> {
    let sql = "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
        WHERE token IS NOT NULL ORDER BY id";
    let rows = session.query(sql, &[]).await?;
    Ok(rows.iter().filter_map(|row| readable(damaged, "players", row, read(row))).collect())
}

/// Damaged rows are passed over.
pub(super) async fn bans(session: &Session, damaged: &DamagedRows) -> Result<Vec<Ban>, ReadError> {
    let rows = session.query("SELECT * FROM bans", &[]).await?;
    let read = |row| {
        ban::read(column(row, "subject")?, column(row, "reason")?, column(row, "since_us")?, column(row, "until_us")?)
    };
    Ok(rows.iter().filter_map(|row| readable(damaged, "bans", row, read(row))).collect())
}

/// Also removes the bans that have ended.
pub(super) async fn put_ban(session: &Session, ban: &Ban, now: Timestamp) -> Result<(), Error> {
    let sql = "INSERT INTO bans (subject, reason, since_us, until_us) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (subject) DO UPDATE SET reason = $2, since_us = $3, until_us = $4";
    let (subject, until) = (ban.subject.to_string(), ban.until.map(|until| until.0));
    session.execute(sql, &[&subject, &ban.reason(), &ban.since.0, &until]).await?;
    session.execute("DELETE FROM bans WHERE until_us <= $1", &[&now.0]).await.map(drop)
}

/// A player with a token.
fn read(row: &Row) -> Result<StoredPlayer, ReadError> {
    Ok(StoredPlayer {
        profile: read_profile(row)?,
        seats: column::<i32>(row, "seats")?.try_into()?,
        token: column::<&[u8]>(row, "token")?.try_into()?,
        seen: Timestamp(column(row, "seen_us")?),
        claimed: column(row, "claimed")?,
        // Damaged, it counts as not set: it must not cost the player the account.
        availability: column::<Option<&[u8]>>(row, "availability")?
            .and_then(|bytes| stored::decode_availability(bytes).ok()),
        played: column(row, "played")?,
    })
}
