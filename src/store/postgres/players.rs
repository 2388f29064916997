//! Players, by the hashes of their tokens.

use tokio_postgres::{Error, Row};

use super::session::{Session, column, readable};
use crate::{
    room::{DisplayName, PlayerId, Profile, Timestamp},
    store::{
        damage::{DamagedRows, ReadError},
        game_row::{self, player_kind_name},
        player_store::{PlayerKey, SeenBefore, StoredPlayer},
    },
};

const PUT: &str = "INSERT INTO players (id, name, name_key, kind, seats, token, seen_us, claimed) \
    SELECT $1, $2, $3, $4, $5, $6, $7, $8 \
    WHERE NOT EXISTS (SELECT FROM players WHERE name_key = $3 AND token IS NOT NULL AND id <> $1) \
    ON CONFLICT (id) DO UPDATE SET token = $6, claimed = $8";

/// Of two nodes that give one name to two players, the second waits for the first.
const LOCK_NAME: &str = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema()::text || '.name.' || $1, 0))";

/// Inserts a player, or replaces its token and its claim. Counts none if another player with a token has the name.
pub(super) async fn put(session: &Session, player: &StoredPlayer) -> Result<usize, Error> {
    let StoredPlayer { profile, seats, token, seen, claimed, .. } = player;
    let (id, kind) = (profile.id.to_string(), player_kind_name(profile.kind));
    let (name, key) = (profile.name.as_str(), profile.name.key());
    session.row(LOCK_NAME, &[&key]).await?;
    let put =
        session.execute(PUT, &[&id, &name, &key, &kind, &i32::from(*seats), &&token[..], &seen.0, claimed]).await?;
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
    let row = session.row("SELECT id, name, kind FROM players WHERE id = $1", &[&player.to_string()]).await?;
    row.as_ref().map(read_profile).transpose()
}

/// At most `limit` players with a name, the last seen first. Damaged rows are passed over.
pub(super) async fn named(
    session: &Session,
    damaged: &DamagedRows,
    name: &DisplayName,
    limit: usize,
) -> Result<Vec<Profile>, ReadError> {
    let sql = "SELECT id, name, kind FROM players WHERE name_key = $1 ORDER BY seen_us DESC, id LIMIT $2";
    let rows = session.query(sql, &[&name.key(), &i64::try_from(limit)?]).await?;
    Ok(rows.iter().filter_map(|row| readable(damaged, "players", row, read_profile(row))).collect())
}

/// The columns `id`, `name` and `kind`.
pub(super) fn read_profile(row: &Row) -> Result<Profile, ReadError> {
    game_row::profile(column(row, "id")?, column(row, "name")?, column(row, "kind")?)
}

/// A player with games or results keeps its row, without a token.
pub(super) async fn remove(session: &Session, player: PlayerId) -> Result<(), Error> {
    let player = player.to_string();
    let sql = "DELETE FROM players WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM played WHERE contestant = $1) \
        AND NOT EXISTS (SELECT 1 FROM standings WHERE contestant = $1)";
    session.execute(sql, &[&player]).await?;
    session.execute("UPDATE players SET token = NULL WHERE id = $1", &[&player]).await.map(drop)
}

pub(super) async fn idle(session: &Session, before: SeenBefore, limit: usize) -> Result<Vec<PlayerId>, ReadError> {
    let sql = "SELECT id FROM players WHERE token IS NOT NULL AND seen_us < greatest($1::bigint, $2::bigint, $3::bigint) AND seen_us < CASE \
        WHEN claimed THEN $1 WHEN EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) THEN $2 ELSE $3 END \
        LIMIT $4";
    let SeenBefore { claimed, played, guests } = before;
    let rows = session.query(sql, &[&claimed.0, &played.0, &guests.0, &i64::try_from(limit)?]).await?;
    // A damaged row stays.
    Ok(rows.iter().filter_map(|row| column::<&str>(row, "id").ok()?.parse().ok()).collect())
}

pub(super) async fn record_seen(session: &Session, seen: &[(PlayerId, Timestamp)]) -> Result<(), Error> {
    let (ids, times): (Vec<_>, Vec<_>) = seen.iter().map(|(player, seen)| (player.to_string(), seen.0)).unzip();
    let sql = "UPDATE players SET seen_us = a.seen FROM unnest($1::text[], $2::bigint[]) AS a (id, seen) \
        WHERE players.id = a.id AND seen_us < a.seen";
    session.execute(sql, &[&ids, &times]).await.map(drop)
}

/// The players with a token. Damaged rows are passed over.
pub(super) async fn all(session: &Session, damaged: &DamagedRows) -> Result<Vec<StoredPlayer>, ReadError> {
    let sql = "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
        WHERE token IS NOT NULL ORDER BY id";
    let rows = session.query(sql, &[]).await?;
    Ok(rows.iter().filter_map(|row| readable(damaged, "players", row, read(row))).collect())
}

/// A player with a token.
fn read(row: &Row) -> Result<StoredPlayer, ReadError> {
    Ok(StoredPlayer {
        profile: read_profile(row)?,
        seats: column::<i32>(row, "seats")?.try_into()?,
        token: column::<&[u8]>(row, "token")?.try_into()?,
        seen: Timestamp(column(row, "seen_us")?),
        claimed: column(row, "claimed")?,
        played: column(row, "played")?,
    })
}
