//! A stream that is reopened when it breaks.

use std::{pin::Pin, time::Duration};

use tokio::time::Instant;

pub(in crate::cli) use crate::client::backoff;
use crate::client::{ClientError, Incoming, PlayEvent, RoomId, RoomUpdate, Session};

/// The least time for which a stream must have been open to be opened again without a wait.
const STABLE: Duration = Duration::from_secs(1);

/// The wait before a stream is opened again: none if it was `open` for [`STABLE`], as the player's clock may run;
/// otherwise that of `failures` in a row.
pub(in crate::cli) fn wait_after(open: Duration, failures: u32) -> Duration {
    if open >= STABLE { Duration::ZERO } else { backoff(failures) }
}

/// After a lost connection, which is said once.
pub(in crate::cli) const CONNECTED_AGAIN: &str = "connected again";

/// What a person reads of a lost connection, which is tried again after this wait.
pub(in crate::cli) fn connection_lost(error: &ClientError, wait: Duration) -> String {
    if wait.is_zero() {
        return format!("{error}; trying again");
    }
    format!("{error}; trying again in {:.1} s", wait.as_secs_f32())
}

type Opening<T> = Pin<Box<dyn Future<Output = Result<Incoming<T>, ClientError>> + Send>>;

#[derive(Debug)]
pub(in crate::cli) enum Received<T> {
    Item(T),
    /// The stream broke, and is reopened after this time.
    Lost(ClientError, Duration),
}

/// A stream that is reopened when it breaks, unless the error is permanent.
pub(in crate::cli) struct ReconnectingStream<T> {
    open: Box<dyn Fn() -> Opening<T> + Send>,
    state: ConnectionState<T>,
    failures: u32,
}

/// The opening future is stored, which makes [`ReconnectingStream::next`] cancel safe.
enum ConnectionState<T> {
    Opening(Opening<T>),
    Open(Incoming<T>, Instant),
}

impl<T: 'static> ReconnectingStream<T> {
    pub(in crate::cli) fn new<F>(open: impl Fn() -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Incoming<T>, ClientError>> + Send + 'static,
    {
        let open = Box::new(move || Box::pin(open()) as Opening<T>);
        let state = ConnectionState::Opening(open());
        Self { open, state, failures: 0 }
    }

    /// The next message or temporary failure. Cancel safe.
    ///
    /// # Errors
    /// Permanent errors, such as a closed room or an unknown session.
    pub(in crate::cli) async fn next(&mut self) -> Result<Received<T>, ClientError> {
        loop {
            let (error, open) = match &mut self.state {
                ConnectionState::Opening(opening) => match opening.await {
                    Ok(stream) => {
                        self.state = ConnectionState::Open(stream, Instant::now());
                        continue;
                    }
                    Err(error) => (error, Duration::ZERO),
                },
                ConnectionState::Open(stream, opened) => match stream.next().await {
                    Some(Ok(item)) => {
                        self.failures = 0;
                        return Ok(Received::Item(item));
                    }
                    Some(Err(error)) => (error, opened.elapsed()),
                    None => (ClientError::Broken("the server ended the stream".into()), opened.elapsed()),
                },
            };
            let wait = self.wait_after(&error, open);
            self.reopen_after(wait);
            if !error.is_transient() {
                return Err(error);
            }
            return Ok(Received::Lost(error, wait));
        }
    }

    /// Reopens the stream at once, after missed events.
    pub(in crate::cli) fn restart(&mut self) {
        self.state = ConnectionState::Opening((self.open)());
    }

    fn reopen_after(&mut self, wait: Duration) {
        let opening = (self.open)();
        self.state = ConnectionState::Opening(Box::pin(async move {
            tokio::time::sleep(wait).await;
            opening.await
        }));
    }

    fn wait_after(&mut self, error: &ClientError, open: Duration) -> Duration {
        let wait = wait_after(open, self.failures);
        self.failures += 1;
        let asked = error.refusal().and_then(|refusal| refusal.retry_after).unwrap_or_default();
        wait.max(asked.min(backoff(u32::MAX)))
    }
}

impl ReconnectingStream<PlayEvent> {
    pub(in crate::cli) fn of_turns(session: &Session) -> Self {
        let session = session.clone();
        Self::new(move || {
            let session = session.clone();
            async move { session.turns().await }
        })
    }
}

impl ReconnectingStream<RoomUpdate> {
    pub(in crate::cli) fn of_room(session: &Session, room: &RoomId) -> Self {
        let (session, room) = (session.clone(), room.clone());
        Self::new(move || {
            let (session, room) = (session.clone(), room.clone());
            async move { session.watch(&room).await }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn temporary_errors_are_retried_and_permanent_ones_are_returned() {
        let mut broken: ReconnectingStream<()> =
            ReconnectingStream::new(async || Err(ClientError::Broken("gone".into())));
        assert!(matches!(broken.next().await, Ok(Received::Lost(_, wait)) if wait == backoff(0)));
        let mut refused: ReconnectingStream<()> =
            ReconnectingStream::new(async || Err(ClientError::Address("nowhere".into())));
        assert!(matches!(refused.next().await, Err(ClientError::Address(_))));
    }
}
