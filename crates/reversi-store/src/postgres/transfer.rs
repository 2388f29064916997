//! Reads and writes whole tables, for a copy from or to another store.

use reversi_room::{GameRecord, PlayerId, Timestamp};
use tokio_postgres::Error;

use super::{
    cluster::fence::Fence,
    games, members, players, rooms,
    session::{Session, column},
    tournaments,
};
use crate::{
    archive::GameKey,
    contestant::Contestant,
    damage::ReadError,
    transfer::{FormerPlayer, Restored, Standing},
};

pub(super) async fn former_players(
    session: &Session,
    after: Option<PlayerId>,
    limit: usize,
) -> Result<Vec<FormerPlayer>, ReadError> {
    let sql = "SELECT id, name, kind, engine_version, seen_us FROM players WHERE token IS NULL AND id > $1 ORDER BY id LIMIT $2";
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let rows = session.query(sql, &[&after, &i64::try_from(limit)?]).await?;
    let read =
        |row| Ok(FormerPlayer { profile: players::read_profile(row)?, seen: Timestamp(column(row, "seen_us")?) });
    rows.iter().map(read).collect()
}

pub(super) async fn stored_games(
    session: &Session,
    after: Option<GameKey>,
    limit: usize,
) -> Result<Vec<GameRecord>, ReadError> {
    let (ended, id) = after.map_or((i64::MIN, String::new()), |(ended, id)| (ended.0, id.to_string()));
    let sql = "SELECT * FROM games WHERE (ended_us, id) > ($1, $2) ORDER BY ended_us, id LIMIT $3";
    let rows = session.query(sql, &[&ended, &id, &i64::try_from(limit)?]).await?;
    rows.iter().map(games::read).collect()
}

pub(super) async fn standings(
    session: &Session,
    after: Option<Contestant>,
    limit: usize,
) -> Result<Vec<Standing>, ReadError> {
    let sql = "SELECT * FROM standings WHERE contestant > $1 ORDER BY contestant LIMIT $2";
    let after = after.map(|who| who.to_string()).unwrap_or_default();
    let rows = session.query(sql, &[&after, &i64::try_from(limit)?]).await?;
    let read = |row| {
        let contestant = column::<&str>(row, "contestant")?.parse()?;
        Ok(Standing { contestant, name: column(row, "name")?, stats: games::read_standing(row)? })
    };
    rows.iter().map(read).collect()
}

pub(super) async fn restore(session: &Session, fence: Fence, restored: &Restored) -> Result<(), Error> {
    match restored {
        Restored::Rooms(rooms) => {
            rooms::restore(session, fence, rooms).await?;
            members::put(session, rooms).await?;
        }
        Restored::Players(players) => {
            for player in players {
                players::restore(session, player).await?;
            }
        }
        Restored::FormerPlayers(former) => {
            let former: Vec<_> = former.iter().map(|FormerPlayer { profile, seen }| (profile, *seen)).collect();
            players::note_former(session, &former).await?;
        }
        Restored::Standings(standings) => {
            for Standing { contestant, name, stats } in standings {
                games::put_standing(session, contestant, name, *stats).await?;
            }
        }
        Restored::Tournament(rows) => tournaments::write(session, rows).await?,
    }
    Ok(())
}
