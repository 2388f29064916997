//! Finished games, and the statistics of their players.

use std::sync::{Arc, LazyLock};

use reversi_engine::rules::Color;
use reversi_room::{AiSeat, GameEnd, GameId, GameRecord, Participant, PlayerId, Timestamp};
use rusqlite::{
    Connection, OptionalExtension as _, Row, ToSql, named_params,
    types::{FromSql, Value, ValueRef},
};

use super::{
    damage::{DamagedRows, ReadError},
    players,
};
use crate::{
    archive::{GameFilter, GameKey, GamePage, RankedContestant, RankingFilter, RankingKey, RankingPage, ranking_start},
    column::{Parameter, ReadColumn},
    contestant::Contestant,
    game_row::{self, GameRow, kind_name, name_of, recent_game},
    journal::EndedGame,
    player_stats::glicko::Rating,
    player_stats::recent_games::RecentGames,
    player_stats::{PlayerStats, Results, Settlement, settlement},
};

/// Inserts a finished game and the names of its players. If it `counts`, also settles it: updates the statistics of its
/// players, and notes their ratings and what the game did to them. Changes nothing if the game is known.
pub(super) fn keep(connection: &Connection, ended: &EndedGame, counts: bool) -> rusqlite::Result<()> {
    let Settlement { record, stats } = if counts {
        let recent = |who: &Contestant| recent_games(connection, who, &ended.record);
        settlement(ended, |who| standing_before(connection, who), recent)?
    } else {
        Settlement { record: ended.record.clone(), stats: Vec::new() }
    };
    if !enter(connection, &record)? {
        return Ok(());
    }
    for (_, participant) in record.players.iter() {
        if let Participant::Player(profile) = participant {
            players::note_former(connection, profile, record.ended)?;
        }
    }
    for (who, standing) in stats {
        put_standing(connection, &who, &name_of(&record, &who), &standing)?;
    }
    Ok(())
}

/// Inserts a game without effect on statistics. Returns false if it is known.
pub(super) fn enter(connection: &Connection, game: &GameRecord) -> rusqlite::Result<bool> {
    if insert(connection, game)? == 0 {
        return Ok(false);
    }
    let sql = "INSERT OR IGNORE INTO played (contestant, ended_us, game) VALUES (?, ?, ?)";
    let mut played = connection.prepare_cached(sql)?;
    for (_, participant) in game.players.iter() {
        played.execute((Contestant::from(participant).to_string(), game.ended.0, game.id.to_string()))?;
    }
    Ok(true)
}

static INSERT: LazyLock<String> = LazyLock::new(|| GameRow::insertion(&["black_discs", "white_discs", "checksum"]));

fn insert(connection: &Connection, game: &GameRecord) -> rusqlite::Result<usize> {
    let row = GameRow::from(game);
    let [black, white] = Color::ALL.map(|side| game.position.board().count(side));
    let checksum = row.checksum();
    let mut parameters = row.parameters();
    parameters.extend([&black as &dyn ToSql, &white, &checksum]);
    connection.prepare_cached(&INSERT)?.execute(&*parameters)
}

/// A page of games, newest first. Damaged rows are passed over.
///
/// An index with all columns of a key gives the keys, and each row is read by itself. So a damaged row, or a damaged
/// page of rows, affects no other, and each page of games begins after the keys of the one before.
pub(super) fn page(
    connection: &Connection,
    damaged: &DamagedRows,
    filter: &GameFilter,
    after: Option<GameKey>,
    limit: usize,
) -> Result<GamePage, ReadError> {
    let (player, room) = (filter.player.map(|id| id.to_string()), filter.room.map(|id| id.to_string()));
    let opening = filter.opening.map(str::to_owned);
    // A player's games are selected among those of all rooms, a room's and an opening's by their own indexes.
    let (table, id, selected, of) = match (&player, &room, &opening) {
        (Some(_), _, _) => ("played", "game", "contestant = :of", &player),
        (None, Some(_), _) => ("games", "id", "room = :of", &room),
        (None, None, Some(_)) => ("games", "id", "opening_name = :of", &opening),
        (None, None, None) => ("games", "id", ":of IS NULL", &None),
    };
    let sql = format!(
        "SELECT ended_us, {id} FROM {table} WHERE {selected} AND (ended_us, {id}) < (:ended, :after) \
        AND ended_us >= :from ORDER BY ended_us DESC, {id} DESC LIMIT :max_rows"
    );
    // The first page starts after an impossible key: the end of time, and an id greater than any; or before the first
    // id of a time.
    let start = filter.ended_before.map_or((i64::MAX, char::MAX.to_string()), |before| (before.0, String::new()));
    let (ended, after) = after.map_or(start.clone(), |(ended, id)| (ended.0, id.to_string())).min(start);
    let from = filter.earliest().0;
    let max_rows = limit.saturating_add(GamePage::PASSED_OVER);
    let mut select = connection.prepare_cached(&sql)?;
    let mut keys = select.query(named_params! {
        ":of": of, ":ended": ended, ":after": after, ":from": from, ":max_rows": i64::try_from(max_rows)?
    })?;
    let (mut page, mut scanned, mut last) = (GamePage::default(), 0, None);
    while page.games.len() < limit && scanned < max_rows {
        let row = match keys.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(page),
            // The next page begins here, and fails.
            Err(_) if last.is_some() => break,
            Err(error) => return Err(error.into()),
        };
        scanned += 1;
        let id: Value = row.get(1)?;
        match read_key(row).and_then(|key| Ok((key, shown(connection, key.1, filter)?))) {
            Ok((_, game)) => page.games.extend(game.map(Arc::new)),
            Err(error) => damaged.pass_over("games", &format!("{id:?}"), error)?,
        }
        last = read_key(row).ok().or(last);
    }
    page.next = last;
    Ok(page)
}

fn read_key(row: &Row<'_>) -> Result<GameKey, ReadError> {
    Ok((Timestamp(row.get(0)?), row.get::<_, String>(1)?.parse()?))
}

/// A game, if it matches the filter, which is checked on the columns: reading a game costs more.
fn shown(connection: &Connection, id: GameId, filter: &GameFilter) -> Result<Option<GameRecord>, ReadError> {
    let mut select = connection.prepare_cached("SELECT * FROM games WHERE id = ?")?;
    let mut rows = select.query([id.to_string()])?;
    let row = rows.next()?.ok_or("an index has it, and the table has not")?;
    let viewer = filter.viewer.to_string();
    let is_viewer = |side| -> Result<bool, ReadError> { Ok(row.get_ref(side)?.as_str()? == viewer) };
    let is_hidden = row.get("private")? || row.get::<_, Option<i64>>("public_from_us")? > Some(filter.now.0);
    if filter.room.is_some_and(|room| room != id.room)
        || (is_hidden && !is_viewer("black")? && !is_viewer("white")?)
        || !matches(row, filter)?
    {
        return Ok(None);
    }
    read(row).map(Some)
}

/// Returns true if a game matches the filter. Room, player and time are not checked.
fn matches(row: &Row<'_>, filter: &GameFilter) -> Result<bool, ReadError> {
    let is = |column: &str, text: &str| -> Result<bool, ReadError> { Ok(row.get_ref(column)?.as_str()? == text) };
    if let Some(kind) = filter.kind.map(kind_name)
        && !is("black_kind", kind)?
        && !is("white_kind", kind)?
    {
        return Ok(false);
    }
    if let Some(result) = filter.result
        && result != end(row)?.into()
    {
        return Ok(false);
    }
    if let Some(rated) = filter.rated
        && rated != row.get::<_, bool>("rated")?
    {
        return Ok(false);
    }
    if let Some(tournament) = filter.tournament
        && row.get_ref("tournament")?.as_str_or_null()? != Some(&*tournament.to_string())
    {
        return Ok(false);
    }
    let rating = |side| row.get::<_, Option<i32>>(side);
    if let Some(least) = filter.min_rating
        && rating("black_rating")?.max(rating("white_rating")?) < Some(i32::from(least))
    {
        return Ok(false);
    }
    match filter.opening {
        Some(name) => Ok(row.get_ref("opening_name")?.as_str_or_null()? == Some(name)),
        None => Ok(true),
    }
}

fn end(row: &Row<'_>) -> Result<GameEnd, ReadError> {
    let text = |column| Ok::<_, ReadError>(row.get_ref(column)?.as_str()?);
    game_row::end(text("winner")?, text("reason")?)
}

pub(super) fn get(connection: &Connection, id: GameId) -> Result<Option<Arc<GameRecord>>, ReadError> {
    let mut select = connection.prepare_cached("SELECT * FROM games WHERE id = ?")?;
    let mut rows = select.query([id.to_string()])?;
    rows.next()?.map(|row| Ok(Arc::new(read(row)?))).transpose()
}

/// As [`standing`], for a game that ends. A row that cannot be read counts as none, and the game replaces it: otherwise
/// no game of the contestant could end.
fn standing_before(connection: &Connection, who: &Contestant) -> rusqlite::Result<PlayerStats> {
    match standing(connection, who) {
        Err(error) if !matches!(error, rusqlite::Error::SqliteFailure(..)) => {
            tracing::error!(%who, %error, "the results of a contestant cannot be read, and begin again");
            Ok(PlayerStats::default())
        }
        outcome => outcome,
    }
}

/// The recent games of a contestant before `game`. Rows that cannot be read are passed over.
fn recent_games(connection: &Connection, who: &Contestant, game: &GameRecord) -> rusqlite::Result<RecentGames> {
    let of = |order: &str, limit: usize| {
        let sql = format!(
            "SELECT games.ended_us, rated, reason, iif(black = :who, white, black), \
            iif(black = :who, black_rating, white_rating) FROM \
            (SELECT ended_us, game FROM played WHERE contestant = :who AND ended_us > :from AND game <> :game \
            ORDER BY ended_us {order}, game {order} LIMIT {limit}) JOIN games ON id = game"
        );
        let mut select = connection.prepare_cached(&sql)?;
        let from = game.ended.0.saturating_sub(RecentGames::PERIOD);
        let rows = select.query_map(
            named_params! { ":who": who.to_string(), ":from": from, ":game": game.id.to_string() },
            |row| {
                let [reason, opponent]: [String; 2] = [row.get(2)?, row.get(3)?];
                Ok(recent_game(row.get(0)?, row.get(1)?, &reason, &opponent, row.get(4).unwrap_or_default()))
            },
        )?;
        Ok::<_, rusqlite::Error>(rows.flatten().flatten().collect::<Vec<_>>())
    };
    let first_rating = of("ASC", 1)?.first().map(|first| first.rating);
    let latest = match RecentGames::latest_of(who) {
        0 => Vec::new(),
        most => of("DESC", most)?,
    };
    Ok(RecentGames { first_rating, latest })
}

pub(super) fn standing(connection: &Connection, who: &Contestant) -> rusqlite::Result<PlayerStats> {
    let mut select = connection.prepare_cached("SELECT * FROM standings WHERE contestant = ?")?;
    Ok(select.query_row([who.to_string()], read_standing).optional()?.unwrap_or_default())
}

pub(super) fn read_standing(row: &Row<'_>) -> rusqlite::Result<PlayerStats> {
    let stats = |[won, drawn, lost]: [&str; 3]| -> rusqlite::Result<Results> {
        Ok(Results { won: row.get(won)?, drawn: row.get(drawn)?, lost: row.get(lost)? })
    };
    let rating = match row.get("rating")? {
        Some(value) => Some(Rating {
            value,
            deviation: row.get("deviation")?,
            volatility: row.get("volatility")?,
            games: row.get("rated_games")?,
        }),
        None => None,
    };
    Ok(PlayerStats {
        humans: stats(["won_against_humans", "drawn_against_humans", "lost_against_humans"])?,
        bots: stats(["won_against_bots", "drawn_against_bots", "lost_against_bots"])?,
        ais: stats(["won_against_ais", "drawn_against_ais", "lost_against_ais"])?,
        rating,
    })
}

/// At most `limit` contestants with a rating, the highest first, after `after`. Damaged rows are passed over.
pub(super) fn ranking(
    connection: &Connection,
    damaged: &DamagedRows,
    filter: &RankingFilter,
    after: Option<&RankingKey>,
    limit: usize,
) -> Result<RankingPage, ReadError> {
    let sql = "SELECT standings.*, players.id, players.kind, players.engine_version FROM standings LEFT JOIN players ON players.id = contestant \
        WHERE rating <= :rating AND (rating < :rating OR contestant > :after) \
        AND (players.id IS NULL OR token IS NOT NULL) AND (:deviation IS NULL OR deviation <= :deviation) \
        AND (:kind IS NULL OR ifnull(players.kind, 'ai') = :kind) ORDER BY rating DESC, contestant LIMIT :limit";
    let (rating, after) = ranking_start(after);
    let deviation = (!filter.provisional).then_some(Rating::PROVISIONAL);
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(named_params! {
        ":deviation": deviation,
        ":kind": filter.kind.map(kind_name),
        ":limit": i64::try_from(limit)?,
        ":rating": rating,
        ":after": after,
    })?;
    let (mut contestants, mut read) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        read += 1;
        match ranked(row) {
            Ok(contestant) => contestants.push(contestant),
            Err(error) => damaged.pass_over("standings", &format!("{:?}", row.get::<_, Value>("contestant")), error)?,
        }
    }
    Ok(RankingPage::new(contestants, read == limit))
}

fn ranked(row: &Row<'_>) -> Result<RankedContestant, ReadError> {
    let participant = match row.get::<_, String>("contestant")?.parse()? {
        Contestant::Ai { kind, level } => Participant::Ai(AiSeat { kind, level, seed: 0 }),
        Contestant::Player(_) => Participant::Player(players::read_profile(row)?),
    };
    Ok(RankedContestant { participant, stats: read_standing(row)? })
}

/// Raises the deviation of a rating to that of a new engine.
pub(super) fn make_provisional(connection: &Connection, player: PlayerId) -> rusqlite::Result<()> {
    let sql = "UPDATE standings SET deviation = max(deviation, ?) WHERE contestant = ? AND rating IS NOT NULL";
    connection.execute(sql, (Rating::OF_NEW_ENGINE, player.to_string())).map(drop)
}

pub(super) fn put_standing(
    connection: &Connection,
    who: &Contestant,
    name: &str,
    standing: &PlayerStats,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO standings (contestant, name, won_against_humans, drawn_against_humans, \
        lost_against_humans, won_against_bots, drawn_against_bots, lost_against_bots, won_against_ais, \
        drawn_against_ais, lost_against_ais, rating, deviation, volatility, rated_games) \
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let PlayerStats { humans, bots, ais, rating } = standing;
    connection.prepare_cached(sql)?.execute((
        who.to_string(),
        name,
        humans.won,
        humans.drawn,
        humans.lost,
        bots.won,
        bots.drawn,
        bots.lost,
        ais.won,
        ais.drawn,
        ais.lost,
        rating.map(|rating| rating.value),
        rating.map(|rating| rating.deviation),
        rating.map(|rating| rating.volatility),
        rating.map_or(0, |rating| rating.games),
    ))?;
    Ok(())
}

/// Reads a stored game. The seeds of its AIs are 0.
pub(super) fn read(row: &Row<'_>) -> Result<GameRecord, ReadError> {
    let game = GameRow::from_columns(row)?;
    check(row, &game)?;
    game.read()
}

/// Checks that no value of a game has changed since it was written, if the game has a checksum.
pub(super) fn check(row: &Row<'_>, game: &GameRow) -> Result<(), ReadError> {
    match row.get::<_, Option<u32>>("checksum")? {
        Some(stored) if game.checksum() != stored => Err("a value was changed, as its checksum says".into()),
        _ => Ok(()),
    }
}

impl<T: FromSql> ReadColumn<T> for Row<'_> {
    fn column(&self, name: &str) -> Result<T, ReadError> {
        match self.get(name) {
            // The doctor reads a file of the version before, which has no later columns, as it is.
            Err(rusqlite::Error::InvalidColumnName(_)) => Ok(T::column_result(ValueRef::Null)?),
            value => Ok(value?),
        }
    }
}

impl<'a, T: ToSql> Parameter<'a, T> for &'a dyn ToSql {
    fn of(value: &'a T) -> Self {
        value
    }
}
