//! Reads and writes whole tables, for a copy from or to another store.

use reversi_room::{GameRecord, PlayerId, Timestamp};
use rusqlite::Connection;

use super::{damage::ReadError, games, players, rooms, tournaments};
use crate::{
    archive::GameKey,
    contestant::Contestant,
    transfer::{FormerPlayer, Restored, Standing},
};

pub(super) fn former_players(
    connection: &Connection,
    after: Option<PlayerId>,
    limit: usize,
) -> Result<Vec<FormerPlayer>, ReadError> {
    let sql = "SELECT id, name, kind, engine_version, seen_us FROM players WHERE token IS NULL AND id > ? ORDER BY id LIMIT ?";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((after.map(|id| id.to_string()).unwrap_or_default(), i64::try_from(limit)?))?;
    let mut former = Vec::new();
    while let Some(row) = rows.next()? {
        former.push(FormerPlayer { profile: players::read_profile(row)?, seen: Timestamp(row.get("seen_us")?) });
    }
    Ok(former)
}

pub(super) fn stored_games(
    connection: &Connection,
    after: Option<GameKey>,
    limit: usize,
) -> Result<Vec<GameRecord>, ReadError> {
    let (ended, id) = after.map_or((i64::MIN, String::new()), |(ended, id)| (ended.0, id.to_string()));
    let sql = "SELECT * FROM games WHERE (ended_us, id) > (?, ?) ORDER BY ended_us, id LIMIT ?";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((ended, id, i64::try_from(limit)?))?;
    let mut games = Vec::new();
    while let Some(row) = rows.next()? {
        games.push(games::read(row)?);
    }
    Ok(games)
}

pub(super) fn standings(
    connection: &Connection,
    after: Option<&Contestant>,
    limit: usize,
) -> Result<Vec<Standing>, ReadError> {
    let sql = "SELECT * FROM standings WHERE contestant > ? ORDER BY contestant LIMIT ?";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((after.map(ToString::to_string).unwrap_or_default(), i64::try_from(limit)?))?;
    let mut standings = Vec::new();
    while let Some(row) = rows.next()? {
        let contestant = row.get::<_, String>("contestant")?.parse()?;
        standings.push(Standing { contestant, name: row.get("name")?, stats: games::read_standing(row)? });
    }
    Ok(standings)
}

pub(super) fn restore(connection: &Connection, restored: &Restored) -> rusqlite::Result<()> {
    match restored {
        Restored::Rooms(rooms) => rooms.iter().try_for_each(|room| rooms::restore(connection, room)),
        Restored::Players(players) => players.iter().try_for_each(|player| players::restore(connection, player)),
        Restored::FormerPlayers(former) => former
            .iter()
            .try_for_each(|FormerPlayer { profile, seen }| players::note_former(connection, profile, *seen)),
        Restored::Standings(standings) => standings.iter().try_for_each(|Standing { contestant, name, stats }| {
            games::put_standing(connection, contestant, name, stats)
        }),
        Restored::Tournament(rows) => tournaments::write(connection, rows),
    }
}
