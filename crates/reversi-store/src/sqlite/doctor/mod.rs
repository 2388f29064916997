//! Examines the file of a stopped server, and makes a new one of what can be read.
//!
//! ```text
//!   old file ──▶ each row by itself ──▶ readable ──▶ counted; to repair, written to a new file
//!                                          └──▶ damaged: a finding that says what is lost
//! ```
//!
//! The new file takes the old one's place, which is kept beside it, so that nothing more is lost.

mod readable_copy;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs::{self, File},
    path::{Path, PathBuf},
};

use reversi_engine::rules::Color;
use reversi_room::{EndReason, GameRecord, RoomId, Seq};
use rusqlite::{Connection, Row, params_from_iter, types::Value};

use self::readable_copy::{Readable, TemporaryFile};
use super::{
    SqliteStore, create_file,
    damage::ReadError,
    error::OpenError,
    games, lock,
    log::{self, Run, write_behind::WriteBehind},
    players,
    rooms::{self, cut_after},
    scan::{self, Gap},
    schema, tournaments, wal,
};
use crate::{
    contestant::Contestant,
    game_row::{GameRow, name_of},
    journal::EndedGame,
    player_stats::glicko::RatingWeight,
    player_stats::recent_games::RecentGames,
    player_stats::{OpponentKind, PlayerStats, Results, settlement},
};

/// Maximum number of findings that are described.
const DESCRIBED: usize = 1_000;

/// Maximum number of lines that SQLite's own check reports.
const CHECKED: usize = 100;

/// What an examination found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// What is damaged, and what is lost by it, a sentence each. At most 1,000.
    pub findings: Vec<String>,
    /// Number of findings beyond those.
    pub more: u64,
    /// Games that can be read.
    pub games: u64,
    /// Open rooms that can be read.
    pub rooms: u64,
    /// Players and former players that can be read.
    pub players: u64,
}

/// Follows an examination.
pub trait Observer {
    /// A step begins.
    fn begin(&mut self, step: &'static str, rows: u64);
    /// One more row of the step is done.
    fn advance(&mut self);
    /// A game can be read.
    fn found(&mut self, game: &GameRecord);
}

/// The file of a stopped server.
pub struct Doctor {
    old: Connection,
    /// True if the file is empty, without tables.
    is_empty: bool,
    path: PathBuf,
    /// If the file cannot be read as it is: what of it is damaged, and the copy that `old` reads.
    copied: Option<(Vec<String>, TemporaryFile)>,
    /// Locked, so that no server starts meanwhile. The last field, as in [`SqliteStore`].
    _lock: File,
}

impl Doctor {
    /// Opens the file of a folder, which must exist.
    ///
    /// # Errors
    /// When a server uses the file, it is no database of a version that this program can upgrade, or none of its tables
    /// can be found. If SQLite cannot read it as it is, a copy is made beside it, for which there may be no space.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let path = folder.join(SqliteStore::FILE);
        if !path.exists() {
            wal::mark::check(&path)?;
            return Err(OpenError::Missing);
        }
        let lock = lock(folder)?;
        if let Err(error) = wal::mark::check(&path)
            && !error.may_be_damage()
        {
            return Err(error);
        }
        let Readable { connection: old, is_empty, copied } = readable_copy::open(&path)?;
        Ok(Self { old, is_empty, path, copied, _lock: lock })
    }

    /// Reads the whole file. Changes nothing.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    pub fn examine(&self, observer: &mut dyn Observer) -> Result<Diagnosis, OpenError> {
        self.examination(None, observer).run()
    }

    /// Puts a new file with all that can be read in the place of the old one. Returns what is in it, and where the old
    /// file is.
    ///
    /// # Errors
    /// When the new file cannot be written, or another program uses the old one; then nothing has changed.
    pub fn repair(self, observer: &mut dyn Observer) -> Result<(Diagnosis, PathBuf), OpenError> {
        let [old, new] = [&self.path, &self.path.with_extension("db.repaired")];
        remove_file(new)?;
        create_file(new)?;
        give_owner(old, new).map_err(OpenError::Owner)?;
        let copy = schema::create(new)?.connection;
        // Until it is complete, no crash matters.
        copy.pragma_update(None, "journal_mode", "off")?;
        copy.execute_batch("BEGIN")?;
        let diagnosis = self.examination(Some(&copy), observer).run()?;
        copy.execute_batch("COMMIT")?;
        copy.close().map_err(|(_, error)| error)?;
        File::open(new)?.sync_all()?;
        self.old.close().map_err(|(_, error)| error)?;
        // It would be taken for the log of the new file.
        let has_log = wal::exists(old);
        if has_log && self.copied.is_none() {
            return Err(OpenError::InUse);
        }
        let kept = unused(old, "damaged");
        fs::hard_link(old, &kept).or_else(|_| fs::copy(old, &kept).map(drop))?;
        if has_log {
            fs::rename(wal::path_of(old), wal::path_of(&kept))?;
        }
        fs::rename(new, old)?;
        Ok((diagnosis, kept))
    }

    fn examination<'a>(&'a self, new: Option<&'a Connection>, observer: &'a mut dyn Observer) -> Examination<'a> {
        let (results, known) = (HashMap::new(), HashSet::new());
        Examination {
            old: &self.old,
            is_empty: self.is_empty,
            copied: self.copied.as_ref().map(|(findings, _)| findings),
            new,
            observer,
            diagnosis: Diagnosis::default(),
            results,
            known,
        }
    }
}

/// Gives a file the owner and the mode of another: the server may run as another user than the doctor.
#[cfg(unix)]
pub(super) fn give_owner(of: &Path, to: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let [old, new] = [fs::metadata(of)?, fs::metadata(to)?];
    if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
        chown(to, Some(old.uid()), Some(old.gid()))?;
    }
    fs::set_permissions(to, old.permissions())
}

#[cfg(not(unix))]
pub(super) fn give_owner(_: &Path, _: &Path) -> std::io::Result<()> {
    Ok(())
}

pub(super) fn remove_file(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A name for the old file: `reversi.db.damaged`, with a number if there is such a file.
pub(super) fn unused(path: &Path, what: &str) -> PathBuf {
    let mut name = path.with_extension(format!("db.{what}"));
    let mut number = 1;
    while name.exists() {
        number += 1;
        name = path.with_extension(format!("db.{what}-{number}"));
    }
    name
}

/// The columns of the tables that are copied as they are, in order.
const PLAYER_COLUMNS: &str = "id, name, kind, seats, token, seen_us, name_key, claimed";
const ADDED_PLAYER_COLUMNS: &str = "availability, engine_version";
const STATE_COLUMNS: &str = "room, seq, state";
const RUN_COLUMNS: &str = "room, last, events";

/// The events of open rooms that are only in the log; and the rooms with lost events, each with the last event before.
type Logged = (BTreeMap<RoomId, Run>, BTreeMap<RoomId, Seq>);

struct Examination<'a> {
    old: &'a Connection,
    is_empty: bool,
    /// If the file is read in a copy: what of it is damaged.
    copied: Option<&'a Vec<String>>,
    /// The new file, which gets all that can be read; none for an examination only.
    new: Option<&'a Connection>,
    observer: &'a mut dyn Observer,
    diagnosis: Diagnosis,
    /// The results of all stored games, with the names of the contestants.
    results: HashMap<Contestant, (String, PlayerStats)>,
    /// Contestants who have played here; players of imported games have no results.
    known: HashSet<Contestant>,
}

impl Examination<'_> {
    fn run(mut self) -> Result<Diagnosis, OpenError> {
        if self.is_empty {
            return Ok(self.diagnosis);
        }
        match self.copied {
            // These findings replace a check of the pages, which are those of the copy.
            Some(findings) => findings.iter().for_each(|finding| self.found(finding.clone())),
            None => self.check_pages(),
        }
        self.check_players()?;
        self.check_bans()?;
        self.check_games()?;
        self.check_rooms()?;
        self.check_standings()?;
        self.check_tournaments()?;
        Ok(self.diagnosis)
    }

    fn found(&mut self, finding: String) {
        if self.diagnosis.findings.len() < DESCRIBED {
            self.diagnosis.findings.push(finding);
        } else {
            self.diagnosis.more += 1;
        }
    }

    fn found_gap(&mut self, table: &str, gap: Option<Gap>) {
        if let Some(Gap { after, before, read }) = gap {
            let until = if before == i64::MAX { "the end".to_owned() } else { format!("row {before}") };
            self.found(format!(
                "{table}: pages between row {after} and {until} are damaged; {read} of these rows can be read, the others \
                are lost"
            ));
        }
    }

    /// Reports what SQLite finds: damaged pages, and indexes that disagree with their tables.
    fn check_pages(&mut self) {
        self.observer.begin("the pages of the file", 0);
        let old = self.old;
        let lines = || -> rusqlite::Result<Vec<String>> {
            let mut check = old.prepare(&format!("PRAGMA integrity_check({CHECKED})"))?;
            check.query_map([], |row| row.get(0))?.collect()
        };
        match lines() {
            Ok(lines) => lines.iter().filter(|line| *line != "ok").for_each(|line| self.found(format!("file: {line}"))),
            Err(error) => self.found(format!("file: {error}")),
        }
    }

    fn check_players(&mut self) -> Result<(), OpenError> {
        let rows = self.rows("players");
        self.observer.begin("players", rows);
        // Earlier versions lack the added columns.
        let has_all = self.old.prepare(&format!("SELECT {ADDED_PLAYER_COLUMNS} FROM players")).is_ok();
        let columns = format!(
            "{PLAYER_COLUMNS}, {}",
            if has_all { ADDED_PLAYER_COLUMNS } else { "NULL AS availability, NULL AS engine_version" }
        );
        let gap = scan::each(self.old, "players", &columns, &mut |number, row| {
            self.observer.advance();
            match players::check(row) {
                Ok(profile) => {
                    if !self.known.insert(Contestant::Player(profile.id)) {
                        self.found(format!("players, row {number}: another row has the same id; this one is left out"));
                        return Ok(());
                    }
                    self.diagnosis.players += 1;
                    self.copy("players", &format!("{PLAYER_COLUMNS}, {ADDED_PLAYER_COLUMNS}"), row)?;
                }
                Err(error) => {
                    self.found(format!("players, row {number}: {error}; the player's name and token are lost"));
                }
            }
            Ok(())
        })?;
        self.found_gap("players", gap);
        Ok(())
    }

    fn check_bans(&mut self) -> Result<(), OpenError> {
        let gap =
            scan::each(self.old, "bans", players::BAN_COLUMNS, &mut |number, row| match players::read_ban(row) {
                Ok(_) => self.copy("bans", players::BAN_COLUMNS, row),
                Err(error) => {
                    self.found(format!("bans, row {number}: {error}; the ban is lost"));
                    Ok(())
                }
            })?;
        self.found_gap("bans", gap);
        Ok(())
    }

    fn check_games(&mut self) -> Result<(), OpenError> {
        let counted = self.old.query_row("SELECT games FROM archive", [], |row| row.get::<_, i64>(0));
        self.observer.begin("games", self.rows("games"));
        let (mut rows, mut played, mut missing) = (0, 0, 0);
        let gap = scan::each(self.old, "games", "*", &mut |number, row| {
            self.observer.advance();
            rows += 1;
            let (columns, mut game) = match GameRow::from_columns(row).and_then(|row| Ok((row.read()?, row))) {
                Ok((game, columns)) => (columns, game),
                Err(error) => {
                    let id = row.get("id").unwrap_or_else(|_| "of unknown id".to_owned());
                    self.found(format!("games, row {number}: {error}; game {id} is lost"));
                    return Ok(());
                }
            };
            if let Err(error) = games::check(row, &columns) {
                self.found(format!("game {}: {error}; it is taken as it is", game.id));
            }
            if let Err(error) = check_game(row, &game) {
                self.found(format!("game {}: {error}; it is taken as its moves say", game.id));
                if game.end.reason == EndReason::Discs
                    && let Some(outcome) = game.position.outcome()
                {
                    game.end.winner = outcome.winner;
                }
            }
            if let Some(new) = self.new
                && !games::enter(new, &game)?
            {
                self.found(format!("games, row {number}: another row has game {}; this one is left out", game.id));
                return Ok(());
            }
            for who in contestants(&game) {
                played += 1;
                missing += i64::from(!self.is_listed(&who, &game));
            }
            self.count(&game);
            self.observer.found(&game);
            Ok(())
        })?;
        self.found_gap("games", gap);
        if counted != Ok(rows) && gap.is_none() {
            self.found(format!("archive: the number of games is not {rows}; a repair counts them again"));
        }
        let listed = self.old.query_row("SELECT count(*) FROM played", [], |row| row.get::<_, i64>(0));
        if missing > 0 || listed != Ok(played) {
            self.found("played: the lists of the players' games are wrong; a repair makes them again".to_owned());
        }
        Ok(())
    }

    fn is_listed(&self, who: &Contestant, game: &GameRecord) -> bool {
        let sql = "SELECT 1 FROM played WHERE contestant = ? AND ended_us = ? AND game = ?";
        let key = (who.to_string(), game.ended.0, game.id.to_string());
        self.old.prepare_cached(sql).and_then(|mut select| select.exists(key)).unwrap_or(false)
    }

    /// Adds a game to the results of its players.
    fn count(&mut self, game: &GameRecord) {
        self.diagnosis.games += 1;
        let ended = EndedGame { record: game.clone(), weight: RatingWeight::NONE };
        let before = |who: &Contestant| Ok(self.results.get(who).map(|(_, stats)| *stats).unwrap_or_default());
        // Without weight a game changes no rating, so recent games do not matter.
        let Ok(after) = settlement::<std::convert::Infallible>(&ended, before, |_| Ok(RecentGames::default()));
        for (who, stats) in after.stats {
            let name = name_of(game, &who);
            self.results.insert(who, (name, stats));
        }
    }

    fn check_log(&mut self) -> Result<Logged, OpenError> {
        let readable = log::read(self.old)?;
        let log = WriteBehind::of(self.old, &readable, usize::MAX)?;
        self.found_gap("log", readable.gap);
        for (room, last) in log.cut() {
            self.found(format!(
                "open rooms: room {room} had events in a damaged part of the log; {}",
                cut_after(*last)
            ));
        }
        if log.has_damaged_rows() || self.rows("log WHERE id < 0") > 0 {
            self.found("log: rows are damaged; the last events of open rooms may be lost".to_owned());
        }
        if self.rows(&format!("sqlite_schema WHERE name LIKE '{}%'", log::SET_ASIDE)) > 0 {
            self.found("log: a server has set aside a damaged one, and kept what could be read".to_owned());
        }
        Ok((log.all_pending(None), log.cut().clone()))
    }

    fn check_rooms(&mut self) -> Result<(), OpenError> {
        let (pending, cut) = self.check_log()?;
        // First, as this time is used to credit the clocks of rooms that have lost events.
        match rooms::last_alive(self.old) {
            Ok(_) => self.copy_where("alive", "id, us", "true")?,
            Err(error) => self.found(format!("alive: {error}; clocks are not credited for the server's absence")),
        }
        let mut ids: BTreeSet<RoomId> = pending.keys().copied().collect();
        for table in ["states", "runs"] {
            let gap = scan::each(self.old, table, "room", &mut |_, row| {
                ids.extend(row.get(1).ok().map(|id: i64| RoomId::from_random(id.cast_unsigned())));
                Ok(())
            })?;
            self.found_gap(table, gap);
        }
        self.observer.begin("open rooms", ids.len() as u64);
        let none = Run::default();
        for room in ids {
            self.observer.advance();
            let run = pending.get(&room).unwrap_or(&none);
            match rooms::load(self.old, room, run) {
                Ok(None) => {}
                Ok(Some(history)) => {
                    self.diagnosis.rooms += 1;
                    let key = room.bits().cast_signed();
                    for (table, columns) in [("states", STATE_COLUMNS), ("runs", RUN_COLUMNS)] {
                        self.copy_where(table, columns, &format!("room = {key}"))?;
                    }
                    if let Some(new) = self.new {
                        rooms::append_run(new, room, run.events())?;
                        if cut.contains_key(&room) {
                            rooms::append_credit(new, &history.latest())?;
                        }
                    }
                }
                Err(error) => self.salvage(room, run, &error)?,
            }
        }
        Ok(())
    }

    /// Takes what can be used of a damaged room.
    fn salvage(&mut self, room: RoomId, run: &Run, error: &ReadError) -> Result<(), OpenError> {
        match rooms::salvage(self.old, room, run) {
            Ok(salvage) => {
                self.found(format!("open rooms: room {room} is damaged: {error}; {}", salvage.describe()));
                self.diagnosis.rooms += 1;
                if let Some(new) = self.new {
                    salvage.write(new)?;
                }
            }
            Err(_) => self.found(format!("open rooms: room {room} and its running game are lost: {error}")),
        }
        Ok(())
    }

    /// Checks that results are not below those of the stored games. They may be above: removed games stay counted.
    fn check_standings(&mut self) -> Result<(), OpenError> {
        let rows = self.rows("standings");
        self.observer.begin("results and ratings", rows);
        let mut results = std::mem::take(&mut self.results);
        let gap = scan::each_keyed(self.old, "standings", "contestant", &mut |row| {
            self.observer.advance();
            let who = row.get::<_, String>("contestant").map_err(ReadError::from);
            let who: Contestant = match who.and_then(|who| Ok(who.parse()?)) {
                Ok(who) => who,
                Err(error) => {
                    self.found(format!("standings: {error}; somebody's results and rating are lost"));
                    return Ok(());
                }
            };
            self.known.insert(who.clone());
            let (name, played) = results.remove(&who).unwrap_or_default();
            let stored = games::read_standing(row).map_err(|error| error.to_string());
            let name = row.get("name").unwrap_or(name);
            let right = match &stored {
                Ok(stored) => at_least(*stored, played),
                Err(error) => {
                    self.found(format!(
                        "standings of {who}: {error}; the rating begins again, and the results are those of the stored games"
                    ));
                    played
                }
            };
            if stored.is_ok_and(|stored| stored != right) {
                self.found(format!("standings of {who}: fewer games than are stored; a repair counts them again"));
            }
            self.write_standing(&who, &name, &right)
        })?;
        if gap {
            self.found(
                "standings: a page is damaged; the ratings on it are lost, results are counted again".to_owned(),
            );
        }
        for (who, (name, stats)) in results {
            if matches!(who, Contestant::Ai { .. }) || self.known.contains(&who) {
                self.found(format!("standings of {who}: missing; the rating is lost, the results are counted again"));
                self.write_standing(&who, &name, &stats)?;
            }
        }
        Ok(())
    }

    /// Copies the rows of tournaments as they are: their bytes have checksums that only others know.
    fn check_tournaments(&mut self) -> Result<(), OpenError> {
        for (table, columns) in tournaments::TABLES.into_iter().filter(|(table, _)| readable_copy::has(self.old, table))
        {
            let gap = scan::each(self.old, table, columns, &mut |number, row| {
                if tournaments::is_readable(row, columns) {
                    return self.copy(table, columns, row);
                }
                self.found(format!("{table}, row {number}: a value has a wrong type; the row is lost"));
                Ok(())
            })?;
            self.found_gap(table, gap);
        }
        Ok(())
    }

    fn write_standing(&self, who: &Contestant, name: &str, stats: &PlayerStats) -> rusqlite::Result<()> {
        self.new.map_or(Ok(()), |new| games::put_standing(new, who, name, stats))
    }

    /// Number of rows of a table, for the progress; 0 if they cannot be counted.
    fn rows(&self, table: &str) -> u64 {
        let count = self.old.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
        count.unwrap_or(0).unsigned_abs()
    }

    fn copy_where(&mut self, table: &str, columns: &str, condition: &str) -> rusqlite::Result<()> {
        if self.new.is_none() {
            return Ok(());
        }
        let mut select = self.old.prepare(&format!("SELECT rowid, {columns} FROM {table} WHERE {condition}"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            self.copy(table, columns, row)?;
        }
        Ok(())
    }

    /// Writes a row, whose first column is the rowid, to the new file.
    fn copy(&mut self, table: &str, columns: &str, row: &Row<'_>) -> rusqlite::Result<()> {
        let Some(new) = self.new else { return Ok(()) };
        let count = columns.split(',').count();
        let sql = format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({})", vec!["?"; count].join(", "));
        let values = (1..=count).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<Value>>>()?;
        if new.prepare_cached(&sql)?.execute(params_from_iter(values))? == 0 {
            let number: i64 = row.get(0)?;
            self.found(format!("{table}, row {number}: another row has the same key; this one is left out"));
        }
        Ok(())
    }
}

/// Compares what is stored of a game with its moves.
fn check_game(row: &Row<'_>, game: &GameRecord) -> Result<(), ReadError> {
    let board = game.position.board();
    let [black, white]: [u8; 2] = [row.get("black_discs")?, row.get("white_discs")?];
    if [black, white] != [board.count(Color::Black), board.count(Color::White)] {
        return Err(format!("the stored discs, {black} - {white}, are not those of its last position").into());
    }
    let placed = game.plies.iter().filter(|ply| ply.square.is_some()).count();
    if row.get::<_, String>("times_ms")?.split_whitespace().count() != placed {
        return Err("it has not one time for each move".into());
    }
    let outcome = game.position.outcome();
    if game.end.reason == EndReason::Discs && outcome.is_none_or(|outcome| outcome.winner != game.end.winner) {
        return Err("its stored winner is not that of its last position".into());
    }
    Ok(())
}

/// The contestants of a game, without repetition.
fn contestants(game: &GameRecord) -> Vec<Contestant> {
    let mut both: Vec<_> = game.players.iter().map(|(_, player)| Contestant::from(player)).collect();
    both.dedup();
    both
}

/// `stored`, with each number of results raised to that of `least`.
fn at_least(stored: PlayerStats, least: PlayerStats) -> PlayerStats {
    let (mut most, mut least) = (stored, least);
    for kind in [OpponentKind::Human, OpponentKind::Bot, OpponentKind::Ai] {
        let (stored, played) = (most.against(kind), *least.against(kind));
        *stored = Results {
            won: stored.won.max(played.won),
            drawn: stored.drawn.max(played.drawn),
            lost: stored.lost.max(played.lost),
        };
    }
    most
}
