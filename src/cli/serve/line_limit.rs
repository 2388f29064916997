//! Limits repeated lines of the log: beyond some from one place in the code, lines are counted and not written.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tracing::{
    Event, Level, Subscriber,
    callsite::Identifier,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context};

/// The interval at which the lines that were left out are reported.
pub(super) const INTERVAL: Duration = Duration::from_secs(10);

/// Lines written from one place in the code within an [`INTERVAL`]: enough for a busy server, and a few KiB a second
/// for a client that causes the same line without end.
const WRITTEN: u64 = 200;

/// A layer that leaves out lines above the limit. Debug and trace lines have no limit.
/// Clones share the counts. Their number is bounded by the places in the code that log.
#[derive(Clone, Default)]
pub(super) struct LineLimit(Arc<Mutex<HashMap<Identifier, Repetition>>>);

/// The lines from one place.
#[derive(Default)]
struct Repetition {
    lines: u64,
    /// The message of the first line that was left out.
    message: String,
}

impl LineLimit {
    /// Writes how many lines were left out since the last report.
    pub(super) fn report(&self) {
        let counted = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for Repetition { lines, message } in counted.into_values() {
            if let Some(lines @ 1..) = lines.checked_sub(WRITTEN) {
                tracing::warn!(lines, like = message, "repeated lines were left out");
            }
        }
    }

    /// Counts a line; whether it is written.
    fn count(&self, event: &Event<'_>) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let repetition = counts.entry(event.metadata().callsite()).or_default();
        repetition.lines += 1;
        if repetition.lines == WRITTEN + 1 {
            event.record(&mut Message(&mut repetition.message));
        }
        repetition.lines <= WRITTEN
    }
}

impl<S: Subscriber> Layer<S> for LineLimit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        *event.metadata().level() > Level::INFO || self.count(event)
    }
}

/// Reads the message of a line.
struct Message<'a>(&'a mut String);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use tracing_subscriber::{fmt::layer, layer::SubscriberExt as _, registry};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn repeated_lines_are_counted_and_others_are_written() {
        let (limit, written) = (LineLimit::default(), Written::default());
        let writer = written.clone();
        let log = registry().with(limit.clone()).with(layer().with_ansi(false).with_writer(move || writer.clone()));
        tracing::subscriber::with_default(log, || {
            for number in 0..WRITTEN + 70 {
                tracing::warn!(number, "the same");
                tracing::debug!("in detail");
            }
            tracing::info!("another");
            limit.report();
            limit.report();
            tracing::warn!(number = 1_000, "the same");
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let count = |wanted: &str| text.lines().filter(|line| line.contains(wanted)).count() as u64;
        assert_eq!((count(": the same"), count(": another"), count(": in detail")), (WRITTEN + 1, 1, WRITTEN + 70));
        assert_eq!(count("repeated lines were left out lines=70 like=\"the same\""), 1, "{text}");
        assert_eq!(count("left out"), 1, "{text}");
    }
}
