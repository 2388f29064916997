//! What the protocols have in common.

use super::search_thread::SearchThread;

/// Longer lines are skipped with an error, in bytes. The longest game in GGF is shorter.
pub(super) const MAX_LINE: usize = 64 * 1024;

pub(super) trait EngineProtocol {
    /// Executes a line; false if it ends the session.
    fn execute(&mut self, line: &str) -> bool;

    /// Reports a line that is too long.
    fn line_too_long(&mut self);

    fn search_thread(&mut self) -> &mut SearchThread;
}
