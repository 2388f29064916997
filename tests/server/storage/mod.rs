//! The server's promises about its data: durable before visible, and the same after a restart.

mod crash;
mod damaged_games;
mod failing_store;
#[cfg(all(unix, feature = "postgres"))]
mod faults;
#[cfg(all(unix, feature = "postgres"))]
mod kills;
mod recovery;
#[cfg(all(unix, feature = "postgres"))]
mod shared_quotas;
#[cfg(all(unix, feature = "postgres"))]
mod shared_rooms;
#[cfg(all(unix, feature = "postgres"))]
mod standby;
#[cfg(all(unix, feature = "postgres"))]
mod tables;
