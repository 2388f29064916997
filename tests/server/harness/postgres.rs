//! PostgreSQL servers, and a proxy before one: those of `tests/core`.

#[allow(dead_code, reason = "tests/core holds single connections and directions")]
#[path = "../../../crates/reversi-store/tests/store/postgres/proxy.rs"]
mod proxy;
#[path = "../../../crates/reversi-store/tests/store/postgres/server.rs"]
mod server;

pub(crate) use proxy::Proxy;
pub(crate) use server::{Database, PostgresServer, database, url};
