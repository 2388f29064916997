//! Players, by the hashes of their tokens.

use rusqlite::{Connection, named_params};

use super::{
    games::{player_kind, player_kind_name},
    reader::ReadError,
};
use crate::{
    room::{DisplayName, PlayerId, Profile, Timestamp},
    store::player_store::StoredPlayer,
};

pub(super) fn insert(connection: &Connection, player: &StoredPlayer) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO players (id, name, kind, seats, token, seen_us) VALUES (:id, :name, :kind, :seats, :token, :seen)";
    connection.prepare_cached(sql)?.execute(named_params! {
        ":id": player.profile.id.to_string(),
        ":name": player.profile.name.as_str(),
        ":kind": player_kind_name(player.profile.kind),
        ":seats": player.seats,
        ":token": player.token,
        ":seen": player.seen.0,
    })?;
    Ok(())
}

/// A player with games keeps its row, without a token.
pub(super) fn remove(connection: &Connection, player: PlayerId) -> rusqlite::Result<()> {
    let player = player.to_string();
    let sql = "DELETE FROM players WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM played WHERE contestant = ?1)";
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

pub(super) fn all(connection: &Connection) -> Result<Vec<StoredPlayer>, ReadError> {
    let sql = "SELECT id, name, kind, seats, token, seen_us FROM players WHERE token IS NOT NULL ORDER BY id";
    let mut select = connection.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut players = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| row.get::<_, String>(column);
        players.push(StoredPlayer {
            profile: Profile {
                id: text(0)?.parse()?,
                name: DisplayName::from_stored(&text(1)?)?,
                kind: player_kind(&text(2)?)?,
            },
            seats: row.get(3)?,
            token: row.get(4)?,
            seen: Timestamp(row.get(5)?),
        });
    }
    Ok(players)
}
