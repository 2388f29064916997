//! A stream of parsed messages.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use tokio_stream::{Stream, StreamExt as _};
use tonic::Streaming;

use super::{ClientError, Malformed};

/// What the server sends, parsed. It ends when the server ends it or after the first error; dropping it closes it.
pub struct Incoming<T> {
    messages: Pin<Box<dyn Stream<Item = Result<T, ClientError>> + Send>>,
    failed: bool,
}

impl<T: 'static> Incoming<T> {
    /// Messages for which `read` gives `None` are skipped: a newer server may have more of them.
    pub(super) fn new<W: 'static + Send>(
        messages: Streaming<W>,
        read: impl Fn(W) -> Result<Option<T>, Malformed> + Send + 'static,
    ) -> Self {
        let parsed = messages.filter_map(move |message| match message {
            Ok(message) => read(message).map_err(ClientError::from).transpose(),
            Err(status) => Some(Err(status.into())),
        });
        Self { messages: Box::pin(parsed), failed: false }
    }

    /// The next message, or `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        tokio_stream::StreamExt::next(self).await
    }
}

impl<T> Stream for Incoming<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.failed {
            return Poll::Ready(None);
        }
        let next = self.messages.as_mut().poll_next(cx);
        self.failed = matches!(next, Poll::Ready(Some(Err(_))));
        next
    }
}

impl<T> fmt::Debug for Incoming<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("failed", &self.failed).finish_non_exhaustive()
    }
}
