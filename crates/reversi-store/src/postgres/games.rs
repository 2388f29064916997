//! Finished games, and the statistics of their players.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    sync::{Arc, LazyLock},
};

use futures_util::future::try_join_all;
use reversi_engine::rules::{ByColor, Color};
use reversi_room::{AiSeat, GameId, GameRecord, Participant, PlayerId, Profile, Timestamp};
use tokio_postgres::{
    Error, Row,
    types::{FromSql, ToSql},
};

use super::{
    players,
    session::{Parameters, Session, column, readable},
};
use crate::{
    archive::{RankedContestant, RankingFilter, RankingKey, RankingPage, ranking_start},
    column::{ArrayParameter, ReadColumn},
    contestant::Contestant,
    damage::{DamagedRows, ReadError},
    game_row::{GameRow, kind_name, name_of, rating_change_text, recent_game},
    journal::EndedGame,
    player_stats::glicko::{Rating, RatingWeight},
    player_stats::recent_games::{RecentGame, RecentGames},
    player_stats::{PlayerStats, Results, Settlement, settlement},
};

const UNSETTLED: &str = "SELECT * FROM games WHERE unsettled_weight IS NOT NULL ORDER BY number LIMIT $1";

const SETTLED: &str = "UPDATE games SET unsettled_weight = NULL, black_rating = a.black, white_rating = a.white, \
    black_rating_change = a.black_change, white_rating_change = a.white_change \
    FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[]) \
    AS a (number, black, white, black_change, white_change) WHERE games.number = a.number";

/// Returns true if games have ended that are not settled: any, or the one with this id, or one of this contestant.
pub(super) async fn has_unsettled(session: &Session, of: Option<&str>) -> Result<bool, ReadError> {
    let sql = "SELECT 1 FROM games WHERE unsettled_weight IS NOT NULL AND ($1::text IS NULL OR $1 IN (id, black, white)) \
        ORDER BY number LIMIT 1";
    Ok(session.row(sql, &[&of]).await?.is_some())
}

/// Settles at most `limit` ended games, the first ones: updates the statistics of their players, keeps the players'
/// names, and notes the ratings before the games and what these did to them. Returns how many. A damaged game changes no statistics.
pub(super) async fn settle(session: &Session, damaged: &DamagedRows, limit: usize) -> Result<usize, Error> {
    let rows = session.query(UNSETTLED, &[&i64::try_from(limit).unwrap_or(i64::MAX)]).await?;
    if rows.is_empty() {
        return Ok(0);
    }
    let numbers: Vec<i64> = rows.iter().map(|row| row.try_get("number")).collect::<Result<_, _>>()?;
    let games: Vec<_> = rows.iter().map(|row| readable(damaged, "games", row, ended(row))).collect();
    let sound: Vec<&EndedGame> = games.iter().flatten().collect();
    let who = sound.iter().flat_map(|game| game.record.players.iter());
    let who: HashSet<Contestant> = who.map(|(_, participant)| participant.into()).collect();
    let (mut standings, mut recent) = tokio::try_join!(standings(session, who), recent_games(session, &sound))?;
    let mut changed = HashMap::<Contestant, String>::new();
    let (mut ratings, mut changes) = (ByColor::<Vec<_>>::default(), ByColor::<Vec<_>>::default());
    for game in &games {
        let Some(game) = game else {
            for side in Color::ALL {
                ratings[side].push(None);
                changes[side].push(None);
            }
            continue;
        };
        let before = |who: &Contestant| standings.get(who).copied().unwrap_or_default();
        let recently = |who: &Contestant| Ok(recent.get(who).cloned().unwrap_or_default());
        let Ok(Settlement { record, stats: after }) =
            settlement(game, |who| Ok::<_, Infallible>(before(who)), recently);
        for side in Color::ALL {
            let who = Contestant::from(&record.players[side]);
            recent.entry(who.clone()).or_default().add(&who, RecentGame::of(&record, side));
            ratings[side].push(record.ratings[side].map(i32::from));
            changes[side].push(record.rating_changes[side].map(rating_change_text));
        }
        for (who, stats) in after {
            changed.insert(who.clone(), name_of(&game.record, &who));
            standings.insert(who, stats);
        }
    }
    let settled = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let put = changed.iter().map(|(who, name)| put_standing(session, who, name, standings[who]));
    let update: Parameters<'_> = &[&numbers, &ratings.black, &ratings.white, &changes.black, &changes.white];
    let count: Parameters<'_> = &[&settled];
    tokio::try_join!(try_join_all(put), session.execute(SETTLED, update), session.execute(ADDED, count))?;
    // Last, so that a player who logs in or out hardly waits for the rows.
    players::note_former(session, &sound.iter().flat_map(|game| players_of(&game.record)).collect::<Vec<_>>()).await?;
    Ok(rows.len())
}

fn ended(row: &Row) -> Result<EndedGame, ReadError> {
    Ok(EndedGame { record: read(row)?, weight: RatingWeight::of_sixteenths(column(row, "unsettled_weight")?) })
}

const LATEST: &str = "SELECT games.ended_us, rated, reason, CASE WHEN black = $1 THEN white ELSE black END, \
    CASE WHEN black = $1 THEN black_rating ELSE white_rating END FROM played JOIN games ON id = game \
    WHERE contestant = $1 AND played.ended_us > $2 AND unsettled_weight IS NULL \
    ORDER BY played.ended_us DESC, game DESC LIMIT $3";

const FIRST: &str = "SELECT CASE WHEN black = $1 THEN black_rating ELSE white_rating END \
    FROM played JOIN games ON id = game WHERE contestant = $1 AND played.ended_us > $2 AND unsettled_weight IS NULL \
    ORDER BY played.ended_us, game LIMIT 1";

/// The settled recent games of the contestants whose ratings may change. Rows that cannot be read are passed over.
async fn recent_games(session: &Session, games: &[&EndedGame]) -> Result<HashMap<Contestant, RecentGames>, Error> {
    let rated = || games.iter().map(|game| &game.record).filter(|game| game.changes_ratings());
    let from = rated().map(|game| game.ended.0).min().unwrap_or_default().saturating_sub(RecentGames::PERIOD);
    let who: HashSet<Contestant> =
        rated().flat_map(|game| game.players.iter()).map(|(_, player)| player.into()).collect();
    let read = who.into_iter().map(async |who| {
        let (name, limit) = (who.to_string(), i64::try_from(RecentGames::latest_of(&who)).unwrap_or(i64::MAX));
        let of_latest: Parameters<'_> = &[&name, &from, &limit];
        let of_first: Parameters<'_> = &[&name, &from];
        let (latest, first) = tokio::try_join!(session.query(LATEST, of_latest), session.row(FIRST, of_first))?;
        let rating = |row: &Row, column: usize| {
            let rating = row.try_get::<_, Option<i32>>(column).ok().flatten();
            rating.and_then(|rating| u16::try_from(rating).ok())
        };
        let game = |row: &Row| {
            let [reason, opponent]: [&str; 2] = [row.try_get(2).ok()?, row.try_get(3).ok()?];
            recent_game(row.try_get(0).ok()?, row.try_get(1).ok()?, reason, opponent, rating(row, 4))
        };
        let first_rating = first.map(|row| rating(&row, 0).unwrap_or(RecentGames::BEGINNER));
        Ok::<_, Error>((who, RecentGames { first_rating, latest: latest.iter().filter_map(game).collect() }))
    });
    Ok(try_join_all(read).await?.into_iter().collect())
}

/// The players of a game, and when it ended.
fn players_of(game: &GameRecord) -> impl Iterator<Item = (&Profile, Timestamp)> {
    game.players.iter().filter_map(|(_, participant)| match participant {
        Participant::Player(profile) => Some((profile, game.ended)),
        Participant::Ai(_) => None,
    })
}

/// The statistics of contestants. A row that cannot be read counts as none, and the game replaces it: otherwise no game
/// of the contestant could end.
async fn standings(session: &Session, who: HashSet<Contestant>) -> Result<HashMap<Contestant, PlayerStats>, Error> {
    let names: Vec<String> = who.iter().map(ToString::to_string).collect();
    let rows = session.query("SELECT * FROM standings WHERE contestant = ANY($1)", &[&names]).await?;
    let stats: HashMap<String, PlayerStats> = rows
        .iter()
        .filter_map(|row| match (row.try_get(0), read_standing(row)) {
            (Ok(who), Ok(stats)) => Some((who, stats)),
            (who, _) => {
                tracing::error!(?who, "the results of a contestant cannot be read, and begin again");
                None
            }
        })
        .collect();
    Ok(who.into_iter().zip(names).filter_map(|(who, name)| Some((who, *stats.get(&name)?))).collect())
}

/// A game to insert.
pub(super) struct NewGame {
    /// Its room.
    key: i64,
    row: GameRow,
    discs: ByColor<i32>,
    unsettled_weight: Option<i32>,
}

impl NewGame {
    /// A game that is to be settled later. The ratings before it are known only then.
    pub(super) fn ended(EndedGame { record, weight }: &EndedGame) -> Self {
        Self { unsettled_weight: Some(weight.sixteenths().into()), ..Self::imported(record) }
    }

    /// A game without effect on statistics.
    fn imported(game: &GameRecord) -> Self {
        let discs = ByColor::from_fn(|side| i32::from(game.position.board().count(side)));
        Self { key: game.id.room.bits().cast_signed(), row: GameRow::from(game), discs, unsettled_weight: None }
    }
}

/// A column of games, as an array.
type ArrayColumn<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// The parameters of [`insertion`].
pub(super) fn columns<'a>(games: &[&'a NewGame]) -> Vec<ArrayColumn<'a>> {
    let rows: Vec<_> = games.iter().map(|game| &game.row).collect();
    let mut columns = GameRow::arrays(&rows);
    let integers = |value: fn(&NewGame) -> Option<i32>| -> ArrayColumn<'a> {
        Box::new(games.iter().map(|game| value(game)).collect::<Vec<_>>())
    };
    columns.push(integers(|game| Some(game.discs.black)));
    columns.push(integers(|game| Some(game.discs.white)));
    columns.push(integers(|game| game.unsettled_weight));
    columns.push(Box::new(games.iter().map(|game| game.key).collect::<Vec<_>>()));
    columns
}

/// The parts of a statement that insert games, except known ones, and list them for their players. The parameters of
/// [`columns`] begin at number `first`; only games that `join` finds are inserted. The new ones are in `entered`.
pub(super) fn insertion(first: usize, join: &str) -> String {
    let others = [("black_discs", "int"), ("white_discs", "int"), ("unsettled_weight", "int")];
    let columns: Vec<_> = GameRow::COLUMNS.iter().map(|column| (column.name, column.type_name)).chain(others).collect();
    let arrays = columns.iter().map(|(_, type_name)| *type_name).chain(["bigint"]);
    let arrays: Vec<_> = arrays.zip(first..).map(|(type_name, number)| format!("${number}::{type_name}[]")).collect();
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let selected: Vec<_> = names.iter().map(|name| format!("game.{name}")).collect();
    let [names, selected, arrays] = [names.join(", "), selected.join(", "), arrays.join(", ")];
    format!(
        "entered AS (INSERT INTO games ({names}) SELECT {selected} FROM unnest({arrays}) AS game ({names}, key) {join} \
            ON CONFLICT DO NOTHING RETURNING id, ended_us, black, white), \
        listed AS (INSERT INTO played (contestant, ended_us, game) SELECT black, ended_us, id FROM entered \
            UNION ALL SELECT white, ended_us, id FROM entered ON CONFLICT DO NOTHING)"
    )
}

static ENTER: LazyLock<String> = LazyLock::new(|| format!("WITH {} SELECT count(*) FROM entered", insertion(1, "")));

/// Changes the stored number of games that are settled.
pub(super) const ADDED: &str = "UPDATE archive SET games = games + $1";

/// Inserts games without effect on statistics. Returns the number of new ones.
pub(super) async fn enter(session: &Session, games: &[GameRecord]) -> Result<usize, Error> {
    let games: Vec<_> = games.iter().map(NewGame::imported).collect();
    let games = columns(&games.iter().collect::<Vec<_>>());
    let parameters: Vec<&(dyn ToSql + Sync)> = games.iter().map(|column| &**column as _).collect();
    let added: i64 = session.row(&ENTER, &parameters).await?.map_or(0, |row| row.get(0));
    session.execute(ADDED, &[&added]).await?;
    Ok(usize::try_from(added).unwrap_or_default())
}

/// Reads a stored game. The seeds of its AIs are 0.
pub(super) fn read(row: &Row) -> Result<GameRecord, ReadError> {
    GameRow::from_columns(row)?.read()
}

impl<T: for<'a> FromSql<'a>> ReadColumn<T> for Row {
    fn column(&self, name: &str) -> Result<T, ReadError> {
        column(self, name)
    }
}

impl<'a, T: Sync + 'a> ArrayParameter<'a, T> for ArrayColumn<'a>
where
    &'a T: ToSql,
{
    fn of(values: Vec<&'a T>) -> Self {
        Box::new(values)
    }
}

pub(super) async fn get(
    session: &Session,
    damaged: &DamagedRows,
    id: GameId,
) -> Result<Option<Arc<GameRecord>>, ReadError> {
    let row = session.row("SELECT * FROM games WHERE id = $1", &[&id.to_string()]).await?;
    let game = row.as_ref().map(read).transpose();
    let note = |error: &ReadError| damaged.note("games", &id.to_string(), &error.to_string(), "a row is damaged");
    Ok(game.inspect_err(note)?.map(Arc::new))
}

pub(super) async fn standing(session: &Session, who: &Contestant) -> Result<PlayerStats, ReadError> {
    let row = session.row("SELECT * FROM standings WHERE contestant = $1", &[&who.to_string()]).await?;
    Ok(row.as_ref().map(read_standing).transpose()?.unwrap_or_default())
}

pub(super) fn read_standing(row: &Row) -> Result<PlayerStats, ReadError> {
    let number = |name: &str| Ok::<_, ReadError>(u32::try_from(column::<i32>(row, name)?)?);
    let results = |kind: &str| -> Result<Results, ReadError> {
        let against = |what: &str| number(&format!("{what}_against_{kind}"));
        Ok(Results { won: against("won")?, drawn: against("drawn")?, lost: against("lost")? })
    };
    let rating = match column(row, "rating")? {
        Some(value) => Some(Rating {
            value,
            deviation: column(row, "deviation")?,
            volatility: column(row, "volatility")?,
            games: number("rated_games")?,
        }),
        None => None,
    };
    Ok(PlayerStats { humans: results("humans")?, bots: results("bots")?, ais: results("ais")?, rating })
}

/// Raises the deviation of a rating to that of a new engine.
pub(super) async fn make_provisional(session: &Session, player: PlayerId) -> Result<(), Error> {
    let sql = "UPDATE standings SET deviation = greatest(deviation, $1) WHERE contestant = $2 AND rating IS NOT NULL";
    session.execute(sql, &[&Rating::OF_NEW_ENGINE, &player.to_string()]).await.map(drop)
}

const PUT_STANDING: &str = "INSERT INTO standings (contestant, name, won_against_humans, drawn_against_humans, \
    lost_against_humans, won_against_bots, drawn_against_bots, lost_against_bots, won_against_ais, drawn_against_ais, \
    lost_against_ais, rating, deviation, volatility, rated_games) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (contestant) DO UPDATE SET \
    name = $2, won_against_humans = $3, drawn_against_humans = $4, lost_against_humans = $5, won_against_bots = $6, \
    drawn_against_bots = $7, lost_against_bots = $8, won_against_ais = $9, drawn_against_ais = $10, \
    lost_against_ais = $11, rating = $12, deviation = $13, volatility = $14, rated_games = $15";

pub(super) async fn put_standing(
    session: &Session,
    who: &Contestant,
    name: &str,
    PlayerStats { humans, bots, ais, rating }: PlayerStats,
) -> Result<(), Error> {
    let numbers = |Results { won, drawn, lost }: Results| [won, drawn, lost].map(u32::cast_signed);
    let [humans, bots, ais] = [humans, bots, ais].map(numbers);
    let [value, deviation, volatility] = [
        rating.map(|rating| rating.value),
        rating.map(|rating| rating.deviation),
        rating.map(|rating| rating.volatility),
    ];
    let games = rating.map_or(0, |rating| rating.games.cast_signed());
    let who = who.to_string();
    let ([h0, h1, h2], [b0, b1, b2], [a0, a1, a2]) = (&humans, &bots, &ais);
    let parameters: Parameters<'_> =
        &[&who, &name, h0, h1, h2, b0, b1, b2, a0, a1, a2, &value, &deviation, &volatility, &games];
    session.execute(PUT_STANDING, parameters).await.map(drop)
}

const RANKING: &str = "SELECT standings.*, players.id, players.name, players.kind, players.engine_version FROM standings \
    LEFT JOIN players ON players.id = contestant WHERE rating <= $4 AND (rating < $4 OR contestant > $5) \
    AND (players.id IS NULL OR token IS NOT NULL) AND ($1::float8 IS NULL OR deviation <= $1) \
    AND ($2::text IS NULL OR coalesce(players.kind, 'ai') = $2) ORDER BY rating DESC, contestant LIMIT $3";

/// At most `limit` contestants with a rating, the highest first, after `after`. Damaged rows are passed over.
pub(super) async fn ranking(
    session: &Session,
    damaged: &DamagedRows,
    filter: RankingFilter,
    after: Option<RankingKey>,
    limit: usize,
) -> Result<RankingPage, ReadError> {
    let deviation = (!filter.provisional).then_some(Rating::PROVISIONAL);
    let (kind, (rating, after)) = (filter.kind.map(kind_name), ranking_start(after.as_ref()));
    let rows = session.query(RANKING, &[&deviation, &kind, &i64::try_from(limit)?, &rating, &after]).await?;
    let ranked = rows.iter().filter_map(|row| readable(damaged, "standings", row, ranked(row)));
    Ok(RankingPage::new(ranked.collect(), rows.len() == limit))
}

fn ranked(row: &Row) -> Result<RankedContestant, ReadError> {
    let participant = match column::<&str>(row, "contestant")?.parse()? {
        Contestant::Ai { kind, level } => Participant::Ai(AiSeat { kind, level, seed: 0 }),
        Contestant::Player(_) => Participant::Player(players::read_profile(row)?),
    };
    Ok(RankedContestant { participant, stats: read_standing(row)? })
}
