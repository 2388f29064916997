//! PostgreSQL servers for tests, each with a temporary folder, and a schema for each store.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use reversi_store::{PostgresError, PostgresStore, Store};
use tempfile::TempDir;

/// The id of the user `nobody`: PostgreSQL refuses to run as root.
pub(crate) const NOBODY: u32 = 65_534;

/// Makes a server in a folder, as a standby of the one in another folder if there is one; starts it for each line that
/// is read; and stops and removes it when the test's process ends, also if that is killed.
const SCRIPT: &str = r#"
set -e
trap '' HUP INT PIPE TERM
bin=$1 folder=$2 primary=$3
if [ "$primary" ]; then
    "$bin/pg_basebackup" -h "$primary" -U reversi -D "$folder/data" -R -c fast --no-sync >"$folder/log" 2>&1
else
    "$bin/initdb" -D "$folder/data" -U reversi -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
fi
while read -r _; do
    # After a crash, until the processes of the one before have ended.
    tries=0
    until "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -o "-k $folder -c listen_addresses=" start \
        >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || exit 1
    done
    echo ready || break
done
# It may have been killed.
"$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
rm -rf "$folder"
"#;

/// The interval and the number of checks that the standby is synchronous.
const AGAIN: Duration = Duration::from_millis(50);
const CHECKS: u32 = 600;

/// A running server.
pub(crate) struct PostgresServer {
    bin: PathBuf,
    folder: PathBuf,
    /// Stops the server when its input is closed.
    script: Mutex<Child>,
    schemas: AtomicU32,
}

/// A schema of a server, for one store.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) server: &'static PostgresServer,
    pub(crate) schema: String,
}

/// An empty database on the server that all tests share.
pub(crate) fn database() -> Database {
    static SHARED: OnceLock<&PostgresServer> = OnceLock::new();
    SHARED.get_or_init(PostgresServer::start).database()
}

/// Whether the server needs another user than the tests: it refuses to run as root.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}

/// The folder of the newest PostgreSQL on this machine.
fn bin() -> PathBuf {
    let version = |path: &PathBuf| path.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let bins = installed.map(|entry| entry.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    bins.max_by_key(version).expect("PostgreSQL in /usr/lib/postgresql")
}

impl PostgresServer {
    /// Starts a new server, which lives as long as the process.
    pub(crate) fn start() -> &'static Self {
        Self::start_in_new_folder(bin(), "")
    }

    /// Starts a standby, on which each commit is as well from now on before it is answered.
    #[allow(dead_code, reason = "not used by tests/core")]
    pub(crate) fn start_standby(&self) -> &'static Self {
        let standby = Self::start_in_new_folder(self.bin.clone(), self.folder.to_str().expect("text"));
        self.sql("public", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.sql("public", "SELECT pg_reload_conf()");
        let is_synchronous = || self.sql("public", "SELECT sync_state FROM pg_stat_replication") == "sync";
        for _ in 0..CHECKS {
            if is_synchronous() {
                return standby;
            }
            thread::sleep(AGAIN);
        }
        panic!("the standby is not synchronous after {:?}", CHECKS * AGAIN);
    }

    /// Makes a primary of a standby.
    #[allow(dead_code, reason = "not used by tests/core")]
    pub(crate) fn promote(&self) {
        assert_eq!(self.sql("public", "SELECT pg_promote()"), "t");
    }

    fn start_in_new_folder(bin: PathBuf, primary: &str) -> &'static Self {
        // The script removes it.
        let folder = TempDir::with_prefix("pg").expect("a temporary folder").keep();
        if is_root() {
            chown(&folder, Some(NOBODY), Some(NOBODY)).expect("root may do that");
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh"]).args([&bin, &folder]).arg(primary).current_dir("/");
        if is_root() {
            shell.uid(NOBODY).gid(NOBODY);
        }
        let script = Mutex::new(shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell"));
        let server = Self { bin, folder, script, schemas: AtomicU32::new(0) };
        server.run();
        Box::leak(Box::new(server))
    }

    /// Starts the server, also after [`Self::kill`].
    pub(crate) fn run(&self) {
        let mut script = self.script.lock().unwrap();
        let asked = script.stdin.as_mut().expect("piped").write_all(b"start\n");
        let mut line = String::new();
        BufReader::new(script.stdout.as_mut().expect("piped")).read_line(&mut line).expect("readable");
        let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(asked.is_ok() && line == "ready\n", "{}", log());
    }

    /// Ends all its processes at once, as a crash of its machine would.
    pub(crate) fn kill(&self) {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("a running server");
        let process = file.lines().next().expect("its number");
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        let killed = Command::new("kill").args(["-9", process]).status().expect("kill");
        assert!(killed.success(), "the server was not killed");
        // Some may have ended by themselves, or because it has.
        Command::new("kill").arg("-9").args(children.split_whitespace()).output().expect("kill");
        // The process may be there until its parent asks for it.
        fs::remove_file(self.folder.join("data/postmaster.pid")).expect("removable");
    }

    /// A schema with its own name.
    pub(crate) fn database(&'static self) -> Database {
        let schema = format!("store{}", self.schemas.fetch_add(1, Ordering::Relaxed));
        self.sql("public", &format!("CREATE SCHEMA {schema}"));
        Database { server: self, schema }
    }

    /// Executes SQL by another program, and returns what it prints.
    pub(crate) fn sql(&self, schema: &str, sql: &str) -> String {
        let path = format!("SET search_path TO {schema}");
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-qAt", "-v", "ON_ERROR_STOP=1", "-U", "reversi", "-d", "postgres", "-c", &path, "-c", sql]);
        let done = psql.arg("-h").arg(&self.folder).output().expect("psql");
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("text").trim().to_owned()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The URL of a schema, by the folders of the sockets of a server and of its standbys.
pub(crate) fn url(folders: &[&Path], schema: &str) -> String {
    let hosts: Vec<_> = folders.iter().map(|folder| folder.to_str().expect("text").replace('/', "%2F")).collect();
    format!("postgres://reversi@{}/postgres?options=-csearch_path%3D{schema}", hosts.join(","))
}

/// A transaction of another program, which holds its locks until this is dropped.
pub(crate) struct HeldLock {
    psql: Child,
    database: Database,
    process: String,
}

impl HeldLock {
    /// Whether a statement waits for its locks.
    #[allow(dead_code, reason = "used by tests/store only")]
    pub(crate) fn is_waited_for(&self) -> bool {
        let waiting =
            format!("SELECT count(*) FROM pg_stat_activity WHERE {} = ANY(pg_blocking_pids(pid))", self.process);
        self.database.sql(&waiting) != "0"
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.psql.stdin = None;
        let _ = self.psql.wait();
    }
}

impl Database {
    /// Takes locks by statements, in a transaction that stays open.
    #[allow(dead_code, reason = "used by tests/store only")]
    pub(crate) fn lock(&self, sql: &str) -> HeldLock {
        let mut psql = Command::new(self.server.bin.join("psql"));
        psql.args(["-qAt", "-v", "ON_ERROR_STOP=1", "-U", "reversi", "-d", "postgres", "-h"]).arg(&self.server.folder);
        let mut psql = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql");
        let script =
            format!("SET search_path TO {}; BEGIN; {sql}; SELECT 'locked by ' || pg_backend_pid();\n", self.schema);
        psql.stdin.as_mut().expect("piped").write_all(script.as_bytes()).expect("writable");
        let lines = BufReader::new(psql.stdout.as_mut().expect("piped")).lines();
        let process = lines.map_while(Result::ok).find_map(|line| Some(line.strip_prefix("locked by ")?.to_owned()));
        HeldLock { psql, database: self.clone(), process: process.expect("locked") }
    }

    pub(crate) fn url(&self) -> String {
        url(&[self.server.folder()], &self.schema)
    }

    pub(crate) async fn try_open(&self) -> Result<PostgresStore, PostgresError> {
        PostgresStore::open(&self.url(), Duration::from_secs(60)).await
    }

    #[allow(dead_code, reason = "not used by tests/server")]
    pub(crate) async fn open(&self) -> Store {
        Store::of(self.try_open().await.expect("the store is opened"))
    }

    pub(crate) fn sql(&self, sql: &str) -> String {
        self.server.sql(&self.schema, sql)
    }
}
