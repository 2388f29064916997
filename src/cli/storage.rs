//! The options that say where a server keeps everything.

use std::{
    future::{pending, ready},
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use anyhow::{Context as _, anyhow};

use crate::store::{BoxFuture, ClusterStore, NewStore, NodeInfo, OpenError, SqliteStore, Store, Transfer, is_empty};

#[derive(Debug, clap::Args)]
pub(super) struct StorageOptions {
    /// Folder of the database file.
    ///
    /// By default this system's folder for application data.
    #[arg(long, env = "REVERSI_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Keep everything in this PostgreSQL database.
    ///
    /// As postgres://USER:PASSWORD@HOST/DATABASE.
    #[arg(long, env = "REVERSI_STORE", value_name = "URL", hide_env_values = true, conflicts_with = "data")]
    store: Option<String>,
    /// Seconds to wait for a database that is away [default: 10].
    ///
    /// For reads and writes.
    #[arg(long, env = "REVERSI_STORE_PATIENCE", value_name = "SECONDS", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=3600))]
    store_patience: Option<u64>,
}

/// The store of a server.
pub(super) struct ServerStore {
    pub(super) store: Store,
    /// The servers of the database; none with a file.
    pub(super) cluster: Option<Arc<dyn ClusterStore>>,
    pub(super) exits: Exits,
}

/// How a server loses its rooms, and gives them up.
pub(super) struct Exits {
    /// Ends when another server has taken over, or can.
    pub(super) lost: BoxFuture<'static, ()>,
    /// Gives the rooms to the servers that share them, if there are any, and waits until that is done.
    pub(super) hand_over: BoxFuture<'static, ()>,
    /// Lets another server take over; called when nothing is written any more.
    pub(super) leave: BoxFuture<'static, ()>,
}

/// The store of a server that may have to stand by.
pub(super) struct Joined {
    /// Which server it stands by for, if it does.
    pub(super) active: Option<String>,
    /// Ends when `reversi nodes drain` asks this server to end.
    pub(super) drain_asked: BoxFuture<'static, ()>,
    /// The store, once this server may use it.
    pub(super) opened: BoxFuture<'static, anyhow::Result<ServerStore>>,
}

impl StorageOptions {
    /// Opens the store for a command. `advice` says what else to do where a file cannot be used.
    pub(super) async fn open(&self, advice: &str) -> anyhow::Result<Store> {
        let Some(url) = &self.store else { return self.open_file(advice) };
        let store = database(url, self.store_patience).await.context(NO_DATABASE)?;
        tracing::info!("everything is kept in PostgreSQL");
        Ok(Store::of(store))
    }

    /// Opens the store for a server; where another one uses the database, once that has ended, unless they share the
    /// rooms.
    pub(super) async fn join(&self, advice: &str, info: NodeInfo, lease: Option<u64>) -> anyhow::Result<Joined> {
        match &self.store {
            None => Ok(Joined::alone(self.open_file(advice)?)),
            Some(url) => stand_by(url, self.store_patience, lease, info).await.context(NO_DATABASE),
        }
    }

    /// The folder of the file, for a command that PostgreSQL has tools of its own for.
    pub(super) fn folder_of_file(&self, tool: &str) -> anyhow::Result<PathBuf> {
        anyhow::ensure!(self.store.is_none(), "everything is in PostgreSQL (--store), which has its own tools: {tool}");
        folder(self.data.as_deref())
    }

    fn open_file(&self, advice: &str) -> anyhow::Result<Store> {
        let folder = folder(self.data.as_deref())?;
        let store = file(&folder).with_context(|| {
            format!("cannot keep anything in {} ({advice})", folder.join(SqliteStore::FILE).display())
        })?;
        tracing::info!(folder = %folder.display(), "everything is kept");
        Ok(Store::of(store))
    }
}

impl Joined {
    /// A store that no other server can take over.
    pub(super) fn alone(store: Store) -> Self {
        let exits = Exits { lost: Box::pin(pending()), hand_over: Box::pin(ready(())), leave: Box::pin(ready(())) };
        let opened = ServerStore { store, cluster: None, exits };
        Self { active: None, drain_asked: Box::pin(pending()), opened: Box::pin(async { Ok(opened) }) }
    }
}

/// The folder of a file, or the URL of a database.
#[derive(Clone, Debug)]
pub(super) enum StoreLocation {
    Folder(PathBuf),
    Database(String),
}

impl FromStr for StoreLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Database(text.to_owned())),
            Some((scheme, _)) => Err(format!("{scheme}:// is no database that is known; postgres:// is")),
            None => Ok(Self::Folder(text.into())),
        }
    }
}

/// Opens an existing store of either kind to read it.
pub(super) async fn open_source(location: &StoreLocation) -> anyhow::Result<Box<dyn Transfer>> {
    Ok(match location {
        StoreLocation::Folder(folder) => {
            let store = SqliteStore::open_source(folder).map_err(explain);
            Box::new(store.with_context(|| format!("cannot read the store in {}", folder.display()))?)
        }
        StoreLocation::Database(url) => Box::new(existing_database(url).await.context("cannot read that database")?),
    })
}

/// A store to copy into. Until it is complete, no server uses it.
pub(super) enum CopyTarget {
    File(NewStore),
    #[cfg(feature = "postgres")]
    Database(Box<crate::store::PostgresStore>),
}

impl CopyTarget {
    /// Begins a store of either kind, which must have nothing yet.
    pub(super) async fn begin(location: &StoreLocation) -> anyhow::Result<Self> {
        const NOT_EMPTY: &str = "the store to write is not empty";
        match location {
            StoreLocation::Folder(folder) => {
                let path = folder.join(SqliteStore::FILE);
                let is_there = path.metadata().is_ok_and(|file| file.len() > 0);
                let begin = async {
                    if is_there {
                        anyhow::ensure!(is_empty(&file(folder)?).await?, NOT_EMPTY);
                        std::fs::remove_file(&path)?;
                    }
                    Ok(Self::File(NewStore::create(folder).map_err(explain)?))
                };
                begin.await.with_context(|| format!("cannot write {}", path.display()))
            }
            #[cfg(feature = "postgres")]
            StoreLocation::Database(url) => {
                let store = database(url, None).await.context("cannot use that database")?;
                anyhow::ensure!(is_empty(&store).await?, NOT_EMPTY);
                store.set_unfinished(true).await?;
                Ok(Self::Database(Box::new(store)))
            }
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Database(_) => Err(anyhow!(NO_POSTGRES)),
        }
    }

    pub(super) fn store(&self) -> &dyn Transfer {
        match self {
            Self::File(new) => new.store(),
            #[cfg(feature = "postgres")]
            Self::Database(store) => &**store,
        }
    }

    /// Makes it a complete store.
    pub(super) async fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File(new) => Ok(new.finish()?),
            #[cfg(feature = "postgres")]
            Self::Database(store) => Ok(store.set_unfinished(false).await?),
        }
    }
}

#[cfg(feature = "postgres")]
async fn database(url: &str, patience: Option<u64>) -> anyhow::Result<crate::store::PostgresStore> {
    use crate::store::{PostgresError, PostgresStore};

    PostgresStore::open(url, sharing(patience, None).patience).await.map_err(|error| match error {
        PostgresError::InUse => anyhow!("{error}{STOP_ALL}"),
        error => error.into(),
    })
}

/// Opens a database that has tables.
#[cfg(feature = "postgres")]
async fn existing_database(url: &str) -> anyhow::Result<crate::store::PostgresStore> {
    crate::store::NodeTable::open(url, sharing(None, None).patience).await?;
    database(url, None).await
}

#[cfg(feature = "postgres")]
async fn stand_by(url: &str, patience: Option<u64>, lease: Option<u64>, info: NodeInfo) -> anyhow::Result<Joined> {
    use crate::store::{Sharing, Standby};

    let standby = Standby::join(url, Sharing { info, ..sharing(patience, lease) }).await?;
    let (active, drain_asked) = (standby.active(), Box::pin(standby.wait_for_drain()));
    let opened = Box::pin(async move {
        let store = Arc::new(standby.take_over().await.context(NO_DATABASE)?);
        tracing::info!("everything is kept in PostgreSQL");
        let [observed, giving, left] = [(); 3].map(|()| store.membership());
        let cluster: Arc<dyn ClusterStore> = Arc::clone(&store) as _;
        let exits = Exits {
            lost: Box::pin(async move { observed.wait_until_lost().await }),
            hand_over: Box::pin(async move { giving.hand_over().await }),
            leave: Box::pin(async move { left.leave().await }),
        };
        Ok(ServerStore { store: Store::shared(&store), cluster: Some(cluster), exits })
    });
    Ok(Joined { active, drain_asked, opened })
}

#[cfg(feature = "postgres")]
fn sharing(patience: Option<u64>, lease: Option<u64>) -> crate::store::Sharing {
    let default = crate::store::Sharing::default();
    let [patience, lease] = [patience, lease].map(|seconds| seconds.map(std::time::Duration::from_secs));
    let patience = patience.unwrap_or(default.patience);
    crate::store::Sharing { patience, lease: lease.unwrap_or(default.lease), ..default }
}

#[cfg(not(feature = "postgres"))]
async fn existing_database(_: &str) -> anyhow::Result<SqliteStore> {
    Err(anyhow!(NO_POSTGRES))
}

#[cfg(not(feature = "postgres"))]
async fn database(_: &str, _: Option<u64>) -> anyhow::Result<SqliteStore> {
    Err(anyhow!(NO_POSTGRES))
}

#[cfg(not(feature = "postgres"))]
async fn stand_by(_: &str, _: Option<u64>, _: Option<u64>, _: NodeInfo) -> anyhow::Result<Joined> {
    Err(anyhow!(NO_POSTGRES))
}

#[cfg(not(feature = "postgres"))]
const NO_POSTGRES: &str = "this program was built without the feature `postgres`";

const NO_DATABASE: &str = "cannot use the database of --store";

fn file(folder: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(folder).map_err(explain)
}

/// Says what to do about a server that uses the file.
fn explain(error: OpenError) -> anyhow::Error {
    let hint = if matches!(error, OpenError::InUse) { STOP } else { "" };
    anyhow!("{error}{hint}")
}

/// What to do about a server that uses the file.
pub(super) const STOP: &str = "; stop that server first: only `reversi backup` works while it runs";

/// What to do about servers that use the database.
#[cfg(feature = "postgres")]
const STOP_ALL: &str = "; stop all servers that use it first: `reversi nodes` lists them";

/// The data folder: the given one, or this system's folder for application data.
pub(super) fn folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let default = || Some(directories::ProjectDirs::from("", "", "reversi")?.data_dir().to_owned());
    let folder = given.map(Path::to_owned).or_else(default);
    folder.context("no data folder is known on this system; name a folder with --data")
}
