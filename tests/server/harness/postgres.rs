//! PostgreSQL servers, and a proxy before one: those of `tests/core`.

#[allow(dead_code, reason = "tests/core holds single connections and directions")]
#[path = "../../core/store/postgres/proxy.rs"]
mod proxy;
#[path = "../../core/store/postgres/server.rs"]
mod server;

pub(crate) use proxy::Proxy;
pub(crate) use server::{Database, PostgresServer, database, url};
