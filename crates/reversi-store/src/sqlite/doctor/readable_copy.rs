//! A copy of a file that SQLite cannot open, or cannot read as a whole. In the copy SQLite can read the tables.
//!
//! ```text
//!   file ──▶ copy ◀── all sound pages of the write-ahead log, also those behind a damaged one
//!             ├──▶ a header with the number of pages that there are
//!             └──▶ if that is not enough, a list of tables with the texts of this program: their trees are those that are
//!                  named by what is left of the old list, with the leaves that look like theirs and are in no tree
//! ```

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    game_row::{TOURNAMENTS, VERSION},
    sqlite::{
        error::OpenError,
        schema::{self, APPLICATION, OLDEST},
        wal::{self, FILE_MAGIC, field},
    },
};

/// The page size of the files of this program.
const PAGE: usize = 4_096;

/// Bytes of the header of a file.
const HEADER: usize = 100;

/// Maximum levels of a tree.
const LEVELS: usize = 20;

/// The types of pages in a tree: above the leaves, and leaves.
const INDEX: [u8; 2] = [2, 10];
const TABLE: [u8; 2] = [5, 13];

/// The tables that an examination reads, the page types of their trees, and the types of their columns: `i` integer,
/// `t` text, `b` blob, `n` null for the rowid, `?` any, `*` further columns.
const TABLES: [(&str, [u8; 2], &str); 11] = [
    ("players", TABLE, "ttti?i*"),
    ("bans", TABLE, "tti?"),
    ("games", TABLE, "tttttttttiitt*"),
    ("states", TABLE, "nib"),
    ("runs", TABLE, "iib"),
    ("log", TABLE, "nb"),
    ("alive", TABLE, "ni"),
    ("played", INDEX, "tit"),
    ("standings", INDEX, "ttiiiiiiiii*"),
    ("tournaments", TABLE, "iiiiib"),
    ("tournament_events", TABLE, "ibi"),
];

/// Tables that are found only by name: other tables, or pages with deleted rows, look the same.
const ONLY_NAMED: [&str; 2] = ["log", "alive"];

/// A file, or a copy of it, to read.
pub(super) struct Readable {
    pub(super) connection: Connection,
    /// True if the file is empty, without tables.
    pub(super) is_empty: bool,
    /// For a copy: what of the file is damaged, and the copy.
    pub(super) copied: Option<(Vec<String>, TemporaryFile)>,
}

/// A readable copy.
struct ReadableCopy {
    connection: Connection,
    findings: Vec<String>,
    /// True if SQLite finds the tables by the list of the file.
    is_listed: bool,
    /// The last field, so that the connection is closed before.
    copy: TemporaryFile,
}

/// The file of a copy, which is removed with this.
pub(super) struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The next one takes its place.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a file to read, as it is or a copy.
pub(super) fn open(path: &Path) -> Result<Readable, OpenError> {
    let as_it_is = |(connection, version)| Ok(Readable { connection, is_empty: version == 0, copied: None });
    // SQLite would remove what it does not read of a damaged log, and a log without a file.
    let is_cut = fs::metadata(path)?.len() < HEADER as u64;
    let has_damaged_log = wal::read(path)?.is_some_and(|log| is_cut || log.damage().is_some());
    let opened = if has_damaged_log { Err(None) } else { schema::read_as_it_is(path).map_err(Some) };
    let opened = match opened {
        Ok((old, version)) if version == 0 || is_readable(&old) => return as_it_is((old, version)),
        Err(Some(error)) if !error.may_be_damage() => return Err(error),
        opened => opened,
    };
    let copied = make_readable_copy(path);
    let error = match opened {
        // Nothing more can be read in a copy, or there is no space for it.
        Ok(opened) if copied.as_ref().map_or(true, |copied| copied.findings.is_empty()) => return as_it_is(opened),
        Err(Some(error @ OpenError::Foreign)) if !copied.as_ref().is_ok_and(|copied| copied.is_listed) => {
            return Err(error);
        }
        opened => opened.err().flatten(),
    };
    let ReadableCopy { connection, mut findings, copy, .. } = copied?;
    if findings.is_empty() {
        findings.extend(error.map(|error| format!("file: {error}")));
    }
    Ok(Readable { connection, is_empty: false, copied: Some((findings, copy)) })
}

/// Copies a file so that its tables can be read.
fn make_readable_copy(path: &Path) -> Result<ReadableCopy, OpenError> {
    let copy = TemporaryFile(path.with_extension("db.examined"));
    let (mut pages, mut findings) = (Pages::copy(path, &copy.0)?, Vec::new());
    if let Some(log) = wal::read(path)? {
        findings.extend(log.damage().map(|damage| format!("write-ahead log: {damage}; the others are read")));
        log.each(|frame, page| if frame.is_sound { pages.write(frame.number, page) } else { Ok(()) })?;
    }
    let free = pages.free_pages()?;
    pages.mend_header(&mut findings)?;
    let connection = Connection::open(&copy.0)?;
    let is_listed = is_listed(&connection);
    if is_listed && is_readable(&connection) {
        return Ok(ReadableCopy { connection, findings, is_listed, copy });
    }
    let roots = pages.roots(free.as_ref())?;
    if is_listed && is_listed_as(&connection, &roots) {
        return Ok(ReadableCopy { connection, findings, is_listed, copy });
    }
    if roots.is_empty() {
        return Err(OpenError::NoTables);
    }
    connection.close().map_err(|(_, error)| error)?;
    pages.clear_list()?;
    let connection = Connection::open(&copy.0)?;
    findings.push(
        "file: pages with the list of its tables, or above others, are damaged; tables are found by their rows"
            .to_owned(),
    );
    if free.is_none() {
        findings.push("file: rows that were deleted may be back".to_owned());
    }
    for table in
        write_list(&connection, &roots)?.into_iter().filter(|table| read_tables(&connection).any(|name| name == table))
    {
        findings.push(format!("{table}: the table cannot be found"));
    }
    Ok(ReadableCopy { connection, findings, is_listed, copy })
}

/// The tables that an examination reads.
fn read_tables(connection: &Connection) -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().map(|(table, ..)| table).filter(|table| has(connection, table))
}

/// False if the version of the file has no such table.
pub(super) fn has(connection: &Connection, table: &str) -> bool {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    !table.starts_with("tournament") || version.is_ok_and(|version: i32| version >= TOURNAMENTS)
}

/// True if all tables are listed, with their columns, and no page of their trees is damaged.
fn is_readable(connection: &Connection) -> bool {
    let count = |table| {
        let sql = format!("SELECT count(*) FROM {table} NOT INDEXED");
        connection.query_row(&sql, (), |row| row.get::<_, i64>(0))
    };
    is_listed(connection) && read_tables(connection).all(|table| count(table).is_ok())
}

fn is_listed(connection: &Connection) -> bool {
    let columns = |file: &Connection, table: &str| -> rusqlite::Result<Vec<String>> {
        file.prepare("SELECT name FROM pragma_table_xinfo(?)")?.query_map([table], |row| row.get(0))?.collect()
    };
    let Ok(known) = schema::create(Path::new(":memory:")) else { return false };
    read_tables(connection).all(|table| match (columns(connection, table), columns(&known.connection, table)) {
        // Later versions add columns behind the others.
        (Ok(found), Ok(known)) => !found.is_empty() && known.starts_with(&found),
        _ => false,
    })
}

/// True if the list names these roots.
fn is_listed_as(connection: &Connection, roots: &BTreeMap<&str, u32>) -> bool {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? AND rootpage = ?";
    roots.iter().all(|root| connection.query_row(sql, root, |_| Ok(())).optional().is_ok_and(|found| found.is_some()))
}

/// Writes a list of tables, without the unique indexes of tables with rowids. Returns the tables without a known root,
/// which are empty.
fn write_list(connection: &Connection, roots: &BTreeMap<&str, u32>) -> Result<Vec<String>, OpenError> {
    let known = schema::create(Path::new(":memory:"))?.connection;
    let mut select = known.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")?;
    let tables = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let tables = tables.collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    connection.execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA writable_schema = on")?;
    let mut missing = Vec::new();
    for (name, sql) in tables {
        let Some(root) = roots.get(name.as_str()) else {
            missing.push((name, sql));
            continue;
        };
        let sql = match sql.contains("WITHOUT ROWID") {
            true => sql,
            false => ["(room, last)", "(tournament, seq)"]
                .iter()
                .fold(sql.replace("TEXT PRIMARY KEY", "TEXT").replace("bigint PRIMARY KEY", "bigint"), |sql, key| {
                    sql.replace(&format!(",\n    PRIMARY KEY {key}"), "")
                }),
        };
        let insert = "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', ?1, ?1, ?2, ?3)";
        connection.execute(insert, (&name, root, sql))?;
    }
    connection.execute_batch("PRAGMA writable_schema = reset")?;
    for (_, sql) in &missing {
        connection.execute_batch(sql)?;
    }
    // Only for speed: it fails where a page is damaged.
    let _ = connection.execute_batch("CREATE INDEX examined_runs ON runs (room, last)");
    Ok(missing.into_iter().map(|(name, _)| name).collect())
}

/// The pages of a copy, from 1.
struct Pages {
    file: File,
    size: usize,
    count: u32,
}

impl Pages {
    /// Copies a file. The rest of a page that is cut off is empty.
    fn copy(from: &Path, to: &Path) -> io::Result<Self> {
        fs::copy(from, to)?;
        let mut file = File::options().read(true).write(true).open(to)?;
        let mut header = [0; HEADER];
        file.set_len(file.metadata()?.len().max(HEADER as u64))?;
        file.read_exact(&mut header)?;
        let size = match usize::from(u16::from_be_bytes([header[16], header[17]])) {
            1 => 65_536,
            size if size >= 512 && size.is_power_of_two() && header.starts_with(FILE_MAGIC) => size,
            _ => PAGE,
        };
        let count = u32::try_from(file.metadata()?.len().div_ceil(size as u64)).map_err(io::Error::other)?;
        file.set_len(u64::from(count) * size as u64)?;
        Ok(Self { file, size, count })
    }

    fn seek(&self, number: u32) -> io::Result<&File> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(u64::from(number - 1) * self.size as u64))?;
        Ok(file)
    }

    fn read(&self, number: u32) -> io::Result<Vec<u8>> {
        let mut page = vec![0; self.size];
        if (1..=self.count).contains(&number) {
            self.seek(number)?.read_exact(&mut page)?;
        }
        Ok(page)
    }

    fn write(&mut self, number: u32, page: &[u8]) -> io::Result<()> {
        if number == 0 || page.len() != self.size {
            return Ok(());
        }
        self.count = self.count.max(number);
        self.seek(number)?.write_all(page)
    }

    /// The pages that are not used; none if the header, which says where they begin, is damaged.
    fn free_pages(&self) -> io::Result<Option<HashSet<u32>>> {
        let header = self.read(1)?;
        if !header.starts_with(FILE_MAGIC) || field(&header, 68) != APPLICATION.cast_unsigned() {
            return Ok(None);
        }
        let (mut free, mut next) = (HashSet::new(), field(&header, 32));
        while next > 0 && free.insert(next) {
            let trunk = self.read(next)?;
            let leaves = (field(&trunk, 4) as usize).min(self.size / 4 - 2);
            free.extend((0..leaves).map(|leaf| field(&trunk, 8 + 4 * leaf)));
            next = field(&trunk, 0);
        }
        let is_sound = free.iter().all(|page| (2..=self.count).contains(page));
        Ok(Some(free).filter(|_| is_sound))
    }

    /// Writes a sound header, without free pages, with the present version if the file does not say its version.
    fn mend_header(&mut self, findings: &mut Vec<String>) -> io::Result<()> {
        let mut page = self.read(1)?;
        let (stored, changes) = (field(&page, 28), [field(&page, 24), field(&page, 92)]);
        let version = field(&page, 60).cast_signed();
        let is_known = (OLDEST..=VERSION).contains(&version);
        let is_sound = page.starts_with(FILE_MAGIC)
            && page[20..24] == [0, 64, 32, 32]
            && [field(&page, 44), field(&page, 56)] == [4, 1]
            && field(&page, 68) == APPLICATION.cast_unsigned()
            && is_known;
        if !is_sound {
            findings.push("file: its header is damaged".to_owned());
        } else if changes[0] == changes[1] && stored > self.count {
            findings.push(format!("file: it has {} of its {stored} pages; what was on the others is lost", self.count));
        }
        let version = if is_known { version } else { VERSION };
        let size = u16::try_from(self.size).unwrap_or(1);
        page[..16].copy_from_slice(FILE_MAGIC);
        page[16..18].copy_from_slice(&size.to_be_bytes());
        page[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
        let version_field = version.cast_unsigned();
        let fields = [1, self.count, 0, 0, field(&page, 40), 4, 0, 0, 1, version_field, 0, APPLICATION.cast_unsigned()];
        for (place, value) in fields.into_iter().enumerate() {
            page[24 + 4 * place..][..4].copy_from_slice(&value.to_be_bytes());
        }
        page[72..92].fill(0);
        page[92..96].copy_from_slice(&1_u32.to_be_bytes());
        self.write(1, &page)
    }

    /// Makes the list of tables empty.
    fn clear_list(&mut self) -> io::Result<()> {
        let mut page = self.read(1)?;
        page[28..32].copy_from_slice(&self.count.to_be_bytes());
        page[HEADER..].fill(0);
        page[HEADER] = TABLE[1];
        page[HEADER + 5..HEADER + 7].copy_from_slice(&u16::try_from(self.size).unwrap_or(0).to_be_bytes());
        self.write(1, &page)
    }

    /// The roots of the tables that are found. Several trees of one table get a common root.
    fn roots(&mut self, free: Option<&HashSet<u32>>) -> io::Result<BTreeMap<&'static str, u32>> {
        let (mut named, mut trees) = (Vec::new(), Trees::default());
        for number in 1..=self.count {
            let page = self.read(number)?;
            named.extend(named_roots(&page));
            if number > 1 {
                trees.add(number, &page);
            }
        }
        let inner: HashSet<u32> = trees.children.values().flatten().copied().collect();
        let mut roots = BTreeMap::new();
        for (table, kinds, shape) in TABLES {
            let is_top = |(top, kind): &(&u32, &u8)| kinds.contains(kind) && !inner.contains(top);
            let tops = || trees.kinds.iter().filter(is_top).map(|(top, _)| *top);
            let fits = |top: u32| self.first_row(top, &trees).map(|row| has_shape(&row, shape));
            let is_named = |top: u32| named.contains(&(table, top));
            let root = tops().find(|top| is_named(*top) && fits(*top) != Some(false));
            let mut alike: Vec<u32> = Vec::new();
            if !ONLY_NAMED.contains(&table) && (free.is_some() || root.is_none()) {
                let is_free = |top| free.is_some_and(|free| free.contains(&top));
                alike.extend(tops().filter(|top| fits(*top) == Some(true) && root != Some(*top) && !is_free(*top)));
            }
            let root = match (root, kinds) {
                (root, _) if alike.is_empty() => root,
                (root, TABLE) => Some(self.put_above(root.into_iter().chain(alike), &trees)?),
                // In these trees, rows are also above the leaves.
                (root, _) => root.or(alike.into_iter().max_by_key(|top| (trees.leaves(*top, LEVELS).len(), *top))),
            };
            roots.extend(root.map(|root| (table, root)));
        }
        Ok(roots)
    }

    /// Makes one tree of the leaves below `tops`, which are of one table. Returns its root.
    fn put_above(&mut self, tops: impl Iterator<Item = u32>, trees: &Trees) -> io::Result<u32> {
        let mut below = Vec::new();
        for leaf in tops.flat_map(|top| trees.leaves(top, LEVELS)) {
            let page = self.read(leaf)?;
            let last = cells(&page).last().and_then(|mut cell| varint(&mut cell).and_then(|_| varint(&mut cell)));
            below.extend(last.map(|last| (last, leaf)));
        }
        below.sort_unstable();
        // A page that is no longer used may still name leaves of the table.
        below.dedup();
        while below.len() > 1 {
            let mut above = Vec::new();
            for group in below.chunks(self.size / 20) {
                let &[.., (key, right)] = group else { continue };
                let mut number = right;
                if group.len() > 1 {
                    number = self.count + 1;
                    self.write(number, &interior(self.size, group, right))?;
                }
                above.push((key, number));
            }
            below = above;
        }
        Ok(below.first().map_or(0, |(_, root)| *root))
    }

    /// The types of the columns of the first row of a tree; none if it is empty.
    fn first_row(&self, root: u32, trees: &Trees) -> Option<Vec<u64>> {
        let mut number = root;
        for _ in 0..LEVELS {
            match trees.children.get(&number) {
                Some(children) if trees.kinds.get(&number) == Some(&TABLE[0]) => number = *children.first()?,
                _ => break,
            }
        }
        let page = self.read(number).ok()?;
        let kind = page[0];
        let mut cell = cells(&page).next()?;
        if kind == INDEX[0] {
            cell = cell.get(4..)?;
        }
        varint(&mut cell)?;
        if TABLE.contains(&kind) {
            varint(&mut cell)?;
        }
        let whole = cell;
        let length = usize::try_from(varint(&mut cell)?).ok()?;
        let mut header = whole.get(whole.len() - cell.len()..length)?;
        std::iter::from_fn(|| if header.is_empty() { None } else { Some(varint(&mut header)) }).collect()
    }
}

/// The pages of trees, with those below them.
#[derive(Default)]
struct Trees {
    kinds: BTreeMap<u32, u8>,
    children: HashMap<u32, Vec<u32>>,
}

impl Trees {
    fn add(&mut self, number: u32, page: &[u8]) {
        let kind = page[0];
        if INDEX.contains(&kind) || TABLE.contains(&kind) {
            self.kinds.insert(number, kind);
        }
        if [INDEX[0], TABLE[0]].contains(&kind) {
            self.children.insert(number, cells(page).map(|cell| field(cell, 0)).chain([field(page, 8)]).collect());
        }
    }

    /// The leaves below a page, or the page itself if it is a leaf.
    fn leaves(&self, top: u32, levels: usize) -> Vec<u32> {
        match self.children.get(&top) {
            Some(children) if levels > 0 => children.iter().flat_map(|child| self.leaves(*child, levels - 1)).collect(),
            Some(_) => Vec::new(),
            None if self.kinds.contains_key(&top) => vec![top],
            None => Vec::new(),
        }
    }
}

/// A page above others, with the last rowid of each but the last.
fn interior(size: usize, below: &[(u64, u32)], right: u32) -> Vec<u8> {
    let (mut page, mut end) = (vec![0; size], size);
    let count = below.len() - 1;
    for (place, (key, child)) in below[..count].iter().enumerate() {
        let mut cell = child.to_be_bytes().to_vec();
        let groups = (64 - key.leading_zeros()).div_ceil(7).max(1);
        cell.extend(
            (0..groups).rev().map(|group| (key >> (7 * group)) as u8 & 0x7f | if group > 0 { 0x80 } else { 0 }),
        );
        end -= cell.len();
        page[end..end + cell.len()].copy_from_slice(&cell);
        page[12 + 2 * place..][..2].copy_from_slice(&(end as u16).to_be_bytes());
    }
    page[0] = TABLE[0];
    page[3..5].copy_from_slice(&(count as u16).to_be_bytes());
    page[5..7].copy_from_slice(&(end as u16).to_be_bytes());
    page[8..12].copy_from_slice(&right.to_be_bytes());
    page
}

/// The cells of a page of a tree, each as the bytes from its start to the end of the page.
fn cells(page: &[u8]) -> impl Iterator<Item = &[u8]> {
    let pointers = if [INDEX[0], TABLE[0]].contains(&page[0]) { 12 } else { 8 };
    let count = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let pointers = page[pointers..].as_chunks::<2>().0.iter().take(count);
    pointers.filter_map(|pointer| page.get(usize::from(u16::from_be_bytes(*pointer))..))
}

/// The roots that a page of the list of tables names, also where its cells are damaged or deleted. A cell has the name
/// of a table twice, then its root, then its text.
fn named_roots(page: &[u8]) -> Vec<(&'static str, u32)> {
    const TEXT: &[u8] = b"CREATE TABLE";
    let mut roots = Vec::new();
    for at in (0..page.len()).filter(|at| page[*at..].starts_with(TEXT)) {
        for (table, ..) in TABLES {
            let name = format!("table{table}{table}");
            for length in 1..=4_usize.min(at) {
                let (before, root) = page[..at].split_at(at - length);
                if before.ends_with(name.as_bytes()) {
                    roots.push((table, root.iter().fold(0, |root, byte| root << 8 | u32::from(*byte))));
                }
            }
        }
    }
    roots
}

fn has_shape(row: &[u64], shape: &str) -> bool {
    let (columns, is_open) = shape.strip_suffix('*').map_or((shape, false), |columns| (columns, true));
    let is = |(kind, column): (&u64, u8)| match column {
        b'n' => *kind == 0,
        b'i' => matches!(kind, 1..=6 | 8 | 9),
        b'b' => *kind >= 12 && kind.is_multiple_of(2),
        b't' => *kind >= 13 && !kind.is_multiple_of(2),
        _ => true,
    };
    (row.len() == columns.len() || (is_open && row.len() > columns.len())) && row.iter().zip(columns.bytes()).all(is)
}

/// Reads a number of SQLite: seven bits a byte, the highest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for _ in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value = value << 7 | u64::from(byte & 0x7f);
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}
