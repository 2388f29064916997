//! PgBouncer between the store and its database.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::{fs::chown, process::CommandExt as _},
    process::{Child, Command, Stdio},
    time::Duration,
};

use reversi_needs::needs;
use reversi_store::{NodeTable, PostgresError, PostgresStore};
use tempfile::TempDir;

use super::server::{Database, NOBODY, database, is_root, url};

/// A running pooler.
struct Pooler {
    process: Child,
    folder: TempDir,
}

impl Pooler {
    fn start(database: &Database, mode: &str) -> Self {
        let folder = TempDir::with_prefix("pool").unwrap();
        let (place, server) = (folder.path().display(), database.server.folder().display());
        // A reset would also undo the search path.
        let settings = format!(
            "[databases]\n* = host={server} user=reversi connect_query='SET search_path TO {}'\n[pgbouncer]\n\
            pool_mode = {mode}\nunix_socket_dir = {place}\nlisten_port = 5432\nauth_type = any\n\
            ignore_startup_parameters = options\nserver_reset_query =\n",
            database.schema
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, settings).unwrap();
        let mut command = Command::new("/usr/sbin/pgbouncer");
        if is_root() {
            // It refuses to run as root.
            for path in [folder.path(), &file] {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut process = command.arg(file).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.as_mut().unwrap()).lines().map_while(Result::ok);
        assert!(lines.into_iter().any(|line| line.contains("process up")), "it starts");
        Self { process, folder }
    }

    fn url(&self) -> String {
        url(&[self.folder.path()], "public")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[needs(pgbouncer)]
#[tokio::test]
async fn a_pooler_in_transaction_mode_is_refused_and_changes_nothing() {
    let database = database();
    let pooler = Pooler::start(&database, "transaction");
    let refused = PostgresStore::open(&pooler.url(), Duration::from_secs(20)).await;
    assert!(matches!(refused, Err(PostgresError::Pooler)), "{:?}", refused.err());
    let refused = NodeTable::open(&pooler.url(), Duration::from_secs(20)).await;
    assert!(matches!(refused, Err(PostgresError::Pooler)), "{:?}", refused.err());
    assert_eq!(database.sql("SELECT to_regclass('reversi') IS NULL"), "t");
}

#[needs(pgbouncer)]
#[tokio::test]
async fn a_pooler_in_session_mode_is_as_good_as_its_database() {
    let database = database();
    let pooler = Pooler::start(&database, "session");
    PostgresStore::open(&pooler.url(), Duration::from_secs(20)).await.unwrap();
    assert_eq!(database.sql("SELECT to_regclass('reversi') IS NULL"), "f");
}
