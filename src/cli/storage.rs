//! The options that say where a server keeps everything.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Context as _, anyhow};

use crate::store::{OpenError, SqliteStore, Store, Transfer};

#[derive(Debug, clap::Args)]
pub(super) struct StorageOptions {
    /// Folder of the database file [default: this system's folder for application data].
    #[arg(long, env = "REVERSI_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Keep everything in a PostgreSQL database instead: postgres://USER:PASSWORD@HOST/DATABASE.
    #[arg(long, env = "REVERSI_STORE", value_name = "URL", hide_env_values = true, conflicts_with = "data")]
    store: Option<String>,
    /// Seconds that writes and questions wait for a database that is away [default: 10].
    #[arg(long, env = "REVERSI_STORE_PATIENCE", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    store_patience: Option<u64>,
}

impl StorageOptions {
    /// Opens the store. `advice` says what else to do where a file cannot be used.
    pub(super) async fn open(&self, advice: &str) -> anyhow::Result<Store> {
        let Some(url) = &self.store else {
            let folder = folder(self.data.as_deref())?;
            let store = file(&folder).with_context(|| {
                format!("cannot keep anything in {} ({advice})", folder.join(SqliteStore::FILE).display())
            })?;
            tracing::info!(folder = %folder.display(), "everything is kept");
            return Ok(Store::of(store));
        };
        let store = database(url, self.store_patience).await.context("cannot keep anything in that database")?;
        tracing::info!("everything is kept in PostgreSQL");
        Ok(Store::of(store))
    }
}

/// The folder of a file, or the URL of a database.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Folder(PathBuf),
    Database(String),
}

impl FromStr for Place {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
        Ok(if is_url { Self::Database(text.to_owned()) } else { Self::Folder(text.into()) })
    }
}

/// Opens a store of either kind.
pub(super) async fn open_to_copy(place: &Place) -> anyhow::Result<Box<dyn Transfer>> {
    Ok(match place {
        Place::Folder(folder) => {
            Box::new(file(folder).with_context(|| format!("cannot use {}", folder.join(SqliteStore::FILE).display()))?)
        }
        Place::Database(url) => Box::new(database(url, None).await.context("cannot use that database")?),
    })
}

#[cfg(feature = "postgres")]
async fn database(url: &str, patience: Option<u64>) -> anyhow::Result<crate::store::PostgresStore> {
    use crate::store::{PostgresError, PostgresStore};

    let patience = patience.map_or(PostgresStore::PATIENCE, std::time::Duration::from_secs);
    PostgresStore::open(url, patience).await.map_err(|error| {
        let hint = if matches!(error, PostgresError::InUse) { STOP } else { "" };
        anyhow!("{error}{hint}")
    })
}

#[cfg(not(feature = "postgres"))]
async fn database(_: &str, _: Option<u64>) -> anyhow::Result<SqliteStore> {
    Err(anyhow!("this program was built without the feature `postgres`"))
}

fn file(folder: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(folder).map_err(|error| {
        let hint = if matches!(error, OpenError::InUse) { STOP } else { "" };
        anyhow!("{error}{hint}")
    })
}

/// What to do about a server that uses the store.
pub(super) const STOP: &str = "; stop that server first";

/// The data folder: the given one, or this system's folder for application data.
pub(super) fn folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let default = || Some(directories::ProjectDirs::from("", "", "reversi")?.data_dir().to_owned());
    let folder = given.map(Path::to_owned).or_else(default);
    folder.context("no data folder is known on this system; name a folder with --data")
}
