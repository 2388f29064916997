//! Idempotent requests: the results of one player's last requests that carried an id.

use std::collections::VecDeque;

use tokio::sync::Mutex;

use crate::runtime::limit::limits::REQUESTS_REMEMBERED;

/// The last [`REQUESTS_REMEMBERED`] requests of one kind, oldest first.
pub(crate) struct IdempotentRequests<T>(Mutex<VecDeque<(String, T)>>);

impl<T> Default for IdempotentRequests<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Copy> IdempotentRequests<T> {
    /// Runs a request, or returns the result of a successful one with the same id; true if it ran. Runs one at a time.
    pub(crate) async fn once<E>(
        &self,
        id: String,
        request: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<(T, bool), E> {
        let mut results = self.0.lock().await;
        if let Some((_, result)) = results.iter().find(|(earlier, _)| *earlier == id) {
            return Ok((*result, false));
        }
        let result = request().await?;
        if results.len() == REQUESTS_REMEMBERED {
            results.pop_front();
        }
        results.push_back((id, result));
        Ok((result, true))
    }
}
