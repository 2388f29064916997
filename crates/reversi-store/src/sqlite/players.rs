//! Players, by the hashes of their tokens, and bans.

use reversi_room::{DisplayName, EngineVersion, PlayerId, Profile, Timestamp, stored};
use rusqlite::{
    Connection, Row, named_params,
    types::{Value, ValueRef},
};

use super::{
    damage::{DamagedRows, ReadError, is_damage},
    scan,
};
use crate::{
    ban::{self, Ban},
    game_row::{self, player_kind_name},
    player_store::{PlayerKey, StoredPlayer},
};

/// Inserts a player, or replaces what may change of it. Returns 0 if another player with a token has the name.
pub(super) fn put(connection: &Connection, player: &StoredPlayer) -> rusqlite::Result<usize> {
    insert(connection, player, true)
}

/// As [`put`], for a copy of another store, in which two players may have the same name.
pub(super) fn restore(connection: &Connection, player: &StoredPlayer) -> rusqlite::Result<()> {
    insert(connection, player, false).map(drop)
}

fn insert(connection: &Connection, player: &StoredPlayer, unique: bool) -> rusqlite::Result<usize> {
    let sql = "INSERT INTO players (id, name, name_key, kind, seats, token, seen_us, claimed, availability, engine_version) \
        SELECT :id, :name, :key, :kind, :seats, :token, :seen, :claimed, :availability, :engine \
        WHERE NOT :unique OR NOT EXISTS \
            (SELECT 1 FROM players WHERE name_key = :key AND token IS NOT NULL AND id <> :id) \
        ON CONFLICT (id) DO UPDATE \
            SET token = :token, claimed = :claimed, availability = :availability, engine_version = :engine";
    connection.prepare_cached(sql)?.execute(named_params! {
        ":id": player.profile.id.to_string(),
        ":name": player.profile.name.as_str(),
        ":key": player.profile.name.key(),
        ":kind": player_kind_name(player.profile.kind),
        ":seats": player.seats,
        ":token": player.token,
        ":seen": player.seen.0,
        ":claimed": player.claimed,
        ":availability": player.availability.as_ref().map(stored::encode_availability),
        ":engine": player.profile.engine_version.as_ref().map(EngineVersion::as_str),
        ":unique": unique,
    })
}

/// Keeps the name of a player of a finished game who has already logged out.
pub(super) fn note_former(connection: &Connection, player: &Profile, seen: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO players (id, name, name_key, kind, seats, token, seen_us, claimed) \
        VALUES (:id, :name, :key, :kind, 0, NULL, :seen, 0)";
    connection.prepare_cached(sql)?.execute(named_params! {
        ":id": player.id.to_string(),
        ":name": player.name.as_str(),
        ":key": player.name.key(),
        ":kind": player_kind_name(player.kind),
        ":seen": seen.0,
    })?;
    Ok(())
}

/// A player with a token.
pub(super) fn find(connection: &Connection, player: PlayerKey) -> Result<Option<StoredPlayer>, ReadError> {
    let (column, value) = match player {
        PlayerKey::Id(id) => ("id", Value::Text(id.to_string())),
        PlayerKey::Token(token) => ("token", Value::Blob(token.to_vec())),
    };
    let sql = format!(
        "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
            WHERE {column} = ? AND token IS NOT NULL"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query([value])?;
    rows.next()?.map(read).transpose()
}

pub(super) fn profile(connection: &Connection, player: PlayerId) -> Result<Option<Profile>, ReadError> {
    let mut select = connection.prepare_cached("SELECT id, name, kind, engine_version FROM players WHERE id = ?")?;
    let mut rows = select.query([player.to_string()])?;
    rows.next()?.map(read_profile).transpose()
}

/// At most `limit` players with a name, the last seen first. Damaged rows are passed over.
pub(super) fn named(
    connection: &Connection,
    damaged: &DamagedRows,
    name: &DisplayName,
    limit: usize,
) -> Result<Vec<Profile>, ReadError> {
    let sql = "SELECT id, name, kind, engine_version FROM players WHERE name_key = ? ORDER BY seen_us DESC, id LIMIT ?";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((name.key(), i64::try_from(limit)?))?;
    let mut named = Vec::new();
    while let Some(row) = rows.next()? {
        match read_profile(row) {
            Ok(profile) => named.push(profile),
            Err(error) => damaged.pass_over("players", &row_name(row), error)?,
        }
    }
    Ok(named)
}

/// The columns `id`, `name`, `kind` and `engine_version`.
pub(super) fn read_profile(row: &Row<'_>) -> Result<Profile, ReadError> {
    let text = |column| Ok::<_, ReadError>(row.get_ref(column)?.as_str()?);
    game_row::profile(text("id")?, text("name")?, text("kind")?, row.get_ref("engine_version")?.as_str_or_null()?)
}

/// Removes a player. With games or results the row stays, without a token.
pub(super) fn remove(connection: &Connection, player: PlayerId) -> rusqlite::Result<()> {
    let player = player.to_string();
    let sql = "DELETE FROM players WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM played WHERE contestant = ?1) \
        AND NOT EXISTS (SELECT 1 FROM standings WHERE contestant = ?1)";
    connection.prepare_cached(sql)?.execute([&player])?;
    connection.prepare_cached("UPDATE players SET token = NULL WHERE id = ?")?.execute([&player])?;
    Ok(())
}

pub(super) fn record_seen(connection: &Connection, seen: &[(PlayerId, Timestamp)]) -> rusqlite::Result<()> {
    let mut update = connection.prepare_cached("UPDATE players SET seen_us = ? WHERE id = ?")?;
    for (player, seen) in seen {
        update.execute((seen.0, player.to_string()))?;
    }
    Ok(())
}

/// The players with a token. Damaged rows and pages are passed over.
pub(super) fn all(connection: &Connection, damaged: &DamagedRows) -> Result<Vec<StoredPlayer>, ReadError> {
    match indexed(connection, damaged) {
        Err(error) if is_damage(&error) => {
            damaged.pass_over("players", "or an index of them: a page", error)?;
            scanned(connection, damaged)
        }
        players => players,
    }
}

/// The players with a token, read by their index.
fn indexed(connection: &Connection, damaged: &DamagedRows) -> Result<Vec<StoredPlayer>, ReadError> {
    let sql = "SELECT *, EXISTS (SELECT 1 FROM standings WHERE contestant = players.id) AS played FROM players \
        WHERE token IS NOT NULL ORDER BY id";
    let mut select = connection.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut players = Vec::new();
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(player) => players.push(player),
            Err(error) => damaged.pass_over("players", &row_name(row), error)?,
        }
    }
    Ok(players)
}

/// The players with a token, read around damaged pages. All count as having played: their results may be damaged.
fn scanned(connection: &Connection, damaged: &DamagedRows) -> Result<Vec<StoredPlayer>, ReadError> {
    let mut players = Vec::new();
    scan::each(connection, "players", "*, true AS played", &mut |_, row| {
        if row.get_ref("token")? == ValueRef::Null {
            return Ok(());
        }
        match read(row) {
            Ok(player) => players.push(player),
            Err(error) => {
                damaged.note("players", &row_name(row), &error.to_string(), "a row is damaged and is skipped")
            }
        }
        Ok(())
    })?;
    Ok(players)
}

pub(super) const BAN_COLUMNS: &str = "subject, reason, since_us, until_us";

/// Damaged rows and pages are passed over.
pub(super) fn bans(connection: &Connection, damaged: &DamagedRows) -> Result<Vec<Ban>, ReadError> {
    let mut bans = Vec::new();
    let gap = scan::each(connection, "bans", BAN_COLUMNS, &mut |number, row| {
        match read_ban(row) {
            Ok(ban) => bans.push(ban),
            Err(error) => {
                damaged.note("bans", &number.to_string(), &error.to_string(), "a row is damaged and is skipped");
            }
        }
        Ok(())
    })?;
    if let Some(gap) = gap {
        damaged.note("bans", "a page", &format!("{gap:?}"), "a page is damaged and is skipped");
    }
    Ok(bans)
}

pub(super) fn read_ban(row: &Row<'_>) -> Result<Ban, ReadError> {
    let text = |column| Ok::<_, ReadError>(row.get_ref(column)?.as_str()?);
    ban::read(text("subject")?, text("reason")?, row.get("since_us")?, row.get("until_us")?)
}

/// Also removes the bans that have ended.
pub(super) fn put_ban(connection: &Connection, ban: &Ban, now: Timestamp) -> rusqlite::Result<()> {
    let sql = format!("INSERT OR REPLACE INTO bans ({BAN_COLUMNS}) VALUES (?, ?, ?, ?)");
    let until = ban.until.map(|until| until.0);
    connection.execute(&sql, (ban.subject.to_string(), ban.reason(), ban.since.0, until))?;
    connection.execute("DELETE FROM bans WHERE until_us <= ?", [now.0]).map(drop)
}

/// Checks a player's row, and returns the profile.
pub(super) fn check(row: &Row<'_>) -> Result<Profile, ReadError> {
    let profile = read_profile(row)?;
    let key: String = row.get("name_key")?;
    if key != profile.name.key() {
        return Err("its name and the key of its name differ".into());
    }
    row.get::<_, Option<[u8; 32]>>("token")?;
    row.get::<_, u16>("seats")?;
    row.get::<_, i64>("seen_us")?;
    row.get::<_, bool>("claimed")?;
    Ok(profile)
}

/// A player with a token.
fn read(row: &Row<'_>) -> Result<StoredPlayer, ReadError> {
    Ok(StoredPlayer {
        profile: read_profile(row)?,
        seats: row.get("seats")?,
        token: row.get("token")?,
        seen: Timestamp(row.get("seen_us")?),
        claimed: row.get("claimed")?,
        // Damaged, it counts as not set: it must not cost the player the account.
        availability: row
            .get::<_, Option<Vec<u8>>>("availability")?
            .and_then(|bytes| stored::decode_availability(&bytes).ok()),
        played: row.get("played")?,
    })
}

/// A name for a row that cannot be read: its id, whatever type that has.
fn row_name(row: &Row<'_>) -> String {
    row.get::<_, Value>("id").map_or_else(|error| error.to_string(), |id| format!("{id:?}"))
}
