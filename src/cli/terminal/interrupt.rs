//! Signals that end the process.

#[cfg(unix)]
use std::{future::poll_fn, io::IsTerminal as _, task::Poll};
use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// Notified when standard output cannot be written: its reader has closed it, or the disk is full.
static OUTPUT_GONE: Notify = Notify::const_new();

/// Whether Ctrl-C has ended the command.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Interrupts the current or the next [`Interrupt::wait`].
pub(in crate::cli) fn output_is_gone() {
    OUTPUT_GONE.notify_one();
}

/// Runs `work`, but not longer than standard output can be written.
pub(in crate::cli) async fn until_output_fails(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::select! {
        done = work => done,
        () = OUTPUT_GONE.notified() => Ok(()),
    }
}

/// Why a client is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Interruption {
    /// Ctrl-C: the user is there, and can be asked.
    CtrlC,
    /// SIGTERM, SIGHUP, closed standard output, or a terminal that is gone: nobody gave up a game.
    End,
}

impl Interruption {
    /// Notes that this ends the command, for its exit status.
    pub(in crate::cli) fn ends_command(self) {
        if self == Self::CtrlC {
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether Ctrl-C has ended the command.
pub(in crate::cli) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Handled signals, which no longer end the process; on systems other than Unix, Ctrl-C.
pub(in crate::cli) struct Signals {
    #[cfg(unix)]
    signals: Vec<Signal>,
    /// Whether SIGHUP is to end the process.
    #[cfg(unix)]
    hangup_ends: fn() -> bool,
}

impl Signals {
    /// Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed. Any other SIGHUP asks for a reload.
    pub(in crate::cli) fn of_server() -> io::Result<Self> {
        #[cfg(unix)]
        return Self::listen(if io::stdin().is_terminal() { || !io::stdin().is_terminal() } else { || false });
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ctrl-C, SIGTERM and SIGHUP.
    fn of_client() -> io::Result<Self> {
        #[cfg(unix)]
        return Self::listen(|| true);
        #[cfg(not(unix))]
        Ok(Self {})
    }

    #[cfg(unix)]
    fn listen(hangup_ends: fn() -> bool) -> io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Ok(Self { signals: kinds.map(signal).into_iter().collect::<io::Result<_>>()?, hangup_ends })
    }

    /// Waits for the next signal. Cancel safe.
    #[cfg(unix)]
    pub(in crate::cli) async fn next(&mut self) -> Interruption {
        poll_fn(|context| {
            loop {
                match self.signals.iter_mut().position(|signal| signal.poll_recv(context).is_ready()) {
                    Some(0) => return Poll::Ready(Interruption::CtrlC),
                    Some(2) if !(self.hangup_ends)() => {}
                    Some(_) => return Poll::Ready(Interruption::End),
                    None => return Poll::Pending,
                }
            }
        })
        .await
    }

    #[cfg(not(unix))]
    pub(in crate::cli) async fn next(&mut self) -> Interruption {
        // If the handler cannot be installed, the command ends at once.
        tokio::signal::ctrl_c().await.map_or(Interruption::End, |()| Interruption::CtrlC)
    }
}

/// The reasons for which a client ends: Ctrl-C, SIGTERM, SIGHUP, or standard output that cannot be written.
pub(in crate::cli) struct Interrupt(Signals);

impl Interrupt {
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        Signals::of_client().map(Self)
    }

    /// Waits for the next interrupt. Cancel safe.
    pub(in crate::cli) async fn wait(&mut self) -> Interruption {
        tokio::select! {
            interruption = self.0.next() => interruption,
            () = OUTPUT_GONE.notified() => Interruption::End,
        }
    }

    /// Waits for the next interrupt, which ends the command. Cancel safe.
    pub(in crate::cli) async fn end(&mut self) {
        self.wait().await.ends_command();
    }
}
