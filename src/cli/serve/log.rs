//! The server's log: to standard error and, with the feature `otel`, spans to a collector.
//!
//! A thread of its own writes it, so that the server never waits for the reader of standard error.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    convert::Infallible,
    io::IsTerminal as _,
    panic,
};

use anyhow::Context as _;
use tokio::time::interval;
use tracing::{field::display, level_filters::LevelFilter};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    Layer as _, Registry,
    filter::Targets,
    fmt::{
        self,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    layer::SubscriberExt as _,
    registry,
    reload::{self, Handle},
    util::SubscriberInitExt as _,
};

use super::line_limit::{self, LineLimit};
use crate::cli::UsageError;

/// Lines that may wait to be written; further ones are dropped and counted. At most a few MiB.
const WAITING_LINES: usize = 8_192;

/// The libraries of the protocols. They warn of what any client can cause, at any rate, and report notices of the database.
const PROTOCOLS: [&str; 6] = ["h2", "hyper", "rustls", "tonic", "tower_http", "tokio_postgres"];

#[derive(Debug, clap::Args)]
// The group's name would be that of the command's `Args`.
#[group(skip)]
#[command(next_help_heading = "Log")]
pub(super) struct Args {
    /// What to log.
    ///
    /// The level error, warn, info, debug or trace, for all or by module, as info,h2=warn.
    #[arg(long, env = "REVERSI_LOG", default_value = "info", value_name = "FILTER")]
    pub(super) log: String,
    /// How to write it.
    #[arg(long, env = "REVERSI_LOG_FORMAT", default_value = "human", value_name = "FORMAT")]
    log_format: LogFormat,
    /// A collector for spans, by OTLP over gRPC, as http://127.0.0.1:4317 [default: none].
    #[cfg(feature = "otel")]
    #[arg(long, env = "REVERSI_OTLP", value_name = "URL", hide_short_help = true)]
    otlp: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogFormat {
    /// A line of words, in colours on a terminal.
    Human,
    /// An object with the time, level, message, fields and spans.
    Json,
}

impl Args {
    pub(super) fn is_json(&self) -> bool {
        matches!(self.log_format, LogFormat::Json)
    }
}

/// The time as the log writes it.
pub(super) fn now() -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

pub(super) struct Log {
    filter: Handle<Targets, Registry>,
    limit: LineLimit,
    dropped: DroppedLines,
    /// Writes the waiting lines when it is dropped, for at most about a second.
    _writer: WorkerGuard,
    #[cfg(feature = "otel")]
    collector: Option<otlp::Collector>,
}

impl Log {
    /// Starts the log of the process.
    ///
    /// # Errors
    /// The filter or the collector's URL is invalid.
    pub(super) fn start(args: &Args) -> anyhow::Result<Self> {
        let filter = filter(&args.log)?;
        let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING_LINES).thread_name("log");
        let (writer, guard) = builder.finish(std::io::stderr());
        let (limit, dropped) = (LineLimit::default(), DroppedLines(writer.error_counter()));
        let lines = fmt::layer().with_writer(writer);
        let lines = match args.log_format {
            LogFormat::Human => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
            LogFormat::Json => lines.json().boxed(),
        };
        let (filter, handle) = reload::Layer::new(filter);
        let log = registry().with(filter).with(limit.clone()).with(lines);
        #[cfg(feature = "otel")]
        let collector = args.otlp.as_deref().map(otlp::Collector::reach).transpose()?;
        #[cfg(feature = "otel")]
        let log = log.with(collector.as_ref().map(otlp::Collector::layer));
        log.init();
        log_panics();
        Ok(Self {
            filter: handle,
            limit,
            dropped,
            _writer: guard,
            #[cfg(feature = "otel")]
            collector,
        })
    }

    /// Replaces the filter.
    pub(super) fn set_filter(&self, filter: Targets) -> anyhow::Result<()> {
        self.filter.reload(filter).context("the filter of the log cannot be replaced")
    }

    pub(super) fn dropped_lines(&self) -> DroppedLines {
        self.dropped.clone()
    }

    /// Writes regularly how many lines are missing. Never ends.
    pub(super) async fn report_missing_lines(&self) -> Infallible {
        let (mut ticks, mut known) = (interval(line_limit::INTERVAL), 0);
        loop {
            ticks.tick().await;
            self.limit.report();
            let dropped = self.dropped.count();
            if dropped > known {
                tracing::warn!(lines = dropped - known, "lines were dropped: standard error is read too slowly");
                known = dropped;
            }
        }
    }

    /// Writes the remaining lines, and sends the remaining spans to the collector.
    pub(super) async fn end(self) {
        self.limit.report();
        #[cfg(feature = "otel")]
        if let Some(collector) = self.collector {
            collector.end().await;
        }
    }
}

/// The number of lines that were dropped, because too many waited to be written.
#[derive(Clone)]
pub(super) struct DroppedLines(ErrorCounter);

impl DroppedLines {
    pub(super) fn count(&self) -> u64 {
        self.0.dropped_lines() as u64
    }
}

/// The filter of an option. The libraries of the protocols log errors only, unless it names them or asks for more than
/// info.
pub(super) fn filter(option: &str) -> anyhow::Result<Targets> {
    let problem = || UsageError("--log must be a level such as info, or module=level,...".to_owned());
    let given: Targets = option.parse().map_err(|_| problem())?;
    // It would be read as a module.
    if option.split(',').any(|part| !part.contains('=') && part.trim().parse::<LevelFilter>().is_err()) {
        return Err(problem().into());
    }
    let level = given.default_level().unwrap_or(LevelFilter::OFF);
    if level > LevelFilter::INFO {
        return Ok(given);
    }
    let is_named = |library: &str| given.iter().any(|(name, _)| name.split("::").next() == Some(library));
    let others: Vec<&str> = PROTOCOLS.into_iter().filter(|library| !is_named(library)).collect();
    Ok(given.with_targets(others.into_iter().map(|library| (library, level.min(LevelFilter::ERROR)))))
}

/// Logs panics: the usual hook waits for the reader of standard error.
fn log_panics() {
    panic::set_hook(Box::new(|panic| {
        let backtrace = Backtrace::capture();
        let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| display(backtrace));
        tracing::error!(backtrace, "{}", panic.to_string().replace('\n', " "));
    }));
}

#[cfg(feature = "otel")]
mod otlp {
    use anyhow::Context as _;
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
    use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
    use tracing::{Subscriber, level_filters::LevelFilter};
    use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

    /// Exports spans in batches.
    pub(super) struct Collector {
        spans: SdkTracerProvider,
    }

    impl Collector {
        /// Connects when the first spans are sent.
        pub(super) fn reach(url: &str) -> anyhow::Result<Self> {
            let exporter = SpanExporter::builder().with_tonic().with_endpoint(url).build();
            let exporter = exporter.with_context(|| format!("--otlp: spans cannot be sent to {url}"))?;
            let resource = Resource::builder().with_service_name("reversi").build();
            let spans = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
            Ok(Self { spans })
        }

        /// Exports only the server's own spans: those of the export itself would cause more.
        pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
        where
            S: Subscriber + for<'span> LookupSpan<'span>,
        {
            let own = Targets::new().with_target("reversi", LevelFilter::TRACE);
            tracing_opentelemetry::layer().with_tracer(self.spans.tracer("reversi")).with_filter(own)
        }

        pub(super) async fn end(self) {
            // The shutdown blocks.
            let ended = tokio::task::spawn_blocking(move || self.spans.shutdown()).await;
            if let Ok(Err(error)) = ended {
                tracing::warn!(%error, "the collector did not get the last spans");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn libraries_of_protocols_log_what_the_option_asks_for() {
        let logs = |option: &str, target: &str, level: Level| filter(option).unwrap().would_enable(target, &level);
        for quiet in ["h2::proto", "hyper::proto", "rustls::conn", "tonic::transport", "tokio_postgres::connection"] {
            assert!(!logs("info", quiet, Level::WARN) && logs("info", quiet, Level::ERROR), "{quiet}");
        }
        assert!(logs("info", "reversi::grpc", Level::INFO) && !logs("info", "reversi::grpc", Level::DEBUG));
        assert!(logs("debug", "h2::proto", Level::DEBUG) && logs("info,h2=warn", "h2::proto", Level::WARN));
        assert!(logs("info,h2::proto=warn", "h2::proto", Level::WARN));
        assert!(!logs("off", "h2", Level::ERROR) && !logs("reversi=debug", "h2", Level::ERROR));
        assert!(["reversi=loud", "loud", "info,loud"].into_iter().all(|option| filter(option).is_err()));
    }
}
