//! The server's promises about its data: durable before visible, and the same after a restart.

mod crash;
mod damaged_games;
mod failing_store;
#[cfg(all(unix, feature = "postgres"))]
mod faults;
#[cfg(all(unix, feature = "postgres"))]
mod kills;
#[cfg(all(unix, feature = "postgres"))]
mod next_server;
mod recovery;
mod repeated_requests;
#[cfg(all(unix, feature = "postgres"))]
mod rolling_restart;
#[cfg(all(unix, feature = "postgres"))]
mod shared_invitations;
#[cfg(all(unix, feature = "postgres"))]
mod shared_quotas;
#[cfg(all(unix, feature = "postgres"))]
mod shared_rooms;
#[cfg(all(unix, feature = "postgres"))]
mod shared_seeks;
#[cfg(all(unix, feature = "postgres"))]
mod standby;
#[cfg(all(unix, feature = "postgres"))]
mod tables;
mod tournament_kills;

/// How often a test kills servers: four times, or as often as the environment says. `.ci/run full` says 20.
fn kills() -> usize {
    std::env::var("REVERSI_KILLS").map_or(4, |kills| kills.parse().expect("a number"))
}
