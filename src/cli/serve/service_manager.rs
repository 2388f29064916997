//! Messages to systemd about the state of the server. Without systemd they do nothing.

use std::convert::Infallible;

#[cfg(unix)]
use sd_notify::NotifyState;

pub(super) fn ready() {
    #[cfg(unix)]
    notify(&[NotifyState::Ready]);
}

/// Followed by [`ready`].
pub(super) fn reloading() {
    #[cfg(unix)]
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "systemd cannot be told of the reload"),
    }
}

pub(super) fn stopping() {
    #[cfg(unix)]
    notify(&[NotifyState::Stopping]);
}

/// Reports regularly that the server runs, if the unit has `WatchdogSec`. Never ends.
pub(super) async fn report_alive() -> Infallible {
    #[cfg(unix)]
    if let Some(limit) = sd_notify::watchdog_enabled() {
        // A zero interval panics.
        let mut ticks = tokio::time::interval((limit / 2).max(std::time::Duration::from_millis(1)));
        loop {
            ticks.tick().await;
            notify(&[NotifyState::Watchdog]);
        }
    }
    std::future::pending().await
}

#[cfg(unix)]
fn notify(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "systemd cannot be told of the server's state");
    }
}
