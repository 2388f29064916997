//! Test servers: in this process, or as a separate process.

pub(crate) mod in_process;
#[cfg(all(unix, feature = "postgres"))]
#[path = "../../core/store/postgres/server.rs"]
pub(crate) mod postgres;
pub(crate) mod process;
