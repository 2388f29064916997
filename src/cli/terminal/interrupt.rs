//! The wish of the outside that the process ends.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// Nobody reads standard output any more: of no process more than one.
static OUTPUT_GONE: Notify = Notify::const_new();

/// Interrupts who waits, or who will.
pub(in crate::cli) fn output_is_gone() {
    OUTPUT_GONE.notify_one();
}

/// Ctrl-C, and what service managers send.
#[cfg(unix)]
pub(in crate::cli) struct Interrupt {
    signals: [Signal; 3],
}

#[cfg(unix)]
impl Interrupt {
    /// From now on those signals end nothing by themselves.
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        let [int, term, hup] = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self { signals: [int?, term?, hup?] })
    }

    /// Waits for one of them. Dropping the future loses nothing.
    pub(in crate::cli) async fn wait(&mut self) {
        let [int, term, hup] = &mut self.signals;
        tokio::select! {
            _ = int.recv() => {}
            _ = term.recv() => {}
            _ = hup.recv() => {}
            () = OUTPUT_GONE.notified() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
pub(in crate::cli) struct Interrupt;

#[cfg(not(unix))]
impl Interrupt {
    /// Nothing has to be set up here.
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for it.
    pub(in crate::cli) async fn wait(&mut self) {
        tokio::select! {
            Ok(()) = tokio::signal::ctrl_c() => {}
            () = OUTPUT_GONE.notified() => {}
        }
    }
}
