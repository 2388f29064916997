//! What a server promises about its data: durable before visible, and back after a restart.

mod crash;
mod failing_store;
mod recovery;
