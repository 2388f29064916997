//! Stored rows that cannot be read. They are skipped, counted, and logged once each.

use std::{
    collections::HashSet,
    fmt::Display,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The metric of the number of damaged rows that were met.
pub const DAMAGED_ROWS: &str = "reversi_damaged_rows";

/// Maximum number of rows that are counted and logged.
const MAX_ROWS: usize = 1_000;

/// Why a query failed: an error of the database, or any other error for a stored value that makes no sense.
pub(super) type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// The damaged rows that were met since the start.
#[derive(Default)]
pub(super) struct DamagedRows {
    rows: Mutex<HashSet<String>>,
    /// True if the database itself is malformed, not only rows in it.
    pub(super) is_malformed: AtomicBool,
}

impl DamagedRows {
    /// True if the row was counted.
    pub(super) fn has(&self, table: &str, row: &str) -> bool {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).contains(&format!("{table} {row}"))
    }

    /// Counts a row, and logs what its damage means, the first time.
    pub(super) fn note(&self, table: &str, row: &str, error: &str, meaning: &str) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() < MAX_ROWS && rows.insert(format!("{table} {row}")) {
            tracing::error!(table, row, error, "{meaning}");
            metrics::gauge!(DAMAGED_ROWS).set(rows.len() as f64);
        }
    }

    /// Notes that the database is malformed, and logs it the first time.
    pub(super) fn set_malformed(&self, error: &dyn Display) {
        if !self.is_malformed.swap(true, Ordering::Relaxed) {
            tracing::error!(
                %error,
                "THE DATABASE IS MALFORMED: health is NOT_SERVING, and no new rooms and games go into it; stop the server, \
                then put a backup in place by `reversi restore`, or save what can be read by `reversi doctor --repair`"
            );
        }
    }
}
