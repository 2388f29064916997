//! `reversi serve`: starts a server.

/// How the server runs.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs a server until it is told to stop.
///
/// # Errors
/// When the server cannot be started.
pub async fn run(_args: Args) -> anyhow::Result<()> {
    anyhow::bail!("this build has no server")
}
