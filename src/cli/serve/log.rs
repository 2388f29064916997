//! The server's log: to standard error and, with the feature `otel`, spans to a collector.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::{
    Layer as _, filter::Targets, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _,
};

#[derive(Debug, clap::Args)]
// The group's name would be that of the command's `Args`.
#[group(skip)]
pub(super) struct Args {
    /// What to log: error, warn, info, debug or trace, for all or by module.
    #[arg(long, env = "REVERSI_LOG", default_value = "info", value_name = "FILTER")]
    log: String,
    /// How to write it: for people, or a JSON object a line for machines.
    #[arg(long, env = "REVERSI_LOG_FORMAT", default_value = "human", value_name = "FORMAT")]
    log_format: LogFormat,
    /// A collector for spans, by OTLP over gRPC, as http://127.0.0.1:4317 [default: none].
    #[cfg(feature = "otel")]
    #[arg(long, env = "REVERSI_OTLP", value_name = "URL")]
    otlp: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogFormat {
    /// A line of words, in colours on a terminal.
    Human,
    /// An object with the time, level, message, fields and spans.
    Json,
}

pub(super) struct Log {
    #[cfg(feature = "otel")]
    collector: Option<otlp::Collector>,
}

impl Log {
    /// Starts the log of the process.
    ///
    /// # Errors
    /// The filter or the collector's URL is invalid.
    pub(super) fn start(args: &Args) -> anyhow::Result<Self> {
        let filter: Targets = args.log.parse().context("--log must be a level such as info, or module=level,...")?;
        let lines = fmt::layer().with_writer(std::io::stderr);
        let lines = match args.log_format {
            LogFormat::Human => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
            LogFormat::Json => lines.json().boxed(),
        };
        let log = registry().with(filter).with(lines);
        #[cfg(feature = "otel")]
        let collector = args.otlp.as_deref().map(otlp::Collector::reach).transpose()?;
        #[cfg(feature = "otel")]
        let log = log.with(collector.as_ref().map(otlp::Collector::layer));
        log.init();
        Ok(Self {
            #[cfg(feature = "otel")]
            collector,
        })
    }

    /// Sends the remaining spans to the collector.
    pub(super) async fn end(self) {
        #[cfg(feature = "otel")]
        if let Some(collector) = self.collector {
            collector.end().await;
        }
    }
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
