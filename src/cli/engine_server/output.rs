//! What the engine says, from any thread.

use std::{
    fmt::Display,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// A voice; clones speak with the same.
#[derive(Clone)]
pub(super) struct Voice(Arc<Mutex<dyn Write + Send>>);

impl Voice {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(to)))
    }

    /// Says a line at once; whether somebody listens.
    pub(super) fn say(&self, line: impl Display) -> bool {
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(to, "{line}").and_then(|()| to.flush()).is_ok()
    }
}
