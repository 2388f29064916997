//! Whether the node can read and write rooms: it does so over other connections than that of its lease.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::time::Instant;

/// What the writer and the reader of rooms know of their connections.
#[derive(Debug, Default)]
pub(in crate::postgres) struct Access {
    pub(in crate::postgres) is_writer_away: AtomicBool,
    pub(in crate::postgres) is_reader_away: AtomicBool,
    /// True if nothing will be written any more.
    has_writer_ended: AtomicBool,
}

impl Access {
    pub(in crate::postgres) fn set(is_away: &AtomicBool, value: bool) {
        is_away.store(value, SeqCst);
    }

    pub(in crate::postgres) fn is_reader_away(&self) -> bool {
        self.is_reader_away.load(SeqCst)
    }

    fn is_good(&self) -> bool {
        !self.is_writer_away.load(SeqCst) && !self.is_reader_away()
    }
}

/// Records a panic of the writer's thread, which holds it.
pub(in crate::postgres) struct PanicGuard(pub(in crate::postgres) Arc<Access>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_writer_ended.store(true, SeqCst);
        }
    }
}

/// For how long rooms could not be read or written while the lease was renewed.
pub(super) struct AccessCheck {
    access: Arc<Access>,
    /// After this time the access is lost.
    limit: Duration,
    since: Option<Instant>,
    unwritable_since: Option<Instant>,
    /// At the last beat.
    was_lost: bool,
}

impl AccessCheck {
    pub(super) fn new(limit: Duration) -> Self {
        Self { access: Arc::default(), limit, since: None, unwritable_since: None, was_lost: false }
    }

    pub(super) fn access(&self) -> Arc<Access> {
        Arc::clone(&self.access)
    }

    pub(super) fn has_writer_ended(&self) -> bool {
        self.access.has_writer_ended.load(SeqCst)
    }

    /// True if the access is lost. Call it with each beat.
    pub(super) fn is_lost(&mut self) -> bool {
        let is_writer_away = self.access.is_writer_away.load(SeqCst);
        self.unwritable_since = is_writer_away.then(|| self.unwritable_since.unwrap_or_else(Instant::now));
        if self.access.is_good() {
            (self.since, self.was_lost) = (None, false);
            return false;
        }
        self.was_lost = self.since.get_or_insert_with(Instant::now).elapsed() >= self.limit;
        self.was_lost
    }

    /// Since when nothing could be written; none if that is possible, or unknown.
    pub(super) fn unwritable_since(&self) -> Option<Instant> {
        self.unwritable_since
    }

    /// Call it when the lease has a new connection: the whole database may have been away.
    pub(super) fn begin_again(&mut self) {
        if !self.was_lost {
            self.since = None;
        }
    }
}
