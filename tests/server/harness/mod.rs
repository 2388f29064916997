//! Test servers: in this process, or as a separate process.

pub(crate) mod in_process;
pub(crate) mod process;
