//! Pages of finished games.

use std::{fmt::Write as _, sync::Arc};

use reversi_room::{EndReason, Timestamp};
use tokio_postgres::{Row, types::ToSql};

use super::{
    games,
    session::{Session, column, readable},
};
use crate::{
    archive::{GameFilter, GameKey, GamePage, GameResult},
    damage::{DamagedRows, ReadError},
    game_row::{kind_name, winner_name},
};

/// A query in parts, with its parameters.
#[derive(Default)]
struct Query {
    parameters: Vec<Box<dyn ToSql + Sync + Send>>,
    conditions: String,
}

impl Query {
    /// Adds a parameter, and returns its name.
    fn with(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.parameters.push(Box::new(value));
        format!("${}", self.parameters.len())
    }

    /// Adds a condition.
    fn and(&mut self, condition: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.conditions, " AND {condition}");
    }

    /// Takes the conditions so far.
    fn take(&mut self) -> String {
        std::mem::take(&mut self.conditions)
    }
}

/// A page of games, newest first. Damaged rows are passed over.
///
/// ```text
///   index ──▶ scan: the rows after the key, at most `limit` and PASSED_OVER ──▶ page: those that match, at most `limit`
///               └──▶ if the page is not full, the last row of the scan, after which the next page begins
/// ```
pub(super) async fn page(
    session: &Session,
    damaged: &DamagedRows,
    filter: &GameFilter,
    after: Option<GameKey>,
    limit: usize,
) -> Result<GamePage, ReadError> {
    let most = limit.saturating_add(GamePage::PASSED_OVER);
    let mut query = Query::default();
    let Scan { keys, tables, at, key } = scan(&mut query, filter, after);
    let scanned = query.take();
    matching(&mut query, filter);
    let matching = query.take();
    let [most, shown, before_last] =
        [most, limit, most.saturating_sub(1)].map(|count| query.with(i64::try_from(count).unwrap_or(i64::MAX)));
    let sql = format!(
        "WITH scan AS (SELECT games.*, {at} AS at, {key} AS key FROM {tables} WHERE true{scanned} \
        ORDER BY {at} DESC, {key} DESC LIMIT {most}), \
        page AS MATERIALIZED (SELECT * FROM scan WHERE true{matching} ORDER BY at DESC, key DESC LIMIT {shown}) \
        SELECT *, true AS is_shown FROM page UNION ALL (SELECT (NULL::games).*, {at}, {key}, false FROM {keys} \
        WHERE (SELECT count(*) FROM page) < {shown}{scanned} \
        ORDER BY {at} DESC, {key} DESC LIMIT 1 OFFSET {before_last})"
    );
    let parameters: Vec<&(dyn ToSql + Sync)> = query.parameters.iter().map(|value| &**value as _).collect();
    let rows = session.query_planned(&sql, &parameters).await?;
    let (mut page, mut last) = (GamePage::default(), None);
    let mut shown = 0;
    for row in &rows {
        if column(row, "is_shown")? {
            shown += 1;
            page.games.extend(readable(damaged, "games", row, games::read(row)).map(Arc::new));
            page.next = if shown == limit { Some(read_key(row)?) } else { None };
        } else {
            last = Some(read_key(row)?);
        }
    }
    page.next = page.next.or(last);
    Ok(page)
}

fn read_key(row: &Row) -> Result<GameKey, ReadError> {
    Ok((Timestamp(column(row, "at")?), column::<&str>(row, "key")?.parse()?))
}

/// The tables with the keys of games, and with the games; and the columns of the key.
struct Scan {
    keys: &'static str,
    tables: &'static str,
    at: &'static str,
    key: &'static str,
}

/// A player's games are selected among those of all rooms, a room's and an opening's by their own indexes.
fn scan(query: &mut Query, filter: &GameFilter, after: Option<GameKey>) -> Scan {
    let scan = if let Some(player) = filter.player {
        let player = query.with(player.to_string());
        query.and(&format!("played.contestant = {player}"));
        let tables = "played JOIN games ON games.id = played.game";
        Scan { keys: "played", tables, at: "played.ended_us", key: "played.game" }
    } else {
        if let Some(room) = filter.room {
            let room = query.with(room.to_string());
            query.and(&format!("games.room = {room}"));
        } else if let Some(opening) = filter.opening {
            let opening = query.with(opening);
            query.and(&format!("games.opening_name = {opening}"));
        }
        Scan { keys: "games", tables: "games", at: "games.ended_us", key: "games.id" }
    };
    let Scan { at: ended, key: id, .. } = scan;
    if let Some((at, game)) = after {
        let (at, game) = (query.with(at.0), query.with(game.to_string()));
        query.and(&format!("({ended}, {id}) < ({at}, {game})"));
    }
    if let Some(before) = filter.ended_before {
        let before = query.with(before.0);
        query.and(&format!("{ended} < {before}"));
    }
    if let Some(from) = filter.earliest().known() {
        let from = query.with(from.0);
        query.and(&format!("{ended} >= {from}"));
    }
    scan
}

/// Adds the conditions under which a scanned row matches.
fn matching(query: &mut Query, filter: &GameFilter) {
    let (viewer, now) = (query.with(filter.viewer.to_string()), query.with(filter.now.0));
    let is_public = format!("(NOT private AND coalesce(public_from_us <= {now}, true))");
    query.and(&format!("({is_public} OR black = {viewer} OR white = {viewer})"));
    if let Some(room) = filter.room {
        let room = query.with(room.to_string());
        query.and(&format!("room = {room}"));
    }
    if let Some(tournament) = filter.tournament {
        let tournament = query.with(tournament.to_string());
        query.and(&format!("tournament = {tournament}"));
    }
    if let Some(kind) = filter.kind {
        let kind = query.with(kind_name(kind));
        query.and(&format!("(black_kind = {kind} OR white_kind = {kind})"));
    }
    if let Some(result) = filter.result {
        let aborted = query.with(aborted());
        match result {
            GameResult::Aborted => query.and(&format!("reason = ANY({aborted})")),
            GameResult::Won(_) | GameResult::Drawn => {
                let winner = if let GameResult::Won(side) = result { Some(side) } else { None };
                let winner = query.with(winner_name(winner));
                query.and(&format!("reason <> ALL({aborted}) AND winner = {winner}"));
            }
        }
    }
    if let Some(rated) = filter.rated {
        let rated = query.with(rated);
        query.and(&format!("rated = {rated}"));
    }
    if let Some(least) = filter.min_rating {
        let least = query.with(i32::from(least));
        query.and(&format!("greatest(black_rating, white_rating) >= {least}"));
    }
    if let Some(opening) = filter.opening {
        let opening = query.with(opening);
        query.and(&format!("opening_name = {opening}"));
    }
}

/// The reasons of games that do not count.
fn aborted() -> Vec<&'static str> {
    EndReason::ALL.iter().filter(|reason| !reason.counts()).map(|reason| reason.name()).collect()
}
