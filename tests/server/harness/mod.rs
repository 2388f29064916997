//! Servers to test: in this process, or as a process of their own.

pub(crate) mod in_process;
pub(crate) mod process;
