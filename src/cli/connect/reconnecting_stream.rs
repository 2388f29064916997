//! A stream that is opened again when it breaks.

use std::{pin::Pin, time::Duration};

use crate::client::{ClientError, Incoming};

/// The first wait before a stream is opened again; it doubles with every failure.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait: a server that comes back is noticed soon enough.
const LONGEST_WAIT: Duration = Duration::from_secs(8);

type Opening<T> = Pin<Box<dyn Future<Output = Result<Incoming<T>, ClientError>> + Send>>;

/// What a feed has to tell.
#[derive(Debug)]
pub(in crate::cli) enum News<T> {
    /// A message.
    Item(T),
    /// The stream broke, and will be opened again after this time.
    Lost(ClientError, Duration),
}

/// A stream that is opened again when it breaks, for as long as that can help.
pub(in crate::cli) struct Feed<T> {
    open: Box<dyn Fn() -> Opening<T> + Send>,
    state: State<T>,
    failures: u32,
}

/// The opening is kept, so that dropping the future of [`Feed::next`] does not begin it anew.
enum State<T> {
    Opening(Opening<T>),
    Open(Incoming<T>),
}

impl<T: 'static> Feed<T> {
    /// A feed that opens its stream so.
    pub(in crate::cli) fn new<F>(open: impl Fn() -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Incoming<T>, ClientError>> + Send + 'static,
    {
        let open = Box::new(move || Box::pin(open()) as Opening<T>);
        let state = State::Opening(open());
        Self { open, state, failures: 0 }
    }

    /// The next news. Dropping the future loses nothing.
    ///
    /// # Errors
    /// What trying again does not mend: the room is gone, the session is unknown.
    pub(in crate::cli) async fn next(&mut self) -> Result<News<T>, ClientError> {
        loop {
            let error = match &mut self.state {
                State::Opening(opening) => match opening.await {
                    Ok(stream) => {
                        self.state = State::Open(stream);
                        continue;
                    }
                    Err(error) => error,
                },
                State::Open(stream) => match stream.next().await {
                    Some(Ok(item)) => {
                        self.failures = 0;
                        return Ok(News::Item(item));
                    }
                    Some(Err(error)) => error,
                    None => ClientError::Broken("the server ended the stream".into()),
                },
            };
            let wait = self.wait_after(&error);
            self.reopen_after(wait);
            if !error.is_transient() {
                return Err(error);
            }
            return Ok(News::Lost(error, wait));
        }
    }

    /// Opens the stream anew at once: what was missed cannot be mended otherwise.
    pub(in crate::cli) fn restart(&mut self) {
        self.state = State::Opening((self.open)());
    }

    fn reopen_after(&mut self, wait: Duration) {
        let opening = (self.open)();
        self.state = State::Opening(Box::pin(async move {
            tokio::time::sleep(wait).await;
            opening.await
        }));
    }

    fn wait_after(&mut self, error: &ClientError) -> Duration {
        let wait = backoff(self.failures);
        self.failures += 1;
        let asked = error.refusal().and_then(|refusal| refusal.retry_after).unwrap_or_default();
        wait.max(asked.min(LONGEST_WAIT))
    }
}

/// How long to wait after this many failures in a row.
pub(in crate::cli) fn backoff(failures: u32) -> Duration {
    FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound() {
        assert_eq!(backoff(0), FIRST_WAIT);
        assert_eq!(backoff(2), FIRST_WAIT * 4);
        assert_eq!(backoff(u32::MAX), LONGEST_WAIT);
    }

    #[tokio::test]
    async fn what_may_pass_is_tried_again_and_what_does_not_pass_is_told() {
        let mut broken: Feed<()> = Feed::new(async || Err(ClientError::Broken("gone".into())));
        assert!(matches!(broken.next().await, Ok(News::Lost(_, wait)) if wait == FIRST_WAIT));
        let mut refused: Feed<()> = Feed::new(async || Err(ClientError::Address("nowhere".into())));
        assert!(matches!(refused.next().await, Err(ClientError::Address(_))));
    }
}
