//! Signals that end the process.

use std::io;
#[cfg(unix)]
use std::{future::poll_fn, task::Poll};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// Set when the reader of standard output is gone.
static OUTPUT_GONE: Notify = Notify::const_new();

/// Interrupts the current or the next [`Interrupt::wait`].
pub(in crate::cli) fn output_is_gone() {
    OUTPUT_GONE.notify_one();
}

/// Signals that no longer end the process by themselves; on systems other than Unix, Ctrl-C.
pub(in crate::cli) struct Signals {
    #[cfg(unix)]
    signals: Vec<Signal>,
}

impl Signals {
    /// Ctrl-C and SIGTERM. A server may outlive its terminal, so SIGHUP is not among them.
    pub(in crate::cli) fn of_server() -> io::Result<Self> {
        Self::listen(false)
    }

    fn listen(_hangup: bool) -> io::Result<Self> {
        #[cfg(unix)]
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Ok(Self {
            #[cfg(unix)]
            signals: kinds.into_iter().take(2 + usize::from(_hangup)).map(signal).collect::<io::Result<_>>()?,
        })
    }

    /// Waits for the next signal. Dropping the future loses nothing.
    #[cfg(unix)]
    pub(in crate::cli) async fn next(&mut self) {
        poll_fn(|context| {
            let came = self.signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Waits for the next signal.
    #[cfg(not(unix))]
    pub(in crate::cli) async fn next(&mut self) {
        // Without a handler there is nothing to wait for but the default action.
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// What ends a client: Ctrl-C, SIGTERM, SIGHUP, or that standard output is no longer read.
pub(in crate::cli) struct Interrupt(Signals);

impl Interrupt {
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        Signals::listen(true).map(Self)
    }

    /// Waits for the next interrupt. Dropping the future loses nothing.
    pub(in crate::cli) async fn wait(&mut self) {
        tokio::select! {
            () = self.0.next() => {}
            () = OUTPUT_GONE.notified() => {}
        }
    }
}
