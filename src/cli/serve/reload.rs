//! SIGHUP: reads the options again, and takes over certificates, limits and the filter of the log.

use std::{cell::Cell, convert::Infallible, io, sync::OnceLock};

use anyhow::anyhow;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    Args,
    log::{self, Log},
    open_files, service_manager,
};
use crate::{
    grpc::Tls,
    runtime::{Limits, Runtime},
};

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

    async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}

/// What a reload changes.
pub(super) struct Reload<'a> {
    /// Reads the options of the process again, with its settings file.
    pub(super) options: fn() -> Result<Args, clap::Error>,
    pub(super) log: &'a Log,
    pub(super) tls: Option<Tls>,
    /// None while the server stands by.
    pub(super) runtime: &'a OnceLock<Runtime>,
    /// The limits with which the runtime will start.
    pub(super) limits: &'a Cell<Limits>,
}

impl Reload<'_> {
    /// Reloads at each signal. Never ends.
    pub(super) async fn run(&self, mut hangup: Hangup) -> Infallible {
        loop {
            hangup.next().await;
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
        let args = (self.options)().map_err(|error| anyhow!("{}", error.to_string().trim().replace('\n', " ")))?;
        let filter = log::filter(&args.log.log)?;
        let tls = super::tls(&args)?;
        open_files::permit(args.limits.0.connections)?;
        self.log.set_filter(filter)?;
        match (&self.tls, &tls) {
            (Some(current), Some(new)) => current.replace(new),
            (None, None) => {}
            _ => tracing::warn!("TLS is switched on or off only by a restart"),
        }
        let Some(runtime) = self.runtime.get() else {
            self.limits.set(args.limits.0);
            return Ok(());
        };
        let fixed = runtime.replace_limits(args.limits.0);
        if !fixed.is_empty() {
            tracing::warn!(options = fixed.join(" "), "these limits change only by a restart");
        }
        Ok(())
    }
}
