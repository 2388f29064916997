//! Pages of finished games.

use std::{fmt::Write as _, sync::Arc};

use tokio_postgres::{Row, types::ToSql};

use super::{
    games,
    session::{Session, column, readable},
};
use crate::{
    room::{EndReason, GameEnd, Timestamp},
    store::{
        archive::{GameFilter, GameKey, GamePage, GameResult},
        damage::{DamagedRows, ReadError},
        game_row::{kind_name, winner_name},
    },
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
    let (table, key) = scan(&mut query, filter, after);
    let scanned = query.take();
    matching(&mut query, filter);
    let matching = query.take();
    let [most, limit_at, before_last] =
        [most, limit, most.saturating_sub(1)].map(|count| query.with(i64::try_from(count).unwrap_or(i64::MAX)));
    let sql = format!(
        "WITH scan AS NOT MATERIALIZED (SELECT games.* FROM {table} WHERE true{scanned} ORDER BY {key} LIMIT {most}), \
        page AS MATERIALIZED (SELECT * FROM scan WHERE true{matching} ORDER BY ended_us DESC, id DESC LIMIT {limit_at}) \
        SELECT *, true AS is_shown FROM page UNION ALL (SELECT *, false FROM scan \
        WHERE (SELECT count(*) FROM page) < {limit_at} ORDER BY ended_us DESC, id DESC LIMIT 1 OFFSET {before_last})"
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
    Ok((Timestamp(column(row, "ended_us")?), column::<&str>(row, "id")?.parse()?))
}

/// Says which index gives the rows: a player's games are selected among those of all rooms, a room's and an opening's by
/// their own indexes. Returns the tables and the order.
fn scan(query: &mut Query, filter: &GameFilter, after: Option<GameKey>) -> (&'static str, &'static str) {
    let (tables, ended, id, order) = match filter.player {
        Some(player) => {
            let player = query.with(player.to_string());
            query.and(&format!("played.contestant = {player}"));
            let order = "played.ended_us DESC, played.game DESC";
            ("played JOIN games ON games.id = played.game", "played.ended_us", "played.game", order)
        }
        None => {
            if let Some(room) = filter.room {
                let room = query.with(room.to_string());
                query.and(&format!("games.room = {room}"));
            } else if let Some(opening) = filter.opening {
                let opening = query.with(opening);
                query.and(&format!("games.opening_name = {opening}"));
            }
            ("games", "games.ended_us", "games.id", "games.ended_us DESC, games.id DESC")
        }
    };
    if let Some((at, game)) = after {
        let (at, game) = (query.with(at.0), query.with(game.to_string()));
        query.and(&format!("({ended}, {id}) < ({at}, {game})"));
    }
    if let Some(before) = filter.ended_before {
        let before = query.with(before.0);
        query.and(&format!("{ended} < {before}"));
    }
    if let Some(from) = filter.ended_from {
        let from = query.with(from.0);
        query.and(&format!("{ended} >= {from}"));
    }
    (tables, order)
}

/// Says which of these rows match.
fn matching(query: &mut Query, filter: &GameFilter) {
    let viewer = query.with(filter.viewer.to_string());
    query.and(&format!("(NOT private OR black = {viewer} OR white = {viewer})"));
    if let Some(room) = filter.room {
        let room = query.with(room.to_string());
        query.and(&format!("room = {room}"));
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
    let counts = |reason: &EndReason| GameEnd { winner: None, reason: *reason }.counts();
    EndReason::ALL.iter().filter(|reason| !counts(reason)).map(|reason| reason.name()).collect()
}
