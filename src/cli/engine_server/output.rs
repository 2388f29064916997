//! The engine's output, usable from any thread.

use std::{
    fmt::Display,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// A line-by-line output; clones share it.
#[derive(Clone)]
pub(super) struct LineOutput(Arc<Mutex<dyn Write + Send>>);

impl LineOutput {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(to)))
    }

    /// Writes and flushes a line; false if that fails.
    pub(super) fn write(&self, line: impl Display) -> bool {
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(to, "{line}").and_then(|()| to.flush()).is_ok()
    }
}
