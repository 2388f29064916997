//! The limit on open files of the process.

use std::io;

use anyhow::ensure;

/// Open files reserved for storage, logs, the async runtime and the metrics.
const OTHER_FILES: usize = 256;

/// Raises the limit to the highest that the system permits, and checks that it suffices for this many connections.
///
/// # Errors
/// When it does not, with what to do.
pub(super) fn permit(connections: usize) -> anyhow::Result<()> {
    let most = match most_connections() {
        Ok(most) => most,
        Err(error) => {
            tracing::warn!(%error, "the number of files that may be open is unknown");
            return Ok(());
        }
    };
    let needed = connections.saturating_add(OTHER_FILES);
    ensure!(
        connections <= most,
        "{connections} connections need {needed} open files, and the system permits {} (`ulimit -n`); permit more, in a \
         systemd unit with LimitNOFILE={needed}, or give --max-connections {most}",
        most + OTHER_FILES
    );
    tracing::info!(connections, "as many connections may be open");
    Ok(())
}

/// Raises the limit to the highest that the system permits, and returns how many connections it is enough for.
fn most_connections() -> io::Result<usize> {
    let files = usize::try_from(rlimit::increase_nofile_limit(u64::MAX)?).unwrap_or(usize::MAX);
    Ok(files.saturating_sub(OTHER_FILES))
}
