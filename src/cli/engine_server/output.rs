//! The engine's output, shared between threads.

use std::{
    fmt::Display,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// A line-buffered output; clones share it.
#[derive(Clone)]
pub(super) struct LineOutput(Arc<Mutex<dyn Write + Send>>);

impl LineOutput {
    pub(super) fn new(output: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    /// Writes and flushes a line; false if that fails.
    pub(super) fn write(&self, line: impl Display) -> bool {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(output, "{line}").and_then(|()| output.flush()).is_ok()
    }
}
