//! Stopping a server. First it drains: health answers "not serving", log-ins and new games are refused, and every
//! stream ends with a last message. Then its rooms and threads end. The limit `drain` is the maximum time for both.

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::runtime::Runtime;

/// Waits for `shutdown`, and starts to drain. `standard_streams` ends the streams of health and reflection.
pub(super) async fn drain(shutdown: CancellationToken, runtime: Runtime, standard_streams: CancellationToken) {
    shutdown.cancelled().await;
    runtime.drain();
    standard_streams.cancel();
}

/// Runs `server` until all of its streams have ended, but after `shutdown` for at most half of the limit `drain`.
/// Returns whether the rooms and threads of the runtime ended within the rest of it.
///
/// # Errors
/// Those of `server`.
pub(super) async fn run_to_end<E>(
    server: impl Future<Output = Result<(), E>>,
    shutdown: &CancellationToken,
    runtime: &Runtime,
) -> Result<bool, E> {
    let limit = runtime.limits().drain;
    let mut deadline = None;
    let late = async {
        shutdown.cancelled().await;
        let now = Instant::now();
        deadline = Some(now + limit);
        sleep_until(now + limit / 2).await;
    };
    tokio::select! {
        ended = server => ended?,
        // A client that does not read never receives the last message; the server does not wait for it.
        () = late => tracing::warn!("closing the connections of clients that do not end their streams"),
    }
    let left = deadline.map_or(limit, |deadline| deadline.saturating_duration_since(Instant::now()));
    Ok(runtime.shut_down(left).await)
}
