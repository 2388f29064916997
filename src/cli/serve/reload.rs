//! SIGHUP: reads the options again, and takes over certificates, limits and the filter of the log.

use std::{cell::Cell, convert::Infallible, io, sync::OnceLock};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tracing_subscriber::filter::Targets;

use super::{
    certificates::{Certificates, DAY},
    log::Log,
    open_files, service_manager,
};
use crate::runtime::{Limits, Runtime};

/// The signal, which no longer ends the process.
pub(super) struct Hangup {
    #[cfg(unix)]
    signal: Signal,
}

impl Hangup {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signal: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the signal. Cancel safe.
    async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}

/// The options that a reload takes over.
pub(super) struct Reloadable {
    pub(super) filter: Targets,
    pub(super) certificates: Certificates,
    pub(super) limits: Limits,
    /// Other options that differ from those of the start.
    pub(super) fixed: Vec<String>,
}

/// What a reload changes.
pub(super) struct Reload<'a> {
    /// Reads the options of the process again, with its settings file.
    pub(super) options: &'a dyn Fn() -> anyhow::Result<Reloadable>,
    pub(super) log: &'a Log,
    pub(super) certificates: &'a Certificates,
    /// None while the server stands by.
    pub(super) runtime: &'a OnceLock<Runtime>,
    /// The limits with which the runtime will start.
    pub(super) limits: &'a Cell<Limits>,
}

impl Reload<'_> {
    /// Reloads at each signal, and checks the certificates once a day. Never ends.
    pub(super) async fn run(&self, mut hangup: Hangup) -> Infallible {
        loop {
            if timeout(DAY, hangup.next()).await.is_err() {
                self.certificates.check();
                continue;
            }
            service_manager::reloading();
            match self.reload() {
                Ok(()) => tracing::info!("certificates, limits and the filter of the log were reloaded"),
                Err(error) => tracing::error!("nothing was reloaded: {error:#}"),
            }
            service_manager::ready();
        }
    }

    /// Checks everything before it changes anything.
    fn reload(&self) -> anyhow::Result<()> {
        let Reloadable { filter, certificates, limits, fixed } = (self.options)()?;
        open_files::permit(limits.connections)?;
        self.log.set_filter(filter)?;
        self.certificates.replace(&certificates);
        self.certificates.check();
        if !fixed.is_empty() {
            tracing::warn!(options = fixed.join(" "), "these options change only by a restart");
        }
        let Some(runtime) = self.runtime.get() else {
            self.limits.set(limits);
            return Ok(());
        };
        let fixed = runtime.replace_limits(limits);
        if !fixed.is_empty() {
            tracing::warn!(options = fixed.join(" "), "these limits change only by a restart");
        }
        Ok(())
    }
}
