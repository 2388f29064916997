//! Test servers: in this process, or as a separate process; and what is between them.

pub(crate) mod cable;
pub(crate) mod in_process;
#[cfg(all(unix, feature = "postgres"))]
pub(crate) mod postgres;
pub(crate) mod process;
